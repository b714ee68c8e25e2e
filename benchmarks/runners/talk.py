"""The conversation with a runner: one JSON object a line on standard input, one back on standard output.

A runner names its contenders. Each has ``caller(job)``, which returns a function that does the task once, its client
made and warm, or ``streamer(job)``, which returns one that yields while the answer comes and the value at the end, or
both; ``job`` has what they need to know, such as ``wire``, ``url`` and ``retries``. This module times them, says what
they returned or raised, and keeps whatever a library prints out of the conversation.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import warnings
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_CHAIN = 6
"""Exceptions that are reported one chain."""
_HEAD = 2000
"""Characters that are reported an exception's message."""


class Desk:
    """Answers the jobs of one runner."""

    def __init__(self, contenders: Mapping[str, Any]) -> None:
        self._contenders = contenders
        self._warm: dict[str, Callable[[], Any]] = {}

    def answer(self, job: dict[str, Any]) -> dict[str, Any]:
        """Do what a line asks for."""
        match job["do"]:
            case "once":
                return _once(self._caller(job))
            case "cpu":
                return _cpu(self._caller(job), job["calls"])
            case "stream":
                return _streamed(self._contenders[job["contender"]].streamer(job), job["cap"])
            case "about":
                return {name: metadata.version(name) for name in job["packages"]}
            case unknown:
                raise ValueError(unknown)

    def _caller(self, job: dict[str, Any]) -> Callable[[], Any]:
        key = json.dumps({name: each for name, each in job.items() if name not in ("do", "calls")})
        if key not in self._warm:
            self._warm[key] = self._contenders[job["contender"]].caller(job)
        return self._warm[key]


def talk(contenders: Mapping[str, Any]) -> None:
    """Answer every line until there are no more."""
    reported = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    desk = Desk(contenders)
    for line in sys.stdin:
        try:
            answer = desk.answer(json.loads(line))
        except Exception as error:  # noqa: BLE001  the other end decides what it means
            answer = {"broken": _reported(error)}
        reported.write(json.dumps(answer) + "\n")
        reported.flush()


def _once(call: Callable[[], Any]) -> dict[str, Any]:
    """Return what one call came to, and the seconds that it took."""
    started = time.perf_counter()
    try:
        value = call()
    except Exception as error:  # noqa: BLE001  what a library raises is what is measured
        return {"seconds": time.perf_counter() - started, "raised": _reported(error)}
    return {"seconds": time.perf_counter() - started, "value": _plain(value)}


def _reported(error: BaseException) -> list[dict[str, Any]]:
    """Return an exception and what it came from, as classes and the beginnings of their messages."""
    chain: list[dict[str, Any]] = []
    at: BaseException | None = error
    while at is not None and len(chain) < _CHAIN:
        kind = type(at)
        code = getattr(at, "code", None)
        text = f"{code if isinstance(code, str) else ''} {at}".strip()[:_HEAD]
        chain.append({"class": kind.__name__, "package": kind.__module__.partition(".")[0], "text": text})
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    return chain


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def _cpu(call: Callable[[], Any], calls: int) -> dict[str, Any]:
    """Return the processor seconds of one call, all threads of this process together."""
    gc.collect()
    started = time.process_time()
    for _ in range(calls):
        call()
    return {"cpu": (time.process_time() - started) / calls}


def _streamed(stream: Callable[[], Iterable[object]], cap: float) -> dict[str, Any]:
    """Return the processor seconds of one stream, its last value, and whether it was left when it took too many."""
    gc.collect()
    yields, last, started = 0, None, time.process_time()
    for each in stream():
        yields, last = yields + 1, each
        if time.process_time() - started > cap:
            return {"cpu": time.process_time() - started, "yields": yields, "stopped": True}
    spent = time.process_time() - started
    return {"cpu": spent, "yields": yields, "stopped": False, "value": _plain(last) if _modelled(last) else None}


def _modelled(value: object) -> bool:
    return isinstance(value, BaseModel | dict)
