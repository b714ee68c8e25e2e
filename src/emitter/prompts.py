"""Load prompt templates and render the text blocks built from them.

Templates are ``string.Template`` texts. A placeholder that is missing or unknown is an error at load time.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from string import Template
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from emitter.arguments import check_text
from emitter.assets import find_data_folder
from emitter.errors import BadPrompt, InputError
from emitter.models import BINDING_MOMENT, CLARIFICATION_REQUEST, DELIBERATION, ERROR, Trust

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from importlib.resources.abc import Traversable

    from emitter.messages import Json, MediaPart
    from emitter.models.authorization import NarrativePolicy

T = TypeVar("T")
_PLACEHOLDERS: Mapping[str, tuple[str, ...]] = {
    "answer": ("question", "answer"),
    "ask": ("binding_moment", "deliberation", "clarification", "error"),
    "actions": ("labels", "binding_moment"),
    "authorization": ("forms", "grammar", "specificity", "markers"),
    "appendix": ("pieces",),
    "chosen": ("question", "number", "option"),
    "corrective": ("violations",),
    "example": ("input", "output"),
    "example_turns": ("count",),
    "examples": ("examples",),
    "in_words": ("schema",),
    "into_form": ("answer",),
    "losses": ("losses",),
    "material": ("source", "text"),
    "outline": ("outline",),
    "objection": ("question", "objection", "deliberation"),
    "schema": ("schema",),
    "schema_reply": ("kind", "version", "schema"),
    "schema_unknown": ("kinds",),
    "situation": ("situation",),
    "untrusted": ("source", "text"),
}
"""The placeholders by template. A template must use all of its placeholders, so that no content is lost."""
_MAX_SOURCE_LENGTH = 200
_ATTRIBUTE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_RESERVED_ATTRIBUTES = frozenset({"type", "source"})
NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})
_OPENING_BRACKETS = re.compile(r"[<\N{FULLWIDTH LESS-THAN SIGN}\N{SMALL LESS-THAN SIGN}]")


@dataclass(frozen=True, slots=True)
class Material:
    """A text that the task refers to, with its source and trust.

    Untrusted text is fenced in the prompt and makes the envelope untrusted.
    """

    text: str
    source: str = "caller"
    trust: Trust = Trust.TRUSTED

    def __post_init__(self) -> None:
        if not isinstance(self.trust, Trust):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
            raise InputError(f"Material.trust is {self.trust!r}; it must be Trust.TRUSTED or Trust.UNTRUSTED.")
        for name in ("text", "source"):
            check_text(f"Material.{name}", getattr(self, name))


@dataclass(frozen=True, slots=True)
class Media:
    """An image, a document or an audio recording, with its source and trust.

    Untrusted media are fenced in the prompt and make the envelope untrusted.

    Attributes:
        part: The content, as it is sent.
        source: A short description of its origin.
    """

    part: MediaPart
    source: str
    trust: Trust


@dataclass(frozen=True, slots=True)
class Example(Generic[T]):
    """An input with its correct output, to show to the model.

    Attributes:
        input: A prompt.
        output: The value or document that answers it. It must satisfy the form and its checks.
    """

    input: str
    output: T

    def __post_init__(self) -> None:
        check_text("Example.input", self.input)


def suggest_example(value: object) -> str:
    """Return a hint for a value that looks like an input with its output, or an empty string."""
    if isinstance(value, list | tuple):
        is_pair = len(cast("Sequence[object]", value)) == len(fields(Example))
    else:
        is_pair = isinstance(value, dict) and set(cast("dict[object, object]", value)) == {"input", "output"}
    return "Pass an input with its output as Example(input, output)." if is_pair else ""


@dataclass(frozen=True, slots=True, eq=False)
class PromptTemplates:
    """The prompt templates by name.

    They are compared by identity, so that texts rendered from them can be cached.
    """

    templates: Mapping[str, Template]

    def fill(self, name: str, **values: str) -> str:
        """Return the template ``name`` with the values filled in."""
        return self.templates[name].substitute(values).strip()


@cache
def default_templates() -> PromptTemplates:
    """Return the library's templates."""
    return PromptTemplates(MappingProxyType(_load_templates(find_data_folder("prompts"))))


