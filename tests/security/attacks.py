"""The attacks: shell scripts that try, and the same means used for what is allowed.

An attack that holds something forbidden prints the token or OPENED, reaches a listener, or changes what lies
outside; `world.damage` and the output tell. Its twin must print `fine`. Nothing is written where it would
do harm if a wall fell: devices and kernel files are opened and closed again.
"""

# ruff: noqa: E501 -- scripts are one line, as a model writes them
from __future__ import annotations

from dataclasses import dataclass

OPENED = "OPENED"
"""What an attack prints that has got hold of something."""


@dataclass(frozen=True)
class Attack:
    """One attempt."""

    name: str
    script: str
    twin: str = "cat ours"
    only: tuple[str, ...] = ("bwrap", "landlock")
    """Sandboxes that claim to stop it."""
    twin_only: tuple[str, ...] = ("bwrap", "landlock")
    """Sandboxes in which the twin works."""
    needs_pids: bool = False
    """True for what would hit other processes if the walls fell: only in a process namespace."""


def python(code: str) -> str:
    """A script in Python; what it raises is thrown away."""
    return f"python3 - 2>/dev/null <<'PY'\nimport os, socket, ctypes, sys, time\n{code}\nPY"


def opened(path: str, flags: str = "os.O_RDONLY") -> str:
    """Open something, and say so."""
    return python(f"os.close(os.open({path!r}, {flags})); print('OPENED')")


def _call(number: int, *arguments: str) -> str:
    """A bare system call, x86-64; whatever does not fail is a success."""
    words = ", ".join((str(number), *arguments))
    return python(f"libc = ctypes.CDLL(None)\nif libc.syscall({words}) >= 0: print('OPENED')")


BWRAP = ("bwrap",)

