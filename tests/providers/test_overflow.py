"""A request that is too long is told apart from a rate that is too high."""

from __future__ import annotations

import pytest

from pi_batch.providers.overflow import is_context_overflow

SAID = {
    "anthropic": "prompt is too long: 213462 tokens > 200000 maximum",
    "openai": "Your input exceeds the context window of this model.",
    "openai-old": "This model's maximum context length is 128000 tokens.",
    "gemini": "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "openrouter": "This endpoint's maximum context length is 32768 tokens.",
    "vllm": "'max_tokens' is too large: 9000. This model's maximum context length is 8192 tokens",
    "llama.cpp": "the request exceeds the available context size, try increasing it",
    "ollama": "prompt too long; exceeded max context length by 512 tokens",
    "groq": "Please reduce the length of the messages or completion.",
    "xai": "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "together": "Input (40000 tokens) is longer than the model's context length (32768 tokens)",
    "mistral": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "lmstudio": "Trying to keep the first 5000 tokens, greater than the context length",
    "minimax": "invalid params, context window exceeds limit (2013)",
    "kimi": "Invalid request: Your request exceeded model token limit: 262144",
    "qwen": "Range of input length should be [1, 129024]",
    "bedrock": "Input is too long for requested model.",
    "generic": "error: context_length_exceeded",
}

NOT_SAID = [
    "Rate limit reached on tokens per min (TPM): maximum context length of the bucket",
    "Too many requests: prompt is too long for your rate limit",
    "Throttling: context length exceeded the quota",
    "max_tokens: 200000 > 64000, which is the maximum allowed",
    "Invalid 'messages[3].content': string too long",
    "The server had an error",
    "",
]


@pytest.mark.parametrize("service", SAID)
def test_each_service_is_understood(service: str) -> None:
    assert is_context_overflow(SAID[service])


@pytest.mark.parametrize("message", NOT_SAID)
def test_other_refusals_are_none(message: str) -> None:
    assert not is_context_overflow(message)


@pytest.mark.parametrize(
    "code", ["context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"]
)
def test_a_code_decides_before_the_words(code: str) -> None:
    assert is_context_overflow("rate limit, says the message", frozenset({code}))
