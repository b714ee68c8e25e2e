"""Compile a JSON Schema or a Python type for a provider.

A schema over the provider's size limits is degraded in this order: descriptions are shortened, optional properties
are written as nullable, long enums are dropped, subtrees are carried as JSON text, and finally the whole schema moves
into the prompt. Every step is recorded as a loss with ``LossReason.DEGRADED``. Results are cached.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from emitter import profiles
from emitter.errors import InputError, Uncompilable
from emitter.messages import as_mapping
from emitter.schema.dialects import DRAFT201909, convert_openapi, detect_draft, is_openapi, rewrite_patterns
from emitter.schema.json_data import truncate_json
from emitter.schema.losses import MAX_QUOTE_LENGTH, LossLog, enclosing_unions
from emitter.schema.nodes import NeverNode, Rule, SchemaDocument
from emitter.schema.parser import SchemaParser
from emitter.schema.python_types import resolve_schema
from emitter.schema.references import (
    ReferenceResolver,
    check_complexity,
    collect_rules,
    find_dangling_reference,
)
from emitter.schema.results import Compiled, Loss, LossReason
from emitter.schema.size_limits import exceeded_limits, measure_schema, shorten_descriptions
from emitter.schema.validator import DANGLING_REFERENCE, Validator
from emitter.schema.writer import SchemaWriter, WireSchema

if TYPE_CHECKING:
    from emitter.messages import Json
    from emitter.profiles.model import Profile
    from emitter.profiles.tables import SchemaSubset
    from emitter.schema.dialects import SchemaDraft
    from emitter.schema.references import SchemaRegistry

MAX_SCHEMA_LENGTH = 4_000_000
"""The maximum length of a schema as JSON, in characters."""
MAX_SCHEMA_VALUES = 500_000
"""The maximum number of values in a schema. A shared value counts once per place."""
MAX_POINTER_CHARACTERS = 200_000_000
"""The maximum length of all JSON pointers in a schema, which the validator keeps in memory."""
_CACHE_SIZE = 256
_NOT_JSON = "the schema is not JSON, or it is nested too deeply"
_TOO_DEEP = "the schema contains itself, is nested too deeply, or has extremely long property names"


class UndeclaredProperties(str, Enum):
    """The treatment of properties that an object schema does not mention, and of schemas without ``type``."""

    CARRY = "carry"
    """They are allowed, as JSON text in one more property. This is JSON Schema's meaning."""
    CLOSE = "close"
    """They are not allowed. A schema with ``properties`` is an object."""


class _CompileOptions(NamedTuple):
    """The part of the cache key that is not the schema."""

    subset: SchemaSubset
    degrade: bool
    undeclared: UndeclaredProperties | None
    typed: bool = False


def compile_schema(
    schema: object,
    profile: str | Profile,
    *,
    degrade: bool = True,
    undeclared: UndeclaredProperties | str | None = None,
    registry: SchemaRegistry | None = None,
) -> Compiled:
    """Compile a schema for a provider.

    The result is cached.

    Args:
        schema: A JSON Schema (draft 4, 6, 7, 2019-09 or 2020-12) or any type that pydantic's ``TypeAdapter`` accepts. A
            JSON Schema without ``$schema`` is read as 2020-12, or as 2019-09 if it uses keywords that only older drafts
            know.
        profile: The name of a provider profile, for example ``"openai"``, or a profile.
        degrade: Whether a schema over the provider's size limits is reduced. If False, it is rejected.
        undeclared: The treatment of properties that an object schema does not mention: ``"carry"`` or ``"close"``. By
            default they are carried for a JSON Schema, and closed for a Python type, which would drop them.
        registry: Schemas that a JSON Schema refers to outside itself, by URI. Nothing is fetched.

    Returns:
        The compiled schema with its codec, losses and validator.

    Raises:
        Uncompilable: The schema is invalid, cannot be satisfied, or has a reference that leads nowhere.
        InputError: ``undeclared`` or ``registry`` is not valid.
    """
    provider_profile = profiles.load_profile(profile) if isinstance(profile, str) else profile
    options = _CompileOptions(
        provider_profile.subset, bool(degrade), None if undeclared is None else _parse_undeclared(undeclared)
    )
    if registry is not None and isinstance(schema, Mapping):
        from emitter.schema.registry import bundle_schemas  # noqa: PLC0415  few schemas come with others

        schema = bundle_schemas(cast("Mapping[str, Any]", schema), registry)
    if isinstance(schema, ImmutableSchema):
        return _compile_immutable(schema, _with_default(options, typed=False))
    if isinstance(schema, Mapping):
        json_schema = cast("Mapping[str, Any]", schema)
        return _compile_dict(json_schema if isinstance(json_schema, dict) else dict(json_schema), options)
    if isinstance(schema, bool):
        return _compile_text(json.dumps(schema), _with_default(options, typed=False))
    return (
        _compile_type(schema, options) if isinstance(schema, Hashable) else _compile_type.__wrapped__(schema, options)
    )