def load(folder: Traversable | None = None) -> PromptTemplates:
    """Load the templates. A template in ``folder`` replaces the library's.

    Raises:
        BadPrompt: A file has an unknown name, cannot be read, or does not use its placeholders.
    """
    if folder is None:
        return default_templates()
    defaults, overrides = default_templates().templates, _load_templates(folder)
    names = ", ".join(f"{name}.md" for name in sorted(defaults))
    if not overrides:
        raise BadPrompt("The prompts folder has no templates.", hint=f"Put some of {names} there.")
    for name in overrides:
        if name not in defaults:
            raise BadPrompt(f"prompts/{name}.md is not one of the prompts.", hint=f"They are {names}.")
    return PromptTemplates(MappingProxyType({**defaults, **overrides}))


def _load_templates(folder: Traversable) -> dict[str, Template]:
    return {name: _parse_template(name, text) for name, text in _read_templates(folder).items()}


def _read_templates(folder: Traversable) -> dict[str, str]:
    try:
        files = [file for file in folder.iterdir() if file.name.endswith(".md")]
        return {file.name.removesuffix(".md"): _decode_utf8(file.name, file.read_bytes()) for file in files}
    except OSError as error:
        raise BadPrompt(f"The prompts folder cannot be read: {error.strerror}.") from error


