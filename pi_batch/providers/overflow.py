"""How each service says that a request is longer than the model's context.

Codes first, then words; anything that speaks of a rate is none. With the same body never try again.
"""

from __future__ import annotations

import re

CODES = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Groq, OpenRouter
        "exceed_context_size_error",  # llama.cpp
        "model_context_window_exceeded",  # Anthropic, z.ai
        "context_window_exceeded",
        "prompt_too_long",
        "input_too_long",
    }
)

_WORDS = re.compile(
    "|".join(
        (
            r"prompt is too long",  # Anthropic: prompt is too long: 213462 tokens > 200000 maximum
            r"prompt too long",  # Ollama: prompt too long; exceeded max context length by 5 tokens
            r"input is too long for (?:the )?requested model",  # Bedrock
            r"exceeds? the (?:model'?s )?context (?:window|length|limit)",  # OpenAI; many proxies
            r"input token count.{0,40}exceeds the maximum",  # Gemini
            r"maximum prompt length is \d",  # xAI
            r"reduce the length of (?:the )?(?:messages|input|prompt)",  # Groq, vLLM
            r"maximum context length",  # OpenAI, OpenRouter, vLLM, DeepSeek, Mistral
            r"maximum allowed input length",  # OpenRouter: Poolside
            r"longer than the model'?s context length",  # Together
            r"exceeds the available context size",  # llama.cpp
            r"greater than the context length",  # LM Studio
            r"context window exceeds limit",  # MiniMax
            r"exceeded model token limit",  # Kimi
            r"configured context size is [\d,]+",
            r"range of input length should be",  # Qwen
            r"context[_ ](?:length|window)[_ ]exceeded",
            r"exceeds? (?:the )?max(?:imum)? (?:model )?(?:context|input|prompt) (?:length|size|tokens)",
            r"too many (?:input |prompt )?tokens in (?:the )?(?:prompt|request|input|context)",
            r"input length .{0,60}exceeds? .{0,40}(?:context|maximum)",
            r"token limit exceeded",
        )
    ),
    re.IGNORECASE,
)

_RATE = re.compile(
    r"rate.?limit|too many requests|tokens? per (?:minute|min|hour|day)|\b[tr]p[mhd]\b|throttl|quota",
    re.IGNORECASE,
)


def is_context_overflow(message: str, codes: frozenset[str] = frozenset()) -> bool:
    """True when an error says that the request does not fit into the model's context."""
    if codes & CODES:
        return True
    return _WORDS.search(message) is not None and _RATE.search(message) is None
