"""A run as a step of a job: what the runner obeys, and the files that it reads afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.project import Project, Ran, Spec
from tests.cases.turns import say
from tests.runner_lines import commands, outputs

pytestmark = pytest.mark.slow


class Step:
    """The files of one step, and the variables that name them."""

    def __init__(self, base: Path) -> None:
        self.output, self.summary = base / "output", base / "summary.md"
        self.env = {
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_WORKSPACE": str(base),
        }

    @property
    def outputs(self) -> dict[str, str]:
        """What later steps see."""
        return outputs(self.output.read_text(encoding="utf-8"))


def run_many(project: Project, count: int, step: Step, answer: str, **spec: object) -> Ran:
    specs: dict[str, Spec] = {f"t{number}": dict(spec) for number in range(count)}
    from tests.cases.turns import write_session

    session = write_session(project.base / "model.jsonl", [say(answer)])
    paths = [project.write_spec(f"{name}.yaml", **fields).name for name, fields in specs.items()]
    return project.start("run", *paths, "-m", f"replay/{session.name}", "--jobs", "3", env=step.env)


def test_an_answer_cannot_set_outputs(project: Project) -> None:
    """sreerevanth/repopilot#297."""
    step = Step(project.base)
    answer = "fine\nEOF\nhacked=1\nghadelimiter_1\npwned<<EOF\nx\nEOF"
    ran = project.run(say(answer), env=step.env)
    assert ran.exit_code == 0
    assert step.outputs["answer"] == answer
    assert step.outputs["outcome"] == "passed"
    assert Path(step.outputs["report"]).is_file()
    assert Path(step.outputs["junit"]).is_file()
    assert not {"hacked", "pwned"} & set(step.outputs)


def test_a_summary_of_many_long_answers_fits_and_says_what_was_left_out(project: Project) -> None:
    """actions/dependency-review-action#867: also beside what an earlier run of the step wrote."""
    step = Step(project.base)
    step.summary.write_text("x" * 400_000 + "\n", encoding="utf-8")
    check = "python3 -c \"print('é'*60000)\"; exit 1"
    run_many(project, 60, step, "é" * 40_000, verify=[check])
    page = step.summary.read_bytes()
    assert len(page) < 1024 * 1024
    assert "left out" in page.decode("utf-8", "strict")
    assert all(f"| `t{number}` |" in page.decode() for number in range(60))


def test_a_full_summary_is_left_alone(project: Project) -> None:
    step = Step(project.base)
    step.summary.write_bytes(b"x" * (1024 * 1024 - 1500))
    ran = project.run(say("done"), env=step.env)
    assert ran.exit_code == 0
    assert step.summary.stat().st_size == 1024 * 1024 - 1500
    assert "summary is full" in ran.stderr


def test_many_failures_are_ten_annotations_and_all_in_the_reports(project: Project) -> None:
    """adrienverge/yamllint#573."""
    step = Step(project.base)
    ran = run_many(project, 25, step, "done", verify=["false"])
    errors = [found for found in commands(ran.stdout.decode()) if found.name == "error"]
    assert len(errors) == 10
    assert "16 more" in errors[-1].text
    assert ran.junit_count("failure") == 25


def test_a_failure_stands_at_its_line(project: Project) -> None:
    step = Step(project.base)
    project.put({"src/a b.py": b"x = 1\n", "src/c.py": b"x = 1\n"})
    ran = project.run(say("done"), env=step.env, verify=["echo src/c.py:1: E501 too long; exit 1"])
    (error,) = [found for found in commands(ran.stdout.decode()) if found.name == "error"]
    assert (
        error.properties["file"] == "task.yaml"
    )  # the project lies below: its paths are not the repository's
    env = {**step.env, "GITHUB_WORKSPACE": str(project.root)}
    ran = project.start(
        *("run", "../task.yaml", "-m", "replay/../model.jsonl"), env=env, popen={"cwd": project.root}
    )
    (error,) = [found for found in commands(ran.stdout.decode()) if found.name == "error"]
    assert (error.properties["file"], error.properties["line"]) == ("src/c.py", "1")


def test_backticks_in_foreign_text_close_nothing(project: Project) -> None:
    """specstoryai/getspecstory#241."""
    step = Step(project.base)
    project.run(
        say("see:\n```\ninner\n```\n# not a heading"),
        env=step.env,
        verify=["printf '```\\n# H1-INJECTED\\n'; exit 1"],
    )
    page = step.summary.read_text(encoding="utf-8")
    assert "````text" in page
    assert "H1-INJECTED" in page


@pytest.mark.parametrize("flags", [("--events",), ("--quiet",)], ids=["events", "quiet"])
def test_standard_output_that_is_read_as_a_whole_gets_no_commands(
    project: Project, flags: tuple[str, ...]
) -> None:
    step = Step(project.base)
    ran = project.run(say("done"), env=step.env, args=flags, verify=["false"])
    if "--events" in flags:
        assert all(line.startswith(b"{") for line in ran.stdout.split(b"\n") if line)
        assert [found.name for found in commands(ran.stderr)].count("error") == 1
    else:
        assert [found.name for found in commands(ran.stdout.decode())].count("error") == 1


def test_files_that_cannot_be_written_change_no_verdict(project: Project) -> None:
    env = {**Step(project.base).env, "GITHUB_OUTPUT": "/proc/none/x", "GITHUB_STEP_SUMMARY": "/proc/none/y"}
    ran = project.run(say("done"), env=env)
    assert ran.exit_code == 0
    assert ran.stderr.count("cannot be written") == 2


def test_a_spec_that_cannot_be_read_is_an_annotation_and_an_outcome(project: Project) -> None:
    step = Step(project.base)
    (project.base / "bad.yaml").write_text("promt: x\n", encoding="utf-8")
    ran = project.start("run", "bad.yaml", env=step.env)
    assert ran.exit_code == 2
    assert step.outputs == {"outcome": "error", "exit-code": "2"}
    (error,) = commands(ran.stderr)
    assert "promt" in error.text
