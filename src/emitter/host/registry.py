"""Register a host's own kinds.

``register_kind`` adds a kind to a registry. ``validate_schema`` bounds the schema's size, rewrites pydantic's output in
OpenWOP's portable form, and rejects external references and unions whose branches no single field distinguishes.

Source: ai-envelope.md, "Vendor-namespaced kinds", "Schema discipline" and "Variant payload discrimination" (RFC 0031
§A); structured-output-subset.md for the lint; artifact-type-packs.md, "Bounded schema compilation".
"""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, cast

from emitter import schema as schemas
from emitter.errors import InputError
from emitter.host.kinds import DIALECT, STANDARD, EnvelopeKind, KindRegistry, canonicalize_schema
from emitter.host.payload_schemas import make_portable, make_type_rule
from emitter.messages import as_list, as_mapping
from emitter.models.standard_kinds import (
    MAX_KIND_LENGTH,
    UNIVERSAL_SCHEMAS,
)
from emitter.schema.dialects import DRAFT202012, NAMED_SCHEMA_KEYWORDS
from emitter.schema.json_data import escape_pointer_token, resolve_reference
from emitter.schema.python_types import resolve_schema
from emitter.schema.references import ReferenceResolver, check_complexity
from emitter.schema.validator import Validator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.messages import Json
    from emitter.schema import Tier1Finding
    from emitter.schema.python_types import SchemaSource

LEGACY_IDS: Final = frozenset({"prd.create", "theme.create", "tasks.create"})
"""Names from before OpenWOP 1.1 had namespaces, for ``legacy=True``."""
_ID_PART = "[A-Za-z0-9][A-Za-z0-9_-]*"
_ID_PATTERN = re.compile(rf"{_ID_PART}(?:\.{_ID_PART})*")
_NAMESPACED = re.compile(
    r"(?:vendor|private)(?:\.[^.]+){2,}|(?:community|local)(?:\.[^.]+)+|x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*"
)
_RESERVED = ("openwop", "core", "host", "media", "ui", "vendor.emitter", *UNIVERSAL_SCHEMAS)
_NAMESPACE_HINT = "vendor.<org>.<name>, private.<host>.<name>, community.<name>, local.<name> or x-host-<host>-<name>"


def validate_kind_id(kind_id: object, *, legacy: bool) -> str:
    """Return the id of a host's own kind; raise ``InputError`` for an invalid one.

    Ids appear in URL paths and file names, so they consist of letters, digits, ``-`` and ``_`` in parts between dots.
    """
    if not isinstance(kind_id, str) or len(kind_id) > MAX_KIND_LENGTH or not _ID_PATTERN.fullmatch(kind_id):
        excerpt = kind_id[:40] if isinstance(kind_id, str) else kind_id
        raise InputError(
            f"{excerpt!r} is not a valid kind id.",
            hint=f"Use ASCII letters, digits, - and _ in parts between dots, {MAX_KIND_LENGTH} characters at most.",
        )
    reserved = next((name for name in _RESERVED if kind_id == name or kind_id.startswith(f"{name}.")), None)
    if reserved is not None:
        raise InputError(f"{kind_id} is reserved: hosts may not use {reserved}.", hint=f"Use {_NAMESPACE_HINT}.")
    if not _NAMESPACED.fullmatch(kind_id) and not (legacy and kind_id in LEGACY_IDS):
        hint = "Pass legacy=True to keep it, or use" if kind_id in LEGACY_IDS else "Use"
        raise InputError(f"{kind_id} has no namespace.", hint=f"{hint} {_NAMESPACE_HINT}.")
    return kind_id


class Posture(str, Enum):
    """The treatment of a schema outside the portable subset, advertised as ``tierOneSubsetCompliance``."""

    STRICT = "strict"
    """Refuse it."""
    WARN = "warn"
    """Accept it and list the problems in the kind's ``findings``."""
    OFF = "off"
    """Accept it without linting."""


def register_kind(  # noqa: PLR0913  all but the first two have defaults
    kind_id: str,
    model: object,
    version: int | None = 1,
    *,
    posture: Posture | str = Posture.WARN,
    legacy: bool = False,
    registry: KindRegistry = STANDARD,
) -> KindRegistry:
    """Return a registry with another kind.

    Args:
        kind_id: The kind's name, such as ``"vendor.acme.note"``.
        model: The type of the payload: a pydantic model, a dataclass, a TypedDict, or a JSON Schema (2020-12) as a
            dict. The validators of a type are applied too.
        version: The version to advertise. With None, none is advertised, and an invalid payload is accepted with a
            warning unless the host is strict.
        posture: The treatment of a schema outside OpenWOP's portable subset.
        legacy: Allow the three names from before there were namespaces.
        registry: The registry to extend.

    Raises:
        InputError: The name is reserved, invalid or in use, the version is invalid, or the schema has ``oneOf``,
            variants that no single field distinguishes, external references, or exceeds a limit.
        Uncompilable: ``model`` is not a valid schema.
    """
    name = validate_kind_id(kind_id, legacy=legacy)
    number: Any = version
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
        raise InputError(f"The version of {name} must be a whole number, 0 or more, or None.")
    source = resolve_schema(model)
    schema = validate_schema(name, source)
    findings = _lint_portability(name, schema, posture)
    rules = (make_type_rule(source.parse),) if source.is_python_type else ()
    return registry.with_kinds(EnvelopeKind(name, version, canonicalize_schema(name, schema), rules, findings=findings))


