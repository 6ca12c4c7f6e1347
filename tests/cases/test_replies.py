"""What models get wrong: broken calls, cut replies, blank text; and what it costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.project import Project
from tests.cases.turns import bash, broken, call, say, turn, write
from tests.living import NAP, living
from tests.session.files import call as call_block
from tests.session.files import chain, reply

pytestmark = pytest.mark.slow


def test_a_call_that_is_no_json_is_told_so_and_its_siblings_run(project: Project) -> None:
    """mozilla-ai/clawbolt#169."""
    ran = project.run(
        turn(
            broken("write", '{"path": "a.txt", "content": "x'),
            bash("echo sibling"),
            broken("write", ""),
            broken("write", "[1]"),
            broken("write", "null"),
            broken("bash", '{"command": "echo a"} {"command": "echo b"}'),
        )
    )
    assert ran.exit_code == 0
    assert ran.call(0, 0).is_error
    assert "JSON" in ran.call(0, 0).text
    assert "sibling" in ran.call(0, 1).text
    assert all(ran.call(0, index).is_error for index in (2, 3, 4, 5))
    assert not (project.root / "a.txt").exists()


def test_arguments_that_do_not_fit_name_the_field(project: Project) -> None:
    ran = project.run(
        turn(
            call("write", path="a.txt"),
            call("write", path=["a.txt"], content="x"),
            call("read", path="a.txt", offset=-1),
            call("bash", command="echo x", timeout_s="soon"),
            call("bash", command=""),
            call("bash", comand="echo x"),
            call("edit", path="a.txt", edits=[]),
            call("no_such_tool", path="a.txt"),
            call("Read", path="a.txt"),
            call("read", path=None),
        )
    )
    wanted = (
        "content",
        "path",
        "offset",
        "timeout",
        "command",
        "comand",
        "edits",
        "no_such_tool",
        "",
        "path",
    )
    for index, word in enumerate(wanted):
        result = ran.call(0, index)
        assert word in result.text, (word, result.text)
        assert result.is_error
    assert ran.exit_code == 0
    assert not (project.root / "a.txt").exists()


def test_no_call_of_a_cut_reply_is_run(project: Project) -> None:
    """ahwurm/localharness#77."""
    project.put({"doc.md": b"long and good\n"})
    ran = project.run(
        turn(
            broken("write", '{"path": "doc.md", "content": "# Ti'),
            bash("touch ran"),
            write("whole.md", "x"),
            stop="length",
        )
    )
    for index in range(3):
        assert ran.call(0, index).is_error
        assert "limit" in ran.call(0, index).text or "cut" in ran.call(0, index).text
    assert sorted(path.name for path in project.root.iterdir()) == ["doc.md"]
    assert (project.root / "doc.md").read_bytes() == b"long and good\n"


def test_a_final_reply_that_is_cut_or_empty_is_no_success_by_itself(project: Project) -> None:
    for last in (turn(text="half an ans", stop="length"), say(""), turn(text=" \n")):
        ran = project.run(last, verify=[])
        assert ran.exit_code == 1, last
        assert ran.result["outcome"] == "failed"


def test_blank_texts_and_results_are_never_sent(project: Project) -> None:
    """dirge-code/dirge#757."""
    ran = project.run(
        turn(bash("true"), text=""),
        turn(write("e.txt", "")),
        turn(call("read", path="e.txt"), text="  \n"),
        turn(call("grep", pattern="x"), call("ls", path="e")),
        say(""),
    )
    assert ran.exit_code == 0
    assert ran.replies == 5
    blocks = [
        block for message in ran.messages if message["role"] != "system" for block in message["content"]
    ]
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    assert all(text.strip() for text in texts if text != "  \n"), texts


def test_every_call_has_its_result_also_at_the_end(project: Project) -> None:
    ran = project.run(*[turn(bash(f"echo {n}"), bash("true")) for n in range(5)], budget={"turns": 3})
    calls = [
        b["id"]
        for m in ran.messages
        if m["role"] == "assistant"
        for b in m["content"]
        if b["type"] == "toolCall"
    ]
    results = [m["toolCallId"] for m in ran.messages if m["role"] == "toolResult"]
    assert calls == results
    assert ran.replies == 3
    assert "last turn" in ran.sent
    assert ran.result["stop"] == "max_turns"


def test_money_is_a_limit_before_it_is_gone(project: Project) -> None:
    """MervinPraison/PraisonAI#2314."""
    dear = [turn(bash(f"echo {n}; touch ran-{n}"), cost_usd=0.4) for n in range(9)]
    ran = project.run(*dear, verify=[], args=["--max-cost-usd", "1"])
    assert ran.exit_code == 1
    assert ran.replies <= 3
    assert ran.result["stop"] == "max_cost"
    assert ran.result["total_cost_usd"] <= 1.21
    assert not Path(project.root, "ran-2").exists()
    assert ran.junit_count("failure") == 1


def test_every_limit_ends_and_a_green_check_still_counts(project: Project) -> None:
    limits = {
        "max_turns": {"turns": 2},
        "max_tokens": {"tokens": 5000},
        "max_tool_calls": {"tool_calls": 2},
        "max_wall_time": {"wall_s": 1},
    }
    specs = {name.replace("_", "-"): {"budget": {"turns": 50, **budget}} for name, budget in limits.items()}
    slow = [turn(bash(f"sleep 0.3; echo {n}"), tokens=2000) for n in range(8)]
    ran = project.run_all(specs, *slow, jobs=4)
    stops = {name: (result["outcome"], result["stop"]) for name, result in ran.results.items()}
    assert stops == {name.replace("_", "-"): ("passed", name) for name in limits}


def test_wall_time_ends_a_running_tool(project: Project) -> None:
    ran = project.run(turn(bash(f"sleep {NAP}.1", timeout=600)), verify=["true"], budget={"wall_s": 1})
    assert ran.result["stop"] == "max_wall_time"
    assert ran.duration_s < 15
    assert not living(f"sleep {NAP}.1")


def test_calls_of_one_id_have_results_and_files_of_their_own(project: Project) -> None:
    """Some services number their calls anew in every reply, or give no number at all."""
    same = [call_block("call_0", command=f"seq {first} 99999") for first in (10, 20)]
    none = [{"type": "toolCall", "name": "bash", "arguments": {"command": "echo no-id"}}]
    replies = [
        reply("1", None, *same),
        reply("2", None, same[0]),
        reply("3", None, *none),
        reply("4", None, "done"),
    ]
    chain(project.base / "model.jsonl", *replies)
    path = project.write_spec()
    ran = project.start("run", path.name, "-m", "replay/model.jsonl")
    assert ran.exit_code == 0
    assert [m["content"][0]["text"] for m in ran.messages if m["role"] == "toolResult"][-1] == "no-id"
    kept = sorted(path.read_bytes()[:2] for path in ran.files() if "outputs" in path.parts)
    assert kept == [b"10", b"10", b"20"]


def test_a_recording_that_ends_early_is_an_error_of_its_own(project: Project) -> None:
    ran = project.run(turn(bash("true")), ends=False)
    assert ran.exit_code == 3
    assert ran.result["error"]["kind"] == "replay_diverged"
    assert ran.junit_count("error") == 1
