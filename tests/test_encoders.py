"""Hostile text stays text, wherever it goes."""

from __future__ import annotations

import html
import json
import re
import time
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.encoders import (
    BEGINNING_LEFT_OUT,
    REST_LEFT_OUT,
    csv_cell,
    html_line,
    json_safe,
    keep_head,
    keep_tail,
    markdown_code,
    markdown_fence,
    path_line,
    plain,
    plain_line,
    utf8_bytes,
    workflow_safe,
    xml_bytes,
    xml_line,
    xml_safe,
    xml_text,
)

HOSTILE = (
    "bad \x1b[31m \x01 \x0b \x00 \ud800 \ufffe \uffff ]]> & < > </system-out> "
    "\u202etxt.exe\u202c \u2028 tail-x"
)
hostile_text = st.text(st.characters(), max_size=200) | st.just(HOSTILE)


def test_plain_text_shows_marks_that_reorder_and_keeps_those_that_do_not() -> None:
    assert plain("a\u202eb\u2066c") == "a\\u202eb\\u2066c"
    assert plain("שלום\u200f!") == "שלום\u200f!"


def test_a_plain_line_has_no_line_break_of_any_kind() -> None:
    line = plain_line("a\r\nb\vc\fd\x85e\u2028f\u2029g\x1ch")
    assert re.search("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", line) is None
    assert line.startswith("a b")
    assert len(plain_line("x" * 1000, 300)) == 300


def test_a_plain_line_of_megabytes_is_made_at_once() -> None:
    before = time.process_time()
    assert plain_line("<&\x1b[31m" * 2_000_000, 300)
    assert time.process_time() - before < 0.5


# --- XML ------------------------------------------------------------------------------------------


@given(hostile_text)
def test_xml_text_always_parses_and_nothing_of_it_becomes_markup(text: str) -> None:
    element = ET.Element("a", {"b": xml_line(text)})
    element.text = xml_text(text)
    parsed = ET.fromstring(ET.tostring(element, encoding="unicode").encode("utf-8"))
    assert (parsed.text or "") == xml_text(text)
    assert parsed.get("b") == xml_line(text)
    assert len(parsed) == 0


def test_xml_text_keeps_the_readable_part() -> None:
    text = xml_text(HOSTILE)
    assert text.startswith("bad ")
    assert text.endswith("tail-x")
    assert "]]> & < > </system-out>" in text
    assert "\x1b" not in text
    assert "[31m" not in text


@given(hostile_text)
def test_xml_bytes_are_what_the_writer_makes(text: str) -> None:
    element = ET.Element("a")
    element.text = xml_text(text)
    written = ET.tostring(element, encoding="unicode").encode("utf-8")
    assert xml_bytes(xml_text(text)) == len(written) - len(b"<a></a>") or not element.text


# --- Markdown -------------------------------------------------------------------------------------


@given(st.text("`\n#~ a", max_size=60))
def test_no_run_of_backticks_closes_its_fence(text: str) -> None:
    lines = markdown_fence(text).rstrip("\n").split("\n")
    fence = re.match("`+", lines[0])
    assert fence is not None
    assert lines[0] == f"{fence[0]}text"
    assert lines[-1] == fence[0]
    assert all(fence[0] not in line for line in lines[1:-1])


def test_a_fence_holds_what_would_be_headings_outside() -> None:
    assert markdown_fence("see:\n```\ninner\n```\n# no") == "````text\nsee:\n```\ninner\n```\n# no\n````\n"


@given(st.text("`|\\ a\n<@", max_size=40))
def test_a_code_span_stays_in_its_table_cell(text: str) -> None:
    span = markdown_code(text)
    assert "\n" not in span
    for match in re.finditer(r"(\\*)\|", span):
        assert len(match[1]) % 2 == 1
    if span:
        fence = re.match("`+", span)
        assert fence is not None
        assert span.endswith(fence[0])
        inside = span[len(fence[0]) : -len(fence[0])]
        assert all(len(run) != len(fence[0]) for run in re.findall("`+", inside))


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("plain_name-1", "`plain_name-1`"),
        ("a|b", "`a\\|b`"),
        ("a\\|b", "`a\\\\\\|b`"),
        ("a`b", "``a`b``"),
        ("`a`", "`` `a` ``"),
        ("<b>@everyone</b>", "`<b>@everyone</b>`"),
        ("two\nlines", "`two lines`"),
        (" \n ", ""),
    ],
)
def test_code_spans_by_example(text: str, span: str) -> None:
    assert markdown_code(text) == span


