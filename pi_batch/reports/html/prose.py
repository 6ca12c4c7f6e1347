"""Markdown as far as a reader needs it: code, headings, emphasis. Nothing in it becomes a link or markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_batch.encoders import visible
from pi_batch.reports.html.values import MAX_TEXT_CHARS, Paragraph, Prose, Span

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}#{1,6} +(.+?)(?: +#+)? *")
INLINE = re.compile(r"(?<!`)(`+)(?P<code>[^`\n]{1,500}?)\1(?!`)|\*\*(?P<strong>[^*\n]{1,300})\*\*")


def shown(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Text for a page: control characters spelled out, its end left out where it is too long."""
    text = text.strip("\n")
    if len(text) > max_chars:
        text = f"{text[:max_chars]}\n… {len(text) - max_chars:,} more characters are in the session file."
    return visible(text)


def prose(text: str) -> Prose:
    """What somebody said, in paragraphs."""
    return Prose(tuple(_paragraphs(shown(text).split("\n"))))


def _paragraphs(lines: list[str]) -> Iterator[Paragraph]:
    held: list[str] = []
    fence = ""
    for line in lines:
        opening = FENCE.match(line)
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield _code(held)
                held, fence = [], ""
            else:
                held.append(line)
        elif opening is not None:
            yield from _text(held)
            held, fence = [], opening[1]
        elif (heading := HEADING.fullmatch(line)) is not None:
            yield from _text(held)
            held = []
            yield Paragraph("heading", tuple(_spans(heading[1])))
        elif not line.strip():
            yield from _text(held)
            held = []
        else:
            held.append(line)
    if fence:
        yield _code(held)
    else:
        yield from _text(held)


def _text(lines: list[str]) -> Iterator[Paragraph]:
    if lines:
        yield Paragraph("text", tuple(_spans("\n".join(lines))))


def _code(lines: list[str]) -> Paragraph:
    return Paragraph("code", (Span("\n".join(lines)),))


def _spans(text: str) -> Iterator[Span]:
    end = 0
    for found in INLINE.finditer(text):
        if found.start() > end:
            yield Span(text[end : found.start()])
        if found["code"] is not None:
            yield Span(found["code"], "code")
        else:
            yield Span(found["strong"], "strong")
        end = found.end()
    if end < len(text):
        yield Span(text[end:])
