"""Reading an answer piece by piece, and what ought to be reported it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.forms.document import document_selectors
from emitter.schema import compile_schema
from emitter.schema.json_data import escape_pointer_token
from emitter.streaming import FieldComplete, TextDelta
from emitter.streaming.field_stream import FieldStream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.streaming.field_stream import FieldStreamReader


def reader(schema: Any, profile: str, into: Iterable[str] = (), follow: Iterable[str] = ()) -> FieldStreamReader:
    """Return the reader of one answer to a schema."""
    return FieldStream(compile_schema(schema, profile), document_selectors(into, follow)).new_reader()


def reported(reading: FieldStreamReader, pieces: Iterable[str]) -> list[FieldComplete | TextDelta]:
    """Return all that is reported the pieces."""
    return [each for piece in pieces for each in reading.feed(piece)]


def slots(found: Iterable[FieldComplete | TextDelta]) -> list[tuple[str, Any]]:
    """Return the slots, as pointers and values."""
    return [(each.pointer, each.value) for each in found if isinstance(each, FieldComplete)]


def texts(found: Iterable[FieldComplete | TextDelta]) -> dict[str, str]:
    """Return the texts that were followed, put together."""
    joined: dict[str, str] = {}
    for each in found:
        if isinstance(each, TextDelta):
            assert each.text
            joined[each.pointer] = joined.get(each.pointer, "") + each.text
    return joined


def members(document: Any, opened: Iterable[str] = (), at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what should be reported: the members of a document, and those of its opened containers instead of them."""
    if not isinstance(document, dict | list):
        yield at, document
        return
    for name, each in document.items() if isinstance(document, dict) else enumerate(document):
        pointer = f"{at}/{escape_pointer_token(str(name))}"
        if pointer in opened and isinstance(each, dict | list):
            yield from members(each, opened, pointer)
        else:
            yield pointer, each


def at(document: Any, pointer: str) -> Any:
    """Return what stands at a pointer."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document
