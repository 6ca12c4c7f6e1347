"""What requests cost: a price table frozen by date, a person's own prices over it, and the sums.

The table is `price_data/`, made out of the package genai-prices by scripts/freeze_prices.py at each release;
a provider's file is read when it is first asked for. A model that is in no table is unknown (None), never
free; models on this machine cost nothing, and that is known. Where a service tells its own bill, that wins:
it is in `AssistantMessage.cost_usd` before anyone asks here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from pi_batch.errors import UsageError
from pi_batch.messages import Usage

LOCAL_PROVIDERS = frozenset({"ollama", "llamacpp", "vllm", "lmstudio"})
"""Models on machines of one's own: their tokens cost nothing."""

ALIASES = {"openai-chat": "openai"}
"""Providers whose models are priced under another's name."""

MILLION = 1_000_000

_DATA = Path(__file__).with_name("price_data")
_DATE = re.compile(r"[-@:](?:\d{8}|\d{4}-\d{2}-\d{2})\Z")


class Tier(Struct, frozen=True):
    """Rates above some size of the whole input; None: as below it."""

    input_tokens_above: int
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None


class Price(Struct, frozen=True):
    """USD per million tokens."""

    input: float
    output: float
    """Reasoning included."""
    cache_read: float | None = None
    """None: as input."""
    cache_write: float | None = None
    """None: as input."""
    cache_write_1h: float | None = None
    """None: as cache_write."""
    tiers: tuple[Tier, ...] = ()
    """By `input_tokens_above`, lowest first."""
    source: str = ""
    """Where it comes from: the table with its date, a file, this machine."""
    context_window: int | None = None
    """Tokens that the model takes in, where a person's own file says so."""

    def at(self, input_tokens: int) -> Price:
        """The rates of a request with this much input, cached tokens included."""
        price = self
        for tier in self.tiers:
            if input_tokens > tier.input_tokens_above:
                changed = {name: getattr(tier, name) for name in RATES if getattr(tier, name) is not None}
                price = Price(**{name: getattr(price, name) for name in RATES} | changed)
        return price


RATES = ("input", "output", "cache_read", "cache_write", "cache_write_1h")

FREE = Price(0.0, 0.0, source="this machine")


def cost_usd(usage: Usage, price: Price, *, cache_write_1h_tokens: int = 0) -> float:
    """What one request cost: tiers go by its whole input, so a sum of several has no price.

    `cache_write_1h_tokens` are those of `usage.cache_write_tokens` that were kept for an hour.
    """
    rates = price.at(usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens)
    write = rates.input if rates.cache_write is None else rates.cache_write
    hour = write if rates.cache_write_1h is None else rates.cache_write_1h
    total = (
        usage.input_tokens * rates.input
        + usage.output_tokens * rates.output
        + usage.cache_read_tokens * (rates.input if rates.cache_read is None else rates.cache_read)
        + (usage.cache_write_tokens - cache_write_1h_tokens) * write
        + cache_write_1h_tokens * hour
    )
    return total / MILLION


def most_usd(input_tokens: int, output_tokens: int, price: Price) -> float:
    """The most that a request of this size can cost: what is reserved for it before it is made."""
    rates = price.at(input_tokens)
    dearest = max(rates.input, rates.cache_read or 0.0, rates.cache_write or 0.0)
    return (input_tokens * dearest + output_tokens * rates.output) / MILLION


class PriceTable:
    """Prices by provider and model: a person's own first, then the frozen ones."""

    def __init__(self, own: Mapping[str, Price] | None = None, *, free_providers: Iterable[str] = ()) -> None:
        self._own = {name.lower(): price for name, price in (own or {}).items()}
        self._free = LOCAL_PROVIDERS | {*free_providers}
        self._frozen: dict[str, _Frozen] = {}

    def lookup(self, provider: str, model: str) -> Price | None:
        """A model's price; None when it is unknown.

        A date at the end, or `-latest`, may be there or not; any other difference in the name makes it
        another model.
        """
        own = self.own(provider, model)
        if own is not None:
            return own
        if provider in self._free:
            return FREE
        entry = self._entry(provider, model)
        return entry.price if entry else None

    def known(self, provider: str) -> tuple[str, ...]:
        """The models of a provider that have a price here, by one name each, sorted."""
        prefix = f"{provider}/".lower()
        own = [name.removeprefix(prefix) for name in self._own if name.startswith(prefix)]
        return tuple(sorted({*own, *self._file(provider).names()}))

    def own(self, provider: str, model: str) -> Price | None:
        """What a person's own file says of a model."""
        keys = (key for name in _names(model) for key in (f"{provider}/{name}", name))
        return next((self._own[key] for key in keys if key in self._own), None)

    def context_window(self, provider: str, model: str) -> int | None:
        """How many tokens a model takes in, where the table knows."""
        entry = self._entry(provider, model)
        return entry.context_window if entry else None

    def cost_usd(self, provider: str, asked: str, answered: str, usage: Usage) -> float | None:
        """The cost of a reply by the model that answered, else by the one asked; None: unknown."""
        price = self.lookup(provider, answered) or self.lookup(provider, asked)
        return None if price is None else cost_usd(usage, price)

    def _entry(self, provider: str, model: str) -> _Entry | None:
        return self._file(provider).find(model)

    def _file(self, provider: str) -> _Frozen:
        name = ALIASES.get(provider, provider)
        if name not in self._frozen:
            self._frozen[name] = _Frozen.read(name)
        return self._frozen[name]


