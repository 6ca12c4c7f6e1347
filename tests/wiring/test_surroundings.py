"""What the process was given."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from pi_batch.errors import UsageError
from pi_batch.wiring.surroundings import (
    MAX_SECRET_BYTES,
    Surroundings,
    SystemClock,
    is_terminal,
    utf8_streams,
)


def around(**environ: str) -> Surroundings:
    """Surroundings with these variables."""
    return Surroundings(Path("/w"), environ)


def test_empty_variables_count_as_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOME_TOKEN", "")
    monkeypatch.setenv("OTHER", "x")
    found = Surroundings.of_process()
    assert found.cwd == tmp_path
    assert "SOME_TOKEN" not in found.environ
    assert found.environ["OTHER"] == "x"


def test_a_current_directory_that_is_gone_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="the current directory is gone"):
        Surroundings.of_process()


def test_what_is_kept_of_the_environment_is_not_printed() -> None:
    assert "hunter2" not in repr(around(DB_PASSWORD="hunter2-hunter2"))


@pytest.mark.parametrize(
    ("environ", "is_actions", "is_ci"),
    [
        ({}, False, False),
        ({"CI": "1"}, False, True),
        ({"TF_BUILD": "True"}, False, True),
        ({"TEAMCITY_VERSION": "2026.1"}, False, True),
        ({"JENKINS_URL": "https://ci.example/"}, False, True),
        ({"GITHUB_ACTIONS": "true"}, True, True),
        ({"GITHUB_ACTIONS": "false"}, False, False),
    ],
)
def test_a_ci_is_known_by_its_variables(environ: dict[str, str], is_actions: bool, is_ci: bool) -> None:
    found = around(**environ)
    assert (found.is_github_actions, found.is_ci) == (is_actions, is_ci)


@pytest.mark.parametrize(
    ("environ", "has_color"),
    [
        ({}, (True, False)),
        ({"TERM": "xterm"}, (True, False)),
        ({"TERM": "dumb"}, (False, False)),
        ({"NO_COLOR": "0"}, (False, False)),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, (False, False)),
        ({"FORCE_COLOR": "1"}, (True, True)),
        ({"FORCE_COLOR": "3", "TERM": "dumb"}, (True, True)),
        ({"FORCE_COLOR": "0"}, (False, False)),
        ({"FORCE_COLOR": "false"}, (False, False)),
    ],
)
def test_colour_is_for_terminals_unless_variables_say_otherwise(
    environ: dict[str, str], has_color: tuple[bool, bool]
) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    found = around(**environ)
    assert (found.has_color(Terminal()), found.has_color(io.StringIO())) == has_color


def test_home_may_be_missing() -> None:
    assert around().home is None
    assert around(HOME="/h").home == Path("/h")


def test_the_masker_knows_the_usual_names_and_those_that_were_named() -> None:
    found = around(API_TOKEN="usual-secret-1", PLAIN="named-secret-2", OTHER="ordinary-value")
    text = "usual-secret-1 named-secret-2 ordinary-value"
    assert found.masker(()).mask(text) == "*** named-secret-2 ordinary-value"
    assert found.masker(("PLAIN",)).mask(text) == "*** *** ordinary-value"


def test_a_files_content_is_hidden_as_a_whole_and_by_line(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("first-line-1\nsecond-line-2\n", encoding="ascii")
    mask = Surroundings(tmp_path, {}).masker(("@key.pem",))
    assert mask.mask("a second-line-2 b; first-line-1") == "a *** b; ***"
    (tmp_path / "large").write_bytes(b"x" * (MAX_SECRET_BYTES + 1))
    for name, why in (
        ("@absent", "cannot be read"),
        ("@large", "more than 65,536 bytes"),
        ("@.", "cannot be read"),
    ):
        with pytest.raises(UsageError, match=f"--secret {name}: {why}"):
            Surroundings(tmp_path, {}).masker((name,))


def test_a_secret_that_is_not_set_is_said_by_its_name() -> None:
    with pytest.raises(UsageError, match="--secret MISSING: no such environment variable"):
        around().masker(("MISSING",))


def test_streams_take_any_text_whatever_the_locale_says(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="ascii") for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    utf8_streams()
    for stream in streams.values():
        stream.write("☃ \udce9")
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        assert buffer.getvalue() == "☃ \\udce9".encode()


def test_streams_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    utf8_streams()
    assert not is_terminal(None)


@pytest.mark.skipif(
    not Path("/dev/ptmx").exists() or not os.path.ismount("/dev/pts"), reason="no terminals here"
)
def test_a_terminal_is_told_from_a_file() -> None:
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        assert is_terminal(terminal)
    os.close(master)
    assert not is_terminal(io.StringIO())


def test_the_clock_never_goes_back() -> None:
    clock = SystemClock()
    assert clock.monotonic() <= clock.monotonic()
    assert clock.time() > 1_700_000_000
