"""What is known of services and models, and where each value comes from: `pi-batch models`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pi_batch.model_names import ModelName
from pi_batch.providers.catalog import (
    SERVICES,
    Service,
    default_max_output_tokens,
    endpoint_for,
    key_state,
)
from pi_batch.wiring.models import find_service
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.wiring.windows import context_window

Row = Mapping[str, Any]


def describe_services() -> list[Row]:
    """Every service: name, wire, key state, variable, base URL. Raises: UsageError."""
    around = Surroundings.of_process()
    settings = Settings(around)
    names = [*SERVICES, *(name for name in settings.file.providers or {} if name not in SERVICES)]
    return [_service_row(find_service(name, settings), around) for name in names]


def describe_models(models: Sequence[str]) -> list[Row]:
    """Each model: price with its source, window, output cap, key state. Raises: UsageError."""
    around = Surroundings.of_process()
    settings = Settings(around)
    prices = settings.prices()
    rows: list[Row] = []
    for text in models:
        name = ModelName.parse(text)
        service = find_service(name.provider, settings)
        price = prices.lookup(name.provider, name.model)
        window, window_from = context_window(name.provider, name.model, service, settings, prices)
        rows.append(
            {
                "model": text,
                "key": _key(service, around),
                "base_url": _base_url(service, around),
                "input_usd": price.input if price else None,
                "output_usd": price.output if price else None,
                "cache_read_usd": price.cache_read if price else None,
                "cache_write_usd": price.cache_write if price else None,
                "tiers": [tier.input_tokens_above for tier in price.tiers] if price else [],
                "price_from": price.source if price else "unknown: a cost limit would refuse this model",
                "context_window": window,
                "context_window_from": window_from,
                "max_output_tokens": settings.max_output_tokens
                or default_max_output_tokens(service, name.model),
                "max_output_tokens_from": "PI_BATCH_MAX_OUTPUT_TOKENS or config"
                if settings.max_output_tokens
                else "the model's family or its service",
            }
        )
    return rows


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as text: services as a table, models as blocks."""
    if rows and "service" in rows[0]:
        width = max(len(row["service"]) for row in rows)
        for row in rows:
            yield f"{row['service']:<{width}}  {row['api']:<11}  {row['key']:<36}  {row['base_url']}"
        return
    for row in rows:
        yield row["model"]
        for key, value in row.items():
            if key != "model" and value not in (None, []):
                yield f"  {key}: {value}"


def _service_row(service: Service, around: Surroundings) -> Row:
    return {
        "service": service.name,
        "api": service.api,
        "key": _key(service, around),
        "base_url": _base_url(service, around),
    }


def _key(service: Service, around: Surroundings) -> str:
    state = key_state(service, around.environ)
    names = " or ".join(service.key_variables)
    return f"{state} ({names})" if names and state != "not needed" else state


def _base_url(service: Service, around: Surroundings) -> str:
    """Where requests go, and which variable says so."""
    variable = next((name for name in service.base_url_variables if around.environ.get(name)), None)
    if key_state(service, around.environ) == "missing":
        return around.environ[variable] if variable else service.base_url
    url = endpoint_for(service, around.environ).base_url
    return f"{url} ({variable})" if variable else url
