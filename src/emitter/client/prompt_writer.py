"""Write the prompt of an emission: the schema, the examples, the materials, and the instruction of each request."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from emitter import tokens
from emitter.adapters.request_options import merge_layers
from emitter.conversation import append_parts
from emitter.errors import InputError, Unencodable
from emitter.files import check_path, is_folder
from emitter.messages import HOUR, FaultKind, MediaPart, Message, OutputMode, Role, Usage, as_list, as_mapping
from emitter.models import Trust
from emitter.prompts import (
    Example,
    Material,
    Media,
    render_appendix,
    render_example_turns,
    render_examples,
    render_losses,
    render_material,
    render_media,
    render_outline,
    render_schema,
    suggest_example,
)
from emitter.prompts import load as load_templates
from emitter.schema import LossReason
from emitter.schema.formats import FORMAT_DESCRIPTIONS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from emitter.client.routing import ModelTarget
    from emitter.conversation import Conversation
    from emitter.core.verdicts import DocumentContract
    from emitter.messages import Json, ModelRequest, OutputFormat
    from emitter.profiles import Profile
    from emitter.profiles.tables import RequestParameter
    from emitter.prompts import PromptTemplates
    from emitter.schema import Compiled, Loss

_EXAMPLE_HINT = "Pass an example that your checks and validators accept."


MAX_LISTED_RULES = 40
"""The maximum number of rules that are listed below the schema."""
_MAX_LISTED_VALUE = 200
_LISTED_REASONS = frozenset({LossReason.UNSUPPORTED, LossReason.DEGRADED})
"""Losses that need a line in the prompt. The descriptions of the wire schema state the others."""


def load_prompts(folder: str | os.PathLike[str]) -> PromptTemplates:
    """Load the prompt templates. A template in the caller's folder replaces the library's."""
    path = check_path("prompts", folder)
    if not is_folder(path):
        raise InputError(f"prompts={str(folder)!r} is not a folder.")
    return load_templates(path)


def render_form(
    prompts: PromptTemplates, compiled: Compiled, output: OutputFormat, *, is_schema_shown: bool
) -> tuple[str, ...]:
    """Return the prompt's description of the schema.

    This is the whole schema if the server does not show it to the model, and the rules that are not enforced. The parts
    of the schema that did not fit into descriptions follow.
    """
    if not compiled.enforced:
        return (_describe_schema(prompts, cast("Json", compiled.original)),)
    descriptions = "\n".join(_iter_descriptions(compiled.schema))
    rules = render_losses(
        prompts, [loss for loss in compiled.losses if _is_listed(loss, descriptions)][:MAX_LISTED_RULES]
    )
    pieces = render_appendix(prompts, compiled.appendix)
    return (rules, pieces) if is_schema_shown else (rules, _describe_schema(prompts, output.schema), pieces)


def _describe_schema(prompts: PromptTemplates, schema: Mapping[str, Json]) -> str:
    """Return the outline of a schema, or the schema itself if it has no outline that is shorter."""
    from emitter.schema.outline import write_outline  # noqa: PLC0415  the vendors' own models read the schema

    outline = write_outline(cast("Json", schema))
    return render_schema(prompts, schema) if outline is None else render_outline(prompts, outline)


def render_unknown_rule(prompts: PromptTemplates, compiled: Compiled) -> str:
    """Return the instruction for unknown values: write null or omit them, as the schema allows."""
    null, absent = _allows_null_or_absent(cast("Json", compiled.schema if compiled.enforced else compiled.original))
    name = {(True, True): "unknown_either", (True, False): "unknown_null", (False, True): "unknown_absent"}
    return prompts.fill(name.get((null, absent), "unknown"))


def _allows_null_or_absent(schema: Json) -> tuple[bool, bool]:
    """Return whether a schema allows null anywhere, and whether it has optional properties."""
    null = absent = False
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        table = as_mapping(node)
        types: Any = table.get("type")
        null |= types == "null" or "null" in as_list(types)
        absent |= bool(as_mapping(table.get("properties")).keys() - set(map(str, as_list(table.get("required")))))
        pending.extend(table.values() if isinstance(node, dict) else as_list(node))
    return null, absent


def _is_listed(loss: Loss, descriptions: str) -> bool:
    """Return whether a rule that the vendor does not enforce must be listed, because no description states it."""
    if loss.why not in _LISTED_REASONS or len(loss.value) > _MAX_LISTED_VALUE:
        return False
    words = FORMAT_DESCRIPTIONS.get(loss.value.strip('"'), "") if loss.keyword == "format" else ""
    return f"{loss.keyword} {loss.value}" not in descriptions and not (words and words in descriptions)


def _iter_descriptions(schema: Json) -> Iterator[str]:
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        table = as_mapping(node)
        if isinstance(table.get("description"), str):
            yield table["description"]
        pending.extend(table.values() if isinstance(node, dict) else as_list(node))


def join_parts(*parts: str | None) -> str:
    """Join the parts that are not empty, with a blank line between them."""
    return "\n\n".join(filter(None, parts))


def build_messages(prompts: PromptTemplates, conversation: Conversation, instruction: str) -> tuple[Message, ...]:
    """Return the turns with the materials. The last turn is the user's, as every vendor requires."""
    return append_parts(conversation.messages, (*conversation.shown, _final_instruction(prompts, instruction)))


