"""A process that emits once, with a store in a file: what it comes to is a line of JSON on standard output."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from emitter import emit
from emitter.errors import EmissionError
from emitter.host import Acceptor
from emitter.stores import SqliteStore
from tests.host.emitting import FORM, MODEL, POLICY

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE = 30.0


def killed() -> str:
    """Be what makes the envelope's id: the answer is here, and nothing of it is recorded."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def meeting(folder: Path) -> Callable[[object], None]:
    """Return a check that waits until another process has its answer too."""

    def meet(_: object) -> None:
        (folder / str(os.getpid())).touch()
        end = time.monotonic() + _PATIENCE
        while len(list(folder.iterdir())) < 2:
            assert time.monotonic() < end, "the other has not come"
            time.sleep(0.001)

    return meet


def main(path: str, how: str) -> None:
    """Emit, and tell of it."""
    with SqliteStore(path) as store:
        host = Acceptor(store=store, new_id=killed) if how == "killed" else Acceptor(store=store)
        checks = [meeting(Path(how))] if Path(how).is_dir() else []
        try:
            emission = emit(FORM, "?", model=MODEL, policy=POLICY, run_id="run-1", host=host, checks=checks)
        except EmissionError as error:
            reported = {"code": error.code}
        else:
            reported = {
                "value": emission.value,
                "envelope": emission.envelope.to_json(),
                "calls": len(emission.attempts),
            }
    print(json.dumps(reported))  # noqa: T201  it is what the tests read


if __name__ == "__main__":
    main(*sys.argv[1:])
