"""A model as the engine sees it: who answers, at what price, within what window."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from pi_batch.engine.limiter import Limiter
from pi_batch.messages import Usage
from pi_batch.protocols import Provider, RecordedSummary

DEFAULT_MAX_OUTPUT_TOKENS = 16_384
"""Output wished for where neither the model nor the user names a cap."""


class ModelPort(Struct, frozen=True):
    """One model behind one provider."""

    provider: Provider
    provider_name: str
    model: str
    """What the wire calls it."""
    thinking: str | None = None
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    context_window: int | None = None
    """Input and output together; None: unknown, and the history is summed up only after it was too long."""
    reserve: int | None = None
    """Tokens of the window to be left free; None: as much as suits it."""
    summarizer: ModelPort | None = None
    """Who sums the history up; None: this model itself."""
    price_usd: Callable[[int, int], float] = lambda _input, _output: 0.0
    """(input tokens, output tokens) -> USD, the dearest case: what a request is reserved at."""
    cost_usd: Callable[[str, Usage], float | None] = lambda _model, _usage: None
    """(model that answered, usage) -> USD of a reply that names no cost itself; None: unknown."""
    limiter: Limiter = field(default_factory=Limiter)
    """Shared by all tasks that use the same endpoint."""
    retries_empty: bool = True
    """False for a recording: an empty reply there is what was recorded."""
    recorded_summary: Callable[[], RecordedSummary | None] = lambda: None
    """Asked before each request: the compaction that a recording has here."""
    warnings: Callable[[], tuple[str, ...]] = tuple
    """Asked once at the end of the agent's work: a recording says what was left over."""

    @property
    def label(self) -> str:
        """provider/model, as events and reports show it."""
        return f"{self.provider_name}/{self.model}"
