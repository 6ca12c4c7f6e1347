"""Pages taken apart: what a browser would find in them."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "img", "input", "br"})
TAGS = frozenset(
    {
        "html", "head", "meta", "title", "style", "body", "script", "div", "header", "p", "span",
        "h1", "h2", "dl", "dt", "dd", "details", "summary", "nav", "ul", "ol", "li", "a", "main",
        "section", "article", "pre", "code", "strong", "table", "caption", "thead", "tbody", "tr",
        "th", "td", "svg", "rect", "img", "figure", "figcaption", "form", "label", "select",
        "option", "input", "output", "button",
        "br", "line", "circle", "polyline", "g", "text",
    }
)  # fmt: skip
ATTRIBUTES = frozenset(
    {
        "alt", "aria-hidden", "aria-label", "autocomplete", "charset", "class", "content",
        "data-model", "data-outcome", "data-task", "height", "hidden", "href", "http-equiv",
        "id", "lang", "loading", "name", "open", "preserveaspectratio", "role", "scope",
        "spellcheck", "src", "tabindex", "title", "type", "value", "viewbox", "width", "x", "y",
        "x1", "x2", "y1", "y2", "cx", "cy", "r", "points",
    }
)  # fmt: skip


@dataclass
class Page(HTMLParser):
    """A document's tags, attributes and texts."""

    document: str
    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    """(tag, name, value)."""
    texts: dict[str, list[str]] = field(default_factory=dict)
    """Tag -> the texts directly within."""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self.feed(self.document)
        self.close()
        assert self._open == [], self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, text: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(text)

    @property
    def text(self) -> str:
        """All that a reader may see."""
        return "".join(
            piece for tag, pieces in self.texts.items() if tag not in ("script", "style") for piece in pieces
        )

    def values(self, tag: str, name: str) -> list[str]:
        """An attribute's values, in order."""
        return [value for at, key, value in self.attributes if (at, key) == (tag, name)]


def assert_safe(document: str) -> Page:
    """The page holds our own tags, one style and one script that its policy allows, and leads nowhere."""
    page = Page(document)
    assert set(page.tags) <= TAGS, set(page.tags) - TAGS
    assert {name for _, name, _ in page.attributes} <= ATTRIBUTES
    assert (page.tags.count("script"), page.tags.count("style")) == (1, 1)
    policy = page.values("meta", "content")[0]
    assert policy.startswith("default-src 'none'; ")
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        digest = base64.b64encode(hashlib.sha256("".join(page.texts[tag]).encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy
    assert all(
        re.fullmatch(r"#[^\s\"'<>]+|[A-Za-z0-9_./-]+\.html", href) for href in page.values("a", "href")
    )
    assert all(re.match(r"data:image/(png|jpeg|gif|webp);base64,", src) for src in page.values("img", "src"))
    assert not re.search(r"https?://|@import|url\(", "".join(page.texts["style"] + page.texts["script"]))
    return page
