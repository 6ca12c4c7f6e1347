"""Files: reading, changing, looking, by every door."""

from __future__ import annotations

import ctypes
import os
import struct

from pi_batch.kernel.calls import syscall
from tests.codemode.worker.native.payload import Target, payload

AT_FDCWD = ctypes.c_int(-100)
int_ = ctypes.c_int
size = ctypes.c_size_t


def path(target: Target, name: str) -> bytes:
    return f"{target.folder}/{name}".encode()


@payload
def read_a_file(target: Target) -> object:
    with open(path(target, "secret")) as file:  # noqa: PTH123
        return target.secret in file.read()


@payload
def read_by_the_old_open(target: Target) -> object:
    descriptor = syscall("open", path(target, "secret"), int_(0), int_(0))
    return target.secret.encode() in os.read(descriptor, 100)


@payload
def read_by_openat2(target: Target) -> object:
    how = struct.pack("=QQQ", os.O_RDONLY, 0, 0)
    descriptor = syscall("openat2", AT_FDCWD, path(target, "secret"), how, size(len(how)))
    return target.secret.encode() in os.read(descriptor, 100)


@payload
def read_by_file_handle(target: Target) -> object:
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 8 + 128)
    mount = int_()
    syscall("name_to_handle_at", AT_FDCWD, path(target, "secret"), handle, ctypes.byref(mount), int_(0))
    folder = os.open(target.folder, os.O_RDONLY)
    descriptor = syscall("open_by_handle_at", int_(folder), handle, int_(os.O_RDONLY))
    return target.secret.encode() in os.read(descriptor, 100)


@payload
def run_a_library_from_a_file(_target: Target) -> object:
    return ctypes.CDLL("libdl.so.2", mode=os.RTLD_NOW) and ctypes.CDLL("libutil.so.1")


@payload
def create_a_file(target: Target) -> object:
    name = path(target, "made")
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    return os.path.exists(name)  # noqa: PTH110


@payload
def create_by_creat(target: Target) -> object:
    return syscall("creat", path(target, "made-by-creat"), int_(0o600)) >= 0


@payload
def write_to_a_file(target: Target) -> object:
    descriptor = os.open(path(target, "victim"), os.O_RDWR)
    return os.write(descriptor, b"changed") == 7


@payload
def truncate_a_file(target: Target) -> object:
    os.truncate(path(target, "victim"), 1)
    return True


@payload
def remove_a_file(target: Target) -> object:
    os.unlink(path(target, "victim"))  # noqa: PTH108
    return True


@payload
def rename_a_file(target: Target) -> object:
    os.rename(path(target, "victim"), path(target, "renamed"))  # noqa: PTH104
    return True


@payload
def link_to_a_file(target: Target) -> object:
    os.link(path(target, "victim"), path(target, "linked"))
    return True


@payload
def symlink_to_a_file(target: Target) -> object:
    os.symlink("/etc/passwd", path(target, "symlink"))  # noqa: PTH211
    return True


@payload
def make_a_folder(target: Target) -> object:
    os.mkdir(path(target, "new-folder"))  # noqa: PTH102
    return True


@payload
def remove_a_folder(target: Target) -> object:
    os.rmdir(path(target, "folder"))  # noqa: PTH106
    return True


@payload
def make_a_pipe_with_a_name(target: Target) -> object:
    os.mkfifo(path(target, "pipe"))
    return True


@payload
def change_modes(target: Target) -> object:
    os.chmod(path(target, "victim"), 0o4755)  # noqa: PTH101
    return True


@payload
def change_times(target: Target) -> object:
    os.utime(path(target, "victim"), (1, 1))
    return True


@payload
def set_an_attribute(target: Target) -> object:
    os.setxattr(path(target, "victim"), b"user.mark", b"x")
    return True


@payload
def list_a_folder(target: Target) -> object:
    return "secret" in os.listdir(target.folder)  # noqa: PTH208


@payload
def look_at_a_file(target: Target) -> object:
    return os.stat(path(target, "secret")).st_size  # noqa: PTH116


@payload
def look_by_statx(target: Target) -> object:
    answer = ctypes.create_string_buffer(256)
    syscall("statx", AT_FDCWD, path(target, "secret"), int_(0), int_(0x7FF), answer)
    return any(answer.raw)


@payload
def ask_whether_a_file_is_there(target: Target) -> object:
    return os.access(path(target, "secret"), os.R_OK)


@payload
def read_a_link(_target: Target) -> object:
    return os.readlink("/proc/self/exe")  # noqa: PTH115


@payload
def look_at_a_file_system(_target: Target) -> object:
    return os.statvfs("/").f_blocks


@payload
def watch_a_folder(target: Target) -> object:
    descriptor = syscall("inotify_init1", int_(0))
    return syscall("inotify_add_watch", int_(descriptor), path(target, ""), int_(0x100)) >= 0


@payload
def watch_everything(_target: Target) -> object:
    return syscall("fanotify_init", int_(0x200), int_(0)) >= 0


@payload
def go_to_a_folder(target: Target) -> object:
    os.chdir(target.folder)
    return os.getcwd() == target.folder  # noqa: PTH109


@payload
def change_the_root(target: Target) -> object:
    os.chroot(target.folder)
    return True


@payload
def make_a_device(target: Target) -> object:
    os.mknod(path(target, "zero"), 0o20600, os.makedev(1, 5))
    return True


@payload
def own_a_file(target: Target) -> object:
    os.chown(path(target, "victim"), 12, 12)
    return True


@payload
def read_what_the_worker_has_mapped(_target: Target) -> object:
    with open("/proc/self/maps") as file:  # noqa: PTH123
        return file.read()
