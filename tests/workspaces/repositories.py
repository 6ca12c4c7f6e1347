"""Repositories and directories for the tests, and a git that no config of the machine touches."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

PLAIN = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C.UTF-8",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_DATE": "2024-05-01T12:00:00Z",
    "GIT_COMMITTER_DATE": "2024-05-01T12:00:00Z",
}


_TEMPLATE_DIR = tempfile.TemporaryDirectory(prefix="pi-batch-test-repositories-")
_TEMPLATES: dict[tuple[object, ...], Path] = {}


def git(directory: Path | str, *arguments: str, stdin: bytes | None = None) -> str:
    """Run git as a user would; its output without the last line feed."""
    return git_bytes(directory, *arguments, stdin=stdin).decode("utf-8", "surrogateescape").removesuffix("\n")


def git_bytes(directory: Path | str, *arguments: str, stdin: bytes | None = None) -> bytes:
    done = subprocess.run(
        ["git", *arguments], cwd=directory, env=PLAIN, input=stdin, capture_output=True, check=False
    )
    assert done.returncode == 0, (arguments, done.stderr.decode("utf-8", "replace"))
    return done.stdout


def shell(directory: Path | str, script: str, **variables: str) -> str:
    """Run a script as an agent would; its output."""
    done = subprocess.run(
        ["bash", "-ec", script],
        cwd=directory,
        env={**PLAIN, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "surrogateescape")


def write(directory: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)


def dig(top: Path, depth: int) -> None:
    """Directories in directories, further down than a path may be long, and a file at the bottom."""
    at = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deeper", dir_fd=at)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)


def make_repository(directory: Path, files: Mapping[str, str | bytes], *options: str) -> Path:
    """A repository on branch main with one commit of these files; made once, then copied."""
    key = (*sorted(files.items()), *options)
    if key not in _TEMPLATES:
        made = Path(_TEMPLATE_DIR.name, str(len(_TEMPLATES)))
        made.mkdir()
        git(made, "init", "-q", "-b", "main", "--template=", *options)
        with (made / ".git" / "config").open("a") as config:
            config.write("[user]\n\tname = tester\n\temail = tester@example.invalid\n[gc]\n\tauto = 0\n")
        write(made, files)
        commit(made, "first")
        _TEMPLATES[key] = made
    shutil.copytree(_TEMPLATES[key], directory, symlinks=True, dirs_exist_ok=True)
    return directory


def commit(directory: Path, message: str) -> None:
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "--allow-empty", "-m", message)


def state_of(directory: Path) -> dict[str, str]:
    """Everything in a directory, `.git` included: kind, mode, times, content."""
    found: dict[str, str] = {}
    for path in directory.rglob("*"):
        status = path.lstat()
        line = f"{stat.filemode(status.st_mode)} {status.st_mtime_ns}"
        if stat.S_ISLNK(status.st_mode):
            line += f" -> {path.readlink()}"
        elif stat.S_ISREG(status.st_mode):
            line += f" {hashlib.sha256(path.read_bytes()).hexdigest()}"
        found[str(path.relative_to(directory))] = line
    return found


def files_of(directory: Path | str, *, without_git: bool = True) -> dict[str, bytes]:
    """Contents by path; a link's target for a link."""
    top = Path(directory)
    found: dict[str, bytes] = {}
    for path in top.rglob("*"):
        name = str(path.relative_to(top))
        if without_git and (name == ".git" or name.startswith(".git/")):
            continue
        if path.is_symlink():
            found[name] = b"-> " + os.fsencode(path.readlink())
        elif path.is_file():
            found[name] = path.read_bytes()
    return found
