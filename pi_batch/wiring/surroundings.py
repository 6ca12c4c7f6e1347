"""What the process was given: environment, directories, terminals, secrets. The only reader of them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pi_batch.errors import UsageError
from pi_batch.redact import Masker, secret_values

CI_VARIABLES = ("CI", "TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL")
"""Set by GitHub, GitLab and most others; by Azure Pipelines; by TeamCity; by Jenkins."""


MAX_SECRET_BYTES = 64 * 1024
"""Of a file whose content is hidden."""


class SystemClock:
    """The machine's own clock."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()

    def time(self) -> float:
        """Seconds since the epoch."""
        return time.time()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where and for whom this process runs."""

    cwd: Path
    environ: Mapping[str, str] = field(repr=False)
    """Empty variables count as unset."""

    @classmethod
    def of_process(cls) -> Surroundings:
        """Those of this process. Raises: UsageError when the current directory is gone."""
        try:
            cwd = Path.cwd()
        except OSError as error:
            raise UsageError("the current directory is gone: change to one that exists") from error
        return cls(cwd, {name: value for name, value in os.environ.items() if value})

    def at(self, cwd: Path, environ: Mapping[str, str]) -> Surroundings:
        """The same for another directory, with some variables as they are given; empty: taken away."""
        joined = {**self.environ, **environ}
        return Surroundings(cwd, {name: value for name, value in joined.items() if value})

    @property
    def is_github_actions(self) -> bool:
        """True in a step of a GitHub Actions job: some lines on stdout are commands there."""
        return self.environ.get("GITHUB_ACTIONS") == "true"

    @property
    def is_ci(self) -> bool:
        """True in any CI: nobody watches a live line."""
        return self.is_github_actions or any(name in self.environ for name in CI_VARIABLES)

    def has_color(self, stream: object) -> bool:
        """Whether a stream gets colours: NO_COLOR says no, then FORCE_COLOR yes; else a terminal does.

        Source: no-color.org and force-color.org: set and not empty; FORCE_COLOR=0 is a habit of Node's.
        """
        if "NO_COLOR" in self.environ:
            return False
        if "FORCE_COLOR" in self.environ:
            return self.environ["FORCE_COLOR"].lower() not in ("0", "false")
        return is_terminal(stream) and self.environ.get("TERM") != "dumb"

    @property
    def home(self) -> Path | None:
        """The user's home directory, where there is one."""
        home = self.environ.get("HOME")
        return Path(home) if home else None

    def masker(self, names: Sequence[str], others: Sequence[str] = ()) -> Masker:
        """Hides the values of variables with the usual names, of those named, and other values.

        `@FILE` names a file: its content is hidden, as a whole and line by line.
        Raises: UsageError for a named variable that is not set, or a file that cannot be read.
        """
        named = [self._secret(name) for name in names]
        return Masker([*secret_values(self.environ), *named, *others])

    def _secret(self, name: str) -> str:
        if not name.startswith("@"):
            if name not in self.environ:
                raise UsageError(f"--secret {name}: no such environment variable, or it is empty")
            return self.environ[name]
        try:
            with (self.cwd / name[1:]).open("rb") as file:
                content = file.read(MAX_SECRET_BYTES + 1)
        except OSError as error:
            raise UsageError(f"--secret {name}: cannot be read: {error.strerror or error}") from error
        if len(content) > MAX_SECRET_BYTES:
            raise UsageError(f"--secret {name}: more than {MAX_SECRET_BYTES:,} bytes: name a smaller file")
        return content.decode("utf-8", "replace").strip()


def is_terminal(stream: object) -> bool:
    """True when a person sees what is written to this standard stream."""
    return bool(getattr(stream, "isatty", lambda: False)())


def utf8_streams() -> None:
    """Make standard streams take any text, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
