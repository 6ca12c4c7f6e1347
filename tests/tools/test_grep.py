"""grep as a model meets it, with ripgrep and without: the same answers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_batch.errors import ToolError
from pi_batch.spec import PathRules
from pi_batch.tools.grep import Grep
from pi_batch.tools.read import Read
from pi_batch.tools.search import SCRIPT_LIMIT
from pi_batch.tools.search_lines import MAX_LINE_CHARS
from tests.tools.context import FakeContext, call, failure, text_of
from tests.tools.searches import InProcessSearches

GREP = Grep()
RG = shutil.which("rg")
NEEDS_RG = pytest.mark.skipif(RG is None, reason="ripgrep is not installed")


ENGINES = ["python", pytest.param("rg", marks=NEEDS_RG)]


def choose(context: FakeContext, engine: str) -> None:
    """What is on the PATH decides which program finds the lines."""
    directory = str(Path(RG).parent) if RG and engine == "rg" else "/nonexistent"
    context.env = {"PATH": directory, "LANG": "C.UTF-8"}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, context: FakeContext) -> None:
    """One engine after the other, the worker's code run without its process."""
    choose(context, request.param)
    context.sandbox = InProcessSearches()


@pytest.fixture(params=ENGINES)
def real_engine(request: pytest.FixtureRequest, context: FakeContext) -> None:
    """The same through the process."""
    choose(context, request.param)


def fill(workspace: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


async def grep(context: FakeContext, pattern: str, /, **arguments: Any) -> str:
    return text_of(await call(GREP, context, pattern=pattern, **arguments))


@pytest.mark.usefixtures("real_engine")
async def test_matches_are_paths_lines_and_text_in_order(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"b.py": "x = 1\ny = 2\nx = 3\n", "a/z.py": "x = 4\n", "a.py": "no\n", "B.py": "x\n"})
    output = await call(GREP, context, pattern="x")
    assert text_of(output) == "B.py:1: x\na/z.py:1: x = 4\nb.py:1: x = 1\nb.py:3: x = 3"
    assert output.value[1] == {"path": "a/z.py", "line": 1, "text": "x = 4"}
    assert output.details == {"matches": 4, "is_more": False, "is_truncated": False}


@pytest.mark.usefixtures("engine")
async def test_paths_are_relative_to_the_workspace_whatever_was_searched(
    context: FakeContext, workspace: Path
) -> None:
    fill(workspace, {"src/deep/a.py": "hit\n", "other.py": "hit\n"})
    assert await grep(context, "hit", path="src") == "src/deep/a.py:1: hit"
    assert await grep(context, "hit", path="src/deep/a.py") == "src/deep/a.py:1: hit"
    assert await grep(context, "hit", path=str(workspace / "src")) == "src/deep/a.py:1: hit"
    assert text_of(await call(Read(), context, path="src/deep/a.py")) == "hit\n"


@pytest.mark.usefixtures("real_engine")
async def test_dashes_at_the_front_are_text(context: FakeContext, workspace: Path) -> None:
    """pi#4018: one option of ripgrep runs any script."""
    fill(workspace, {"pre.sh": '#!/bin/sh\ntouch PWNED\ncat "$1"\n', "t.txt": "see --pre=./pre.sh here\n"})
    (workspace / "pre.sh").chmod(0o755)
    for is_literal in (True, False):
        found = await grep(context, "--pre=./pre.sh", path=".", literal=is_literal)
        assert found == "t.txt:1: see --pre=./pre.sh here"
    assert await grep(context, "-e") == "No matches found"
    assert await grep(context, "here", glob="--pre=./pre.sh") == "No matches found"
    assert not (workspace / "PWNED").exists()


@pytest.mark.parametrize("pattern", ["call(", "a{2,1}", "[z-a]", "(?P<a", "*", "\\"])
@pytest.mark.usefixtures("engine")
async def test_a_pattern_that_is_no_expression_is_an_error_with_its_cause(
    context: FakeContext, workspace: Path, pattern: str
) -> None:
    """magnitude#103: not "no match", which the model would believe."""
    fill(workspace, {"c.txt": "call(\n"})
    assert "invalid regular expression: " in await failure(GREP, context, pattern=pattern)


@pytest.mark.usefixtures("engine")
async def test_a_pattern_that_does_not_compile_is_an_error_where_there_is_no_file_too(
    context: FakeContext,
) -> None:
    assert "invalid regular expression: " in await failure(GREP, context, pattern="call(")
    assert await grep(context, "call") == "No matches found"


