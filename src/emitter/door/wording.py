"""The words of a request: the system prompt, and the turns that lead to the answer."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from emitter import prompt
from emitter.errors import InputError
from emitter.schema import Why
from emitter.wire import Message, OutputMode, Role

if TYPE_CHECKING:
    from emitter.prompt import Material, Prompts
    from emitter.schema import Compiled, Loss
    from emitter.wire import Json, OutputFormat

MAX_RULES = 40
"""More rules than this are not listed apart: they stand in the schema's own descriptions all the same."""
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
    rules = prompt.losses(prompts, [each for each in compiled.losses if _is_listed(each)][:MAX_RULES])
    held = output.mode is OutputMode.TOOL or (output.mode is OutputMode.JSON_SCHEMA and holds)
    pieces = prompt.appendix(prompts, compiled.appendix)
    return (rules, pieces) if held else (rules, prompt.schema(prompts, output.schema), pieces)


def _is_listed(loss: Loss) -> bool:
    return loss.why in _LISTED and len(loss.value) <= _LONGEST_VALUE


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
