"""Scripts with tools, values that are returned and kept, and what is said when something is wrong."""

from __future__ import annotations

import pytest

from pi_batch.codemode.values import CallReply
from tests.codemode.script.hosts import TOOLS, FakeHost, run

FILES = {"a.txt": "x\ny", "b.txt": "z"}


def test_calls_start_at_once_and_come_back_in_order() -> None:
    ran = run(
        'files = await tools.find(pattern="*.txt")\n'
        "texts = await asyncio.gather(*[tools.read(path=p) for p in files])\n"
        "for p, t in zip(files, texts):\n    print(p, len(t))\n",
        FILES,
    )
    assert ran.text == "a.txt 3\nb.txt 1\n"
    assert [name for name, _ in ran.host.calls] == ["find", "read", "read"]
    assert ran.host.most_out == 2


def test_no_more_calls_are_out_than_are_allowed() -> None:
    ran = run("await gather(*[tools.read(path='a.txt') for _ in range(40)])\n", FILES, max_calls_at_once=7)
    assert ran.host.most_out == 7
    assert len(ran.host.calls) == 40


def test_too_many_calls_are_an_error_that_can_be_caught() -> None:
    ran = run("for _ in range(9):\n    await tools.ls(path='.')\n", max_calls=5)
    assert "more than 5 tool calls" in ran.error
    assert len(ran.host.calls) == 5


def test_positional_arguments_go_by_the_signature() -> None:
    ran = run("print(await tools.read('a.txt'), list(map(tools.ls, ['.']))[0].done())\n", FILES)
    assert ran.text == "x\ny False\n"
    assert ran.host.calls[0] == ("read", {"path": "a.txt"})


def test_a_failing_call_is_an_exception_with_the_tools_text() -> None:
    ran = run("try:\n    await tools.read(path='no')\nexcept ToolError as e:\n    print(e, e.kind)\n")
    assert ran.text == "no: no such file failed\n"


def test_a_returned_value_is_json() -> None:
    ran = run("return {'s': {2, 1}, 't': (1, 2.5, None), 'b': b'x', 1: True, 'n': float('nan')}\n")
    assert ran.end.value == {"s": [1, 2], "t": [1, 2.5, None], "b": "eA==", "1": True, "n": "nan"}
    assert run("return\n").end.has_value is False
    assert run("print(1)\n").end.value is None


def test_objects_that_are_no_json_are_returned_as_text() -> None:
    source = (
        "from dataclasses import dataclass\nimport datetime\n"
        "@dataclass\nclass P:\n    x: int\n"
        "return [P(1), datetime.date(2026, 1, 2), ValueError('v')]\n"
    )
    assert run(source).end.value == [{"x": 1}, "2026-01-02", "v"]


def test_values_are_kept_when_a_script_completes() -> None:
    first = run("store('k', {'a': [1]})\nload('k')['a'].append(2)\nreturn load('k')\n")
    assert first.end.store == {"k": {"a": [1]}}
    assert first.end.value == {"a": [1]}
    second = run("store('k', None)\nprint(load('k', 5), load('j'))\n", store={"k": 1, "j": 2})
    assert second.end.store == {"j": 2}
    assert second.text == "5 2\n"
    assert run("store('k', 1)\n1 / 0\n").end.store is None
    assert run("load('k')\n", store={"k": 1}).end.store is None


@pytest.mark.parametrize(
    "source",
    [
        "store('k', 'x' * 300_000)",
        "for i in range(9):\n    store(str(i), 'x' * 200_000)",
        "store('k' * 201, 1)",
        "store(1, 1)",
        "store('k', object())",
        "store('k', {1, 2})",
    ],
)
def test_what_cannot_be_kept_is_an_error(source: str) -> None:
    assert "store: " in run(source).error


def test_images_go_to_the_model() -> None:
    class Host(FakeHost):
        def _answer(self, name: str, arguments: dict[str, object]) -> object:
            return {"type": "image", "data": "QUJD", "mimeType": "image/png"}

    from pi_batch.codemode.script.run import run_script
    from pi_batch.codemode.values import ScriptRequest

    host = Host()
    end = run_script(ScriptRequest("image(await tools.read(path='a.png'))\nimage('x')\n", TOOLS), host)
    assert host.images == [("QUJD", "image/png")]
    assert end.error is not None
    assert "image() takes what" in end.error.text


