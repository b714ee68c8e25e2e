"""Reading a document out of hostile text: this library's ``recover``, and json_repair's ``loads``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import json_repair

from benchmarks.runners.talk import talk
from emitter.recover import recover

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Reader:
    """A function of a text, whose value is let go of."""

    def __init__(self, read: Callable[[str], object]) -> None:
        self._read = read

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one reading; ``job`` has ``prefix``, ``unit``, ``suffix`` and ``size``, in characters."""
        unit = job["unit"]
        text = job["prefix"] + unit * (job["size"] // len(unit)) + job["suffix"]
        return lambda: bool(self._read(text))


if __name__ == "__main__":
    talk({"emitter": Reader(recover), "json_repair": Reader(json_repair.loads)})
