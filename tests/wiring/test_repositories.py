"""Where other repositories are kept, and who may read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_batch.repository_address import address_of
from pi_batch.results import PlannedResult
from pi_batch.spec import Plan, PlannedTask, SuiteBudgetSpec, TaskSpec, WorkspaceSpec
from pi_batch.wiring.repositories import login_for, secrets_of
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings
from tests.cases.turns import say
from tests.cli.calling import Desk
from tests.cli.conftest import desk as desk  # noqa: PLC0414 -- the fixture
from tests.workspaces.mirroring import Forge

GHE = {"GITHUB_SERVER_URL": "https://ghe.example"}
GITLAB = {"CI_SERVER_URL": "https://gl.example.org", "CI_JOB_TOKEN": "job"}


@pytest.mark.parametrize(
    ("address", "environ", "credentials"),
    [
        ("https://me:pa@h/a", {"GH_TOKEN": "t"}, "me:pa"),
        ("https://github.com/me/a", {"GH_TOKEN": "t"}, "x-access-token:t"),
        ("https://github.com/me/a", {"GITHUB_TOKEN": "t"}, "x-access-token:t"),
        ("https://GitHub.com/me/a", {}, None),
        ("https://evil.example/github.com", {"GH_TOKEN": "t"}, None),
        ("http://github.com/me/a", {"GH_TOKEN": "t"}, None),
        (
            "https://ghe.example/a",
            {"GH_TOKEN": "t", "GITHUB_SERVER_URL": "https://ghe.example"},
            "x-access-token:t",
        ),
        ("git@github.com:me/a", {"GH_TOKEN": "t"}, None),
        ("https://gl.example.org/a", GITLAB, "gitlab-ci-token:job"),
        ("https://gl.example.org/a", {**GITLAB, "PI_BATCH_PUSH_TOKEN": "push"}, "oauth2:push"),
        ("https://h/a", GITLAB, None),
        ("/srv/a", {"GH_TOKEN": "t"}, None),
    ],
)
def test_a_token_goes_to_the_server_that_it_is_for(
    address: str, environ: dict[str, str], credentials: str | None
) -> None:
    login = login_for(address_of(address), environ)
    assert (login.credentials if login else None) == credentials


def test_mirrors_are_kept_in_the_users_cache_unless_said_otherwise(tmp_path: Path) -> None:
    def place(**environ: str) -> Path:
        return Settings(Surroundings(tmp_path, environ)).mirrors

    assert place() == tmp_path / ".pi-batch/mirrors"
    assert place(HOME="/h") == Path("/h/.cache/pi-batch/mirrors")
    assert place(HOME="/h", XDG_CACHE_HOME="/c") == Path("/c/pi-batch/mirrors")
    assert place(HOME="/h", PI_BATCH_MIRRORS="m") == tmp_path / "m"


def test_what_is_secret_of_an_address_is_masked_wherever_it_appears() -> None:
    def planned(repo: str | None) -> PlannedTask:
        spec = TaskSpec(id="t", prompt="p", workspace=WorkspaceSpec(repo=repo))
        return PlannedTask(PlannedResult("t", "t", "", "s", "0", "m/m"), spec, "/", "m/m")

    tasks = tuple(map(planned, ("https://me:s3cret@h/a", "https://token@h/a", "/srv/a", None)))
    assert secrets_of(Plan(tasks, SuiteBudgetSpec())) == ("me:s3cret", "s3cret", "token:", "token")


@pytest.mark.slow
def test_one_repository_that_is_gone_ends_its_own_tasks_alone(desk: Desk, tmp_path: Path) -> None:
    forge = Forge(tmp_path)
    desk.record(say("done"))
    desk.write(
        "s.yaml",
        "tasks: [{id: t, prompt: p, verify: ['test -f a.txt']}]\n"
        f"matrix: {{repo: [{forge.bare}, /nowhere/gone.git, 'http://me:hunter2@127.0.0.1:1/x']}}\n",
    )
    done = desk.call("run", "s.yaml", "-m", "replay/session.jsonl", "--output", "out")
    assert done.code == 3
    found = {one["key"]: one for one in json.loads(desk.path.joinpath("out/run.json").read_text())["results"]}
    assert found["t--r"]["outcome"] == "passed"
    assert found["t--r"]["repo"] == str(forge.bare)
    assert [found[key]["error"]["kind"] for key in ("t--gone", "t--x")] == ["workspace", "workspace"]
    assert found["t--gone"]["reason"].startswith("/nowhere/gone.git: cannot be fetched: ")
    written = b"".join(path.read_bytes() for path in desk.path.joinpath("out").rglob("*") if path.is_file())
    assert b"hunter2" not in written
    assert "hunter2" not in done.out + done.err