@pytest.mark.usefixtures("engine")
async def test_a_miss_is_no_error(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"c.txt": "call(\n"})
    output = await call(GREP, context, pattern="absent-word")
    assert text_of(output) == "No matches found"
    assert output.value == []
    assert not output.is_error


@pytest.mark.usefixtures("engine")
async def test_what_cannot_be_read_is_passed_over(context: FakeContext, workspace: Path) -> None:
    """headlong#115, opencode#24972: pipes, dead links, binary files."""
    fill(
        workspace,
        {"plain.txt": "hit\n", "binary": b"hit \0\n", "late": b"hit\n" + b"x" * 9000 + b"\0\nhit\n"},
    )
    os.mkfifo(workspace / "q")
    os.mkfifo(workspace / ".gitignore")
    (workspace / "dead").symlink_to("/nowhere/at/all")
    (workspace / "loop").symlink_to(".")
    (workspace / "link").symlink_to("plain.txt")
    assert await grep(context, "hit") == "late:1: hit\nlate:3: hit\nplain.txt:1: hit"


@pytest.mark.usefixtures("engine")
async def test_dot_files_are_searched_and_git_is_not(context: FakeContext, workspace: Path) -> None:
    """cheasee-pi#971."""
    fill(workspace, {".github/workflows/n.yml": "name: NIGHTLY\n", ".env.example": "NIGHTLY=1\n"})
    fill(workspace, {".git/COMMIT_EDITMSG": "NIGHTLY\n", "sub/.git": "gitdir: NIGHTLY\n"})
    found = await grep(context, "NIGHTLY")
    assert found == ".env.example:1: NIGHTLY=1\n.github/workflows/n.yml:1: name: NIGHTLY"
    assert "never searched" in await failure(GREP, context, pattern="x", path=".git")


@pytest.mark.usefixtures("engine")
async def test_git_s_ignore_rules_hold(context: FakeContext, workspace: Path) -> None:
    fill(
        workspace,
        {
            ".gitignore": "*.log\nbuild/\n!keep.log\n",
            ".ignore": "*.py\n",
            "a.log": "hit",
            "keep.log": "hit",
            "build/x.py": "hit",
            "src/.gitignore": "secret.py\n",
            "src/secret.py": "hit",
            "src/open.py": "hit",
            "secret.py": "hit",
        },
    )
    expected = "keep.log:1: hit\nsecret.py:1: hit\nsrc/open.py:1: hit"
    assert await grep(context, "hit") == expected
    assert await grep(context, "hit", glob="*.py") == "secret.py:1: hit\nsrc/open.py:1: hit"
    assert await grep(context, "hit", path="src") == "src/open.py:1: hit"
    assert await grep(context, "hit", path="build") == "build/x.py:1: hit"  # named: so it is wanted
    assert await grep(context, "hit", path="a.log") == "a.log:1: hit"


@pytest.mark.usefixtures("engine")
async def test_rules_of_a_repository_above_the_workspace_hold(context: FakeContext, workspace: Path) -> None:
    fill(workspace.parent, {".git/HEAD": "", ".gitignore": "*.log\n"})
    fill(workspace, {"a.log": "hit", "a.txt": "hit"})
    assert await grep(context, "hit") == "a.txt:1: hit"


