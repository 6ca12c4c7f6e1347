"""Tests of noticing what changed on the machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pi_batch.engine.machine import HASHED_MAX_BYTES, Machine, carried_over, differences, look


class Place:
    """A home, two directories of PATH and a workspace."""

    def __init__(self, root: Path) -> None:
        self.home, self.first, self.second = root / "home", root / "first", root / "second"
        self.workspace = root / "state" / "w" / "project"
        for directory in (self.home, self.first, self.second, self.workspace):
            directory.mkdir(parents=True)

    @property
    def env(self) -> Mapping[str, str]:
        return {"PATH": f"{self.first}:{self.second}:relative", "HOME": str(self.home)}

    def program(self, path: Path, text: str = "x") -> None:
        path.write_text(text)
        path.chmod(0o755)

    def look(self) -> Machine:
        return look(self.env, ["mytool --check && ./local.sh"], [str(self.workspace)])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_an_unchanged_machine_has_no_differences(place: Place) -> None:
    place.program(place.second / "pytest")
    assert differences(place.look(), place.look()) == ()


def test_a_program_that_comes_first_on_path_is_seen(place: Place) -> None:
    place.program(place.second / "pytest")
    before = place.look()
    place.program(place.first / "pytest", "y")
    assert differences(before, place.look()) == (
        f"`pytest` on PATH ({place.first / 'pytest'}) was changed since the start",
    )


def test_a_program_of_the_checks_that_is_new_gone_or_rewritten_is_seen(place: Place) -> None:
    none = place.look()
    place.program(place.first / "mytool")
    there = place.look()
    place.program(place.first / "mytool", "y")
    assert [text.split(") ")[-1] for text in differences(none, there)] == ["is new since the start"]
    assert "was changed" in differences(there, place.look())[0]
    (place.first / "mytool").unlink()
    assert differences(there, place.look()) == ("`mytool` on PATH is gone since the start",)


def test_what_is_no_program_is_not_found_on_path(place: Place) -> None:
    before = place.look()
    (place.first / "mytool").write_text("not executable")
    (place.second / "mytool").mkdir()
    assert differences(before, place.look()) == ()


def test_a_program_written_again_with_the_same_content_is_no_difference(place: Place) -> None:
    place.program(place.first / "pytest")
    before = place.look()
    (place.first / "pytest").unlink()
    place.program(place.first / "pytest")
    assert differences(before, place.look()) == ()


def test_a_large_program_is_told_by_size_and_time(place: Place) -> None:
    place.program(place.first / "node", "x" * (HASHED_MAX_BYTES + 1))
    before = place.look()
    place.program(place.first / "node", "y" * (HASHED_MAX_BYTES + 2))
    assert len(differences(before, place.look())) == 1


@pytest.mark.parametrize(
    "name",
    [
        ".local/lib/python3.12/site-packages/usercustomize.py",
        ".local/lib/python3.12/site-packages/sitecustomize.py",
        ".config/go/env",
    ],
)
def test_a_start_up_file_in_the_home_directory_is_seen(place: Place, name: str) -> None:
    before = place.look()
    (place.home / name).parent.mkdir(parents=True)
    (place.home / name).write_text("import os\n")
    assert differences(before, place.look()) == (f"{place.home / name} is new since the start",)


@pytest.mark.parametrize(
    ("text", "is_seen"),
    [
        ("import os; os._exit(0)\n", True),
        ("/some/project/src\n", False),
        ("import __editable___calc_1_finder; __editable___calc_1_finder.install()\n", False),
        ("import __editable___calc_1_finder; __editable___other.install()\n", True),
    ],
)
def test_of_pth_files_only_unusual_code_is_seen(place: Place, text: str, is_seen: bool) -> None:
    before = place.look()
    site = place.home / ".local/lib/python3.12/site-packages"
    site.mkdir(parents=True)
    (site / "x.pth").write_text(text)
    assert bool(differences(before, place.look())) == is_seen


def test_a_customization_beside_the_interpreter_is_seen(place: Place) -> None:
    place.program(place.first / "python3")
    before = place.look()
    site = place.first.parent / "lib/python3.12/site-packages"
    site.mkdir(parents=True)
    (site / "sitecustomize.py").write_text("x")
    assert len(differences(before, place.look())) == 1


@pytest.mark.parametrize("name", ["pytest.ini", "pyproject.toml", ".cargo/config.toml", "go.work"])
def test_configuration_above_the_workspace_is_seen_and_in_it_is_not(place: Place, name: str) -> None:
    before = place.look()
    (place.workspace / name).parent.mkdir(exist_ok=True)
    (place.workspace / name).write_text("x")
    assert differences(before, place.look()) == ()
    above = place.workspace.parents[1] / name
    above.parent.mkdir(exist_ok=True)
    above.write_text("x")
    assert differences(before, place.look()) == (f"{above} is new since the start",)


def test_changes_of_our_own_are_carried_over_and_others_are_not() -> None:
    start = {"a": "1", "b": "1", "c": "1"}
    before = {"a": "1", "b": "2", "c": "1"}
    after = {"a": "2", "b": "2", "d": "1"}
    kept = carried_over(start, before, after)
    assert kept == {"a": "2", "b": "1", "d": "1"}
    assert differences(kept, after) == ("b was changed since the start",)


def test_a_home_that_is_no_directory_is_passed_over() -> None:
    assert look({"PATH": ""}, [], []) == {}
    assert look({"PATH": "", "HOME": "relative"}, [], []) == {}
