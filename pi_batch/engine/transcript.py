"""What is said, kept: in the session first, then in the history that is sent, then in the stream."""

from __future__ import annotations

from pi_batch.engine.conversation import Conversation
from pi_batch.engine.masking import Mask
from pi_batch.engine.tool_calls import Emit
from pi_batch.events import MessageStart, message_end
from pi_batch.messages import AssistantMessage, TextBlock, ToolResultMessage, UserMessage
from pi_batch.protocols import Clock
from pi_batch.session_log import SessionLog


class Transcript:
    """One task's; lives over all its attempts."""

    def __init__(
        self, session: SessionLog, conversation: Conversation, emit: Emit, mask: Mask, clock: Clock
    ) -> None:
        self.session = session
        self.conversation = conversation
        self.emit = emit
        self.mask = mask
        self._clock = clock

    @property
    def now_ms(self) -> int:
        """The time of a message that is added now."""
        return int(self._clock.time() * 1000)

    def say(self, text: str) -> None:
        """Add words of the user's side, masked."""
        self.add(UserMessage((TextBlock(self.mask.mask(text)),), self.now_ms))

    def add(self, message: UserMessage | AssistantMessage | ToolResultMessage, asked: str = "") -> None:
        """Record a message, then know it: what is in the history is on disk.

        `asked` is the provider/model that a reply was asked of.
        """
        if not isinstance(message, AssistantMessage):
            self.emit(MessageStart(message.role))
        entry_id = self.session.append_message(message)
        self.conversation.add(message, entry_id)
        self.emit(message_end(entry_id, message, asked))
