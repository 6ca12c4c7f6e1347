"""How an attempt of the agent ends, and which replies end it."""

from __future__ import annotations

from msgspec import Struct

from pi_batch.errors import ErrorKind
from pi_batch.messages import AssistantMessage, StopReason
from pi_batch.results import AgentStop, RunError

MAX_CUT_REPLIES = 3
"""Replies in a row that the output limit cut in the middle of a call, before the run is given up."""

PAUSE = "pause_turn"
"""A service's word for: send this back as it is, and I go on."""

NOT_RUN: dict[StopReason, str] = {
    "length": "Not run: your message was cut off by the output token limit, so this call was incomplete. "
    "Send it again in smaller pieces.",
    "content_filter": "Not run: the service's content filter ended this message.",
    "error": "Not run: this message did not complete.",
    "aborted": "Not run: this message did not complete.",
}
"""Why no call of such a message is carried out."""
BUDGET_CALL = "Not run: the budget allowed no further reply after this one."


class AgentOutcome(Struct, frozen=True):
    """How one attempt of the agent ended."""

    stop: AgentStop
    answer: str | None
    error: RunError | None = None
    is_service_fault: bool = False
    """True when the service failed, as opposed to: the model did."""
    is_starved: bool = False
    """True when the suite's limit ended it, not the task's own."""
    is_withheld: bool = False
    """True when what the model last said held a secret value: it is no answer."""


def fault_of(reply: AssistantMessage, cut_replies: int) -> RunError | None:
    """What makes this reply the end of the agent's work, and no success by itself."""
    match reply.stop_reason:
        case "content_filter":
            kind: ErrorKind = "refusal" if reply.raw_stop_reason == "refusal" else "content_filter"
            return RunError(kind, reply.error_message or "the reply was filtered")
        case "error" | "aborted":
            what = reply.error_message or f"the reply ended with {reply.raw_stop_reason!r}"
            return RunError("bad_response", what)
        case "length" if not reply.tool_calls:
            return RunError("length", "the final answer was cut by the output token limit")
        case "length":
            if cut_replies < MAX_CUT_REPLIES:
                return None
            return RunError("length", f"{cut_replies} replies in a row were cut in the middle of a call")
        case "stop" | "tool_use":
            return None  # an empty reply too: it is no success by itself, and checks decide
