"""An allow list of commands is not got around: what it does not cover is refused, and proven by running it.

Each bypass is made of an allowed command and a forbidden one, put together in every way that a shell knows.
Those that are refused are run, too, behind walls: they must really do the forbidden thing, or the generator
would prove nothing. What is allowed is run as well, and must not do it.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from pi_batch.permissions import check_command
from pi_batch.sandboxes import load
from pi_batch.spec import PathRules
from tests.sandboxes.rigs import PATH, place_in, works

ALLOWED = PathRules(
    allow=(
        *("git log*", "git status", "cat *", "echo *", "ls*", "find *", "true"),
        *("printf *", "test *", "[ *", "[[ *"),
    )
)
GOOD = "echo a"
BAD = "touch pwned"

JOINED = [
    "{good}; {bad}",
    "{good} && {bad}",
    "false || {bad}; {good}",
    "{good} | {bad}",
    "{good} |& {bad}",
    "{good} & {bad}",
    "{good}\n{bad}",
    "{good} # comment\n{bad}",
    "echo $({bad})",
    "echo `{bad}`",
    'echo "$({bad})"',
    'echo "`{bad}`"',
    "echo ${{x:=$({bad})}}",
    'echo "${{x:-$({bad})}}"',
    "echo $((1+$({bad})0))",
    "echo ${{a[$({bad})]}}",
    "cat <({bad})",
    "echo a > >({bad}; cat)",
    "cat <<< $({bad})",
    "cat <<E\n$({bad})\nE",
    "cat <<-E\n`{bad}`\nE",
    "({bad})",
    "{{ {bad}; }}",
    "if {bad}; then true; fi",
    "while {bad}; do break; done",
    "until {bad}; do true; done",
    "for i in 1; do {bad}; done",
    "for i in $({bad}); do true; done",
    "case x in x) {bad};; esac",
    "case $({bad}) in x) true;; esac",
    "! {bad}",
    "time {bad}",
    "f() {{ {bad}; }}; f",
    "function f {{ {bad}; }}; f",
    "echo() {{ {bad}; }}; echo a",
    "trap '{bad}' EXIT",
    "eval {bad}",
    "eval 'echo a; {bad}'",
    "command {bad}",
    "exec {bad}",
    "builtin eval {bad}",
    "env {bad}",
    "bash -c '{bad}'",
    "sh -c '{bad}'",
    "echo '{bad}' | sh",
    "echo pwned | xargs touch",
    "X=1 {bad}",
    "coproc {bad}; wait",
    "[[ -n $({bad}) ]] || true",
    "(( a = $({bad})0 )) || true",
    "tou''ch pwned",
    "t\\ouch pwned",
    "$'touch' pwned",
    "x=touch; $x pwned",
    "$(echo touch) pwned",
    "to\\\nuch pwned",
    "/bin/touch pwned",
    "echo a > pwned",
    "echo a >> pwned",
    "echo a >| pwned",
    "echo a &> pwned",
    "echo a 2> pwned",
    "echo a <> pwned",
    "> pwned",
    "cat /dev/null 1> pwned",
    "find . -maxdepth 0 -exec touch pwned ;",
    "find . -maxdepth 0 -exec touch pwned \\;",
    "find . -maxdepth 0 -fprint pwned",
    "git -c alias.x='!{bad}' x",
    "git -c core.fsmonitor='{bad}; false' status",
    "git log --output=pwned",
    "git log --outp=pwned",
    "GIT_EXTERNAL_DIFF='sh -c \"{bad}\"' git log -p --ext-diff",
    "PATH=.:$PATH git status; {bad}",
    "source <(echo {bad})",
    ". <(echo {bad})",
    "printf '%s ' {bad} | bash",
    "mapfile -C '{bad} #' -c 1 < /etc/passwd",
    "{bad} & wait; {good}",
]
VALUES = "for x in 'a[$(touch pwned)]'; do {}; done"
"""A value that runs something wherever the shell takes it for a sum or a name."""
EXPANDED = [
    'echo "${x:=\\$(touch pwned)}${x@P}"',
    'echo "${x=\\`touch pwned\\`}${x@P}"',
    "for x in '$(touch pwned)'; do echo \"${x@P}\"; done",
    "for x in '$(touch pwned)'; do cat <<E\n${x@P}\nE\ndone",
    "for x in 'a[$(touch pwned)]'; do cat <<E\n$((x))\nE\ndone",
    *(
        VALUES.replace("{}", use)
        for use in (
            *(
                "echo $((x))",
                'echo "$((x))"',
                "echo $(( 1 ? x : 0 ))",
                "echo $(($x))",
                "echo $[x]",
                "echo ${PWD:x}",
            ),
            *(
                'echo "${PWD/${PWD:x}/}"',
                "echo ${PWD::x}",
                "echo ${c[x]}",
                "cat <<< $((x))",
            ),
            *('printf -v "$x" y', '[ -v "$x" ]', 'test -v "$x"', "[[ $x -eq 1 ]]", "[[ -v $x ]]"),
        )
    ),
    "find . -maxdepth 0 {-exec,touch,pwned,\\;}",
    "git log {--output=pwned,}",
    "for x in output=pwned; do git log --$x; done",
    "for x in -; do git log ${x}-output=pwned; done",
    "for x in exec; do find . -maxdepth 0 -$x touch pwned \\; ; done",
    "find . -maxdepth 0 -e*c touch pwned \\;",
    "find . -maxdepth 0 *exec touch pwned \\;",
    "find . -maxdepth 0 [-]exec touch pwned \\;",
    "for PATH in .; do git status; done",
    "for HOME in .; do git status; done",
    "for GIT_PAGER in 'touch pwned'; do git log; done",
]
"""What does no harm as it is written, and does once the shell has expanded it."""
BYPASSES = [*(template.format(good=GOOD, bad=BAD) for template in JOINED), *EXPANDED]
NESTED = [
    outer.format(good=GOOD, bad=inner.format(good=GOOD, bad=BAD))
    for outer in JOINED
    for inner in JOINED
    if not any(quote in inner and quote in outer for quote in "'`")  # they would end each other
]
"""Every way within every other."""
INERT = {
    "find . -maxdepth 0 -exec touch pwned ;",
    "git log --outp=pwned",
    f"GIT_EXTERNAL_DIFF='sh -c \"{BAD}\"' git log -p --ext-diff",
}
"""What this shell, this git or this repository makes nothing of; refused all the same."""
INERT |= {"for HOME in .; do git status; done", "for GIT_PAGER in 'touch pwned'; do git log; done"}

TWINS = [
    "echo a; echo b && ls | cat -",
    "echo '$(touch pwned)'",
    "echo 'a > pwned; touch pwned'",
    'echo "a; touch pwned" | cat -',
    "echo \\$\\(touch pwned\\)",
    "cat <<'E'\n$(touch pwned)\nE",
    "ls >/dev/null 2>&1",
    "for i in 1 2; do echo $i; done",
    "if true; then echo yes; fi",
    "git log --oneline -3 2>/dev/null | cat -",
    "find . -name '*.x'",
    "echo a # touch pwned",
    'for f in *.txt; do cat "$f"; done',
    "for f in a b; do git log --oneline -- $f; done",
    "echo ${HOME:-none} ${#PATH} ${PWD##*/} $((1 + 2)) {a,b} $?",
    "cat src/*.py docs/{a,b}.md",
    "[ -f x ] || test -d y || printf '%s\\n' no",
    "find . -name '*.{x,y}' -not -path './$x/*'",
]


@pytest.mark.parametrize("command", BYPASSES)
def test_a_bypass_is_refused(command: str) -> None:
    assert check_command(ALLOWED, command) is not None


@pytest.mark.parametrize("command", TWINS)
def test_ordinary_work_with_the_same_signs_is_let_through(command: str) -> None:
    assert check_command(ALLOWED, command) is None


def test_no_way_within_another_is_let_through() -> None:
    let_through = [command for command in NESTED if check_command(ALLOWED, command) is None]
    assert let_through == []
    assert len(NESTED) > 3000


def test_there_are_more_than_forty_bypasses() -> None:
    assert len(set(BYPASSES)) == len(BYPASSES) > 40


def test_connections_by_redirection_are_refused() -> None:
    assert check_command(ALLOWED, "cat < /dev/tcp/127.0.0.1/80") is not None
    assert check_command(ALLOWED, "cat < /etc/passwd") is None


def test_an_option_that_writes_is_allowed_by_name_only() -> None:
    assert check_command(PathRules(allow=("git log --output=*",)), "git log --output=x") is None
    assert check_command(PathRules(allow=("git log*",)), "git log --oneline --out=x") is not None


@pytest.mark.slow
@pytest.mark.skipif(not works("bwrap"), reason="no bwrap here")
async def test_what_is_refused_would_have_had_its_effect_and_what_is_allowed_has_none(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    sandbox = load("bwrap")(place)
    await sandbox.start()

    async def leaves_a_mark(command: str) -> bool:
        output: list[bytes] = []
        script = f"git init -q . 2>/dev/null; {command}"
        await sandbox.exec(
            ["bash", "-c", script if "\n" not in command else command],
            cwd=place.root,
            env={"PATH": PATH, "HOME": place.scratch},
            timeout_s=10,
            on_output=output.append,
        )
        found = Path(place.root, "pwned").exists()
        Path(place.root, "pwned").unlink(missing_ok=True)
        return found

    try:
        (Path(place.root) / "-exec").touch()
        (Path(place.root) / "git").write_text("#!/bin/sh\n/usr/bin/touch pwned\n", encoding="ascii")
        (Path(place.root) / "git").chmod(0o755)
        await leaves_a_mark("git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x")
        harmless = {command for command in BYPASSES if not await leaves_a_mark(command)}
        assert [command for command in TWINS if await leaves_a_mark(command)] == []
    finally:
        await sandbox.close()
    assert harmless <= INERT


PIECES = [
    *(
        "echo a",
        "echo ",
        "touch pwned",
        "touch pwned",
        "touch pwned",
        "$(",
        "`",
        ")",
        "(",
        '"',
        "'",
        "\n",
        ";",
        "&",
    ),
    *(
        "&&",
        "|",
        "||",
        "<<E",
        "<<-E",
        "<<'E'",
        "E",
        "\nE\n",
        "{ ",
        "; }",
        "for x in a",
        "; do ",
        "; done",
        "\\`",
    ),
    *(
        "case x in x)",
        "*)",
        " esac",
        ";;",
        "#",
        " #",
        "\\",
        "\\\n",
        "$x",
        "${x",
        "${x:-",
        "}",
        "@P}",
        "((",
        "))",
        "$((",
    ),
    *(
        "[[",
        "]]",
        "<(",
        ">(",
        "find . ",
        "git log ",
        "cat ",
        ">",
        ">/dev/null",
        "2>&1",
        "if true; then ",
        "; fi",
    ),
    *(
        "! ",
        "time ",
        "coproc ",
        "function f ",
        "f() ",
        "eval ",
        "\t",
        "$'",
        "\\'",
        "x=",
        "{a,b}",
        "*",
        "~",
        "<<<",
    ),
    *(
        "&>",
        "|&",
        "true;",
        "while true; do ",
        "break",
        "$(cat <<E\n",
        "\r",
        "\x0b",
        "\u00a0",
        "-- ",
        "until ",
        "else ",
    ),
]


@pytest.mark.fuzz
@pytest.mark.skipif(not works("bwrap"), reason="no bwrap here")
async def test_nothing_put_together_by_chance_is_let_through_and_does_harm(tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("PI_BATCH_FUZZ_SEED", "1")))
    tries = int(os.environ.get("PI_BATCH_FUZZ_TRIES", "4000"))
    place = place_in(tmp_path)
    sandbox = load("bwrap")(place)
    await sandbox.start()
    ran = 0
    try:
        for _ in range(tries):
            command = "touch pwned".join(
                "".join(chance.choices(PIECES, k=chance.randint(0, 5))) for _part in range(2)
            )
            if check_command(ALLOWED, command) is not None:
                continue
            ran += 1
            env = {"PATH": PATH, "HOME": place.scratch}
            await sandbox.exec(
                ["bash", "-c", command], cwd=place.root, env=env, timeout_s=2, on_output=lambda _: None
            )
            assert not Path(place.root, "pwned").exists(), command
    finally:
        await sandbox.close()
    assert ran