def test_tools_can_be_looked_for_with_and_without_await() -> None:
    source = (
        "print(search_tools('read')[0]['name'], (await search_tools('bash'))[0]['name'])\n"
        "print(describe_tool('read').split('(')[0], 'read' in ALL_TOOLS, len(search_tools()))\n"
    )
    assert run(source).text == "read bash\nread True 8\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("text = tools.read(path='a.txt')\nprint(text.upper())\n", "write `await tools.read(...)`"),
        ("for line in tools.read(path='a.txt'):\n    pass\n", "write `await tools.read(...)`"),
        ("print(len(tools.ls(path='.')))\n", "write `await tools.ls(...)`"),
        ("if tools.ls(path='.'):\n    pass\n", "write `await tools.ls(...)`"),
        ("print(f\"{tools.ls(path='.')}\")\n", "write `await tools.ls(...)`"),
        ("await tools.write(path='a', content=tools.read(path='a.txt'))\n", "write `await tools.read(...)`"),
        ("open('a.txt')\n", "await tools.read(path=...)"),
        ("import os\n", 'await tools.bash(command="...")'),
        ("from subprocess import run\n", 'await tools.bash(command="...")'),
        ("import requests\n", "no network"),
        ("os.listdir('.')\n", "tools.ls"),
        ("sys.exit(1)\n", "`return`"),
        ("import time\ntime.sleep(1)\n", "await asyncio.sleep(seconds)"),
        ("input('?')\n", "nobody is there"),
        ("eval('1')\n", "ast.literal_eval"),
        ("from pathlib import Path\nPath('a').read_text()\n", "await tools.read(path=str(path))"),
        ("def f():\n    return asyncio.run(g())\n", "make it `async def`"),
        ("await tools.read_file(path='a')\n", "Did you mean tools.read?"),
        ("await tools.read(file_path='a')\n", "did you mean 'path'"),
        ("await tools.read('a', 1, 2, 3)\n", "at most 3 arguments"),
        ("await tools.read(path=object())\n", "no JSON"),
        ("import nothing_known\n", "The modules are: "),
        ("from json import codecs\n", "cannot import name 'codecs'"),
        ("print(__file__)\n", "not available in scripts"),
    ],
)
def test_where_models_slip_the_way_out_is_said(source: str, said: str) -> None:
    ran = run(source, FILES)
    assert ran.end.status == "failed"
    assert said in ran.error
    assert "line " in ran.error


def test_an_error_quotes_the_line_with_a_caret() -> None:
    error = run("x = 1\n\tif x:\n").error
    assert error.startswith("line 2: SyntaxError: ")
    assert run("é = 1\nprint(é / 0, é)\n").error == (
        "ZeroDivisionError: division by zero (line 2)\n    print(é / 0, é)\n          ^^^^^"
    )


def test_output_before_an_error_is_kept() -> None:
    ran = run("print('before')\nraise ValueError('no')\n")
    assert (ran.text, ran.end.status) == ("before\n", "failed")


def test_an_exit_is_an_end_and_no_failure_but_with_a_code() -> None:
    assert run("print(1)\nraise SystemExit\n").end.status == "completed"
    assert run("raise SystemExit(2)\n").end.status == "failed"


@pytest.mark.parametrize(
    "source",
    [
        "await asyncio.Event().wait()\n",
        "lock = asyncio.Lock()\nawait lock.acquire()\nawait lock.acquire()\n",
        "async def f():\n    await t\nt = asyncio.create_task(f())\nawait t\n",
        "try:\n    await asyncio.Event().wait()\nexcept BaseException:\n    print('swallowed')\n",
    ],
)
def test_a_script_that_waits_for_nothing_ends_at_once(source: str) -> None:
    ran = run(source)
    assert ran.end.error is not None
    assert ran.end.error.type == "Deadlock"
    assert ran.text == ""


def test_a_cancelled_task_cannot_refuse_to_end() -> None:
    source = (
        "async def stubborn():\n    while True:\n        try:\n            await asyncio.sleep(0.001)\n"
        "        except asyncio.CancelledError:\n            pass\n"
        "try:\n    await asyncio.wait_for(stubborn(), 0.01)\nexcept TimeoutError:\n    print('over')\n"
    )
    assert run(source).text == "over\n"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_calls_and_coroutines_that_nobody_awaited_are_listed() -> None:
    ran = run("tools.ls(path='.')\nasync def main():\n    pass\nmain()\nprint(1)\n")
    assert ran.end.status == "completed"
    assert ran.end.notes == ("tools.ls(...) was never awaited", "the coroutine main(...) was never awaited")


