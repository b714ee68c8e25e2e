"""Prompts: templates from ``prompts/`` and the few texts that are built around them.

Templates are ``string.Template`` texts; a name that nothing fills, or that is not used, is an error.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from string import Template
from types import MappingProxyType
from typing import TYPE_CHECKING

from emitter.arguments import whole
from emitter.assets import folder
from emitter.errors import BadPrompt, InputError
from emitter.kinds import BINDING_MOMENT, CLARIFICATION_REQUEST, DELIBERATION, ERROR, Trust

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from importlib.resources.abc import Traversable

    from emitter.kinds.authorization import NarrativePolicy
    from emitter.wire import Json


_NAMES: Mapping[str, tuple[str, ...]] = {
    "answer": ("question", "answer"),
    "ask": ("binding_moment", "deliberation", "clarification", "error"),
    "actions": ("labels", "binding_moment"),
    "authorization": ("forms", "grammar", "specificity", "markers"),
    "authorization_action": (),
    "authorization_classification": (),
    "authorization_dispute_summary": (),
    "authorization_measurement": (),
    "appendix": ("pieces",),
    "begin": (),
    "begin_in_words": (),
    "chosen": ("question", "number", "option"),
    "corrective": ("violations",),
    "document": (),
    "examples": ("examples",),
    "in_words": ("schema",),
    "into_form": ("answer",),
    "losses": ("losses",),
    "material": ("source", "text"),
    "objection": ("question", "objection", "deliberation"),
    "schema": ("schema",),
    "schema_reply": ("kind", "version", "schema"),
    "schema_unknown": ("kinds",),
    "situation": ("situation",),
    "unknown": (),
    "unknown_absent": (),
    "unknown_either": (),
    "unknown_null": (),
    "untrusted": ("source", "text"),
}
"""The templates and the names each is filled with: all of them must be used, or content would be lost."""

_LONGEST_SOURCE = 200
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_NAMED = frozenset({"type", "source"})
NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})
_OPENS = re.compile(r"[<\N{FULLWIDTH LESS-THAN SIGN}\N{SMALL LESS-THAN SIGN}]")


@dataclass(frozen=True, slots=True)
class Material:
    """Text that bears on the decision, and whether its ``source`` is vouched for.

    Untrusted text is fenced in the prompt and makes the envelope untrusted.
    """

    text: str
    source: str = "caller"
    trust: Trust = Trust.TRUSTED

    def __post_init__(self) -> None:
        if not isinstance(self.trust, Trust):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
            raise InputError(f"Material.trust is {self.trust!r}; it must be Trust.TRUSTED or Trust.UNTRUSTED.")
        for name in ("text", "source"):
            whole(f"Material.{name}", getattr(self, name))


@dataclass(frozen=True, slots=True, eq=False)
class Prompts:
    """The templates by name, each checked to use exactly the names that it is filled with.

    Compared by identity, so that what was made of them is found again.
    """

    templates: Mapping[str, Template]

    def fill(self, name: str, **values: str) -> str:
        """Return the template ``name`` with its values filled in."""
        return self.templates[name].substitute(values).strip()


def load(override: Traversable | None = None) -> Prompts:
    """Return the library's templates, with those of the folder ``override`` in their place.

    Raises ``BadPrompt`` for a file that is none of the templates, cannot be read, or does not use its names:
    nothing is left to be found out half-way through an emission.
    """
    if override is None:
        return _own()
    theirs = _templates(override)
    if not theirs:
        raise BadPrompt("The folder of prompts holds none.", hint=f"Put some of {_known()} there.")
    return Prompts(MappingProxyType({**_own().templates, **theirs}))


@cache
def _own() -> Prompts:
    return Prompts(MappingProxyType(_templates(folder("prompts"))))


def _templates(place: Traversable) -> dict[str, Template]:
    return {name: _template(name, text) for name, text in _read(place).items()}


def _read(place: Traversable) -> dict[str, str]:
    try:
        files = [each for each in place.iterdir() if each.name.endswith(".md")]
        return {each.name.removesuffix(".md"): _decode(each.name, each.read_bytes()) for each in files}
    except OSError as error:
        raise BadPrompt(f"The folder of prompts cannot be read: {error.strerror}.") from error


def _decode(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPrompt(f"prompts/{name} is not UTF-8 text.") from error


def _template(name: str, text: str) -> Template:
    if name not in _NAMES:
        raise BadPrompt(f"prompts/{name}.md is none of the prompts.", hint=f"They are {_known()}.")
    template, wanted = Template(text), set(_NAMES[name])
    if not text.strip():
        raise BadPrompt(f"prompts/{name}.md is empty.")
    if not template.is_valid():
        raise BadPrompt(f"prompts/{name}.md holds a lone dollar sign.", hint="Write $$ for it.")
    used = set(template.get_identifiers())
    if used != wanted:
        wrong = [f"asks for ${each}" for each in sorted(used - wanted)]
        wrong += [f"leaves out ${each}" for each in sorted(wanted - used)]
        told = ", ".join(f"${each}" for each in _NAMES[name]) or "no names"
        raise BadPrompt(f"prompts/{name}.md {' and '.join(wrong)}; it must use {told}.")
    return template


def _known() -> str:
    return ", ".join(f"{each}.md" for each in _NAMES)


@lru_cache(maxsize=16)
def ask(prompts: Prompts) -> str:
    """Return the system prompt that asks for a binding moment or an honest "not yet"."""
    return prompts.fill(
        "ask",
        binding_moment=BINDING_MOMENT,
        deliberation=DELIBERATION,
        clarification=CLARIFICATION_REQUEST,
        error=ERROR,
    )


def document(prompts: Prompts) -> str:
    """Return the system prompt that asks for a document of the caller's own form."""
    return prompts.fill("document")


