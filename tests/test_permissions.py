"""Path globs and command patterns: what they cover, and how a refusal is worded."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.permissions import Denial, check_call, check_command, check_path, gitignore_regex
from pi_batch.spec import PathRules, PermissionsSpec

# --- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("glob", "denied", "allowed"),
    [
        ("tests/**", ["tests/a.py", "tests/deep/b.py"], ["tests", "src/tests.py", "a/tests/b.py"]),
        ("tests", ["tests", "tests/a.py", "a/tests/b.py"], ["tests.py", "mytests/a"]),
        ("tests/", ["tests/a.py", "a/tests/b.py"], ["tests"]),
        ("/tests", ["tests/a.py"], ["a/tests/b.py"]),
        ("./tests/**", ["tests/a.py"], ["a/tests/b.py"]),
        ("*.pem", ["a.pem", "deep/er/a.pem"], ["a.pem.txt", "pem"]),
        ("**/secret/*", ["secret/a", "x/secret/a"], ["secret"]),
        ("src/*.py", ["src/a.py"], ["src/deep/a.py", "lib/src/a.py"]),
        (".github/**", [".github/workflows/ci.yml"], ["github/x"]),
        ("[ab].txt", ["a.txt", "x/b.txt"], ["c.txt"]),
        ("é*", ["été.txt"], ["ete.txt"]),
        ("a b", ["a b"], ["a"]),
        ("**", ["a", "a/b"], []),
        ("*", ["a", "a/b"], []),
        (".*", [".env", "a/.env"], ["a.env"]),
        ("*/", ["a/b"], ["a"]),
    ],
)
def test_a_deny_glob_covers_paths_like_gitignore(glob: str, denied: list[str], allowed: list[str]) -> None:
    rules = PathRules(deny=(glob,))
    assert [path for path in denied if check_path(rules, path) != f"deny: {glob}"] == []
    assert [path for path in allowed if check_path(rules, path) is not None] == []


def test_deny_wins_over_allow() -> None:
    rules = PathRules(allow=("src/**",), deny=("src/generated/**",))
    assert check_path(rules, "src/a.py") is None
    assert check_path(rules, "src/generated/a.py") == "deny: src/generated/**"
    assert check_path(rules, "docs/a.md") == "allow: src/**"


def test_no_allow_list_allows_all_and_an_empty_one_nothing() -> None:
    assert check_path(PathRules(), "a") is None
    assert check_path(PathRules(allow=()), "a") == "allow: nothing"


def test_an_exception_takes_out_of_the_globs_before_it() -> None:
    rules = PathRules(deny=("tests/**", "!tests/fixtures/**", "*.key"))
    assert check_path(rules, "tests/a.py") == "deny: tests/**"
    assert check_path(rules, "tests/fixtures/a.txt") is None
    assert check_path(rules, "tests/fixtures/a.key") == "deny: *.key"


@pytest.mark.parametrize(
    "path", ["src/../tests/a.py", "./tests/a.py", "tests//a.py", "tests/./a.py", "a/b/../../tests/a.py"]
)
def test_a_path_is_judged_by_where_it_leads(path: str) -> None:
    assert check_path(PathRules(deny=("tests/**",)), path) == "deny: tests/**"


@pytest.mark.parametrize("path", ["/etc/passwd", "../sibling/a.py", "..", "src/../../tests/a.py"])
def test_a_path_outside_is_covered_by_names_only(path: str) -> None:
    rules = PathRules(allow=("src/**",), deny=("tests/**", "etc/**", "sibling/**"))
    assert check_path(rules, path) is None
    assert check_path(PathRules(deny=("passwd", "*.py", "..")), path) in (
        None,
        "deny: passwd",
        "deny: *.py",
        "deny: ..",
    )


def test_a_secret_name_is_denied_outside_too() -> None:
    assert check_path(PathRules(deny=("*.pem",)), "/outputs/key.pem") == "deny: *.pem"


def test_the_workspace_itself_is_no_path_of_its_own() -> None:
    assert check_path(PathRules(deny=("**", ".*")), ".") is None


@pytest.mark.parametrize("line", ["", "  ", "# comment", "[z-a]", "/", "!"])
def test_a_line_that_says_nothing_has_no_expression(line: str) -> None:
    assert gitignore_regex(line)[0] is None
    assert check_path(PathRules(deny=(line,)), "a") is None


@given(st.text("ab/*?[]!.# ", max_size=10), st.text("ab/.", min_size=1, max_size=10))
def test_any_glob_and_path_can_be_judged(glob: str, path: str) -> None:
    rule = check_path(PathRules(deny=(glob,)), path)
    assert rule in (None, f"deny: {glob}")


# --- calls ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arguments:
    """What bash was called with."""

    command: str = ""


RULES = PermissionsSpec(
    read=PathRules(deny=("secrets/**",)),
    write=PathRules(deny=("tests/**",)),
    bash=PathRules(deny=("git push*",)),
)


@pytest.mark.parametrize(
    ("tool", "path", "rule"),
    [
        ("read", "secrets/a", "permissions.read.deny: secrets/**"),
        ("grep", "secrets/a", "permissions.read.deny: secrets/**"),
        ("find", "secrets/a", "permissions.read.deny: secrets/**"),
        ("ls", "secrets/a", "permissions.read.deny: secrets/**"),
        ("edit", "secrets/a", "permissions.read.deny: secrets/**"),
        ("write", "secrets/a", None),
        ("write", "tests/a.py", "permissions.write.deny: tests/**"),
        ("edit", "tests/a.py", "permissions.write.deny: tests/**"),
        ("read", "tests/a.py", None),
        ("grep", ".", None),
        ("think", "tests/a.py", None),
        ("mcp__x__y", "tests/a.py", None),
    ],
)
def test_each_tool_has_its_rules(tool: str, path: str, rule: str | None) -> None:
    denial = check_call(RULES, tool, Arguments(), (path,))
    assert (denial.rule if denial else None) == rule


def test_a_denial_tells_the_model_what_it_may_not_do() -> None:
    assert check_call(RULES, "write", Arguments(), ("a.py", "tests/a.py")) == Denial(
        "permissions.write.deny: tests/**",
        "Denied by permissions.write.deny: tests/**. tests/a.py may not be written; do the task without it.",
    )
    denial = check_call(RULES, "bash", Arguments("git push"), ())
    assert denial is not None
    assert denial.rule == "permissions.bash.deny: git push*"
    assert "was not run" in denial.reason


@pytest.mark.parametrize(
    ("allow", "path", "is_allowed"),
    [
        (("src/**",), ".", True),
        (("src/**",), "src", True),
        (("src/**",), "src/deep", True),
        (("src/**",), "docs", False),
        (("a/b/*.py",), "a", True),
        (("a/b/*.py",), "a/b/c", True),
        (("a/b/*.py",), "a/c", False),
        (("*.py",), "anywhere", True),
        (("**/x/*.py",), "anywhere", True),
        ((), "anywhere", False),
    ],
)
def test_a_search_may_start_wherever_the_allow_list_names_something(
    allow: tuple[str, ...], path: str, is_allowed: bool
) -> None:
    rules = PermissionsSpec(read=PathRules(allow=allow))
    for tool in ("grep", "find", "ls"):
        assert (check_call(rules, tool, Arguments(), (path,)) is None) == is_allowed
    if path != ".":
        is_exact = check_path(rules.read, path) is None
        assert (check_call(rules, "read", Arguments(), (path,)) is None) == is_exact


# --- commands -------------------------------------------------------------------------------------

PUSHES = [
    "git push",
    "git  push\torigin main",
    " git push ",
    "a; git push",
    "a && git push",
    "a || git push",
    "a | git push",
    "git push & b",
    "a\ngit push",
    "(git push)",
    "( cd x && git push )",
    "{ git push; }",
    "$(git push)",
    "echo `git push`",
    'echo "x $(git push) y"',
    'echo "x `git push` y"',
    "echo $((1+$(git push)))",
    "$((git push) )",
    "echo $((git push) && (echo x))",
    "cat <(git push)",
    "tee >(git push)",
    'x="$(git push)"',
    "X=1 git push",
    "X=1 Y='a b' git push",
    "PATH+=:/x a[0]=1 git push",
    "sudo git push",
    "sudo -u bob git push",
    "env A=b git push",
    "env -i PATH=/bin git push",
    'env -S "git push"',
    "nohup git push &",
    "time git push",
    "time -p git push",
    "command git push",
    "builtin command git push",
    "exec git push",
    "exec -a name git push",
    "nice -n 5 git push",
    "timeout -k 5 10 git push",
    "stdbuf -oL git push",
    "setsid -w git push",
    "xargs git push",
    "xargs -I{} git push {}",
    "find . -name x -exec git push \\;",
    "sudo env X=1 timeout 5 git push",
    "if true; then git push; fi",
    "if git push; then x; fi",
    "while git push; do x; done",
    "for i in 1 2; do git push; done",
    "case x in a) git push;; esac",
    "! git push",
    "coproc git push",
    "coproc NAME { git push; }",
    'cat <<EOF\n"$(bash -c "git push")"\nEOF',
    "f() { git push; }; f",
    "function f { git push; }; f",
    "if x\nthen git push\nfi",
    "/usr/bin/git push",
    "./bin/git push",
    "sudo /usr/bin/git push",
    "git -C dir push",
    "git -c a=b push origin",
    "git --git-dir=x --no-pager push",
    "git --git-dir x --work-tree y push",
    "/usr/bin/git -C x push",
    'git -c alias.x="!git push" x',
    'bash -c "git push"',
    "bash -c 'cd x && git push'",
    'sh -lc "git push"',
    'bash -o pipefail -c "git push"',
    'sudo bash -c "git push"',
    "sudo sh -c \"eval 'git push'\"",
    "bash -c \"bash -c 'git push'\"",
    'nice -n 5 bash -ec "true; /usr/bin/git -C x push"',
    'su -c "git push"',
    "eval git push",
    'eval "git push"',
    'trap "git push" EXIT',
    'alias p="git push"; p',
    "bash <<EOF\ngit push\nEOF",
    "bash -s <<'EOF'\ngit push\nEOF",
    "sudo bash <<EOF\ngit push\nEOF",
    "cat <<EOF | sh\ngit push\nEOF",
    'bash <<< "git push"',
    'echo "git push" | bash',
    "echo git push | sh -s",
    "printf 'git push' | sudo sh",
    "cat <<EOF\n$(git push)\nEOF",
    "cat <<A <<B\n1\nA\n2\nB\ngit push",
    'g"i"t pu\\sh',
    "'git' \"push\"",
    "$'git' push",
    "$'\\x67it' push",
    "git \\\npush",
    ">out git push",
    "git >out push",
    "git 2>&1 push",
    "git push 2>&1 | tee log",
    "&>x git push",
    "git push>/dev/null",
    'echo "unclosed; git push',
    "echo 'unclosed\ngit push",
    "echo $(unclosed; git push",
]


@pytest.mark.parametrize("command", PUSHES)
def test_a_denied_command_is_found_wherever_it_stands(command: str) -> None:
    assert check_command(PathRules(deny=("git push*",)), command) == "deny: git push*"


@pytest.mark.parametrize(
    "command",
    [
        "",
        "   ",
        "git status",
        "git pull # git push",
        "# git push",
        "echo git push",
        "echo 'a; git push'",
        'echo "a; git push"',
        'git commit -m "git push"',
        "git log --grep=push",
        "git stash push",
        'grep -r "git push" docs',
        "cat > README.md <<'EOF'\ngit push\nEOF",
        "cat <<-EOF\n\tgit push\n\tEOF",
        "echo $((1+2))",
        "echo a\\;git push",
        "gitpush",
        "mygit push",
        "bash script.sh push",
        "python -c 'print(1)'",
    ],
)
def test_text_that_only_looks_like_it_is_let_through(command: str) -> None:
    assert check_command(PathRules(deny=("git push*",)), command) is None


@pytest.mark.parametrize(
    ("pattern", "denied", "allowed"),
    [
        ("git push *", ["git push", "git push origin"], ["git pushy"]),
        ("git push", ["git push"], ["git push origin"]),
        ("rm -rf *", ["rm -rf /", "sudo rm -rf x"], ["rm -r x"]),
        ("curl*", ["curl x", "/usr/bin/curl x", "x | curl"], ["echo curl"]),
        ("sudo *", ["sudo ls", "a; sudo -u x ls"], ["ls"]),
        ("*--force*", ["git push --force", "x --force-y"], ["git push"]),
        ("pip  install *", ["pip install x"], ["pip list"]),
        ("npm [ip]*", ["npm install", "npm publish"], ["npm run"]),
        ("git push*", ["cat <<EOF\n$(git push\n)\nEOF"], []),
    ],
)
def test_patterns_are_globs_over_one_command(pattern: str, denied: list[str], allowed: list[str]) -> None:
    rules = PathRules(deny=(pattern,))
    assert [command for command in denied if check_command(rules, command) is None] == []
    assert [command for command in allowed if check_command(rules, command) is not None] == []


STRICT = PathRules(allow=("pytest*", "git status", "cat *", "echo *"))


@pytest.mark.parametrize(
    "command",
    [
        "",
        "pytest",
        "pytest -q tests && git status",
        "pytest 2>&1 | cat -",
        "pytest >/dev/null 2>/dev/null",
        "cat $(cat list)",
        "if pytest; then git status; fi",
        "for f in a b; do cat $f; done",
        "echo $((1+(2*3)))",
        "cat <<'EOF'\nanything; rm -rf /\nEOF",
        'cat <<EOF\n$(cat x) "quoted"\nEOF',
        "  pytest   -q  ",
    ],
)
def test_an_allow_list_lets_through_what_it_covers_wholly(command: str) -> None:
    assert check_command(STRICT, command) is None


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("rm x", "does not cover 'rm x'"),
        ("pytest; rm x", "does not cover 'rm x'"),
        ("pytest && rm x", "does not cover 'rm x'"),
        ("pytest | tee log", "does not cover 'tee log'"),
        ("cat $(rm x)", "does not cover 'rm x'"),
        ('echo "`rm x`"', "does not cover 'rm x'"),
        ("echo <(rm x)", "does not cover 'rm x'"),
        ("cat <<EOF\n$(rm x)\nEOF", "does not cover 'rm x'"),
        ("for i in a; do rm x; done", "does not cover 'rm x'"),
        ("function pytest { rm x; }; pytest", "does not cover"),
        ("pytest() { rm x; }; pytest", "does not cover 'rm x'"),
        ("X=1 pytest", "does not cover 'X=1 pytest'"),
        ("LD_PRELOAD=./x.so pytest", "does not cover"),
        ("sudo pytest", "does not cover 'sudo pytest'"),
        ("bash -c pytest", "does not cover 'bash -c pytest'"),
        ("./pytest", "does not cover './pytest'"),
        ("pytest > src/a.py", "redirected to 'src/a.py'"),
        ("echo x >> ~/.bashrc", "redirected to '~/.bashrc'"),
        ("echo x >| f", "redirected to 'f'"),
        ("echo x &> f", "redirected to 'f'"),
        ("> f", "redirected to 'f'"),
        ('pytest "', "open quote"),
        ("cat $(x", "open quote"),
        ("cat <<EOF\nx", "open quote"),
    ],
)
def test_an_allow_list_refuses_whatever_it_does_not_cover(command: str, why: str) -> None:
    rule = check_command(STRICT, command)
    assert rule is not None
    assert rule.startswith("allow: ")
    assert why in rule


def test_deny_wins_over_allow_for_commands() -> None:
    rules = PathRules(allow=("git *",), deny=("git push*",))
    assert check_command(rules, "git status") is None
    assert check_command(rules, "git push") == "deny: git push*"
    assert check_command(PathRules(allow=()), "ls") == "allow: nothing does not cover 'ls'"


@pytest.mark.parametrize(
    "command",
    [
        "sudo " * 400,
        "$(" * 4000,
        "`" * 20_000,
        "(" * 20_000,
        "bash -c 'sudo " * 300,
        "eval " * 3000,
        "<<E " * 2000,
        "$((" * 3000,
        "x" * 300_000,
        '"' + "y" * 300_000,
        "a;" * 20_000,
        "$'\\" * 5000,
        "xargs " + "sh -c 'env x' " * 100,
    ],
)
def test_hostile_lines_are_judged_all_the_same(command: str) -> None:
    assert check_command(PathRules(deny=("git push*",)), command) in (
        None,
        "deny: too many commands within commands to judge them all",
    )


def test_too_many_commands_are_refused_where_something_is_denied() -> None:
    command = "; ".join(f"x{number}" for number in range(3000))
    assert check_command(PathRules(deny=("git push*",)), command) == (
        "deny: too many commands within commands to judge them all"
    )
    assert check_command(PathRules(), command) is None


@given(st.text(" \n;&|()$`'\"\\<>{}=#gitpushbc-", max_size=40))
def test_any_text_can_be_judged(command: str) -> None:
    check_command(PathRules(deny=("git push*",)), command)
    check_command(PathRules(allow=("git *",)), command)


@given(
    st.sampled_from(["", "a; ", "a && ", "X=1 ", "sudo ", "if x; then ", "( ", "{ ", "! ", "a\n", "a | "]),
    st.sampled_from(["git push", "git -C d push", "/usr/bin/git push", "'git' push", 'sh -c "git push"']),
    st.sampled_from(["", " origin", "; b", " && b", " | b", " )", " &", "\nb", " >out", " # c", " 2>&1"]),
)
def test_what_stands_around_a_denied_command_does_not_hide_it(before: str, command: str, after: str) -> None:
    line = before + command + after
    assert check_command(PathRules(deny=("git push*",)), line) == "deny: git push*"
