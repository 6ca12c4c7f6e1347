import pytest

from fairsplit import format_cents, split_by_weight, split_evenly


def test_even_amounts_split_evenly():
    assert split_evenly(90, 3) == [30, 30, 30]


def test_odd_cents_go_to_the_first():
    assert split_evenly(100, 3) == [34, 33, 33]
    assert split_evenly(101, 3) == [34, 34, 33]


@pytest.mark.parametrize("total", [0, 1, 99, 100, 12345])
@pytest.mark.parametrize("people", [1, 2, 3, 7])
def test_the_parts_add_up(total, people):
    assert sum(split_evenly(total, people)) == total


def test_nobody_cannot_share():
    with pytest.raises(ValueError):
        split_evenly(100, 0)


def test_weights_share_in_proportion():
    assert split_by_weight(100, [1, 1, 2]) == [25, 25, 50]


def test_the_largest_remainder_gets_the_odd_cent():
    assert split_by_weight(100, [1, 2, 3]) == [17, 33, 50]
    assert split_by_weight(10, [3, 3, 1]) == [4, 4, 2]


def test_amounts_read_as_people_write_them():
    assert format_cents(1234) == "12.34 EUR"
    assert format_cents(-5) == "-0.05 EUR"
