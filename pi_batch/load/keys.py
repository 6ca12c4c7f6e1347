"""Result keys: unique in a plan, the same in every run of it, and fit to name a directory."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

MAX_SLUG_CHARS = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9._]+")


def model_slug(model: str) -> str:
    """A model's name as a part of a key; long ones end in a hash."""
    slug = _UNSAFE.sub("-", model).strip("-.") or "model"
    return slug if len(slug) <= MAX_SLUG_CHARS else f"{slug[: MAX_SLUG_CHARS - 9]}-{_hash(model)}"


def input_parts(choices: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each of several sets of inputs its part of a key: 8 hex digits, more only if two are equal."""
    texts = [json.dumps(dict(inputs), sort_keys=True, ensure_ascii=False) for inputs in choices]
    short = [_hash(text) for text in texts]
    return short if len(set(short)) == len(short) else [_hash(text, 16) for text in texts]


def _hash(text: str, digits: int = 8) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def model_parts(models: Sequence[str]) -> Mapping[str, str]:
    """For each of several models its part of a key; models whose slugs are equal get a hash."""
    slugs = [model_slug(model).casefold() for model in models]
    return {
        model: model_slug(model) + (f"-{_hash(model)}" if slugs.count(slug) > 1 else "")
        for model, slug in zip(models, slugs, strict=True)
    }


def result_key(
    task_id: str, model: str | None, inputs: str | None, repeat: int | None, *, repo: str | None = None
) -> str:
    """The id, and what tells apart the results of one id: None where there is just one.

    A matrix's repository is named also where it is the only one: branches are named after keys, and another
    repository must not change them.
    """
    parts = [task_id, repo, model, inputs, None if repeat is None else str(repeat)]
    return "--".join(part for part in parts if part is not None)
