"""Token estimates where no service has counted yet.

Deliberately a little high: a reservation that is too large waits or ends early, one that is too small
overruns a budget. Latin text and code run at about 3.5 characters a token; most other scripts near one.
"""

from __future__ import annotations

import json
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

CHARS_PER_TOKEN = 3.5
IMAGE_TOKENS = 1_600
"""The most that a resized image costs at the usual services."""
MESSAGE_TOKENS = 4
"""Roles, separators, ids."""
MAX_FACTOR = 2.0
"""How far an estimate is raised at most where a service counted more than was estimated."""


def text_tokens(text: str) -> int:
    """Estimated tokens of a text."""
    if text.isascii():
        return int(len(text) / CHARS_PER_TOKEN) + 1
    wide = sum(char > "\u024f" for char in text)
    return int((len(text) - wide) / CHARS_PER_TOKEN) + wide + 1


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
