"""Locks hold every package by its hash; profiles say what the walls say."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest

from pi_batch.sandboxes.filters import AVOIDABLE, CLOSED

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("github-action/requirements.txt", "sandbox/requirements.txt")
PACKAGE = re.compile(r"^([a-zA-Z0-9._-]+)(\[[^\]]*\])?==(\S+)")


def packages(lock: str) -> dict[str, list[str]]:
    """Each package of a lock, with its hashes."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in (ROOT / lock).read_text(encoding="utf-8").split("\n"):
        if (match := PACKAGE.match(line)) is not None:
            name = match[1].lower().replace("_", "-")
            found[name] = []
        elif line and not line.startswith(("#", " ")):
            found[line] = []  # not pinned: has no hash, and fails below
        found.setdefault(name, []).extend(re.findall(r"--hash=sha256:[0-9a-f]{64}", line))
    found.pop("", None)
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_of_a_lock_is_held_by_its_hash(lock: str) -> None:
    found = packages(lock)
    assert len(found) > 3
    assert [name for name, hashes in found.items() if not hashes] == []


def test_the_actions_lock_has_everything_that_the_package_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[^\w.-]", name)[0].lower() for name in project["dependencies"]}
    assert needed - packages(LOCKS[0]).keys() == set()


def test_the_images_lock_is_installed_by_its_hashes_alone() -> None:
    text = (ROOT / "sandbox/Dockerfile").read_text(encoding="utf-8")
    installs = [line for line in text.split("\n") if "pip install" in line]
    assert installs
    assert all("--require-hashes" in line for line in installs)
    assert "curl" not in text


def test_the_profiles_are_what_the_walls_say() -> None:
    """If not: python scripts/profiles.py."""
    made = runpy.run_path(str(ROOT / "scripts/profiles.py"))["files"]()
    for name, content in made.items():
        assert (ROOT / "sandbox" / name).read_text(encoding="utf-8") == content, name
    refused = {
        name
        for rule in json.loads(made["seccomp.json"])["syscalls"]
        if "args" not in rule
        for name in rule["names"]
    }
    assert refused == {*CLOSED, *AVOIDABLE}
