"""Token estimates where no service has counted yet.

Fitted to three real tokenizers (tests/engine/token_samples.json): words, digits, punctuation, other scripts
and text without blanks are counted apart, since a log of numbers takes twice as many tokens as prose of its
length. Rather a little high: a reservation that is too large waits or ends early, one that is too small
overruns a budget.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterable, Sequence

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    UserMessage,
)

CHARS_PER_TOKEN = 3.0
"""Of text of any kind, to tell how much of it fits."""
CHARS_PER_WORD_TOKEN = 4.3
"""Letters and blanks."""
TOKENS_PER_DIGIT = 0.75
TOKENS_PER_MARK = 0.65
TOKENS_PER_OTHER_BYTE = 0.4
"""UTF-8 beyond ASCII: about one token for a Chinese character, half of one for a Cyrillic letter."""
CHARS_PER_DENSE_TOKEN = 1.4
"""Hashes, base64, minified code: hardly a blank, so hardly a word."""
DENSE_BYTES = 200
DENSE_BLANKS = 40
"""Fewer than one blank in so many characters: dense."""
IMAGE_TOKENS = 1_600
"""The most that a resized image costs at the usual services."""
MESSAGE_TOKENS = 4
"""Roles, separators, ids."""
MAX_FACTOR = 2.0
"""How far an estimate is raised at most where a service counted more than was estimated."""
_DIGITS = string.digits.encode()
_MARKS = string.punctuation.encode()
_BLANKS = string.whitespace.encode()
_OTHER = bytes(range(128, 256))


def text_tokens(text: str) -> int:
    """Estimated tokens of a text."""
    wire = text.encode("utf-8", "replace")
    size, other = len(wire), _count(wire, _OTHER)
    if size > DENSE_BYTES and _count(wire, _BLANKS) * DENSE_BLANKS < size - other:
        return int((size - other) / CHARS_PER_DENSE_TOKEN + other * TOKENS_PER_OTHER_BYTE) + 1
    digits, marks = _count(wire, _DIGITS), _count(wire, _MARKS)
    words = (size - other - digits - marks) / CHARS_PER_WORD_TOKEN
    return (
        int(words + digits * TOKENS_PER_DIGIT + marks * TOKENS_PER_MARK + other * TOKENS_PER_OTHER_BYTE) + 1
    )


def _count(wire: bytes, kind: bytes) -> int:
    """How many bytes are of a kind."""
    return len(wire) - len(wire.translate(None, kind))


def message_tokens(message: Message) -> int:
    """Estimated tokens of a message."""
    match message:
        case SystemMessage():
            return text_tokens(message.content) + declarations_tokens(message.tools_added)
        case UserMessage() | AssistantMessage() | ToolResultMessage():
            return MESSAGE_TOKENS + sum(map(_block_tokens, message.content))


def declarations_tokens(tools: Iterable[ToolDeclaration]) -> int:
    """Estimated tokens of tool declarations."""
    return sum(
        text_tokens(tool.name + tool.description + json.dumps(tool.parameters, default=str)) for tool in tools
    )


def estimate_reply_tokens(reply: AssistantMessage) -> int:
    """Output tokens of a reply whose service reported none."""
    return sum(map(_block_tokens, reply.content))


def _block_tokens(block: TextBlock | ImageBlock | ThinkingBlock | ToolCall) -> int:
    match block:
        case TextBlock():
            return text_tokens(block.text)
        case ThinkingBlock():
            return text_tokens(block.thinking)
        case ImageBlock():
            return IMAGE_TOKENS
        case ToolCall():
            return text_tokens(block.name) + text_tokens(
                block.raw_arguments or json.dumps(dict(block.arguments or {}), default=str)
            )


class HistoryEstimate:
    """Input tokens of the next request: the last reported usage plus an estimate of what came since.

    Where the history was changed after the last report, everything is estimated; how far the estimate was
    below that report is kept, so that a tokenizer that needs more than usual is allowed for.
    """

    def __init__(self, fixed_tokens: int) -> None:
        self._fixed_tokens = fixed_tokens
        """System prompt and declarations."""
        self._known_tokens = 0
        self._known_messages = 0
        self._factor = 1.0

    def learn(self, reply: AssistantMessage, messages: Sequence[Message]) -> None:
        """Take a service's own count: everything up to and with this reply, the last of `messages`."""
        usage = reply.usage
        if usage is not None and usage.total_tokens:
            self._known_tokens = usage.total_tokens
            self._known_messages = len(messages)

    def forget(self, messages: Sequence[Message]) -> None:
        """These messages are about to be changed: the last report will hold no longer."""
        if self._known_messages:
            known = messages[: self._known_messages]
            estimated = self._fixed_tokens + sum(map(message_tokens, known))
            self._factor = min(MAX_FACTOR, max(1.0, self._known_tokens / estimated))
        self._known_messages = 0

    def input_tokens(self, messages: Sequence[Message]) -> int:
        """Estimated input of a request with this history."""
        rest = sum(map(message_tokens, messages[self._known_messages :]))
        if self._known_messages:
            return self._known_tokens + rest
        return int((self._fixed_tokens + rest) * self._factor)
