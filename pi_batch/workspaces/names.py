"""Names of files: which never count as new, which git cannot hold, how they look in a report.

Names are bytes here: relative to a top, with slashes, any byte but NUL.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator

BY_PRODUCTS = (
    "__pycache__/",
    "*.pyc",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".tox/",
    ".nox/",
    "node_modules/",
    ".venv/",
    "venv/",
    "*.egg-info/",
    ".pi-batch/",
    ".DS_Store",
    ".coverage",
)
"""Ignore patterns for files that are in no commit."""

_VENV_MARK = b"pyvenv.cfg"
_BY_PRODUCT_DIRECTORIES = frozenset(p[:-1].encode() for p in BY_PRODUCTS if p[-1] == "/" and p[0] != "*")
_BY_PRODUCT_NAMES = frozenset(p.encode() for p in BY_PRODUCTS if p[-1] != "/" and p[0] != "*")


def is_by_product(path: bytes) -> bool:
    """Whether the path of a file matches `BY_PRODUCTS`."""
    parts = path.split(b"/")
    return any(part in _BY_PRODUCT_NAMES or part.endswith(b".pyc") for part in parts) or any(
        part in _BY_PRODUCT_DIRECTORIES or part.endswith(b".egg-info") for part in parts[:-1]
    )


def environments_of(paths: Iterable[bytes]) -> frozenset[bytes]:
    """Directories that are virtual environments, whatever their name, each with a slash at its end.

    They too are by-products: what setup makes, and good for nothing in another place.
    """
    return frozenset(path[: -len(_VENV_MARK)] for path in paths if path.endswith(b"/" + _VENV_MARK))


def directories_of(path: bytes) -> Iterator[bytes]:
    """The directories that a path lies in, outermost first, each with a slash at its end."""
    end = path.find(b"/")
    while end >= 0:
        yield path[: end + 1]
        end = path.find(b"/", end + 1)


def without_environments(paths: Collection[bytes]) -> list[bytes]:
    """Paths of new files, without those of virtual environments among them."""
    environments = environments_of(paths)
    return [path for path in paths if not environments or environments.isdisjoint(directories_of(path))]


def is_storable(path: bytes) -> bool:
    """Whether git takes this path into a tree: no `.git` in it, nor what other disks take for one."""
    return not any(_is_dot_git(part) for part in path.lower().split(b"/"))


def _is_dot_git(part: bytes) -> bool:
    return part.split(b":")[0].rstrip(b" .") in {b".git", b"git~1"}


def shown(names: Iterable[bytes], limit: int = 3) -> str:
    """A few names for a message."""
    some = [repr(display(name)) for name in names]
    more = len(some) - limit
    return ", ".join(some[:limit]) + (f" and {more} more" if more > 0 else "")


def display(path: bytes) -> str:
    r"""A path for reports: UTF-8 as it is, any other byte as `\xNN`, so that distinct names stay so."""
    return path.decode("utf-8", "backslashreplace")


def relative_to_workspace(path: bytes, prefix: bytes) -> bytes:
    """A path from the repository's root as seen from the workspace: `../x` for what lies beside it."""
    return posixpath.relpath(b"/" + path, b"/" + prefix) if prefix else path
