"""Random programs over the words that matter: none reaches the host's objects, none breaks the interpreter.

PI_BATCH_FUZZ_S sets how many seconds the long run takes (`make nightly`: 600).
"""

from __future__ import annotations

import os
import random
import time
from typing import Final

import pytest

from tests.codemode.script.hosts import run

pytestmark = [
    pytest.mark.fuzz,
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(900),
]

SECONDS: Final = float(os.environ.get("PI_BATCH_FUZZ_S", "20"))
NAMES: Final = (
    *("x", "y", "tools", "json", "re", "asyncio", "print", "str", "list", "dict", "object", "type", "super"),
    *("getattr", "len", "map", "sorted", "C", "f", "e", "store", "load", "gather", "ToolError", "Exception"),
    *(
        "datetime",
        "collections",
        "itertools",
        "math",
        "_",
        "_x",
        "__x",
        "isinstance",
        "vars",
        "dir",
        "hasattr",
    ),
)
ATTRIBUTES: Final = (
    *(
        "__class__",
        "__dict__",
        "__globals__",
        "__init__",
        "__name__",
        "__doc__",
        "format",
        "format_map",
        "mro",
    ),
    *("join", "read", "obj", "args", "gi_frame", "cr_frame", "f_globals", "tb_frame", "__traceback__", "x"),
    *(
        "__self__",
        "__func__",
        "__code__",
        "__builtins__",
        "__subclasses__",
        "__base__",
        "__bases__",
        "append",
    ),
    *(
        "__module__",
        "_loop",
        "_function",
        "settle",
        "register",
        "with_traceback",
        "send",
        "throw",
        "__cause__",
    ),
    *(
        "__reduce__",
        "__call__",
        "__getattribute__",
        "dumps",
        "codecs",
        "parser",
        "func",
        "__wrapped__",
        "keys",
    ),
)
TEXTS: Final = ("'{0.__class__}'", "'{x.__globals__}'", "'__class__'", "'a'", "'__globals__'", "'{}'")
FORBIDDEN: Final = (
    "' from '/",
    "(built-in)>",
    "(frozen)>",
    "<frame ",
    "<code object",
    "<traceback",
    "/site-packages",
)
"""What the text of a real module, frame, code object or traceback shows."""


class Writer:
    """Writes one random program."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def program(self) -> str:
        """A few statements; the value of each is printed."""
        return "".join(self._statement(0) for _ in range(self._random.randint(2, 8)))

    def _statement(self, depth: int) -> str:
        pad = "    " * depth
        pick = self._random.choice
        if depth > 2:
            return f"{pad}print(repr({self._value(1)}))\n"
        body = self._statement(depth + 1)
        return pick(
            (
                f"{pad}x = {self._value(0)}\n{pad}print(repr(x))\n",
                f"{pad}try:\n{body}{pad}except Exception as e:\n{pad}    print(repr({self._value(1)}))\n",
                f"{pad}for x in {self._value(1)}:\n{body}{pad}    break\n",
                f"{pad}class C({self._value(2)}):\n{pad}    x = {self._value(1)}\n"
                f"{pad}    def {pick(ATTRIBUTES)}(self, *a, **k):\n{pad}        return {self._value(1)}\n",
                f"{pad}def f(x={self._value(1)}, *y):\n{body}{pad}    return {self._value(0)}\n",
                f"{pad}match {self._value(1)}:\n"
                f"{pad}    case object({pick(ATTRIBUTES)}=y):\n{pad}        print(y)\n"
                f"{pad}    case _:\n{body}",
                f"{pad}with {self._value(1)} as {self._target()}:\n{body}",
                f"{pad}{self._target()} = {self._value(0)}\n",
                f"{pad}{self._target()} += {self._value(0)}\n",
                f"{pad}del {self._target()}\n",
                f"{pad}print(repr(await {self._value(1)}))\n",
            )
        )

    def _target(self) -> str:
        pick = self._random.choice
        return pick((pick(NAMES), f"{pick(NAMES)}.{pick(ATTRIBUTES)}", f"{pick(NAMES)}[{self._value(2)}]"))

    def _value(self, depth: int) -> str:
        pick = self._random.choice
        if depth > 3:
            return pick((*NAMES, *TEXTS, "1", "()", "[]", "{}"))
        inner, other = self._value(depth + 1), self._value(depth + 1)
        return pick(
            (
                pick(NAMES),
                pick(TEXTS),
                f"{inner}.{pick(ATTRIBUTES)}",
                f"{inner}.{pick(ATTRIBUTES)}",
                f"{inner}({other})",
                f"{inner}()",
                f"{inner}.{pick(ATTRIBUTES)}({other})",
                f"getattr({inner}, {pick(TEXTS)})",
                f"{inner}[{other}]",
                f"[{inner} for x in {other}]",
                f"({inner}, {other})",
                f"(lambda x: {inner})",
                f"({inner} or {other})",
                f"f'{{{inner.replace(chr(39), chr(34))}}}'",
                f"super().{pick(ATTRIBUTES)}",
            )
        )


def _run_for(seconds: float, seed: int) -> int:
    until = time.monotonic() + seconds
    count = 0
    while time.monotonic() < until:
        source = Writer(seed + count).program()
        ran = run(source)
        shown = ran.text + ran.error.split("\n")[0]
        assert not [word for word in FORBIDDEN if word in shown], source
        count += 1
    return count


def test_random_programs_reach_nothing_of_the_host() -> None:
    assert _run_for(SECONDS, seed=random.SystemRandom().randrange(10**9)) > 100
