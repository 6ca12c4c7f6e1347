"""Freeze the price table of `genai-prices` into pi_batch/price_data/, one file per provider.

Run at each release, in an environment of its own:

    python -m venv /tmp/prices && /tmp/prices/bin/pip install genai-prices
    /tmp/prices/bin/python scripts/freeze_prices.py --date 2026-11-30

The package is not a dependency: it costs 200 ms and pydantic at import, and a run's prices must not depend
on what happens to be installed. Prices are those of the date; where they vary by the time of day the
dearest counts. What is not priced by tokens is left out, and so is what has no price and is not said to be
free: a model that is not in the table is unknown, not free.
"""

# ruff: noqa: INP001 - a script, no package

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genai_prices.data import providers
from genai_prices.types import ModelInfo, ModelPrice, StartDateConstraint

PROVIDERS = {
    "anthropic": "anthropic",
    "cerebras": "cerebras",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "google": "google",
    "groq": "groq",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "openai": "openai",
    "openrouter": "openrouter",
    "together": "together",
    "xai": "x-ai",
    "zai": "zai",
}
"""Our name -> the package's."""

RATES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
}
DATED = re.compile(r"[-@]?(?:\\d\{8\}|\[-@\]\\d\{8\}|-?\\d\{4\}-\\d\{2\}-\\d\{2\})\$\Z")
TRAILING = re.compile(r"[-@](?:20\d\d)?\Z")


def main() -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--date", type=date.fromisoformat, default=datetime.now(UTC).date())
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "pi_batch" / "price_data")
    arguments = parser.parse_args()
    arguments.output.mkdir(exist_ok=True)
    known = {provider.id: provider for provider in providers}
    for name, theirs in PROVIDERS.items():
        models = [
            entry
            for model in known[theirs].models
            if (entry := model_entry(model, name, arguments.date)) is not None
        ]
        head = {
            "provider": name,
            "source": f"genai-prices {version('genai-prices')}",
            "date": str(arguments.date),
        }
        lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in models)
        text = json.dumps(head)[:-1] + f', "models": [\n{lines}\n]}}\n'
        (arguments.output / f"{name}.json").write_text(text, encoding="utf-8")
        sys.stderr.write(f"{name}: {len(models)} models\n")
    return 0


def model_entry(model: ModelInfo, provider: str, today: date) -> dict[str, Any] | None:
    """One line of a file; None for what is not priced by tokens."""
    candidates = list(prices_of(model, today))
    names = sorted(names_of(model, provider))
    is_free = model.id.endswith(":free") and not any(map(rates, candidates))
    priced = [rates(price) for price in candidates]
    if is_free:
        priced = [{"input": 0, "output": 0}]
    if not names or not priced or not all({"input", "output"} <= entry.keys() for entry in priced):
        return None
    entry: dict[str, Any] = {"names": names, **dearest(priced)}
    if model.context_window:
        entry["window"] = model.context_window
    return entry


def prices_of(model: ModelInfo, today: date) -> Iterator[ModelPrice]:
    """What may apply on a day: the latest price that has begun, and each that depends on the hour."""
    if not isinstance(model.prices, list):
        yield model.prices
        return
    begun: ModelPrice | None = None
    hourly = []
    now = datetime.combine(today, time(12), UTC)
    for conditional in model.prices:
        constraint = conditional.constraint
        if constraint is None or (isinstance(constraint, StartDateConstraint) and constraint.active(now)):
            begun, hourly = conditional.prices, []
        elif not isinstance(constraint, StartDateConstraint):
            hourly.append(conditional.prices)
    if begun is not None:
        yield begun
    yield from hourly


def rates(price: ModelPrice) -> dict[str, Any]:
    """USD per million tokens, and tiers by the request's whole input."""
    found: dict[str, Any] = {}
    tiers: dict[int, dict[str, float]] = {}
    for ours, theirs in RATES.items():
        rate = getattr(price, theirs, None)
        if rate is None:
            continue
        found[ours] = number(getattr(rate, "base", rate))
        for tier in getattr(rate, "tiers", ()):
            tiers.setdefault(tier.start, {})[ours] = number(tier.price)
    if tiers:
        found["tiers"] = [{"input_tokens_above": start, **tiers[start]} for start in sorted(tiers)]
    return found


def dearest(priced: list[dict[str, Any]]) -> dict[str, Any]:
    """Of several prices of one model the highest of each rate."""
    if len(priced) == 1:
        return priced[0]
    if any("tiers" in entry for entry in priced):
        raise ValueError(f"prices by the hour and by size at once: {priced}")
    return {
        rate: max(entry[rate] for entry in priced if rate in entry) for rate in RATES if rate in priced[0]
    }


def number(value: Any) -> float:
    """An int where it is one, for short lines."""
    return int(value) if value == int(value) else float(value)


def names_of(model: ModelInfo, provider: str) -> set[str]:
    """Every name that the package prices so, without dates: those are taken off when a name is looked up.

    Prefixes are taken as whole names, but for fine-tunes: a name that only begins like a known one is
    unknown.
    """
    names = {*clause_names(model.match)}
    if not model.id.startswith("ft:"):
        names.add(model.id)
    cleaned = {name if name.startswith("ft:") else TRAILING.sub("", name) for name in names}
    own = (f"{provider}/", f"{provider}:", f"{PROVIDERS[provider]}/")
    cleaned = {name for name in cleaned if not name.startswith(own)}
    if provider == "openrouter":
        cleaned = {name for name in cleaned if "/" in name}
    return {f"{name}*" if name.startswith("ft:") else name.lower() for name in cleaned if name}


def clause_names(clause: Any) -> Iterator[str]:
    """The names in a match clause; a conjunction names nothing by itself."""
    for part in getattr(clause, "or_", ()):
        yield from clause_names(part)
    for kind in ("equals", "starts_with", "ends_with", "contains"):
        if hasattr(clause, kind):
            yield getattr(clause, kind)
    pattern = getattr(clause, "regex", "")
    if pattern.startswith("^") and DATED.search(pattern):
        yield DATED.sub("", pattern[1:]).replace("\\.", ".")


if __name__ == "__main__":
    sys.exit(main())
