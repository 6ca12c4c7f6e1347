"""The page of a session: whole, safe, and true."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.fold import fold
from pi_batch.reports.html.session_page import Verdict, session_page
from pi_batch.session import SessionFile, parse_session
from tests.reports.batches import hostile, one_of_everything, read_log
from tests.reports.html.pages import Page, assert_safe
from tests.reports.test_export import WHOLE
from tests.session.files import HEADER, call, entry, lines, reply, result, user
from tests.streams import Stream

PAYLOADS = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style><style>*{display:none}</style>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</title><h1>x",
    "</pre></details></article><iframe src=https://evil.example>",
    "&lt;script&gt;&#60;script&#62;",
    "{{ 7 * 7 }}{% raw %}",
    "<!--",
    "]]><![CDATA[",
    "[x](javascript:alert(1)) ![x](https://evil.example/x.png)",
    "\x1b]8;;https://evil.example\x07x\u202e<b>",
)


def hostile_session(text: str) -> SessionFile:
    """Foreign text in every field that a session has."""
    nested = {"calls": [{"name": text, "status": text, "error": text, "arguments": {text: text}}]}
    image = {"type": "image", "data": text, "mimeType": text}
    schema = {"name": text, "description": text, "parameters": {text: text}}
    system = {"role": "system", "content": text, "sections": {text: text}, "toolsAdded": [schema]}
    details = {"diff": text, "nestedCalls": 1, "error_kind": text, "full_output_path": text, text: text}
    say = {"type": "thinking", "thinking": text}
    odd = {"type": "toolCall", "id": "c4", "name": text, "arguments": text}
    blocks: list[Mapping[str, Any] | str] = [
        say,
        text,
        call("c1", text, **{text: text}),
        call("c2", "bash", command=text),
        odd,
    ]
    blocks += [call("c3", "codemode", script=text), call("c5", "edit", old_string=text, new_string=text)]
    empty = {"role": "toolResult", "toolName": text, "content": [image]}
    command = {"role": "bashExecution", "command": text, "output": text}
    entries = [
        entry(f"{text}0", None, "message", message=system),
        user(f"{text}1", None, text),
        reply(f"{text}2", None, *blocks, provider=text, model=text, errorMessage=text, stop=text),
        result(f"{text}3", None, "c1", text, details=details, isError=True),
        result(f"{text}4", None, "c3", text, nestedCalls=nested),
        entry(f"{text}5", None, "message", message=empty),
        entry(f"{text}6", None, "compaction", summary=text, firstKeptEntryId=text, details={text: text}),
        entry(f"{text}7", None, "branch_summary", summary=text, fromId=text),
        entry(f"{text}8", None, "custom_message", customType=text, content=text),
        entry(f"{text}9", None, "label", targetId=f"{text}1", label=text),
        entry(f"{text}a", None, "session_info", name=text),
        entry(f"{text}b", None, "model_change", provider=text, modelId=text),
        entry(f"{text}c", None, "thinking_level_change", thinkingLevel=text),
        entry(f"{text}d", None, customType=text, data={text: text}),
        entry(f"{text}e", None, text, field=text),
        entry(f"{text}f", None, "message", message=command),
        entry(f"{text}g", None, "message", message={"role": text, "content": text}),
    ]
    parent = None
    for one in entries:
        one["parentId"], one["timestamp"] = parent, text
        parent = one["id"]
    fork = user(f"{text}h", f"{text}1", text)
    header = {**HEADER, "id": text, "cwd": text, "timestamp": text, "parentSession": text}
    return parse_session(lines(header, *entries[:3], fork, *entries[3:]), text)


@pytest.mark.parametrize("text", PAYLOADS)
def test_hostile_text_in_any_field_stays_text(text: str) -> None:
    page = assert_safe(session_page(hostile_session(text)))
    shown = "".join(page.text.split())
    start = "".join(text.split())[:6]
    assert start.replace("\x1b", "\\x1b") in shown or start.startswith("\x1b")


def test_hostile_words_of_a_verdict_stay_text() -> None:
    for found in hostile("</script><img src=x onerror=alert(1)>").results:
        verdict = Verdict(
            found, {found.verification[0].log or "": "<b>"} if found.verification else {}, "diff <i>"
        )
        assert_safe(session_page(parse_session(WHOLE), verdict))


@given(
    st.lists(st.dictionaries(st.sampled_from(["id", "type", "parentId", "message", "content"]), st.text()))
)
def test_any_session_makes_a_page(entries: list[dict[str, Any]]) -> None:
    assert_safe(session_page(parse_session(lines(HEADER, *entries))))


def test_a_page_says_what_the_session_was() -> None:
    page = assert_safe(session_page(parse_session(WHOLE)))
    for words in (
        "Fix it.",
        "A thought.",
        "pytest -q",
        "exit 1",
        "{bad",
        "error: malformed tool call",
        "So far:",
    ):
        assert words in page.text, words
    assert "openai/gpt-4.1" in page.text
    assert "0.0125" in page.text


def test_every_entry_that_is_shown_can_be_linked_to() -> None:
    page = Page(session_page(parse_session(WHOLE)))
    ids = {value for _, name, value in page.attributes if name == "id"}
    targets = {href.removeprefix("#") for href in page.values("a", "href")}
    assert targets
    assert targets <= ids


def test_the_verdict_stands_above_a_session_of_a_run() -> None:
    red = next(found for found in one_of_everything().results if found.key == "red")
    logs = {check.log: read_log(check.log) for check in red.verification if check.log}
    patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old line\n+new line\n"
    page = assert_safe(session_page(parse_session(WHOLE), Verdict(red, logs, patch)))
    for words in ("failed", red.reason, "1 failed, 2 passed", "new line", "3 files, +3 −1"):
        assert words in page.text, words


def test_a_torn_line_and_broken_ones_are_said() -> None:
    page = Page(session_page(parse_session(lines(HEADER) + b"{broken\n" + lines(entry("a")) + b'{"ty', "s")))
    assert "s:2: broken line skipped" in page.text
    assert "the last line is torn (4 bytes)" in page.text


def test_details_are_folded_and_the_page_needs_no_script() -> None:
    document = session_page(parse_session(WHOLE))
    page = Page(document)
    opened = re.findall(r"<details[^>]* open", document)
    assert opened == ['<details class="outline" open']
    assert page.tags.count("details") == page.tags.count("summary") > 5


def test_a_secret_that_was_masked_when_it_was_written_is_not_in_the_page() -> None:
    stream = Stream("a").start("a").agent("a").end("a").finish()
    (found,) = fold(stream.records).results
    content = lines(HEADER, user("u", None, "the key is [REDACTED]"))
    assert "hunter2-hunter2" not in session_page(parse_session(content), Verdict(found, {}))


@pytest.mark.slow
def test_a_session_of_two_thousand_entries_is_a_page_below_five_megabytes() -> None:
    entries, parent = [], None
    for number in range(1_000):
        text = f"Step {number}: " + "look at the next module. " * 8
        step = reply(
            f"r{number}", parent, text, call(f"c{number}", "bash", command=f"grep -n x part_{number}.py")
        )
        entries += [step, result(f"t{number}", f"r{number}", f"c{number}", "value = round(price, 2)\n" * 20)]
        parent = f"t{number}"
    assert len(session_page(parse_session(lines(HEADER, *entries))).encode()) < 5_000_000
