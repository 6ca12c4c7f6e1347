"""A service's key and address in words, for the tables of `pi-batch models`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_batch.providers.catalog import Service, endpoint_for, key_state
from pi_batch.wiring.surroundings import Surroundings

Row = Mapping[str, Any]
"""One service or model: what is known of it, by name."""


def key_words(service: Service, around: Surroundings) -> str:
    """Whether a service's key is set, and which variable holds it."""
    state = key_state(service, around.environ)
    names = " or ".join(service.key_variables)
    return f"{state} ({names})" if names and state != "not needed" else state


def base_url_words(service: Service, around: Surroundings) -> str:
    """Where requests go, and which variable says so."""
    variable = next((name for name in service.base_url_variables if around.environ.get(name)), None)
    if key_state(service, around.environ) == "missing":
        return around.environ[variable] if variable else service.base_url
    url = endpoint_for(service, around.environ).base_url
    return f"{url} ({variable})" if variable else url
