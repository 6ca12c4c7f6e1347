"""Tests of keeping a bounded, masked, readable output."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.errors import LogWriteError
from pi_batch.redact import Masker
from pi_batch.verifiers.output import CUT_CHARS, Output, write_log


def fed(data: bytes, chunk: int = 1000, head_bytes: int = 20_000, tail_bytes: int = 40_000) -> Output:
    output = Output(head_bytes, tail_bytes)
    for at in range(0, len(data), chunk):
        output.feed(data[at : at + chunk])
    return output


def test_a_short_output_is_kept_whole_and_made_readable() -> None:
    output = fed(b"bad \x1b[31m\x1b[0m \x00 50%\r100%\r\nend \xff\n")
    assert output.render(lambda text: text) == "100%\nend \ufffd\n"


def test_the_first_and_the_last_bytes_of_a_long_output_are_kept_and_the_cut_is_said() -> None:
    data = b"".join(b"line %07d\n" % number for number in range(20_000))
    text = fed(data).render(lambda text: text)
    assert text.startswith("line 0000000\n")
    assert text.endswith("line 0019999\n")
    assert "bytes of output are not kept]" in text
    assert len(text) < 62_000


def test_memory_is_bounded_whatever_the_chunks() -> None:
    output = Output(1000, 2000)
    for _ in range(1000):
        output.feed(b"x" * 700)
    assert output.total_bytes == 700_000
    assert 700_000 - 1000 - 2000 - 700 <= output.dropped_bytes <= 700_000 - 3000


def test_a_secret_is_masked_also_at_a_cut() -> None:
    secret = "hunter2-and-more-of-it"
    line = secret.encode() * 10_000
    text = fed(line).render(Masker([secret]).mask)
    assert secret not in text
    assert "hunter2" not in text
    assert "and-more" not in text


def test_colour_codes_inside_a_secret_do_not_save_it_from_the_mask() -> None:
    assert fed(b"hunter2-\x1b[1mand-more\n").render(Masker(["hunter2-and-more"]).mask) == "***\n"


@given(st.binary(max_size=500), st.integers(1, 50), st.integers(1, 60), st.integers(1, 60))
def test_what_is_kept_and_what_is_dropped_is_the_whole(data: bytes, chunk: int, head: int, tail: int) -> None:
    output = fed(data, chunk, head, tail)
    assert output.total_bytes == len(data)
    assert 0 <= output.dropped_bytes <= max(0, len(data) - head - tail + chunk)
    output.render(lambda text: text)


def test_the_end_is_searched_in_the_last_bytes_only() -> None:
    output = fed(b"early" + b"x" * 1000 + b"late\n")
    assert output.ends_with(b"late", 100)
    assert not output.ends_with(b"early", 100)


def test_a_log_is_written_with_its_directory(tmp_path: Path) -> None:
    write_log(tmp_path / "a" / "b.log", "text \ud800\n")
    assert (tmp_path / "a" / "b.log").read_text() == "text ?\n"


def test_a_log_that_cannot_be_written_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LogWriteError, match="cannot be written"):
        write_log(tmp_path / "file" / "x.log", "")


def test_the_cut_takes_more_than_a_long_secret() -> None:
    assert CUT_CHARS >= 8 * 1024
