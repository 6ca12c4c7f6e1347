"""Who is asked: one task's route, and where the task stands on it.

Decisions are made here and are values; asking, waiting and writing down is `asking`'s. A model that was
not to be had is not tried again in the same task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from pi_batch.engine.model_port import ModelPort
from pi_batch.errors import ErrorKind, ProviderError, UsageError
from pi_batch.events import ModelSelected
from pi_batch.routes import ByClass, ByFunction, Candidate, OneModel, Place, Route, candidates, pick_key
from pi_batch.wording import listed

FALLBACK_KINDS: Final[frozenset[ErrorKind]] = frozenset(
    {"overloaded", "rate_limit", "quota", "model_not_found", "context_overflow", "request_too_large"}
)
"""What another model may be able to do. Each has been tried again before, where that makes sense."""
KIND: Final = "model"
"""Of the session's own entry that says who is asked from there on."""


class Situation(Struct, frozen=True):
    """What a function of the configuration is told."""

    task_id: str
    tags: tuple[str, ...]
    prompt: str
    """What is about to be said: the task, or what a failed verification said."""
    attempt: int
    """From 1."""
    models: tuple[str, ...]
    """Of which it gives one back."""


Choose = Callable[[Situation], object]


class Models(Struct, frozen=True):
    """What a task may be asked of."""

    route: Route
    ports: Mapping[str, ModelPort]
    """By the name in the route."""
    functions: Mapping[str, Choose] = field(default_factory=dict)
    """By module:name."""
    task_id: str = ""
    tags: tuple[str, ...] = ()


class Router:
    """One task's; lives over all its attempts."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._place = Place()
        self._failed: tuple[str, ...] = ()
        self._current = self._first()
        self._is_chosen = False
        """True once somebody is asked, here or in an earlier process."""

    @classmethod
    def of_one(cls, port: ModelPort) -> Router:
        """A route of one model."""
        return cls(Models(OneModel(port.label), {port.label: port}))

    @property
    def is_virtual(self) -> bool:
        """True when there is anything to decide."""
        return not isinstance(self._models.route, OneModel)

    @property
    def is_chosen(self) -> bool:
        """True once it is known who is asked first."""
        return self._is_chosen or not self.is_virtual

    @property
    def is_planning(self) -> bool:
        """True while a plan is made, and nothing is changed."""
        return self._current.is_planning

    @property
    def port(self) -> ModelPort:
        """Who is asked now."""
        return self._models.ports[self._current.name]

    def port_of(self, name: str) -> ModelPort:
        """A model of the route."""
        return self._models.ports[name]

    def price_usd(self, input_tokens: int, output_tokens: int) -> float:
        """The dearest of those who may come to answer: what is reserved before a request."""
        return max(
            self._models.ports[one.name].price_usd(input_tokens, output_tokens)
            for one in (self._current, *self._after())
        )

    # --- decisions ---

    def begin(self, attempt: int) -> ByClass | ByFunction | None:
        """An attempt begins; what has to be decided first, or None."""
        self._place = replace(self._place, attempt=attempt)
        return self.pending()

    def pending(self) -> ByClass | ByFunction | None:
        """What has to be decided before it is known who comes first."""
        return self._first().pending

    def pick(self, node: ByClass | ByFunction, label: str) -> None:
        """Take a decision."""
        self._place = replace(self._place, picks={**self._place.picks, pick_key(node, self._place): label})

    def call(self, pending: ByFunction, prompt: str) -> str:
        """A function's word. Raises: UsageError where it is none of the models."""
        models = tuple(pending.members)
        situation = Situation(self._models.task_id, self._models.tags, prompt, self._place.attempt, models)
        said = self._models.functions[pending.function](situation)
        if not isinstance(said, str) or said not in pending.members:
            raise UsageError(
                f"{pending.router}: {pending.function} gave {said!r:.80}, need one of {listed(models)}"
            )
        return said

    def select(self) -> ModelSelected | None:
        """Go to whoever comes first here; None where that is who was asked before."""
        first = self._first()
        is_same = self._is_chosen and first == self._current
        return None if is_same or not self.is_virtual else self._go_to(first)

    def can_fall_back(self, error: ProviderError) -> bool:
        """True when another model is left that may do what this one could not."""
        return error.kind in FALLBACK_KINDS and bool(self._after())

    def give_up(self) -> None:
        """The model that is asked now is not to be had: it is not tried again."""
        self._failed = (*self._failed, self._current.name)

    def fall_back(self, error: ProviderError) -> ModelSelected:
        """Go to the next one."""
        return replace(self._go_to(self._first()), error_kind=error.kind, error=str(error))

    def begin_work(self) -> ModelSelected:
        """The plan is there: go to whoever carries it out."""
        self._place = replace(self._place, phase="work")
        return self._go_to(self._first())

    # --- resuming ---

    def record(self) -> dict[str, Any]:
        """Where the task stands, for the session."""
        return {
            "kind": KIND,
            "model": self._current.name,
            "policy": " / ".join(map(str, self._current.steps)),
            "attempt": self._place.attempt,
            "phase": self._place.phase,
            "is_planning": self._current.is_planning,
            "picks": dict(self._place.picks),
            "failed": list(self._failed),
        }

    def restore(self, recorded: Mapping[str, Any], *, has_worked: bool) -> None:
        """Go on where an earlier process was; what does not fit the route any more counts for nothing.

        `has_worked`: the conversation has left its plan behind, whatever is recorded.
        """
        picks, attempt = recorded.get("picks"), recorded.get("attempt")
        failed = recorded.get("failed")
        self._place = Place(
            attempt if isinstance(attempt, int) and attempt > 0 else 1,
            "work" if has_worked or recorded.get("phase") == "work" else "plan",
            {str(router): str(pick) for router, pick in picks.items()} if isinstance(picks, Mapping) else {},
        )
        self._failed = tuple(map(str, failed)) if isinstance(failed, list) else ()
        found = (one for one in self._candidates() if one.name == recorded.get("model"))
        self._current = next(found, self._first())
        self._is_chosen = True

    # --- the route ---

    def _candidates(self) -> tuple[Candidate, ...]:
        return candidates(self._models.route, self._place)

    def _first(self) -> Candidate:
        """The first who has not failed; the last one where all have."""
        all_ = self._candidates()
        return next((one for one in all_ if one.name not in self._failed), all_[-1])

    def _after(self) -> tuple[Candidate, ...]:
        """Who is left beside the one that is asked now."""
        gone = {*self._failed, self._current.name}
        return tuple(one for one in self._candidates() if one.name not in gone)

    def _go_to(self, candidate: Candidate) -> ModelSelected:
        before = self._current.name if self._is_chosen else ""
        self._current, self._is_chosen = candidate, True
        last = candidate.steps[-1]
        router = next((step.router for step in candidate.steps if step.router), "")
        return ModelSelected(
            candidate.name, last.policy, "; ".join(map(str, candidate.steps)), router, before
        )
