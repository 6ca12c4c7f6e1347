"""The porter's loop: take a request, carry it out, answer; say when a command has ended.

Requests are [number, what, ...] and answers [number, "ok" | "error", ...]; a command that was started is
answered with "ok" and later, once, with "exit". When the runner goes, everything below the porter is killed.

Source: prctl(2), PR_SET_CHILD_SUBREAPER and PR_SET_DUMPABLE.
"""

# os.open and the like: pathlib costs 10 ms at start; contextlib and typing some more.
# ruff: noqa: SIM105, PTH123, S606

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` costs 3 ms at start
import _socket
import errno
import os
import resource
import select
import sys

from pi_batch.porter import files, wire

_SET_DUMPABLE = 4
_SET_CHILD_SUBREAPER = 36
_NO_EXIT = 127


class Request:
    """One request; `kept` is what goes back with the answer."""

    def __init__(self, number: bytes, fields: list[bytes], sent: list[int]) -> None:
        self.number = number
        self.fields = fields
        self.sent = sent
        self.kept: list[int] = []

    @property
    def text(self) -> str:
        """The first field as a path or a name."""
        return os.fsdecode(self.fields[0])


class Porter:
    """One sandbox's porter; `run` returns when the runner has gone."""

    def __init__(self, socket: _socket.socket) -> None:
        self._socket = socket
        self._calls: dict[int, bytes] = {}
        """Pid of a command that runs -> the number of the request that started it."""
        self._limits: list[tuple[int, int, int]] = []
        """(resource, soft, hard) for every command."""

    def run(self) -> None:
        """Serve until there is nobody to serve."""
        reading, writing = os.pipe()
        for end in (reading, writing):
            os.set_blocking(end, False)
        _signal.signal(_signal.SIGCHLD, lambda _number, _frame: None)
        _signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN)
        poll.register(reading, select.POLLIN)
        while True:
            for ready, _ in poll.poll():
                if ready == reading:
                    os.read(reading, 4096)
                    self._reap()
                elif not self._serve_one():
                    return

    def _serve_one(self) -> bool:
        """One request; False when there is none any more."""
        message = wire.receive(self._socket)
        if message is None:
            return False
        (number, what, *fields), sent = message
        request = Request(number, fields, sent)
        try:
            answer = getattr(self, f"_do_{what.decode()}")(request)
        except OSError as error:
            named = error.filename if isinstance(error.filename, str) else ""
            text = error.strerror or str(error)
            answer = [b"error", b"%d" % (error.errno or errno.EIO), text.encode(), os.fsencode(named)]
        finally:
            wire.close_all(sent)
        wire.send(self._socket, [number, *answer], request.kept)
        wire.close_all(request.kept)
        return True

    def _reap(self) -> None:
        """Take every exit there is, orphans' too, and tell those of commands."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            number = self._calls.pop(pid, None)
            if number is not None:
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
                wire.send(self._socket, [number, b"exit", b"%d" % code])

    def _do_lock(self, request: Request) -> list[bytes]:
        """Give up what a filter and a rule set forbid."""
        from pi_batch.porter.lock import lock

        lock(request.sent[0] if request.sent else None, request.fields[0])
        return [b"ok"]

    # --- commands ---

    def _do_limits(self, request: Request) -> list[bytes]:
        """Limits of every command from now on: resource, soft, hard, and so on."""
        values = [int(field) for field in request.fields]
        self._limits = list(zip(values[::3], values[1::3], values[2::3]))  # noqa: B905 -- Python 3.8
        return [b"ok"]

    def _do_spawn(self, request: Request) -> list[bytes]:
        """Start a command: its mark, directory, number of words, words, NAME=VALUE...; output to a file."""
        mark, cwd, count, *rest = request.fields
        words, variables = rest[: int(count)], rest[int(count) :]
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._socket.close()
            _become(request.sent[0], writing, cwd, words, variables, limits=self._limits, mark=int(mark))
        os.close(writing)
        with open(reading, "rb") as pipe:
            failure = pipe.read()
        if failure:
            os.waitpid(pid, 0)
            code, _, name = failure.partition(b":")
            raise OSError(int(code), os.strerror(int(code)), os.fsdecode(name))
        self._calls[pid] = request.number
        return [b"ok", b"%d" % pid]

    def _do_idle(self, request: Request) -> list[bytes]:
        """Whether nothing at all runs."""
        self._reap()
        return [b"ok", b"" if _children() else b"1"]

    def _do_kill(self, request: Request) -> list[bytes]:
        """End everything below."""
        kill_all()
        self._reap()
        return [b"ok"]

    def _do_signal(self, request: Request) -> list[bytes]:
        """Signal what carries a mark: the mark, how many of its last bits do not count, the signal."""
        from pi_batch.porter.marked import signal_marked

        mark, ignored_bits, number = map(int, request.fields)
        self._reap()
        return [b"ok", b"%d" % signal_marked(mark, ignored_bits, number)]

    def _do_environment(self, request: Request) -> list[bytes]:
        """The variables that this process was started with: an image's own."""
        del request
        return [b"ok", *(b"%s=%s" % pair for pair in os.environb.items())]

    # --- files ---

    def _do_resolve(self, request: Request) -> list[bytes]:
        return [b"ok", os.fsencode(files.resolve(request.text))]

    def _do_stat(self, request: Request) -> list[bytes]:
        found = files.status(request.text)
        if found is None:
            return [b"ok"]
        kind = files.kind_of(found.st_mode).encode()
        return [
            b"ok",
            kind,
            b"%d" % found.st_size,
            b"%d" % (found.st_mode & 0o7777),
            b"%d" % found.st_mtime_ns,
        ]

    def _do_list(self, request: Request) -> list[bytes]:
        answer = [b"ok"]
        for entry in files.entries(request.text):
            answer += map(os.fsencode, entry)
        return answer

    def _do_open(self, request: Request) -> list[bytes]:
        """A regular file for reading; it is sent itself."""
        request.kept.append(files.opened(request.text, os.O_RDONLY))
        return [b"ok"]

    def _do_write(self, request: Request) -> list[bytes]:
        files.write(request.text, request.fields[1])
        return [b"ok"]

    # --- network ---

    def _do_listen(self, request: Request) -> list[bytes]:
        """A socket that listens on the sandbox's own loopback; it is sent itself, with its port."""
        socket = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        socket.bind(("127.0.0.1", 0))
        socket.listen(128)
        port = socket.getsockname()[1]
        request.kept.append(socket.detach())
        return [b"ok", b"%d" % port]

    def _do_connect(self, request: Request) -> list[bytes]:
        """Try to reach a TCP port, as a command could."""
        socket = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        try:
            socket.settimeout(1.0)
            socket.connect((request.text, int(request.fields[1])))
        finally:
            socket.close()
        return [b"ok"]


def _become(
    output: int,
    failure: int,
    cwd: bytes,
    words: list[bytes],
    variables: list[bytes],
    *,
    limits: list[tuple[int, int, int]],
    mark: int,
) -> None:
    """Turn this forked child into a command; what goes wrong goes to `failure` as number and name."""
    name = cwd
    try:
        os.setsid()
        _signal.set_wakeup_fd(-1)
        for number in (_signal.SIGCHLD, _signal.SIGINT, _signal.SIGTERM, _signal.SIGPIPE, _signal.SIGXFSZ):
            _signal.signal(number, _signal.SIG_DFL)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        _limit(mark, limits)
        os.chdir(cwd)
        name = words[0]
        _execute(words, dict(variable.split(b"=", 1) for variable in variables))
    except OSError as error:
        os.write(failure, b"%d:%s" % (error.errno or errno.EIO, name))
    except BaseException:  # noqa: BLE001 -- a forked child must never go on as its parent
        os.write(failure, b"%d:%s" % (errno.EINVAL, name))
    os._exit(_NO_EXIT)


def _limit(mark: int, limits: list[tuple[int, int, int]]) -> None:
    """This process's limits; the mark is a limit, too, that no process could use up."""
    for kind, soft, hard in limits:
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            hard = most if hard == resource.RLIM_INFINITY else min(hard, most)  # noqa: PLW2901
            soft = hard if soft == resource.RLIM_INFINITY else min(soft, hard)  # noqa: PLW2901
        resource.setrlimit(kind, (soft, hard))
    try:
        resource.setrlimit(resource.RLIMIT_RTTIME, (mark, resource.getrlimit(resource.RLIMIT_RTTIME)[1]))
    except (OSError, ValueError):
        pass  # the variables are left


def _execute(words: list[bytes], environment: dict[bytes, bytes]) -> None:
    """Become a program, looked for as a shell would. Raises: OSError."""
    program = words[0]
    if b"/" in program:
        os.execve(program, words, environment)
    first: OSError | None = None
    for directory in environment.get(b"PATH", os.defpath.encode()).split(b":"):
        try:
            os.execve(directory + b"/" + program, words, environment)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            first = first or error
    raise first or FileNotFoundError(errno.ENOENT, "")


def kill_all() -> None:
    """Kill everything below this process: orphans come here, so that nothing is missed."""
    while True:
        children = _children()
        if not children:
            return
        for pid in children:
            try:
                os.kill(pid, _signal.SIGKILL)
            except ProcessLookupError:
                pass
        _wait_a_moment()


def _wait_a_moment() -> None:
    """Let the killed go; their exits are left for the loop to tell."""
    select.poll().poll(1)


def _children() -> list[int]:
    """Direct children that have not ended."""
    found = []
    with open("/proc/thread-self/children", "rb") as file:
        pids = file.read().split()
    for pid in pids:
        try:
            with open(b"/proc/%s/stat" % pid, "rb") as file:
                state = file.read().rpartition(b") ")[2][:1]
        except OSError:
            continue
        if state not in b"ZX":
            found.append(int(pid))
    return found


def _prctl(option: int, value: int) -> None:
    """prctl(2) without `ctypes`, which costs 4 ms."""
    import _ctypes

    library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
    _ctypes.call_function(_ctypes.dlsym(library, "prctl"), (option, value, 0, 0, 0))


def main(number: int | str) -> None:
    """Serve on an inherited socket, or on one that is called by its path."""
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    _prctl(_SET_DUMPABLE, 0)
    if isinstance(number, str):
        socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        socket.connect(number)
    else:
        os.set_inheritable(number, False)
        socket = _socket.socket(fileno=number)
    try:
        wire.send(socket, [b"", b"ready"])
        Porter(socket).run()
    except OSError:
        pass  # the runner has gone
    kill_all()
    sys.stdout.flush()
    os._exit(0)
