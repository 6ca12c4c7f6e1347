"""Which models a task was asked of, who answered, and what each cost, gathered event by event."""

from __future__ import annotations

from msgspec.structs import replace

from pi_batch.events import CompactionEnd, MessageEnd, MessageStart, ModelClassified, ModelSelected
from pi_batch.messages import Usage
from pi_batch.results import ModelSelection, ModelUsage, RunResult

ModelEvent = MessageStart | MessageEnd | CompactionEnd | ModelClassified | ModelSelected

LOST = ("error", "aborted")
"""How a message ends that never became one."""


class ModelFold:
    """One task's sums; `before` is what came of it before it was begun anew."""

    def __init__(self, before: RunResult | None = None) -> None:
        self.turns = before.num_turns if before else 0
        self.usage = before.usage if before else Usage()
        self.cost_usd: float | None = before.total_cost_usd if before else 0.0
        self.used: dict[str, None] = dict.fromkeys(before.models_used if before else ())
        """Who answered, in order of first answer."""
        self.by_model: dict[str, ModelUsage] = dict(before.model_usage) if before else {}
        self.selections: list[ModelSelection] = []
        self.fallbacks: list[str] = []
        """One line for a person each."""
        self._asked = ""

    def feed(self, event: ModelEvent) -> None:
        """Take one event."""
        match event:
            case MessageStart():
                self._asked = event.model
            case MessageEnd():
                if event.role == "assistant":
                    self._message_ended(event)
            case CompactionEnd():
                model = event.model or self._asked
                self._spend(model, event.usage, event.cost_usd, is_answered=event.error is None)
                self._answered(event.model)
            case ModelClassified():
                self._spend(event.model, event.usage, event.cost_usd, is_answered=bool(event.model))
                self._answered(event.model)
            case ModelSelected():
                self._selected(event)

    def _message_ended(self, event: MessageEnd) -> None:
        is_answered = event.stop_reason not in LOST
        model = event.model or self._asked
        self._spend(model, event.usage, event.cost_usd, is_answered=is_answered)
        if is_answered:
            self.turns += 1
            self._answered(model, is_cached=event.is_cached)

    def _answered(self, model: str, *, is_cached: bool = False) -> None:
        if not model:
            return
        self.used[model] = None
        sums = self.by_model.get(model, ModelUsage())
        cached = sums.cached_replies + is_cached
        self.by_model[model] = replace(sums, replies=sums.replies + 1, cached_replies=cached)

    def _spend(self, model: str, usage: Usage | None, cost_usd: float | None, *, is_answered: bool) -> None:
        """Add one request; an answer without a price makes the sum unknown for good."""
        is_nothing = usage is None and cost_usd is None and not is_answered
        if usage is not None:
            self.usage += usage
        self.cost_usd = self.cost_usd if is_nothing else _sum(self.cost_usd, cost_usd)
        if model and (is_answered or (usage is not None and usage.total_tokens)):
            sums = self.by_model.get(model, ModelUsage())
            self.by_model[model] = replace(
                sums,
                usage=sums.usage + (usage or Usage()),
                total_cost_usd=_sum(sums.total_cost_usd, cost_usd),
            )

    def _selected(self, event: ModelSelected) -> None:
        self.selections.append(
            ModelSelection(
                self.turns, event.model, event.policy, event.reason, event.router, event.error_kind
            )
        )
        if event.error_kind is not None:
            what = f"{event.previous} was not to be had ({event.error_kind}), {event.model} goes on"
            self.fallbacks.append(f"{what}: {event.error}")


def _sum(sum_usd: float | None, cost_usd: float | None) -> float | None:
    return None if sum_usd is None or cost_usd is None else sum_usd + cost_usd
