"""The modules that scripts may import: a read-only object each, with the exports named here and nothing else.

A real module is never handed out: `json.codecs`, `random._os`, `statistics.sys`, `typing.sys` and their like
are how every list of modules without a list of exports falls.
"""

from __future__ import annotations

import abc
import ast
import base64
import binascii
import bisect
import calendar
import collections
import collections.abc
import contextlib
import copy
import csv
import dataclasses
import datetime as dt
import decimal
import difflib
import enum
import fnmatch
import fractions
import functools
import hashlib
import heapq
import html
import io
import itertools
import json
import math
import numbers
import operator
import pathlib
import random
import re
import shlex
import statistics
import string
import struct
import textwrap
import time
import tomllib
import types
import typing
import unicodedata
import urllib.parse
import uuid
import zlib
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from pi_batch.codemode.script.classes import ABC, ENUMS, NAMED_TUPLE, TYPED_DICT, Generic
from pi_batch.codemode.script.errors import HINTS
from pi_batch.codemode.script.host import HostFunction, TypeToken

_TEXT = """
base64: b64encode b64decode urlsafe_b64encode urlsafe_b64decode standard_b64encode standard_b64decode
    b32encode b32decode b16encode b16decode a85encode a85decode b85encode b85decode
bisect: bisect bisect_left bisect_right insort insort_left insort_right
calendar: isleap leapdays monthrange weekday monthcalendar month timegm month_name
    month_abbr day_name day_abbr
binascii: hexlify unhexlify crc32
collections: deque Counter defaultdict OrderedDict ChainMap UserDict UserList
collections.abc: Mapping MutableMapping Sequence MutableSequence Set MutableSet Iterable Iterator Generator
    Callable Hashable Sized Container Collection Reversible Awaitable Coroutine KeysView ValuesView ItemsView
contextlib: contextmanager asynccontextmanager suppress nullcontext closing
copy: copy deepcopy
csv: reader writer DictReader DictWriter QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Error excel
    excel_tab unix_dialect Sniffer
dataclasses: field fields asdict astuple replace is_dataclass MISSING KW_ONLY InitVar FrozenInstanceError
datetime: datetime date time timedelta timezone tzinfo UTC MINYEAR MAXYEAR
decimal: Decimal Context getcontext setcontext localcontext InvalidOperation DivisionByZero Inexact Overflow
    ROUND_HALF_UP ROUND_HALF_EVEN ROUND_HALF_DOWN ROUND_DOWN ROUND_UP ROUND_CEILING ROUND_FLOOR ROUND_05UP
difflib: SequenceMatcher Differ unified_diff context_diff ndiff get_close_matches restore IS_LINE_JUNK
fnmatch: fnmatch fnmatchcase filter translate
fractions: Fraction
functools: reduce partial lru_cache cache cmp_to_key cached_property partialmethod
hashlib: md5 sha1 sha224 sha256 sha384 sha512 sha3_256 sha3_512 blake2b blake2s new
heapq: heappush heappop heapify heapreplace heappushpop nlargest nsmallest merge
html: escape unescape
io: StringIO BytesIO
itertools: accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile
    filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest
json: dumps loads dump load JSONDecodeError JSONEncoder JSONDecoder
math: acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp
    exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm
    ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt
    sumprod tan tanh tau trunc ulp
numbers: Number Complex Real Rational Integral
operator: abs add and_ concat contains countOf delitem eq floordiv ge getitem gt index indexOf inv invert is_
    is_not itemgetter le lshift lt mod mul matmul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor
    iadd isub imul
random: Random random randint randrange choice choices shuffle sample uniform gauss normalvariate triangular
    betavariate expovariate seed getrandbits randbytes
re: compile search match fullmatch split findall finditer sub subn escape error Pattern Match A ASCII I
    IGNORECASE L LOCALE M MULTILINE S DOTALL U UNICODE X VERBOSE NOFLAG RegexFlag
shlex: quote split join
struct: pack unpack calcsize error
tomllib: loads TOMLDecodeError
types: SimpleNamespace
unicodedata: normalize name category lookup
statistics: mean fmean geometric_mean harmonic_mean median median_low median_high median_grouped mode
    multimode pstdev pvariance stdev variance quantiles correlation covariance linear_regression NormalDist
    StatisticsError
string: ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation printable
    whitespace capwords Template
textwrap: dedent indent wrap fill shorten TextWrapper
time: time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time strftime strptime gmtime
    localtime mktime ctime asctime struct_time
typing: Any AnyStr Annotated Awaitable Callable ClassVar Collection Coroutine DefaultDict Deque Dict Final
    FrozenSet Generator Hashable IO Iterable Iterator List Literal Mapping MutableMapping MutableSequence
    NoReturn Never NotRequired Optional ParamSpec Pattern Match Required Self Sequence Set Sized
    SupportsFloat SupportsInt Text TextIO Tuple Type TypeAlias TypeVar Union AsyncIterator
    AsyncIterable AsyncGenerator Counter OrderedDict ChainMap cast overload final override NewType
urllib.parse: quote quote_plus unquote unquote_plus urlencode urlparse urlunparse urlsplit urlunsplit urljoin
    parse_qs parse_qsl urldefrag
uuid: uuid1 uuid3 uuid4 uuid5 UUID NAMESPACE_DNS NAMESPACE_URL NAMESPACE_OID NAMESPACE_X500
zlib: compress decompress crc32 adler32
ast: literal_eval
abc: abstractmethod
"""
"""Module -> exports, as they are; what stands in for others is below."""

