"""Schemas, read from files: with instances in the official suite's form or one object a line, or alone in a file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

from tests.shared import CORPORA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

SUITE = CORPORA / "json-schema-test-suite/tests"
SCHEMASTORE = CORPORA / "schemastore.jsonl"

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

_KEYWORDS = frozenset(
    {"$schema", "$ref", "$defs", "definitions", "type", "properties", "items", "enum", "const"}
    | {"anyOf", "oneOf", "allOf", "not", "additionalProperties", "patternProperties", "required"}
)
"""Keywords by which an object is known to be a schema itself."""

Value = TypeVar("Value")

_REMOTES = "remotes"
"""The suite's folder of schemas that others refer to: no cases of their own."""


@dataclass(frozen=True, slots=True)
class Case:
    """A schema, and instances of which it is known whether they hold. ``draft`` is a key of ``DRAFTS``, or unknown."""

    name: str
    schema: Any
    draft: str | None = None
    valid: list[Any] = field(default_factory=list[Any])
    invalid: list[Any] = field(default_factory=list[Any])


def read(path: Path, complain: Callable[[str], None]) -> Iterator[Case]:
    """Yield the cases of a file or of a folder's files; what cannot be read is reported and passed over.

    Raises ``FileNotFoundError`` where there is nothing, and ``ValueError`` for a folder without a file to read.
    """
    if path.is_file():
        yield from _file(path, complain)
        return
    if not path.is_dir():
        raise FileNotFoundError(f"there is no file or folder {path}")
    files = sorted(each for each in path.rglob("*.json*") if each.suffix in {".json", ".jsonl"})
    ours = [each for each in files if _REMOTES not in each.relative_to(path).parts]
    if not ours:
        raise ValueError(f"the folder {path} holds no .json or .jsonl file")
    for each in ours:
        yield from _file(each, complain)


def chosen(values: Iterable[Value], most: int, key: Callable[[Value], str]) -> list[Value]:
    """Return some of the values, always the same for their keys, and from everywhere among them."""
    return sorted(values, key=lambda each: sha256(key(each).encode()).digest())[:most]


def _file(path: Path, complain: Callable[[str], None]) -> Iterator[Case]:
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        complain(f"{path.name}: cannot be read: {error}")
        return
    draft = next((each for each in reversed(path.parts) if each in DRAFTS), None)
    group = f"{draft}/{path.stem}" if draft else path.stem
    whole = {"": text} if path.suffix == ".json" else {f":{n}": t for n, t in enumerate(text.split("\n"), 1) if t}
    for place, part in whole.items():
        value = _parsed(part, f"{path.name}{place}", complain)
        for index, entry in enumerate(value if isinstance(value, list) else [value]):
            if entry is not _BROKEN:
                yield from _entry(entry, f"{path.name}{place or f'[{index}]'}", (group, draft), complain)


_BROKEN = object()


def _parsed(text: str, place: str, complain: Callable[[str], None]) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        complain(f"{place}: not JSON: {error}")
        return _BROKEN


def _entry(entry: Any, place: str, origin: tuple[str, str | None], complain: Callable[[str], None]) -> Iterator[Case]:
    if isinstance(entry, dict) and not isinstance(entry.get("schema"), dict | bool) and entry.keys() & _KEYWORDS:
        entry = {"schema": entry, "name": entry.get("title")}
    schema = entry.get("schema") if isinstance(entry, dict) else None
    if not isinstance(schema, dict | bool):
        complain(f'{place}: neither a JSON Schema nor an object with a "schema" that is one')
        return
    group, draft = origin
    known = [entry[each] for each in ("name", "description", "id") if isinstance(entry.get(each), str)]
    name = f"{group}: {known[0]}" if known else place
    tests = [each for each in entry.get("tests") or () if isinstance(each, dict) and "data" in each]
    sides: dict[bool, list[Any]] = {True: [], False: []}
    for each in tests:
        sides[bool(each.get("valid"))].append(each["data"])
    yield Case(name, _with_draft(schema, draft), draft, sides[True], sides[False])


def _with_draft(schema: Any, draft: str | None) -> Any:
    """Say in the schema which draft it is of, where only its folder says so."""
    if draft is None or not isinstance(schema, dict) or "$schema" in schema:
        return schema
    return {"$schema": DRAFTS[draft], **schema}
