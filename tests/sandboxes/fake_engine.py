"""A docker and a podman for machines without: takes the options that we give, and runs them by bubblewrap.

Called as `python fake_engine.py docker run ...`. What is missing of the options that harden a container,
and what nobody knows, ends it with exit code 125, as the real ones do. Its one image, `system`, is this
machine's own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

NEEDED = {
    *(("--rm", ""), ("--pull", "never"), ("--cap-drop", "ALL"), ("--read-only", "")),
    *(
        ("--security-opt", "no-new-privileges"),
        ("--ipc", "private"),
        ("--user", f"{os.geteuid()}:{os.getegid()}"),
    ),
}
PODMAN_NEEDED = {("--read-only-tmpfs=false", ""), ("--http-proxy=false", "")}
ALONE = {"--rm", "--read-only", "--no-healthcheck", "--read-only-tmpfs=false", "--http-proxy=false"}
WITH_VALUE = {
    *("--pull", "--log-driver", "--hostname", "--workdir", "--cap-drop", "--security-opt", "--ipc", "--name"),
    *(
        "--shm-size",
        "--network",
        "--memory",
        "--memory-swap",
        "--pids-limit",
        "--user",
        "--userns",
        "--ulimit",
    ),
    *("--mount", "--entrypoint"),
}
READ_ONLY = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")
"""What every engine shows read-only, without a word."""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc")


def options_of(words: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Options in order, and what is run. Raises: ValueError for what no engine of ours is to be given."""
    options: list[tuple[str, str]] = []
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ALONE:
            options.append((word, ""))
        elif word in WITH_VALUE:
            options.append((word, words.pop(0)))
        else:
            raise ValueError(f"unknown option {word}")
    return options, words


def complaint(engine: str, options: list[tuple[str, str]]) -> str:
    """What is wrong with the options; empty where nothing is."""
    missing = (NEEDED | (PODMAN_NEEDED if engine == "podman" else set())) - set(options)
    names = [name for name, _ in options]
    for limit in ("--memory", "--memory-swap", "--pids-limit"):
        if limit not in names:
            missing.add((limit, ""))
    sockets = [value for name, value in options if name == "--mount" and "docker.sock" in value]
    if missing or sockets:
        return f"missing {sorted(missing)}, sockets {sockets}"
    return ""


def bwrap_words(options: list[tuple[str, str]]) -> list[str]:
    """The same walls, by bubblewrap."""
    words = [
        "bwrap",
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--cap-drop",
        "ALL",
    ]
    words += [
        "--die-with-parent",
        "--as-pid-1",
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/local/bin:/usr/bin:/bin",
    ]
    words += ["--setenv", "OF_THE_IMAGE", "yes"]
    if ("--network", "none") in options:
        words.append("--unshare-net")
    for path in SYSTEM:
        if Path(path).is_symlink():
            words += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).exists():
            words += ["--ro-bind", path, path]
    words += [
        "--proc",
        "/proc",
        *(word for path in READ_ONLY if Path(path).exists() for word in ("--ro-bind", path, path)),
        "--dev",
        "/dev",
        "--tmpfs",
        "/dev/shm",
    ]
    mounts = [
        dict(part.partition("=")[::2] for part in value.split(","))
        for name, value in options
        if name == "--mount"
    ]
    for mount in sorted(mounts, key=lambda mount: mount["dst"].count("/")):
        if mount["type"] == "tmpfs":
            words += ["--tmpfs", mount["dst"]]
        else:
            words += ["--ro-bind" if "readonly" in mount else "--bind", mount["src"], mount["dst"]]
    return words


def main() -> int:
    """Be the engine."""
    engine, command, *words = sys.argv[1:]
    if command != "run":
        return 0
    try:
        options, (image, *arguments) = options_of(words)
    except ValueError as error:
        sys.stderr.write(f"{engine}: {error}\n")
        return 125
    wrong = complaint(engine, options)
    if wrong or image != "system":
        sys.stderr.write(f"{engine}: {wrong or f'No such image: {image}'}\n")
        return 125
    entry = dict(options)["--entrypoint"]
    argv = [*bwrap_words(options), "--chdir", "/", "--", f"/usr/bin/{entry}", *arguments]
    os.execvp(argv[0], argv)
    return 126


if __name__ == "__main__":
    sys.exit(main())