def _lint_portability(kind_id: str, schema: dict[str, Any], posture: Posture | str) -> tuple[Tier1Finding, ...]:
    try:
        chosen = Posture(posture)
    except ValueError as error:
        choices = " or ".join(repr(choice.value) for choice in Posture)
        raise InputError(f"posture is {posture!r}; it must be {choices}.") from error
    if chosen is Posture.OFF:
        return ()
    findings = schemas.lint_tier1(schema, schemas.Tier1Mode.STRICT)
    if findings and chosen is Posture.STRICT:
        message = f"{kind_id} is outside the portable subset: {format_findings(findings)}"
        raise InputError(message, hint="Change the schema, or register it with posture='warn'.")
    return findings


_LIST_KEYWORDS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMA_KEYWORDS = frozenset(
    {"additionalProperties", "propertyNames", "items", "contains", "not", "if", "then", "else"}
    | {"unevaluatedProperties", "unevaluatedItems", "contentSchema"}
)


def iter_subschemas(schema: Json, pointer: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object schema in ``schema`` with its pointer, outer schemas first."""
    if not isinstance(schema, dict):
        return
    yield pointer, cast("dict[str, Any]", schema)
    for keyword, value in as_mapping(schema).items():
        here = f"{pointer}/{escape_pointer_token(keyword)}"
        if keyword in NAMED_SCHEMA_KEYWORDS:
            for name, subschema in as_mapping(value).items():
                yield from iter_subschemas(subschema, f"{here}/{escape_pointer_token(name)}")
        elif keyword in _LIST_KEYWORDS:
            for index, subschema in enumerate(as_list(value)):
                yield from iter_subschemas(subschema, f"{here}/{index}")
        elif keyword in _SCHEMA_KEYWORDS:
            yield from iter_subschemas(value, here)


_VARIANT_FIX = (
    'Give every branch the same required property, such as kind, with "type": "string" and an enum of one value that'
    " no other branch has. In Python, write kind: Literal['a'] without a default, or Field(discriminator='kind')."
)


def find_ambiguous_variants(schema: dict[str, Any]) -> tuple[Tier1Finding, ...]:
    """Return the unions that use ``oneOf``, or whose branches no single field distinguishes."""
    return schemas.lint_variants(schema, schemas.VariantEdition.V2) or tuple(
        schemas.Tier1Finding(f"{pointer}/anyOf", "anyOf-branches-not-told-apart", None, _VARIANT_FIX)
        for pointer, node in iter_subschemas(schema)
        if "anyOf" in node and not _are_distinguishable(list(filter(_is_object_schema, _iter_branches(schema, node))))
    )


def _iter_branches(schema: Json, node: Json) -> Iterator[dict[str, Any]]:
    """Yield each branch of a union once, with references and nested unions resolved."""
    pending, visited = list(as_list(as_mapping(node).get("anyOf"))), set[int]()
    while pending:
        branch, inner = _merge_references(schema, pending.pop(0), visited)
        pending.extend(inner)
        if branch:
            yield branch


def _merge_references(schema: Json, branch: Json, visited: set[int]) -> tuple[dict[str, Any], list[Json]]:
    """Return a branch merged with its references, and its own branches if it is a union."""
    merged: dict[str, Any] = {}
    required: list[Any] = []
    while (node := as_mapping(branch)) and id(node) not in visited:
        visited.add(id(node))
        required += as_list(node.get("required"))
        merged = {**node, **merged}
        branch = resolve_reference(schema, node.get("$ref"))
    return {**merged, "required": required} if merged else merged, as_list(merged.get("anyOf"))


def _is_object_schema(branch: dict[str, Any]) -> bool:
    types = branch.get("type")
    if types is None:
        return "properties" in branch or bool(branch["required"])
    return types == "object" or "object" in as_list(types)


def _are_distinguishable(branches: list[dict[str, Any]]) -> bool:
    if len(branches) < 2:  # noqa: PLR2004  a single branch cannot be confused
        return True
    tags = [_find_tags(branch) for branch in branches]
    shared = set(tags[0]).intersection(*tags)
    return any(len({tag[name] for tag in tags}) == len(tags) for name in shared)


def _find_tags(branch: dict[str, Any]) -> dict[str, str]:
    """Return the required fields with one fixed string, and the strings."""
    properties = as_mapping(branch.get("properties"))
    fields = {name: as_mapping(properties.get(name)) for name in branch["required"] if isinstance(name, str)}
    enums = {name: as_list(field.get("enum")) for name, field in fields.items() if field.get("type") == "string"}
    return {name: enum[0] for name, enum in enums.items() if len(enum) == 1 and isinstance(enum[0], str)}


MAX_SCHEMA_BYTES: Final = 256 * 1024
"""Bytes of the schema as JSON."""
MAX_SCHEMA_VALUES: Final = 20_000
"""Objects, lists, strings and numbers; a value in two places counts twice."""
MAX_SCHEMA_DEPTH: Final = 64
"""Levels of objects and lists."""
MAX_SCHEMA_PATTERNS: Final = 200
"""Regular expressions. Each one is compiled."""


def copy_bounded(kind_id: str, schema: Mapping[str, Json]) -> dict[str, Any]:
    """Return a copy of the schema as plain JSON; raise ``InputError`` if it is not JSON or exceeds a limit."""
    _check_size(kind_id, schema)
    try:
        text = json.dumps(dict(schema), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise InputError(f"The schema of {kind_id} is not JSON.") from error
    _check_limit(kind_id, size, MAX_SCHEMA_BYTES, "bytes")
    copied: dict[str, Any] = json.loads(text)
    return copied


def _check_size(kind_id: str, schema: Mapping[str, Json]) -> None:
    count, patterns, level, depth = 0, 0, list[Any]([dict(schema)]), 0
    while level:
        depth, count = depth + 1, count + len(level)
        _check_limit(kind_id, depth, MAX_SCHEMA_DEPTH, "levels")
        _check_limit(kind_id, count, MAX_SCHEMA_VALUES, "values")
        patterns += sum(map(_count_patterns, level))
        _check_limit(kind_id, patterns, MAX_SCHEMA_PATTERNS, "regular expressions")
        level = [child for value in level for child in _get_children(value)]


def _get_children(value: Any) -> list[Any]:
    return list(cast("dict[str, Any]", value).values()) if isinstance(value, dict) else as_list(value)


def _count_patterns(value: Any) -> int:
    node = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    by_name = node.get("patternProperties")
    return isinstance(node.get("pattern"), str) + (len(cast("Any", by_name)) if isinstance(by_name, dict) else 0)


def _check_limit(kind_id: str, count: int, maximum: int, unit: str) -> None:
    if count > maximum:
        raise InputError(
            f"The schema of {kind_id} has more than {maximum} {unit}.",
            hint="Split the kind, or make its schema smaller.",
        )


_MAX_FINDINGS: Final = 8
_ADDRESS_KEYWORDS = frozenset({"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"})


def validate_schema(kind_id: str, source: SchemaSource[Any]) -> dict[str, Any]:
    """Return the payload's schema as plain JSON.

    Raises:
        InputError: The schema is not portable, refers to other documents, or exceeds a limit.
        Uncompilable: It is not a valid schema.
    """
    if not isinstance(source.schema, dict):
        raise InputError(f"The schema of {kind_id} must describe an object.", hint=_ROOT_HINT)
    schema = copy_bounded(kind_id, source.schema)
    if source.is_python_type:
        schema = make_portable(schema)
    _check_root(kind_id, schema)
    _check_references(kind_id, schema)
    findings = find_ambiguous_variants(schema)
    if findings:
        raise InputError(f"{kind_id} has variants that no single field distinguishes: {format_findings(findings)}")
    Validator(schema)
    check_complexity(ReferenceResolver(schema, DRAFT202012))
    return schema


def format_findings(findings: tuple[Tier1Finding, ...]) -> str:
    """Return findings and fixes in one line."""
    sentences: list[str] = []
    for finding in findings[:_MAX_FINDINGS]:
        rule = finding.rule if finding.detail is None else f"{finding.rule} ({finding.detail})"
        sentences.append(f"{finding.pointer}: {rule}. {finding.fix}")
    if len(findings) > _MAX_FINDINGS:
        sentences.append(f"and {len(findings) - _MAX_FINDINGS} more")
    return "; ".join(sentences)


_ROOT_HINT = 'Set "type": "object" at its root, and put a list or a union into a property.'


def _check_root(kind_id: str, schema: dict[str, Any]) -> None:
    if schema.get("type") != "object":
        raise InputError(f"The schema of {kind_id} must describe an object.", hint=_ROOT_HINT)
    dialect = schema.get("$schema", DIALECT)
    if dialect != DIALECT:
        raise InputError(f"The schema of {kind_id} has another dialect.", hint=f"Write it in {DIALECT}.")


def _check_references(kind_id: str, schema: dict[str, Any]) -> None:
    for pointer, node in iter_subschemas(schema):
        addresses = _ADDRESS_KEYWORDS.intersection(node) - ({"$id"} if node is schema else set())
        is_dangling = "$ref" in node and not isinstance(resolve_reference(schema, node["$ref"]), bool | dict)
        if addresses or is_dangling:
            raise InputError(
                f"{pointer} in the schema of {kind_id} refers to another document, or has its own address.",
                hint="Put the definitions under $defs, and refer to them with #/$defs/<name>.",
            )