def authorization(prompts: Prompts, kinds: Iterable[str], policy: NarrativePolicy) -> str:
    """Return the system prompt that asks for a proposal of one of the kinds, its narratives under the policy."""
    told = (prompts.templates.get(f"authorization_{each}") for each in kinds)
    forms = "\n\n".join(each.substitute().strip() for each in told if each)
    markers = _bullets(policy.forbidden_markers) or "- (nothing more)"
    modes = {"grammar": policy.grammar_mode.value, "specificity": policy.max_specificity.value}
    return prompts.fill("authorization", forms=forms, markers=markers, **modes)


def material(prompts: Prompts, item: Material) -> str:
    """Return ``item`` as it stands in the prompt, fenced when untrusted."""
    if item.trust is Trust.TRUSTED:
        return prompts.fill("material", source=" ".join(item.source.split())[:_LONGEST_SOURCE], text=item.text)
    return prompts.fill("untrusted", source=_attribute(item.source), text=unfenced(item.text))


def unfenced(text: str) -> str:
    """Return ``text`` so that nothing in it can open or close a fence: every ``<`` is spelled out."""
    return _OPENS.sub("&lt;", text)


def fenced(text: str, kind: str, source: str, attributes: Mapping[str, str] = NO_ATTRIBUTES) -> str:
    """Return untrusted text in a fence of its own, as OpenWOP marks what goes back to a model.

    ``kind`` says what it is, ``source`` where it comes from, and ``attributes`` more of that, in the order of their
    names; nothing in any of them can close the fence.
    """
    for name in attributes:
        if not _ATTRIBUTE.fullmatch(name) or name in _NAMED:
            raise InputError(f"{name!r} cannot be an attribute of a fence.", hint="Use letters, digits, - and _.")
    marks = {"type": kind, "source": source, **{name: attributes[name] for name in sorted(attributes)}}
    written = " ".join(f'{name}="{_attribute(each)}"' for name, each in marks.items())
    return f"<UNTRUSTED {written}>\n{unfenced(text)}\n</UNTRUSTED>"


def spelled(text: str) -> str:
    """Return ``text`` as a JSON string that can stand in a fence: every character is told, and none closes it."""
    return _OPENS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", json.dumps(text, ensure_ascii=False))


def _attribute(text: str) -> str:
    return unfenced(html.escape(" ".join(text.split())[:_LONGEST_SOURCE], quote=True))


def schema_reply(prompts: Prompts, kind: str, version: int, form: Mapping[str, Json]) -> str:
    """Return what a model reads that asked for the schema of a kind."""
    return prompts.fill("schema_reply", kind=kind, version=str(version), schema=json.dumps(form, ensure_ascii=False))


def schema_unknown(prompts: Prompts, kinds: Iterable[str]) -> str:
    """Return what a model reads that asked for the schema of a kind that nobody knows."""
    return prompts.fill("schema_unknown", kinds=", ".join(f"`{each}`" for each in kinds))


def losses(prompts: Prompts, rules: Sequence[object]) -> str:
    """Return the list of rules the vendor cannot enforce, or an empty string."""
    return prompts.fill("losses", losses=_bullets(rules)) if rules else ""


def appendix(prompts: Prompts, pieces: Mapping[str, Json]) -> str:
    """Return the pieces of the schema that descriptions refer to, or an empty string."""
    return prompts.fill("appendix", pieces=json.dumps(pieces, ensure_ascii=False)) if pieces else ""


def schema(prompts: Prompts, form: Mapping[str, Json]) -> str:
    """Return the schema as prompt text, for vendors that take none."""
    return prompts.fill("schema", schema=json.dumps(form, ensure_ascii=False))


def examples(prompts: Prompts, documents: Sequence[Json]) -> str:
    """Return valid documents to go by, or an empty string."""
    texts = (json.dumps(each, ensure_ascii=False) for each in documents)
    return prompts.fill("examples", examples="\n\n".join(texts)) if documents else ""


def corrective(prompts: Prompts, violations: Sequence[object]) -> str:
    """Return the corrective fragment for these violations."""
    return prompts.fill("corrective", violations=_bullets(violations))


def _bullets(items: Iterable[object]) -> str:
    return "\n".join(f"- {each}" for each in items)
