"""Text that arrives in pieces, with characters that a service cut in two JSON escapes put together again."""

from __future__ import annotations

from pi_batch.providers.wire_json import whole_characters


class Pieces:
    """One growing text."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._half = ""
        """A leading surrogate whose other half may come with the next piece."""

    def add(self, text: str) -> str:
        """Take a piece; what of it can be shown now."""
        if self._half or not text.isascii():
            text = self._joined(text)
        if text:
            self._parts.append(text)
        return text

    def text(self) -> str:
        """All of it; a half character at the end is U+FFFD."""
        if self._half:
            self._parts.append(whole_characters(self._half))
            self._half = ""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def __bool__(self) -> bool:
        return bool(self._parts or self._half)

    def _joined(self, text: str) -> str:
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        try:
            text.encode()
        except UnicodeEncodeError:
            return whole_characters(text)
        return text
