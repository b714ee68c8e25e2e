"""The events of a streamed emission: completed fields, text deltas and restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from emitter.core.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class FieldComplete:
    """A complete and valid part of the document.

    ``pointer`` is its JSON pointer (RFC 6901). The document as a whole is not yet validated: a ``Restart`` revokes
    every field before it.
    """

    pointer: str
    value: Any


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A further piece of a string that you asked to follow; ``text`` is never empty."""

    pointer: str
    text: str


@dataclass(frozen=True, slots=True)
class Restart:
    """The answer was rejected and is requested again. Everything streamed before is void.

    ``attempt`` is the number of the new call, ``reason`` the verdict on the previous one.
    """

    attempt: int
    reason: Verdict


StreamEvent: TypeAlias = FieldComplete | TextDelta | Restart
