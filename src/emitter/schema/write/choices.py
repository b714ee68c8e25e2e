"""Writing unions: told apart by what the branches look like, else by a tag that decoding takes out again."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

from emitter.schema.codec import Among, Codec, Plain, Tagged
from emitter.schema.codec.base import members_of
from emitter.schema.codec.choices import VALUE, VARIANT
from emitter.schema.shape import Choice, Never, Node, Open, Record, Ref, Scalar, Sequence, Values
from emitter.schema.value import OBJECT, STRING
from emitter.schema.write.apart import apart
from emitter.schema.write.forms import closed
from emitter.schema.write.ledger import described

if TYPE_CHECKING:
    from emitter.schema.write.writer import Writer

MAX_PAIRS = 5_000
"""Unions of so many branches that more pairs would have to be compared are tagged."""

_KINDS: dict[type[Node], str] = {
    Open: "open",
    Never: "never",
    Scalar: "scalar",
    Values: "values",
    Record: "record",
    Sequence: "sequence",
    Choice: "choice",
    Ref: "ref",
}
"""How a branch without a title is called on the wire."""

_ODD = re.compile(r"[^A-Za-z0-9_-]+")


def write_choice(node: Choice, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return a union."""
    forms = [writer.write(each) for each in node.branches]
    codecs = tuple(codec for _, codec in forms)
    told = _not_exclusive(node, writer)
    if _told_apart(codecs) and not (writer.subset.discriminated and _unnamed(codecs)):
        wire: dict[str, Any] = {"anyOf": [each for form, _ in forms for each in _spliced(form)]}
        return _with(wire, told), Among(codecs)
    names = _names(node.branches, writer)
    tagged = [_tagged(name, form, writer) for name, (form, _) in zip(names, forms, strict=True)]
    return _with({"anyOf": tagged}, told), Tagged(dict(zip(names, codecs, strict=True)))


def _with(wire: dict[str, Any], told: list[str]) -> dict[str, Any]:
    return described(wire, f"Must hold: {', '.join(told)}.") if told else wire


def _spliced(form: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the branches of a union inside a union; one with a note stays as it is."""
    return form["anyOf"] if form.keys() == {"anyOf"} else [form]


def _not_exclusive(node: Choice, writer: Writer) -> list[str]:
    """Return what to tell where exactly one branch must hold and the branches may overlap."""
    if not node.exclusive or node.origin is None:
        return []
    pairs = list(combinations(node.branches, 2))
    if len(pairs) <= MAX_PAIRS and all(map(writer.exclusive, pairs)):
        return []
    writer.ledger.lose_only(node, node.origin)
    return ["exactly one of these forms fits"]


def _told_apart(codecs: tuple[Codec, ...]) -> bool:
    pairs = list(combinations(codecs, 2))
    return len(pairs) <= MAX_PAIRS and all((one.plain and other.plain) or apart(one, other) for one, other in pairs)


def _unnamed(codecs: tuple[Codec, ...]) -> bool:
    """Tell whether two or more objects do not name themselves in a text with one value."""
    objects = [each for each in codecs if OBJECT in each.types or not each.types]
    return len(objects) > 1 and not all(_named(each) for each in objects)


def _named(codec: Codec) -> bool:
    members = members_of(codec)
    if members is None:
        return False
    each, required, _ = members
    return any(_is_name(*each[name]) for name in required)


def _is_name(codec: Codec, nullable: bool) -> bool:  # noqa: FBT001  as a member on the wire is described
    values = codec.values if isinstance(codec, Plain) else None
    return values is not None and len(values) == 1 and isinstance(values[0], str) and not nullable


def _names(branches: tuple[Node, ...], writer: Writer) -> list[str]:
    """Return a name for each branch: its title, its definition's, or its type."""
    names: list[str] = []
    for index, each in enumerate(branches):
        found = str(each.notes.get("title") or (each.name if isinstance(each, Ref) else _kind(each, writer)))
        name = _ODD.sub("_", found)[:40].strip("_") or "form"
        while name in names:
            name = f"{name}_{index}"
        names.append(name)
    return names


def _kind(node: Node, writer: Writer) -> str:
    return _KINDS[type(writer.document.resolved(node))]


def _tagged(name: str, form: dict[str, Any], writer: Writer) -> dict[str, Any]:
    return closed({VARIANT: {"type": STRING, "enum": [name]}, VALUE: form}, (VARIANT, VALUE), writer.subset)