class _Entry(Struct, frozen=True):
    """One line of the frozen table."""

    price: Price
    context_window: int | None


class _Frozen(Struct, frozen=True):
    """One provider's file: lines are made into prices when they are asked for."""

    by_name: Mapping[str, Mapping[str, Any]]
    by_prefix: Mapping[str, Mapping[str, Any]]
    """Fine-tunes: `ft:gpt-4o-2024-` and whatever follows."""
    source: str

    @classmethod
    def read(cls, provider: str) -> _Frozen:
        path = _DATA / f"{provider}.json"
        if not provider.isidentifier() or not path.is_file():
            return cls({}, {}, "")
        table = json.loads(path.read_text(encoding="utf-8"))
        lines = {name: line for line in table["models"] for name in line["names"]}
        prefixes = {name[:-1]: line for name, line in lines.items() if name.endswith("*")}
        return cls(lines, prefixes, f"{table['source']} of {table['date']}")

    def names(self) -> set[str]:
        """One name for each line: the shortest, which has no date."""
        lines = {id(line): line for line in self.by_name.values()}
        whole = ([name for name in line["names"] if not name.endswith("*")] for line in lines.values())
        return {min(names, key=len) for names in whole if names}

    def find(self, model: str) -> _Entry | None:
        for name in _names(model):
            if name in self.by_name:
                return self._entry(self.by_name[name])
        lower = model.lower()
        prefix = max((known for known in self.by_prefix if lower.startswith(known)), key=len, default=None)
        return None if prefix is None else self._entry(self.by_prefix[prefix])

    def _entry(self, line: Mapping[str, Any]) -> _Entry:
        rates = {name: line[name] for name in RATES if name in line}
        tiers = tuple(Tier(**tier) for tier in line.get("tiers", ()))
        return _Entry(Price(**rates, tiers=tiers, source=self.source), line.get("window"))


def _names(model: str) -> list[str]:
    """A model's name as it may stand in a table: as it is, and without what dates it."""
    lower = model.lower()
    undated = _DATE.sub("", lower)
    return list(dict.fromkeys((lower, undated, undated.removesuffix("-latest"))))


def read_own_prices(path: Path) -> dict[str, Price]:
    """A person's price file, JSON or TOML: `provider/model`, or a bare model, -> rates per million.

    Raises: UsageError, every mistake on a line of its own.
    """
    table = _read_table(path)
    problems = [
        f"{path}: {name}{problem}" for name, entry in table.items() for problem in _entry_problems(entry)
    ]
    if problems:
        raise UsageError("\n".join(problems))
    return {name: _own_price(entry, str(path)) for name, entry in table.items()}


def _own_price(entry: Mapping[str, Any], source: str) -> Price:
    tiers = sorted(entry.get("tiers", ()), key=lambda tier: int(tier["input_tokens_above"]))
    rates = {name: float(value) for name, value in entry.items() if name in RATES}
    return Price(
        **rates,
        tiers=tuple(Tier(**tier) for tier in tiers),
        source=source,
        context_window=entry.get("context_window"),
    )


def _read_table(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: cannot read prices: {getattr(error, 'strerror', None) or error}"
        ) from error
    try:
        if path.suffix.lower() == ".toml":
            import tomllib  # only for those who have such a file

            table: Any = tomllib.loads(text)
        else:
            table = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot read prices: {error}") from error
    if not isinstance(table, dict):
        raise UsageError(f"{path}: need a table of models, got {type(table).__name__}")
    return table


def _entry_problems(entry: object) -> list[str]:
    if not isinstance(entry, Mapping):
        return [f": got {entry!r}, need input and output in USD per million tokens"]
    problems = [f".{name}: missing" for name in ("input", "output") if name not in entry]
    problems += _rate_problems(entry, (*RATES, "tiers", "context_window"), "")
    window = entry.get("context_window", 1)
    if type(window) is not int or window < 1:
        problems.append(f".context_window: got {window!r}, need a number of tokens >= 1")
    tiers = entry.get("tiers", [])
    if not isinstance(tiers, list):
        return [*problems, f".tiers: got {tiers!r}, need a list"]
    for index, tier in enumerate(tiers):
        where = f".tiers[{index}]"
        if not isinstance(tier, Mapping) or type(tier.get("input_tokens_above")) is not int:
            problems.append(f"{where}: need input_tokens_above and rates")
        else:
            problems += _rate_problems(tier, Tier.__struct_fields__, where)
    return problems


def _rate_problems(entry: Mapping[str, Any], known: tuple[str, ...], where: str) -> list[str]:
    problems = [
        f"{where}.{name}: unknown; known are {', '.join(known)}" for name in entry if name not in known
    ]
    for name in RATES:
        value = entry.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
            problems.append(f"{where}.{name}: got {value!r}, need USD per million tokens, a number >= 0")
    return problems
