"""A model's name to the thing that answers: service, key, price, limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pi_batch import providers
from pi_batch.engine.limiter import Limiter
from pi_batch.engine.model_port import DEFAULT_MAX_OUTPUT_TOKENS, ModelPort
from pi_batch.engine.router import Choose, Models
from pi_batch.errors import ProviderError, UsageError
from pi_batch.messages import Usage
from pi_batch.model_names import (
    BUILTIN_MODELS,
    REPLAY,
    ModelName,
    ThinkingLevel,
    is_recording,
    is_virtual,
    stands_alone,
)
from pi_batch.protocols import Provider
from pi_batch.routes import ByAttempt, ByPhase, OneModel, Route, functions_of, models_of, resolve
from pi_batch.spec import PlannedTask
from pi_batch.wiring.builtin_models import check_builtin, is_builtin, open_builtin
from pi_batch.wiring.caching import ReplyCache
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.wiring.windows import context_window

UNPRICED = (
    "no price is known, so the cost limit cannot be kept: give one in PI_BATCH_PRICES, or lift cost_usd"
)


class OpenedModel(Struct, frozen=True):
    """A model ready to answer."""

    port: ModelPort
    bind_workspace: Callable[[str], None]
    models: Models | None = None
    """Everybody who may be asked, where that is not the port alone."""
    attempts: int = 1
    """How many a recording has."""


class _Service(Struct, frozen=True):
    """One endpoint, shared by every task that uses it."""

    service: Any
    """A `providers.catalog.Service`."""
    provider: Provider
    base_url: str
    limiter: Limiter


class ModelPool:
    """Opens the models of a run; each service is connected to once."""

    def __init__(
        self,
        around: Surroundings,
        settings: Settings,
        *,
        has_cost_limit: bool,
        cache: ReplyCache | None = None,
    ) -> None:
        self._around = around
        self._settings = settings
        self._has_cost_limit = has_cost_limit
        """True when the whole run has a money limit; tasks may have their own."""
        self._cache = cache
        self._services: dict[str, _Service] = {}
        self._limiters: dict[str, Limiter] = {}
        """By URL: two services at one endpoint (`openai`, `openai-chat`) share its limit."""
        self._prices: Any = None
        self._told: set[str] = set()
        """Thinking levels that were clamped: each is said once a run."""

    def check(self, tasks: Iterable[PlannedTask]) -> None:
        """Look providers, prices and recordings up before anything runs. Raises: UsageError, a line each."""
        problems: dict[str, None] = {}
        summarizer = self._settings.compaction_model
        if summarizer is not None and (is_recording(summarizer) or is_virtual(summarizer)):
            what = "a recording" if is_recording(summarizer) else "a virtual model"
            problems[f"compaction_model {summarizer!r}: {what} sums nothing up"] = None
            summarizer = None
        tasks = tuple(tasks)
        looks: dict[tuple[str, bool, bool], None] = {(summarizer, False, False): None} if summarizer else {}
        for task in tasks:
            try:
                route = route_of(task)
                for function in functions_of(route):
                    self._function(function)
            except UsageError as error:
                problems[str(error)] = None
                continue
            is_part, has_limit = not isinstance(route, OneModel), task.spec.budget.cost_usd is not None
            looks |= {(model, is_part, has_limit and is_part): None for model in models_of(route)}
        for model, is_part, has_limit in looks:
            try:
                self._look_at(ModelName.parse(model), is_part=is_part, has_limit=has_limit)
            except UsageError as error:
                problems[str(error)] = None
        for task in tasks:
            problems |= dict.fromkeys(filter(None, (_unfit(task),)))
        if problems:
            raise UsageError("\n".join(problems))

    def _look_at(self, name: ModelName, *, is_part: bool, has_limit: bool) -> None:
        """See that a model can be had; one that others stand beside must have its key and its price.

        Raises: UsageError.
        """
        if name.provider == REPLAY:
            _look_at_recording(self._around.cwd / name.model)
        if stands_alone(f"{name.provider}/"):
            return
        from pi_batch.providers.catalog import key_state

        service = find_service(name.provider, self._settings)
        price = self._price_table().lookup(name.provider, name.model)
        if is_part and key_state(service, self._around.environ) == "missing":
            raise UsageError(f"{name.label}: no key: set {' or '.join(service.key_variables)}")
        if is_part and price is None and (has_limit or self._has_cost_limit):
            raise UsageError(f"{name.label}: {UNPRICED}")

    def open(self, task: PlannedTask, warn: Callable[[str], None]) -> OpenedModel:
        """One task's model. Raises: UsageError, ProviderError (auth, price_unknown)."""
        route = route_of(task)
        if isinstance(route, OneModel) and is_recording(route.name):
            return self._open_replay(ModelName.parse(route.name), task, warn)
        if isinstance(route, OneModel) and is_builtin(ModelName.parse(route.name).provider):
            return _open_builtin(ModelName.parse(route.name), task)
        ports = {model: self._open_one(model, task, warn) for model in models_of(route)}
        port = next(iter(ports.values()))
        bind = partial(self._cache.bind, task) if self._cache else _bind_nothing
        if isinstance(route, OneModel):
            return OpenedModel(port, bind)
        functions = {name: self._function(name) for name in functions_of(route)}
        models = Models(route, ports, functions, task.spec.id, task.spec.tags)
        return OpenedModel(port, bind, models)

    def _open_one(self, model: str, task: PlannedTask, warn: Callable[[str], None]) -> ModelPort:
        """One of a task's models; a level behind its name holds, for the task's own the settled one."""
        name, level = ModelName.parse(model), task.spec.thinking
        level = name.thinking or level if model != task.model else level or name.thinking
        service = self._service(name.provider)
        level = self._clamped(service.service, name, level, warn)
        port = self._port(replace(name, thinking=level), service, task, warn)
        return replace(port, summarizer=self._summarizer(task, warn))

    def _clamped(
        self, service: Any, name: ModelName, level: ThinkingLevel | None, warn: Callable[[str], None]
    ) -> ThinkingLevel | None:
        """The level that the model takes; where that is another one, it is said once."""
        from pi_batch.providers.thinking_levels import clamped, levels_of

        if level is None:
            return None
        levels = levels_of(service, name.model)
        taken: ThinkingLevel | None = clamped(level, levels)
        if taken != level:
            what = f"{taken!r} is taken" if taken else "nothing is said of it"
            has = f"has {', '.join(levels)}" if levels else "cannot be told how much to think"
            text = f"{name.label}: thinking level {level!r}: the model {has}: {what}"
            if text not in self._told:
                self._told.add(text)
                warn(text)
        return taken

    def _function(self, name: str) -> Choose:
        """A function of the configuration file. Raises: UsageError."""
        from pi_batch.wiring.functions import load_function

        file = self._settings.file.file
        return load_function(name, (self._around.cwd / file).parent if file else self._around.cwd)

    async def close(self) -> None:
        """Close every connection."""
        for service in self._services.values():
            await service.provider.close()

    def _port(
        self, name: ModelName, opened: _Service, task: PlannedTask, warn: Callable[[str], None]
    ) -> ModelPort:
        from pi_batch.prices import most_usd
        from pi_batch.providers.catalog import default_max_output_tokens

        prices = self._price_table()
        price = prices.lookup(name.provider, name.model)
        if price is None and (self._has_cost_limit or task.spec.budget.cost_usd is not None):
            raise ProviderError(f"{name.label}: {UNPRICED}", kind="price_unknown")

        def cost_usd(answered: str, usage: Usage) -> float | None:
            cost: float | None = prices.cost_usd(name.provider, name.model, answered, usage)
            return cost

        provider = opened.provider
        if self._cache is not None:
            provider = self._cache.around(provider, opened.service, opened.base_url, task, warn)
        return ModelPort(
            provider=provider,
            provider_name=name.provider,
            model=name.model,
            thinking=name.thinking,
            max_output_tokens=self._settings.max_output_tokens
            or default_max_output_tokens(opened.service, name.model),
            context_window=context_window(name.provider, name.model, opened.service, self._settings, prices)[
                0
            ],
            reserve=self._settings.compaction_reserve_tokens,
            price_usd=lambda given, out: most_usd(given, out, price) if price is not None else 0.0,
            cost_usd=cost_usd,
            limiter=opened.limiter,
        )

    def _summarizer(self, task: PlannedTask, warn: Callable[[str], None]) -> ModelPort | None:
        """The model set for summaries, where that is another one than the task's."""
        wanted = self._settings.compaction_model
        if wanted is None or wanted == task.model:
            return None
        name = ModelName.parse(wanted)
        port = self._port(name, self._service(name.provider), task, warn)
        return replace(port, context_window=self._price_table().context_window(name.provider, name.model))

    def _price_table(self) -> Any:
        if self._prices is None:
            self._prices = self._settings.prices()
        return self._prices

    def _service(self, name: str) -> _Service:
        """A service by name, connected at first use. Raises: UsageError, ProviderError."""
        if name in self._services:
            return self._services[name]
        from pi_batch.providers.catalog import endpoint_for, key_state
        from pi_batch.providers.endpoint import DEFAULT_TIMEOUTS, Timeouts

        service = find_service(name, self._settings)
        if key_state(service, self._around.environ) == "missing":
            wanted = " or ".join(service.key_variables)
            raise ProviderError(f"{name}: no key: set {wanted}", kind="auth")
        idle_s = self._settings.idle_timeout_s
        timeouts = DEFAULT_TIMEOUTS if idle_s is None else Timeouts(idle_s=idle_s)
        endpoint = endpoint_for(service, self._around.environ, timeouts=timeouts)
        provider: Provider = providers.load(service.api)(service, endpoint)
        limiter = self._limiters.setdefault(endpoint.base_url, Limiter())
        self._services[name] = _Service(service, provider, endpoint.base_url, limiter)
        return self._services[name]

    def _open_replay(self, name: ModelName, task: PlannedTask, warn: Callable[[str], None]) -> OpenedModel:
        from pi_batch.providers.replay import Replay

        replay = Replay(self._around.cwd / Path(name.model), key=task.planned.key, on_warning=warn)
        port = ModelPort(
            provider=replay,
            provider_name="replay",
            model=name.model,
            max_output_tokens=self._settings.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS,
            cost_usd=lambda _model, _usage: 0.0,
            retries_empty=False,
            recorded_summary=replay.recorded_summary,
            warnings=replay.warnings,
        )
        route: Route = OneModel(port.label)
        if replay.has_phases:
            route = ByPhase(task.model, route, route)
        if replay.has_steps:
            route = ByAttempt(task.model, (route,) * replay.attempts)
        models = None if isinstance(route, OneModel) else Models(route, {port.label: port})
        return OpenedModel(port, replay.bind, models, replay.attempts)


