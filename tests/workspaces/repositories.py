"""Repositories and directories for the tests, and a git that no config of the machine touches."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
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


def make_repository(directory: Path, files: Mapping[str, str | bytes], *options: str) -> Path:
    """A repository on branch main with one commit of these files."""
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "-q", "-b", "main", *options)
    git(directory, "config", "user.name", "tester")
    git(directory, "config", "user.email", "tester@example.invalid")
    write(directory, files)
    commit(directory, "first")
    return directory


def commit(directory: Path, message: str) -> str:
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "--allow-empty", "-m", message)
    return git(directory, "rev-parse", "HEAD")


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
