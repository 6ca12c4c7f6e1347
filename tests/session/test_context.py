"""What a model sees of a branch: compactions, edits, and the messages of other programs."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolDeclaration,
    ToolResultMessage,
    UserMessage,
)
from pi_batch.session import (
    active_branch,
    context,
    context_entries,
    context_messages,
    current_system,
    parse_session,
    prompt_of,
    system_change,
)
from tests.session.files import HEADER, entry, lines, reply, result, user


def system(entry_id: str, parent: str | None, text: str, **fields: Any) -> dict[str, Any]:
    message = {"role": "system", "content": text, "timestamp": 1, **fields}
    return entry(entry_id, parent, "message", message=message)


def compaction(entry_id: str, parent: str, kept: str, **fields: Any) -> dict[str, Any]:
    known = {"summary": "the sum", "firstKeptEntryId": kept, "tokensBefore": 9}
    return entry(entry_id, parent, "compaction", **(known | fields))


def said(*entries: dict[str, Any]) -> list[str]:
    """The texts that a model sees, one a message."""
    return [
        text_of(message)
        for message in context_messages(active_branch(parse_session(lines(HEADER, *entries))))
    ]


def text_of(message: Message) -> str:
    if isinstance(message, SystemMessage):
        return f"system {message.content}"
    return "".join(getattr(block, "text", "") for block in message.content)


BEFORE = (
    system("s", None, "be good"),
    user("a", "s", "one"),
    reply("b", "a", "two"),
    user("c", "b", "three"),
    reply("d", "c", "four"),
)


def test_a_branch_without_a_compaction_is_seen_whole() -> None:
    assert said(*BEFORE) == ["system be good", "one", "two", "three", "four"]


def test_a_compaction_stands_for_what_it_did_not_keep() -> None:
    texts = said(*BEFORE, compaction("k", "d", "c"), user("e", "k", "five"))
    assert texts[0] == "system be good"
    assert "<summary>\nthe sum\n</summary>" in texts[1]
    assert texts[2:] == ["three", "four", "five"]


def test_a_checkpoint_stands_for_all_system_messages_before_it() -> None:
    checkpoint = {"role": "system", "content": "be better", "timestamp": 1}
    changed = system("s2", "c", "be quick")
    entries = (*BEFORE[:4], changed, reply("d", "s2", "four"))
    texts = said(*entries, compaction("k", "d", "c", systemMessage=checkpoint))
    assert [texts[0], *texts[2:]] == ["system be better", "three", "four"]


@pytest.mark.parametrize("kept", ["k", "nowhere"])
def test_a_compaction_that_names_itself_or_nothing_keeps_nothing(kept: str) -> None:
    assert len(said(*BEFORE, compaction("k", "d", kept))) == 2


def test_only_the_latest_compaction_is_seen_even_where_it_kept_an_older_one() -> None:
    older = compaction("k1", "b", "a")
    entries = (*BEFORE[:3], older, user("c", "k1", "three"), compaction("k2", "c", "k1", summary="newer"))
    texts = said(*entries)
    assert "newer" in texts[1]
    assert texts[2:] == ["three"]
    assert "the sum" not in str(texts)


def test_each_message_names_the_entry_it_comes_from() -> None:
    branch = active_branch(parse_session(lines(HEADER, *BEFORE, compaction("k", "d", "c"))))
    assert [placed.entry_id for placed in context(branch)] == ["s", "k", "c", "d"]
    assert [one.id for one in context_entries(branch)] == ["s", "k", "c", "d"]


def test_edits_change_or_take_out_what_a_model_sees_and_nothing_else() -> None:
    entries = (
        *BEFORE,
        result("r", "d", "call_1", "a long output"),
        entry("x1", "r", "context_edit", targetId="a", replacement=None),
        entry("x2", "x1", "context_edit", targetId="r", replacement={"content": "cut"}),
        entry("x3", "x2", "context_edit", targetId="b", replacement={"content": "lost"}),
        entry("x4", "x3", "context_edit", targetId="b", replacement={"content": "2"}),
        entry("x5", "x4", "context_edit", targetId="s", replacement=None),
    )
    session = parse_session(lines(HEADER, *entries))
    seen = context_messages(active_branch(session))
    assert [text_of(message) for message in seen] == ["system be good", "2", "three", "four", "cut"]
    assert isinstance(seen[1], AssistantMessage)
    assert isinstance(seen[-1], ToolResultMessage)


def test_what_extensions_and_persons_said_are_user_messages() -> None:
    command = {
        "role": "bashExecution",
        "command": "make",
        "output": "no rule\n",
        "timestamp": 5,
    }
    entries = (
        entry("a", None, "custom_message", customType="x", content="from an extension", display=False),
        entry("b", "a", "message", message={"role": "custom", "content": [{"type": "text", "text": "old"}]}),
        entry("c", "b", "message", message={**command, "exitCode": 2}),
        entry("d", "c", "message", message={**command, "excludeFromContext": True}),
        entry("e", "d", "message", message={**command, "output": "", "cancelled": True}),
        entry("f", "e", "branch_summary", fromId="z", summary="went nowhere"),
        entry("g", "f", "branch_summary", fromId="z", summary=""),
        entry("h", "g", "message", message={"role": "branchSummary", "summary": "b"}),
        entry("i", "h", "message", message={"role": "compactionSummary", "summary": "c"}),
        entry("j", "i", "usage", kind="cache_warm"),
        entry("k", "j", "message", message={"role": "hologram", "content": "?"}),
        entry("l", "k", "teleport", message={"role": "user", "content": "?"}),
    )
    session = parse_session(lines(HEADER, *entries))
    seen = context_messages(active_branch(session))
    assert all(isinstance(message, UserMessage) for message in seen)
    texts = [text_of(message) for message in seen]
    assert texts[:2] == ["from an extension", "old"]
    assert all(words in texts[2] for words in ("make", "no rule", "exited with code 2"))
    assert "(no output)" in texts[3]
    assert "cancelled" in texts[3]
    assert "went nowhere" in texts[4]
    assert len(texts) == 7
    assert seen[2].timestamp_ms == 5


def test_system_messages_fold_into_the_prompt_and_tools_in_force() -> None:
    read, write = (ToolDeclaration(name, "", {}) for name in ("read", "write"))
    better = ToolDeclaration("read", "better", {})
    folded = current_system(
        (
            SystemMessage("be good", (read, write), {"cwd": "/w", "skills": "many"}, timestamp_ms=7),
            SystemMessage("", (better,), {"skills": None, "note": "n"}, tools_removed=("write", "read")),
            SystemMessage("be quick"),
        )
    )
    assert folded == SystemMessage(
        "be good\n\nbe quick", (better,), {"cwd": "/w", "note": "n"}, timestamp_ms=7
    )
    assert current_system(()) is None


def test_a_change_of_prompt_and_tools_says_what_changed_and_folds_to_what_is_in_force() -> None:
    read, write, edit = (ToolDeclaration(name, "", {}) for name in ("read", "write", "edit"))
    better = ToolDeclaration("read", "better", {})
    first = system_change("be good", (read, write))
    assert first == SystemMessage("", (read, write), {"prompt": "be good"})
    assert system_change("be good", (write, read), before="be good", tools_before=(read, write)) is None
    then = system_change("be quick", (better, edit), before="be good", tools_before=(read, write))
    assert then is not None
    assert then.tools_added == (better, edit)
    assert set(then.tools_removed) == {"read", "write"}
    now = current_system((first, then))
    assert now is not None
    assert prompt_of(now) == "be quick"
    assert now.tools_added == (better, edit)


def test_a_prompt_is_its_content_and_then_its_sections() -> None:
    assert prompt_of(SystemMessage("a", sections={"x": "b", "y": None, "z": "c"})) == "a\n\nb\n\nc"
