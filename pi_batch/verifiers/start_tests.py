"""A check that was red at the start cannot be turned green by changing the start's own test files.

Where such files were changed and nobody protected them, the check is run once more with them as they were
at the start: what failed there must pass now, with the same tests. Tests that passed at the start may fail
in that run: work that changes behaviour changes their assertions. Where a runner does not name its tests,
the whole check must pass.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from pi_batch.harness import is_lifted
from pi_batch.protocols import Changes, Judgement, TestEvidence
from pi_batch.results import ChangedFile
from pi_batch.runners import is_test_file, is_test_path, unseen_test_runs
from pi_batch.verifiers.comparison import base_name, file_of, is_changed, is_named, listed, own_name

MAX_FILES = 3
"""Named in one message."""


class Edited(Struct, frozen=True):
    """The start's test files that were changed."""

    files: tuple[str, ...]
    """By their paths at the start."""
    put_back: tuple[str, ...]
    """What has to be as at the start for them to run: also where they were moved to, and new test files
    that cannot stand beside them."""


def edited_tests(
    changes: Changes, restored: Collection[str], protect: Sequence[str], start: Sequence[TestEvidence] = ()
) -> Edited:
    """The start's test files that were changed, moved or deleted where the check ran.

    Those that were put back anyway, or that a negated glob gives to the agent, are not among them.
    """
    collected = {file_of(name) for one in start if one.is_report for name in one.executed_names}

    def is_tests(path: str) -> bool:
        return is_test_file(path) or (
            is_test_path(path) and any(path == name or path.endswith(f"/{name}") for name in collected)
        )

    files, moved_to = [], []
    for file in changes.files:
        before = file.old_path or file.path
        if file.status == "added" or before in restored or before.startswith("../"):
            continue
        if is_tests(before) and not is_lifted(before, protect):
            files.append(before)
            moved_to += [file.path] if file.path != before and not file.path.startswith("../") else []
    in_the_way = [file.path for file in changes.files if _is_in_the_way(file, files)]
    return Edited(tuple(files), tuple(dict.fromkeys((*files, *moved_to, *in_the_way))))


def _is_in_the_way(file: ChangedFile, files: Collection[str]) -> bool:
    """True for a new test file that could not be loaded beside one of the start's.

    pytest may take two files of one name for one module; a package of Go declares every name once.
    """
    if file.status != "added" or not is_test_file(file.path) or file.path.startswith("../"):
        return False
    directory, name = posixpath.split(file.path)
    return any(
        name == posixpath.basename(path)
        or (name.endswith("_test.go") and directory == posixpath.dirname(path))
        for path in files
    )


def unmet(
    command: str,
    now: Sequence[TestEvidence],
    start: Sequence[TestEvidence],
    there: Judgement,
    edited: Edited,
) -> str:
    """Why the start's tests do not hold, as `there` shows, in one line; empty when they do."""
    now_of, start_of, there_of = ({one.runner: one for one in seen} for seen in (now, start, there.evidence))
    if not _is_known(command, now_of, start_of):
        passed = there.result.passed and not any(one.failed for one in there.evidence)
        how = there.result.message or "counts failed tests"
        return "" if passed else _message(edited.files, f"the check fails ({how})")
    for runner, after in now_of.items():
        before = start_of.get(runner, TestEvidence(runner, 0, 0))
        again = there_of.get(runner)
        if again is None or not (again.executed_names or again.broken):
            if before.failed_names or before.broken or runner not in start_of:
                how = there.result.message or "exit code 0"
                return _message(edited.files, f"{runner} runs none of the tests ({how})")
            continue
        names, what = _first_lost(_Seen(before, after, again), edited)
        if names:
            files = [
                path for path in edited.files if any(is_changed(file_of(name), [path]) for name in names)
            ]
            return _message(files or edited.files, f"{listed(names)} {what}")
    return ""


def _is_known(command: str, now: Mapping[str, TestEvidence], start: Mapping[str, TestEvidence]) -> bool:
    """True when every test that decided at the start, and every one that decides now, has a name."""
    return (
        bool(start)
        and not unseen_test_runs(command, now)
        and all(runner in now and is_named(before, now[runner]) for runner, before in start.items())
        and all(one.executed_names for one in now.values())
    )


class _Seen(Struct, frozen=True):
    """One runner's tests at the start, with the work, and with the work and the start's tests."""

    before: TestEvidence
    after: TestEvidence
    again: TestEvidence


def _first_lost(seen: _Seen, edited: Edited) -> tuple[list[str], str]:
    """Tests that were not seen to pass at the start and do not pass again, and what becomes of them."""
    failing = _failing(seen, edited)
    if failing:
        return failing, "fails" if len(failing) == 1 else "fail"
    unloaded = _unloaded(seen, edited)
    if unloaded:
        return unloaded, "cannot be loaded"
    absent = _absent(seen, edited)
    return absent, "does not run" if len(absent) == 1 else "do not run"


def _failing(seen: _Seen, edited: Edited) -> list[str]:
    before = seen.before
    failed_before = set(before.failed_names)
    was_fine = {base_name(name) for name in (*before.executed_names, *before.skipped_names)}
    was_fine -= {base_name(name) for name in failed_before}
    passed_exactly = {*before.executed_names, *before.skipped_names} - failed_before
    return [
        name
        for name in seen.again.failed_names
        if name not in passed_exactly
        and name not in seen.after.failed_names
        and (name in failed_before or base_name(name) not in was_fine)
        and (name in failed_before or not before.is_report or is_changed(file_of(name), edited.files))
    ]


def _unloaded(seen: _Seen, edited: Edited) -> list[str]:
    loaded_before = {file_of(name) for name in (*seen.before.executed_names, *seen.before.skipped_names)}
    failed_before = {file_of(name) for name in seen.before.failed_names}
    return [
        path
        for path in seen.again.broken
        if path not in seen.after.broken
        and (
            path in seen.before.broken
            or path in failed_before
            or (path not in loaded_before and is_changed(path, edited.files))
        )
    ]


def _absent(seen: _Seen, edited: Edited) -> list[str]:
    """Tests that failed at the start, pass now, and do not run with the start's version.

    Parameters may come from the source, so that any case of a test stands for it.
    """
    now = {own_name(name) for name in seen.after.executed_names}
    again = {base_name(name) for name in seen.again.executed_names}
    again_own = {own_name(name) for name in seen.again.executed_names}
    return [
        name
        for name in seen.before.failed_names
        if own_name(name) in now
        and name not in seen.after.failed_names
        and base_name(name) not in again
        and (is_changed(file_of(name), edited.files) or own_name(name) not in again_own)
    ]


def _message(files: Sequence[str], what: str) -> str:
    more = f" and {len(files) - MAX_FILES} more" if len(files) > MAX_FILES else ""
    one = len(files) == 1
    directory = posixpath.dirname(files[0])
    glob = f"!{directory}/**" if directory else f"!{files[0]}"
    return (
        f"{', '.join(files[:MAX_FILES])}{more} {'was' if one else 'were'} changed: with the start's"
        f" version{'' if one else 's'} {what} (protect: [{glob!r}] lifts this)"
    )