def _decode_utf8(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPrompt(f"prompts/{name} is not UTF-8 text.") from error


def _parse_template(name: str, text: str) -> Template:
    template, required = Template(text), _PLACEHOLDERS.get(name, ())
    if not text.strip():
        raise BadPrompt(f"prompts/{name}.md is empty.")
    if not template.is_valid():
        raise BadPrompt(f"prompts/{name}.md has a lone dollar sign.", hint="Write $$ for it.")
    used = set(template.get_identifiers())
    if used != set(required):
        wrong = [f"asks for ${placeholder}" for placeholder in sorted(used.difference(required))]
        wrong += [f"leaves out ${placeholder}" for placeholder in sorted(set(required) - used)]
        placeholders = ", ".join(f"${placeholder}" for placeholder in required) or "no names"
        raise BadPrompt(f"prompts/{name}.md {' and '.join(wrong)}; it must use {placeholders}.")
    return template


_HATCHES_TEMPLATES: Mapping[tuple[bool, bool], str] = {
    (True, True): "hatches_open",
    (True, False): "hatches_free_text",
    (False, True): "hatches_dialogue",
    (False, False): "hatches_closed",
}
"""The template by whether the free-text hatch and the dialogue hatch are open."""


@lru_cache(maxsize=64)
def binding_moment_prompt(prompts: PromptTemplates, *, free_text: bool = True, dialogue: bool = True) -> str:
    """Return the system prompt for a binding moment, or a veto, by which hatches are open."""
    task = prompts.fill(
        "ask",
        binding_moment=BINDING_MOMENT,
        deliberation=DELIBERATION,
        clarification=CLARIFICATION_REQUEST,
        error=ERROR,
    )
    # A file of its own, so that a caller's ask.md follows the hatches, too.
    return f"{task}\n\n{prompts.fill(_HATCHES_TEMPLATES[free_text, dialogue])}"


@lru_cache(maxsize=16)
def document_prompt(prompts: PromptTemplates) -> str:
    """Return the system prompt for a document."""
    return prompts.fill("document")


def judge_prompt(prompts: PromptTemplates) -> str:
    """Return the system prompt for the judge of a binding moment."""
    return prompts.fill("judge")


def authorization_prompt(prompts: PromptTemplates, kinds: Iterable[str], policy: NarrativePolicy) -> str:
    """Return the system prompt for a proposal of one of the kinds, with narratives under the policy."""
    templates = (prompts.templates.get(f"authorization_{item}") for item in kinds)
    forms = "\n\n".join(item.substitute().strip() for item in templates if item)
    markers = bullet_list(policy.forbidden_markers) or "- (nothing more)"
    modes = {"grammar": policy.grammar_mode.value, "specificity": policy.max_specificity.value}
    return prompts.fill("authorization", forms=forms, markers=markers, **modes)


def render_material(prompts: PromptTemplates, item: Material) -> str:
    """Return the material as prompt text, fenced if it is untrusted."""
    if item.trust is Trust.TRUSTED:
        return prompts.fill("material", source=" ".join(item.source.split())[:_MAX_SOURCE_LENGTH], text=item.text)
    return prompts.fill("untrusted", source=_escape_attribute(item.source), text=escape_fences(item.text))


def redact_name(part: MediaPart, redact: Callable[[str], str]) -> MediaPart:
    """Return the part with secrets removed from its file name."""
    return part if part.name is None else replace(part, name=redact(part.name))


def redact_media(media: Media, redact: Callable[[str], str]) -> Media:
    """Return the media with secrets removed from the source and the file name."""
    return Media(redact_name(media.part, redact), redact(media.source), media.trust)


_MEDIA_PLACE = "\0media\0"


def render_media(prompts: PromptTemplates, part: MediaPart, source: str, trust: Trust) -> tuple[str | MediaPart, ...]:
    """Return media between the texts that ``render_material`` writes before and after a material.

    The name of an untrusted file is not sent, because it would stand outside the fence.
    """
    text = render_material(prompts, Material(_MEDIA_PLACE, source.replace("\0", ""), trust))
    before, _, after = text.partition(_MEDIA_PLACE)
    shown = part if trust is Trust.TRUSTED else replace(part, name=None)
    return tuple(item for item in (before.strip(), shown, after.strip()) if item)


def escape_fences(text: str) -> str:
    """Escape every ``<``, so that the text cannot open or close a fence."""
    return _OPENING_BRACKETS.sub("&lt;", text)


def fence(text: str, kind: str, source: str, attributes: Mapping[str, str] = NO_ATTRIBUTES) -> str:
    """Return untrusted text in a fence, as OpenWOP marks text that goes back to a model.

    Args:
        text: The text.
        kind: The type of the text.
        source: The origin of the text.
        attributes: Further attributes, written in the order of their names.
    """
    for name in attributes:
        if not _ATTRIBUTE_NAME.fullmatch(name) or name in _RESERVED_ATTRIBUTES:
            raise InputError(f"{name!r} cannot be an attribute of a fence.", hint="Use letters, digits, - and _.")
    values = {"type": kind, "source": source, **{name: attributes[name] for name in sorted(attributes)}}
    rendered = " ".join(f'{name}="{_escape_attribute(value)}"' for name, value in values.items())
    return f"<UNTRUSTED {rendered}>\n{escape_fences(text)}\n</UNTRUSTED>"


def escape_json(text: str) -> str:
    """Return the text as a JSON string that cannot close a fence."""
    return _OPENING_BRACKETS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", json.dumps(text, ensure_ascii=False))


def _escape_attribute(text: str) -> str:
    return escape_fences(html.escape(" ".join(text.split())[:_MAX_SOURCE_LENGTH], quote=True))


def render_schema_reply(prompts: PromptTemplates, kind: str, version: int, schema: Mapping[str, Json]) -> str:
    """Return the reply to a model that asked for the schema of a kind."""
    return prompts.fill("schema_reply", kind=kind, version=str(version), schema=json.dumps(schema, ensure_ascii=False))


def render_unknown_kind(prompts: PromptTemplates, kinds: Iterable[str]) -> str:
    """Return the reply to a model that asked for the schema of an unknown kind."""
    return prompts.fill("schema_unknown", kinds=", ".join(f"`{kind}`" for kind in kinds))


def render_losses(prompts: PromptTemplates, losses: Sequence[object]) -> str:
    """Return the list of rules that the vendor cannot enforce, or an empty string."""
    return prompts.fill("losses", losses=bullet_list(losses)) if losses else ""


def render_appendix(prompts: PromptTemplates, pieces: Mapping[str, Json]) -> str:
    """Return the parts of the schema that descriptions refer to, or an empty string."""
    return prompts.fill("appendix", pieces=json.dumps(pieces, ensure_ascii=False)) if pieces else ""


def render_schema(prompts: PromptTemplates, schema: Mapping[str, Json]) -> str:
    """Return the schema as prompt text."""
    return prompts.fill("schema", schema=json.dumps(schema, ensure_ascii=False))


def render_outline(prompts: PromptTemplates, outline: str) -> str:
    """Return the outline of a schema as prompt text."""
    return prompts.fill("outline", outline=outline)


def render_examples(prompts: PromptTemplates, examples: Sequence[Example[Json]]) -> str:
    """Return the examples as prompt text, or an empty string."""
    texts = (_render_example(prompts, example) for example in examples)
    return prompts.fill("examples", examples="\n\n".join(texts)) if examples else ""


def _render_example(prompts: PromptTemplates, example: Example[Json]) -> str:
    output = json.dumps(example.output, ensure_ascii=False)
    return prompts.fill("example", input=example.input.strip(), output=output) if example.input else output


def render_example_turns(prompts: PromptTemplates, count: int) -> str:
    """Return the sentence about messages that are examples, or an empty string."""
    return prompts.fill("example_turns", count=str(count)) if count else ""


def render_correction(prompts: PromptTemplates, violations: Sequence[object]) -> str:
    """Return the corrective fragment for these violations."""
    return prompts.fill("corrective", violations=bullet_list(violations))


def bullet_list(items: Iterable[object]) -> str:
    """Return the items as a list in a prompt."""
    return "\n".join(f"- {item}" for item in items)
