"""Scripts that must not get anywhere: each prints PWNED only after it has reached what it must not.

Families written by hand, and families made from what the real modules hold: every module, function with
globals or private name that a module would lead to if it were handed out.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterator
from typing import Final

from tests.codemode.corpus.more import sectioned

MARK: Final = "PWNED"

WALKS = {
    "subclasses": "().__class__.__base__.__subclasses__()",
    "mro": "str.mro()",
    "mro-dunder": "[].__class__.__mro__",
    "bases": "type(1).__bases__",
    "dict-of-class": "str.__dict__",
    "globals-of-lambda": "(lambda: 0).__globals__",
    "code-of-lambda": "(lambda: 0).__code__",
    "closure": "(lambda x: (lambda: x))(1).__closure__",
    "builtins-of-lambda": "(lambda: 0).__builtins__",
    "self-of-builtin": "print.__self__",
    "self-of-len": "len.__self__",
    "func-of-method": "[].append.__func__",
    "module-of-class": "Exception.__module__",
    "init-globals": "Exception.__init__.__globals__",
    "reduce": "[].__reduce_ex__(2)",
    "getattribute": "object.__getattribute__(1, 'real')",
    "setattr-raw": "object.__setattr__(tools, '_names', ())",
    "class-getitem": "list.__class_getitem__(int)",
    "new": "object.__new__(int)",
    "subclasshook": "object.__subclasshook__()",
    "init-subclass": "object.__init_subclass__()",
    "weakref": "(lambda: 0).__weakref__",
    "wrapped": "json.dumps.__wrapped__",
    "generator-frame": "(x for x in [1]).gi_frame",
    "generator-code": "(x for x in [1]).gi_code",
    "generator-throw": "(x for x in [1]).throw(ValueError)",
    "coroutine-frame": "asyncio.sleep(0).cr_frame",
    "coroutine-send": "tools.ls(path='.').send(None)",
    "call-loop": "tools.ls(path='.')._loop",
    "call-settle": "tools.ls(path='.').settle(1)",
    "tools-start": "tools._start",
    "tools-dict": "tools.__dict__",
    "host-function": "print._function",
    "proxy-exports": "json._exports",
    "semaphore-loop": "asyncio.Semaphore(1)._loop",
    "type-guards": "type._guards",
    "type-three": "type('X', (), {})",
    "type-of-type": "type(type)(int)",
    "type-of-function": "type(lambda: 0)((lambda: 0).__code__, {})",
    "type-call": "type(print)(print)",
    "getattr-class": "getattr(1, '__class__')",
    "getattr-globals": "getattr(lambda: 0, '__globals__')",
    "getattr-frame": "getattr((x for x in [1]), 'gi_frame')",
    "getattr-concat": "getattr((), '__cla' + 'ss__')",
    "vars-module": "vars(json)",
    "dir-class": "[n for n in dir(()) if '__' in n][0]",
    "globals": "globals()",
    "locals": "locals()",
    "eval": "eval('1')",
    "exec": "exec('1')",
    "compile": "compile('1', 'x', 'eval')",
    "open": "open('/etc/passwd').read()",
    "import-call": "__import__('os')",
    "builtins-name": "__builtins__",
    "loader": "__loader__",
    "spec": "__spec__",
    "help": "help()",
    "breakpoint": "breakpoint()",
    "format-class": "'{0.__class__}'.format(1) if 'int' in '{0.__class__}'.format(1) else 1 / 0",
    "format-nested": "'{0[0].__class__}'.format([1])",
    "format-kw": "'{x.__init__.__globals__}'.format(x=print)",
    "format-map": "'{x.__class__}'.format_map({'x': 1})",
    "format-unbound": "str.format('{0.__class__}', 1)",
    "format-getattr": "getattr('{0.__class__}', 'format')(1)",
    "format-spec": "'{0:{1.__class__}}'.format(1, 2)",
    "formatter": "__import__('string').Formatter()",
    "attrgetter": "__import__('operator')",
}
"""Expressions whose value is something forbidden."""

STATEMENTS = {
    "except-obj": "try:\n    tools.nope\nexcept AttributeError as e:\n    print('PWNED', e.obj)\n",
    "traceback": "try:\n    1 / 0\nexcept Exception as e:\n    print('PWNED', e.__traceback__)\n",
    "tb-frame": "try:\n    1 / 0\nexcept Exception as e:\n    t = e.__traceback__\n    print('PWNED', t.tb_frame)\n",
    "with-traceback": "try:\n    1 / 0\nexcept Exception as e:\n    print('PWNED', e.with_traceback(None))\n",
    "exit-traceback": (
        "class C:\n    def __enter__(self): return self\n    def __exit__(self, k, e, t):\n"
        "        print('PWNED', t.tb_frame)\n        return True\nwith C():\n    1 / 0\n"
    ),
    "metaclass": "class M(type):\n    pass\nprint('PWNED', M)\n",
    "metaclass-keyword": "class C(metaclass=print):\n    pass\nprint('PWNED')\n",
    "own-getattribute": "class C:\n    def __getattribute__(self, n): return 1\nprint('PWNED')\n",
    "own-class": "class C:\n    __class__ = int\nprint('PWNED')\n",
    "own-new": "class C:\n    def __new__(cls): return 1\nprint('PWNED')\n",
    "own-del": "class C:\n    def __del__(self): pass\nprint('PWNED')\n",
    "own-set-name": "class C:\n    def __set_name__(self, o, n): print('PWNED', o)\nclass D:\n    x = C()\n",
    "own-get": "class C:\n    def __get__(self, o, t): print('PWNED')\nclass D:\n    x = C()\nD().x\n",
    "own-init-subclass": "class C:\n    def __init_subclass__(cls): print('PWNED')\nclass D(C):\n    pass\n",
    "own-reduce": "class C:\n    def __reduce__(self): return (print, ('PWNED',))\ncopy = 1\nC()\nprint('PWNED')\n",
    "own-deepcopy": (
        "import copy\nclass C:\n    def __deepcopy__(self, m): print('PWNED', m)\ncopy.deepcopy(C())\n"
    ),
    "own-await": "class C:\n    def __await__(self):\n        r = yield 1\n        print('PWNED', r)\nawait C()\n",
    "own-instancecheck": "class C:\n    def __instancecheck__(self, x): return True\nprint('PWNED')\n",
    "str-subclass-format": (
        "class S(str):\n    pass\nif 'int' in S('{0.__class__}').format(1):\n    print('PWNED')\n"
    ),
    "super-format": (
        "class S(str):\n    def f(self): return super().format(1)\n"
        "if 'int' in S('{0.__class__}').f():\n    print('PWNED')\n"
    ),
    "augmented-format": (
        "class R:\n    def __radd__(self, o):\n        if 'int' in o(1): print('PWNED')\n"
        "        return o\nclass S(str):\n    pass\ns = S('{0.__class__}')\ns.format += R()\n"
    ),
    "userstring": "from collections import UserString\nprint('PWNED')\n",
    "annotated-format": "from typing import Annotated\nprint('PWNED', Annotated[str, 0].format('{0.__class__}', 1))\n",
    "alias-attribute": "print('PWNED', list[int].__origin__)\n",
    "generic-mro": "print('PWNED', list[int].mro())\n",
    "name-lies": (
        "class N(str):\n    def startswith(self, *a): return False\n    def __getitem__(self, i): return 'x'\n"
        "print('PWNED', getattr(1, N('__class__')))\n"
    ),
    "pattern-dunder": "match 1:\n    case object(__class__=c):\n        print('PWNED', c)\n",
    "pattern-frame": "match (x for x in [1]):\n    case object(gi_frame=f):\n        print('PWNED', f)\n",
    "pattern-format": "match '{0.__class__}':\n    case str(format=f):\n        print('PWNED', f(1))\n",
    "pattern-dotted": "match 1:\n    case str.__class__:\n        print('PWNED')\n    case json.codecs:\n        print('PWNED')\n",
    "pattern-obj": (
        "try:\n    tools.nope\nexcept AttributeError as e:\n    match e:\n        case AttributeError(obj=o):\n"
        "            print('PWNED', o)\n"
    ),
    "match-args-hidden": (
        "class C:\n    __match_args__ = ('gi_frame',)\n    pass\nmatch C():\n    case C(x):\n        print('PWNED')\nprint('PWNED')\n"
    ),
    "match-args-dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass G:\n    gi_frame: int = 0\nprint('PWNED')\n"
    ),
    "abc-register": (
        "from collections.abc import Iterator\nclass C:\n    pass\nIterator.register(C)\nprint('PWNED')\n"
    ),
    "enum-functional": "from enum import Enum\nprint('PWNED', Enum('X', 'A B'))\n",
    "namedtuple-module": "from collections import namedtuple\nprint('PWNED', namedtuple('X', 'a', module='os'))\n",
    "make-dataclass": "from dataclasses import make_dataclass\nprint('PWNED')\n",
    "update-wrapper-code": (
        "import functools\ndef f(): pass\nfunctools.update_wrapper(print, f, assigned=('__code__',))\n"
        "print('PWNED') if getattr(f, '__wrapped__', None) else 1 / 0\n"
    ),
    "wraps-steals": "import functools\n@functools.wraps(json.dumps)\ndef f(): pass\nprint('PWNED', f.__wrapped__)\n",
    "partial-func-globals": "import functools\nprint('PWNED', functools.partial(json.dumps).func.__globals__)\n",
    "write-module": "json.dumps = 1\nprint('PWNED')\n",
    "write-host": "print.x = 1\nprint('PWNED')\n",
    "write-class": "str.x = 1\nprint('PWNED')\n",
    "write-library-class": "import datetime\ndatetime.date.x = 1\nprint('PWNED')\n",
    "write-exception-class": "ToolError.x = 1\nprint('PWNED')\n",
    "write-dunder": "class C:\n    pass\nC.__init__ = print\nprint('PWNED')\n",
    "setattr-dunder": "class C:\n    pass\nsetattr(C, '__getattr__', print)\nprint('PWNED')\n",
    "setattr-module": "setattr(json, 'dumps', 1)\nprint('PWNED')\n",
    "del-module": "del json.dumps\nprint('PWNED')\n",
    "for-target": "for json.dumps in [1]:\n    pass\nprint('PWNED')\n",
    "with-target": (
        "class C:\n    def __enter__(self): return 1\n    def __exit__(self, *a): pass\n"
        "with C() as tools.read:\n    pass\nprint('PWNED')\n"
    ),
    "shadow-guard-arg": "def f(_getattr_, /): return ().__class__.__base__\nprint('PWNED', f(lambda o, n: o).__subclasses__())\n",
    "encoder-self": "print('PWNED', json.JSONEncoder.__init__(tools, default=1))\n",
    "userdict-update": "from collections import UserDict\nUserDict.__init__(json, {'a': 1})\nprint('PWNED')\n",
    "contextvar": "import contextvars\nprint('PWNED')\n",
    "gc": "import gc\nprint('PWNED', gc.get_objects())\n",
    "inspect": "import inspect\nprint('PWNED', inspect.stack())\n",
    "ctypes": "import ctypes\nprint('PWNED')\n",
    "importlib": "import importlib\nprint('PWNED')\n",
    "pickle": "import pickle\nprint('PWNED')\n",
    "builtins-module": "import builtins\nprint('PWNED')\n",
    "os-path": "import os.path\nprint('PWNED')\n",
    "as-name": "import json as __builtins__\nprint('PWNED')\n",
    "from-dunder": "from json import __builtins__ as b\nprint('PWNED', b)\n",
    "star": "from json import *\nprint('PWNED')\n",
    "except-as-dunder": "try:\n    1 / 0\nexcept Exception as __builtins__:\n    print('PWNED')\n",
    "walrus-dunder": "(__builtins__ := {})\nprint('PWNED')\n",
    "match-capture-dunder": "match 1:\n    case __builtins__:\n        print('PWNED')\n",
    "global-dunder": "def f():\n    global __builtins__\n    __builtins__ = {}\nf()\nprint('PWNED')\n",
    "def-dunder": "def __import__(*a): print('PWNED', a)\nimport os\n",
    "class-dunder": "class __builtins__:\n    pass\nprint('PWNED')\n",
    "type-params": "def f[T: print('PWNED')](x): pass\nf(1)\n",
    "type-alias": "type X = print('PWNED')\nX.__value__\n",
    "annotation-code": "def f(x: print('PWNED') = 1) -> print('PWNED'): pass\nf()\n",
    "top-annotation": "x: print('PWNED') = 1\n",
    "unicode-dunder": "print('PWNED', ().__ｃlass__.__base__)\n",
    "unicode-name": "print('PWNED', ｇlobals())\n",
    "mangled": "class tools_:\n    def f(self): return tools.__start\nprint('PWNED', tools_().f())\n",
    "sys-modules-path": "from pathlib import PurePosixPath\nprint('PWNED', PurePosixPath.parser.os)\n",
    "path-flavour": "from pathlib import PurePosixPath\nprint('PWNED', PurePosixPath('a')._flavour)\n",
    "random-os": "import random\nprint('PWNED', random._os)\n",
    "random-system": "import random\nprint('PWNED', random.SystemRandom)\n",
    "io-open": "import io\nprint('PWNED', io.open('/etc/passwd').read())\n",
    "io-fileio": "from io import FileIO\nprint('PWNED')\n",
    "hashlib-file": "import hashlib\nprint('PWNED', hashlib.file_digest)\n",
    "urllib-request": "import urllib.request\nprint('PWNED')\n",
    "ast-parse": "import ast\nprint('PWNED', ast.parse)\n",
    "template-pattern": "import string\nstring.Template.delimiter = 'x'\nprint('PWNED')\n",
    "codemode-in-script": "await tools.codemode(script='1')\nprint('PWNED')\n",
    "event-loop": "asyncio.get_event_loop()\nprint('PWNED')\n",
    "event-loop-future": "asyncio.Future()\nprint('PWNED')\n",
    "coroutine-of-host": "c = asyncio.wait_for(asyncio.sleep(0), 1)\nprint('PWNED', c.cr_frame.f_globals)\n",
    "async-generator-frame": "async def g():\n    yield 1\nprint('PWNED', g().ag_frame)\n",
    "own-lies-about-module": "class C:\n    __module__ = 're'\nprint('PWNED')\n",
    "qualname-write": "def f(): pass\nf.__code__ = (lambda: 1).__code__\nprint('PWNED')\n",
    "defaults": "def f(x=1): pass\nprint('PWNED', f.__defaults__)\n",
    "slots-descriptor": "class C:\n    __slots__ = ('a',)\nprint('PWNED', C.a.__get__)\n",
    "property-fget": "class C:\n    @property\n    def x(self): return 1\nprint('PWNED', C.x.fget.__globals__)\n",
    "classmethod-func": "class C:\n    @classmethod\n    def x(cls): return 1\nprint('PWNED', C.x.__func__)\n",
    "exception-args-module": "try:\n    import os\nexcept ImportError as e:\n    print('PWNED', e.__dict__)\n",
    "warnings-sys": "import warnings\nprint('PWNED', warnings.sys)\n",
    "image-object": "image({'type': 'image', 'data': tools, 'mimeType': 'x'})\nprint('PWNED')\n",
    "callable-tools": "tools.read.__call__.__self__\nprint('PWNED')\n",
    "map-getattr": "print('PWNED', list(map(getattr, [()], ['__class__'])))\n",
    "sorted-getattr": "print('PWNED', sorted([()], key=lambda t: getattr(t, '__class__')))\n",
    "attrgetter-dunder": "from operator import attrgetter\nprint('PWNED', attrgetter('__class__.__base__')(1))\n",
    "methodcaller-dunder": "from operator import methodcaller\nprint('PWNED', methodcaller('__reduce_ex__', 2)(1))\n",
    "reduce-getattr": "from functools import reduce\nprint('PWNED', reduce(getattr, ['__class__', '__base__'], 1))\n",
}
"""Scripts that print the mark themselves."""


def scripts() -> Iterator[tuple[str, str]]:
    """(name, script) of all."""
    for name, expression in WALKS.items():
        yield f"walk-{name}", f"x = {expression}\nprint('{MARK}', x)\n"
    yield from STATEMENTS.items()
    yield from sectioned("more_escapes.txt").items()
    yield from _through_modules()


def _through_modules() -> Iterator[tuple[str, str]]:
    """What each real module of the table holds beside its exports: modules, and names with an underscore."""
    from pi_batch.codemode.script.modules import exports

    for name in sorted(exports()):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        inner = [key for key, value in vars(module).items() if isinstance(value, types.ModuleType)]
        private = [key for key in vars(module) if key.startswith("_")][:3]
        for key in dict.fromkeys([*inner, *private]):
            if f"{name}.{key}" in exports():
                continue
            yield f"{name}.{key}", f"import {name}\nprint('{MARK}', {name}.{key})\n"
            yield f"from-{name}-{key}", f"from {name} import {key} as x\nprint('{MARK}', x)\n"