_REAL: Final = {
    module.__name__: module
    for module in (
        *(
            abc,
            ast,
            base64,
            bisect,
            calendar,
            collections,
            collections.abc,
            contextlib,
            copy,
            csv,
            dataclasses,
        ),
        *(
            dt,
            decimal,
            difflib,
            fnmatch,
            fractions,
            functools,
            hashlib,
            heapq,
            html,
            io,
            itertools,
            json,
        ),
        *(math, numbers, operator, random, re, shlex, statistics, string, textwrap, time, typing),
        *(urllib.parse, uuid, zlib, binascii, struct, tomllib, types, unicodedata),
    )
}


class Path(pathlib.PurePosixPath):
    """pathlib.Path without the file system: what would touch it names the tool."""


def _no_files(name: str, tool: str) -> Any:
    def refuse(*_args: Any, **_words: Any) -> Any:
        raise TypeError(f"Path.{name}: paths in scripts touch no files; use `{tool}`")

    return refuse


for _names, _tool in (
    ("read_text read_bytes open", "await tools.read(path=str(path))"),
    ("write_text write_bytes touch", "await tools.write(path=str(path), content=...)"),
    ("iterdir exists is_file is_dir stat", "await tools.ls(path=str(path))"),
    ("glob rglob walk", "await tools.find(pattern=...)"),
    (
        "mkdir unlink rename replace rmdir chmod symlink_to resolve absolute expanduser",
        "await tools.bash(...)",
    ),
):
    for _name in _names.split():
        setattr(Path, _name, _no_files(_name, _tool))
Path.cwd = staticmethod(_no_files("cwd", 'await tools.bash(command="pwd")'))  # type: ignore[attr-defined]
Path.home = staticmethod(_no_files("home", 'await tools.bash(command="echo ~")'))  # type: ignore[attr-defined]
Path.__name__ = Path.__qualname__ = "PosixPath"
Path.__module__ = "pathlib"


def exports() -> dict[str, dict[str, Any]]:
    """Module -> name -> what a script gets, without what belongs to one script."""
    made: dict[str, dict[str, Any]] = {}
    for entry in _TEXT.strip().replace("\n    ", " ").split("\n"):
        name, _, names = entry.partition(": ")
        module = _REAL[name]
        made[name] = {
            export: opaque(getattr(module, export)) for export in names.split() if hasattr(module, export)
        }
    made["abc"] |= {"ABC": ABC, "ABCMeta": TypeToken("ABCMeta")}
    made["enum"] = {
        **ENUMS,
        **{name: opaque(getattr(enum, name)) for name in ("auto", "unique")},
    }
    made["typing"] |= {
        "Generic": Generic,
        "NamedTuple": NAMED_TUPLE,
        "TypedDict": TYPED_DICT,
        "Protocol": Generic,
        "TYPE_CHECKING": False,
        "runtime_checkable": HostFunction(lambda kind: kind, "runtime_checkable"),
    }
    made["pathlib"] = {
        "PurePosixPath": pathlib.PurePosixPath,
        "PurePath": pathlib.PurePosixPath,
        "Path": Path,
    }
    made["time"]["sleep"] = HostFunction(_no_sleep, "sleep")
    made["copy"]["deepcopy"] = HostFunction(_deep_copy, "deepcopy")
    made["warnings"] = {
        name: HostFunction(lambda *_args, **_words: None, name)
        for name in ("warn", "filterwarnings", "simplefilter")
    }
    made["urllib"] = {}
    return made


def _deep_copy(value: Any) -> Any:
    """Without `memo`, which would keep every object that a copy passes, those of this program too."""
    return copy.deepcopy(value)


def _no_sleep(*_args: Any) -> None:
    raise RuntimeError(f"time.sleep is not available in scripts: {HINTS['time.sleep']}")


def opaque(value: Any) -> Any:
    """A function of ours without the way back that a function has; anything else as it is."""
    if isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
        return HostFunction(value)
    if isinstance(value, ModuleType):
        raise TypeError(f"a module is no export: {value.__name__}")
    return value


def classes(table: dict[str, dict[str, Any]]) -> frozenset[type]:
    """Library classes that scripts know by name."""
    found = {value for names in table.values() for value in names.values() if isinstance(value, type)}
    return frozenset(found)


def warm() -> None:
    """Use what imports something at its first use: after the lock-down no file can be opened."""
    dt.datetime.strptime("2026-01-02 03:04:05 +0000", "%Y-%m-%d %H:%M:%S %z")
    time.strptime("2026", "%Y")
    for encoding in ("ascii", "latin-1", "cp1252", "utf-16", "utf-32", "utf-8-sig", "idna", "punycode"):
        "a".encode(encoding).decode(encoding)
    "a".encode("unicode_escape").decode("unicode_escape")
    "\N{BULLET}é".casefold().isidentifier()
    re.sub(r"(?i)\w+", "x", "é a")
    json.dumps({"a": [1, 1.5, "é"]}, indent=1)
    decimal.Decimal("1.1").sqrt()
    statistics.quantiles([1, 2, 3, 4])
    collections.namedtuple("Warm", "a b")  # noqa: PYI024
    dataclasses.make_dataclass("Warm", ["a"], order=True, frozen=True)(1)
    random.Random(1).sample([1, 2, 3], 2)  # noqa: S311 -- for warmth
    difflib.get_close_matches("abc", ["abd"])
    hashlib.new("sha256", b"").hexdigest()
    uuid.uuid5(uuid.NAMESPACE_DNS, str(uuid.uuid4()))
    urllib.parse.urlparse("http://a/b?c=d#e")
    list(csv.DictReader(io.StringIO("a,b\n1,2\n")))
    calendar.month(2026, 1)
    textwrap.fill("a b", 10)
    shlex.split("a 'b'")
    html.unescape("&eacute;")
    f"{dt.datetime(2026, 1, 2, tzinfo=dt.UTC):%A %B}"
