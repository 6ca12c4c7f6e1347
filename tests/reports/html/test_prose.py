"""Markdown as a reader needs it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_batch.reports.html.prose import prose, shown
from pi_batch.reports.html.values import MAX_TEXT_CHARS, Paragraph, Span


def styles(text: str) -> list[tuple[str, str]]:
    return [(part.style, "".join(span.text for span in part.spans)) for part in prose(text).paragraphs]


def test_paragraphs_headings_and_code_are_told_apart() -> None:
    text = "# Goal #\nMake it\npass.\n\n```python\nx = 1\n\n# no heading\n```\nthen\n~~~\ny\n~~~"
    assert styles(text) == [
        ("heading", "Goal"),
        ("text", "Make it\npass."),
        ("code", "x = 1\n\n# no heading"),
        ("text", "then"),
        ("code", "y"),
    ]


def test_a_fence_closes_with_its_own_kind_alone_and_an_open_one_at_the_end() -> None:
    assert styles("````\n```\nx\n````") == [("code", "```\nx")]
    assert styles("```\nx\n~~~") == [("code", "x\n~~~")]
    assert styles("```") == [("code", "")]


def test_code_and_emphasis_within_a_line() -> None:
    (paragraph,) = prose("use `pip <x>` and **never** ``a`b`` or * this").paragraphs
    assert paragraph == Paragraph(
        "text",
        (
            Span("use "),
            Span("pip <x>", "code"),
            Span(" and "),
            Span("never", "strong"),
            Span(" ``a`b`` or * this"),
        ),
    )


def test_a_link_stays_text() -> None:
    assert styles("[here](javascript:alert(1)) <https://x.example>")[0][1].startswith("[here](javascript")


def test_a_long_text_is_cut_and_says_so() -> None:
    text = shown("x" * (MAX_TEXT_CHARS + 5))
    assert text.endswith("… 5 more characters are in the session file.")


def test_controls_are_spelled_out() -> None:
    assert shown("\na\x1b[31m\u202eb\r\nc\rd") == "a\\x1b[31m\\u202eb\nc\\x0dd"


@given(st.text(alphabet="a`*#~ \n", max_size=80))
def test_no_character_is_lost_but_marks(text: str) -> None:
    said = "".join(text for _, text in styles(text))
    assert said.count("a") == text.strip("\n").count("a") - _in_fence_lines(text)


def _in_fence_lines(text: str) -> int:
    """Letters on a fence's own line name a language and are not shown."""
    lost, fence = 0, ""
    for line in text.strip("\n").split("\n"):
        bare = line.strip()
        opening = next((mark for mark in ("`", "~") if line.lstrip(" ").startswith(mark * 3)), "")
        indent = len(line) - len(line.lstrip(" "))
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        elif opening and indent <= 3:
            run = line.lstrip(" ")
            fence = run[: len(run) - len(run.lstrip(opening))]
            lost += line.count("a")
    return lost
