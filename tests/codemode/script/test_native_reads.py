"""What patterns read, they read natively: no such attribute of anything that scripts get leads to a module.

Walks from every export, and from an instance of all that scripts can make of them, by every name that the
policy lets a pattern spell. A new Python with a new public way to a module fails here.
"""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import difflib
import fractions
import functools
import hashlib
import io
import itertools
import json
import pathlib
import random
import re
import statistics
import string
import sys
import textwrap
import time
import types
import typing
import urllib.parse
import uuid
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Iterator
from typing import Any

from pi_batch.codemode.script.names import INSPECT, NATIVE, SPECIAL
from pi_batch.codemode.script.run import _Run, prepare
from pi_batch.codemode.values import ScriptRequest
from tests.codemode.script.hosts import TOOLS, FakeHost, run

NEVER = (types.ModuleType, types.FrameType, types.TracebackType, types.CodeType, types.CellType)
DEPTH = 4


def a_generator() -> Iterator[int]:
    yield 1


def instances() -> dict[str, Any]:
    made: list[Any] = [
        *(re.match("a", "a"), re.compile("a"), dt.datetime.now(dt.UTC), dt.timedelta(1)),
        *(decimal.Decimal(1), decimal.getcontext(), decimal.localcontext(), fractions.Fraction(1, 2)),
        *(random.Random(1), difflib.SequenceMatcher(None, "a", "b"), difflib.Differ(), string.Template("$a")),
        *(uuid.uuid4(), textwrap.TextWrapper(), json.JSONEncoder(), json.JSONDecoder(), csv.reader([])),
        *(csv.writer(io.StringIO()), csv.DictReader(io.StringIO("a\n1")), csv.Sniffer(), io.BytesIO()),
        *(statistics.NormalDist(), hashlib.sha256(), hashlib.blake2b(), urllib.parse.urlparse("http://a")),
        *(time.localtime(), pathlib.PurePosixPath("a"), functools.partial(print), functools.cache(print)),
        *(
            functools.cached_property(str),
            functools.cmp_to_key(lambda _one, _other: 0),
            a_generator(),
            typing.Union,
        ),
        *(typing.Annotated[str, 0], typing.TypeVar("T"), list[int], int | str, itertools.chain([])),
        *(UserDict(), UserList(), ChainMap(), defaultdict(list), OrderedDict(), deque(), Counter()),
        *(
            memoryview(b"a"),
            property(len),
            [].__len__,
            len,
            ValueError("x"),
            ExceptionGroup("g", [KeyError()]),
        ),
    ]
    return {type(each).__name__: each for each in made}


def seeds() -> dict[str, Any]:
    prepare()
    script = _Run(ScriptRequest("pass", TOOLS), FakeHost())
    found = dict(script._globals["__builtins__"])
    for module, exports in script._modules.items():
        found |= {f"{module}.{name}": value for name, value in exports.items()}
    return found | instances()


def readable(value: Any) -> Iterator[tuple[str, Any]]:
    for name in dir(value):
        if not name.startswith("_") and name not in SPECIAL | INSPECT | NATIVE:
            try:
                yield name, getattr(value, name)
            except Exception:  # noqa: BLE001 -- what cannot be read leads nowhere
                continue


def test_no_attribute_that_a_pattern_may_read_leads_to_a_module_or_a_frame() -> None:
    pending = deque((name, value, 0) for name, value in seeds().items())
    kept: dict[int, Any] = {}
    found = []
    while pending:
        path, value, depth = pending.popleft()
        if id(value) in kept:
            continue
        kept[id(value)] = value
        if isinstance(value, NEVER) or value is type or value is sys.modules:
            found.append(path)
        elif depth < DEPTH:
            pending += [(f"{path}.{name}", inner, depth + 1) for name, inner in readable(value)]
    assert len(kept) > 3000
    assert found == []


def test_a_path_does_not_lead_to_its_module() -> None:
    for script in (
        "import pathlib\nmatch pathlib.PurePosixPath('a'):\n    case object(parser=m):\n        print(m)",
        "import pathlib\np = pathlib.PurePosixPath\nmatch 1:\n    case p.parser:\n        print(1)",
        "import pathlib\nprint(pathlib.PurePosixPath.parser)",
        "import pathlib\nprint(getattr(pathlib.PurePosixPath('a'), 'parser'))",
        "import operator, pathlib\nprint(operator.attrgetter('parser.os')(pathlib.PurePosixPath('a')))",
        "import pathlib\nprint('{0.parser}'.format(pathlib.PurePosixPath('a')))",
    ):
        ran = run(script)
        assert ran.end.status == "failed"
        assert ran.host.printed == []


KEEPS_WHAT_A_COPY_PASSES = """
import copy
class Memo(dict):
    def get(self, key, default=None):
        return 0 if key in (id(tools), id(asyncio.Task)) else dict.get(self, key, default)
memo = Memo()
try:
    copy.deepcopy(type, memo)
except AttributeError:
    pass
for kept in memo.values():
    print(kept)
"""


def test_a_deep_copy_shows_nobody_what_it_passes() -> None:
    ran = run(KEEPS_WHAT_A_COPY_PASSES)
    assert "takes 1 positional argument but 2 were given" in ran.error
    assert ran.text == ""
    assert run("import copy\na = [[1]]\nb = copy.deepcopy(a)\nb[0].append(2)\nprint(a, b)").text == (
        "[[1]] [[1, 2]]\n"
    )
