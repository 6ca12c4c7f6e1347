"""What was made of a value is kept as long as it is asked for."""

from __future__ import annotations

from pi_batch.reports.kept import Kept


def test_the_same_values_are_made_once() -> None:
    kept, made = Kept[int](), list[str]()

    def make(value: str) -> int:
        made.append(value)
        return len(value)

    first, second = "".join(["a", "b"]), "".join(["c"])
    assert kept.each([first, second], make) == [2, 1]
    assert kept.each([second, first], make) == [1, 2]
    assert made == ["ab", "c"]


def test_an_equal_value_is_another_one() -> None:
    kept = Kept[int]()
    numbers = iter(range(9))
    before, after = ("a", [1]), ("a", [1])
    assert kept.each([before], lambda _: next(numbers)) == [0]
    assert kept.each([after], lambda _: next(numbers)) == [1]


def test_what_is_not_asked_for_is_forgotten() -> None:
    kept, numbers, value = Kept[int](), iter(range(9)), object()
    kept.each([value], lambda _: next(numbers))
    kept.each([], lambda _: next(numbers))
    assert kept.each([value], lambda _: next(numbers)) == [1]


def test_falsy_results_are_kept_as_well() -> None:
    kept, made, value = Kept[str](), list[object](), object()

    def make(given: object) -> str:
        made.append(given)
        return ""

    assert [kept.each([value, value], make) for _ in range(2)] == [["", ""], ["", ""]]
    assert made == [value]
