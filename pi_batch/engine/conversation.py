"""What the model is shown: the recorded messages, or a summary and those after it, bulky results shortened.

The session keeps every message as it was; here one may be replaced by a shorter one. Between two changes
the beginning stays the same objects, so that encoders and the services' prompt caches find it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pi_batch.engine.context import HistoryGate
from pi_batch.engine.estimate import HistoryEstimate, message_tokens
from pi_batch.messages import AssistantMessage, Message, ToolResultMessage, UserMessage


class Conversation:
    """One task's history as it is sent; lives over all its attempts."""

    def __init__(self, fixed_tokens: int) -> None:
        """`fixed_tokens`: the system prompt and the declarations, which no compaction takes away."""
        self._fixed_tokens = fixed_tokens
        self._messages: list[Message] = []
        self._entry_ids: list[str] = []
        self._gate = HistoryGate()
        self._estimate = HistoryEstimate(fixed_tokens)

    @property
    def messages(self) -> Sequence[Message]:
        """The history as it stands, not through the gate yet."""
        return self._messages

    @property
    def first_prompt(self) -> str:
        """The first words of the user's side: the prompt, or the summary that stands for it."""
        first = self._messages[0] if self._messages else None
        return first.text if isinstance(first, UserMessage) else ""

    @property
    def lasting_tokens(self) -> int:
        """What every request holds: the system prompt, the declarations, and the prompt or the summary."""
        return self._fixed_tokens + sum(map(message_tokens, self._messages[:1]))

    def entry_id(self, index: int) -> str:
        """The session entry of a message; a summary's is its compaction entry."""
        return self._entry_ids[index]

    def add(self, message: Message, entry_id: str) -> None:
        """Take a message that is on disk."""
        self._messages.append(message)
        self._entry_ids.append(entry_id)

    def learn(self, reply: AssistantMessage) -> None:
        """Take the service's own count from the newest reply."""
        self._estimate.learn(reply, self._messages)

    def sent(self) -> tuple[Message, ...]:
        """The history as it may be sent: through the gate."""
        return self._gate(self._messages)

    def input_tokens(self) -> int:
        """Estimated input of the next request."""
        return self._estimate.input_tokens(self._messages)

    def replace_results(self, changed: Mapping[int, ToolResultMessage]) -> None:
        """Show shorter results in place of those at these indices."""
        self._estimate.forget(self._messages)
        for index, message in changed.items():
            self._messages[index] = message

    def begin_with(self, summary: UserMessage, entry_id: str, first_kept: int) -> None:
        """Let a summary stand for everything before the message at `first_kept`."""
        self._estimate.forget(self._messages)
        self._messages[:first_kept] = [summary]
        self._entry_ids[:first_kept] = [entry_id]