@lru_cache(maxsize=16)
def _final_instruction(prompts: PromptTemplates, name: str) -> str:
    return prompts.fill(name)


def show_material(templates: PromptTemplates, material: Material | Media) -> tuple[str | MediaPart, ...]:
    """Return a material as prompt text, or media between the texts around them."""
    if isinstance(material, Media):
        return render_media(templates, material.part, material.source, material.trust)
    return (render_material(templates, material),)


def show_examples(
    templates: PromptTemplates, examples: list[Example[Json]], mode: OutputMode
) -> tuple[str, tuple[Message, ...]]:
    """Return the part of the system prompt and the turns that show examples.

    An example with an input becomes a user turn and an assistant turn. In tool mode it stays in the system prompt,
    because its answer would be a tool call, not text.
    """
    in_turns = [example for example in examples if example.input and mode is not OutputMode.TOOL]
    turns: list[Message] = []
    for example in in_turns:
        question = Message(Role.USER, example.input.strip())
        turns += append_parts((question,), (_final_instruction(templates, "begin"),))
        turns.append(Message(Role.ASSISTANT, json.dumps(example.output, ensure_ascii=False)))
    rest = render_examples(templates, [example for example in examples if example not in in_turns])
    return join_parts(rest, render_example_turns(templates, len(turns))), tuple(turns)


def encode_examples(contract: DocumentContract, examples: tuple[Example[Json], ...]) -> list[Example[Json]]:
    """Return the examples in the vendor's form. Raises ``InputError`` for an invalid example."""
    return [
        Example(example.input, _encode_example(contract, index, example.output))
        for index, example in enumerate(examples)
    ]


def _encode_example(contract: DocumentContract, index: int, example: Json) -> Json:
    result = contract.check(example)
    if result.failure is not None:
        message = f"{result.failure} on examples[{index}]."
        raise InputError(message, hint=_EXAMPLE_HINT) from result.failure.error
    if result.violations:
        raise InputError(
            f"examples[{index}] is invalid: {'; '.join(map(str, result.violations))}.",
            hint=suggest_example(example),
        )
    try:
        return contract.compiled.encode(example)
    except Unencodable as error:
        raise InputError(f"examples[{index}] cannot be shown: {error}.") from error


class ChangedForm(Enum):
    """Another form of a request, because the server refused or ignored the first one."""

    OTHER_MODE = auto()
    DESCRIBED = auto()


Rewrite: TypeAlias = "Callable[[ChangedForm], tuple[ModelRequest, PromptWriter] | None]"
_PROSE_SOURCE = "the answer in plain words"


