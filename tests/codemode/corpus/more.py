"""Corpora in text files, where scripts need no quoting: each stands after a line `#--- NAME`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final


def sectioned(file_name: str) -> dict[str, str]:
    """Name to script, of a file beside this one."""
    text = Path(__file__).with_name(file_name).read_text("utf-8")
    parts = re.split(r"^#--- (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


MORE: Final[dict[str, str]] = sectioned("more.txt")
"""More scripts as models write them, by what they use."""
