"""The three things a consumer of a stream is told on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from emitter.judge import Verdict


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of the document that is whole and valid.

    ``pointer`` is its JSON pointer in the document (RFC 6901), ``value`` what stands there. The document is
    not judged yet: a ``Restart`` takes back every slot before it.
    """

    pointer: str
    value: Any


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A further piece of a text that was asked to be followed; ``text`` is never empty."""

    pointer: str
    text: str


@dataclass(frozen=True, slots=True)
class Restart:
    """The answer did not do, and is asked for again: what was told of it is void.

    ``attempt`` is the number of the call that begins, ``reason`` the verdict on the one before.
    """

    attempt: int
    reason: Verdict


Progress: TypeAlias = Slot | TextDelta | Restart
