"""Values in templates: escaped, with nothing else alive on the page."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from jinja2 import UndefinedError
from msgspec.structs import replace

from pi_batch.reports.html.rendering import HERE, render
from pi_batch.reports.html.session_page import SessionPage
from pi_batch.reports.html.values import Badge, Fact, Section
from tests.reports.html.pages import assert_safe

EMPTY = SessionPage("t", None, "", (), (), (), None, (Section((), ()),))


def test_an_empty_page_is_a_page() -> None:
    page = assert_safe(render("session.html.j2", EMPTY))
    assert "The session has no entries." in page.text
    assert page.texts["title"] == ["t"]


def test_values_are_escaped_in_titles_attributes_and_texts() -> None:
    text = "</title><b title='\">&"
    made = replace(EMPTY, title=text, badge=Badge(text), reason=text, facts=(Fact(text, text),))
    page = assert_safe(render("session.html.j2", made))
    assert page.texts["title"] == [text]
    assert page.text.count(text) >= 5


def test_a_value_that_a_template_does_not_find_is_an_error_and_no_gap() -> None:
    @dataclass(frozen=True)
    class Nothing:
        title: str = "t"

    with pytest.raises(UndefinedError):
        render("session.html.j2", Nothing())


def test_style_and_script_fetch_nothing_and_hold_no_end_tag() -> None:
    for name in ("page.css", "page.js"):
        text = (HERE / name).read_text(encoding="utf-8")
        assert "</" not in text
        assert "http" not in text
        assert "url(" not in text


def test_the_script_leaves_markup_alone() -> None:
    script = (HERE / "page.js").read_text(encoding="utf-8")
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval",
        "fetch",
        "Function(",
    ):
        assert word not in script


def test_no_template_switches_escaping_off_but_for_our_own_style_and_script() -> None:
    for path in HERE.glob("*.j2"):
        text = path.read_text(encoding="utf-8")
        allowed = text.replace("{{ style|safe }}", "").replace("{{ script|safe }}", "")
        assert "|safe" not in allowed.replace(" ", ""), path.name
        assert "autoescape" not in text
        assert "style=" not in text
        assert not re.search(r"\son[a-z]+=", text), path.name


def luminance(color: str) -> float:
    """Relative luminance by WCAG 2.2."""
    digits = color.removeprefix("#")
    whole = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    parts = [int(whole[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def palettes() -> list[dict[str, str]]:
    """The light palette and the dark one."""
    style = (HERE / "page.css").read_text(encoding="utf-8")
    made = []
    for block in style.split(":root {")[1:]:
        pairs = (part.split(":", 1) for part in block.split("}")[0].split(";") if "--" in part)
        made.append({name.strip(): value.strip() for name, value in pairs})
    return [made[0], {**made[0], **made[1]}]


PAIRS = [
    *((text, back) for text in ("fg", "muted") for back in ("bg", "card", "soft")),
    *((text, "card") for text in ("link", "user", "sum")),
    *((word, f"{word}-bg") for word in ("good", "bad", "warn")),
    *(("fg", back) for back in ("add", "del")),
    ("at", "soft"),
    ("sum", "bg"),
    ("bad", "bg"),
    ("term-fg", "term"),
    ("term-cmd", "term"),
]


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize(("text", "back"), PAIRS)
def test_text_stands_out_from_what_is_behind_it(scheme: int, text: str, back: str) -> None:
    palette = palettes()[scheme]
    assert contrast(palette[f"--{text}"], palette[f"--{back}"]) >= 4.5
