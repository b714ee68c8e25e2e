"""The events of a streamed emission, and the selection of the parts that it reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.core.effects import Restart as Restart

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.messages import Json


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
    """The next piece of a string that is reported while it is written. ``text`` is never empty."""

    pointer: str
    text: str


StreamEvent: TypeAlias = FieldComplete | TextDelta | Restart
EventFactory: TypeAlias = "Callable[[str, Json], FieldComplete | None]"
DocumentPath: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class StreamSelection:
    """The parts of a document to stream.

    Attributes:
        containers: Paths of the containers below the root whose members are reported one by one.
        text_pointers: Pointers of strings that are reported as they are written.
        new_event_factory: Called for each answer. The result turns a pointer and its valid JSON into an event, or None.
        display_pointer: Returns the pointer to report for one of ``text_pointers``.
    """

    containers: tuple[DocumentPath, ...] = ()
    text_pointers: tuple[str, ...] = ()
    new_event_factory: Callable[[], EventFactory] = lambda: FieldComplete
    display_pointer: Callable[[str], str] = str
