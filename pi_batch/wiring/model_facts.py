"""What is known of services and models, and where each value comes from: `pi-batch models`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pi_batch.model_names import ModelName, is_virtual
from pi_batch.providers.catalog import (
    SERVICES,
    Service,
    default_max_output_tokens,
)
from pi_batch.providers.thinking_levels import levels_of
from pi_batch.wiring.models import find_service
from pi_batch.wiring.service_words import Row, base_url_words, key_words
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.wiring.virtual_facts import describe_virtual, virtual_row
from pi_batch.wiring.windows import context_window


def describe_services() -> list[Row]:
    """Every service: name, wire, key state, variable, base URL; then virtual models. Raises: UsageError."""
    around = Surroundings.of_process()
    settings = Settings(around)
    names = [*SERVICES, *(name for name in settings.file.providers or {} if name not in SERVICES)]
    rows = [_service_row(find_service(name, settings), around) for name in names]
    return [*rows, *describe_virtual(around, settings)]


def describe_models(models: Sequence[str]) -> list[Row]:
    """Each model: price with its source, window, output cap, key state. Raises: UsageError."""
    around = Surroundings.of_process()
    settings = Settings(around)
    prices = settings.prices()
    rows: list[Row] = []
    for text in models:
        name = ModelName.parse(text)
        if is_virtual(text):
            rows.append(virtual_row(text, around, settings))
            continue
        service = find_service(name.provider, settings)
        price = prices.lookup(name.provider, name.model)
        window, window_from = context_window(name.provider, name.model, service, settings, prices)
        rows.append(
            {
                "model": text,
                "key": key_words(service, around),
                "thinking_levels": _levels(service, name.model),
                "base_url": base_url_words(service, around),
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


def _levels(service: Service, model: str) -> list[str] | None:
    """The thinking levels that a model tells apart; None where nobody knows."""
    levels = levels_of(service, model)
    return None if levels is None else list(levels)


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as text: services as a table, models as blocks."""
    if rows and "service" in rows[0]:
        services = [row for row in rows if "service" in row]
        width = max(len(row["service"]) for row in services)
        for row in services:
            yield f"{row['service']:<{width}}  {row['api']:<11}  {row['key']:<36}  {row['base_url']}"
        for row in rows[len(services) :]:
            yield f"{row['model']}  {row['policy']}: {row.get('problem') or ', '.join(row['members'])}"
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
        "key": key_words(service, around),
        "base_url": base_url_words(service, around),
    }
