"""Where a history is cut, and how results are shortened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.engine.compaction import (
    BULKY_CHARS,
    ELIDED_CHARS,
    Room,
    cut_at,
    elided,
    fitted,
    reserve_tokens,
    shortened,
    won_tokens,
)
from pi_batch.engine.context import gate
from pi_batch.engine.conversation import Conversation
from pi_batch.engine.estimate import message_tokens
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultMessage,
    UserMessage,
    user_text,
)
from pi_batch.session.context import compaction_message
from tests.engine.histories import PNG, any_history, are_paired, history


def result(text: str, *images: ImageBlock, path: str | None = None) -> ToolResultMessage:
    details = {"full_output_path": path} if path else {}
    return ToolResultMessage("c1", "bash", (TextBlock(text), *images), details=details)


@pytest.mark.parametrize(
    ("window", "wished", "reserve"),
    [
        (200_000, None, 16_384),
        (32_000, None, 8_000),
        (4_096, None, 1_024),
        (32_000, 2_000, 2_000),
        (8_000, 16_384, 4_000),
    ],
)
def test_the_reserve_is_pis_and_smaller_in_small_windows(
    window: int, wished: int | None, reserve: int
) -> None:
    assert reserve_tokens(window, wished) == reserve


def test_what_is_kept_is_pis_and_smaller_in_small_windows() -> None:
    assert Room(180_000, 5_000).keep_tokens == 20_000
    assert Room(24_000, 4_000).keep_tokens == 12_000
    assert Room(1_000, 4_000).keep_tokens == 0


def test_a_cut_keeps_calls_and_results_together() -> None:
    messages = history(5, calls=2)
    first = cut_at(messages, 60)
    assert isinstance(messages[first], AssistantMessage)
    assert 1 < first < len(messages)


def test_as_many_turns_are_kept_as_fit() -> None:
    messages = history(9, chars=350)
    one = sum(map(message_tokens, messages[-2:]))
    assert cut_at(messages, 3 * one) == len(messages) - 6
    assert cut_at(messages, 3 * one - 1) == len(messages) - 4


def test_the_last_reply_is_kept_however_long() -> None:
    messages = history(3, chars=99_000)
    assert cut_at(messages, 0) == len(messages) - 2


def test_a_prompt_alone_is_nothing_to_cut() -> None:
    assert cut_at([user_text("go")], 0) == 0
    assert cut_at(history(1), 0) == 0
    assert cut_at([], 0) == 0


def test_old_bulky_results_are_shortened_and_new_ones_are_not() -> None:
    messages = history(4, chars=BULKY_CHARS)
    assert sorted(elided(messages, 5)) == [2, 4]


def test_small_results_stay() -> None:
    assert elided(history(4, chars=BULKY_CHARS - 1), 99) == {}


def test_a_shortened_result_keeps_its_ends_and_says_where_the_whole_is() -> None:
    text = "first line\n" + "x" * 9_000 + "\nlast line"
    short = shortened(result(text, path="/run/outputs/c1.txt"), ELIDED_CHARS, least=BULKY_CHARS)
    assert short.text.startswith("first line")
    assert short.text.endswith("last line")
    assert "of 9021 characters of this result left out" in short.text
    assert "the full output: /run/outputs/c1.txt" in short.text
    assert len(short.text) < ELIDED_CHARS + 200
    assert short.details == {"full_output_path": "/run/outputs/c1.txt"}


def test_a_result_without_a_file_says_to_call_again() -> None:
    assert "call again" in shortened(result("x" * 9_000), 400, least=2_000).text


def test_an_old_image_goes_and_the_text_beside_it_stays() -> None:
    short = shortened(result("a picture", ImageBlock(PNG, "image/png")), 400, least=2_000)
    assert (
        short.text
        == "a picture\n[1 image of this result left out to save context; call again if it is needed]"
    )
    assert all(isinstance(block, TextBlock) for block in short.content)


def test_shortening_twice_changes_nothing() -> None:
    once = shortened(result("x" * 9_000), ELIDED_CHARS, least=BULKY_CHARS)
    assert shortened(once, ELIDED_CHARS, least=BULKY_CHARS) is once


def test_the_newest_results_are_shortened_no_more_than_needed() -> None:
    messages = history(1, chars=60_000, calls=3)
    little = fitted(messages, 10_000)
    much = fitted(messages, 38_000)
    assert won_tokens(messages, little) >= 10_000
    assert won_tokens(messages, much) >= 38_000
    assert len(little[2].text) > len(much[2].text)


def test_results_that_cannot_win_enough_are_shortened_as_far_as_it_goes() -> None:
    messages = history(1, chars=5_000)
    assert len(fitted(messages, 10**9)[2].text) < 1_000


@given(any_history(), st.integers(0, 6_000), st.integers(0, 4_000))
def test_any_history_passes_the_gate_after_elision_and_compaction(
    messages: list[Message], keep_tokens: int, over_tokens: int
) -> None:
    conversation = Conversation(100)
    for number, message in enumerate(messages):
        conversation.add(message, str(number))
    first = cut_at(messages, keep_tokens)
    conversation.replace_results(elided(messages, first))
    if first:
        conversation.begin_with(compaction_message("What was done."), "99", first)
    conversation.replace_results(fitted(conversation.messages, over_tokens))
    sent = conversation.sent()
    kept = messages[first:] if first else messages
    assert sent == gate(conversation.messages)
    assert are_paired(sent)
    assert isinstance(sent[0], UserMessage)
    replies = [message for message in sent if isinstance(message, AssistantMessage)]
    assert replies == [message for message in kept if isinstance(message, AssistantMessage)]
    thoughts = [block for reply in replies for block in reply.content if isinstance(block, ThinkingBlock)]
    assert all(thought.signature for thought in thoughts)
    for message in sent:
        "".join(block.text for block in message.content if isinstance(block, TextBlock)).encode()


@given(any_history())
def test_what_is_shortened_depends_on_the_history_alone(messages: list[Message]) -> None:
    assert elided(messages, len(messages)) == elided(list(messages), len(messages))
    assert all(
        message_tokens(new) <= message_tokens(messages[at]) for at, new in elided(messages, 99).items()
    )