def route_of(task: PlannedTask) -> Route:
    """Who may be asked for a task. Raises: UsageError."""
    return resolve(task.model, task.virtual, task.spec.fallback)


def _bind_nothing(_workspace: str) -> None:
    """Where no replies are kept, nobody needs to know where the workspace is."""


def _open_builtin(name: ModelName, task: PlannedTask) -> OpenedModel:
    port = ModelPort(
        provider=open_builtin(name.provider, name.model, task),
        provider_name=name.provider,
        model=name.model,
        cost_usd=lambda _model, _usage: 0.0,
    )
    return OpenedModel(port, _bind_nothing)


def _unfit(task: PlannedTask) -> str:
    """Why a built-in model cannot be tried on a task; empty when it can, or is another one."""
    try:
        name = ModelName.parse(task.model)
        if is_builtin(name.provider):
            check_builtin(name.provider, name.model, task)
    except UsageError as error:
        return str(error)
    return ""


def _look_at_recording(path: Path) -> None:
    """Raises: UsageError where no task could replay it; what a directory lacks is its task's error."""
    from pi_batch.providers.recording import read_recording

    if not path.is_dir():
        read_recording(path)


def find_service(name: str, settings: Settings) -> Any:
    """A known service, or one of the config file's. Raises: UsageError naming the nearest."""
    import difflib

    from pi_batch.providers.catalog import SERVICES
    from pi_batch.providers.service_config import service_from_config

    own = settings.file.providers or {}
    if name in own:
        return service_from_config(name, own[name], settings.file.file)
    if name in SERVICES:
        return SERVICES[name]
    known = [*SERVICES, *own, "replay", *BUILTIN_MODELS]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"provider {name!r}: unknown{hint} (known: {', '.join(sorted(known))})")


def providers_with_keys(around: Surroundings) -> tuple[str, ...]:
    """Services whose key is set."""
    from pi_batch.providers.catalog import SERVICES, key_state

    return tuple(name for name, service in SERVICES.items() if key_state(service, around.environ) == "set")
