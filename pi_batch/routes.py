"""Virtual models: from `router/NAME` to the models behind it, and who is asked at which place of a task.

A route is a tree. Its leaves are real models; each node picks among what is below it, by a policy: the next
one when one is not to be had, the next one after a failed verification, one to plan and one to work, what a
cheap model or a function says. Where a task stands is a value of its own, so that it can be written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, assert_never

from msgspec import Struct, field

from pi_batch.errors import UsageError
from pi_batch.model_names import ROUTER, is_virtual, model_name, stands_alone
from pi_batch.results import RoutePolicy
from pi_batch.spec import VirtualModel
from pi_batch.wording import listed, nearest, quoted

Phase = Literal["plan", "work"]

MAX_DEPTH: Final = 10
MAX_LEAVES: Final = 100
"""Of one route: beyond it nothing was meant."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")

_KEYS: Final[Mapping[RoutePolicy, tuple[str, ...]]] = {
    "fallback": ("models",),
    "escalate": ("models",),
    "phases": ("plan", "work"),
    "classify": ("classifier", "choices"),
    "function": ("function", "models"),
}
"""What each policy needs; everything else is for others."""


class OneModel(Struct, frozen=True):
    """A real model, as it was written."""

    name: str


class InOrder(Struct, frozen=True):
    """The first that is to be had; `router` is empty for a spec's own `fallback:`."""

    router: str
    members: tuple[Route, ...]


class ByAttempt(Struct, frozen=True):
    """The next one after each failed verification; the last one stays."""

    router: str
    members: tuple[Route, ...]


class ByPhase(Struct, frozen=True):
    """One makes the plan, another carries it out."""

    router: str
    plan: Route
    work: Route


class ByClass(Struct, frozen=True):
    """What a cheap model takes the task for decides."""

    router: str
    classifier: str
    choices: Mapping[str, Route]
    """By label; the first counts where the classifier gives none."""


class ByFunction(Struct, frozen=True):
    """A Python function of the configuration decides, at each attempt."""

    router: str
    function: str
    """module:name."""
    members: Mapping[str, Route]
    """By their names as written."""


Route = OneModel | InOrder | ByAttempt | ByPhase | ByClass | ByFunction


class Place(Struct, frozen=True):
    """Where a task stands on its route."""

    attempt: int = 1
    phase: Phase = "plan"
    picks: Mapping[str, str] = field(default_factory=dict)
    """By `pick_key`: the label or the member that was picked."""


class Step(Struct, frozen=True):
    """One policy's word on the way to a model."""

    router: str
    policy: RoutePolicy
    why: str

    def __str__(self) -> str:
        """`router/NAME, escalate: 2 of 3`."""
        return f"{self.router}, {self.policy}: {self.why}" if self.router else f"{self.policy}: {self.why}"


class Candidate(Struct, frozen=True):
    """A model that may be asked at a place, and how the policies come to it."""

    name: str
    steps: tuple[Step, ...] = ()
    pending: ByClass | ByFunction | None = None
    """What has to be decided before it is known whether this is the one."""
    is_planning: bool = False
    """True while it only makes a plan."""


def complaint(name: str, virtual: VirtualModel, *, may_call: bool) -> str | None:
    """What is wrong with a virtual model by itself, in one line; None when nothing is.

    `may_call`: whether it may name a function: in the configuration file only.
    """
    if not _NAME.fullmatch(name):
        return f"got the name {quoted(name)}, need letters, digits, '.', '_' and '-', a letter or digit first"
    if virtual.policy == "function" and not may_call:
        return "policy function: a function is named in the configuration file only"
    needed = _KEYS[virtual.policy]
    for key in ("models", "plan", "work", "classifier", "choices", "function"):
        value = getattr(virtual, key)
        if key in needed and not value:
            return f"policy {virtual.policy} needs {' and '.join(needed)}; {key} is missing or empty"
        if key not in needed and value:
            return f"{key} is not for policy {virtual.policy}, which needs {' and '.join(needed)}"
    return next(filter(None, map(_wrong_member, _members(virtual))), None) or _wrong_rest(virtual)


def _members(virtual: VirtualModel) -> Iterator[str]:
    yield from virtual.models
    yield from filter(None, (virtual.plan, virtual.work, virtual.classifier))
    yield from virtual.choices.values()


def _wrong_member(name: str) -> str | None:
    if stands_alone(name):
        return f"got {quoted(name)}: a recording and a built-in model stand alone, never for another"
    return model_name(name)


def _wrong_rest(virtual: VirtualModel) -> str | None:
    if virtual.function and not _FUNCTION.fullmatch(virtual.function):
        return f"function: got {quoted(virtual.function)}, need module:name"
    if virtual.classifier and is_virtual(virtual.classifier):
        return f"classifier: got {quoted(virtual.classifier)}, need a real model"
    if any(not label.strip() or "\n" in label or len(label) > 200 for label in virtual.choices):
        return "choices: need labels of one line, at most 200 characters"
    return None


