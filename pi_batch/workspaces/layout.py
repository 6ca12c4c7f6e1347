"""Repository directories of our own: made by hand, so that no template, hook or default gets in.

A shadow (bare, private) and the agent's `.git` have the same files but for `config`.
Source: gitrepository-layout(5).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces.boundary import Checkpoint
from pi_batch.workspaces.objects import copy_file, gather_objects

_RAW = "-text !eol !crlf -ident !filter !working-tree-encoding"
"""Files are their bytes: no line ending, keyword, filter or encoding is converted, whatever .gitattributes
asks for. In the agent's repository too, as its git would otherwise call files of the start modified."""
_SHADOW_ATTRIBUTES = f"* {_RAW} !diff !whitespace\n"
"""!diff: text or binary is judged by content; an agent's `*.py binary` cannot make its patch unreadable."""
_AGENT_ATTRIBUTES = f"* {_RAW}\n"

_AGENT_CONFIG = """\
[user]
\tname = pi-batch
\temail = pi-batch@localhost
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[credential]
\thelper =
"""
"""What an agent's own commit needs when nobody is there, above what the user's own config says."""


class Heads(Struct, frozen=True):
    """What a repository points at."""

    head: str
    """A commit, or `ref: refs/heads/NAME`."""
    refs: Mapping[bytes, str] = field(default_factory=dict)
    symbolic: Mapping[bytes, bytes] = field(default_factory=dict)
    """Refs that name another: refs/remotes/origin/HEAD."""
    shallow: bytes = b""
    """Where the history is cut off."""
    exclude: bytes = b""
    """The checkout's private ignore rules."""


def repository_of(top: Path) -> Path:
    """The repository directory of a work tree: its `.git`, or what a `.git` file names.

    Raises: WorkspaceError when the file names nothing.
    """
    dot_git = top / ".git"
    if dot_git.is_dir():
        return dot_git.resolve()
    try:
        content = dot_git.read_bytes()
    except OSError as error:
        raise WorkspaceError(f"{dot_git}: {error.strerror}") from error
    target = Path(top, os.fsdecode(content.removeprefix(b"gitdir:").strip()))
    if not content.startswith(b"gitdir:") or not target.is_dir():
        raise WorkspaceError(f"{dot_git}: names no repository: {os.fsdecode(content.strip())!r}")
    return target.resolve()


def common_directory(git_dir: Path) -> Path:
    """Where a repository keeps objects and refs: elsewhere for a linked work tree."""
    try:
        content = (git_dir / "commondir").read_bytes()
    except FileNotFoundError:
        return git_dir
    return Path(git_dir, os.fsdecode(content.strip())).resolve()


def write_shadow(git_dir: Path, object_format: str, heads: Heads) -> None:
    """Make a bare repository without objects. Raises: OSError."""
    for directory in ("objects", "refs", "info"):  # what git asks for; the rest comes when it is needed
        (git_dir / directory).mkdir(parents=True)
    (git_dir / "config").write_text(_core_config(object_format, is_bare=True), encoding="ascii")
    (git_dir / "info" / "attributes").write_text(_SHADOW_ATTRIBUTES, encoding="ascii")
    (git_dir / "info" / "exclude").write_bytes(heads.exclude)
    if heads.shallow:
        (git_dir / "shallow").write_bytes(heads.shallow)
    write_heads(git_dir, heads)


def write_heads(git_dir: Path, heads: Heads) -> None:
    """Write HEAD and all refs. Raises: OSError."""
    lines = [oid.encode("ascii") + b" " + name + b"\n" for name, oid in sorted(heads.refs.items())]
    (git_dir / "packed-refs").write_bytes(b"".join(lines))
    (git_dir / "HEAD").write_text(heads.head + "\n", encoding="utf-8", errors="surrogateescape")
    for name, target in heads.symbolic.items():
        file = git_dir / os.fsdecode(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"ref: " + target + b"\n")


def copy_repository(shadow: Path, git_dir: Path, object_format: str, checkpoint: Checkpoint) -> None:
    """Make an agent's repository out of a shadow: same objects, refs and rules; copies, never links.

    There is no remote: a push from here reaches nobody. Raises: OSError.
    """
    for directory in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        (git_dir / directory).mkdir(parents=True)
    config = _core_config(object_format, is_bare=False) + _AGENT_CONFIG
    (git_dir / "config").write_text(config, encoding="ascii")
    (git_dir / "info" / "attributes").write_text(_AGENT_ATTRIBUTES, encoding="ascii")
    gather_objects((shadow / "objects",), git_dir / "objects", copy_file, checkpoint)
    files = ["HEAD", "packed-refs", "shallow", "info/exclude"]
    files += [str(file.relative_to(shadow)) for file in (shadow / "refs").rglob("*") if file.is_file()]
    for name in files:
        if (shadow / name).exists():
            (git_dir / name).parent.mkdir(parents=True, exist_ok=True)
            copy_file(shadow / name, git_dir / name)


def _core_config(object_format: str, *, is_bare: bool) -> str:
    version = 0 if object_format == "sha1" else 1
    extensions = "" if version == 0 else f"[extensions]\n\tobjectFormat = {object_format}\n"
    return (
        "[core]\n"
        f"\trepositoryFormatVersion = {version}\n"
        f"\tbare = {str(is_bare).lower()}\n"
        "\tfileMode = true\n\tautocrlf = false\n\tfsmonitor = false\n"
        f"\tlogAllRefUpdates = {str(not is_bare).lower()}\n"
        f"{extensions}"
    )