def test_outside_a_table_a_pipe_needs_no_backslash() -> None:
    assert markdown_code("a|b", in_table=False) == "`a|b`"


def test_a_line_of_html_opens_no_element() -> None:
    assert html_line('</summary><img src=x onerror="1">\n') == html.escape(
        '</summary><img src=x onerror="1">'
    )


# --- CI runners -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "::set-output name=r::EVIL",
        "  ::error file=x::EVIL",
        "fine\n\u3000::add-mask::EVIL",
        "##[error]EVIL",
        "abc ##[add-path]EVIL",
        "####[command]EVIL",
        ":::stop-commands::EVIL",
        "abc ##vso[task.setvariable variable=x]EVIL",
        "##teamcity[buildStatus text='EVIL']",
        "\t##[##vso[EVIL",
    ],
)
def test_no_line_is_obeyed_by_the_runner(text: str) -> None:
    for line in workflow_safe(text).split("\n"):
        assert not line.strip().startswith("::")
        assert not re.search(r"##\w*\[", line)
    assert "EVIL" in workflow_safe(text)


@given(st.text(alphabet="#[]:vso& <>\"'\\\n\tx", max_size=60))
def test_documents_for_a_log_mean_the_same_without_commands(text: str) -> None:
    shown = json_safe(json.dumps({text: text}, indent=1))
    assert json.loads(shown) == {text: text}
    element = ET.Element("a", {"b": text})
    element.text = text
    document = xml_safe(ET.tostring(element, encoding="unicode"))
    assert ET.tostring(ET.fromstring(document)) == ET.tostring(element)
    for line in (shown + "\n" + document).split("\n"):
        assert not line.strip().startswith("::")
        assert not re.search(r"##\w*\[", line)


def test_names_with_colons_inside_a_line_stay_as_they_are() -> None:
    assert workflow_safe("tests/a.py::test_b ::") == "tests/a.py::test_b ::"


def test_nothing_of_a_path_is_hidden() -> None:
    assert path_line(".github/workflows/x\rREADME.md") == ".github/workflows/x\\x0dREADME.md"
    assert path_line("a b/é.py") == "a b/é.py"
    assert "\n" not in path_line("a\n::error::b\x1b[2K")


# --- sizes ----------------------------------------------------------------------------------------


@given(st.text(max_size=300), st.integers(80, 200))
def test_what_is_kept_fits_and_is_an_end_of_the_text(text: str, max_bytes: int) -> None:
    text = text.encode("utf-8", "replace").decode("utf-8")
    head, tail = keep_head(text, max_bytes), keep_tail(text, max_bytes)
    assert utf8_bytes(head) <= max_bytes
    assert utf8_bytes(tail) <= max_bytes
    assert text.startswith(head.rpartition("\n…")[0] if head != text else text)
    assert text.endswith(tail.partition(" …\n")[2] if tail != text else text)


@given(st.text("&<aé", max_size=400), st.integers(80, 400))
def test_sizes_are_measured_where_the_text_goes(text: str, max_bytes: int) -> None:
    assert xml_bytes(keep_head(text, max_bytes, xml_bytes)) <= max_bytes
    assert xml_bytes(keep_tail(text, max_bytes, xml_bytes)) <= max_bytes


def test_a_cut_says_that_there_was_more() -> None:
    assert keep_head("é" * 100, 60) == "é" * 16 + REST_LEFT_OUT
    assert keep_tail("é" * 100, 60) == BEGINNING_LEFT_OUT + "é" * 13


def test_a_tail_begins_with_a_whole_line_where_one_fits() -> None:
    text = "".join(f"line {number}\n" for number in range(100))
    assert keep_tail(text, 60) == f"{BEGINNING_LEFT_OUT}line 97\nline 98\nline 99\n"
    assert keep_tail("x" * 100 + "\n", 60).endswith("xxx\n")


def test_no_room_leaves_the_note_alone() -> None:
    assert keep_head("x" * 100, 0) == REST_LEFT_OUT
    assert keep_tail("x" * 100, 0) == BEGINNING_LEFT_OUT


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0"])
def test_a_spreadsheet_takes_a_cell_for_text(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


def test_a_plain_cell_stays_as_it_is_on_one_line() -> None:
    assert csv_cell("openai/gpt-6") == "openai/gpt-6"
    assert "\n" not in csv_cell("a\n=b")
