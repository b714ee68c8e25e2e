"""Telling how a run goes: a bar on a terminal, or a function of the caller's own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.errors import InputError
from emitter.many.tally import RunProgress

if TYPE_CHECKING:
    from collections.abc import Generator

Report: TypeAlias = Callable[[RunProgress], object]
"""Told of each finished item; what it returns is not looked at."""


def checked(progress: object) -> None:
    """Refuse what cannot be told."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise InputError(f"progress is {progress!r}; it must be True, False, None or a function of a RunProgress.")


@contextmanager
def reporting(progress: Report | bool | None) -> Generator[Report]:  # noqa: FBT001  the caller's own setting
    """Yield what is told; None stands for a bar where standard error is a terminal."""
    if callable(progress):
        yield progress
    elif progress or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
        with _bar() as report:
            yield report
    else:
        yield _silent


def _silent(_: RunProgress) -> None:
    pass


@contextmanager
def _bar() -> Generator[Report]:
    tqdm = importlib.import_module("tqdm.std").tqdm  # only where there is something to see
    kind: Any = type("Bar", (tqdm,), {"monitor_interval": 0})  # no thread that would outlive the run
    kind.set_lock(RLock())  # nor a lock between processes
    bar = kind(unit="emission", dynamic_ncols=True, file=sys.stderr)

    def report(at: RunProgress) -> None:
        if at.notice is not None:
            bar.write(at.notice, file=sys.stderr)
        bar.total = at.total
        bar.set_postfix_str(_said(at), refresh=False)
        bar.update(at.done - bar.n)

    try:
        yield report
    finally:
        bar.close()


def _said(at: RunProgress) -> str:
    failed = f"{at.failed} failed, " if at.failed else ""
    retries = f"{at.retries} again, " if at.retries else ""
    return f"{failed}{retries}{at.usage.total} tokens, {at.in_flight}/{at.limit} in flight"
