"""The history as it is shown: what stands for what, and how long it is."""

from __future__ import annotations

from pi_batch.engine.conversation import Conversation
from pi_batch.engine.estimate import message_tokens
from pi_batch.messages import AssistantMessage, TextBlock, ToolResultMessage, Usage, user_text
from tests.engine.histories import history


def filled(turns: int, chars: int = 35) -> Conversation:
    conversation = Conversation(500)
    for number, message in enumerate(history(turns, chars)):
        conversation.add(message, f"e{number}")
    return conversation


def test_a_summary_stands_for_all_before_the_first_kept_message() -> None:
    conversation = filled(3)
    kept = list(conversation.messages[5:])
    summary = user_text("What was done.")
    conversation.begin_with(summary, "c1", 5)
    assert list(conversation.messages) == [summary, *kept]
    assert [conversation.entry_id(index) for index in range(3)] == ["c1", "e5", "e6"]


def test_a_shorter_result_takes_the_place_of_the_recorded_one() -> None:
    conversation = filled(2, 7_000)
    long = conversation.input_tokens()
    short = ToolResultMessage("t0c0", "read", (TextBlock("short"),))
    conversation.replace_results({2: short})
    assert conversation.sent()[2] is short
    assert conversation.input_tokens() < long - 1_500


def test_what_did_not_change_stays_the_same_objects() -> None:
    conversation = filled(4)
    before = conversation.sent()
    conversation.begin_with(user_text("What was done."), "c1", 5)
    assert all(new is old for new, old in zip(conversation.sent()[1:], before[5:], strict=True))


def test_the_services_count_holds_until_the_history_is_changed() -> None:
    conversation = filled(2)
    reply = AssistantMessage((TextBlock("so"),), "stop", usage=Usage(5_000, 10))
    conversation.add(reply, "e9")
    conversation.learn(reply)
    assert conversation.input_tokens() == 5_010
    conversation.begin_with(user_text("What was done."), "c1", 3)
    assert conversation.input_tokens() < 5_000


def test_a_tokenizer_that_needs_more_is_allowed_for_after_a_change() -> None:
    def after(factor: float) -> int:
        conversation = filled(40, 3_500)
        reply = AssistantMessage((TextBlock("so"),), "stop")
        conversation.add(reply, "e99")
        reported = int(conversation.input_tokens() * factor)
        conversation.learn(AssistantMessage(reply.content, "stop", usage=Usage(reported)))
        conversation.begin_with(user_text("What was done."), "c1", 41)
        return conversation.input_tokens()

    assert after(0.5) == after(1.0)
    assert 1.45 < after(1.5) / after(1.0) < 1.55
    assert after(9.0) == after(2.0)


def test_what_lasts_is_the_fixed_part_and_the_first_message() -> None:
    conversation = filled(2)
    assert conversation.lasting_tokens == 500 + message_tokens(conversation.messages[0])
    assert Conversation(500).lasting_tokens == 500
