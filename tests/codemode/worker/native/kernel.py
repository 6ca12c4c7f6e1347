"""The rest of the kernel: namespaces, mounts, keys, memory that is shared or runs, doors old and new."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import select
import struct
import time

from pi_batch.kernel.calls import libc, syscall
from tests.codemode.worker.native.payload import Target, payload, raw

int_ = ctypes.c_int
unsigned = ctypes.c_uint
long_ = ctypes.c_ulong
size = ctypes.c_size_t
pointer = ctypes.c_void_p

FORTY_TWO = {
    "x86_64": b"\xb8\x2a\x00\x00\x00\xc3",  # mov eax, 42; ret
    "aarch64": b"\x40\x05\x80\x52\xc0\x03\x5f\xd6",  # mov w0, 42; ret
}[platform.machine()]
NEW_USER, NEW_MOUNTS, NEW_NETWORK = 0x10000000, 0x00020000, 0x40000000


def runs(address: int) -> bool:
    """Whether the code there gives forty-two."""
    return bool(ctypes.CFUNCTYPE(ctypes.c_int)(address)() == 42)


def mapped(protection: int) -> int:
    library = libc()
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [pointer, size, int_, int_, int_, ctypes.c_long]
    address: int = library.mmap(None, 4096, protection, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if address == 2**64 - 1:
        raise OSError(ctypes.get_errno(), "mmap")
    return address


@payload
def run_code_in_fresh_memory(_target: Target) -> object:
    address = mapped(mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    ctypes.memmove(address, FORTY_TWO, len(FORTY_TWO))
    return runs(address)


@payload
def make_memory_executable(_target: Target) -> object:
    address = mapped(mmap.PROT_READ | mmap.PROT_WRITE)
    ctypes.memmove(address, FORTY_TWO, len(FORTY_TWO))
    syscall("mprotect", pointer(address), size(4096), int_(mmap.PROT_READ | mmap.PROT_EXEC))
    return runs(address)


@payload
def make_memory_executable_by_key(_target: Target) -> object:
    address = mapped(mmap.PROT_READ | mmap.PROT_WRITE)
    ctypes.memmove(address, FORTY_TWO, len(FORTY_TWO))
    syscall("pkey_mprotect", pointer(address), size(4096), int_(mmap.PROT_READ | mmap.PROT_EXEC), int_(-1))
    return runs(address)


@payload
def let_readable_memory_run(_target: Target) -> object:
    """READ_IMPLIES_EXEC."""
    libc().personality(long_(0x0400000))
    address = mapped(mmap.PROT_READ | mmap.PROT_WRITE)
    ctypes.memmove(address, FORTY_TWO, len(FORTY_TWO))
    with open("/proc/self/maps") as maps:  # noqa: PTH123
        return any(line.startswith(f"{address:x}") and "x" in line.split()[1] for line in maps)


@payload
def make_a_file_in_memory(_target: Target) -> object:
    return os.memfd_create("x") >= 0


@payload
def make_secret_memory(_target: Target) -> object:
    return syscall("memfd_secret", unsigned(0)) >= 0


@payload
def share_memory(_target: Target) -> object:
    number = syscall("shmget", int_(0), size(4096), int_(0o1600))
    return syscall("shmat", int_(number), pointer(), int_(0)) != 0


@payload
def share_semaphores(_target: Target) -> object:
    return syscall("semget", int_(0), int_(1), int_(0o1600)) >= 0


@payload
def share_a_queue(_target: Target) -> object:
    return syscall("msgget", int_(0), int_(0o1600)) >= 0


@payload
def share_a_posix_queue(_target: Target) -> object:
    return syscall("mq_open", b"payload", int_(os.O_CREAT | os.O_RDWR), int_(0o600), pointer()) >= 0


@payload
def lock_memory(_target: Target) -> object:
    return syscall("mlock", pointer(mapped(3)), size(4096)) == 0


@payload
def handle_page_faults(_target: Target) -> object:
    return syscall("userfaultfd", int_(1)) >= 0


@payload
def use_an_io_ring(_target: Target) -> object:
    return syscall("io_uring_setup", unsigned(1), ctypes.create_string_buffer(120)) >= 0


@payload
def use_kernel_aio(_target: Target) -> object:
    context = long_(0)
    return syscall("io_setup", unsigned(1), ctypes.byref(context)) == 0 and context.value


@payload
def count_performance(_target: Target) -> object:
    attributes = struct.pack("=IIQQQQQ", 1, 112, 1, 0, 0, 0, 0b1100001).ljust(112, b"\0")
    return syscall("perf_event_open", attributes, int_(0), int_(-1), int_(-1), long_(0)) >= 0


@payload
def load_bpf(_target: Target) -> object:
    attributes = struct.pack("=5I", 2, 4, 4, 1, 0).ljust(128, b"\0")
    return syscall("bpf", int_(0), attributes, unsigned(128)) >= 0


@payload
def be_root_of_a_new_user_namespace(_target: Target) -> object:
    syscall("unshare", int_(NEW_USER))
    return True


@payload
def leave_the_mounts(_target: Target) -> object:
    syscall("unshare", int_(NEW_MOUNTS))
    return True


@payload
def leave_the_network(_target: Target) -> object:
    syscall("unshare", int_(NEW_NETWORK))
    return True


@payload
def join_a_namespace(target: Target) -> object:
    descriptor = os.open(f"/proc/{target.pid}/ns/uts", os.O_RDONLY)
    return syscall("setns", int_(descriptor), int_(0)) == 0


@payload
def mount(target: Target) -> object:
    where = f"{target.folder}/folder".encode()
    return syscall("mount", b"none", where, b"tmpfs", long_(0), pointer()) == 0


@payload
def mount_by_the_new_calls(_target: Target) -> object:
    return syscall("fsopen", b"tmpfs", unsigned(0)) >= 0


@payload
def clone_a_mount(target: Target) -> object:
    return syscall("open_tree", int_(-100), target.folder.encode(), unsigned(1)) >= 0


@payload
def list_mounts(_target: Target) -> object:
    request = struct.pack("=IIQQ", 24, 0, 2**64 - 1, 0)
    return syscall("listmount", request, ctypes.create_string_buffer(800), size(100), unsigned(0)) >= 0


@payload
def add_a_key(_target: Target) -> object:
    return syscall("add_key", b"user", b"payload", b"x", size(1), int_(-2)) != 0


@payload
def list_keys(_target: Target) -> object:
    return syscall("keyctl", int_(0), int_(-2), int_(1)) != 0


@payload
def read_the_kernels_log(_target: Target) -> object:
    return libc().klogctl(10, None, 0) > 0


@payload
def name_the_host(_target: Target) -> object:
    syscall("sethostname", b"payload", size(7))
    return True


@payload
def ask_for_the_kernels_name(_target: Target) -> object:
    return os.uname().release


@payload
def ask_for_the_machines_state(_target: Target) -> object:
    return syscall("sysinfo", ctypes.create_string_buffer(256)) == 0


@payload
def tune_the_clock(_target: Target) -> object:
    """Reads only: no mode is set."""
    return syscall("adjtimex", ctypes.create_string_buffer(400)) >= 0


@payload
def make_a_timer(_target: Target) -> object:
    return syscall("timerfd_create", int_(time.CLOCK_MONOTONIC), int_(0)) >= 0


@payload
def set_an_alarm(_target: Target) -> object:
    previous = struct.pack("=4q", 0, 0, 60, 0)
    return syscall("setitimer", int_(1), previous, pointer()) == 0


@payload
def make_an_event(_target: Target) -> object:
    return os.eventfd(0) >= 0


@payload
def make_an_epoll(_target: Target) -> object:
    return select.epoll().fileno() >= 0


@payload
def make_a_pipe(_target: Target) -> object:
    return os.pipe()


@payload
def add_a_filter(_target: Target) -> object:
    """A filter that notifies is a way to answer for the kernel."""
    return syscall("seccomp", unsigned(2), unsigned(0), ctypes.create_string_buffer(4)) == 0


@payload
def restrict_further(_target: Target) -> object:
    return syscall("landlock_create_ruleset", struct.pack("=Q", 4), size(8), unsigned(0)) >= 0


@payload
def call_by_a_number_that_does_not_exist(_target: Target) -> object:
    """A filter says EPERM, the kernel alone ENOSYS: the difference is the proof."""
    try:
        raw(1999)
    except OSError as error:
        return error.errno == 38
    return True


@payload
def call_as_x32(_target: Target) -> object:
    """By another convention's number; getpid has none of its own, but the filter must not look it up."""
    try:
        return raw(0x40000000 | 39) > 0
    except OSError as error:
        return error.errno == 38


@payload
def count_what_pages_are_resident(_target: Target) -> object:
    seen = ctypes.create_string_buffer(1)
    return syscall("mincore", pointer(mapped(3)), size(4096), seen) == 0


@payload
def ask_where_it_runs(_target: Target) -> object:
    core = unsigned()
    return syscall("getcpu", ctypes.byref(core), pointer(), pointer()) == 0


@payload
def bar_the_other_threads(_target: Target) -> object:
    return syscall("membarrier", int_(0), unsigned(0), int_(0)) >= 0
