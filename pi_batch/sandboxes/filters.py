"""Which system calls commands in a sandbox cannot make: what reaches around the walls, or into the kernel.

What ordinary work needs is left alone; a call that is refused fails with EPERM, as for any user.

Source: Docker's default seccomp profile; the man pages of the calls.
"""

from __future__ import annotations

import errno
import functools
from collections.abc import Iterator

from pi_batch.kernel.seccomp import ALLOW, Condition, Rule, errno_action, program

_REFUSED = errno_action(errno.EPERM)
_MISSING = errno_action(errno.ENOSYS)
_NO_FAMILY = errno_action(errno.EAFNOSUPPORT)

OTHERS = ("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise")
"""Looking into and changing other processes, the porter among them."""
MOUNTS = (
    *("mount", "umount2", "pivot_root", "chroot", "setns", "move_mount", "open_tree", "open_tree_attr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at"),
)
KERNEL = (
    *("bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "fanotify_init"),
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "syslog", "acct"),
    *("swapon", "swapoff", "reboot", "sethostname", "setdomainname", "settimeofday", "clock_settime"),
    *("iopl", "ioperm", "quotactl", "quotactl_fd", "nfsservctl", "lookup_dcookie", "vhangup", "uselib"),
)
CLOSED = (*OTHERS, *MOUNTS, *KERNEL)
AVOIDABLE = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
"""Programs do without them when they seem to be missing; a filter cannot see what they would do."""

_NEWTIME = 0x80
NAMESPACE_FLAGS = tuple(1 << bit for bit in range(32) if (0x7E020000 | _NEWTIME) >> bit & 1)
"""CLONE_NEWTIME; NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
TERMINAL_INJECTIONS = (0x5412, 0x541C)
"""TIOCSTI, TIOCLINUX."""
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
ROUTES = (_NETLINK, 0)
"""Family and protocol of asking for addresses and routes."""
ALLOWED_FAMILIES = (_UNIX, _INET, _INET6, _NETLINK)
"""Of sockets; of netlink only what `ROUTES` says."""
_STREAM, _TYPE_MASK = 1, 0xF
_TCP = 6
_ALL = 0xFFFFFFFF
_FAST_OPEN = 0x20000000


@functools.cache
def walled_filter() -> bytes:
    """For commands behind namespaces. Raises: OSError where no filter can be written."""
    families = [Rule("socket", ALLOW, (_is(0, family),)) for family in (_UNIX, _INET, _INET6)]
    return _program([*families, *_route_sockets()])


@functools.cache
def bare_filter(*, has_network: bool) -> bytes:
    """For commands without namespaces of their own: the network is closed here as far as it can be.

    No socket of a path can be connected to, whoever listens there (docker.sock, ssh-agent); pairs of
    sockets work. Without network no UDP; TCP is Landlock's matter. Raises: OSError.
    """
    rules = list(_route_sockets())
    for family in (_INET, _INET6):
        if has_network:
            rules.append(Rule("socket", ALLOW, (_is(0, family),)))
        else:
            stream = (_is(0, family), Condition(1, _TYPE_MASK, _STREAM))
            rules += [Rule("socket", ALLOW, (*stream, _is(2, protocol))) for protocol in (0, _TCP)]
    if not has_network:
        flags = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
        rules += [
            Rule(call, _REFUSED, (Condition(argument, _FAST_OPEN, _FAST_OPEN),))
            for call, argument in flags.items()
        ]
    return _program([*rules, Rule("socket", _REFUSED)])


def _route_sockets() -> Iterator[Rule]:
    """Asking for addresses and routes; no other netlink."""
    yield Rule("socket", ALLOW, (_is(0, _NETLINK), _is(2, 0)))


def _is(argument: int, value: int) -> Condition:
    return Condition(argument, _ALL, value)


def _program(sockets: list[Rule]) -> bytes:
    rules = [Rule(name, _REFUSED) for name in CLOSED]
    rules += [Rule(name, _MISSING) for name in AVOIDABLE]
    for flag in NAMESPACE_FLAGS:
        is_set = Condition(0, flag, flag)
        rules.append(Rule("unshare", _REFUSED, (is_set,)))
        if flag != _NEWTIME:  # in clone these bits are the signal at exit
            rules.append(Rule("clone", _REFUSED, (is_set,)))
    rules += [Rule("ioctl", _REFUSED, (_is(1, command),)) for command in TERMINAL_INJECTIONS]
    rules += [*sockets, Rule("socket", _NO_FAMILY)]
    return program(rules, default=ALLOW, foreign=_MISSING)
