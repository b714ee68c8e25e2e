"""The words of a request: the system prompt, and the turns that lead to the answer."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from emitter import prompt
from emitter.errors import InputError
from emitter.schema import Why
from emitter.schema.formats import WORDS
from emitter.wire import Message, OutputMode, Role, mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.prompt import Material, Prompts
    from emitter.schema import Compiled, Loss
    from emitter.wire import Json, OutputFormat

MAX_RULES = 40
"""More rules than this are not listed apart from the schema."""
_LONGEST_VALUE = 200
_LISTED = frozenset({Why.UNSUPPORTED, Why.DEGRADED})
"""What else is not enforced is told where it stands."""


def load(override: str | Path | None) -> Prompts:
    """Return the library's prompts, with those of the caller's folder in their place."""
    if override is None:
        return prompt.load()
    place = Path(override)
    if not place.is_dir():
        raise InputError(f"prompts={str(override)!r} is not a folder.")
    return prompt.load(place)


def form(prompts: Prompts, compiled: Compiled, output: OutputFormat, *, holds: bool) -> tuple[str, ...]:
    """Return what is said of the form: the schema where nobody enforces it, else the rules that are not enforced.

    Pieces of the schema that the form's descriptions have no room for follow.
    """
    if not compiled.enforced:
        return (prompt.schema(prompts, cast("Json", compiled.original)),)
    said = "\n".join(_descriptions(compiled.schema))
    rules = prompt.losses(prompts, [each for each in compiled.losses if _is_listed(each, said)][:MAX_RULES])
    held = output.mode is OutputMode.TOOL or (output.mode is OutputMode.JSON_SCHEMA and holds)
    pieces = prompt.appendix(prompts, compiled.appendix)
    return (rules, pieces) if held else (rules, prompt.schema(prompts, output.schema), pieces)


def unknown(prompts: Prompts, compiled: Compiled) -> str:
    """Return what to do where nothing is known: what the form as it is sent allows, and nothing else."""
    null, absent = _allowed(cast("Json", compiled.schema if compiled.enforced else compiled.original))
    name = {(True, True): "unknown_either", (True, False): "unknown_null", (False, True): "unknown_absent"}
    return prompts.fill(name.get((null, absent), "unknown"))


def _allowed(schema: Json) -> tuple[bool, bool]:
    """Tell whether a form has values that may be null, and properties that may be left out."""
    null = absent = False
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        table = mapping(node)
        named: Any = table.get("type")
        null |= named == "null" or "null" in sequence(named)
        absent |= bool(mapping(table.get("properties")).keys() - set(map(str, sequence(table.get("required")))))
        waiting.extend(table.values() if isinstance(node, dict) else sequence(node))
    return null, absent


def _is_listed(loss: Loss, said: str) -> bool:
    """Tell whether a rule is to be listed: one that a description says is not said twice."""
    if loss.why not in _LISTED or len(loss.value) > _LONGEST_VALUE:
        return False
    words = WORDS.get(loss.value.strip('"'), "") if loss.keyword == "format" else ""
    return f"{loss.keyword} {loss.value}" not in said and not (words and words in said)


def _descriptions(schema: Json) -> Iterator[str]:
    """Yield every description in a schema."""
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        table = mapping(node)
        if isinstance(table.get("description"), str):
            yield table["description"]
        waiting.extend(table.values() if isinstance(node, dict) else sequence(node))


def joined(*parts: str) -> str:
    """Return the parts that say something, as one text."""
    return "\n\n".join(part for part in parts if part)


def beside(prompts: Prompts, materials: list[Material], heard: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is shown after the situation: the materials, then what the principal said before."""
    return (*(prompt.material(prompts, each) for each in materials), *heard)


def messages(prompts: Prompts, turns: tuple[Message, ...], shown: tuple[str, ...], begin: str) -> tuple[Message, ...]:
    """Return the turns with what is shown, ending in a user turn, as every vendor wants it, that says ``begin``."""
    told = "\n\n".join([*shown, _begun(prompts, begin)])
    *before, last = turns
    if last.role is Role.ASSISTANT:
        return (*turns, Message(Role.USER, told))
    return (*before, Message(last.role, joined(last.text, told)))


@lru_cache(maxsize=16)
def _begun(prompts: Prompts, name: str) -> str:
    return prompts.fill(name)
