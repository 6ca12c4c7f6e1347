"""Numbers as the tools write them for a model."""

from __future__ import annotations

from collections.abc import Sequence


def count_of(number: int, noun: str) -> str:
    """1 line, 2 lines."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size_of(size_bytes: int) -> str:
    """12 bytes, 3.4 KB, 1.2 MB; KB and MB are powers of 1024."""
    if size_bytes < 1024:
        return count_of(size_bytes, "byte")
    if size_bytes < 1024**2:
        return f"{size_bytes / 1024:.1f} KB"
    if size_bytes < 1024**3:
        return f"{size_bytes / 1024**2:.1f} MB"
    return f"{size_bytes / 1024**3:.1f} GB"


def with_notes(text: str, notes: Sequence[str]) -> str:
    """The text, and behind it in brackets what has to be known about it."""
    return f"{text}\n\n[{'. '.join(notes)}.]" if notes else text
