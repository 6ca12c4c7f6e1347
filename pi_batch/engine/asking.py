"""One reply after the other, each recorded before anything is done with it."""

from __future__ import annotations

from pi_batch.budget import Ledger, Need, Reservation
from pi_batch.engine.compactor import TOO_LONG, Compactor
from pi_batch.engine.masking import mask_reply
from pi_batch.engine.restoring import RecordedConversation
from pi_batch.engine.retry import Requester
from pi_batch.engine.transcript import Transcript
from pi_batch.errors import ProviderError
from pi_batch.events import TurnEnd, TurnStart
from pi_batch.messages import AssistantMessage, ToolDeclaration
from pi_batch.protocols import ModelRequest
from pi_batch.session import pi_provider, system_change


class Asker:
    """Asks one task's model; lives over all its attempts."""

    def __init__(
        self,
        requester: Requester,
        transcript: Transcript,
        system: str,
        declarations: tuple[ToolDeclaration, ...],
    ) -> None:
        self._requester = requester
        self._transcript = transcript
        self._conversation = transcript.conversation
        self._session = transcript.session
        self._system = system
        self._declarations = declarations
        self._compactor = Compactor(self._conversation, requester, self._session)
        self._turns = 0
        self._is_in_turn = False
        self.has_hidden = False
        """True when the text of the last reply held a secret value."""

    @property
    def _ledger(self) -> Ledger:
        return self._requester.ledger

    def open(self, recorded: RecordedConversation | None) -> None:
        """Record the system prompt, the declarations and the model, where they are not as `recorded`."""
        change = system_change(
            self._system,
            self._declarations,
            before=recorded.system if recorded is not None else None,
            tools_before=recorded.declarations if recorded is not None else (),
            timestamp_ms=self._transcript.now_ms,
        )
        if change is not None:
            self._session.append_message(change)
        port = self._requester.port
        if recorded is None or recorded.model != f"{pi_provider(port.provider_name)}/{port.model}":
            self._session.append_model_change(port.provider_name, port.model)

    def restore(self, left: RecordedConversation) -> None:
        """Go on with a conversation."""
        for index, (entry_id, message) in enumerate(zip(left.entry_ids, left.history, strict=True)):
            self._conversation.add(message, entry_id)
            if isinstance(message, AssistantMessage):
                self._turns += 1
                if index >= left.counted_from:
                    self._conversation.learn(message)
        if left.summary is not None:
            self._compactor.restore(left.first_prompt, left.summary, left.summary_details)

    async def ask(self) -> AssistantMessage:
        """One reply, recorded; what is too long is made to fit first.

        Raises: ProviderError, BudgetExhausted.
        """
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
        said = reply.text
        reply = mask_reply(reply, self._transcript.mask)
        self.has_hidden = reply.text != said
        self._transcript.add(reply, self._requester.port.label)
        self._conversation.learn(reply)
        return reply

    def end_turn(self) -> None:
        """Close a turn that was begun; one that no room was left for never was."""
        if self._is_in_turn:
            self._is_in_turn = False
            self._transcript.emit(TurnEnd(self._turns, self._ledger.used))

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

        return await self._requester.complete(request, need, self._record_start)

    def _record_start(self, reservation: Reservation) -> None:
        """A request without a recorded reply counts as spent when the run is resumed."""
        if not self._is_in_turn:
            self._is_in_turn = True
            self._turns += 1
            self._transcript.emit(TurnStart(self._turns))
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