class ImmutableSchema(dict[str, Any]):
    """A JSON Schema that is never changed. Its identity is its cache key."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Hash by identity."""
        return id(self)


@lru_cache(maxsize=_CACHE_SIZE)
def _compile_immutable(schema: ImmutableSchema, options: _CompileOptions) -> Compiled:
    return _compile_text(_to_json_text(schema), options)


def _parse_undeclared(value: UndeclaredProperties | str) -> UndeclaredProperties:
    try:
        return UndeclaredProperties(value)
    except ValueError as error:
        choices = " or ".join(repr(each.value) for each in UndeclaredProperties)
        raise InputError(f"undeclared is {value!r}; it must be {choices}.") from error


def _with_default(options: _CompileOptions, *, typed: bool) -> _CompileOptions:
    """Return the options with ``undeclared`` filled in."""
    default = UndeclaredProperties.CLOSE if typed else UndeclaredProperties.CARRY
    return options._replace(undeclared=default if options.undeclared is None else options.undeclared, typed=typed)


def _compile_dict(schema: dict[str, Any], options: _CompileOptions) -> Compiled:
    """Compile a JSON Schema. Its marshalled bytes are the cache key, because JSON takes several times as long."""
    try:
        return _compile_bytes(marshal.dumps(schema), _with_default(options, typed=False))
    except ValueError:  # subclasses of dict and str, which JSON can write
        return _compile_text(_to_json_text(schema), _with_default(options, typed=False))


@lru_cache(maxsize=_CACHE_SIZE)
def _compile_bytes(data: bytes, options: _CompileOptions) -> Compiled:
    return _compile_text(_to_json_text(marshal.loads(data)), options)  # noqa: S302  bytes that were made here


@lru_cache(maxsize=_CACHE_SIZE)
def _compile_type(kind: object, options: _CompileOptions) -> Compiled:
    return _compile_text(_to_json_text(resolve_schema(kind).schema), _with_default(options, typed=True))


@lru_cache(maxsize=_CACHE_SIZE)
def _compile_text(text: str, options: _CompileOptions) -> Compiled:
    schema: Any = json.loads(text)
    widened_types: list[Rule] = []
    try:
        if is_openapi(text):
            schema, widened_types = convert_openapi(schema)
        compiled = _compile_with_patterns(schema, options)
    except RecursionError as error:  # Python 3.12 and later write deeper JSON than they have frames for
        raise Uncompilable("", _TOO_DEEP) from error
    # JSON Schema ignores ``nullable``, so the caller may not expect null here.
    losses = tuple(
        Loss(rule.pointer, rule.keyword, truncate_json(rule.value), LossReason.WIDENED) for rule in widened_types
    )
    return replace(compiled, losses=(*compiled.losses, *losses)) if losses else compiled


def _compile_with_patterns(schema: Any, options: _CompileOptions) -> Compiled:
    """Compile a schema. Patterns that the validator cannot read are described to the model and not checked."""
    close = options.undeclared is UndeclaredProperties.CLOSE
    try:
        return compile_json(schema, options.subset, degrade=options.degrade, close=close, typed=options.typed)
    except Uncompilable:
        readable, removed = rewrite_patterns(schema, detect_draft(schema))
        if readable == schema:
            raise
    compiled = compile_json(readable, options.subset, degrade=options.degrade, close=close, typed=options.typed)
    losses = tuple(
        Loss(rule.pointer, rule.keyword, truncate_json(rule.value), LossReason.UNSUPPORTED) for rule in removed
    )
    removed_keys = {(loss.pointer, loss.keyword) for loss in losses}
    kept = (loss for loss in compiled.losses if (loss.pointer, loss.keyword) not in removed_keys)
    return replace(compiled, losses=(*kept, *losses), original=schema)


def _to_json_text(schema: object) -> str:
    _check_schema_size(schema)
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Uncompilable("", _NOT_JSON) from error
    if len(text) > MAX_SCHEMA_LENGTH:
        raise Uncompilable("", f"the schema is longer than {MAX_SCHEMA_LENGTH} characters")
    return text


def _check_schema_size(schema: object) -> None:
    """Reject a schema that is too large to serialize. Shared objects count once per place."""
    pending: list[tuple[Any, int]] = [(schema, 0)]
    count = total = 0
    while pending:
        node, length = pending.pop()
        count, total = count + 1, total + length
        if count > MAX_SCHEMA_VALUES:
            raise Uncompilable("", f"the schema has more than {MAX_SCHEMA_VALUES} values")
        if total > MAX_POINTER_CHARACTERS:
            raise Uncompilable("", _TOO_DEEP)
        if isinstance(node, dict):
            members = cast("dict[object, Any]", node).items()
            pending.extend((member, length + 1 + len(str(key))) for key, member in members)
        elif isinstance(node, list):
            pending.extend((each, length + 2) for each in cast("list[Any]", node))


