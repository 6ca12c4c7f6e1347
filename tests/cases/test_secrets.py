"""Secrets: children do not get them, and what is printed all the same is hidden everywhere."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from tests.cases.project import BASE, Project, Ran
from tests.cases.turns import bash, say, turn, write

pytestmark = pytest.mark.slow

KEYS = {
    "PI_BATCH_TEST_KEY": "pi-batch-key-VALUE",
    "ANTHROPIC_API_KEY": "sk-ant-TESTVALUE0",
    "OPENAI_API_KEY": "sk-TESTVALUE1",
    "GITHUB_TOKEN": "ghs_TESTVALUE2",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "TESTVALUE3xx",
    "AWS_SECRET_ACCESS_KEY": "TESTVALUE4/+x",
    "NPM_TOKEN": "npm_TESTVALUE5",
    "DATABASE_URL": "postgres://u:TESTVALUE6@db/x",
}
SECRET = 'hidden value/+ "quoted" é'


def everything(ran: Ran) -> bytes:
    """All that a run wrote, anywhere."""
    return b"\n".join([ran.stdout, ran.stderr.encode(), *(path.read_bytes() for path in ran.files())])


def test_children_get_no_keys(project: Project) -> None:
    """earendil-works/pi#7522."""
    ran = project.run(
        turn(
            bash("env"),
            bash(
                "tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'"
            ),
            bash("export -p; declare -p"),
        ),
        env=KEYS,
        verify=["env"],
        workspace={"setup": ["env"]},
    )
    assert ran.exit_code == 0
    assert "PATH=" in ran.call(0, 0).text
    for name, value in KEYS.items():
        if name != "PI_BATCH_TEST_KEY":
            assert name not in ran.call(0, 0).text
        assert value.encode() not in everything(ran), name


def test_a_value_is_hidden_in_every_spelling(project: Project) -> None:
    raw = SECRET.encode()
    spellings = [
        SECRET,
        base64.b64encode(raw).decode(),
        base64.b64encode(b"x" + raw).decode(),
        base64.b64encode(b"xy" + raw).decode(),
        quote(SECRET, safe=""),
        json.dumps(SECRET)[1:-1],
        raw.hex(),
        raw.hex().upper(),
    ]
    lines = "\n".join(spellings)
    core = [
        base64.b64encode(raw).decode()[2:-4],
        raw.hex()[2:-2],
        "hidden value",
        quote("hidden value/+ ", safe=""),
    ]
    ran = project.run(
        turn(write("s.txt", lines), bash("cat s.txt; cat s.txt >&2"), text=f"I found {SECRET}"),
        turn(bash("cat s.txt | while IFS= read -r l; do printf '%s' \"$l\"; sleep 0.02; done")),
        say(f"The secret is {SECRET}\nand {raw.hex()}"),
        env={"SPECIAL": SECRET},
        args=["--secret", "SPECIAL", "--markdown", "m.md"],
        verify=["cat s.txt; exit 1"],
    )
    written = everything(ran) + (project.base / "m.md").read_bytes()
    for piece in core:
        assert piece.encode() not in written, piece
    assert b"***" in written


def test_a_patch_with_a_secret_is_withheld(project: Project) -> None:
    project.shell(BASE)
    ran = project.run(
        turn(bash("echo $GITHUB_TOKEN > leak.txt")),
        env=KEYS,
        isolation="clone",
        permissions={"env": ["PATH", "GITHUB_TOKEN"]},
    )
    assert b"ghs_TESTVALUE2" not in everything(ran)
    assert ran.exit_code == 3
    assert "secret" in ran.reason


def test_a_variable_that_is_passed_by_name_is_there_and_still_hidden(project: Project) -> None:
    ran = project.run(
        turn(bash("echo ${#NPM_TOKEN} letters; echo $NPM_TOKEN")),
        env=KEYS,
        permissions={"env": ["PATH", "NPM_TOKEN"]},
    )
    assert "14 letters" in ran.call(0).text
    assert b"npm_TESTVALUE5" not in everything(ran)


def test_short_or_missing_secrets_are_no_crash(project: Project) -> None:
    ran = project.run(turn(bash("echo abc")), env={"SHORT": "abc"}, args=["--secret", "SHORT"])
    assert ran.exit_code == 0
    missing = project.run(turn(bash("echo abc")), args=["--secret", "NOT_SET"])
    assert missing.exit_code == 2
    assert "NOT_SET" in missing.stderr
