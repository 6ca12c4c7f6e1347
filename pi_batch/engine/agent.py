"""The loop: the model thinks, the harness acts, until no call is asked for or a limit is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from pi_batch.budget import BudgetExhausted
from pi_batch.consequences import after_error
from pi_batch.engine.agent_outcome import BUDGET_CALL, NOT_RUN, PAUSE, AgentOutcome, fault_of
from pi_batch.engine.asking import Asker
from pi_batch.engine.conversation import Conversation
from pi_batch.engine.estimate import declarations_tokens, text_tokens
from pi_batch.engine.limits import LimitNotice
from pi_batch.engine.planning import PLAN, WORK, last_said
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
from pi_batch.engine.router import Router
from pi_batch.engine.schedule import run_in_order
from pi_batch.engine.tool_calls import Door, with_note
from pi_batch.engine.transcript import Transcript
from pi_batch.errors import PiBatchError, ProviderError, UsageError
from pi_batch.events import AgentEnd, AgentSettled, AgentStart, BudgetWarning
from pi_batch.messages import AssistantMessage, JsonObject, TextBlock, ToolDeclaration, Usage, UserMessage
from pi_batch.results import RunError
from pi_batch.session_log import SessionLog


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
        router: Router | None = None,
        follow_ups: Sequence[str] = (),
        output_schema: JsonObject | None = None,
    ) -> None:
        """`router`: who is asked, where that is not the requester's own model alone.

        `output_schema`: what the answer must fit; with follow-ups only the last answer need, so none is told.
        """
        self._door = door
        self._session = session
        self._emit = door.emit
        self._ledger = door.ledger
        self._conversation = Conversation(text_tokens(system) + declarations_tokens(declarations))
        self._transcript = Transcript(session, self._conversation, door.emit, door.mask, door.clock)
        router = router or Router.of_one(requester.port)
        schema = None if follow_ups else output_schema
        self._asker = Asker(requester, self._transcript, system, declarations, router, output_schema=schema)
        self._follow_ups = list(follow_ups)
        """What is still to be said when the agent would stop."""
        self._repeats = RepeatWatch()
        self._notice = LimitNotice(door.ledger)
        self._cut_replies = 0
        self._answer: str | None = None
        self._is_withheld = False
        self._left: RecordedConversation | None = None
        """What an earlier process left, until it is gone on with."""
        self._ended_calls: Collection[str] = ()
        self._note = ""

    def open(self, recorded: RecordedConversation | None = None) -> None:
        """Record the system prompt, the declarations and the model, where they are not as `recorded`."""
        self._asker.open(recorded)

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
        del self._follow_ups[: left.follow_ups]
        for call, result in calls_with_results(left.history):
            self._repeats.see(call, without_note(result, warning(call.name)))
        self._asker.restore(left)
        replies = [message for message in left.history if isinstance(message, AssistantMessage)]
        for reply in replies:
            self._answer = reply.text.strip() or self._answer
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
        except (ProviderError, UsageError) as error:
            fault = RunError(error.kind, self._door.mask.mask(str(error)))
            is_service_fault = not after_error(error.kind).is_verified
            outcome = AgentOutcome("model_error", self._answer, fault, is_service_fault=is_service_fault)
        except asyncio.CancelledError:
            self._end(AgentOutcome("cancelled", self._answer), attempt)
            raise
        except BaseException as error:
            if not isinstance(error, PiBatchError):  # a defect: the start still has its end
                fault = RunError("internal", f"{type(error).__name__}: {error}")
                self._end(AgentOutcome("model_error", self._answer, fault), attempt)
            raise
        finally:
            self._ledger.stop_time()
        outcome = replace(outcome, is_withheld=self._is_withheld)
        self._end(outcome, attempt)
        return outcome

    def _end(self, outcome: AgentOutcome, attempt: int) -> None:
        self._emit(AgentEnd(attempt, outcome.stop, outcome.answer, outcome.error))
        self._emit(AgentSettled(attempt))

    async def _work(self, prompt: str | None, attempt: int) -> AgentOutcome:
        outcome = self._take_up()
        outcome = self._go_on_after(outcome) if prompt is None else None
        if outcome is None:
            self._say_note()
        if prompt is not None:
            if await self._asker.choose(attempt, prompt):
                self._repeats = RepeatWatch()  # another model's circles are not this one's
            self._session.append_custom("pi-batch", {"kind": "attempt", "attempt": attempt})
            self._transcript.say(prompt)
        if self._asker.is_planning and self._said_last() != PLAN:
            self._transcript.say(PLAN)
        while outcome is None:
            self._warn_near_limit()
            try:
                reply = await self._asker.ask()
                if reply.text.strip():
                    self._is_withheld = self._asker.has_hidden
                    self._answer = None if self._is_withheld else reply.text.strip()
                outcome = self._go_on_after(self._end_of(reply) or await self._act(reply))
            finally:
                self._asker.end_turn()
        return outcome

    def _go_on_after(self, outcome: AgentOutcome | None) -> AgentOutcome | None:
        """None where the agent would stop by itself and there is more to do: the plan's work, a follow-up."""
        if outcome is None or outcome.stop != "completed":
            return outcome
        if self._asker.is_planning:
            self._transcript.say(WORK)
            self._asker.begin_work()
            return None
        if not self._follow_ups:
            return outcome
        self._session.append_custom("pi-batch", {"kind": "follow_up", "left": len(self._follow_ups)})
        self._transcript.say(self._follow_ups.pop(0))
        return None

    def _said_last(self) -> str:
        """Whether a plan was asked for last, or its work."""
        messages = self._conversation.messages
        return last_said([message.text for message in messages if isinstance(message, UserMessage)])

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
                self._transcript.add(self._door.error(call, LOST_RESULT, "failed"))
            else:
                self._ledger.charge(Usage(), 0.0, tool_calls=1)
                self._transcript.add(self._door.refuse(call, LOST_CALL, "failed"))
        return None

    def _say_note(self) -> None:
        note, self._note = self._note, ""
        messages = self._conversation.messages
        last = messages[-1] if messages else None
        if note and not (isinstance(last, UserMessage) and last.content == (TextBlock(note),)):
            self._transcript.say(note)

    def _end_of(self, reply: AssistantMessage) -> AgentOutcome | None:
        """The outcome that this reply alone gives, or None when its calls are to be looked at."""
        is_cut_call = reply.stop_reason == "length" and bool(reply.tool_calls)
        self._cut_replies = self._cut_replies + 1 if is_cut_call else 0
        fault = fault_of(reply, self._cut_replies)
        if reply.stop_reason in NOT_RUN:
            self._refuse_all(reply, NOT_RUN[reply.stop_reason])
        if fault is not None:
            return AgentOutcome("model_error", self._answer, fault)
        if reply.raw_stop_reason == PAUSE:
            return None
        if reply.tool_calls:
            return None
        return AgentOutcome("completed", None if self._is_withheld else reply.text)

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
                is_noted = repeat.action == "warn"
                self._transcript.add(with_note(result, warning(call.name)) if is_noted else result)
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
        self._transcript.say(text)

    def _refuse_all(self, reply: AssistantMessage, reason: str) -> None:
        for call in reply.tool_calls:
            self._transcript.add(self._door.refuse(call, reason))
