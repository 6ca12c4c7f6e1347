"""One reply after the other, each recorded before anything is done with it, by whoever the route names."""

from __future__ import annotations

from msgspec.structs import replace

from pi_batch.budget import Ledger, Need, Reservation
from pi_batch.engine.classifier import classify
from pi_batch.engine.compactor import TOO_LONG, Compactor
from pi_batch.engine.masking import mask_reply
from pi_batch.engine.restoring import RecordedConversation
from pi_batch.engine.retry import Requester
from pi_batch.engine.router import Router
from pi_batch.engine.transcript import Transcript
from pi_batch.errors import ProviderError
from pi_batch.events import ModelSelected, TurnEnd, TurnStart
from pi_batch.messages import AssistantMessage, JsonObject, ToolDeclaration
from pi_batch.protocols import ModelRequest
from pi_batch.routes import ByClass, ByFunction
from pi_batch.session import pi_provider, system_change


class Asker:
    """Asks one task's models; lives over all its attempts."""

    def __init__(
        self,
        requester: Requester,
        transcript: Transcript,
        system: str,
        declarations: tuple[ToolDeclaration, ...],
        router: Router,
        *,
        output_schema: JsonObject | None = None,
    ) -> None:
        self._requester = requester
        self._transcript = transcript
        self._conversation = transcript.conversation
        self._session = transcript.session
        self._system = system
        self._declarations = declarations
        self._router = router
        self._output_schema = output_schema
        self._compactor = Compactor(self._conversation, requester, self._session)
        self._turns = 0
        self._is_in_turn = False
        self.has_hidden = False
        """True when the text of the last reply held a secret value."""
        self._model = ""
        """provider/model as the session has it."""
        self._thinking: str | None = None

    @property
    def is_planning(self) -> bool:
        """True while a plan is made, and nothing is changed."""
        return self._router.is_planning

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
        if recorded is not None:
            self._model, self._thinking = recorded.model, recorded.thinking
        if self._router.is_chosen:
            self._record_model()

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

    # --- who is asked ---

    async def choose(self, attempt: int, prompt: str) -> bool:
        """An attempt begins: find out who is asked in it; True for another one than before.

        Raises: UsageError, BudgetExhausted.
        """
        pending = self._router.begin(attempt)
        await self._decide(pending, prompt)
        selected = self._router.select()
        self._take(selected)
        return selected is not None

    def begin_work(self) -> None:
        """The plan is there: whoever carries it out is asked from now on."""
        self._take(self._router.begin_work())

    async def _fall_back(self, error: ProviderError) -> None:
        """Go on with another model. Raises: the error itself where there is none; BudgetExhausted."""
        if not self._router.can_fall_back(error):
            raise error
        self._ledger.check_time()
        self._router.give_up()
        await self._decide(self._router.pending(), self._conversation.first_prompt)
        selected = self._router.fall_back(error)
        self._take(replace(selected, error=self._transcript.mask.mask(selected.error)))

    async def _decide(self, pending: ByClass | ByFunction | None, prompt: str) -> None:
        """Let models and functions decide until it is known who comes first."""
        while pending is not None:
            if isinstance(pending, ByClass):
                port = self._router.port_of(pending.classifier)
                label = await classify(self._requester, self._session, port, pending, prompt)
            else:
                label = self._router.call(pending, prompt)
            self._router.pick(pending, label)
            pending = self._router.pending()

    def _take(self, selected: ModelSelected | None) -> None:
        """Ask somebody else from now on: in the session first, then in the stream."""
        if selected is None:
            return
        self._session.append_custom("pi-batch", self._router.record())
        self._requester = replace(self._requester, port=self._router.port)
        self._compactor.ask_of(self._requester)
        self._record_model()
        self._transcript.emit(selected)

    def _record_model(self) -> None:
        """Write pi's own entries for the model and its level, where they are not those of before."""
        port = self._router.port
        model = f"{pi_provider(port.provider_name)}/{port.model}"
        if model != self._model:
            self._session.append_model_change(port.provider_name, port.model)
        if port.thinking is not None and port.thinking != self._thinking:
            self._session.append_thinking_level_change(port.thinking)
            self._thinking = port.thinking
        self._model = model

    # --- asking ---

    async def ask(self) -> AssistantMessage:
        """One reply, recorded. Raises: ProviderError, BudgetExhausted."""
        while True:
            try:
                reply = await self._fitting()
            except ProviderError as error:
                await self._fall_back(error)
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

    async def _fitting(self) -> AssistantMessage:
        """One model's reply; what is too long is made to fit. Raises: ProviderError, BudgetExhausted."""
        await self._compactor.make_room()
        while True:
            try:
                return await self._request()
            except ProviderError as error:
                if error.kind not in TOO_LONG:
                    raise
                await self._compactor.recover(error)

    async def _request(self) -> AssistantMessage:
        """Ask with the conversation as it stands. Raises: ProviderError, BudgetExhausted."""
        messages, port = self._conversation.sent(), self._requester.port
        input_tokens = self._conversation.input_tokens()
        need = Need(input_tokens, self._compactor.output_tokens(input_tokens), self._router.price_usd)

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
                output_schema=None if self._router.is_planning else self._output_schema,
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
                "model": self._requester.port.label,
                "input_tokens": reservation.input_tokens,
                "output_tokens": reservation.output_tokens,
                "cost_usd": reservation.cost_usd,
            },
        )

    @property
    def _ledger(self) -> Ledger:
        return self._requester.ledger
