"""What a session cost: everything that a model was asked, each once."""

from __future__ import annotations

import pytest

from pi_batch.messages import Usage
from pi_batch.session import Entry, Spent, parse_session, spent_on, total_spent
from pi_batch.session.fields import branch_summary_fields, compaction_fields, usage_fields
from tests.session.files import HEADER, entry, lines, reply, result, user

USAGE = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 10, "cost": {"total": 0.5}}
TOKENS = Usage(1, 2, 3, 4)


def test_replies_summaries_usage_entries_and_model_work_in_tools_count_once_each() -> None:
    entries = (
        user("a", None, "go"),
        reply("b", "a", "hm", usage=USAGE),
        result("c", "b", "call", usage=USAGE),
        result("d", "c", "call"),
        entry("e", "d", "usage", kind="cache_warm", usage=USAGE),
        entry("f", "e", "compaction", summary="s", usage=USAGE),
        entry("g", "f", "branch_summary", summary="s", usage=USAGE),
        entry("h", "g", "custom", usage=USAGE),
        entry("i", "h", "message", message=None),
        entry("j", "i", "compaction", summary="s"),
    )
    session = parse_session(lines(HEADER, *entries))
    assert total_spent(session.entries) == Spent(Usage(5, 10, 15, 20), 2.5, 0, 5)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("usage", usage_fields("compaction", "openai", "gpt", TOKENS, None)),
        ("compaction", compaction_fields("s", "a", 1, usage=TOKENS)),
        ("branch_summary", branch_summary_fields("s", "a", usage=TOKENS)),
    ],
)
def test_an_unknown_price_is_no_price_of_zero(kind: str, fields: dict[str, object]) -> None:
    assert spent_on(Entry("a", None, kind, "t", fields)) == Spent(TOKENS, 0.0, 1, 1)


def test_what_holds_no_usage_cost_nothing() -> None:
    assert spent_on(Entry("a", None, "compaction", "t", compaction_fields("s", "a", 1))) is None
    assert total_spent(()) == Spent()
