"""`store(key, value)` and `load(key)`: JSON values that outlive a script, kept only when it completes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pi_batch.codemode.script.plain import NotPlain, strict
from pi_batch.codemode.values import MAX_STORE_CHARS, MAX_STORE_KEY_CHARS, MAX_STORE_VALUE_CHARS


class Store:
    """The values of one script."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._texts = {key: json.dumps(value) for key, value in values.items()}
        self._is_changed = False

    def put(self, key: Any, value: Any) -> None:
        """Keep a value; None forgets it. Raises: TypeError, ValueError beyond the limits."""
        if not isinstance(key, str) or not 0 < len(str.__str__(key)) <= MAX_STORE_KEY_CHARS:
            raise TypeError(f"store: the key must be text of 1 to {MAX_STORE_KEY_CHARS} characters")
        name = str.__str__(key)
        try:
            text = json.dumps(strict(value, "value"))
        except (NotPlain, ValueError, RecursionError) as error:
            raise TypeError(f"store: {error}") from None
        if len(text) > MAX_STORE_VALUE_CHARS:
            raise ValueError(f"store: {name!r} takes more than {MAX_STORE_VALUE_CHARS // 1024} Ki characters")
        texts = {**self._texts, name: text}
        if value is None:
            texts.pop(name)
        if sum(len(one) + len(other) for one, other in texts.items()) > MAX_STORE_CHARS:
            raise ValueError(f"store: all values take more than {MAX_STORE_CHARS // 1024**2} Mi characters")
        self._texts = texts
        self._is_changed = True

    def get(self, key: Any, default: Any = None) -> Any:
        """A kept value, a copy of its own; or the default."""
        text = self._texts.get(str.__str__(key)) if isinstance(key, str) else None
        return default if text is None else json.loads(text)

    def changed(self) -> Mapping[str, Any] | None:
        """All values, if any was changed."""
        return {key: json.loads(text) for key, text in self._texts.items()} if self._is_changed else None
