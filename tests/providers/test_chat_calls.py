"""Calls out of deltas, as services really send them: none lost, none run together."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pi_batch.messages import ToolCall
from pi_batch.providers.chat_calls import CallSlots


def delta(
    arguments: object = "", *, index: object = None, call_id: object = None, name: object = None
) -> dict[str, Any]:
    item: dict[str, Any] = {"function": {"arguments": arguments}}
    if name is not None:
        item["function"]["name"] = name
    if index is not None:
        item["index"] = index
    if call_id is not None:
        item["id"] = call_id
    return item


def calls(*deltas: dict[str, Any], taken: frozenset[str] = frozenset()) -> list[ToolCall]:
    slots = CallSlots()
    for item in deltas:
        slots.add(item)
    return slots.calls(taken)


def told(*deltas: dict[str, Any]) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in calls(*deltas)]


def test_id_and_name_come_once_and_arguments_in_pieces() -> None:
    made = calls(
        delta(index=0, call_id="a", name="read"),
        delta('{"path"', index=0),
        delta(': "x"}', index=0),
    )
    assert made == [ToolCall("a", "read", {"path": "x"})]


def test_calls_at_their_own_index_may_interleave() -> None:
    made = told(
        delta(index=0, call_id="a", name="read"),
        delta(index=1, call_id="b", name="grep"),
        delta('{"n":1', index=0),
        delta('{"n":2', index=1),
        delta("}", index=0),
        delta("}", index=1),
    )
    assert made == [("read", {"n": 1}), ("grep", {"n": 2})]


def test_parallel_calls_at_one_index_with_different_ids_are_several() -> None:
    made = calls(
        delta('{"n":1}', index=0, call_id="a", name="read"),
        delta('{"n":2}', index=0, call_id="b", name="read"),
    )
    assert [(call.id, call.arguments) for call in made] == [("a", {"n": 1}), ("b", {"n": 2})]


def test_a_call_at_a_shared_index_goes_on_under_its_id() -> None:
    made = told(
        delta('{"n":', index=0, call_id="a", name="read"),
        delta('{"n":', index=0, call_id="b", name="read"),
        delta("1}", index=0, call_id="a"),
        delta("2}", index=0, call_id="b"),
    )
    assert made == [("read", {"n": 1}), ("read", {"n": 2})]


def test_names_and_ids_repeated_in_each_delta_are_one_call() -> None:
    pieces = ['{"path', '": "x', '"}']
    assert told(*(delta(piece, index=0, call_id="a", name="read") for piece in pieces)) == [
        ("read", {"path": "x"})
    ]


def test_names_repeated_without_ids_are_one_call_until_it_is_complete() -> None:
    pieces = ['{"path"', ': {"a"', ": 1}}", '{"path": 2}']
    made = told(*(delta(piece, index=0, name="read") for piece in pieces))
    assert made == [("read", {"path": {"a": 1}}), ("read", {"path": 2})]


def test_without_ids_another_name_is_another_call() -> None:
    made = told(delta("{}", index=0, name="read"), delta("{}", index=0, name="grep"))
    assert made == [("read", {}), ("grep", {})]


def test_without_index_pieces_belong_to_the_latest_call() -> None:
    made = told(
        delta('{"n":', call_id="a", name="read"),
        delta("1}"),
        delta('{"n":', call_id="b", name="grep"),
        delta("2}"),
    )
    assert made == [("read", {"n": 1}), ("grep", {"n": 2})]


def test_an_id_that_comes_late_is_the_calls_id() -> None:
    assert calls(delta('{"n":', index=0, name="read"), delta("1}", index=0, call_id="a"))[0].id == "a"


def test_missing_and_empty_ids_are_made_up_and_differ() -> None:
    made = calls(delta("{}", index=0, name="read"), delta("{}", index=1, call_id="", name="read"))
    ids = [call.id for call in made]
    assert all(ids)
    assert len(set(ids)) == 2


def test_the_same_id_at_two_indexes_is_two_calls_with_ids_of_their_own() -> None:
    made = calls(
        delta('{"n":1}', index=0, call_id="call_0", name="read"),
        delta('{"n":2}', index=1, call_id="call_0", name="read"),
    )
    assert [call.arguments for call in made] == [{"n": 1}, {"n": 2}]
    assert made[0].id == "call_0"
    assert made[1].id != "call_0"


def test_an_id_of_an_earlier_turn_is_made_up_anew() -> None:
    made = calls(delta("{}", index=0, call_id="call_0", name="read"), taken=frozenset({"call_0"}))
    assert made[0].id != "call_0"


def test_a_ghost_without_name_and_arguments_is_dropped() -> None:
    made = told(delta("", index=0, call_id="", name=""), delta("{}", index=1, call_id="a", name="read"))
    assert made == [("read", {})]


def test_a_nameless_call_with_arguments_is_kept_for_an_error_result() -> None:
    assert told(delta('{"a":1}', index=0, call_id="a", name="")) == [("", {"a": 1})]


def test_no_arguments_at_all_are_an_empty_object() -> None:
    assert told(delta("", index=0, call_id="a", name="ls")) == [("ls", {})]


def test_arguments_that_do_not_parse_are_kept_as_text() -> None:
    made = calls(delta('{"path": "a', index=0, call_id="a", name="read"))
    assert (made[0].arguments, made[0].raw_arguments) == (None, '{"path": "a')


def test_arguments_as_an_object_are_taken() -> None:
    assert told(delta({"path": "a"}, index=0, call_id="a", name="read")) == [("read", {"path": "a"})]


def test_values_of_wrong_types_do_no_harm() -> None:
    slots = CallSlots()
    for item in (
        {"index": "0", "id": 7, "function": {"name": "read", "arguments": None}},
        {"index": None, "function": None},
        {"function": {"name": ["x"], "arguments": 3}},
    ):
        slots.add(item)
    assert [(call.id, call.name) for call in slots.calls(frozenset())] == [("7", "read")]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["read", "grep"]), st.dictionaries(st.text(max_size=3), st.integers(), max_size=3)
        ),
        max_size=4,
    ),
    st.integers(1, 9),
    st.sampled_from(["usual", "same index", "no index", "repeats", "no ids"]),
)
def test_calls_survive_every_habit_of_streaming(
    wanted: list[tuple[str, dict[str, int]]], size: int, habit: str
) -> None:
    import json

    deltas = []
    for number, (name, arguments) in enumerate(wanted):
        text = json.dumps(arguments)
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        call_id = None if habit == "no ids" else f"id{number}"
        index = {"same index": 0, "no index": None}.get(habit, number)
        for place, piece in enumerate(pieces):
            named = place == 0 or habit in ("repeats", "same index")
            deltas.append(
                delta(piece, index=index, call_id=call_id if named else None, name=name if named else None)
            )
    assert told(*deltas) == [(name, arguments) for name, arguments in wanted]
