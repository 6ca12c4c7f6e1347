"""A session as text: everything in it, and nothing that a terminal obeys."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_batch.reports.export import export_text
from pi_batch.session import parse_session
from tests.reports.golden import assert_golden
from tests.session.files import HEADER, NO_USAGE, ZERO_COST, call, entry, lines, reply, result, user

USAGE = {**NO_USAGE, "input": 120, "output": 30, "cacheRead": 50, "cost": {**ZERO_COST, "total": 0.0125}}
TOOL = {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}
SYSTEM = {
    "role": "system",
    "content": "Be good.",
    "sections": {"cwd": "/w"},
    "toolsAdded": [TOOL],
    "timestamp": 1,
}
WHOLE = lines(
    HEADER,
    entry("00000001", None, "message", message=SYSTEM),
    entry("00000002", "00000001", "model_change", provider="openai", modelId="gpt-4.1"),
    entry("00000003", "00000002", "custom", customType="pi-batch", data={"kind": "workspace"}),
    user("00000004", "00000003", "Fix it.\nPlease."),
    reply(
        "00000005",
        "00000004",
        {"type": "thinking", "thinking": "A thought."},
        "Looking.",
        call("call_1", "bash", command="pytest -q", timeout_s=60),
        call("call_2", "write", path="a.py", content="x = 1\ny = 2\n"),
        {
            "type": "toolCall",
            "id": "call_3",
            "name": "edit",
            "arguments": {},
            "rawArguments": "{bad",
            "malformed": True,
        },
        stop="toolUse",
        usage=USAGE,
    ),
    result("00000006", "00000005", "call_1", "1 failed", isError=True, details={"exit_code": 1}),
    result(
        "00000007",
        "00000006",
        "call_3",
        "not JSON",
        isError=True,
        details={"error_kind": "malformed_tool_call"},
    ),
    reply("00000008", "00000007", "A dead end.", stop="aborted", errorMessage="cancelled"),
    entry(
        "00000009",
        "00000007",
        "compaction",
        summary="So far:\nall",
        firstKeptEntryId="00000004",
        tokensBefore=9000,
    ),
    entry("0000000a", "00000009", "thinking_level_change", thinkingLevel="high"),
    reply("0000000b", "0000000a", "Done.", usage=USAGE, piBatch={"costUnknown": True}),
    entry("0000000c", "0000000b", "teleport", where={"x": 1}),
    user("0000000d", None, "A second root."),
    user("0000000e", "0000000c", "The end."),
)


def text_of(content: bytes) -> str:
    return export_text(parse_session(content, "s.jsonl"))


def test_a_whole_session_reads_as_the_golden_file_has_it() -> None:
    assert_golden("export.txt", text_of(WHOLE))


def test_entries_off_the_active_branch_are_marked_and_say_where_they_hang() -> None:
    written = text_of(WHOLE)
    assert "\n- [00000008] assistant" in written
    assert "\n* [00000009] compaction of 9000 tokens  (branches off at 00000007)" in written
    assert "\n- [0000000d] user  (a root of its own)" in written


def test_nothing_in_it_is_obeyed_by_a_terminal() -> None:
    evil = "\x1b]0;title\x07\x1b[31mred\x1b[0m \x9b2J \x00 \u202eevil\u202c\r over"
    written = text_of(
        lines(
            {**HEADER, "cwd": evil},
            user("1\x1b[2J", None, evil),
            reply(
                "2",
                "1",
                evil,
                call(evil, evil, **{evil: evil, "n": [evil]}),
                errorMessage=evil,
                provider=evil,
            ),
            result("3", "2", evil, evil, details={evil: evil}),
            entry("4", "3", evil, **{evil: evil}),
            entry("5", "4", "model_change", provider=evil, modelId=evil),
        )
    )
    assert not [char for char in written if (ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160]
    assert "\u202e" not in written
    assert "red" in written


def test_a_title_stays_on_its_line_whatever_it_holds() -> None:
    written = text_of(lines(HEADER, reply("1", None, "x", errorMessage="a\nb\u2028c\x0bd")))
    title = next(line for line in written.split("\n") if line.startswith("* [1]"))
    assert r"a\nb\u2028c\x0bd" in title


def test_a_carriage_return_hides_no_command() -> None:
    written = text_of(lines(HEADER, reply("1", None, call("c", command="rm -rf ~\recho hello"))))
    assert r"command: rm -rf ~\x0decho hello" in written


def test_nothing_in_it_is_obeyed_by_a_ci_runner() -> None:
    evil = "::error::EVIL\n  ::set-output name=r::EVIL\nabc ##[add-path]EVIL"
    written = text_of(
        lines(HEADER, user("1", None, evil), reply("2", "1", evil, call("c", "bash", command=evil)))
    )
    assert not [line for line in written.split("\n") if line.strip().startswith("::") or "##[" in line]
    assert r"#\x23[add-path]EVIL" in written


def test_a_torn_line_and_skipped_ones_are_said() -> None:
    written = text_of(lines(HEADER) + b"{broken\n" + b'{"torn')
    assert "warning: s.jsonl:2: broken line skipped" in written
    assert "warning: the last line is torn (6 bytes) and left out" in written


def test_an_empty_session_is_its_head_and_its_sums() -> None:
    assert text_of(lines(HEADER)) == (
        "session uuid-1 of 2026-01-01T00:00:00.000Z, format 3\n"
        "directory: /w\n\n0 entries, 0 replies; tokens 0 in, 0 out, $0.0000\n"
    )


def test_text_of_several_lines_keeps_its_lines() -> None:
    written = text_of(lines(HEADER, user("1", None, "def a():\n    return 1\n\n\tx")))
    assert "  | def a():\n  |     return 1\n  |\n  | \tx\n" in written


def test_a_long_argument_is_not_cut() -> None:
    assert "y" * 5000 in text_of(lines(HEADER, reply("1", None, call("c", command="y" * 5000))))


@given(
    st.lists(st.dictionaries(st.sampled_from(["type", "id", "message", "data", "x"]), st.text(max_size=5)))
)
def test_any_session_can_be_exported(entries: list[dict[str, str]]) -> None:
    assert text_of(lines(HEADER, *entries)).endswith("\n")


def test_a_scripts_calls_are_a_line_each() -> None:
    said = result("2", "1", "c1", "Script completed.", details={"status": "completed"})
    said["message"]["nestedCalls"] = {"calls": [{"id": "c1.1", "name": "read", "status": "ok"}, "odd"]}
    written = text_of(lines(HEADER, reply("1", None, call("c1", "codemode", script="x")), said))
    assert "calls of the script:\n  |   read c1.1: ok\n  |   None None: None\n" in written
    assert "nestedCalls" not in written
