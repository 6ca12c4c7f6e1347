"""Scripts as a model sends them, through the whole program, in real workers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases.turns import call
from tests.codemode.corpus.escapes import MARK, scripts
from tests.codemode.corpus.plain import SCRIPTS
from tests.codemode.playing import Case, Played, play
from tests.codemode.script.test_like_python import printed
from tests.codemode.worker.rigs import needs_isolation

pytestmark = [needs_isolation, pytest.mark.slow]

SECRET = "hunter2-hunter2-hunter2"
FILES = {"a.py": "old = 1\n", "b.py": "old = 2\n", "sub/c.py": "new = 3\n"}
LONG = "word " * 20_000

CASES = {
    "reads": Case(
        [
            "paths = await tools.find(pattern='*.py')\n"
            "texts = await asyncio.gather(*[tools.read(path=p) for p in paths])\n"
            "print(paths, sum(len(t) for t in texts))\n"
            "hits = await tools.grep(pattern='old')\n"
            "print([(h['path'], h['line']) for h in hits], await tools.ls(path='sub'))\n"
        ],
        FILES,
    ),
    "edits": Case(
        [
            "edits = [tools.edit(path=p, old_string='old', new_string='new') for p in ('a.py', 'b.py')]\n"
            "await asyncio.gather(*edits)\n"
            "print(await tools.write(path='d.py', content='x'))\n"
        ],
        FILES,
    ),
    "whole-file": Case(["print(len(await tools.read(path='long.txt')))"], {"long.txt": LONG}),
    "command": Case(
        [
            "r = await tools.bash(command='seq 20000; exit 3')\n"
            "print(r['exit_code'], len(r['output'].split()), r['truncated'])"
        ]
    ),
    "tool-error": Case(
        [
            "try:\n    await tools.read(path='absent')\nexcept ToolError as e:\n    print('caught', e)\n"
            "found = await asyncio.gather(tools.read(path='absent'), tools.ls(), return_exceptions=True)\n"
            "print([type(f).__name__ for f in found])"
        ]
    ),
    "denied": Case(
        [
            "for path in ('secret/key', 'a.py'):\n"
            "    try:\n        print(await tools.read(path=path))\n"
            "    except ToolError as e:\n        print('no:', e)"
        ],
        {"secret/key": "x", "a.py": "fine"},
        {"permissions": {"read": {"deny": ["secret/**"]}}},
    ),
    "outside": Case(["await tools.read(path='../../suite.yaml')"]),
    "budget": Case(
        [
            "for n in range(9):\n    try:\n        await tools.ls()\n"
            "    except ToolError as e:\n        print(n, e)\n"
        ],
        spec={"budget": {"tool_calls": 5}},
    ),
    "masked": Case(
        ["text = await tools.read(path='env')\nprint(text)\nstore('kept', text)", "print(load('kept'))"],
        {"env": f"key={SECRET}\n"},
    ),
    "only": Case(
        [call("read", path="a.py"), "print(await tools.read(path='a.py'))"], FILES, {"codemode": "only"}
    ),
    "off": Case(["print(1)"], spec={"codemode": "off"}),
    "fails": Case(["print('before')\nx = 1\nprint(x / 0)\n"]),
    "waits": Case(
        ["await asyncio.wait_for(tools.bash(command='sleep 2; touch late'), 0.05)"],
        arguments={"timeout_s": 20},
    ),
    "late": Case(["await tools.bash(command='sleep 30')"], arguments={"timeout_s": 0.3}),
    "nested": Case(["await tools.codemode(script='1')"]),
    "long": Case(["print('line\\n' * 5000)"], arguments={"max_output_chars": 500}),
    "controls": Case(["print('\\x1b[31mred\\x1b[0m\\x07')"]),
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played]:
    top = tmp_path_factory.mktemp("whole").resolve()
    return play(top, CASES, environ={"MY_API_KEY": SECRET})


def test_a_script_searches_reads_and_lists(played: dict[str, Played]) -> None:
    (output,) = played["reads"].outputs
    assert output == "['a.py', 'b.py', 'sub/c.py'] 24\n[('a.py', 1), ('b.py', 1)] ['c.py']"
    assert played["reads"].nested() == [("find", "ok"), *[("read", "ok")] * 3, ("grep", "ok"), ("ls", "ok")]


def test_a_script_changes_files_at_once(played: dict[str, Played]) -> None:
    done = played["edits"]
    assert [(done.workspace / name).read_text() for name in ("a.py", "b.py", "d.py")] == [
        "new = 1\n",
        "new = 2\n",
        "x",
    ]
    assert done.outputs == ["Created d.py: 1 byte, 1 line."]


def test_a_script_gets_whole_files_and_whole_output(played: dict[str, Played]) -> None:
    assert played["whole-file"].outputs == ["100000"]
    assert played["command"].outputs == ["3 20000 False"]


def test_a_call_that_fails_raises_and_gather_can_collect_it(played: dict[str, Played]) -> None:
    (output,) = played["tool-error"].outputs
    assert output.startswith("caught absent: no such file")
    assert output.endswith("['ToolError', 'list']")


def test_a_script_is_under_the_tasks_permissions_and_its_denials_are_reported(
    played: dict[str, Played],
) -> None:
    (output,) = played["denied"].outputs
    assert output.startswith("no: ")
    assert output.endswith("fine")
    (denial,) = played["denied"].result["permission_denials"]
    assert (denial["tool"], denial["input"]) == ("read", {"path": "secret/key"})


def test_a_script_stays_in_the_workspace(played: dict[str, Played]) -> None:
    assert "outside the workspace" in played["outside"].texts[0]
    assert played["outside"].messages[0]["isError"]


def test_a_script_that_uses_up_the_calls_ends_the_run(played: dict[str, Played]) -> None:
    assert played["budget"].outputs[0].count("budget.tool_calls") == 5
    assert played["budget"].result["stop"] == "max_tool_calls"
    assert played["budget"].result["codemode"]["calls"] == 4


def test_secrets_are_masked_before_a_script_sees_them(played: dict[str, Played]) -> None:
    assert played["masked"].outputs == ["key=***", "key=***"]
    assert SECRET not in json.dumps(played["masked"].messages)
    assert played["masked"].messages[0]["details"]["store"] == {"kept": "key=***\n"}


def test_with_only_a_tool_is_reached_through_scripts_alone(played: dict[str, Played]) -> None:
    refused, read = played["only"].messages
    assert refused["details"]["error_kind"] == "unknown_tool"
    assert "await tools.read(...)" in played["only"].texts[0]
    assert not read["isError"]


def test_with_off_there_is_no_codemode(played: dict[str, Played]) -> None:
    assert "Unknown tool 'codemode'" in played["off"].texts[0]


def test_a_script_that_fails_keeps_its_output_and_shows_its_line(played: dict[str, Played]) -> None:
    text = played["fails"].texts[0]
    assert text.startswith("Script failed, wall time ")
    assert "Output:\nbefore\n" in text
    assert "ZeroDivisionError" in text
    assert "line 3" in text
    assert "print(x / 0)" in text


def test_a_call_that_is_given_up_does_no_more(played: dict[str, Played]) -> None:
    done = played["waits"]
    assert "TimeoutError" in done.texts[0]
    assert done.nested() == [("bash", "unfinished")]
    (end,) = done.inner_ends()
    assert (end["is_error"], end["error_kind"], end["tool"]) == (True, "failed", "bash")
    assert not (done.workspace / "late").exists()


def test_a_script_beyond_its_time_is_ended_with_its_calls(played: dict[str, Played]) -> None:
    done = played["late"]
    assert "took longer than 0.3 s" in done.texts[0]
    assert done.messages[0]["details"]["error_kind"] == "timeout"
    assert done.messages[0]["details"]["duration_s"] < 3
    assert done.nested() == [("bash", "unfinished")]


def test_a_script_starts_no_script(played: dict[str, Played]) -> None:
    assert played["nested"].messages[0]["isError"]
    assert played["nested"].nested() == []


def test_long_output_is_cut_and_whole_in_a_file(played: dict[str, Played]) -> None:
    (message,) = played["long"].messages
    assert len(played["long"].texts[0]) < 1000
    assert Path(message["details"]["full_output_path"]).read_text().count("line\n") == 5000


def test_control_characters_reach_no_terminal(played: dict[str, Played]) -> None:
    assert played["controls"].outputs == ["\\x1b[31mred\\x1b[0m\\x07"]


def test_the_report_counts_scripts_and_says_what_held_them(played: dict[str, Played]) -> None:
    codemode = played["whole-file"].result["codemode"]
    assert (codemode["scripts"], codemode["calls"]) == (1, 1)
    assert codemode["bytes_saved"] > 40_000
    assert "seccomp" in codemode["layers"]


def test_plain_scripts_give_what_python_gives(tmp_path: Path) -> None:
    cases = {name: Case([source]) for name, source in SCRIPTS.items()}
    for name, done in play(tmp_path, cases).items():
        assert not done.messages[0]["isError"], (name, done.texts)
        assert done.outputs[0] == printed(SCRIPTS[name]).rstrip("\n"), name


def test_no_script_gets_out(tmp_path: Path) -> None:
    every = dict(scripts())
    chosen = {f"n{number}": every[name] for number, name in enumerate(sorted(every)) if number % 5 == 0}
    cases = {name: Case([source], arguments={"timeout_s": 5}) for name, source in chosen.items()}
    done = play(tmp_path, cases)
    assert done.keys() == cases.keys()
    for name, one in done.items():
        output = one.outputs[0].partition("\n  ")[0]  # what follows may quote the script's own line
        assert MARK not in output, (name, chosen[name], output)
        assert one.messages[0]["details"]["duration_s"] < 6.5, name
