"""What all wires share in writing: an answer that is ready, events of a stream, errors, marks for ids."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from emitter.testing.draft import Ending
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.testing.asked import Asked
    from emitter.testing.draft import Draft, Failure
    from emitter.testing.rules.reading import Breach
    from emitter.testing.wires.reading import Surface
    from emitter.wire import Json, Usage

MARK = "7c0ffee5ad0f1e2d3c4b5a69"
"""Stands for the response's own id, and is replaced by one of the same length when it is sent."""
CREATED = 1_795_000_000
"""When every answer was made: a clock would make two runs differ."""

_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """An answer, ready to be written: ``draft`` is within its budget, ``usage`` what it costs."""

    asked: Asked
    draft: Draft
    usage: Usage

    @property
    def called(self) -> bool:
        """Whether the text is what a forced function is called with."""
        return bool(self.asked.tool and self.draft.text) and self.draft.ending is not Ending.REFUSED

    @property
    def broken_off(self) -> bool:
        """Whether a stream ends in the middle of its text."""
        return self.draft.failing is not None or self.draft.ending is Ending.NONE

    def pieces(self, text: str) -> Iterator[str]:
        """Yield a text in the parts that a stream sends."""
        chunk = max(1, self.draft.chunk)
        return (text[start : start + chunk] for start in range(0, len(text), chunk))

    def calls(self) -> list[str]:
        """Return the arguments of each call: several whole documents in the text are several calls."""
        text = self.draft.text
        found: list[str] = []
        start = 0
        while start < len(text):
            try:
                _, end = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError):
                return [text]
            found.append(text[start:end])
            start = end + len(text[end:]) - len(text[end:].lstrip())
        return found


@dataclass(frozen=True, slots=True)
class Event:
    """A part of a stream; ``said`` is how many characters of the answer it carries."""

    text: str
    said: int = 0


@dataclass(frozen=True, slots=True)
class Denial:
    """An error response."""

    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Wire(Protocol):
    """What every wire's module offers."""

    def read(self, path: str, body: Mapping[str, Json]) -> Asked | Failure:
        """Return what a request asks for, or what is wrong with it."""
        ...

    def surfaces(self, asked: Asked) -> Iterator[Surface]:
        """Yield the schemas of a request and the rules that each is held to."""
        ...

    def complaint(self, surface: Surface, breach: Breach) -> str:
        """Return what the vendor says of a schema that breaks a rule."""
        ...

    def whole(self, said: Said) -> Json:
        """Return the body of the unary form."""
        ...

    def stream(self, said: Said) -> Iterator[Event]:
        """Yield the events of the streamed form."""
        ...

    def denial(self, failure: Failure, asked: Asked) -> Denial:
        """Return the error response."""
        ...


def dumped(value: Json) -> str:
    """Write JSON without blanks, as most vendors do."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def named(name: str, payload: Json) -> str:
    """Write an event with its name."""
    return f"event: {name}\ndata: {dumped(payload)}\n\n"


def unnamed(payload: Json) -> str:
    """Write an event without a name."""
    return f"data: {dumped(payload)}\n\n"


def arguments(text: str) -> dict[str, Json] | None:
    """Return a call's arguments where they are an object, else None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return dict(mapping(value)) if isinstance(value, dict) else None
