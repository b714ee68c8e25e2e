"""Python programs in processes of their own, forked from a server that has imported what they import.

Importing an SDK takes a second, and forking takes hundredths of one. ``launch("emitter", "mcp")`` returns a command
that does what ``python -m emitter mcp`` does: it has the same streams, folder, environment, signals and exit status.
The command is a small client of the server, which ends with the tests. Under ``make check-all``, and where there is
no ``pidfd_open``, each program is started in an interpreter of its own.

To kill a program, send ``KILL`` to its command: the command ends after the program. A program that needs a terminal
of its own makes one its controlling terminal, as in ``tests/terminal/controlled.py``.
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import emitter
from emitter.errors import MissingExtra
from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Iterable


def _has_pidfd() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # another system, or a sandbox that does not have it
        return False
    return True


_FORKS = _has_pidfd() and not FULL
KILL = signal.SIGUSR1 if _FORKS else signal.SIGKILL
_RUN_FROM_ROOT = f"""\
import runpy, sys
sys.path.append({str(Path(__file__).parents[1])!r})
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
_CLIENT = Path(__file__).with_name("launching_client.py")
_MAX_MESSAGE_BYTES = 2**20


def launch(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module as a program."""
    if not _FORKS:
        # A test may run the program in a folder from which tests/ is not found.
        own = ["-m"] if not module.startswith("tests.") else ["-c", _RUN_FROM_ROOT]
        return [sys.executable, *own, module, *arguments]
    return [sys.executable, "-I", "-S", str(_CLIENT), _address(), module, *arguments]


@cache
def _address() -> str:
    """Start the server, and return its address."""
    folder = Path(tempfile.mkdtemp(prefix="launching"))
    address = str(folder / "socket")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.launching", address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    atexit.register(server.communicate)  # which closes its standard input, and so ends it
    return address


class _Server:
    """Forks a program for each connection, and sends its exit status to the client."""

    def __init__(self, address: str) -> None:
        self._selector = selectors.DefaultSelector()
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listening.bind(address)
        self._listening.listen()

    def serve(self) -> None:
        """Serve until standard input ends."""
        self._selector.register(self._listening, selectors.EVENT_READ, self._start)
        self._selector.register(sys.stdin, selectors.EVENT_READ, sys.exit)
        while True:
            for key, _ in self._selector.select():
                if self._selector.get_map().get(key.fd) == key:  # the one before it may have closed it
                    key.data()

    def _start(self) -> None:
        connection, _ = self._listening.accept()
        message, streams = _receive(connection)
        _import_libraries(message["module"])
        child = _fork(message, streams)
        ended = os.pidfd_open(child)

        def end() -> None:
            self._selector.unregister(ended)
            self._selector.unregister(connection)
            os.close(ended)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with suppress(OSError):
                connection.send(str(status).encode())
            connection.close()

        def signal_child() -> None:
            number = connection.recv(8)
            os.kill(child, int(number) if number else signal.SIGKILL)
            if not number:
                end()

        self._selector.register(ended, selectors.EVENT_READ, end)
        self._selector.register(connection, selectors.EVENT_READ, signal_child)


def _receive(connection: socket.socket) -> tuple[Any, list[int]]:
    streams = array.array("i")
    message, ancillary, *_ = connection.recvmsg(_MAX_MESSAGE_BYTES, socket.CMSG_SPACE(3 * streams.itemsize))
    for _level, _kind, data in ancillary:
        streams.frombytes(data)
    return json.loads(message), list(streams)


_LIBRARIES = {
    "emitter": ("openai", "uvicorn"),
    "tests.mcp.mailing": ("mcp.server", "uvicorn"),
    "tests.integrations.flows": ("dbos", "openai"),
}
"""The libraries of the programs that need more, or less, than OpenAI's SDK."""


@cache
def _import_libraries(module: str) -> None:
    _import_all(_LIBRARIES.get(module, ("openai",)))


def _import_package() -> None:
    """Import the package's modules, of which most are imported when they are used."""
    names = (each.name for each in pkgutil.walk_packages(emitter.__path__, "emitter."))
    _import_all(name for name in names if not name.startswith(("emitter.integrations", "emitter.__main__")))


def _import_all(names: Iterable[str]) -> None:
    for name in names:
        with suppress(ImportError, MissingExtra):
            importlib.import_module(name)


def _fork(message: Any, streams: list[int]) -> int:
    """Start the program, and return the number of its process."""
    gc.freeze()  # or each program would copy what it looks through
    child = os.fork()
    if child == 0:
        try:
            _run(message, streams)
        finally:  # nobody above is to go on with the server's work
            os._exit(1)
    for each in streams:
        os.close(each)
    return child


def _run(message: Any, streams: list[int]) -> NoReturn:
    """Be the program: with its streams, folder, environment and arguments."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 1024)
    os.chdir(message["folder"])
    os.environ.clear()
    os.environ.update(message["environment"])
    sys.path[0] = message["folder"]
    sys.argv = [message["module"], *message["arguments"]]
    sys.stdin, sys.stdout = open(0, encoding="utf-8"), _writer(1, "strict")  # noqa: SIM115  as at Python's start
    sys.stderr = _writer(2, "backslashreplace")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)
    os._exit(_finish(_status(message["module"])))


def _writer(number: int, errors: str) -> io.TextIOWrapper:
    raw = open(number, "wb", closefd=False)  # noqa: SIM115  as at Python's start
    is_eager = number == 2 or raw.isatty() or "PYTHONUNBUFFERED" in os.environ
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, line_buffering=is_eager, write_through=is_eager)


def _status(module: str) -> int:
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)  # noqa: T201  as Python does
        return 1
    except KeyboardInterrupt:
        traceback.print_exc()
        return -signal.SIGINT
    except BaseException:  # noqa: BLE001  as Python does
        traceback.print_exc()
        return 1
    return 0


def _finish(status: int) -> int:
    """Do what Python does at its end."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    _import_package()
    server = _Server(sys.argv[1])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    try:
        server.serve()
    finally:
        shutil.rmtree(Path(sys.argv[1]).parent)
