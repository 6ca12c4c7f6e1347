"""The configuration file's virtual models, and where each leads."""

from __future__ import annotations

from pi_batch.errors import UsageError
from pi_batch.model_names import ROUTER, ModelName
from pi_batch.routes import models_of, resolve
from pi_batch.wiring.models import find_service
from pi_batch.wiring.service_words import Row, key_words
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings


def describe_virtual(around: Surroundings, settings: Settings) -> list[Row]:
    """The configuration file's virtual models, each with what it leads to or why it leads nowhere."""
    known = settings.file.models or {}
    return [virtual_row(f"{ROUTER}/{name}", around, settings) for name in known]


def virtual_row(model: str, around: Surroundings, settings: Settings) -> Row:
    """One virtual model of the configuration file. Raises: UsageError where there is none of the name."""
    known = settings.file.models or {}
    name = model.removeprefix(f"{ROUTER}/")
    if name not in known:
        resolve(model, known)
    row = {"model": model, "policy": known[name].policy, "from": settings.file.file}
    try:
        members = [
            f"{one} (key: {key_words(find_service(ModelName.parse(one).provider, settings), around)})"
            for one in models_of(resolve(model, known))
        ]
    except UsageError as error:
        return {**row, "members": [], "problem": str(error)}
    return {**row, "members": members}
