"""What of a machine is shown: tools with what they need, nobody's data."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from pi_batch.sandboxes import visible


def program(path: Path) -> Path:
    """Something that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="ascii")
    path.chmod(0o755)
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    real = tmp_path.resolve() / "home"
    real.mkdir()
    return real


def shown(search_path: str, home: Path) -> list[str]:
    """Tool chains below a home."""
    found = visible.tool_chains(search_path, str(home))
    return [os.path.relpath(path, home) for path in found if Path(path).is_relative_to(home)]


def test_an_installation_is_shown_with_its_libraries_and_nothing_else_of_its_place(home: Path) -> None:
    program(home / "tools/node/bin/node")
    for name in ("lib/x", "include/x", "secrets/key", ".env"):
        program(home / "tools/node" / name)
    assert shown(f"{home}/tools/node/bin", home) == ["tools/node/bin", "tools/node/include", "tools/node/lib"]


def test_a_virtual_environment_is_shown_whole_with_the_python_that_it_leads_to(home: Path) -> None:
    python = program(home / "elsewhere/py/bin/python3")
    (home / "elsewhere/py/lib").mkdir()
    (home / "project/.venv/bin").mkdir(parents=True)
    (home / "project/.venv/pyvenv.cfg").write_text("", encoding="ascii")
    (home / "project/.venv/bin/python").symlink_to(python)
    (home / "project/.env").write_text("KEY=1", encoding="ascii")
    assert shown(f"{home}/project/.venv/bin", home) == [
        "elsewhere/py/bin",
        "elsewhere/py/lib",
        "project/.venv",
    ]


def test_version_managers_are_shown_and_their_credentials_are_not(home: Path) -> None:
    program(home / ".cargo/bin/cargo")
    program(home / ".cargo/credentials.toml")
    program(home / ".pyenv/shims/python")
    program(home / ".local/bin/tool")
    program(home / ".local/share/keyrings/login")
    (home / ".local/lib").mkdir()
    assert shown(f"{home}/.cargo/bin:{home}/.local/bin", home) == [
        ".cargo/bin",
        ".local/bin",
        ".local/lib",
        ".pyenv",
    ]


def test_directories_of_programs_directly_in_a_home_or_a_project_are_shown_alone(home: Path) -> None:
    program(home / "bin/mine")
    program(home / "lib/private")
    program(home / "project/node_modules/.bin/tool")
    assert shown(f"{home}/bin:{home}/project/node_modules/.bin:relative:", home) == [
        "bin",
        "project/node_modules/.bin",
    ]


def test_the_python_that_runs_this_and_the_package_are_shown() -> None:
    found = visible.tool_chains("/usr/bin", "")
    package = str(Path(visible.__file__).parents[1])
    for path in (package, os.path.realpath(sys.executable)):
        assert visible.is_shown(path) or any(visible.is_within(path, each) for each in found)


def test_names_that_begin_alike_are_not_within() -> None:
    assert visible.is_within("/a/b", "/a/b")
    assert visible.is_within("/a/b/c", "/a/b")
    assert not visible.is_within("/a/bc", "/a/b")
    assert visible.is_within("/a", "/")


def test_sockets_that_somebody_listens_on_are_found(tmp_path: Path) -> None:
    path = tmp_path / "some socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        assert visible.sockets_below((str(tmp_path),)) == (str(path),)
        assert visible.sockets_below((f"{tmp_path}/other",)) == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's files matter")
def test_what_others_may_not_read_in_etc_is_found() -> None:
    assert ("/etc/shadow", False) in visible.private_in_etc()
    assert "/etc/passwd" not in {path for path, _ in visible.private_in_etc()}


def test_every_copy_of_the_built_in_suites_is_found(tmp_path: Path) -> None:
    places = (
        "env/lib/python3.11/site-packages",
        "home/.local/share/pipx/venvs/x/lib/python3.12/site-packages",
    )
    for place in (*places, "env/bin", "env/lib/python3.11/site-packages/other"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "env/pyvenv.cfg").write_text("")
    (tmp_path / "env/lib64").symlink_to("lib")
    wanted = {str((tmp_path / place / "pi_batch/tasks").resolve()) for place in places}
    for path in wanted:
        Path(path).mkdir(parents=True)
    found = visible.copies_of_suites(f"{tmp_path}/env/bin", f"{tmp_path}/home")
    assert wanted <= set(found)
    assert len(set(found)) == len(found)
