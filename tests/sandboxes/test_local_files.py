"""Files of this machine: links, modes and inodes survive, a full disk costs nothing, no pipe blocks."""

from __future__ import annotations

import errno
import os
import resource
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.sandboxes import local_files


def test_a_rewrite_keeps_inode_mode_and_hard_links(tmp_path: Path) -> None:
    file, twin = tmp_path / "f", tmp_path / "twin"
    file.write_bytes(b"longer than what comes")
    file.chmod(0o751)
    os.link(file, twin)
    inode = file.stat().st_ino
    local_files.write(str(file), b"short")
    assert twin.read_bytes() == b"short"
    assert (file.stat().st_ino, file.stat().st_mode & 0o7777) == (inode, 0o751)


def test_a_rewrite_through_links_leaves_the_links(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "real").write_bytes(b"old")
    (tmp_path / "one").symlink_to("dir/real")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    local_files.write(str(tmp_path / "two"), b"new")
    assert (tmp_path / "dir" / "real").read_bytes() == b"new"
    assert (tmp_path / "two").is_symlink()
    assert (tmp_path / "one").is_symlink()


def test_a_new_file_gets_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        local_files.write(str(tmp_path / "sub" / "f"), b"x")
    finally:
        os.umask(old)
    assert (tmp_path / "sub" / "f").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "sub").stat().st_mode & 0o777 == 0o750
    assert os.listdir(tmp_path / "sub") == ["f"]  # noqa: PTH208


@contextmanager
def _disk_that_holds(size_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_without_space_an_old_file_stays_as_it_was_and_no_new_one_appears(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old content")
    with _disk_that_holds(4096):
        for name in ("old", "new"):
            with pytest.raises(OSError, match="large"):
                local_files.write(str(tmp_path / name), b"x" * 10_000)
    assert (tmp_path / "old").read_bytes() == b"old content"
    assert os.listdir(tmp_path) == ["old"]  # noqa: PTH208


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everything")
def test_a_read_only_file_is_refused_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"kept")
    (tmp_path / "f").chmod(0o444)
    with pytest.raises(PermissionError):
        local_files.write(str(tmp_path / "f"), b"x")
    assert (tmp_path / "f").read_bytes() == b"kept"


def test_what_is_no_regular_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for path, name in ((tmp_path / "pipe", "named pipe"), (tmp_path / "socket", "socket")):
            with pytest.raises(OSError, match=f"is a {name}, not a regular file"):
                local_files.read(str(path), 0, None)
    with pytest.raises(OSError, match="is a device"):
        local_files.read("/dev/zero", 0, None)
    with pytest.raises(IsADirectoryError):
        local_files.read(str(tmp_path), 0, None)


def test_files_whose_size_is_not_known_are_read_to_their_end() -> None:
    assert b"Name:" in local_files.read("/proc/self/status", 0, None)


def test_names_that_are_not_utf8_pass_through(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    local_files.write(f"{tmp_path}/{name}", b"x")
    assert [entry.name for entry in local_files.list_directory(str(tmp_path))] == [name]
    assert local_files.read(f"{tmp_path}/{name}", 0, None) == b"x"
    for impossible in ("/lone\ud800", "/nul\0", "relative"):
        with pytest.raises(OSError, match="path") as refused:
            local_files.stat_file(impossible)
        assert refused.value.errno == errno.EINVAL


def test_a_name_that_is_too_long_says_so(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="too long"):
        local_files.write(f"{tmp_path}/{'x' * 300}", b"")


def test_a_file_may_lie_a_thousand_directories_down(tmp_path: Path) -> None:
    path = f"{tmp_path}/top/{'a/' * 1200}f"
    local_files.write(path, b"x")
    assert local_files.read(path, 0, None) == b"x"
    subprocess.run(["rm", "-rf", f"{tmp_path}/top"], check=True)  # pytest goes down by calling itself
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        local_files.write(f"{tmp_path}/file/below/it", b"x")


parts = st.sampled_from(["a", "b", "link", "up", "to-file", "file", "missing", "..", "."])


@given(st.lists(parts, max_size=6))
def test_where_a_path_leads_is_where_the_system_leads(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    root = tmp_path_factory.getbasetemp().resolve() / "tree"
    if not root.exists():
        (root / "a" / "b").mkdir(parents=True)
        (root / "a" / "link").symlink_to("b")
        (root / "a" / "b" / "up").symlink_to("../..")
        (root / "link").symlink_to(root / "a" / "b")
        (root / "file").write_bytes(b"")
        (root / "to-file").symlink_to("file")
    path = "/".join([str(root), *names])
    resolved = local_files.resolve(path)
    assert local_files.resolve(resolved) == resolved
    if Path(path).exists():
        assert Path(path).samefile(resolved)
        assert not any(parent.is_symlink() for parent in [Path(resolved), *Path(resolved).parents])
