"""A conversation as its session has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pi_batch.engine.restoring import (
    OpenRequest,
    RecordedConversation,
    calls_with_results,
    cut_in_a_row,
    read_conversation,
    without_note,
)
from pi_batch.errors import UsageError
from pi_batch.messages import AssistantMessage, TextBlock, ToolCall, ToolResultMessage, Usage
from tests.session.files import call, chain, entry, reply, result, user

TOOL = {"name": "bash", "description": "Run.", "parameters": {"type": "object"}}


def system(entry_id: str, text: str = "Be brief.", **fields: Any) -> dict[str, Any]:
    return entry(entry_id, None, "message", message={"role": "system", "content": text, **fields})


def own(entry_id: str, kind: str, **data: Any) -> dict[str, Any]:
    return entry(entry_id, None, "custom", customType="pi-batch", data={"kind": kind, **data})


def request(entry_id: str, tokens: int = 100, cost_usd: Any = 0.5) -> dict[str, Any]:
    return own(entry_id, "request_start", input_tokens=tokens, output_tokens=50, cost_usd=cost_usd)


def read(path: Path, *entries: dict[str, Any]) -> RecordedConversation:
    return read_conversation(chain(path / "session.jsonl", *entries))


def test_history_is_what_the_model_saw_and_system_travels_beside_it(tmp_path: Path) -> None:
    said = read(
        tmp_path,
        own("00", "workspace"),
        system("01", toolsAdded=[TOOL]),
        entry("02", None, "model_change", provider="openai", modelId="gpt"),
        own("03", "attempt", attempt=1),
        user("04", None, "go"),
        request("05"),
        reply("06", None, call("c1"), stop="toolUse"),
        result("07", None, "c1"),
    )
    assert [message.role for message in said.history] == ["user", "assistant", "tool_result"]
    assert said.system == "Be brief."
    assert [tool.name for tool in said.declarations] == ["bash"]
    assert (said.model, said.attempt, said.unanswered) == ("openai/gpt", 1, ())
    assert [entry_id for entry_id, _ in said.recorded] == ["04", "06", "07"]
    assert said.has_calls
    assert not said.ends_with_reply


def test_a_call_without_a_result_is_open(tmp_path: Path) -> None:
    said = read(
        tmp_path,
        user("01", None, "go"),
        reply("02", None, call("c1"), stop="toolUse"),
        result("03", None, "c1"),
        reply("04", None, call("c1"), call("c2"), call("c3"), stop="toolUse"),
        result("05", None, "c2"),
    )
    assert [one.id for one in said.open_calls] == ["c1", "c3"]
    assert said.last_reply is said.history[-2]


def test_a_conversation_that_ends_with_a_reply_says_so(tmp_path: Path) -> None:
    said = read(tmp_path, user("01", None, "go"), reply("02", None, "done"))
    assert said.ends_with_reply
    assert not said.has_calls
    assert said.open_calls == ()


def test_an_empty_conversation_has_nothing_open(tmp_path: Path) -> None:
    said = read(tmp_path, own("01", "workspace"))
    assert (said.history, said.open_calls, said.last_reply, said.ends_with_reply) == ((), (), None, False)
    assert (said.system, said.model, said.attempt) == (None, "", 0)


def test_requests_without_a_reply_are_known_as_they_were_reserved(tmp_path: Path) -> None:
    said = read(tmp_path, user("01", None, "go"), request("02", 1), request("03", 2), reply("04", None, "x"))
    assert said.unanswered == (OpenRequest(1, 50, 0.5),)
    said = read(tmp_path, user("01", None, "go"), request("02", 7))
    assert said.unanswered == (OpenRequest(7, 50, 0.5),)
    assert said.unanswered[0].usage == Usage(7, 50)


@pytest.mark.parametrize("cost", [None, "much", -1, True])
def test_a_strange_reservation_costs_what_can_be_read_of_it(tmp_path: Path, cost: Any) -> None:
    (open_request,) = read(tmp_path, request("01", cost_usd=cost)).unanswered
    assert isinstance(open_request.cost_usd, float)


def test_what_a_leg_before_left_open_was_counted_when_the_next_began(tmp_path: Path) -> None:
    said = read(tmp_path, request("01"), request("02"), own("03", "workspace"), request("04", 9))
    assert said.unanswered == (OpenRequest(9, 50, 0.5),)


def test_a_compaction_is_the_answer_to_its_request(tmp_path: Path) -> None:
    compaction = entry("03", None, "compaction", summary="so far", firstKeptEntryId="01", tokensBefore=9)
    said = read(tmp_path, user("01", None, "go"), request("02"), compaction)
    assert said.unanswered == ()
    assert "so far" in str(said.history[0])


def test_an_attempt_has_begun_with_its_prompt(tmp_path: Path) -> None:
    entries = [own("01", "attempt", attempt=1), user("02", None, "go"), reply("03", None, "done")]
    assert read(tmp_path, *entries).attempt == 1
    entries += [own("04", "attempt", attempt=2)]
    assert read(tmp_path, *entries).attempt == 1
    assert read(tmp_path, *entries, user("05", None, "it fails")).attempt == 2


def test_a_user_message_that_is_no_prompt_begins_no_attempt(tmp_path: Path) -> None:
    said = read(
        tmp_path, own("01", "attempt", attempt=1), user("02", None, "go"), user("03", None, "last turn")
    )
    assert said.attempt == 1


def test_replies_that_never_became_one_are_left_out(tmp_path: Path) -> None:
    said = read(tmp_path, user("01", None, "go"), reply("02", None, "half", stop="aborted"))
    assert [message.role for message in said.history] == ["user"]
    assert [entry_id for entry_id, _ in said.recorded] == ["01", "02"]


def test_the_last_recorded_prompt_and_tools_count(tmp_path: Path) -> None:
    other = {**TOOL, "name": "read"}
    gone = [{"name": TOOL["name"]}]
    said = read(
        tmp_path,
        system("01", "", sections={"prompt": "Old."}, toolsAdded=[TOOL]),
        system("02", "", sections={"prompt": "New."}, toolsAdded=[other], toolsRemoved=gone),
    )
    assert (said.system, [tool.name for tool in said.declarations]) == ("New.", ["read"])


def test_custom_entries_of_others_are_passed_over(tmp_path: Path) -> None:
    strange = entry("01", None, "custom", customType="other", data={"kind": "attempt", "attempt": 9})
    odd = entry("02", None, "custom", customType="pi-batch", data="text")
    assert read(tmp_path, strange, odd, user("03", None, "go")).attempt == 0


def test_no_session_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_conversation(tmp_path / "nothing.jsonl")


def message(*calls: ToolCall, stop: Any = "tool_use") -> AssistantMessage:
    return AssistantMessage(calls, stop)


def outcome(call_id: str, *texts: str) -> ToolResultMessage:
    return ToolResultMessage(call_id, "bash", tuple(map(TextBlock, texts)))


def test_calls_come_with_their_results_also_where_ids_are_used_again() -> None:
    first, second = ToolCall("c1", "bash", {"n": 1}), ToolCall("c1", "bash", {"n": 2})
    history = (message(first), outcome("c1", "one"), message(second), outcome("c1", "two"), outcome("c9"))
    pairs = [(one.arguments, result_.text) for one, result_ in calls_with_results(history)]
    assert pairs == [({"n": 1}, "one"), ({"n": 2}, "two")]


def test_a_note_is_taken_off_where_it_stands_at_the_end() -> None:
    assert without_note(outcome("c", "out", "note"), "note") == outcome("c", "out")
    assert without_note(outcome("c", "note", "out"), "note") == outcome("c", "note", "out")
    assert without_note(outcome("c"), "note") == outcome("c")


def test_replies_cut_in_a_row_are_counted_from_the_end() -> None:
    one = ToolCall("c", "bash", None, "{")
    cut, fine = message(one, stop="length"), message(one)
    assert [cut_in_a_row(replies) for replies in ([], [fine], [cut], [cut, fine], [fine, cut, cut])] == [
        0,
        0,
        1,
        0,
        2,
    ]
    assert cut_in_a_row([message(stop="length")]) == 0
