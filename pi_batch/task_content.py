"""What a benchmark task is made of, file by file, and one digest of it: the same on every machine.

Line endings, file modes and the order that a disk lists names in do not count, nor does what tools leave
behind. The reference solution does not either: it changes neither what a model gets nor how it is judged.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

BY_PRODUCTS = frozenset({"__pycache__", ".git", ".pi-batch", ".DS_Store", ".pytest_cache", ".mypy_cache"})
"""Names that are nobody's work."""

Content = Mapping[str, bytes]
"""Path with forward slashes -> bytes."""


def read_tree(top: Path) -> Content:
    """Every file of a directory by its path from there; a file by its own name. Raises: OSError."""
    if not top.is_dir():
        return {top.name: top.read_bytes()}
    return {path.relative_to(top).as_posix(): _bytes_of(path) for path in sorted(_files(top))}


def read_parts(parts: Iterable[Path]) -> Content:
    """Files and directories under their own last names, as they stand beside each other. Raises: OSError."""
    found: dict[str, bytes] = {}
    for part in parts:
        prefix = f"{part.name}/" if part.is_dir() else ""
        found.update({f"{prefix}{name}": content for name, content in read_tree(part).items()})
    return found


def content_digest(content: Content) -> str:
    """SHA-256, in hex, over names and contents; text counts with LF however its lines end."""
    total = hashlib.sha256()
    for name in sorted(content):
        body = content[name]
        if b"\0" not in body:
            body = body.replace(b"\r\n", b"\n")
        total.update(f"{name}\0{len(body)}\0".encode())
        total.update(body)
    return total.hexdigest()


def task_digest(spec_file: Path, workspace: Path, hidden: Iterable[Path]) -> str:
    """The digest of what a model is given and judged by. Raises: OSError."""
    content = {"task.yaml": spec_file.read_bytes()}
    content |= {f"workspace/{name}": body for name, body in read_tree(workspace).items()}
    content |= {f"hidden/{name}": body for name, body in read_parts(hidden).items()}
    return content_digest(content)


def _files(top: Path) -> Iterator[Path]:
    for directory, names, files in os.walk(top):
        links = [name for name in names if Path(directory, name).is_symlink()]
        names[:] = [name for name in names if name not in BY_PRODUCTS and name not in links]
        for name in (*files, *links):
            if name not in BY_PRODUCTS and not name.endswith(".pyc"):
                yield Path(directory, name)


def _bytes_of(path: Path) -> bytes:
    """A file's content; of a link where it leads, which is all that it holds."""
    return f"-> {path.readlink()}".encode() if path.is_symlink() else path.read_bytes()
