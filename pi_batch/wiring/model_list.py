"""`pi-batch models list`: every model that is known, what it costs, and what stands for several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pi_batch.prices import PriceTable
from pi_batch.providers.catalog import SERVICES, Service, key_state
from pi_batch.wiring.models import find_service
from pi_batch.wiring.service_words import Row, key_words
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.wiring.virtual_facts import describe_virtual
from pi_batch.wiring.windows import context_window

NO_KEY = "no key is set for a service with known prices: --all lists every model"


def describe_known(*, is_all: bool) -> list[Row]:
    """Models with a price, of services that can be asked or of all; virtual models. Raises: UsageError."""
    around = Surroundings.of_process()
    settings = Settings(around)
    prices = settings.prices()
    names = [*SERVICES, *(name for name in settings.file.providers or {} if name not in SERVICES)]
    rows: list[Row] = []
    for name in names:
        service = find_service(name, settings)
        key = key_words(service, around)
        if is_all or key_state(service, around.environ) != "missing":
            found = ((model, _facts(service, model, settings, prices)) for model in prices.known(name))
            rows += [{"model": f"{name}/{model}", "key": key, **facts} for model, facts in found]
    return [*rows, *describe_virtual(around, settings)]


def _facts(service: Service, model: str, settings: Settings, prices: PriceTable) -> Row:
    price = prices.lookup(service.name, model)
    window, window_from = context_window(service.name, model, service, settings, prices)
    return {
        "input_usd": price.input if price else None,
        "output_usd": price.output if price else None,
        "price_from": price.source if price else "unknown",
        "context_window": window,
        "context_window_from": window_from,
    }


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Models as a table, then virtual models."""
    plain = [row for row in rows if "policy" not in row]
    if not plain:
        yield NO_KEY
    else:
        width = max(len(row["model"]) for row in plain)
        yield f"{'model':<{width}}  {'input $/M':>9}  {'output $/M':>10}  {'window':>9}  key"
        for row in plain:
            money = f"{_number(row['input_usd']):>9}  {_number(row['output_usd']):>10}"
            yield f"{row['model']:<{width}}  {money}  {_number(row['context_window']):>9}  {row['key']}"
        sources = dict.fromkeys(row["price_from"] for row in plain)
        yield f"prices: {', '.join(sources)}; `pi-batch models MODEL` says where each value comes from"
    for row in rows:
        if "policy" in row:
            yield f"{row['model']}  {row['policy']}: {row.get('problem') or ', '.join(row['members'])}"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:,.4f}".rstrip("0").rstrip(".")
