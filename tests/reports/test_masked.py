"""Secret values leave a batch before anything is cut or encoded."""

from __future__ import annotations

from msgspec.structs import replace

from pi_batch.redact import Masker
from pi_batch.reports.json import Json
from pi_batch.reports.masked import BatchMask, masked
from tests.reports.batches import hostile, one_of_everything

SECRET = "hunter2-hunter2"


def test_every_text_is_masked_wherever_it_stands() -> None:
    batch = masked(hostile(f"a {SECRET} b"), Masker([SECRET]))
    assert SECRET not in Json().render(batch)
    assert batch.results[0].structured_output == {"a *** b": ["a *** b"]}
    assert batch.results[0].changed_files[0].old_path == "a *** b"


def test_our_own_words_are_left_alone() -> None:
    batch = one_of_everything()
    hidden = masked(batch, Masker(["interrupted", "max_turns", "completed"]))
    assert hidden.status == batch.status
    assert [result.stop for result in hidden.results] == [result.stop for result in batch.results]


def test_without_secrets_the_batch_is_the_same_object() -> None:
    batch = one_of_everything()
    assert masked(batch, None) is batch
    assert masked(batch, Masker([])) is batch


def test_numbers_and_flags_stay() -> None:
    batch = one_of_everything()
    assert masked(batch, Masker([SECRET])) == batch
    assert masked(replace(batch, exit_code=12345678), Masker(["12345678"])).exit_code == 12345678


def test_a_batch_shown_again_keeps_what_did_not_change() -> None:
    mask = Masker([SECRET])
    again, batch = BatchMask(mask), hostile(f"a {SECRET} b")
    before = again(batch)
    assert before == masked(batch, mask)
    first = replace(batch.results[0], reason=f"now {SECRET}")
    after = again(replace(batch, results=(first, *batch.results[1:]), warnings=(SECRET,)))
    assert after.results[0].reason == "now ***"
    assert after.warnings == ("***",)
    assert all(new is old for new, old in zip(after.results[1:], before.results[1:], strict=True))
    assert all(new is old for new, old in zip(after.planned, before.planned, strict=True))


def test_without_secrets_the_batch_shown_again_is_the_same_object() -> None:
    batch = one_of_everything()
    assert BatchMask(None)(batch) is batch
    assert BatchMask(Masker([]))(batch) is batch