FILES = (
    Attack("read a file by its path", 'cat "$OUT/secret"'),
    Attack("read a file through a link", 'ln -sfn "$OUT/secret" l; cat l', "ln -sfn ours l; cat l"),
    Attack("read a file through ..", "cat ../outside/secret", "mkdir -p d; cat d/../ours"),
    Attack("read a file by a hard link", 'ln "$OUT/secret" h; cat h', "ln -f ours h2; cat h2"),
    Attack("copy a directory", 'cp -a "$OUT" copied; cat copied/secret', "cp -a ours c2; cat c2"),
    Attack("read through the first process's root", 'cat "/proc/1/root$OUT/secret"'),
    Attack("read through one's own root", 'cat "/proc/self/root$OUT/secret"', 'cat "/proc/self/cwd/ours"'),
    Attack("read through another process's directory", 'cat "/proc/$VICTIM/root$OUT/secret"'),
    Attack("read through the runner's directory", 'cat "/proc/$RUNNER/root$OUT/secret"'),
    Attack(
        "list what lies around", 'ls "$OUT" | grep -q secret && echo OPENED', "ls | grep -q ours && echo fine"
    ),
    Attack("read the keys in a home", 'cat "$FAKE_HOME/.ssh/id"', "echo fine > ~/x && cat ~/x"),
    Attack("read the runner's log", 'cat "$TOP/run/run.json"', 'cat "$TOP/run/outputs/big.txt"'),
    Attack("read another run's log", "cat .pi-batch/run.json", only=BWRAP),
    Attack("read the private repository", 'cat "$TOP/shadow/config"'),
    Attack("read another's file in /tmp", 'cat "/tmp/$NAME-s"', "cat ours", twin_only=BWRAP),
    Attack("read another's shared memory", 'cat "/dev/shm/$NAME-s"'),
    Attack("write beside the workspace", 'echo x > "$OUT/new"', "echo fine > new && cat new"),
    Attack("change a file outside", 'echo x >> "$OUT/secret"', "echo fine > b; echo more >> b; head -1 b"),
    Attack("cut a file outside", 'truncate -s 0 "$OUT/secret"', "echo fine > b; truncate -s 5 b; cat b"),
    Attack(
        "remove files outside", 'rm -rf "$OUT"/* "$FAKE_HOME"/*', "touch r; rm r; [ ! -e r ] && echo fine"
    ),
    Attack(
        "rename a directory outside", 'mv "$OUT" "$OUT.gone"', "mkdir -p m; mv m m2; rmdir m2 && echo fine"
    ),
    Attack("write through a link to a directory", 'ln -sfn "$OUT" ld; echo x > ld/new'),
    Attack(
        "change modes outside",
        'chmod 777 "$OUT/secret" && echo OPENED',
        "chmod 755 ours && echo fine",
        only=BWRAP,
    ),
    Attack("leave a file in /tmp", 'echo x > "/tmp/$NAME"', 'echo fine > "$TMPDIR/x"; cat "$TMPDIR/x"'),
    Attack("leave a file in shared memory", 'echo x > "/dev/shm/$NAME"'),
    Attack("change a start-up file", 'echo x >> "$FAKE_HOME/.profile"', "echo x >> ~/.profile && echo fine"),
    Attack(
        "change the system",
        "echo x > /usr/local/bin/pib && echo OPENED",
        "ls /usr/bin/env >/dev/null && echo fine",
    ),
    Attack("change a tool", 'p=$(command -v python3); : >> "$(readlink -f "$p")" && echo OPENED'),
    Attack("remount what is read-only", "mount -o remount,rw,bind /usr && touch /usr/pib && echo OPENED"),
    Attack("mount over", "mkdir -p mp; mount -t tmpfs none mp && echo OPENED"),
    Attack("bind what is hidden", 'mkdir -p mp; mount --bind "$OUT" mp && cat mp/secret'),
    Attack("unmount what hides", 'umount -l /tmp "$HOME" /dev/shm 2>/dev/null && echo OPENED'),
    Attack("make namespaces", "unshare -Urm true 2>/dev/null && echo OPENED"),
    Attack("change the root", python("os.chroot('.'); print('OPENED')")),
    Attack(
        "make a device", "rm -f dev0; mknod dev0 b 254 0 2>/dev/null && cat dev0 | head -c 9 && echo OPENED"
    ),
    Attack("open files by handle", _call(304, "-100", "bytes(64)", "0")),
    Attack("write the core pattern", opened("/proc/sys/kernel/core_pattern", "os.O_WRONLY")),
    Attack(
        "write a kernel setting",
        opened("/proc/sys/vm/drop_caches", "os.O_WRONLY"),
        "cat /proc/sys/kernel/ostype >/dev/null && echo fine",
    ),
    Attack("press the magic keys", opened("/proc/sysrq-trigger", "os.O_WRONLY")),
    Attack(
        "read password hashes",
        "head -c 4 /etc/shadow 2>/dev/null | grep -q root && echo OPENED",
        "head -c 4 /etc/passwd | grep -q root && echo fine",
    ),
    Attack("read the machine's memory", opened("/dev/mem")),
    Attack("read the kernel's memory", opened("/proc/kcore")),
    Attack(
        "read the disk",
        python(
            "import glob\nfor p in glob.glob('/dev/[sv]d*') + glob.glob('/dev/nvme*'):\n os.open(p, 0); print('OPENED')"
        ),
    ),
    Attack(
        "read inherited files",
        python(
            "for n in range(3, 64):\n  try: os.fstat(n); print('OPENED') if 'memfd' in os.readlink(f'/proc/self/fd/{n}') else 0\n  except OSError: pass"
        ),
    ),
)

_CONNECT = "s = socket.create_connection(('127.0.0.1', int(os.environ['TCP'])), 2); print(s.recv(99))"
_OWN_TCP = python(
    "a = socket.create_server(('127.0.0.1', 0)); b = socket.create_connection(a.getsockname())\n"
    "a.accept()[0].sendall(b'fine'); print(b.recv(9).decode())"
)
_OWN_PAIR = python("a, b = socket.socketpair(); a.sendall(b'fine'); print(b.recv(9).decode())")
_OWN_UDP = python(
    "a = socket.socket(2, 2); a.bind(('127.0.0.1', 0)); b = socket.socket(2, 2)\n"
    "b.sendto(b'fine', a.getsockname()); print(a.recv(9).decode())"
)
_OWN_UNIX = python(
    "a = socket.socket(1); a.bind('s.sock'); a.listen(); b = socket.socket(1); b.connect('s.sock')\n"
    "os.unlink('s.sock'); a.accept()[0].sendall(b'fine'); print(b.recv(9).decode())"
)
_OWN_ABSTRACT = _OWN_UNIX.replace("'s.sock'", "chr(0) + 'mine'").replace("os.unlink(chr(0) + 'mine'); ", "")

