"""Entries as items: who spoke, how it ended, what is folded."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.reports.html.entries import BranchItems, read
from pi_batch.reports.html.values import Badge, Facts, Fold, Image, Item, Part, Pre, Prose
from pi_batch.session import parse_session
from tests.session.files import HEADER, TIME, call, entry, lines, reply, result, user


def items(*entries: dict[str, Any], labels: dict[str, str] | None = None) -> list[Item]:
    """Items of entries that hang on one another."""
    parent = None
    linked = []
    for one in entries:
        linked.append({**one, "parentId": parent})
        parent = one["id"]
    session = parse_session(lines(HEADER, *linked))
    return list(BranchItems(read(session.entries), labels or {}).items())


def text_of(part: Part) -> str:
    """All that a part says."""
    match part:
        case Prose():
            return " ".join(span.text for paragraph in part.paragraphs for span in paragraph.spans)
        case Pre():
            return f"{part.command} {part.text}".strip()
        case Fold():
            return " ".join([part.title, part.note, *map(text_of, part.parts)])
        case Facts():
            return " ".join(f"{row.name} {row.value}" for row in part.rows)
        case Image():
            return part.note
        case _:
            return ""


def only(*entries: dict[str, Any]) -> Item:
    (item,) = items(*entries)
    return item


def test_a_prompt_is_prose_with_its_line_in_the_outline() -> None:
    item = only(user("a", None, "Fix `x`.\n\nPlease."))
    assert (item.style, item.title, item.time) == ("user", "User", TIME)
    assert item.outline == "Fix `x`. Please."
    assert text_of(item.parts[0]) == "Fix  x . Please."


def test_a_prompt_may_be_an_image_alone() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    item = only(entry("a", None, "message", message={"role": "user", "content": [image]}))
    assert item.outline == "image"
    assert isinstance(item.parts[-1], Image)


def test_a_reply_shows_its_thinking_folded_and_its_words_open() -> None:
    item = only(reply("a", None, {"type": "thinking", "thinking": "a long thought"}, "Done."))
    fold, said = item.parts
    assert isinstance(fold, Fold)
    assert (fold.title, fold.note, fold.is_open) == ("Thinking", "a long thought", False)
    assert text_of(said) == "Done."
    assert (item.title, item.outline) == ("openai/gpt-4.1", "Done.")


def test_redacted_thinking_says_so_and_blank_text_is_left_out() -> None:
    hidden = {"type": "thinking", "thinking": "", "redacted": True, "thinkingSignature": "x"}
    item = only(reply("a", None, hidden, "  \n"))
    (fold,) = item.parts
    assert isinstance(fold, Fold)
    assert (fold.note, fold.parts) == ("redacted", ())


@pytest.mark.parametrize(
    ("stop", "badge"),
    [
        ("stop", None),
        ("toolUse", None),
        ("error", "error"),
        ("length", "cut at the output limit"),
        ("aborted", "cancelled"),
        ("deferred", "error"),
    ],
)
def test_how_a_reply_ended_is_said_where_it_is_no_plain_end(stop: str, badge: str | None) -> None:
    item = only(reply("a", None, "x", stop=stop))
    assert item.badges == ((Badge(badge, "bad"),) if badge else ())
    assert item.is_marked is bool(badge)


def test_a_failed_request_shows_its_error_in_the_outline_too() -> None:
    item = only(reply("a", None, stop="error", errorMessage="529 overloaded"))
    assert text_of(item.parts[0]) == "529 overloaded"
    assert item.outline == "529 overloaded"


def test_a_reply_without_words_is_named_by_its_calls() -> None:
    item = items(reply("a", None, call("c1", "bash", command="ls"), call("c2", "read", path="x")))[0]
    assert item.outline == "bash ls +1"
    assert item.is_marked


def test_a_result_goes_to_the_last_reply_that_asked_for_it_and_others_stand_alone() -> None:
    made = items(
        reply("a", None, call("c1")),
        result("b", None, "c1", "first"),
        result("c", None, "c1", "again"),
        reply("d", None, call("c1")),
        result("e", None, "c1", "second"),
        result("f", None, "nobody", "stray", isError=True),
    )
    assert [(item.id, item.title) for item in made] == [
        ("a", "openai/gpt-4.1"),
        ("c", "Result of bash"),
        ("d", "openai/gpt-4.1"),
        ("f", "Result of bash"),
    ]
    assert "first" in text_of(made[0].parts[0])
    assert "second" in text_of(made[2].parts[0])
    assert made[3].badges == (Badge("error", "bad"),)


def test_the_prompt_and_the_tools_are_folded() -> None:
    tool = {"name": "read", "description": "Reads a file.", "parameters": {"type": "object"}}
    message = {
        "role": "system",
        "content": "Be good.",
        "sections": {"cwd": "/w", "skills": None},
        "toolsAdded": [tool],
        "toolsRemoved": [{"name": "write"}],
    }
    item = only(entry("a", None, "message", message=message))
    assert all(isinstance(part, Fold) for part in item.parts)
    titles = [part.title for part in item.parts if isinstance(part, Fold)]
    assert titles == ["System prompt", "Section cwd", "Section skills", "Tools (1)", "Tools taken away"]
    assert "Reads a file." in text_of(item.parts[3])
    assert "taken out" in text_of(item.parts[2])


def test_a_compaction_says_what_it_kept_and_what_came_before() -> None:
    fields = {"summary": "## Goal\nall", "firstKeptEntryId": "x", "tokensBefore": 41234}
    item = only(entry("k", None, "compaction", **fields, details={"readFiles": ["a.py"]}))
    assert (item.style, item.title) == ("summary", "Compaction of 41,234 tokens")
    said = text_of(item.parts[0])
    assert all(words in said for words in ("Goal", "all", "kept from x", "a.py"))
    nothing = only(entry("k", None, "compaction", summary="s", firstKeptEntryId="k"))
    assert "nothing before it" in text_of(nothing.parts[0])


def test_a_summary_of_a_branch_says_where_it_ended() -> None:
    item = only(entry("b", None, "branch_summary", summary="tried y", fromId="x9"))
    assert item.title == "Came back from another branch"
    assert "tried y" in text_of(item.parts[0])
    assert "x9" in text_of(item.parts[0])


@pytest.mark.parametrize(
    ("kind", "fields", "title"),
    [
        ("model_change", {"provider": "openai", "modelId": "gpt"}, "Model: openai/gpt"),
        ("thinking_level_change", {"thinkingLevel": "high"}, "Thinking level: high"),
        ("session_info", {"name": "fix"}, "Named: fix"),
        ("label", {"targetId": "x", "label": "here"}, "Label: here (on x)"),
        ("label", {"targetId": "x"}, "Label taken away (on x)"),
        ("usage", {"provider": "a", "model": "b"}, "Usage: None a/b"),
    ],
)
def test_what_no_model_sees_is_a_line(kind: str, fields: dict[str, Any], title: str) -> None:
    item = only(entry("a", None, kind, **fields))
    assert (item.style, item.title, item.parts) == ("note", title, ())


@pytest.mark.parametrize(
    ("one", "title"),
    [
        (entry("a", None, customType="x", data={"kind": "y", "n": 1}), "x: y"),
        (entry("a", None, customType="x", data=[1]), "x"),
        (entry("a", None, "teleport", where=[1]), "teleport"),
        (entry("a", None, "", where=[1]), "entry without a type"),
        (entry("a", None, "message", message={"role": "hologram"}), "message of role hologram"),
        (entry("a", None, "message", message="text"), "message"),
    ],
)
def test_what_is_unknown_is_kept_folded(one: dict[str, Any], title: str) -> None:
    item = only(one)
    (fold,) = item.parts
    assert isinstance(fold, Fold)
    assert fold.title == title
    assert isinstance(fold.parts[0], Pre)


def test_what_other_programs_said_to_the_model_is_shown() -> None:
    command = {"role": "bashExecution", "command": "make", "output": "no rule", "exitCode": 2}
    made = items(
        entry("a", None, "custom_message", customType="x", content="from x"),
        entry("b", None, "message", message={"role": "custom", "customType": "y", "content": "from y"}),
        entry("c", None, "message", message=command),
    )
    assert [item.title for item in made] == ["Message of x", "Message of y", "Command of the user"]
    assert [text_of(item.parts[0]) for item in made] == ["from x", "from y", "make no rule"]
    assert made[2].badges == (Badge("exit 2", "bad"),)


def test_labels_stand_with_the_entry_and_with_a_folded_result() -> None:
    made = items(
        reply("a", None, call("c1")), result("b", None, "c1"), labels={"a": "start", "b": "the result"}
    )
    assert made[0].label == "start"
    fold = made[0].parts[0]
    assert isinstance(fold, Fold)
    assert fold.label == "the result"


def test_a_request_is_quiet_where_its_reply_follows() -> None:
    request = entry("q", None, customType="pi-batch", data={"kind": "request_start"})
    assert [item.id for item in items(request, reply("a", None, "x"))] == ["a"]
    lost = only(request)
    assert "no reply of it was recorded" in text_of(lost.parts[0])
