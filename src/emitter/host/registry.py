"""``register_kind`` adds a host's own kind to a registry.

Source: ai-envelope.md, "Vendor-namespaced kinds" and "Schema discipline"; structured-output-subset.md for the
lint.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import InputError
from emitter.host.kind_schemas import format_findings, make_type_rule, validate_schema
from emitter.host.kinds import STANDARD, EnvelopeKind, KindRegistry, canonicalize_schema
from emitter.models.standard_kinds import MAX_KIND_LENGTH, UNIVERSAL_SCHEMAS
from emitter.schema import Tier1Mode, lint_tier1
from emitter.schema.python_types import resolve_schema

if TYPE_CHECKING:
    from emitter.schema import Tier1Finding

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
    findings = lint_tier1(schema, Tier1Mode.STRICT)
    if findings and chosen is Posture.STRICT:
        message = f"{kind_id} is outside the portable subset: {format_findings(findings)}"
        raise InputError(message, hint="Change the schema, or register it with posture='warn'.")
    return findings