@pytest.mark.usefixtures("engine")
async def test_rules_above_a_workspace_without_repository_do_not_hold(
    context: FakeContext, workspace: Path
) -> None:
    fill(workspace.parent, {".gitignore": "*.log\n"})
    fill(workspace, {"a.log": "hit", "sub/b.log": "hit"})
    assert await grep(context, "hit", path="sub") == "sub/b.log:1: hit"


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.ts", ["a.ts", "src/b.ts"]),
        ("*.{ts,tsx}", ["a.ts", "src/b.ts", "src/c.tsx"]),
        ("src/*.ts", ["src/b.ts"]),
        ("src/**", ["src/b.ts", "src/c.tsx", "src/test/d.py"]),
        ("**/test/*.py", ["src/test/d.py"]),
        ("!*.ts", ["src/c.tsx", "src/test/d.py"]),
        ("!src/test/", ["a.ts", "src/b.ts", "src/c.tsx"]),
        ("*.js", []),
    ],
)
@pytest.mark.usefixtures("engine")
async def test_globs_choose_files(
    context: FakeContext, workspace: Path, glob: str, expected: list[str]
) -> None:
    fill(workspace, dict.fromkeys(("a.ts", "src/b.ts", "src/c.tsx", "src/test/d.py"), "hit\n"))
    output = await call(GREP, context, pattern="hit", glob=glob)
    assert [match["path"] for match in output.value] == expected


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"pattern": "foo"}, [1]),
        ({"pattern": "foo", "ignore_case": True}, [1, 2]),
        ({"pattern": "FOO", "ignoreCase": True, "literal": True}, [1, 2]),
        ({"pattern": "a.c"}, [3, 4]),
        ({"pattern": "a.c", "literal": True}, [3]),
        ({"pattern": r"^\s+x$"}, [5]),
        ({"pattern": "end$"}, [6]),
        ({"pattern": r"\bword\b"}, [7]),
        ({"pattern": "[[:digit:]]{3}"}, [8]),
        ({"pattern": "é|ü"}, [9]),
        ({"pattern": "É", "ignore_case": True}, [9]),
        ({"pattern": r"\d+"}, [8]),
        ({"pattern": "(", "literal": True}, [10]),
        ({"pattern": r"(?i)FOO"}, [1, 2]),
        ({"pattern": "(?=f)foo"}, [1]),
        ({"pattern": r"(o)\1"}, [1]),
    ],
)
@pytest.mark.usefixtures("engine")
async def test_patterns(
    context: FakeContext, workspace: Path, arguments: dict[str, Any], lines: list[int]
) -> None:
    """Look-around and back-references go to Python also where ripgrep is."""
    text = "foo\nFOO\na.c\nabc\n  x\nend\r\na word here\n123\né\n(\n"
    fill(workspace, {"f.txt": text})
    output = await call(GREP, context, **arguments)
    assert [match["line"] for match in output.value] == lines


@pytest.mark.usefixtures("engine")
async def test_a_line_ends_at_a_newline_only(context: FakeContext, workspace: Path) -> None:
    """deepagents#5787: what grep calls line 5 is what read gives at offset 5."""
    fill(
        workspace,
        {"m.py": "def a():\n    return 1\n\x0c\ndef b():\n    TARGET\x85\u2028 = 1\r\n    return 2\n"},
    )
    assert await grep(context, "TARGET") == "m.py:5:     TARGET\x85\u2028 = 1"
    assert "TARGET" in text_of(await call(Read(), context, path="m.py", offset=5, limit=1))


@pytest.mark.parametrize("pattern", ["a\nb", r"a\nb"])
@pytest.mark.usefixtures("engine")
async def test_a_line_break_in_a_pattern_is_an_error(
    context: FakeContext, workspace: Path, pattern: str
) -> None:
    fill(workspace, {"f.txt": "a\nb\n"})
    assert "line by line" in await failure(GREP, context, pattern=pattern)


@pytest.mark.usefixtures("engine")
async def test_a_backslash_before_an_n_may_be_searched(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"f.txt": "a\\nb\n"})
    assert await grep(context, r"a\\nb") == "f.txt:1: a\\nb"
    assert await grep(context, r"\nb", literal=True) == "f.txt:1: a\\nb"


@pytest.mark.parametrize("pattern", ["a\0b", "\ud800", "x" * 50_000, "é" * 9_000])
@pytest.mark.parametrize("is_literal", [True, False])
@pytest.mark.usefixtures("real_engine")
async def test_a_strange_pattern_is_a_miss(
    context: FakeContext, workspace: Path, pattern: str, is_literal: bool
) -> None:
    fill(workspace, {"f.txt": "a\n"})
    assert await grep(context, pattern, literal=is_literal) == "No matches found"


async def test_an_empty_pattern_is_an_error(context: FakeContext) -> None:
    assert "empty" in await failure(GREP, context, pattern="")


@pytest.mark.usefixtures("engine")
async def test_context_lines_stand_beside_matches(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"f.txt": "".join(f"{number}\n" for number in range(1, 13)), "g.txt": "a\n12\nb\n"})
    assert await grep(context, "^(2|4|12)$", context=1) == (
        "f.txt-1- 1\nf.txt:2: 2\nf.txt-3- 3\nf.txt:4: 4\nf.txt-5- 5\n--\nf.txt-11- 11\nf.txt:12: 12\n--\n"
        "g.txt-1- a\ng.txt:2: 12\ng.txt-3- b"
    )
    assert await grep(context, "^7$", context=2) == (
        "f.txt-5- 5\nf.txt-6- 6\nf.txt:7: 7\nf.txt-8- 8\nf.txt-9- 9"
    )
    output = await call(GREP, context, pattern="^2$", context=3)
    assert [match["line"] for match in output.value] == [2]


