"""Small sums and views over messages."""

from __future__ import annotations

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    Usage,
    user_text,
)


def test_a_token_budget_counts_four_kinds_and_reasoning_is_within_output() -> None:
    assert Usage(1, 20, 300, 4_000, reasoning_tokens=5).total_tokens == 4_321


def test_usages_add_up_field_by_field() -> None:
    assert Usage(1, 2, 3, 4, 1) + Usage(10, 20, 30, 40, 10) == Usage(11, 22, 33, 44, 11)


def test_what_was_read_from_a_cache_is_a_part_of_all_input() -> None:
    assert Usage(100, 999, 300, 100).cache_read_share == 0.6
    assert Usage(0, 5).cache_read_share is None


def test_a_replys_text_leaves_thinking_and_calls_out() -> None:
    reply = AssistantMessage(
        (ThinkingBlock("hm"), TextBlock("a"), ToolCall("1", "bash", {}), TextBlock("b")), "tool_use"
    )
    assert reply.text == "ab"
    assert [call.id for call in reply.tool_calls] == ["1"]


def test_a_results_text_leaves_images_out() -> None:
    result = ToolResultMessage("1", "read", (TextBlock("a"), ImageBlock("AA", "image/png"), TextBlock("b")))
    assert result.text == "a\nb"


def test_a_user_message_of_one_text() -> None:
    assert user_text("go", 7).content == (TextBlock("go"),)
    assert user_text("go", 7).timestamp_ms == 7
