"""What leaves the gate is a history that every provider takes."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from pi_batch.engine.context import EMPTY_RESULT, LOST_RESULT, HistoryGate, clean_text, gate, image_type
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user_text,
)

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()


def reply(*content: TextBlock | ThinkingBlock | ToolCall) -> AssistantMessage:
    return AssistantMessage(tuple(content), "tool_use")


def call(call_id: str, name: str = "bash") -> ToolCall:
    return ToolCall(call_id, name, {})


def result(call_id: str, text: str = "ok", name: str = "bash") -> ToolResultMessage:
    return ToolResultMessage(call_id, name, (TextBlock(text),))


def test_a_right_history_passes_as_the_same_objects() -> None:
    history: list[Message] = [user_text("go"), reply(TextBlock("a"), call("1")), result("1"), user_text("on")]
    sent = gate(history)
    assert all(new is old for new, old in zip(sent, history, strict=True))


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    sent = gate([user_text("go"), reply(call("1"), call("2")), result("2"), user_text("on")])
    assert [m.tool_call_id for m in sent if isinstance(m, ToolResultMessage)] == ["1", "2"]
    lost = sent[2]
    assert isinstance(lost, ToolResultMessage)
    assert lost.is_error
    assert lost.text == LOST_RESULT


def test_a_result_without_its_call_is_left_out() -> None:
    sent = gate([result("9"), user_text("go"), reply(TextBlock("a")), result("8")])
    assert not any(isinstance(m, ToolResultMessage) for m in sent)


def test_results_come_in_call_order_and_once() -> None:
    sent = gate(
        [user_text("go"), reply(call("1"), call("2")), result("2"), result("1"), result("1", "again")]
    )
    assert [m.text for m in sent[2:] if isinstance(m, ToolResultMessage)] == ["ok", "ok"]
    assert [m.tool_call_id for m in sent[2:] if isinstance(m, ToolResultMessage)] == ["1", "2"]


def test_a_call_id_used_twice_in_one_message_counts_once() -> None:
    sent = gate([user_text("go"), reply(call("1"), call("1")), result("1")])
    assert isinstance(sent[1], AssistantMessage)
    assert len(sent[1].tool_calls) == 1


def test_blank_text_never_leaves() -> None:
    sent = gate(
        [
            user_text("go"),
            user_text("  \n"),
            reply(TextBlock(""), call("1")),
            result("1", " "),
            reply(TextBlock("")),
        ]
    )
    texts = [block.text for m in sent for block in _blocks(m) if isinstance(block, TextBlock)]
    assert texts == ["go", EMPTY_RESULT]


def test_a_signed_block_goes_back_though_it_is_empty() -> None:
    thinking = ThinkingBlock("", signature="sig")
    sent = gate([user_text("go"), reply(thinking, call("1")), result("1")])
    assert _blocks(sent[1])[0] is thinking


def test_an_image_is_what_its_bytes_say() -> None:
    html = base64.b64encode(b"<!doctype html><p>404</p>").decode()
    sent = gate(
        [UserMessage((ImageBlock(PNG, "image/jpeg"), ImageBlock(html, "image/png"), ImageBlock("%", "x")))]
    )
    first, second, third = _blocks(sent[0])
    assert isinstance(first, ImageBlock)
    assert first.mime_type == "image/png"
    assert isinstance(second, TextBlock)
    assert isinstance(third, TextBlock)


def test_a_tool_name_that_no_service_takes_is_mended_in_call_and_result() -> None:
    sent = gate([user_text("go"), reply(ToolCall("1", "run shell!", {})), result("1", name="run shell!")])
    assert isinstance(sent[1], AssistantMessage)
    assert sent[1].tool_calls[0].name == "run_shell_"
    assert isinstance(sent[2], ToolResultMessage)
    assert sent[2].tool_name == "run_shell_"


def test_the_system_prompt_is_no_part_of_the_history() -> None:
    assert gate([SystemMessage("be good"), user_text("go")]) == (user_text("go"),)


def test_image_types_are_told_by_their_first_bytes() -> None:
    assert image_type(b"RIFF\0\0\0\0WEBPVP8 ") == "image/webp"
    assert image_type(b"GIF89a") == "image/gif"
    assert image_type(b"BM") is None


@given(st.text() | st.text(alphabet=st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)))
def test_cleaned_text_is_always_utf8_without_nul(text: str) -> None:
    assert b"\0" not in clean_text(text).encode()


TEXT = st.text(max_size=5) | st.sampled_from(["", " ", "\0", "\ud800"])
CALL = st.builds(ToolCall, st.sampled_from("abc"), st.sampled_from(["bash", "", "x y"]), st.just({}))
MESSAGES = st.lists(
    st.one_of(
        st.builds(user_text, TEXT),
        st.builds(SystemMessage, TEXT),
        st.builds(
            AssistantMessage,
            st.lists(st.builds(TextBlock, TEXT) | CALL | st.builds(ThinkingBlock, TEXT), max_size=4).map(
                tuple
            ),
            st.just("tool_use"),
        ),
        st.builds(
            ToolResultMessage,
            st.sampled_from("abc"),
            st.just("bash"),
            st.lists(st.builds(TextBlock, TEXT), max_size=2).map(tuple),
        ),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_any_history_leaves_paired_and_readable(history: list[Message]) -> None:
    sent = gate(history)
    open_ids: list[str] = []
    for message in sent:
        if isinstance(message, ToolResultMessage):
            assert message.tool_call_id == open_ids.pop(0)
        else:
            assert not open_ids
        if isinstance(message, AssistantMessage):
            open_ids = [c.id for c in message.tool_calls]
        for block in _blocks(message):
            if isinstance(block, TextBlock):
                assert block.text.strip()
                assert b"\0" not in block.text.encode()
    assert not open_ids
    assert gate(sent) == sent


@given(MESSAGES, st.lists(st.integers(0, 12)))
def test_a_growing_history_passes_as_a_whole_one_does(history: list[Message], lengths: list[int]) -> None:
    passing = HistoryGate()
    for length in (*sorted(lengths), *lengths):
        assert passing(history[:length]) == gate(history[:length])


def test_a_history_that_changed_is_looked_at_again() -> None:
    passing = HistoryGate()
    for first in ("a", "b"):
        history: list[Message] = [user_text(first), reply(call("1")), result("1"), reply(TextBlock("x"))]
        assert passing(history) == tuple(history)


def test_what_was_put_right_once_stays_the_same_object() -> None:
    passing = HistoryGate()
    history: list[Message] = [user_text("go"), reply(call("1")), user_text("on"), reply(TextBlock("x"))]
    before = passing(history)
    after = passing([*history, user_text("again"), reply(TextBlock("y"))])
    assert all(new is old for new, old in zip(after, before, strict=False))


def test_a_result_that_came_late_takes_the_place_of_the_lost_one() -> None:
    passing = HistoryGate()
    history: list[Message] = [user_text("go"), reply(call("1"))]
    assert [message.text for message in passing(history) if isinstance(message, ToolResultMessage)] == [
        LOST_RESULT
    ]
    assert passing([*history, result("1")])[-1] == result("1")


def _blocks(message: Message) -> tuple[object, ...]:
    assert not isinstance(message, SystemMessage)
    return message.content
