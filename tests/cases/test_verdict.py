"""The verdict: the checks' exit codes decide, whatever the model says or does at its end."""

from __future__ import annotations

import pytest

from tests.cases.project import BASE, Project
from tests.cases.turns import bash, call, say, turn, write
from tests.living import NAP, living

pytestmark = pytest.mark.slow

FAILING = {
    "pipe": "sh -c 'echo 1 failed; exit 1' | tee log.txt",  # NousResearch/hermes-agent#87506
    "nothing-done": "test -f made.txt",  # anthropics/claude-code#76867
    "not-the-last": "false; echo all fine",
    "within-a-pipe": "exit 0 | false | true",
    "in-a-list": "false && true; true",
    "killed": "kill -KILL $$",
    "odd-code": "exit 255",
    "no-shell-script": "if",
    "late-words": "echo 5 passed, 0 failed; exit 1",
    "status-of-tee": "false 2>&1 | tee /dev/null | cat",
}


def test_a_failing_check_fails_the_task_whatever_the_model_says(project: Project) -> None:
    specs = {name: {"verify": [check]} for name, check in FAILING.items()}
    ran = project.run_all(specs)
    outcomes = {name: result["outcome"] for name, result in ran.results.items()}
    assert outcomes == dict.fromkeys(FAILING, "failed") | {"in-a-list": "passed"}, "&& is the author's own"
    assert ran.exit_code == 1
    assert ran.junit_count("failure") == len(FAILING) - 1


def test_a_check_whose_program_is_missing_cannot_be_judged(project: Project) -> None:
    ran = project.run(say("done"), verify=["no-such-program-here"])
    assert ran.exit_code == 3
    assert "no-such-program-here: command not found" in ran.reason
    assert ran.junit_count("error") == 1


def test_a_check_that_hangs_fails_and_leaves_nothing(project: Project) -> None:
    check = {"name": "slow", "run": f"sleep {NAP}.5 & sleep {NAP}.6", "timeout_s": 1}
    ran = project.run(say("done"), verify=[check])
    assert ran.exit_code == 1
    assert "timed out" in ran.reason or "time" in ran.reason
    assert not living(f"sleep {NAP}.")


def test_a_check_does_not_wait_for_what_it_left_behind(project: Project) -> None:
    ran = project.run(say("done"), verify=[f"sleep {NAP}.7 & true"])
    assert ran.exit_code == 0
    assert ran.duration_s < 10
    assert not living(f"sleep {NAP}.7")


def test_every_check_is_run_and_told(project: Project) -> None:
    ran = project.run(say("done"), verify=["false", "true", {"name": "last", "run": "exit 7"}])
    assert [check["exit_code"] for check in ran.result["verification"]] == [1, 0, 7]
    assert "1 more of 3 checks" in ran.reason


def test_a_failing_checks_output_goes_back_until_attempts_are_used_up(project: Project) -> None:
    ran = project.run(
        say("one"),
        turn(bash("echo fixed > made.txt")),
        say("two"),
        verify=["echo look-here; test -f made.txt"],
        attempts={"verify": 3},
    )
    assert ran.exit_code == 0
    assert ran.result["attempts"] == 2
    assert "look-here" in ran.sent


def test_the_same_call_over_and_over_is_stopped(project: Project) -> None:
    """anomalyco/opencode#43673."""
    project.put({"a.txt": b"x\n"})
    ran = project.run(*[turn(call("read", path="a.txt"))] * 40, verify=["false"])
    assert ran.exit_code == 1
    assert ran.replies <= 12
    assert ran.result["stop"] == "repeated_calls"


def test_other_circles_end_as_well(project: Project) -> None:
    circles = {
        "times": turn(bash("date; echo took 0.$((RANDOM % 10))s")),
        "errors": turn(bash("exit 3")),
        "unknown": turn(call("no_such_tool", x=1)),
        "pairs": turn(bash("true"), call("ls")),
    }
    stops = {}
    for name, each in circles.items():
        ran = project.run(*[each] * 15, verify=["false"], budget={"turns": 14})
        stops[name] = (ran.exit_code, ran.result["stop"])
        assert ran.replies <= 14
    assert stops == {
        "times": (1, "repeated_calls"),
        "errors": (1, "repeated_calls"),
        "unknown": (1, "repeated_calls"),
        "pairs": (1, "max_turns"),
    }


def test_a_poll_that_makes_progress_is_no_circle(project: Project) -> None:
    ran = project.run(*[turn(bash("echo . >> n; wc -l < n"))] * 8)
    assert ran.exit_code == 0
    assert ran.replies == 9


def test_what_the_model_does_to_git_does_not_change_the_verdict(project: Project) -> None:
    project.shell(BASE)
    deeds = "rm -rf .git; git init -q .; git config core.worktree /; echo x > made.txt"
    ran = project.run(
        turn(bash(deeds)), isolation="clone", verify=["test -f made.txt && ! test -f ../made.txt"]
    )
    assert ran.exit_code == 0
    assert ran.changed["made.txt"] == "added"


def test_a_workspace_that_the_model_removed_is_judged_without_a_crash(project: Project) -> None:
    project.shell(BASE)
    ran = project.run(
        turn(bash('cd ..; rm -rf "$OLDPWD"; echo gone')), isolation="clone", verify=["test -f a.txt"]
    )
    assert ran.exit_code in (1, 3)
    assert "Traceback" not in ran.stderr
    assert "internal" not in ran.reason


def test_the_users_files_are_judged_in_place_only_where_asked(project: Project) -> None:
    project.put({"a.txt": b"old\n"})
    ran = project.run(turn(write("a.txt", "new\n")), isolation="copy", verify=["grep -q new a.txt"])
    assert ran.exit_code == 0
    assert (project.root / "a.txt").read_bytes() == b"old\n"
