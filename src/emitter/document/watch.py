"""What is told of a document while it is written, in the caller's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.arguments import listed
from emitter.errors import InputError
from emitter.progress.slots import Watch, way

if TYPE_CHECKING:
    from emitter.progress.scan import Path


def watched(into: object, follow: object) -> Watch:
    """Return what to tell; raises ``InputError`` for what is no JSON pointer."""
    opened = [_pointer("into", each) for each in listed("into", into, (str,), "the pointers")]
    followed = [_pointer("follow", each) for each in listed("follow", follow, (str,), "the pointers")]
    return Watch(opened=tuple(_places(opened)), followed=tuple(followed))


def _pointer(name: str, given: object) -> str:
    if not isinstance(given, str) or not given.startswith("/"):
        raise InputError(f"{name} has {given!r}, which is no JSON pointer.", hint="One looks like '/lines'.")
    return given


def _places(pointers: list[str]) -> set[Path]:
    """Return the ways to the containers, and to those around them, which cannot be told whole any more."""
    ways = [way(each) for each in pointers]
    return {each[:end] for each in ways for end in range(1, len(each) + 1)}
