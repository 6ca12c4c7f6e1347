"""What requirements.txt pins, and which releases vendor/ has: this project's package index."""

from pathlib import Path

ROOT = Path(__file__).parents[1]


def pinned():
    """Name and version of each requirement."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("\n")
    return [tuple(line.strip().split("==")) for line in lines if line.strip()]


def newest(name):
    """The highest version of a package."""
    versions = [path.name.removeprefix(f"{name}-") for path in (ROOT / "vendor").glob(f"{name}-*")]
    return max(versions, key=lambda version: [int(part) for part in version.split(".")])
