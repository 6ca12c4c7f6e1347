"""Containers: what the engine is told, what commands get of an image, and that nothing of them stays."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from pi_batch.errors import SandboxError
from pi_batch.protocols import SandboxPlace
from pi_batch.sandboxes import load
from pi_batch.sandboxes.container import Container
from pi_batch.sandboxes.limits import Limits
from pi_batch.sandboxes.probe import probe
from tests.sandboxes.engines import ENGINES, image_of, settings
from tests.sandboxes.rigs import place_in, started

LIMITS = Limits(1 << 30, 200, 1 << 30)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with both engines on it."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ENGINES:
        (programs / name).write_text("#!/bin/sh\n", encoding="ascii")
        (programs / name).chmod(0o755)
    return str(programs)


def words(path: str, place: SandboxPlace, engine: str = "docker", image: str = "an/image:1") -> list[str]:
    made = Container(engine, image, place, LIMITS, {"PATH": path})
    return list(made.command(["the", "porter"])[0])


def values(words: list[str], option: str) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words) if word == option]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_container_has_no_right_no_network_and_limits(tmp_path: Path, path: str, engine: str) -> None:
    made = words(path, place_in(tmp_path), engine)
    assert made[:2] == [f"{path}/{engine}", "run"]
    assert {"--rm", "--read-only"} <= set(made)
    assert values(made, "--cap-drop") == ["ALL"]
    assert "no-new-privileges" in values(made, "--security-opt")
    assert values(made, "--network") == ["none"]
    assert values(made, "--memory") == values(made, "--memory-swap") == [str(1 << 30)]
    assert values(made, "--pids-limit") == ["200"]
    assert values(made, "--pull") == ["never"]
    assert values(made, "--user")[0].startswith(f"{os.geteuid()}:")
    assert not {"--privileged", "--volume", "-v", "--device", "--env"} & set(made)


def test_only_the_workspace_and_what_is_private_to_the_task_can_be_changed(tmp_path: Path, path: str) -> None:
    place = place_in(tmp_path)
    mounts = [
        dict(part.partition("=")[::2] for part in one.split(","))
        for one in values(words(path, place), "--mount")
    ]
    writable = {mount["src"] for mount in mounts if mount["type"] == "bind" and "readonly" not in mount}
    assert writable == {place.root, place.scratch, f"{place.scratch}/.tmp", f"{place.scratch}/.home"}
    assert not [
        mount for mount in mounts if "docker.sock" in str(mount) or mount["dst"] in ("/", "/run", "/var/run")
    ]


def test_all_of_the_network_is_the_engines_own_and_a_list_is_ours(tmp_path: Path, path: str) -> None:
    assert values(words(path, place_in(tmp_path, network=True)), "--network") == []
    assert values(words(path, place_in(tmp_path, network=("a.example",))), "--network") == ["none"]


def test_a_directory_is_a_system_for_podman_alone(tmp_path: Path, path: str) -> None:
    made = words(path, place_in(tmp_path), "podman", "/srv/tree")
    assert values(made, "--rootfs") == ["/srv/tree:O"]
    with pytest.raises(SandboxError, match="docker: takes images, not the directory /srv/tree: podman does"):
        words(path, place_in(tmp_path), "docker", "/srv/tree")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"image": ""}, "no image is named: set sandbox_image"),
        ({"path": "/var/empty"}, "not installed: no docker on PATH"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, path: str, more: dict[str, str], why: str) -> None:
    with pytest.raises(SandboxError, match=why):
        words(**{"path": path, "place": place_in(tmp_path), **more})  # type: ignore[arg-type]


def test_a_path_that_no_engine_can_mount_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "a,b").mkdir()
    with pytest.raises(SandboxError, match="cannot mount a path with a comma"):
        words(path, place_in(tmp_path / "a,b"))


def test_a_persons_git_and_runs_are_kept_from_change(tmp_path: Path, path: str) -> None:
    place = place_in(tmp_path, is_users_own=True)
    for name in ("root/.git/hooks", "root/.git/objects", "root/.pi-batch"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "root/.git/config").write_text("", encoding="ascii")
    made = values(words(path, place), "--mount")
    for name in ("hooks", "config"):
        git = f"{place.root}/.git/{name}"
        assert f"type=bind,src={git},dst={git},readonly" in made
    assert f"type=tmpfs,dst={place.root}/.pi-batch,tmpfs-size=1m" in made


# --- with an engine, real or played ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
async def test_variables_are_the_images_under_those_of_the_command(name: str, tmp_path: Path) -> None:
    async with started(name, tmp_path) as rig:
        await rig.run("echo $HOME; echo $PATH; echo x > ~/kept && cat ~/kept")
        home, path, kept = rig.printed.rstrip("\n").split("\n")
    assert (home, kept) == ("/pi-batch/home", "x")
    assert "/usr/bin" in path


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
async def test_a_list_of_hosts_is_reached_by_our_proxy_and_nothing_else_is(name: str, tmp_path: Path) -> None:
    more = settings(name)
    if more is None:
        pytest.skip("neither an engine nor bubblewrap is here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_answer, args=(server,), daemon=True).start()
        host = f"localhost:{server.getsockname()[1]}"
        sandbox = load(name)(place_in(tmp_path, network=(host,)), **more)
        await sandbox.start()
        output: list[bytes] = []
        code = (
            "import os, urllib.request as u\n"
            "for name in ('NO_PROXY', 'no_proxy'): os.environ.pop(name)\n"
            f"for at in ('{host}', 'example.org'):\n"
            "    try: print(u.urlopen(f'http://{at}/', timeout=5).status)\n"
            "    except OSError as error: print(error)\n"
        )
        env = {"LANG": "C.UTF-8"}
        run = ["python3", "-c", code]
        await sandbox.exec(run, cwd="/", env=env, timeout_s=20, on_output=output.append)
        await sandbox.close()
    assert b"".join(output) == b"200\nHTTP Error 403: Forbidden\n"


def _answer(server: socket.socket) -> None:
    """One request, answered."""
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
async def test_preflight_and_canary_hold_and_say_what_isolates(name: str) -> None:
    more = settings(name)
    if more is None:
        pytest.skip("neither an engine nor bubblewrap is here")
    found = await probe(lambda place: load(name)(place, **more))  # type: ignore[arg-type, return-value]
    assert found.layers[0] == f"a container of {more['image']}"
    if image_of(name):
        assert "the engine's limits on memory, processes" in found.layers


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
async def test_an_image_that_is_not_there_is_said_with_the_engines_words(name: str, tmp_path: Path) -> None:
    more: dict[str, Any] | None = settings(name)
    if more is None:
        pytest.skip("neither an engine nor bubblewrap is here")
    sandbox = load(name)(place_in(tmp_path), **{**more, "image": "pi-batch.invalid/no/such:1"})
    with pytest.raises(SandboxError, match=rf"{name}: does not come up: .*(?i:no such image|not known)"):
        await sandbox.start()
