"""What is said of a form besides its rules: names of listed values, formats, contents and examples."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from emitter.errors import Unencodable
from emitter.schema.formats import words_of
from emitter.schema.generate import names_tell_more
from emitter.schema.pointer import below
from emitter.schema.read.scope import Part
from emitter.schema.shape import Node, Remark, Values
from emitter.schema.value import same
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.schema.codec import Codec
    from emitter.schema.write.ledger import Ledger

MAX_EXAMPLES = 3
"""So many examples of one value are shown."""

MAX_EXAMPLE = 200
"""An example of more characters, as JSON, is not shown: cut it would be none."""

UNSAYABLE: Any = object()
"""A value that has no form on the wire."""


def remarks(node: Node, codec: Codec, ledger: Ledger) -> Iterator[str]:
    """Yield the sentences to add to a description."""
    if Remark.NAMES in node.notes:
        yield _names(node, node.notes[Remark.NAMES])
    if Remark.FORMAT in node.notes:
        yield words_of(node.notes[Remark.FORMAT])
    if Remark.CONTENT in node.notes:
        yield from _content(node.notes[Remark.CONTENT], ledger)
    if "examples" in node.notes:
        yield _examples(sequence(node.notes["examples"]), codec)


def on_wire(codec: Codec, value: Any) -> Any:
    """Return a value of the caller's schema as the model is to write it, or ``UNSAYABLE``."""
    try:
        return codec.encode(value, "")
    except Unencodable:
        return value if codec.plain else UNSAYABLE
    except KeyError:  # inside a definition that is still being written
        return UNSAYABLE


def _names(node: Node, names: dict[str, Any]) -> str:
    values = node.values if isinstance(node, Values) else []
    named = [(each, names.get(same(each))) for each in values]
    told = [
        f"{json.dumps(each, ensure_ascii=False)} = {name}"
        for each, name in named
        if isinstance(name, str) and names_tell_more(name, each)
    ]
    return f"{', '.join(told)}." if told else ""


def _content(part: Part, ledger: Ledger) -> Iterator[str]:
    schema: dict[str, Any] = part.schema
    media = schema.get("contentMediaType")
    held = schema.get("contentSchema")
    if isinstance(held, dict) and held:
        content = Part(held, below(part.where, "contentSchema"), part.resolver)
        yield f"JSON text of a value that must be valid against {ledger.appendix.whole((content,))}"
    elif media == "application/json":
        yield "JSON text of any value."
    elif isinstance(media, str):
        yield f"A text of type {media}."
    if isinstance(schema.get("contentEncoding"), str):
        yield f"Encoded in {schema['contentEncoding']}."


def _examples(values: list[Any], codec: Codec) -> str:
    encoded = [on_wire(codec, each) for each in values[:MAX_EXAMPLES]]
    texts = [json.dumps(each, ensure_ascii=False) for each in encoded if each is not UNSAYABLE]
    short = [each for each in texts if len(each) <= MAX_EXAMPLE]
    return f"For example: {', '.join(short)}." if short else ""
