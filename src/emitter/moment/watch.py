"""What is told of a decision while it is written: its slots under the names of the envelope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.arguments import listed
from emitter.errors import InputError
from emitter.kinds import Option
from emitter.progress.slots import Watch
from emitter.progress.told import Slot
from emitter.wire import sequence

if TYPE_CHECKING:
    from emitter.wire import Json

_TURN = "/turn"
_OPTIONS = "/question/options/"
_RECOMMENDED = "/question/recommended_idx"
_TEXTS = ("reasoning", "synopsis", "offer", "question/stem")


def watched(follow: object) -> Watch:
    """Return what to tell; ``follow`` names texts of a decision that are told as they are written."""
    named = [_known(each) for each in listed("follow", follow, (str,), "the pointers")]
    return Watch(
        opened=(("turn",), ("turn", "question"), ("turn", "question", "options")),
        followed=tuple(each if each == "/reasoning" else f"{_TURN}{each}" for each in named),
        begin=_Reading,
        place=_place,
    )


def _known(given: object) -> str:
    known = [f"/{each}" for each in _TEXTS]
    if given not in known:
        raise InputError(f"follow has {given!r}.", hint=f"The texts of a decision are {', '.join(known)}.")
    return str(given)


def _place(pointer: str) -> str:
    return pointer.removeprefix(_TURN)


class _Reading:
    """Reads the slots of one answer; a recommendation is told only of an option that was told."""

    def __init__(self) -> None:
        self._options = 0

    def __call__(self, pointer: str, value: Json) -> Slot | None:
        """Return the slot: texts, tuples of texts, ``Option``s, and a position among them."""
        place = _place(pointer)
        if place.startswith(_OPTIONS):
            self._options = int(place.removeprefix(_OPTIONS)) + 1
            return Slot(place, Option(**value))
        if place == _RECOMMENDED:
            return Slot(place, int(value)) if value < self._options else None
        return Slot(place, tuple(sequence(value)) if isinstance(value, list) else value)