# After each attempt the budget is tightened by the excess, which usually suffices. The costs are estimates, so the last
# attempts shrink everything to come to an end.
_BUDGET_SHARES = (1, 1, 1, 1, 1, 1, 0.7, 0.5, 0.5)
"""The share of the remaining budget that each attempt uses."""
_LIMITS_UNAFFECTED_BY_INLINING = frozenset({"depth", "levels", "optional", "optional_of_one_object"})
"""Limits that inlining short enums does not affect."""
MAX_GROWTH = 2
"""A degraded schema is at most this many times as long as the original, plus ``SPARE_CHARACTERS``."""
SPARE_CHARACTERS = 4_000
"""Extra bytes for the fixed texts, which outweigh a small schema."""


def compile_json(raw_schema: Any, subset: SchemaSubset, *, degrade: bool, close: bool, typed: bool = False) -> Compiled:
    """Compile a JSON Schema for a provider's subset."""
    if not isinstance(raw_schema, dict | bool):
        raise Uncompilable(
            "", f"a JSON Schema is an object or a boolean, not a value of type {type(raw_schema).__name__}"
        )
    schema = cast("dict[str, Json] | bool", raw_schema)
    draft, validate = _build_validator(schema, typed=typed)
    resolver = ReferenceResolver(schema, draft)
    if not subset.enforced:
        check_complexity(resolver)
        return _prompt_only(schema, validate, resolver, LossReason.OPEN)
    parser = SchemaParser(resolver, close=close)
    document = parser.parse()
    if document.definitions:
        check_complexity(resolver)
    if document.definitions or isinstance(document.root, NeverNode):  # the parser has removed other empty nodes
        from emitter.schema.recursion import prune_empty, unroll_recursion  # noqa: PLC0415  many schemas define nothing

        document = unroll_recursion(prune_empty(document, parser), subset)
    compilation = _Compilation(document, subset, parser)
    written = compilation.write()
    if written is None and degrade:
        written = compilation.write_degraded()
    if written is None and not degrade:
        raise Uncompilable("", f"the schema is too large for this provider: {compilation.exceeded_summary}")
    if written is None:
        return _prompt_only(schema, validate, resolver, LossReason.DEGRADED)
    return Compiled(
        schema=written.wire,
        losses=compilation.collect_losses(),
        encode=lambda value: written.codec.encode(value, ""),
        decode=written.codec.decode,
        validate=validate.check_decoded if written.codec.decode_is_noop else validate,
        original=schema,
        appendix=compilation.appendix,
    )


def _build_validator(schema: Json, *, typed: bool) -> tuple[SchemaDraft, Validator]:
    """Return the schema's draft and validator. Without ``$schema``, draft 2019-09 is tried after 2020-12."""
    draft = detect_draft(schema)
    try:
        return draft, _make_validator(schema, draft, typed=typed)
    except Uncompilable:
        if "$schema" in as_mapping(schema):
            raise
        with suppress(Uncompilable):
            return DRAFT201909, _make_validator(schema, DRAFT201909, typed=typed)
        raise


def _make_validator(schema: Any, draft: SchemaDraft, *, typed: bool) -> Validator:
    try:
        return Validator(schema, draft, typed=typed)
    except Uncompilable as error:
        if error.reason != DANGLING_REFERENCE:
            raise
        # The validator does not report the place of the reference.
        raise find_dangling_reference(ReferenceResolver(schema, draft)) or error from error


def _prompt_only(schema: Any, validate: Validator, resolver: ReferenceResolver, reason: LossReason) -> Compiled:
    """Return the original schema for the prompt. Nothing is enforced."""
    rules = {(rule.pointer, rule.keyword): rule for rule in reversed(collect_rules([resolver.root_part], resolver))}
    losses = tuple(
        Loss(rule.pointer, rule.keyword, truncate_json(rule.value), LossReason.OPEN if rule.pointer else reason)
        for rule in reversed(rules.values())
    )
    return Compiled(schema, losses, _identity, _identity, validate, schema, enforced=False)


def _identity(value: Any) -> Any:
    return value


def _json_length(schema: Json) -> int:
    """Return the length of a schema in a request, in bytes."""
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())


