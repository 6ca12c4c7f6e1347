"""How many tokens a model takes in, and who says so."""

from __future__ import annotations

from typing import Any

from pi_batch.prices import PriceTable
from pi_batch.providers.models import ModelFacts, model_facts
from pi_batch.wiring.settings import Settings


def context_window(
    provider: str, model: str, service: Any, settings: Settings, prices: PriceTable
) -> tuple[int | None, str]:
    """A model's window with its source; None where nobody knows it.

    The setting comes first, then the price file's word on this model, then the service's in the config
    file, then the frozen table's, then its family's. `service` is a `providers.catalog.Service`.
    """
    price = prices.own(provider, model)
    said: tuple[tuple[int | None, str], ...] = (
        (settings.context_window, "PI_BATCH_CONTEXT_WINDOW or config"),
        (price.context_window if price is not None else None, "the price file"),
        (service.context_window, f"the config file's [providers.{provider}]"),
        (prices.context_window(provider, model), "the price table"),
        (model_facts(model, ModelFacts(0)).context_window, "the model's family"),
    )
    unknown = "unknown: set context_window, or the history is summed up only once it was too long"
    return next((found for found in said if found[0] is not None), (None, unknown))