def resolve(model: str, virtual: Mapping[str, VirtualModel], fallback: Sequence[str] = ()) -> Route:
    """The route of a task; a recording and a built-in model stand without a fallback.

    Raises: UsageError, one line, for a name that is unknown or leads back to itself.
    """
    if stands_alone(model):
        return OneModel(model)
    first = _route(model, virtual, ())
    rest = tuple(_route(name, virtual, ()) for name in dict.fromkeys(fallback) if name != model)
    route = InOrder("", (first, *rest)) if rest else first
    if sum(1 for _ in _walk(route)) > MAX_LEAVES:
        raise UsageError(f"model {model!r}: leads to more than {MAX_LEAVES} models")
    return route


def _route(name: str, virtual: Mapping[str, VirtualModel], above: tuple[str, ...]) -> Route:
    if not is_virtual(name):
        return OneModel(name)
    own = name.removeprefix(f"{ROUTER}/")
    way = (*above, name)
    if name in above or len(way) > MAX_DEPTH:
        raise UsageError(f"model {way[0]!r}: leads back to itself: {' -> '.join(way)}")
    if own not in virtual:
        known = listed(f"{ROUTER}/{known}" for known in virtual) or "none"
        hint = nearest(own, virtual)
        if own.rpartition(":")[0] in virtual:
            hint = ": a level stands behind its members' names, or in thinking:"
        via = f", named by {above[-1]}" if above else ""
        raise UsageError(f"model {name!r}{via}: no virtual model of that name{hint} (known: {known})")
    found = virtual[own]

    def below(member: str) -> Route:
        return _route(member, virtual, way)

    match found.policy:
        case "fallback":
            return InOrder(name, tuple(map(below, found.models)))
        case "escalate":
            return ByAttempt(name, tuple(map(below, found.models)))
        case "phases":
            return ByPhase(name, below(found.plan or ""), below(found.work or ""))
        case "classify":
            choices = {label: below(member) for label, member in found.choices.items()}
            return ByClass(name, found.classifier or "", choices)
        case "function":
            return ByFunction(name, found.function or "", {member: below(member) for member in found.models})
        case _:
            assert_never(found.policy)


def _parts(route: Route) -> tuple[Route, ...]:
    match route:
        case OneModel():
            return ()
        case InOrder() | ByAttempt():
            return route.members
        case ByPhase():
            return (route.plan, route.work)
        case ByClass():
            return (OneModel(route.classifier), *route.choices.values())
        case ByFunction():
            return tuple(route.members.values())
        case _:
            assert_never(route)


def _walk(route: Route) -> Iterator[Route]:
    """A route and everything below it."""
    yield route
    for part in _parts(route):
        yield from _walk(part)


def models_of(route: Route) -> tuple[str, ...]:
    """Every model that may be asked, classifiers too, each once."""
    return tuple(dict.fromkeys(part.name for part in _walk(route) if isinstance(part, OneModel)))


def functions_of(route: Route) -> tuple[str, ...]:
    """Every function that may be called, each once."""
    return tuple(dict.fromkeys(part.function for part in _walk(route) if isinstance(part, ByFunction)))


def attempts_of(route: Route) -> int:
    """How many attempts it takes until every model of an escalation had one; 1 without any."""
    return max((len(part.members) for part in _walk(route) if isinstance(part, ByAttempt)), default=1)


def candidates(route: Route, place: Place) -> tuple[Candidate, ...]:
    """Who may be asked at a place: the first, and who comes after it when it is not to be had."""
    found: dict[str, Candidate] = {}
    for candidate in _candidates(route, place):
        found.setdefault(candidate.name, candidate)
    return tuple(found.values())


def _candidates(route: Route, place: Place) -> Iterator[Candidate]:
    match route:
        case OneModel():
            yield Candidate(route.name)
        case InOrder():
            for number, member in enumerate(route.members, 1):
                why = f"{number} of {len(route.members)}"
                yield from _below(member, place, Step(route.router, "fallback", why))
        case ByAttempt():
            number = min(place.attempt, len(route.members))
            step = Step(route.router, "escalate", f"{number} of {len(route.members)}")
            yield from _below(route.members[number - 1], place, step)
        case ByPhase():
            is_planning = place.phase == "plan" and place.attempt == 1
            member = route.plan if is_planning else route.work
            step = Step(route.router, "phases", "plan" if is_planning else "work")
            yield from _below(member, place, step, is_planning=is_planning)
        case ByClass():
            yield from _picked(route, route.choices, "classify", place)
        case ByFunction():
            yield from _picked(route, route.members, "function", place)
        case _:
            assert_never(route)


def pick_key(node: ByClass | ByFunction, place: Place) -> str:
    """Under what a decision is kept: a class is for good, a function is called at each attempt."""
    return node.router if isinstance(node, ByClass) else f"{node.router}@{place.attempt}"


def _picked(
    route: ByClass | ByFunction, members: Mapping[str, Route], policy: RoutePolicy, place: Place
) -> Iterator[Candidate]:
    label = place.picks.get(pick_key(route, place), "")
    pending = None if label in members else route
    label = label if label in members else next(iter(members))
    yield from _below(members[label], place, Step(route.router, policy, quoted(label)), pending)


def _below(
    route: Route,
    place: Place,
    step: Step,
    pending: ByClass | ByFunction | None = None,
    *,
    is_planning: bool = False,
) -> Iterator[Candidate]:
    for one in _candidates(route, place):
        yield Candidate(one.name, (step, *one.steps), pending or one.pending, is_planning or one.is_planning)
