"""Native code against a locked worker, as root and as a user, in namespaces of its own.

What each layer is worth is measured too: what succeeds without it, and not with it.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codemode.worker.native.runner import names
from tests.codemode.worker.rigs import ROOT, needs_isolation

pytestmark = [pytest.mark.slow, needs_isolation, pytest.mark.timeout(300)]

Answers = dict[str, dict[str, str]]
USERS = ["-", "1000"] if os.geteuid() == 0 else ["-"]
NAMES = {"-": "root" if os.geteuid() == 0 else "user", "1000": "user"}
MANY = 100
"""Payloads that must succeed where nothing is locked; which ones is the kernel's affair."""


@functools.cache
def enclosure() -> tuple[str, ...]:
    """A command's beginning that gives it namespaces and a file system of its own; empty where none does."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return ()
    apart = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--cap-add", "ALL"]
    words = [bwrap, *(apart if os.geteuid() == 0 else ["--unshare-all"])]
    words += ["--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    closed = [str(each) for each in Path(sys.base_prefix).parents if not each.stat().st_mode & 1]
    if closed:  # no other user could find Python there
        below = str(Path(closed[-1], Path(sys.base_prefix).relative_to(closed[-1]).parts[0]))
        words += ["--perms", "0755", "--tmpfs", closed[-1], "--ro-bind", below, below]
    words += ["--tmpfs", "/mnt", "--chdir", ROOT]
    works = subprocess.run([*words, sys.executable, "-c", "pass"], capture_output=True, check=False)
    return tuple(words) if works.returncode == 0 else ()


@functools.cache
def answers(user: str) -> Answers:
    if not enclosure():
        pytest.skip("no namespaces of its own here: bwrap is missing or not allowed")
    program = [sys.executable, "-m", "tests.codemode.worker.native.stage", "/mnt", user]
    done = subprocess.run([*enclosure(), *program], capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    found: Answers = json.loads(done.stdout)
    return found


def succeeded(user: str, layers: str) -> set[str]:
    return {name for name, answer in answers(user)[layers].items() if answer == "did"}


each_user = pytest.mark.parametrize("user", USERS, ids=lambda user: NAMES[user])


@each_user
def test_payloads_do_what_they_say_where_nothing_is_locked(user: str) -> None:
    done = succeeded(user, "nothing")
    assert len(done) >= MANY, answers(user)["nothing"]
    must = {
        "read_a_file", "create_a_file", "connect_by_tcp", "send_by_udp", "connect_by_unix_path",
        "connect_by_abstract_name", "ask_netlink_for_interfaces", "fork", "exec_a_shell", "exec_from_memory",
        "trace_a_process", "read_another_process_memory", "read_variables_of_a_process", "signal_a_process",
        "open_a_pidfd", "run_code_in_fresh_memory", "share_memory", "make_a_file_in_memory",
        "change_limits_of_a_process",
    }  # fmt: skip
    assert must <= done, {name: answers(user)["nothing"][name] for name in must - done}


@each_user
def test_nothing_succeeds_in_a_real_worker(user: str) -> None:
    assert succeeded(user, "worker") == set()
    layers = set(answers(user)["worker"]["layers"].split())
    assert {"process", "not_dumpable", "limits", "no_new_privs", "seccomp"} <= layers
    assert answers(user)["worker"].keys() - {"layers"} == names()


@each_user
def test_nothing_succeeds_behind_all_layers(user: str) -> None:
    assert succeeded(user, "all") == set()


@each_user
def test_seccomp_alone_stops_everything(user: str) -> None:
    assert succeeded(user, "seccomp alone") == set()


@each_user
def test_without_seccomp_much_succeeds(user: str) -> None:
    assert {"send_by_udp", "look_at_a_file", "run_code_in_fresh_memory"} <= succeeded(user, "all but seccomp")


@each_user
@pytest.mark.parametrize("layer", ["limits", "nobody", "landlock"])
def test_each_further_layer_stops_something_where_seccomp_is_gone(user: str, layer: str) -> None:
    if layer not in answers(user)["worker"]["layers"]:
        pytest.skip(f"no {layer} here")
    more = succeeded(user, f"all but seccomp and {layer}") - succeeded(user, "all but seccomp")
    assert more, f"{layer} stops nothing"


@each_user
def test_a_process_of_the_same_user_cannot_look_into_a_worker(user: str) -> None:
    spy = answers(user)["spy"]
    assert spy["on the open"] == "did"
    if NAMES[user] == "user":
        assert "Permission denied" in spy["on the locked"]