def test_a_reply_that_nobody_asked_for_is_ignored() -> None:
    class Odd(FakeHost):
        def receive(self, timeout_s: float | None) -> CallReply | None:
            self.replies.appendleft(CallReply(99, "odd")) if self.out == 1 and len(
                self.replies
            ) == 1 else None
            return super().receive(timeout_s)

    from pi_batch.codemode.script.run import run_script
    from pi_batch.codemode.values import ScriptRequest

    host = Odd({"a.txt": "x"})
    end = run_script(ScriptRequest("print(await tools.read(path='a.txt'))\n", TOOLS), host)
    assert end.error is None
    assert host.text == "x\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x" * 300_000, "longer than 256 KiB"),
        ("print('\0')", "NUL"),
        ("'\ud800'", "surrogate"),
        ("(" * 300 + ")" * 300, "nested"),
        ("x = " + "-" * 400 + "1", "nested too deeply"),
        ("[" + "1," * 120_000 + "]", "too many parts"),
        ("yield 1\n", "`yield` stands outside"),
        ("x = [(yield 1)]\n", "`yield` stands outside"),
        ("from . import x\n", "relative imports"),
        ("from json import *\n", "name what you need"),
        ("class A(metaclass=M):\n    pass\n", "only bases are available"),
        ("try:\n    pass\nexcept* ValueError:\n    pass\n", "catch ExceptionGroup"),
    ],
)
def test_scripts_that_are_not_run_say_why(source: str, said: str) -> None:
    ran = run(source)
    assert ran.end.error is not None
    assert ran.end.error.type == "Refused"
    assert said in ran.error


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("functools.reduce(max, [1])", "write `import functools`"),
        ("print(Path('a'))", "write `from pathlib import Path`"),
        ("async def f():\n    return 'a'\nf().upper()", "without `await`"),
        ("async def f():\n    return 'a'\nfor x in f():\n    pass", "without `await`"),
        ("def f():\n    return await tools.ls()", "make the function around it `async def`"),
        ("asyncio.get_event_loop()", "write `await main()`"),
        ("await tools.bash('ls', check=True)", "no argument 'check'. It is tools.bash("),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_slip_is_told_what_to_write(source: str, says: str) -> None:
    assert says in run(source).error


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("s = asyncio.Semaphore(0)\nasync with s:\n    print(1)", 2),
        ("e = asyncio.Event()\nasync def f():\n    await e.wait()\nawait f()", 3),
        ("await asyncio.Queue().get()", 1),
    ],
)
def test_a_script_that_waits_for_nothing_is_told_where(source: str, line: int) -> None:
    error = run(source).end.error
    assert error is not None
    assert (error.type, error.line) == ("Deadlock", line)
    assert source.split("\n")[line - 1].strip() in error.text


def test_c_code_may_import_what_is_loaded_and_a_script_may_not() -> None:
    """TypeVar is C code from Python 3.12 on and imports typing by the script's own `__import__`."""
    ran = run(
        "from typing import TypeVar\nT = TypeVar('T', bound=str)\nprint(await asyncio.to_thread(len, 'abc'))"
    )
    assert (ran.text, ran.error) == ("3\n", "")
    assert "not available" in run("import sys").error


LATE = "except TimeoutError:\n    print('late')\n"
GIVEN_UP = {
    "wait_for": f"try:\n    await asyncio.wait_for(tools.bash(command='x'), 0.01)\n{LATE}",
    "timeout": "try:\n    async with asyncio.timeout(0.01):\n        await tools.bash(command='x')\n" + LATE,
    "coroutine": "async def slow():\n    await tools.bash(command='x')\n"
    f"try:\n    await asyncio.wait_for(slow(), 0.01)\n{LATE}",
    "gather": "async def slow():\n    await asyncio.gather(tools.bash(command='x'), asyncio.sleep(9))\n"
    f"try:\n    await asyncio.wait_for(slow(), 0.01)\n{LATE}",
    "cancel": "call = tools.bash(command='x')\ncall.cancel()\nprint('late')\n",
}


@pytest.mark.parametrize("source", GIVEN_UP.values(), ids=GIVEN_UP.keys())
def test_a_call_that_the_script_gives_up_is_ended(source: str) -> None:
    ran = run(source, is_silent=True)
    assert (ran.text, ran.host.dropped) == ("late\n", [1])


KEPT = {
    "shield": "try:\n    await asyncio.wait_for(asyncio.shield(tools.bash(command='x')), 0.01)\n" + LATE,
    "wait": "done, left = await asyncio.wait([tools.bash(command='x')], timeout=0.01)\nprint('late')\n",
    "another": "call = tools.bash(command='x')\nasync def wait():\n    return await call\n"
    "first, second = asyncio.create_task(wait()), asyncio.create_task(wait())\n"
    "await asyncio.sleep(0)\nfirst.cancel()\nawait asyncio.sleep(0.01)\nprint('late')\n",
}


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT.keys())
def test_a_call_that_somebody_still_wants_goes_on(source: str) -> None:
    ran = run(source, is_silent=True)
    assert (ran.text, ran.host.dropped) == ("late\n", [])


def test_a_call_that_was_answered_is_not_given_up_again() -> None:
    ran = run("call = tools.read(path='a.txt')\nprint(await call, call.cancel())\n", FILES)
    assert (ran.text, ran.host.dropped) == ("x\ny False\n", [])


def test_a_shield_hands_on_what_it_guards() -> None:
    ran = run(
        "print(await asyncio.shield(tools.read(path='a.txt')))\n"
        "try:\n    await asyncio.shield(tools.read(path='no'))\nexcept ToolError as e:\n    print(e.kind)\n",
        FILES,
    )
    assert ran.text == "x\ny\nfailed\n"
