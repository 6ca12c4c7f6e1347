"""Writes git's index file: names, modes and ids, and nothing known of the files on disk.

By hand, because it is asked for once a task and starting git for it costs more than all the rest of it.

Source: gitformat-index(5), version 2.
"""

from __future__ import annotations

import hashlib
import struct

from pi_batch.workspaces.reading import Entries

_HEADER = struct.Struct(">4sLL")
_KNOWN = struct.Struct(">24xL12x")
"""Times, device, inode, mode, owner and size; zeros say that the file was never looked at."""
_MAX_NAME = 0xFFF
"""The longest name whose length an entry says."""


def index_of(entries: Entries, object_format: str) -> bytes:
    """The index that `git read-tree` writes for a tree of these entries, without extensions."""
    parts = [_HEADER.pack(b"DIRC", 2, len(entries))]
    for path, entry in sorted(entries.items()):
        size = min(len(path), _MAX_NAME)
        record = b"%b%b%b%b" % (
            _KNOWN.pack(int(entry.mode, 8)),
            bytes.fromhex(entry.oid),
            size.to_bytes(2, "big"),
            path,
        )
        parts.append(record + b"\0" * (8 - len(record) % 8))
    content = b"".join(parts)
    return content + hashlib.new(object_format, content, usedforsecurity=False).digest()
