"""Trajectories in the shape that mini-swe-agent's tools read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pi_batch.reports.trajectory import Ending, exit_status, trajectory
from pi_batch.results import AgentStop
from pi_batch.session import parse_session, read_session
from tests.cases.turns import bash, broken, call, say, turn, write_session
from tests.reports.test_export import WHOLE


def made(path: Path, *turns: Any, ending: Ending | None = None) -> dict[str, Any]:
    session = read_session(write_session(path / "s.jsonl", turns))
    found: dict[str, Any] = json.loads(trajectory(session, ending or Ending(), "1.2.3"))
    return found


def test_commands_are_actions_and_other_calls_are_told_as_such(tmp_path: Path) -> None:
    found = made(
        tmp_path, turn(bash("ls -la"), call("read", path="a"), text="I look", cost_usd=0.5), say("Done.")
    )
    first, last = found["messages"]
    assert (first["role"], first["content"]) == ("assistant", "I look")
    assert first["extra"]["actions"] == [
        {"command": "ls -la", "tool_call_id": "t0c0"},
        {"command": 'read {"path": "a"}', "tool_call_id": "t0c1"},
    ]
    assert first["extra"]["cost"] == 0.5
    assert first["tool_calls"][0] == {
        "id": "t0c0",
        "type": "function",
        "function": {"name": "bash", "arguments": '{"command": "ls -la"}'},
    }
    assert last["content"] == "Done."
    assert "tool_calls" not in last


def test_what_is_known_of_the_run_stands_beside_the_messages(tmp_path: Path) -> None:
    ending = Ending("acme__calc-1", "Submitted", "diff --git")
    found = made(tmp_path, say("Done."), ending=ending)
    assert found["trajectory_format"] == "mini-swe-agent-1.1"
    assert found["instance_id"] == "acme__calc-1"
    info = found["info"]
    assert (info["exit_status"], info["submission"]) == ("Submitted", "diff --git")
    assert info["model_stats"] == {"instance_cost": 0.0, "api_calls": 1}
    assert info["config"]["agent_type"] == "pi_batch 1.2.3"
    assert found["messages"][-1] == {
        "role": "exit",
        "content": "Submitted",
        "extra": {"exit_status": "Submitted", "submission": "diff --git"},
    }


def test_a_session_alone_has_no_ending(tmp_path: Path) -> None:
    found = made(tmp_path, say("Done."))
    assert [message["role"] for message in found["messages"]] == ["assistant"]
    assert found["info"]["exit_status"] == ""
    assert "instance_id" not in found


def test_arguments_that_are_no_json_are_kept_as_they_came(tmp_path: Path) -> None:
    found = made(tmp_path, turn(broken("bash", '{"command": ')), say("x"))
    assert found["messages"][0]["tool_calls"][0]["function"]["arguments"] == '{"command": '


def test_every_kind_of_message_has_a_role_that_the_inspector_shows() -> None:
    found = json.loads(trajectory(parse_session(WHOLE), Ending(), "1"))
    roles = [message["role"] for message in found["messages"]]
    assert set(roles) <= {"system", "user", "assistant", "tool"}
    assert {"user", "assistant", "tool"} <= set(roles)
    for message in found["messages"]:
        assert isinstance(message["content"], str | list)
        if message["role"] == "tool":
            assert isinstance(message["extra"]["returncode"], int)
            assert message["tool_call_id"]


@pytest.mark.parametrize(
    ("stop", "kind", "word"),
    [
        ("completed", None, "Submitted"),
        ("max_turns", None, "LimitsExceeded"),
        ("max_cost", None, "LimitsExceeded"),
        ("max_wall_time", None, "TimeExceeded"),
        ("repeated_calls", None, "repeated_calls"),
        ("model_error", "length", "length"),
        (None, "setup", "setup"),
        (None, None, ""),
    ],
)
def test_an_ending_has_mini_swe_agent_s_word_where_there_is_one(
    stop: AgentStop | None, kind: str | None, word: str
) -> None:
    assert exit_status(stop, kind) == word


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore")
def test_mini_swe_agent_s_own_inspector_takes_it_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tried with mini-swe-agent 2.4.6."""
    inspector = pytest.importorskip("minisweagent.run.utilities.inspector")
    shown = pytest.importorskip("minisweagent.models.utils.content_string").get_content_string
    found = made(
        tmp_path, turn(bash("ls -la"), text="I look"), say("Done."), ending=Ending("x", "Submitted", "d")
    )
    steps = inspector._messages_to_steps(found["messages"])
    assert [[message["role"] for message in step] for step in steps if step] == [
        ["assistant"],
        ["assistant", "exit"],
    ]
    assert "ls -la" in shown(steps[1][0])
