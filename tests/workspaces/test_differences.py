"""git's raw and numstat output, read."""

from __future__ import annotations

from pi_batch.results import ChangedFile
from pi_batch.workspaces.differences import parse_changed_files

ZERO = b"0" * 40


def raw(letter: bytes, *paths: bytes) -> bytes:
    return b":100644 100644 %s %s %s\0" % (ZERO, ZERO, letter) + b"".join(path + b"\0" for path in paths)


def test_statuses_and_counts_are_joined_by_path() -> None:
    output = raw(b"M", b"b") + raw(b"A", b"a") + raw(b"D", b"c") + b"1\t2\tb\x003\t0\ta\x000\t4\tc\0"
    assert parse_changed_files(output, b"") == (
        ChangedFile("a", "added", 3, 0),
        ChangedFile("b", "modified", 1, 2),
        ChangedFile("c", "deleted", 0, 4),
    )


def test_a_rename_has_two_paths_in_both_parts() -> None:
    output = raw(b"R087", b"old", b"new") + raw(b"M", b"z") + b"5\t6\t\0old\0new\0" + b"-\t-\tz\0"
    assert parse_changed_files(output, b"") == (
        ChangedFile("new", "renamed", 5, 6, "old"),
        ChangedFile("z", "modified", None, None),
    )


def test_a_change_of_type_is_a_modification() -> None:
    assert parse_changed_files(raw(b"T", b"x") + b"1\t1\tx\0", b"")[0].status == "modified"


def test_names_that_look_like_records_are_names() -> None:
    names = [b":100644 x", b"1\t2\tx", b"a\tb", b"new\nline"]
    output = b"".join(raw(b"A", name) for name in names) + b"".join(b"1\t0\t%s\0" % name for name in names)
    assert [file.path for file in parse_changed_files(output, b"")] == sorted(name.decode() for name in names)


def test_paths_are_as_seen_from_the_workspace() -> None:
    output = raw(b"R100", b"x/old", b"sub/new") + b"0\t0\t\0x/old\0sub/new\0"
    (file,) = parse_changed_files(output, b"sub/")
    assert (file.path, file.old_path) == ("new", "../x/old")


def test_no_output_is_no_change() -> None:
    assert parse_changed_files(b"", b"") == ()
