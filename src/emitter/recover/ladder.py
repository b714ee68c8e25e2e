"""The steps of recovery in their order, and what counts as one answer.

Each step goes over the text a fixed number of times. The order is OpenWOP's: strict JSON, then a document
with a fence or prose around it, then one whose syntax needs repair; ``Path`` tells which it was.
"""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, cast

from emitter.recover.bounds import MAX_LAYERS
from emitter.recover.mended import mended
from emitter.recover.result import Path, Recovered, Several
from emitter.recover.scan import Sighting, scan
from emitter.recover.standing import documents
from emitter.recover.strict import NotJsonError, loads
from emitter.recover.stuck import Flaw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.wire import Json

_LENIENT = json.JSONDecoder(strict=False)


def recover(text: str) -> Recovered | None:
    """Return the one document that ``text`` holds, or ``None``; never raise.

    ``text`` must be a whole answer: read the stop reason first.
    """
    outcome = read(text)
    return outcome if isinstance(outcome, Recovered) else None


def read(text: str) -> Recovered | Several | None:
    """Return the one document, ``Several`` when there are different ones, or ``None``; never raise."""
    return _whole(text) or _escaped(text) or _walked(text)


def _whole(text: str) -> Recovered | None:
    """Read an answer that is strict JSON."""
    try:
        value = loads(text)
    except NotJsonError:
        return None
    inner = _unwrapped(value)
    path = Path.DIRECT if inner is None else Path.CUSTOM
    return Recovered(value if inner is None else inner, path, _bytes(text, _begin(text)))


def _unwrapped(value: Json) -> Json | None:
    """Return the object or array that a string holds as JSON, if it does."""
    inner = value
    for _ in range(MAX_LAYERS):
        if not isinstance(inner, str):
            break
        try:
            inner = loads(inner)
        except NotJsonError:
            return None
    wrapped = isinstance(value, str) and isinstance(inner, dict | list)
    return cast("Json", inner) if wrapped else None


def _escaped(text: str) -> Recovered | None:
    r"""Read a document that was escaped as if for a string, but has no quotes around it: ``{\"a\": 1}``."""
    if '\\"' not in text or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = _unwrapped(_LENIENT.decode(f'"{text}"'))
    except ValueError:
        return None
    return None if value is None else Recovered(value, Path.CUSTOM, _bytes(text, _begin(text)))


def _walked(text: str) -> Recovered | Several | None:
    """Read the documents that stand in the text."""
    seen = scan(text)
    if seen.flaw is Flaw.BROKEN and not seen.sightings:
        value = mended(text, seen.at)
        return None if value is None else Recovered(value, Path.JSONREPAIR, _bytes(text, seen.at))
    counted = documents(text, seen.sightings) if seen.flaw is None else None
    if not counted:
        return None
    return _only(text, counted)


def _only(text: str, counted: tuple[Sighting, ...]) -> Recovered | Several | None:
    """Return what all the documents say alike, if they do."""
    answers: dict[str, Recovered] = {}
    for each in counted:
        answer = _answer(text, each)
        if answer is None:
            return None
        answers.setdefault(_canonical(answer.value), answer)
    if len(answers) > 1:
        return Several(len(answers))
    answer = next(iter(answers.values()))
    path = answer.path if len(counted) == 1 else Path.CUSTOM
    return Recovered(answer.value, path, _bytes(text, counted[0].found.start))


def _answer(text: str, each: Sighting) -> Recovered | None:
    """Read a document strictly if that goes, and else as repaired."""
    found = each.found
    try:
        value = loads(text[found.start : found.end])
    except NotJsonError:
        # A key that is there twice, in broken syntax, is two objects run together.
        return None if found.doubled else Recovered(found.value, Path.JSONREPAIR)
    return Recovered(value, Path.MARKDOWN_FENCE if each.fenced else Path.BRACE_WALKER)


def _canonical(value: Json) -> str:
    """Return one spelling for equal documents; ``==`` would take ``1`` for ``true``."""
    words: list[str] = []
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            members = sorted(cast("dict[str, Json]", item).items(), key=itemgetter(0))
            words.append(f"{{{[key for key, _ in members]!r}")
            todo.extend(child for _, child in members)
        elif isinstance(item, list):
            elements = cast("Sequence[Json]", item)
            words.append(f"[{len(elements)}")
            todo.extend(elements)
        else:
            words.append(repr(item))
    return "\n".join(words)


def _begin(text: str) -> int:
    return len(text) - len(text.lstrip())


def _bytes(text: str, start: int) -> int:
    """Return how many UTF-8 bytes come before ``start``; a lone surrogate counts as three."""
    return len(text[:start].encode("utf-8", "surrogatepass"))
