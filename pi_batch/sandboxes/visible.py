"""What a sandbox shows of the machine: programs and what they need to run, and no one's data.

Tool chains in places that are otherwise hidden (pyenv, nvm, a virtual environment in a checkout) are found
through PATH and shown read-only, so that the same `python` runs inside as outside.
"""

from __future__ import annotations

import functools
import glob
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu"),
    *("/var/lib/dpkg", "/var/lib/alternatives", "/run/current-system", "/home/linuxbrew/.linuxbrew"),
    "/sys/devices/system/cpu",
)
"""Shown where they are there. Not /run, /tmp, /var, /srv, /mnt nor anybody's home."""

_IN_HOME = (
    *(
        ".pyenv",
        ".rbenv",
        ".nodenv",
        ".goenv",
        ".jenv",
        ".nvm",
        ".fnm",
        ".asdf",
        ".volta",
        ".rustup",
        ".elan",
    ),
    *(
        ".sdkman/candidates",
        ".cargo/bin",
        ".cargo/registry",
        "go/bin",
        "go/pkg/mod",
        ".local/bin",
        ".local/lib",
    ),
    *(".local/share/uv", ".local/share/mise", ".local/share/pipx", ".local/share/fnm", ".local/share/pnpm"),
    *(".bun/bin", ".deno/bin", ".ghcup", ".dotnet", ".juliaup", "miniconda3", "anaconda3", "miniforge3"),
    *(".gem", ".opam", ".local/pipx", ".m2/repository"),
)
"""Where version managers keep what they install; none of these holds keys."""
_KEEP_SECRETS = (".local", ".cargo", ".config", "")
"""Directories of a home of which only `bin` may be shown."""
_PARTS = (
    *("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "shims", "pyvenv.cfg", "pkg"),
    *("src", "go.env", "VERSION", "conf", "jmods", "legal", "Frameworks"),
)
"""What of an installation prefix is shown."""

SECRETS_IN_HOME = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".config/gcloud", ".config/gh", ".netrc"),
    *(".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials", ".cargo/credentials.toml"),
    *(".bash_history", ".zsh_history", ".local/share/keyrings", ".password-store", ".pi"),
)
"""Hidden also where a home is the workspace itself."""

HOME_VARIABLES = {
    ".pyenv": "PYENV_ROOT",
    ".rbenv": "RBENV_ROOT",
    ".nodenv": "NODENV_ROOT",
    ".goenv": "GOENV_ROOT",
    ".nvm": "NVM_DIR",
    ".asdf": "ASDF_DATA_DIR",
    ".volta": "VOLTA_HOME",
    ".rustup": "RUSTUP_HOME",
    ".sdkman": "SDKMAN_DIR",
}
"""Where managers look for themselves when the home is another one."""


def system_directories() -> tuple[str, ...]:
    """Those of SYSTEM that this machine has."""
    return tuple(path for path in SYSTEM if os.path.exists(path))  # noqa: PTH110


def is_shown(path: str) -> bool:
    """True for what is below a system directory, links followed."""
    real = os.path.realpath(path)
    return any(is_within(real, os.path.realpath(directory)) for directory in SYSTEM)


def is_within(path: str, directory: str) -> bool:
    """True for the directory itself and all below it; by name."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


@functools.cache
def tool_chains(search_path: str, home: str) -> tuple[str, ...]:
    """Directories and files that are to be shown besides the system's, sorted, none below another."""
    found: dict[str, None] = {}
    found.update(dict.fromkeys(path for name in _IN_HOME if os.path.exists(path := f"{home}/{name}")))  # noqa: PTH110
    waiting = [sys.prefix + "/bin", sys.base_prefix + "/bin", *search_path.split(":")]
    seen: set[str] = set()
    while waiting:
        directory = waiting.pop()
        if directory in seen or not directory.startswith("/") or is_shown(directory):
            continue
        seen.add(directory)
        if Path(directory).is_dir():
            found.update(dict.fromkeys(_prefix_parts(directory, home)))
            waiting += _led_to(directory)
    found[str(Path(__file__).resolve().parents[1])] = None
    return _outermost(path for path in found if not is_shown(path))


@functools.cache
def copies_of_suites(search_path: str, home: str) -> tuple[str, ...]:
    """Where built-in suites, solutions included, lie in what is shown: in every environment with pi-batch."""
    chains, systems = tool_chains(search_path, home), system_directories()
    looked = [(place, depth) for place in chains for depth in ("", "*/", "*/*/")]
    looked += [(place, depth) for place in systems for depth in ("", "*/")]
    found = {path for place, depth in looked for path in _suites_below(place, depth)}
    found |= {path for place in filter(None, sys.path) if Path(path := f"{place}/pi_batch/tasks").is_dir()}
    return tuple(sorted({os.path.realpath(path) for path in found}))


def _suites_below(place: str, depth: str) -> Iterator[str]:
    """The built-in specs of this package, so far below a directory of a tool chain."""
    for packages in ("", "lib/python3*/*-packages/", "python3*/*-packages/"):
        yield from glob.iglob(f"{glob.escape(place)}/{depth}{packages}pi_batch/tasks")  # noqa: PTH207


def _led_to(directory: str) -> Iterator[str]:
    """Directories of the programs that links in a directory lead to."""
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    yield from {os.path.dirname(os.path.realpath(entry.path)) for entry in entries if entry.is_symlink()}  # noqa: PTH120
    if os.path.realpath(directory) != directory:
        yield os.path.realpath(directory)


def _prefix_parts(directory: str, home: str) -> Iterator[str]:
    """A directory of programs, with the libraries beside it where it is part of an installation."""
    parent = os.path.dirname(directory)  # noqa: PTH120
    if os.path.exists(f"{parent}/pyvenv.cfg"):  # noqa: PTH110
        yield parent
        return
    yield directory
    keeps_secrets = parent in {f"{home}/{name}".rstrip("/") for name in _KEEP_SECRETS}
    is_prefix = os.path.basename(directory) in ("bin", "sbin", "shims")  # noqa: PTH119
    if is_prefix and not keeps_secrets and not is_within(home, parent) and parent != "/":
        yield from (path for name in _PARTS if os.path.exists(path := f"{parent}/{name}"))  # noqa: PTH110


def _outermost(paths: Iterator[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for path in sorted(paths):
        if not kept or not is_within(path, kept[-1]):
            kept.append(path)
    return tuple(kept)


@functools.cache
def private_in_etc() -> tuple[tuple[str, bool], ...]:
    """What others may not read below /etc (path, is a directory): root without capabilities still could."""
    found: list[tuple[str, bool]] = []
    waiting = ["/etc"]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            is_directory = entry.is_dir(follow_symlinks=False)
            status = entry.stat(follow_symlinks=False)
            mode = status.st_mode
            if entry.is_symlink() or not status.st_size:
                continue
            if not mode & (stat.S_IROTH | (stat.S_IXOTH if is_directory else 0)):
                found.append((entry.path, is_directory))
            elif is_directory:
                waiting.append(entry.path)
    return tuple(sorted(found))


def sockets_below(directories: tuple[str, ...]) -> tuple[str, ...]:
    """Sockets with a path that somebody listens on, below some directories.

    Source: proc(5), /proc/net/unix.
    """
    try:
        lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError:
        return ()
    paths = {line.split(None, 7)[7] for line in lines[1:] if line.count(" /")}
    return tuple(
        sorted(
            path
            for path in paths
            if path.startswith("/")
            and any(is_within(path, each) for each in directories)
            and _is_socket(path)
        )
    )


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False