@dataclass(frozen=True, slots=True)
class PromptWriter:
    """Writes the later requests of an emission from the prompt templates and the texts of the first request.

    ``system`` is the system prompt without the schema. ``rewrite`` returns the first request in the output mode to use
    if the server refuses this one, or with the schema described, and its writer.
    """

    templates: PromptTemplates
    compiled: Compiled
    target: ModelTarget
    system: str
    conversation: Conversation
    rewrite: Rewrite

    def count_tokens(self, request: ModelRequest) -> int:
        """Return the input tokens of a request."""
        counted = tokens.count_request_tokens(request, self.target.profile.token_encoding(request.model))
        return counted + count_media_tokens(request, self.target.profile)

    def expect_input(self, request: ModelRequest, tokens: int) -> Usage:
        """Return the most expensive usage for this many input tokens, including writes to a prompt cache."""
        caching, cache = self.target.profile.prompt_caching(request.model), request.cache
        if caching is None or tokens < caching.minimum or not caching.may_write(cache):
            return Usage(input=tokens)
        is_long = cache is not None and cache.lifetime == HOUR
        return Usage(input=tokens, cache_write=tokens, cache_write_1h=tokens if is_long else 0)

    def instruct(self, request: ModelRequest, template: str, **values: str) -> ModelRequest:
        """Return the request with a template as its corrective fragment."""
        return replace(request, correction=self.templates.fill(template, **values))

    def supported_settings(self, request: ModelRequest) -> Mapping[str, RequestParameter]:
        """Return the settings that the model supports on its wire."""
        return self.target.profile.accepted_parameters(self.target.wire, request.model)

    def lower_effort(self, request: ModelRequest) -> ModelRequest | None:
        """Return the request with the next lower reasoning effort that the model takes, or None if there is none."""
        effort = self.target.profile.lower_effort(self.target.wire, request.model, request.options)
        if effort is None:
            return None
        written = self.supported_settings(request)["reasoning_effort"].write(effort)
        return replace(request, options=merge_layers(request.options, written), lowered_effort=effort)

    def adapt(self, request: ModelRequest, fault: FaultKind) -> tuple[ModelRequest, PromptWriter] | None:
        """Return the request in another form than the server refused, with its writer, or None if there is none."""
        if fault is FaultKind.STREAM_REQUIRED:
            return None if request.is_streamed else (replace(request, is_streamed=True), self)
        return self._rewrite_as(ChangedForm.OTHER_MODE, request)

    def describe_schema(self, request: ModelRequest) -> tuple[ModelRequest, PromptWriter] | None:
        """Return the request with the schema described in the prompt, and its writer."""
        return self._rewrite_as(ChangedForm.DESCRIBED, request)

    def _rewrite_as(self, form: ChangedForm, request: ModelRequest) -> tuple[ModelRequest, PromptWriter] | None:
        rewritten = self.rewrite(form)
        if rewritten is None:
            return None
        first, writer = rewritten
        adapted = replace(
            first,
            max_output_tokens=request.max_output_tokens,
            correction=request.correction,
            route=request.route,
            is_streamed=request.is_streamed,
        )
        return adapted, writer

    def describe(self, request: ModelRequest) -> ModelRequest:
        """Return the request that asks for the answer in prose."""
        schema = json.dumps(self.compiled.original, ensure_ascii=False)
        return replace(
            request,
            system=join_parts(self.system, self.templates.fill("in_words", schema=schema)),
            messages=build_messages(self.templates, self.conversation, "begin_in_words"),
            output=replace(request.output, mode=OutputMode.TEXT),
            correction=None,
            cache=None,
        )

    def convert(self, request: ModelRequest, words: str) -> ModelRequest:
        """Return the request that asks to convert prose, which is shown as untrusted text."""
        encodable = words.encode(errors="replace").decode()  # no wire can carry a lone surrogate
        answer = render_material(self.templates, Material(encodable, _PROSE_SOURCE, Trust.UNTRUSTED))
        text = join_parts(
            self.templates.fill("into_form", answer=answer), render_unknown_rule(self.templates, self.compiled)
        )
        return replace(request, messages=(Message(Role.USER, text),), correction=None)


def count_media_tokens(request: ModelRequest, profile: Profile) -> int:
    """Return an upper bound on the tokens of the media in a request."""
    media: list[MediaPart] = []
    for message in request.messages:
        if message.parts:
            media += message.media
    if not media:
        return 0
    from emitter.media.rules import estimate_media_tokens  # noqa: PLC0415  few emissions have media

    return estimate_media_tokens(media, profile, request.model)
