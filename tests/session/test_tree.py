"""Branches of a session, and what they were set to."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.errors import UsageError
from pi_batch.session import (
    BranchSettings,
    active_branch,
    branch_to,
    labels_of,
    leaves,
    name_of,
    parse_session,
    settings_of,
)
from tests.session.files import HEADER, entry, lines, reply

FORK = parse_session(lines(HEADER, entry("aa1"), entry("aa2", "aa1"), entry("b", "aa1"), entry("c", "b")))


def branch_of(*entries: dict[str, Any]) -> list[str]:
    return [item.id for item in active_branch(parse_session(lines(HEADER, *entries)))]


def test_the_active_branch_is_the_last_entry_and_its_parents() -> None:
    assert branch_of(entry("a"), entry("b", "a"), entry("x", "b"), entry("c", "b")) == ["a", "b", "c"]


def test_a_branch_ends_at_a_missing_parent() -> None:
    assert branch_of(entry("a"), entry("c", "lost"), entry("d", "c")) == ["c", "d"]


def test_a_branch_ends_where_it_bites_its_tail() -> None:
    assert branch_of(entry("a", "c"), entry("b", "a"), entry("c", "b")) == ["a", "b", "c"]
    assert branch_of(entry("a", "a")) == ["a"]


def test_a_session_without_entries_has_no_branch() -> None:
    assert branch_of() == []


def test_a_branch_can_be_followed_to_any_entry() -> None:
    assert [item.id for item in branch_to(FORK, "aa2")] == ["aa1", "aa2"]
    assert [item.id for item in branch_to(FORK, "b")] == ["aa1", "b"]


@pytest.mark.parametrize(
    ("entry_id", "words"), [("aa", "2 entries begin with 'aa'"), ("zz", "no entry 'zz'"), ("", "no entry ''")]
)
def test_an_entry_that_is_not_there_once_is_refused_by_name(entry_id: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        branch_to(FORK, entry_id)


def test_leaves_are_the_ends_of_all_branches_the_active_one_last() -> None:
    assert [item.id for item in leaves(FORK)] == ["aa2", "c"]
    assert leaves(parse_session(lines(HEADER))) == ()


def test_settings_are_what_the_last_entries_say() -> None:
    session = parse_session(
        lines(
            HEADER,
            entry("a", None, "model_change", provider="openai", modelId="gpt-4.1"),
            entry("b", "a", "thinking_level_change", thinkingLevel="high"),
            reply("c", "b", "done", provider="anthropic", model="claude"),
        )
    )
    branch = active_branch(session)
    assert settings_of(branch[:1]) == BranchSettings("openai", "gpt-4.1")
    assert settings_of(branch) == BranchSettings("anthropic", "claude", "high")
    assert settings_of(()) == BranchSettings()


def test_a_later_label_changes_or_takes_away_an_earlier_one() -> None:
    session = parse_session(
        lines(
            HEADER,
            entry("a"),
            entry("l1", "a", "label", targetId="a", label="first"),
            entry("l2", "l1", "label", targetId="l1", label="gone"),
            entry("l3", "l2", "label", targetId="l1"),
            entry("l4", "l3", "label", targetId="a", label="second"),
            entry("l5", "l4", "label", label="of nothing"),
        )
    )
    assert dict(labels_of(session)) == {"a": "second"}


def test_a_session_is_named_by_its_last_session_info() -> None:
    named = [entry("a", None, "session_info", name="one"), entry("b", "a", "session_info", name=" two ")]
    cleared = entry("c", "b", "session_info", name="")
    assert name_of(parse_session(lines(HEADER, *named))) == "two"
    assert name_of(parse_session(lines(HEADER, *named, cleared))) is None
    assert name_of(parse_session(lines(HEADER))) is None