@pytest.mark.usefixtures("engine")
async def test_the_limit_is_said_and_says_how_to_get_more(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"a.txt": "hit\n" * 3, "b.txt": "hit\n" * 3})
    assert await grep(context, "hit", limit=4) == (
        "a.txt:1: hit\na.txt:2: hit\na.txt:3: hit\nb.txt:1: hit\n\n"
        "[4 matches limit reached. Narrow the search, or use limit=8.]"
    )
    assert "limit" not in await grep(context, "hit", limit=6)
    assert (await call(GREP, context, pattern="hit", limit=5)).details["is_more"]


@pytest.mark.usefixtures("engine")
async def test_context_behind_the_last_match_of_a_limit_is_given(
    context: FakeContext, workspace: Path
) -> None:
    fill(workspace, {"a.txt": "hit\n1\n2\n3\nhit\n"})
    found = await grep(context, "hit", limit=1, context=1)
    assert found.startswith("a.txt:1: hit\na.txt-2- 1\n\n[1 matches limit")


@pytest.mark.usefixtures("engine")
async def test_long_lines_are_cut_around_the_match(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"min.js": "é" * 5000 + "NEEDLE" + "y" * 5000 + "\n"})
    found = await grep(context, "NEEDLE")
    assert "NEEDLE" in found
    assert found.endswith("… [line cut]")
    assert len(found) < MAX_LINE_CHARS + 60
    assert (await grep(context, "é+")).startswith("min.js:1: éé")


@pytest.mark.usefixtures("engine")
async def test_the_whole_answer_is_bounded(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"a.txt": ("x" * 450 + "\n") * 300})
    output = await call(GREP, context, pattern="x", limit=300)
    assert len(text_of(output).encode()) < 52 * 1024
    assert "50 KB limit" in text_of(output)
    assert len(output.value) == 300


@pytest.mark.usefixtures("real_engine")
async def test_invalid_utf8_in_names_and_content_survives(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {os.fsdecode(b"b\xff.txt"): b"caf\xe9 hit\n", "new\nline.txt": "hit\n"})
    found = await grep(context, "hit")
    assert found == "b\\xff.txt:1: caf\ufffd hit\nnew\\nline.txt:1: hit"
    found.encode()


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-8"])
@pytest.mark.usefixtures("engine")
async def test_files_with_a_mark_are_text(context: FakeContext, workspace: Path, codec: str) -> None:
    fill(workspace, {"w.txt": "\ufeffhit one\r\ntwo € hit\r\n".encode(codec)})
    assert await grep(context, "hit") == "w.txt:1: hit one\nw.txt:2: two € hit"
    assert await grep(context, "^hit") == "w.txt:1: hit one"


@pytest.mark.usefixtures("engine")
async def test_paths_that_may_not_be_read_are_left_out(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"secrets/key.pem": "hit\n", "a.txt": "hit\n", "deep/secrets.txt": "hit\n"})
    denied = Grep(PathRules(deny=("secrets/**", "*.pem")))
    found = text_of(await call(denied, context, pattern="hit"))
    assert found == "a.txt:1: hit\ndeep/secrets.txt:1: hit\n\n[1 path left out by permissions.read.]"
    allowed = Grep(PathRules(allow=("deep/**",)))
    assert "a.txt" not in text_of(await call(allowed, context, pattern="hit"))
    assert "deep/secrets.txt:1" in text_of(await call(allowed, context, pattern="hit"))


async def test_a_search_without_end_is_ended(context: FakeContext, workspace: Path) -> None:
    """Python's expressions backtrack: the process is killed, the loop goes on."""
    context.env = {"PATH": ""}
    context.seconds_left = 1.0
    fill(workspace, {"f.txt": "a" * 40 + "b\n"})
    with pytest.raises(ToolError, match="timed out after 1 s") as caught:
        await call(GREP, context, pattern="^(a+)+$")
    assert caught.value.error_kind == "timeout"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("absent", "no such file"), ("q", "neither a file nor a directory"), ("../x", "outside")],
)
async def test_a_path_that_is_wrong_is_an_error(
    context: FakeContext, workspace: Path, path: str, expected: str
) -> None:
    os.mkfifo(workspace / "q")
    assert expected in await failure(GREP, context, pattern="x", path=path)