NETWORK = (
    Attack("connect by TCP", python(_CONNECT), _OWN_TCP, twin_only=BWRAP),
    Attack("connect by TCP with bash", 'exec 3<>"/dev/tcp/127.0.0.1/$TCP" && cat <&3', _OWN_PAIR),
    Attack("connect by TCP with curl", 'curl -s -m 2 "http://127.0.0.1:$TCP/"', _OWN_TCP, twin_only=BWRAP),
    Attack(
        "connect by TCP over IPv6",
        python("s = socket.create_connection(('::1', int(os.environ['TCP6'])), 2); print(s.recv(99))"),
    ),
    Attack(
        "connect by TCP fast open",
        python(
            "s = socket.socket(); s.settimeout(2); s.sendto(b'x', 0x20000000, ('127.0.0.1', int(os.environ['TCP']))); print(s.recv(99))"
        ),
    ),
    Attack(
        "connect by multipath TCP",
        python(
            "s = socket.socket(2, 1, 262); s.settimeout(2); s.connect(('127.0.0.1', int(os.environ['TCP']))); print(s.recv(99))"
        ),
    ),
    Attack(
        "send a datagram",
        python("socket.socket(2, 2).sendto(b'x', ('127.0.0.1', int(os.environ['UDP'])))"),
        _OWN_UDP,
        twin_only=BWRAP,
    ),
    Attack(
        "send on a connected datagram socket",
        python("s = socket.socket(2, 2); s.connect(('127.0.0.1', int(os.environ['UDP']))); s.send(b'x')"),
        _OWN_UDP,
        twin_only=BWRAP,
    ),
    Attack(
        "send a datagram by message",
        python("socket.socket(2, 2).sendmsg([b'x'], [], 0, ('127.0.0.1', int(os.environ['UDP'])))"),
    ),
    Attack(
        "ask for a name by a datagram",
        python(
            "q = b'\\0\\1\\1\\0\\0\\1' + bytes(6) + b'\\6secret\\0\\0\\1\\0\\1'\nsocket.socket(2, 2).sendto(q, ('127.0.0.1', int(os.environ['UDP'])))"
        ),
        "getent hosts localhost >/dev/null; echo fine",
    ),
    Attack(
        "connect to a socket outside",
        python("s = socket.socket(1); s.connect(os.environ['UNIX']); print(s.recv(99))"),
        _OWN_UNIX,
        twin_only=BWRAP,
    ),
    Attack(
        "connect to a socket in /tmp",
        python("s = socket.socket(1); s.connect(os.environ['TMPUNIX']); print(s.recv(99))"),
        _OWN_PAIR,
    ),
    Attack(
        "connect to a socket through /proc",
        python(
            "s = socket.socket(1); s.connect('/proc/%s/root%s' % (os.environ['VICTIM'], os.environ['UNIX'])); print(s.recv(99))"
        ),
    ),
    Attack(
        "connect to an abstract socket",
        python("s = socket.socket(1); s.connect(chr(0) + os.environ['ABSTRACT']); print(s.recv(99))"),
        _OWN_ABSTRACT,
        twin_only=BWRAP,
    ),
    Attack(
        "send to an abstract socket",
        python("socket.socket(1, 2).sendto(b'x', chr(0) + os.environ['DGRAM'])"),
        _OWN_PAIR,
    ),
    Attack(
        "send an echo request",
        python(
            "s = socket.socket(2, 2, 1); s.settimeout(1); s.sendto(b'\\x08' + bytes(7), ('127.0.0.1', 0)); s.recv(64); print('OPENED')"
        ),
        _OWN_PAIR,
        only=("landlock",),
    ),
    Attack(
        "find a route that leads out",
        "grep -v '^Iface\\|^lo' /proc/net/route | grep -q . && echo OPENED",
        "cat /proc/net/dev | grep -q lo: && echo fine",
        only=BWRAP,
    ),
    Attack(
        "ask the machine's resolver",
        python(
            "for p in ('/run/systemd/resolve/io.systemd.Resolve', '/run/nscd/socket', '/var/run/nscd/socket'):\n  try: s = socket.socket(1); s.connect(p); print('OPENED')\n  except OSError: pass"
        ),
        "getent passwd 0 >/dev/null && echo fine",
    ),
    Attack("make packets", python("s = socket.socket(17, 3, 768); print('OPENED')")),
    Attack("make raw packets", python("s = socket.socket(2, 3, 1); print('OPENED')")),
    Attack("talk to the hypervisor", python("s = socket.socket(40, 1); print('OPENED')")),
    Attack(
        "use the kernel's ciphers",
        python("s = socket.socket(38, 5); print('OPENED')"),
        "sha256sum ours >/dev/null && echo fine",
    ),
    Attack(
        "listen to kernel events",
        python("s = socket.socket(16, 3, 15); print('OPENED')"),
        python("print('fine' if socket.if_nameindex() else '')"),
    ),
    Attack("make an interface", "ip link add pib0 type dummy 2>/dev/null && echo OPENED"),
    Attack("join another network", 'nsenter -t "$VICTIM" -n true 2>/dev/null && echo OPENED'),
    Attack(
        "take a file from another process",
        python(
            "libc = ctypes.CDLL(None); v = int(os.environ['VICTIM'])\np = libc.syscall(434, v, 0)\nif p >= 0 and libc.syscall(438, p, 0, 0) >= 0: print('OPENED')"
        ),
    ),
)

