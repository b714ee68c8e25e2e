"""The command of ``tests.launching``: it hands its streams over, passes signals on, and ends as the program does."""

import _socket
import array
import json
import os
import signal
import sys


def main(address: str, module: str, *arguments: str) -> None:
    """Let the program be run, and wait for its end."""
    message = {"module": module, "arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109  pathlib takes longer to import than all of this
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    connection.connect(address)
    streams = array.array("i", [0, 1, 2])
    connection.sendmsg([json.dumps(message).encode()], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    passed_on = {signal.SIGINT: signal.SIGINT, signal.SIGTERM: signal.SIGTERM, signal.SIGUSR1: signal.SIGKILL}
    for received, passed in passed_on.items():
        signal.signal(received, lambda *_, passed=passed: connection.send(b"%d" % passed))
    status = int(connection.recv(8))
    if status < 0:
        if -status in passed_on:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


main(*sys.argv[1:])
