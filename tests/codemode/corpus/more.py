"""More scripts as models write them, one a feature: `more.txt`, each after a line `#--- NAME`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_PARTS = re.split(
    r"^#--- (.*)\n", Path(__file__).with_name("more.txt").read_text("utf-8"), flags=re.MULTILINE
)

MORE: Final[dict[str, str]] = dict(zip(_PARTS[1::2], _PARTS[2::2], strict=True))
