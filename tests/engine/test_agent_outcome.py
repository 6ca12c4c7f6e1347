"""Which replies end an attempt, and as what."""

from __future__ import annotations

import pytest

from pi_batch.engine.agent_outcome import MAX_CUT_REPLIES, fault_of
from pi_batch.messages import AssistantMessage, StopReason, TextBlock, ToolCall

CALL = ToolCall("c1", "echo", {})


def reply(*content: TextBlock | ToolCall, stop: StopReason, raw: str = "") -> AssistantMessage:
    return AssistantMessage(content, stop, raw_stop_reason=raw)


@pytest.mark.parametrize("stop", ["stop", "tool_use"])
def test_a_reply_that_ends_well_is_no_fault_even_an_empty_one(stop: StopReason) -> None:
    assert fault_of(reply(stop=stop), 0) is None


@pytest.mark.parametrize(
    ("stop", "raw", "kind"),
    [
        ("content_filter", "refusal", "refusal"),
        ("content_filter", "SAFETY", "content_filter"),
        ("error", "odd", "bad_response"),
        ("aborted", "", "bad_response"),
        ("length", "length", "length"),
    ],
)
def test_a_reply_that_did_not_come_to_its_end_is_a_fault(stop: StopReason, raw: str, kind: str) -> None:
    fault = fault_of(reply(TextBlock("half"), stop=stop, raw=raw), 0)
    assert fault is not None
    assert (fault.kind, bool(fault.message)) == (kind, True)


def test_cut_calls_may_be_sent_again_a_few_times() -> None:
    cut = reply(CALL, stop="length")
    assert fault_of(cut, MAX_CUT_REPLIES - 1) is None
    fault = fault_of(cut, MAX_CUT_REPLIES)
    assert fault is not None
    assert str(MAX_CUT_REPLIES) in fault.message
