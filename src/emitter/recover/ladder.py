"""The steps of recovery in their order, and what counts as one answer.

Each step goes over the text a fixed number of times. The order is OpenWOP's: strict JSON, then a document
with a fence or prose around it, then one whose syntax needs repair; ``Path`` tells which it was. A document in a
thinking block is not counted, and one that the words around it take back is not read.
"""

from __future__ import annotations

import json
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, cast

from emitter.recover.bounds import MAX_LAYERS
from emitter.recover.mended import closed_end, mended
from emitter.recover.result import Path, Recovered, Retracted, Several
from emitter.recover.retraction import Stance, stance
from emitter.recover.scan import Sighting, scan
from emitter.recover.standing import documents
from emitter.recover.stuck import Flaw
from emitter.recover.thinking import without
from emitter.wire.strict import NotJsonError, loads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.wire import Json

_LENIENT = json.JSONDecoder(strict=False)


def recover(text: str) -> Recovered | None:
    """Return the one document that ``text`` holds, or ``None``; never raise.

    A document inside a thinking block is not counted, and one that the words around it take back is not returned.
    ``text`` must be a whole answer: read the stop reason first.
    """
    outcome = read(text)
    return outcome if isinstance(outcome, Recovered) else None


def read(text: str) -> Recovered | Several | Retracted | None:
    """Return the one document, or ``None``; never raise.

    ``Several`` means that there are documents that differ, ``Retracted`` that the words around one take it back.
    """
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


def _walked(text: str) -> Recovered | Several | Retracted | None:
    """Read the documents that stand in the text, outside its thinking blocks."""
    seen = scan(text)
    if seen.flaw is Flaw.THINKING:
        return None
    answer = without(text, seen.blocks) if seen.blocks else text
    alone = (_whole(answer) or _escaped(answer)) if seen.blocks else None
    if alone is not None:
        path = Path.BRACE_WALKER if alone.path is Path.DIRECT else alone.path
        return Recovered(alone.value, path, _bytes(text, _begin(answer)))
    if seen.flaw is Flaw.BROKEN and not seen.sightings:
        return _repair(text, answer, seen.at)
    counted = documents(answer, seen.sightings) if seen.flaw is None else None
    return _only(text, answer, counted) if counted else None


def _repair(text: str, answer: str, start: int) -> Recovered | Retracted | None:
    """Read a broken document that json-repair can mend without a guess."""
    end = closed_end(answer, start)
    value = mended(answer, start) if end is not None else None
    if value is None:
        return None
    return _judge_prose(Recovered(value, Path.JSONREPAIR, _bytes(text, start)), f"{answer[:start]}\n{answer[end:]}")


def _only(text: str, answer: str, counted: tuple[Sighting, ...]) -> Recovered | Several | Retracted | None:
    """Return what all the documents say alike, if they do and the prose lets it stand."""
    answers: dict[str, Recovered] = {}
    for each in counted:
        found = _answer(answer, each)
        if found is None:
            return None
        answers.setdefault(_canonical(found.value), found)
    if len(answers) > 1:
        return Several(len(answers))
    one = next(iter(answers.values()))
    path = one.path if len(counted) == 1 else Path.CUSTOM
    return _judge_prose(Recovered(one.value, path, _bytes(text, counted[0].found.start)), _prose(answer, counted))


def _prose(answer: str, counted: tuple[Sighting, ...]) -> str:
    """Return what stands around the documents, and the comments in them."""
    starts = [*(each.found.start for each in counted), len(answer)]
    ends = [0, *(each.found.end for each in counted)]
    around = (answer[end:start] for end, start in zip(ends, starts, strict=True))
    return "\n".join((*around, *(each.found.remarks for each in counted if each.found.remarks)))


def _judge_prose(found: Recovered, prose: str) -> Recovered | Retracted:
    """Hold the document against the words beside it."""
    match stance(prose):
        case Stance.PLAIN:
            return found
        case Stance.DOUBTFUL:
            return replace(found, doubtful=True)
        case Stance.RETRACTED:
            return Retracted()


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
