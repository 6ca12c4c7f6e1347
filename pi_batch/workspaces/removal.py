"""Removes a tree that an agent had in its hands: read-only directories, any depth, links never followed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path


def remove_trees(paths: Iterable[Path]) -> None:
    """Remove several. Raises: OSError."""
    for path in paths:
        remove_tree(path)


def remove_tree(path: Path) -> None:
    """Remove a file, link or directory with all that is in it; nothing there is fine.

    Raises: OSError when something is left.
    """
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        if not path.exists():
            return
    except (OSError, RecursionError):
        pass
    else:
        return
    # What is left has directories without write permission (a Go module cache), is deeper than Python
    # recurses or than a path may be long, or something was still writing into it.
    _make_writable(path)
    subprocess.run(["rm", "-rf", "--", str(path)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if path.exists():
        shutil.rmtree(path)


def _make_writable(top: Path) -> None:
    """Give directories back to their owner. Files are left alone: removing one needs none of its bits."""
    waiting = [os.fsencode(top)]
    while waiting:
        directory = waiting.pop()
        with contextlib.suppress(OSError):
            os.chmod(directory, 0o700)  # noqa: PTH101 bytes
            with os.scandir(directory) as entries:
                waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
