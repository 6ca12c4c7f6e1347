"""outputs/ holds what was cut, masked, up to a cap."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import LogWriteError
from pi_batch.outputs import MaskedOutput
from pi_batch.redact import Masker

SECRET = "hunter2-hunter2"


def make(path: Path, cap_bytes: int = 10_000) -> MaskedOutput:
    return MaskedOutput(path, Masker([SECRET]).stream(), cap_bytes)


def test_nothing_is_made_before_something_is_written(tmp_path: Path) -> None:
    output = make(tmp_path / "outputs" / "c1.txt")
    output.write(b"")
    output.close()
    output.close()
    assert not (tmp_path / "outputs").exists()


def test_pieces_add_up(tmp_path: Path) -> None:
    output = make(tmp_path / "outputs" / "c1.txt")
    for piece in (b"one ", b"two ", b"three\n"):
        output.write(piece)
    output.close()
    assert Path(output.path).read_bytes() == b"one two three\n"


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_secrets_are_masked_across_the_borders_of_pieces(tmp_path: Path, size: int) -> None:
    output = make(tmp_path / "c1.txt")
    data = f"key={SECRET}; again {SECRET}\n".encode()
    for start in range(0, len(data), size):
        output.write(data[start : start + size])
    output.close()
    content = Path(output.path).read_text()
    assert SECRET not in content
    assert content.startswith("key=")
    assert content.endswith("\n")


def test_beyond_the_cap_the_rest_is_counted_and_dropped(tmp_path: Path) -> None:
    output = make(tmp_path / "c1.txt", cap_bytes=10)
    for _ in range(1_000):
        output.write(b"0123456789")
    output.close()
    assert Path(output.path).read_text() == "0123456789\n[9990 more bytes were not kept]\n"


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("in the way")
    output = make(tmp_path / "outputs" / "c1.txt")
    with pytest.raises(LogWriteError, match=r"outputs.*: cannot be written"):
        output.write(b"x" * 100)


def test_a_full_disk_is_said_at_the_latest_when_it_closes(tmp_path: Path) -> None:
    (tmp_path / "c1.txt").symlink_to("/dev/full")
    output = make(tmp_path / "c1.txt")
    output.write(b"x" * 100)
    with pytest.raises(LogWriteError, match="No space left"):
        output.close()
