"""Each message is encoded once; what is sent is what encoding everything anew would give."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pi_batch.messages import AssistantMessage, Message, ToolCall, ToolDeclaration, user_text
from pi_batch.providers import compat
from pi_batch.providers.anthropic_wire import MessagesRules
from pi_batch.providers.encoded import EncodedHistory, Histories, UnitRules
from pi_batch.providers.openai_wire import ChatRules, chat_body, chat_tools
from pi_batch.providers.tool_ids import MESSAGES_IDS, WireIds
from tests.providers.asking import READ, request
from tests.providers.histories import IMAGE, call, long_history, reply, result, turn


class Counting:
    """Rules that count what they are asked to encode."""

    id_shape = MESSAGES_IDS

    def __init__(self, rules: UnitRules) -> None:
        self.rules = rules
        self.encoded = 0

    def joins(self, before: Message, message: Message) -> bool:
        return self.rules.joins(before, message)

    def encode(self, messages: Sequence[Message], ids: WireIds) -> bytes:
        self.encoded += len(messages)
        return self.rules.encode(messages, ids)


CHAT = ChatRules(compat.OPENAI, "openai-chat", "gpt-4.1")
MESSAGES = MessagesRules("anthropic", "claude-sonnet-5")
WIRES = pytest.mark.parametrize("rules", [CHAT, MESSAGES], ids=["chat", "messages"])


def wires(history: EncodedHistory, messages: Sequence[Message]) -> list[bytes]:
    return [unit.wire for unit in history.encode(messages)]


def fresh(rules: UnitRules, messages: Sequence[Message]) -> list[bytes]:
    return wires(EncodedHistory(rules), messages)


@WIRES
def test_a_turn_encodes_its_own_messages_only(rules: UnitRules) -> None:
    counting = Counting(rules)
    history = EncodedHistory(counting)
    messages = long_history(200)
    history.encode(messages)
    counting.encoded = 0
    history.encode(messages)
    assert counting.encoded == 0
    history.encode([*messages, *turn(200)])
    assert counting.encoded == 2


@WIRES
def test_bytes_of_a_turn_are_a_prefix_of_the_next(rules: UnitRules) -> None:
    history = EncodedHistory(rules)
    messages = long_history(3)
    before = b",".join(wires(history, messages))
    assert b",".join(wires(history, [*messages, *turn(3)])).startswith(before)


def test_the_whole_chat_body_up_to_its_messages_is_stable() -> None:
    history = EncodedHistory(CHAT)
    bodies = []
    for turns in (3, 4):
        wanted = request(*long_history(turns))
        units = history.encode(wanted.messages)
        bodies.append(chat_body(wanted, compat.OPENAI, units, history.tools(wanted.tools, chat_tools)))
    assert bodies[1].startswith(bodies[0].removesuffix(b"]}"))


@WIRES
def test_a_message_that_goes_into_the_last_unit_is_not_lost(rules: UnitRules) -> None:
    history = EncodedHistory(rules)
    messages: list[Message] = [
        user_text("x"),
        reply(call("a"), call("b")),
        result("a", IMAGE),
        result("b", "y"),
    ]
    for end in range(1, len(messages) + 1):
        assert wires(history, messages[:end]) == fresh(rules, messages[:end])
    messages.append(user_text("also"))
    assert wires(history, messages) == fresh(rules, messages)


@WIRES
def test_a_shorter_history_is_not_answered_with_the_longer_one(rules: UnitRules) -> None:
    history = EncodedHistory(rules)
    messages = long_history(5)
    history.encode(messages)
    for end in range(len(messages), 0, -1):
        assert wires(history, messages[:end]) == fresh(rules, messages[:end])


@WIRES
def test_a_message_replaced_in_the_middle_is_encoded_anew_with_all_that_follows(rules: UnitRules) -> None:
    counting = Counting(rules)
    history = EncodedHistory(counting)
    messages = long_history(10)
    history.encode(messages)
    counting.encoded = 0
    messages[11] = reply("other words", call("call_5", path="z"))
    assert wires(history, messages) == fresh(rules, messages)
    assert counting.encoded == len(messages) - 11


@WIRES
def test_an_equal_but_new_message_is_encoded_anew_since_equality_costs_more(rules: UnitRules) -> None:
    history = EncodedHistory(rules)
    messages = long_history(2)
    history.encode(messages)
    copies = [replace(message) for message in messages]
    assert wires(history, copies) == fresh(rules, messages)


def test_ids_after_a_cut_are_those_of_a_fresh_start() -> None:
    recorded: list[Message] = [user_text("x")]
    for number in range(4):
        recorded += [reply(f"{number}", call("call_0")), result("call_0", "y")]
    history = EncodedHistory(MESSAGES)
    history.encode(recorded)
    changed: list[Message] = [*recorded[:3], user_text("cut"), *recorded[5:]]
    assert wires(history, changed) == fresh(MESSAGES, changed)
    assert history.call_ids == {"call_0"}


@st.composite
def edits(draw: st.DrawFn) -> list[list[Message]]:
    """Histories, each the one before with something added, cut or replaced."""
    history: list[Message] = [user_text("start")]
    histories = [list(history)]
    for number in range(draw(st.integers(1, 8))):
        match draw(st.sampled_from(["turn", "user", "cut", "replace", "repeat id"])):
            case "turn":
                history += turn(number)
            case "user":
                history.append(user_text(f"note {number}"))
            case "repeat id":
                history += [reply(call("call_0"), ToolCall("x|y", "read", None, "{")), result("call_0", "z")]
                history.append(result("x|y", IMAGE, is_error=True))
            case "cut" if len(history) > 2:
                del history[draw(st.integers(1, len(history) - 1)) :]
            case "replace":
                place = draw(st.integers(0, len(history) - 1))
                if isinstance(history[place], AssistantMessage):
                    history[place] = reply(f"new {number}")
        histories.append(list(history))
    return histories


@WIRES
@given(histories=edits())
def test_whatever_happens_to_a_history_its_bytes_are_those_of_a_fresh_start(
    rules: UnitRules, histories: list[list[Message]]
) -> None:
    kept = EncodedHistory(rules)
    for messages in histories:
        assert wires(kept, messages) == fresh(rules, messages)


def test_declarations_are_encoded_again_only_when_they_differ() -> None:
    counted: list[int] = []

    def encode(tools: Sequence[ToolDeclaration]) -> bytes:
        counted.append(len(tools))
        return chat_tools(tools)

    history = EncodedHistory(CHAT)
    history.tools((READ,), encode)
    history.tools((READ,), encode)
    history.tools((replace(READ),), encode)
    assert counted == [1]
    history.tools((READ, replace(READ, name="other")), encode)
    assert counted == [1, 2]


def test_histories_of_sessions_are_kept_apart_and_the_oldest_goes_first() -> None:
    histories = Histories(max_sessions=2)
    first = histories.of(("a", "m"), CHAT)
    second = histories.of(("b", "m"), CHAT)
    assert histories.of(("a", "m"), CHAT) is first
    assert histories.of(("a", "other"), CHAT) is not first
    assert histories.of(("b", "m"), CHAT) is not second


def test_a_session_without_a_name_is_never_kept() -> None:
    histories = Histories()
    assert histories.of(("", "m"), CHAT) is not histories.of(("", "m"), CHAT)
