"""Prompts: templates from ``prompts/`` and the few texts that are built around them.

Templates are ``string.Template`` texts; a name that nothing fills is an error, never an empty string.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

from emitter.assets import folder
from emitter.errors import BadPrompt
from emitter.kinds import BINDING_MOMENT, CLARIFICATION_REQUEST, DELIBERATION, ERROR, Trust

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from importlib.resources.abc import Traversable

    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class Material:
    """Text that bears on the decision, and whether its ``source`` is vouched for.

    Untrusted text is fenced in the prompt and makes the envelope untrusted.
    """

    text: str
    source: str = "caller"
    trust: Trust = Trust.TRUSTED


@dataclass(frozen=True, slots=True)
class Prompts:
    """The templates of a folder; a file missing there is taken from the library's own."""

    override: Traversable | None = None

    def fill(self, name: str, **values: str) -> str:
        """Return the template ``name`` with its values filled in.

        Raises ``BadPrompt`` when the template is unreadable or asks for a name that is not given.
        """
        try:
            return Template(self._read(name)).substitute(values).strip()
        except KeyError as error:
            known = ", ".join(f"${each}" for each in sorted(values)) or "none"
            raise BadPrompt(f"prompts/{name}.md asks for ${error.args[0]}; it may use: {known}.") from error
        except ValueError as error:
            raise BadPrompt(f"prompts/{name}.md: {error}.", hint="Write $$ for a dollar sign.") from error

    def _read(self, name: str) -> str:
        for place in (self.override, folder("prompts")):
            file = place.joinpath(f"{name}.md") if place is not None else None
            if file is not None and file.is_file():
                return _decode(name, file.read_bytes())
        raise BadPrompt(f"prompts/{name}.md does not exist.")


def _decode(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadPrompt(f"prompts/{name}.md is not UTF-8 text.") from error


def ask(prompts: Prompts) -> str:
    """Return the system prompt that asks for a binding moment or an honest "not yet"."""
    return prompts.fill(
        "ask",
        binding_moment=BINDING_MOMENT,
        deliberation=DELIBERATION,
        clarification=CLARIFICATION_REQUEST,
        error=ERROR,
    )


def material(prompts: Prompts, item: Material) -> str:
    """Return ``item`` as it stands in the prompt, fenced when untrusted."""
    if item.trust is Trust.TRUSTED:
        return prompts.fill("material", source=item.source, text=item.text)
    return prompts.fill("untrusted", source=html.escape(item.source, quote=True), text=unfenced(item.text))


def unfenced(text: str) -> str:
    """Return ``text`` so that nothing in it can open or close a fence: every ``<`` is spelled out."""
    return text.replace("<", "&lt;")


def losses(prompts: Prompts, rules: Sequence[object]) -> str:
    """Return the list of rules the vendor cannot enforce, or an empty string."""
    return prompts.fill("losses", losses=_bullets(rules)) if rules else ""


def schema(prompts: Prompts, document: Mapping[str, Json]) -> str:
    """Return the schema as prompt text, for vendors that take none."""
    return prompts.fill("schema", schema=json.dumps(document, ensure_ascii=False))


def corrective(prompts: Prompts, violations: Sequence[object]) -> str:
    """Return the corrective fragment for these violations."""
    return prompts.fill("corrective", violations=_bullets(violations))


def _bullets(items: Iterable[object]) -> str:
    return "\n".join(f"- {each}" for each in items)