_PTRACE = "libc = ctypes.CDLL(None); print('OPENED') if libc.ptrace(16, {pid}, 0, 0) == 0 else 0"
_READV = (
    "libc = ctypes.CDLL(None); b = ctypes.create_string_buffer(64)\n"
    "class V(ctypes.Structure): _fields_ = [('a', ctypes.c_void_p), ('n', ctypes.c_size_t)]\n"
    "m = [l for l in open('/proc/{pid}/maps') if ' r' in l][0].split('-')[0] if os.access('/proc/{pid}/maps', 4) else '400000'\n"
    "l, r = V(ctypes.addressof(b), 8), V(int(m, 16), 8)\n"
    "if libc.syscall(310, {pid}, ctypes.byref(l), 1, ctypes.byref(r), 1, 0) > 0: print('OPENED')"
)

PROCESSES = (
    Attack("kill a process outside", 'kill -9 "$VICTIM"', "sleep 9 & kill $! && echo fine"),
    Attack(
        "stop a process outside", 'kill -STOP "$VICTIM"', "sleep 9 & kill -STOP $!; kill -9 $! && echo fine"
    ),
    Attack("kill the runner", 'kill -9 "$RUNNER"', needs_pids=True),
    Attack("kill everything", "kill -9 -1", needs_pids=True),
    Attack(
        "kill the first process",
        "kill -9 1; kill -TERM 1; kill -INT 1; sleep 0.05; cat ours",
        needs_pids=True,
    ),
    Attack("stop the first process", "kill -STOP 1; cat ours", only=BWRAP),
    Attack("trace a process outside", python(_PTRACE.format(pid="int(os.environ['VICTIM'])"))),
    Attack("trace the first process", python(_PTRACE.format(pid="1"))),
    Attack("read the first process's memory", python("open('/proc/1/mem', 'rb').seek(0); print('OPENED')")),
    Attack("read another's memory by call", python(_READV.format(pid="1"))),
    Attack(
        "read a process's environment",
        'tr "\\0" "\\n" < "/proc/$VICTIM/environ"',
        python("print('fine' if b'PATH' in open('/proc/self/environ', 'rb').read() else '')"),
    ),
    Attack("read every process's environment", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'"),
    Attack("read the runner's environment", 'cat "/proc/$RUNNER/environ"'),
    Attack(
        "read every process's files",
        "timeout 0.5 cat /proc/[0-9]*/fd/* < /dev/null 2>/dev/null | head -c 100000",
        only=BWRAP,
    ),
    Attack(
        "gain privileges",
        "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo OPENED",
        "grep -q 'NoNewPrivs:.*1' /proc/self/status && echo fine",
    ),
    Attack(
        "gain privileges by a program",
        "for p in su sudo mount ping; do f=$(command -v $p) && grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo OPENED; done; true",
    ),
    Attack("keep keys in the kernel", _call(248, "b'user'", "b'pib'", "b'x'", "1", "-3")),
    Attack("load a program into the kernel", _call(321, "0", "bytes(128)", "128")),
    Attack(
        "count the machine's events",
        _call(298, "bytes([0] * 4 + [112, 0, 0, 0] + [0] * 104)", "0", "-1", "-1", "0"),
    ),
    Attack("handle page faults", _call(323, "1")),
    Attack("read the kernel's log", "dmesg 2>/dev/null | grep -q . && echo OPENED"),
    Attack("queue calls to the kernel", _call(425, "4", "bytes(120)")),
    Attack("make namespaces by clone", _call(56, "0x10000000 | 17", "0", "0", "0", "0")),
    Attack("make namespaces by clone3", _call(435, "bytes(88)", "88")),
    Attack(
        "type on a terminal",
        python("import fcntl; t = os.open('/dev/tty', 2); fcntl.ioctl(t, 0x5412, b'x'); print('OPENED')"),
    ),
    Attack("stop the machine's clock", _call(227, "0", "bytes(16)"), "date >/dev/null && echo fine"),
    Attack(
        "rename the machine", "hostname pib 2>/dev/null && echo OPENED", "uname -n >/dev/null && echo fine"
    ),
)

RESOURCES = (
    Attack(
        "take all memory",
        python("b = bytearray(3 << 30); print('OPENED')"),
        python("b = bytearray(64 << 20); print('fine')"),
    ),
    Attack(
        "make a huge file",
        'truncate -s 3G huge 2>/dev/null; [ "$(stat -c %s huge 2>/dev/null || echo 0)" -gt 2147483648 ] && echo OPENED; rm -f huge',
        "truncate -s 10M h; stat -c 'fine' h; rm h",
    ),
    Attack(
        "leave a core",
        "ulimit -c unlimited 2>/dev/null; sh -c 'kill -SEGV $$' 2>/dev/null; ls | grep -q ^core && echo OPENED",
    ),
    Attack(
        "raise a limit again",
        'ulimit -f unlimited 2>/dev/null && [ "$(ulimit -Hf)" = unlimited ] && echo OPENED',
        "ulimit -n 64 && echo fine",
    ),
    Attack(
        "make very many processes",
        python(
            "n = 0\nfor _ in range(600):\n  try:\n    if os.fork() == 0: time.sleep(0.5); os._exit(0)\n    n += 1\n  except OSError: break\nif n > 500: print('OPENED')\ntime.sleep(1)"
        ),
        "for i in 1 2 3; do sleep 0 & done; wait; echo fine",
    ),
    Attack(  # before the next: a task that was ended once may keep what it had, and that is more
        "fill the disk without a name",
        "exec 9> nameless; rm nameless; for i in $(seq 25); do head -c 40M /dev/zero >&9; done; "
        "sleep 6; echo OPENED",  # beside others who fill the disk, what is written is counted every 5 s
        "exec 9> n; rm n; echo x >&9 && echo fine",
        only=("bwrap", "landlock"),
    ),
    Attack(
        "fill the disk",
        "for i in $(seq 100); do head -c 40M /dev/zero > big$i; sleep 0.02; done; echo OPENED",
        "rm -f big*; head -c 10M /dev/zero > big && rm big && echo fine",
    ),
    Attack(
        "use up all inodes",
        python("os.mkdir('many')\nfor i in range(400_000): open(f'many/{i}', 'w').close()\nprint('OPENED')"),
        "rm -rf many; mkdir m3 && touch m3/a && rm -r m3 && echo fine",
    ),
    Attack(
        "fill what the mounts hang in",
        "for d in / /dev /run /proc; do head -c 1M /dev/zero > $d/pib 2>/dev/null && echo OPENED; done",
        "echo x > /dev/null && echo fine",
    ),
)

_RUN = 'printf "#!/bin/sh\\ntouch $TOP/pwned\\n"'
GIT = (
    Attack(
        "plant a hook",
        f"mkdir -p .git/hooks; {_RUN} > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "git status --short >/dev/null && echo fine",
        only=BWRAP,
    ),
    Attack(
        "set a hooks path",
        f"mkdir -p hk; {_RUN} > hk/pre-commit; chmod +x hk/pre-commit; git config core.hooksPath hk",
        "git config --get core.bare >/dev/null && echo fine",
        only=BWRAP,
    ),
    Attack("set a file monitor", f"{_RUN} > fm; chmod +x fm; git config core.fsmonitor ./fm", only=BWRAP),
    Attack(
        "put another repository in its place",
        f"mv .git .old; cp -a .old .git; mkdir -p .git/hooks; {_RUN} > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "git add ours && echo fine",
        only=BWRAP,
    ),
    Attack(
        "put other hooks in their place",
        f"rm -rf .git/hooks; mkdir hk2; {_RUN} > hk2/pre-commit; chmod +x hk2/*; ln -s ../hk2 .git/hooks",
        only=BWRAP,
    ),
    Attack(
        "lead git to other settings",
        f"mkdir -p cd/hooks cd/objects cd/refs; cp .git/config cd/; {_RUN} > cd/hooks/pre-commit; chmod +x cd/hooks/*; rm -f .git/commondir; echo ../cd > .git/commondir",
        only=BWRAP,
    ),
    Attack(
        "set a filter",
        f"{_RUN} > fl; chmod +x fl; git config filter.x.clean ./fl; git config filter.x.smudge ./fl; mkdir -p .git/info; echo '* filter=x' > .git/info/attributes",
        only=BWRAP,
    ),
    Attack(
        "set settings of one work tree",
        f"{_RUN} > wt; chmod +x wt; git config extensions.worktreeConfig true; printf '[core]\\nfsmonitor = ./wt\\n' > .git/config.worktree",
        only=BWRAP,
    ),
    Attack(
        "bring a link over the settings",
        f"mkdir -p sc; cp .git/config sc/config; ln -sfn ../sc/config .git/config; git config -f sc/config core.fsmonitor ./fm; {_RUN} > fm; chmod +x fm",
        only=BWRAP,
    ),
    Attack(
        "lead a submodule to a command",
        f"{_RUN} > sm; chmod +x sm; git config submodule.x.url 'ext::./sm'; git config submodule.x.update '!./sm'; git config protocol.ext.allow always; printf '[submodule \"x\"]\\n path = x\\n url = ext::./sm\\n' > .gitmodules",
        "git submodule status >/dev/null && echo fine",
        only=BWRAP,
    ),
    Attack(
        "bring in somebody else's objects",
        'mkdir -p .git/objects/info; echo "$OUT" > .git/objects/info/alternates && [ -s .git/objects/info/alternates ] && git config core.fsmonitor ./fm && echo OPENED',
        "git cat-file -t HEAD >/dev/null && echo fine",
        only=BWRAP,
    ),
    Attack(
        "plant attributes and a driver",
        f"mkdir -p .git/info; {_RUN} > dr; chmod +x dr; echo '* diff=x merge=x' > .git/info/attributes; git config diff.x.command ./dr; git config diff.x.textconv ./dr; git config merge.x.driver ./dr",
        "git diff >/dev/null && echo fine",
        only=BWRAP,
    ),
    Attack(
        "set an editor, a pager and a helper",
        f"{_RUN} > ed; chmod +x ed; for k in core.editor core.pager credential.helper core.sshCommand gpg.program sequence.editor; do git config $k ./ed; done; git config commit.gpgSign true",
        "git var GIT_AUTHOR_IDENT >/dev/null 2>&1; echo fine",
        only=BWRAP,
    ),
    Attack(
        "plant a hook in a new work tree",
        f"git worktree add -q ../scratch-wt 2>/dev/null || git worktree add -q wt2; mkdir -p .git/worktrees/wt2/hooks; {_RUN} > .git/worktrees/wt2/hooks/pre-commit; git config core.hooksPath .git/worktrees/wt2/hooks",
        only=BWRAP,
    ),
    Attack(
        "include other settings",
        f"{_RUN} > inc; chmod +x inc; printf '[core]\\nfsmonitor = ./inc\\n' > more; git config include.path ../more",
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m y && echo fine",
        only=BWRAP,
    ),
)

ALL = (*FILES, *NETWORK, *PROCESSES, *RESOURCES, *GIT)
