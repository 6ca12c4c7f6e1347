"""Model services: the table from provider name to class, imported when first used.

Adding one: a module in this room, a line in `TABLE`, a test beside the others; the conformance suite in
tests/providers/ finds it through the table.
"""

from __future__ import annotations

import importlib
from typing import Any

from pi_batch.errors import UsageError

TABLE = {
    "replay": "pi_batch.providers.replay:Replay",
    "fake": "pi_batch.providers.fake:Scripted",
    "oracle": "pi_batch.providers.reference:Oracle",
    "nop": "pi_batch.providers.reference:Nop",
    "tamper": "pi_batch.providers.tamper:Tamper",
    "anthropic": "pi_batch.providers.anthropic:Anthropic",
    "google": "pi_batch.providers.google:Google",
    "openai": "pi_batch.providers.openai_responses:OpenAIResponses",
    "openai-chat": "pi_batch.providers.openai_chat:OpenAIChat",
    "deepseek": "pi_batch.providers.openai_chat:OpenAIChat",
    "openrouter": "pi_batch.providers.openai_chat:OpenAIChat",
    "groq": "pi_batch.providers.openai_chat:OpenAIChat",
    "mistral": "pi_batch.providers.openai_chat:OpenAIChat",
    "xai": "pi_batch.providers.openai_chat:OpenAIChat",
    "together": "pi_batch.providers.openai_chat:OpenAIChat",
    "fireworks": "pi_batch.providers.openai_chat:OpenAIChat",
    "cerebras": "pi_batch.providers.openai_chat:OpenAIChat",
    "moonshot": "pi_batch.providers.openai_chat:OpenAIChat",
    "zai": "pi_batch.providers.openai_chat:OpenAIChat",
    "ollama": "pi_batch.providers.openai_chat:OpenAIChat",
    "llamacpp": "pi_batch.providers.openai_chat:OpenAIChat",
    "vllm": "pi_batch.providers.openai_chat:OpenAIChat",
    "lmstudio": "pi_batch.providers.openai_chat:OpenAIChat",
}
"""Provider name -> "module:Class"; the name is what stands before the first slash of a model."""


def load(name: str) -> type[Any]:
    """The class of a provider. Raises: UsageError, one line, for a name that has none."""
    if name in TABLE:
        module, _, attribute = TABLE[name].partition(":")
        loaded: type[Any] = getattr(importlib.import_module(module), attribute)
        return loaded
    known = ", ".join(sorted(set(TABLE) - {"fake"}))
    raise UsageError(f"provider {name!r}: unknown; known are {known}")