async def test_a_link_out_of_the_workspace_is_not_searched(context: FakeContext, workspace: Path) -> None:
    fill(workspace.parent, {"victim/secret.txt": "hit\n"})
    (workspace / "out").symlink_to(workspace.parent / "victim")
    assert await grep(context, "hit") == "No matches found"
    assert "outside" in await failure(GREP, context, pattern="hit", path="out")


async def test_outputs_may_be_searched(context: FakeContext, workspace: Path) -> None:
    fill(workspace.parent, {"outputs/whole.txt": "hit\n"})
    found = await grep(context, "hit", path=f"{context.outputs_dir}/whole.txt")
    assert found == f"{context.outputs_dir}/whole.txt:1: hit"


async def test_a_pattern_of_absurd_length_is_an_error(context: FakeContext) -> None:
    assert "too long" in await failure(GREP, context, pattern="x" * 200_000)


async def test_a_planted_program_on_a_relative_path_is_not_run(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"rg": "#!/bin/sh\ntouch PWNED\n", "bin/rg": "#!/bin/sh\ntouch PWNED\n", "a": "hit\n"})
    for name in ("rg", "bin/rg"):
        (workspace / name).chmod(0o755)
    context.env = {"PATH": f".::bin:{workspace}/bin"}
    assert "a:1: hit" in await grep(context, "hit")
    assert not (workspace / "PWNED").exists()


async def test_a_program_that_is_no_ripgrep_does_no_harm(context: FakeContext, workspace: Path) -> None:
    tools_dir = workspace.parent / "tools"
    fill(tools_dir, {"rg": "#!/bin/sh\nexit 3\n"})
    (tools_dir / "rg").chmod(0o755)
    context.env = {"PATH": str(tools_dir)}
    fill(workspace, {"a": "hit\n"})
    assert await grep(context, "hit") == "a:1: hit"


WORDS = st.sampled_from([b"hit", b"a.c", b"q\xffq", b" ", b"\t", "é".encode(), b"x" * 600, b"\x0c", b"HIT"])
LINES = st.tuples(st.lists(WORDS, max_size=4).map(b"".join), st.sampled_from([b"", b"", b"\r"])).map(b"".join)
CONTENT = st.lists(LINES, max_size=6).map(b"\n".join)


ARGUMENTS = st.fixed_dictionaries(
    {
        "pattern": st.sampled_from(
            ["hit", "^hit", "t$", "a.c", "h.t", "é", r"\s", "[^x]$", "(?i)hit", "x{600}", ".", r"\S+ \S"]
        ),
        "literal": st.booleans(),
        "ignore_case": st.booleans(),
        "context": st.integers(0, 2),
        "limit": st.integers(1, 6),
    }
)


@NEEDS_RG
@given(contents=st.lists(CONTENT, min_size=1, max_size=4), arguments=ARGUMENTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_both_engines_give_the_same(
    context: FakeContext, workspace: Path, contents: list[bytes], arguments: dict[str, Any]
) -> None:
    assert RG
    for path in workspace.iterdir():
        path.unlink()
    fill(workspace, {f"f{number}.txt": content for number, content in enumerate(contents)})
    context.sandbox = InProcessSearches()
    outputs = []
    for search_path in (str(Path(RG).parent), "/nonexistent"):
        context.env = {"PATH": search_path}
        outputs.append(await call(GREP, context, **arguments))
    assert outputs[0] == outputs[1]


@NEEDS_RG
def test_ripgrep_is_told_to_read_no_configuration(tmp_path: Path) -> None:
    """What the tests above rely on: our options, and nobody else's."""
    (tmp_path / "rc").write_text("--files-with-matches\n")
    (tmp_path / "a").write_text("hit\n")
    argv = [str(RG), "--no-config", "hit", "a"]
    env = {"RIPGREP_CONFIG_PATH": str(tmp_path / "rc")}
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "hit"


async def test_a_script_gets_every_match(context: FakeContext, workspace: Path) -> None:
    fill(workspace, {"a.txt": "hit\n" * 150})
    assert len((await call(GREP, context, pattern="hit")).value) == 100
    context.is_inner = True
    assert len((await call(GREP, context, pattern="hit")).value) == 150
    assert len((await call(GREP, context, pattern="hit", limit=7)).value) == 7


async def test_a_script_is_told_when_there_is_more_than_it_can_have(
    context: FakeContext, workspace: Path
) -> None:
    fill(workspace, {"a.txt": "hit\n" * (SCRIPT_LIMIT + 1)})
    context.is_inner = True
    assert "More than 10,000 matches" in await failure(GREP, context, pattern="hit")