class _Compilation:
    """Compiles one document, and keeps the losses of the last attempt."""

    def __init__(self, document: SchemaDocument, subset: SchemaSubset, parser: SchemaParser) -> None:
        self._document = document
        self._subset = subset
        self._parser = parser
        self._loss_log = LossLog(parser.resolver)
        self._exceeded: dict[str, tuple[int, int]] = {}
        self._unions = 0

    @property
    def exceeded_summary(self) -> str:
        """The exceeded limits, for an error message."""
        return ", ".join(
            f"{name.replace('_', ' ')} {count} of at most {most}" for name, (count, most) in self._exceeded.items()
        )

    def write(
        self, document: SchemaDocument | None = None, flipped: frozenset[int] = frozenset(), *, bounded: bool = False
    ) -> WireSchema | None:
        """Write the document.

        Returns None if it exceeds a limit or, with ``bounded``, the maximum growth. Short enums are inlined only if
        there is room.
        """
        self._document = self._document if document is None else document
        written = self._write_within_limits(flipped, compact=bounded)
        if written is None and not bounded and self._exceeded.keys() - _LIMITS_UNAFFECTED_BY_INLINING:
            written = self._write_within_limits(flipped, compact=True)
        if written is not None and bounded and (size := _json_length(written.wire)) > (most := self._max_length):
            self._exceeded = {"size": (size, most)}
            return None
        if written is not None and flipped:
            self._loss_log.add(Rule("", "required", len(flipped)), LossReason.DEGRADED)
        return written

    def _write_within_limits(self, flipped: frozenset[int], *, compact: bool) -> WireSchema | None:
        written, limits = self._write_once(flipped, compact=compact), self._subset.limits
        moved_names = self._loss_log.appendix.select_overflow(MAX_QUOTE_LENGTH + self._original_length // 2)
        written = self._write_once(flipped, moved_names, compact=compact) if moved_names else written
        size = measure_schema(written.wire, limits)
        self._exceeded, self._unions = exceeded_limits(size, limits), size.counts["unions"]
        if self._exceeded.keys() == {"text"} and limits.text is not None:
            self._loss_log.add(Rule("", "description", limits.text), LossReason.DEGRADED)
            return WireSchema(shorten_descriptions(written.wire, limits.text), written.codec)
        return None if self._exceeded else written

    def _write_once(
        self, flipped: frozenset[int], moved_names: frozenset[str] = frozenset(), *, compact: bool = False
    ) -> WireSchema:
        self._loss_log = LossLog(self._parser.resolver, moved_names)
        return SchemaWriter(self._document, self._subset, self._loss_log, flipped, compact=compact).write_root()

    @property
    def appendix(self) -> dict[str, Json]:
        """The pieces of the schema that the prompt must contain."""
        return self._loss_log.appendix.entries()

    @cached_property
    def _original_length(self) -> int:
        return _json_length(self._parser.resolver.root_part.schema)

    @property
    def _max_length(self) -> int:
        """The maximum length of a degraded schema, in bytes."""
        return MAX_GROWTH * self._original_length + SPARE_CHARACTERS

    def write_degraded(self) -> WireSchema | None:
        """Write the document reduced until it fits, or return None if only the prompt is left."""
        from emitter.schema import degradation  # noqa: PLC0415  few schemas are too large

        def select_flipped() -> frozenset[int]:
            return degradation.select_nullable_properties(self._document, self._subset, self._exceeded, self._unions)

        # The mildest reductions come first: nullable properties, then dropped enums, then JSON text for subtrees.
        limits, exceeded = self._subset.limits, self._exceeded
        spare_unions = max((limits.unions or 0) - self._unions, 0)
        if (flipped := select_flipped()) and (written := self.write(flipped=flipped, bounded=True)) is not None:
            return written
        document = self._document
        if exceeded.keys() & {"enum_values", "characters", "long_enum_characters"}:
            document = degradation.drop_long_enums(document, limits)
            if (written := self.write(document, bounded=True)) is not None:
                return written
        budget = degradation.SizeBudget(limits, spare_unions)
        for share in _BUDGET_SHARES:
            budget.shrink(share)
            allocated = degradation.SizeAllocation(document, self._subset, budget).allocate()
            written = self.write(allocated, bounded=True)
            if written is None and (flipped := select_flipped()):
                written = self.write(allocated, flipped, bounded=True)
            if written is not None:
                return written
            budget.tighten(self._exceeded)
        return None

    def collect_losses(self) -> tuple[Loss, ...]:
        """Return the losses of the nodes, of the unions around them, and of closed objects."""
        for origin in enclosing_unions(self._document, self._loss_log.lossy_nodes):
            self._loss_log.add(origin, LossReason.INSIDE)
        for rule in self._parser.closed_rules:
            self._loss_log.add(rule, LossReason.CLOSED)
        for rule in self._parser.contradictions:
            self._loss_log.add(rule, LossReason.CONTRADICTORY)
        return self._loss_log.losses
