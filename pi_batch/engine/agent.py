"""The loop: the model thinks, the harness acts, until no call is asked for or a limit is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from contextlib import aclosing
from dataclasses import dataclass

from pi_batch.budget import BudgetExhausted, Need, Reservation
from pi_batch.engine.compactor import TOO_LONG, Compactor
from pi_batch.engine.conversation import Conversation
from pi_batch.engine.estimate import declarations_tokens, text_tokens
from pi_batch.engine.limits import LimitNotice
from pi_batch.engine.masking import mask_reply
from pi_batch.engine.repeats import RepeatWatch, warning
from pi_batch.engine.restoring import (
    LOST_CALL,
    LOST_RESULT,
    RecordedConversation,
    calls_with_results,
    cut_in_a_row,
    without_note,
)
from pi_batch.engine.retry import Requester
from pi_batch.engine.schedule import run_in_order
from pi_batch.engine.tool_calls import Door, with_note
from pi_batch.errors import ErrorKind, ProviderError
from pi_batch.events import (
    AgentEnd,
    AgentSettled,
    AgentStart,
    BudgetWarning,
    MessageStart,
    TurnEnd,
    TurnStart,
    message_end,
)
from pi_batch.messages import (
    AssistantMessage,
    StopReason,
    TextBlock,
    ToolDeclaration,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_batch.protocols import ModelRequest
from pi_batch.results import AgentStop, RunError
from pi_batch.session import pi_provider, system_change
from pi_batch.session_log import SessionLog

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


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """How one attempt of the agent ended."""

    stop: AgentStop
    answer: str | None
    error: RunError | None = None
    is_service_fault: bool = False
    """True when the service failed, as opposed to: the model did."""
    is_starved: bool = False
    """True when the suite's limit ended it, not the task's own."""


class Agent:
    """One task's conversation; lives over all its attempts."""

    def __init__(
        self,
        *,
        door: Door,
        requester: Requester,
        session: SessionLog,
        system: str,
        declarations: tuple[ToolDeclaration, ...],
    ) -> None:
        self._door = door
        self._requester = requester
        self._session = session
        self._system = system
        self._declarations = declarations
        self._emit = door.emit
        self._ledger = door.ledger
        self._conversation = Conversation(text_tokens(system) + declarations_tokens(declarations))
        self._compactor = Compactor(self._conversation, requester, session)
        self._repeats = RepeatWatch()
        self._notice = LimitNotice(door.ledger)
        self._turns = 0
        self._is_in_turn = False
        self._cut_replies = 0
        self._answer: str | None = None
        self._left: RecordedConversation | None = None
        """What an earlier process left, until it is gone on with."""
        self._ended_calls: Collection[str] = ()
        self._note = ""

    def open(self, recorded: RecordedConversation | None = None) -> None:
        """Record the system prompt, the declarations and the model, where they are not as `recorded`."""
        now_ms = int(self._door.clock.time() * 1000)
        change = system_change(
            self._system,
            self._declarations,
            before=recorded.system if recorded is not None else None,
            tools_before=recorded.declarations if recorded is not None else (),
            timestamp_ms=now_ms,
        )
        if change is not None:
            self._session.append_message(change)
        port = self._requester.port
        if recorded is None or recorded.model != f"{pi_provider(port.provider_name)}/{port.model}":
            self._session.append_model_change(port.provider_name, port.model)

    def restore(
        self,
        left: RecordedConversation,
        note: str,
        ended_calls: Collection[str] = (),
        warned: Iterable[str] = (),
    ) -> None:
        """Go on with a conversation; `note` is said before the next request."""
        self._left, self._note, self._ended_calls = left, note, ended_calls
        self._notice.restore(warned)
        for call, result in calls_with_results(left.history):
            self._repeats.see(call, without_note(result, warning(call.name)))
        replies = []
        for index, (entry_id, message) in enumerate(zip(left.entry_ids, left.history, strict=True)):
            self._conversation.add(message, entry_id)
            if isinstance(message, AssistantMessage):
                if index >= left.counted_from:
                    self._conversation.learn(message)
                self._answer = message.text.strip() or self._answer
                replies.append(message)
        if left.summary is not None:
            self._compactor.restore(left.first_prompt, left.summary, left.summary_details)
        self._turns = len(replies)
        self._cut_replies = cut_in_a_row(replies[:-1] if left.ends_with_reply else replies)

    async def run(self, prompt: str | None, attempt: int) -> AgentOutcome:
        """Work on a prompt until the model stops, a limit is reached or the service fails.

        Without a prompt it goes on with what was restored.
        """
        self._emit(AgentStart(attempt))
        self._ledger.start_time()
        try:
            outcome = await self._work(prompt, attempt)
        except BudgetExhausted as error:
            outcome = AgentOutcome(error.stop, self._answer, is_starved=error.is_suite)
        except ProviderError as error:
            fault = RunError(error.kind, self._door.mask.mask(str(error)))
            outcome = AgentOutcome("model_error", self._answer, fault, is_service_fault=True)
        except asyncio.CancelledError:
            self._end(AgentOutcome("cancelled", self._answer), attempt)
            raise
        finally:
            self._ledger.stop_time()
        self._end(outcome, attempt)
        return outcome

    def _end(self, outcome: AgentOutcome, attempt: int) -> None:
        self._emit(AgentEnd(attempt, outcome.stop, outcome.answer, outcome.error))
        self._emit(AgentSettled(attempt))

    async def _work(self, prompt: str | None, attempt: int) -> AgentOutcome:
        outcome = self._take_up()
        if prompt is not None:
            outcome = None
        if outcome is None:
            self._say_note()
        if prompt is not None:
            self._session.append_custom("pi-batch", {"kind": "attempt", "attempt": attempt})
            self._say(prompt)
        while outcome is None:
            self._warn_near_limit()
            try:
                reply = await self._ask()
                outcome = self._end_of(reply) or await self._act(reply)
            finally:
                self._end_turn()
        return outcome

    def _take_up(self) -> AgentOutcome | None:
        """Give each call that was left open a result; the outcome where the agent had come to its end."""
        left, self._left = self._left, None
        if left is None:
            return None
        reply = left.last_reply
        if left.ends_with_reply and reply is not None:
            outcome = self._end_of(reply)
            if outcome is not None or reply.stop_reason in NOT_RUN:
                return outcome
        for call in left.open_calls:
            if call.id in self._ended_calls:
                self._add(self._door.error(call, LOST_RESULT, "failed"))
            else:
                self._ledger.charge(Usage(), 0.0, tool_calls=1)
                self._add(self._door.refuse(call, LOST_CALL, "failed"))
        return None

    def _say_note(self) -> None:
        note, self._note = self._note, ""
        messages = self._conversation.messages
        last = messages[-1] if messages else None
        if note and not (isinstance(last, UserMessage) and last.content == (TextBlock(note),)):
            self._say(note)

    def _end_turn(self) -> None:
        """Close a turn that was begun; one that no room was left for never was."""
        if self._is_in_turn:
            self._is_in_turn = False
            self._emit(TurnEnd(self._turns, self._ledger.used))

    async def _ask(self) -> AssistantMessage:
        """One reply, recorded before anything is done with it; what is too long is made to fit first."""
        await self._compactor.make_room()
        while True:
            try:
                reply = await self._request()
            except ProviderError as error:
                if error.kind not in TOO_LONG:
                    raise
                await self._compactor.recover(error)
            else:
                break
        self._add(reply)
        self._conversation.learn(reply)
        self._answer = reply.text.strip() or self._answer
        return reply

    async def _request(self) -> AssistantMessage:
        """Ask with the conversation as it stands. Raises: ProviderError, BudgetExhausted."""
        messages, port = self._conversation.sent(), self._requester.port
        input_tokens = self._conversation.input_tokens()
        need = Need(input_tokens, self._compactor.output_tokens(input_tokens), port.price_usd)

        def request(reservation: Reservation) -> ModelRequest:
            return ModelRequest(
                model=port.model,
                system=self._system,
                messages=messages,
                tools=self._declarations,
                max_output_tokens=reservation.output_tokens,
                thinking=port.thinking,
                timeout_s=self._ledger.seconds_left,
                session_id=self._session.session_id,
            )

        return mask_reply(await self._requester.complete(request, need, self._record_start), self._door.mask)

    def _end_of(self, reply: AssistantMessage) -> AgentOutcome | None:
        """The outcome that this reply alone gives, or None when its calls are to be looked at."""
        is_cut_call = reply.stop_reason == "length" and bool(reply.tool_calls)
        self._cut_replies = self._cut_replies + 1 if is_cut_call else 0
        fault = _fault_of(reply, self._cut_replies)
        if reply.stop_reason in NOT_RUN:
            self._refuse_all(reply, NOT_RUN[reply.stop_reason])
        if fault is not None:
            return AgentOutcome("model_error", self._answer, fault)
        if reply.raw_stop_reason == PAUSE:
            return None
        return None if reply.tool_calls else AgentOutcome("completed", reply.text)

    async def _act(self, reply: AssistantMessage) -> AgentOutcome | None:
        """Carry out a reply's calls, unless no further reply is possible."""
        stop = self._notice.reached()
        if stop is not None:
            if reply.stop_reason != "length":
                self._refuse_all(reply, BUDGET_CALL)
            return AgentOutcome(stop, self._answer)
        if reply.stop_reason == "length":
            return None
        is_circle = False
        async with aclosing(run_in_order(self._door, reply.tool_calls)) as results:
            async for call, result in results:
                repeat = self._repeats.see(call, result)
                is_circle = is_circle or repeat.action == "stop"
                self._add(with_note(result, warning(call.name)) if repeat.action == "warn" else result)
        if self._ledger.has_refused_a_call:  # one of this reply, or of a script in it
            return AgentOutcome("max_tool_calls", self._answer)
        if is_circle:
            return AgentOutcome("repeated_calls", self._answer)
        self._ledger.check_time()
        return None

    def _warn_near_limit(self) -> None:
        """Tell the model once, before the last reply that a limit allows."""
        warned = self._notice.due(self._conversation.input_tokens())
        if warned is None:
            return
        dimension, text = warned
        self._emit(BudgetWarning(dimension, text))
        self._say(text)

    def _say(self, text: str) -> None:
        text = self._door.mask.mask(text)
        self._add(UserMessage((TextBlock(text),), int(self._door.clock.time() * 1000)))

    def _add(self, message: UserMessage | AssistantMessage | ToolResultMessage) -> None:
        """Record a message, then know it: what is in the history is on disk."""
        if not isinstance(message, AssistantMessage):
            self._emit(MessageStart(message.role))
        entry_id = self._session.append_message(message)
        self._conversation.add(message, entry_id)
        self._emit(message_end(entry_id, message, self._requester.port.label))

    def _refuse_all(self, reply: AssistantMessage, reason: str) -> None:
        for call in reply.tool_calls:
            self._add(self._door.refuse(call, reason))

    def _record_start(self, reservation: Reservation) -> None:
        """A request without a recorded reply counts as spent when the run is resumed."""
        if not self._is_in_turn:
            self._is_in_turn = True
            self._turns += 1
            self._emit(TurnStart(self._turns))
        self._session.append_custom(
            "pi-batch",
            {
                "kind": "request_start",
                "turn": self._turns,
                "input_tokens": reservation.input_tokens,
                "output_tokens": reservation.output_tokens,
                "cost_usd": reservation.cost_usd,
            },
        )


def _fault_of(reply: AssistantMessage, cut_replies: int) -> RunError | None:
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
