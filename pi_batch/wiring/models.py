"""A model's name to the thing that answers: provider, price, limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pi_batch import providers
from pi_batch.engine.model_port import DEFAULT_MAX_OUTPUT_TOKENS, ModelPort
from pi_batch.errors import UsageError
from pi_batch.protocols import Provider

THINKING_LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class ModelName:
    """`provider/model[:level]` taken apart."""

    provider: str
    model: str
    thinking: str | None = None

    @classmethod
    def parse(cls, name: str) -> ModelName:
        """Split at the first slash; only a known thinking level is taken off the end.

        Raises: UsageError for a name without a provider.
        """
        provider, slash, model = name.partition("/")
        if not slash or not provider or not model:
            raise UsageError(
                f"model {name!r}: need provider/model, for example anthropic/claude-sonnet-5 "
                "or replay/SESSION.jsonl"
            )
        head, _, level = model.rpartition(":")
        if provider != "replay" and head and level in THINKING_LEVELS:
            return cls(provider, head, level)
        return cls(provider, model)


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model ready to answer."""

    port: ModelPort
    bind_workspace: Callable[[str], None]
    provider: Provider


def open_model(name: str, key: str, environ: Mapping[str, str], warn: Callable[[str], None]) -> OpenedModel:
    """Make the provider of one task's model. Raises: UsageError, ProviderError."""
    parsed = ModelName.parse(name)
    if parsed.provider == "replay":
        return _open_replay(parsed, key, environ, warn)
    provider_class = providers.load(parsed.provider)
    raise UsageError(f"model {name!r}: {provider_class.__name__} cannot be named in a spec")


def _open_replay(
    name: ModelName, key: str, environ: Mapping[str, str], warn: Callable[[str], None]
) -> OpenedModel:
    from pi_batch.providers.replay import Replay

    replay = Replay(Path(name.model), key=key, on_warning=warn)
    port = ModelPort(
        provider=replay,
        provider_name="replay",
        model=name.model,
        max_output_tokens=max_output_tokens(environ),
        cost_usd=lambda _model, _usage: 0.0,
        retries_empty=False,
        warnings=replay.warnings,
    )
    return OpenedModel(port, replay.bind, replay)


def max_output_tokens(environ: Mapping[str, str]) -> int:
    """PI_BATCH_MAX_OUTPUT_TOKENS, or the default. Raises: UsageError."""
    text = environ.get("PI_BATCH_MAX_OUTPUT_TOKENS", "")
    if not text:
        return DEFAULT_MAX_OUTPUT_TOKENS
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"PI_BATCH_MAX_OUTPUT_TOKENS: got {text!r}, need a whole number >= 1")
    return int(text)
