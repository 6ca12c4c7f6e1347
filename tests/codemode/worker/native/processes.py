"""Processes: making them, becoming another program, and reaching into those of the same user."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import struct
import threading

from pi_batch.kernel.calls import libc, syscall
from tests.codemode.worker.native.payload import Target, payload

int_ = ctypes.c_int
size = ctypes.c_size_t
pointer = ctypes.c_void_p


def proof(target: Target, name: str) -> tuple[str, list[str]]:
    """A shell, and what makes it leave a file that the stage finds."""
    return "/bin/sh", ["sh", "-c", f": > {target.folder}/proof-{name}"]


@payload
def fork(_target: Target) -> object:
    child = os.fork()
    if child == 0:
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@payload
def fork_by_clone(_target: Target) -> object:
    child = syscall(
        "clone", ctypes.c_ulong(signal.SIGCHLD), pointer(), pointer(), pointer(), ctypes.c_ulong()
    )
    if child == 0:
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@payload
def fork_by_clone3(_target: Target) -> object:
    arguments = struct.pack("=8Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    child = syscall("clone3", arguments, size(len(arguments)))
    if child == 0:
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@payload
def start_a_thread(_target: Target) -> object:
    ran: list[int] = []
    thread = threading.Thread(target=ran.append, args=(1,))
    thread.start()
    thread.join()
    return ran


@payload
def exec_a_shell(target: Target) -> object:
    os.execv(*proof(target, "exec_a_shell"))


@payload
def exec_by_descriptor(target: Target) -> object:
    path, words = proof(target, "exec_by_descriptor")
    os.execve(os.open(path, os.O_RDONLY), words, {})


@payload
def exec_from_memory(target: Target) -> object:
    with open("/bin/sh", "rb") as shell:  # noqa: PTH123
        program = shell.read()
    descriptor = os.memfd_create("x", 0)
    os.write(descriptor, program)
    os.execve(descriptor, proof(target, "exec_from_memory")[1], {})


@payload
def spawn_a_shell(target: Target) -> object:
    path, words = proof(target, "spawn_a_shell")
    return os.waitpid(os.posix_spawn(path, words, {}), 0)[1] == 0


@payload
def trace_a_process(target: Target) -> object:
    syscall("ptrace", ctypes.c_long(16), ctypes.c_long(target.pid), pointer(), pointer())
    os.waitpid(target.pid, 0x40000000)
    syscall("ptrace", ctypes.c_long(17), ctypes.c_long(target.pid), pointer(), pointer())
    return True


@payload
def ask_to_be_traced(_target: Target) -> object:
    return syscall("ptrace", ctypes.c_long(0), ctypes.c_long(0), pointer(), pointer()) == 0


@payload
def read_another_process_memory(target: Target) -> object:
    with open(f"/proc/{target.pid}/maps") as maps:  # noqa: PTH123
        start, _, rest = maps.readline().partition("-")
    here = ctypes.create_string_buffer(4)
    local = struct.pack("=QQ", ctypes.addressof(here), 4)
    remote = struct.pack("=QQ", int(start, 16), 4)
    one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    syscall("process_vm_readv", int_(target.pid), local, one, remote, one, none)
    return rest and here.raw == b"\x7fELF"


@payload
def read_memory_without_looking_at_files(target: Target) -> object:
    """The victim is a fork of the stage: what is here is there too."""
    marker = ctypes.create_string_buffer(b"x" * 16)
    local = struct.pack("=QQ", ctypes.addressof(marker), 4)
    remote = struct.pack("=QQ", id(None), 4)
    one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    return syscall("process_vm_readv", int_(target.pid), local, one, remote, one, none) == 4


@payload
def write_another_process_memory(target: Target) -> object:
    local = struct.pack("=QQ", id(threading), 8)
    remote = struct.pack("=QQ", id(threading), 8)
    one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    return syscall("process_vm_writev", int_(target.pid), local, one, remote, one, none) == 8


@payload
def read_variables_of_a_process(target: Target) -> object:
    with open(f"/proc/{target.pid}/environ", "rb") as file:  # noqa: PTH123
        return file.read()


@payload
def read_memory_by_proc(target: Target) -> object:
    descriptor = os.open(f"/proc/{target.pid}/mem", os.O_RDONLY)
    return os.pread(descriptor, 8, id(None))


@payload
def look_into_descriptors_of_a_process(target: Target) -> object:
    return os.listdir(f"/proc/{target.pid}/fd")  # noqa: PTH208


@payload
def signal_a_process(target: Target) -> object:
    os.kill(target.pid, signal.SIGCONT)
    return True


@payload
def signal_by_tgkill(target: Target) -> object:
    return syscall("tgkill", int_(target.pid), int_(target.pid), int_(signal.SIGCONT)) == 0


@payload
def signal_everything(_target: Target) -> object:
    """Signal 0 only asks whether it could."""
    os.kill(-1, 0)
    return True


@payload
def queue_a_signal(target: Target) -> object:
    info = struct.pack("=iiiiiI", signal.SIGCONT, 0, -1, 0, os.getpid(), os.getuid()).ljust(128, b"\0")
    return syscall("rt_sigqueueinfo", int_(target.pid), int_(signal.SIGCONT), info) == 0


@payload
def open_a_pidfd(target: Target) -> object:
    return os.pidfd_open(target.pid) >= 0


@payload
def signal_by_pidfd(target: Target) -> object:
    signal.pidfd_send_signal(os.pidfd_open(target.pid), signal.SIGCONT)
    return True


@payload
def take_a_descriptor_of_a_process(target: Target) -> object:
    return syscall("pidfd_getfd", int_(os.pidfd_open(target.pid)), int_(0), int_(0)) >= 0


@payload
def compare_processes(target: Target) -> object:
    zero = ctypes.c_ulong(0)
    return syscall("kcmp", int_(os.getpid()), int_(target.pid), int_(2), zero, zero) >= 0


@payload
def read_limits_of_a_process(target: Target) -> object:
    return resource.prlimit(target.pid, resource.RLIMIT_NOFILE)


@payload
def change_limits_of_a_process(target: Target) -> object:
    soft, hard = resource.prlimit(target.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(target.pid, resource.RLIMIT_NOFILE, (soft - 1, hard))
    return True


@payload
def slow_a_process_down(target: Target) -> object:
    os.setpriority(os.PRIO_PROCESS, target.pid, os.getpriority(os.PRIO_PROCESS, target.pid) + 1)
    return True


@payload
def move_a_process_to_one_core(target: Target) -> object:
    os.sched_setaffinity(target.pid, os.sched_getaffinity(target.pid))
    return True


@payload
def schedule_a_process(target: Target) -> object:
    os.sched_setscheduler(target.pid, os.SCHED_BATCH, os.sched_param(0))
    return True


@payload
def find_locks_of_a_process(target: Target) -> object:
    head, length = pointer(), size()
    return syscall("get_robust_list", int_(target.pid), ctypes.byref(head), ctypes.byref(length)) == 0


@payload
def move_pages_of_a_process(target: Target) -> object:
    return syscall("move_pages", int_(target.pid), *[ctypes.c_ulong(0)] * 5) == 0


@payload
def advise_about_memory_of_a_process(target: Target) -> object:
    vector = struct.pack("=QQ", id(None) & ~4095, 4096)
    pidfd = int_(os.pidfd_open(target.pid))
    one, none = ctypes.c_ulong(1), ctypes.c_uint(0)
    return syscall("process_madvise", pidfd, vector, one, int_(20), none) >= 0


@payload
def read_disk_priority(target: Target) -> object:
    return syscall("ioprio_get", int_(1), int_(target.pid)) >= 0


@payload
def become_root(_target: Target) -> object:
    os.setresuid(0, 0, 0)
    return os.getuid() == 0


@payload
def change_groups(_target: Target) -> object:
    os.setgroups([0])
    return True


@payload
def take_capabilities(_target: Target) -> object:
    header = struct.pack("=Ii", 0x20080522, 0)
    return syscall("capset", header, struct.pack("=6I", *[0] * 6)) == 0


@payload
def lead_a_session(_target: Target) -> object:
    os.setsid()
    return os.getsid(0) == os.getpid()


@payload
def be_dumpable_again(_target: Target) -> object:
    return libc().prctl(4, 1, 0, 0, 0) == 0


@payload
def hide_by_another_name(_target: Target) -> object:
    return libc().prctl(15, ctypes.cast(ctypes.c_char_p(b"init"), pointer), 0, 0, 0) == 0


@payload
def outlive_the_parent(_target: Target) -> object:
    """Take back the signal that ends a worker with its zygote."""
    return libc().prctl(1, 0, 0, 0, 0) == 0


@payload
def keep_descriptors(_target: Target) -> object:
    return os.dup(0) >= 0


@payload
def control_a_descriptor(_target: Target) -> object:
    return fcntl.fcntl(1, fcntl.F_GETFL) is not None
