"""`x.__dict__` changes the instance, and takes no key that library code would believe."""

from __future__ import annotations

import pytest

from tests.codemode.script.hosts import run

CLASS = """class A:
    def __init__(self, **words):
        self.__dict__.update(words)
a = A(x=1)
d = a.__dict__
"""


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("d['y'] = 2", "{'x': 1, 'y': 2}"),
        ("del d['x']", "{}"),
        ("d |= {'y': 2}", "{'x': 1, 'y': 2}"),
        ("d.update([('y', 2)], z=3)", "{'x': 1, 'y': 2, 'z': 3}"),
        ("d.setdefault('x', 9); d.setdefault('y', 2)", "{'x': 1, 'y': 2}"),
        ("d.pop('x'); d.pop('none', 0)", "{}"),
        ("d.clear()", "{}"),
        ("d.copy()['y'] = 2", "{'x': 1}"),
        ("import copy\ncopy.deepcopy(d)['y'] = 2", "{'x': 1}"),
        ("dict(d)['y'] = 2", "{'x': 1}"),
    ],
)
def test_a_change_is_made_on_the_instance(change: str, left: str) -> None:
    ran = run(f"{CLASS}{change}\nprint(vars(a))")
    assert (ran.text, ran.error) == (f"{left}\n", "")


def test_it_is_a_dict_to_json_and_to_the_script() -> None:
    ran = run(f"{CLASS}print(json.dumps(d), isinstance(d, dict), {{**d}}, d == {{'x': 1}})")
    assert ran.text == "{\"x\": 1} True {'x': 1} True\n"


@pytest.mark.parametrize("key", ["'__dataclass_fields__'", "'__class__'", "'gi_frame'", "'_x_'", "1"])
def test_a_key_that_is_no_name_of_an_attribute_is_refused(key: str) -> None:
    for change in (
        f"d[{key}] = 1",
        f"d.update({{{key}: 1}})",
        f"d.setdefault({key}, 1)",
        f"d |= {{{key}: 1}}",
    ):
        ran = run(f"{CLASS}{change}")
        assert ran.end.status == "failed"
        assert run(f"{CLASS}try:\n    {change}\nexcept Exception:\n    print(vars(a))").text == "{'x': 1}\n"
