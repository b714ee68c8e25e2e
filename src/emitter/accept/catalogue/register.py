"""``register_kind``: a host's own kind of envelope, from a type or a JSON Schema.

Source: ai-envelope.md, "Vendor-namespaced kinds", "Schema discipline" and "Variant payload discrimination";
structured-output-subset.md for the lint.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from emitter.accept.catalogue.kind import Kind, canonical
from emitter.accept.catalogue.naming import check_name
from emitter.accept.catalogue.standard import STANDARD
from emitter.accept.catalogue.typed import readable
from emitter.accept.catalogue.vetted import listed, vetted
from emitter.errors import InputError
from emitter.schema import Mode, lint_tier1
from emitter.schema.source import source

if TYPE_CHECKING:
    from emitter.accept.catalogue.table import Catalogue
    from emitter.schema import Finding


class Posture(str, Enum):
    """What becomes of a schema outside the portable subset; a host advertises it as ``tierOneSubsetCompliance``."""

    STRICT = "strict"
    """It is refused."""
    WARN = "warn"
    """It is taken, and the kind's ``findings`` say what lies outside."""
    OFF = "off"
    """Nobody looks."""


def register_kind(  # noqa: PLR0913  all but the first two have defaults
    kind_id: str,
    model: object,
    version: int | None = 1,
    *,
    posture: Posture | str = Posture.WARN,
    legacy: bool = False,
    into: Catalogue = STANDARD,
) -> Catalogue:
    """Return the catalogue ``into`` with a kind of the host's own.

    ``model`` is what a payload must be: a pydantic model, a dataclass, a TypedDict, or a JSON Schema (2020-12) as
    a dict. A type's validators are asked too. ``version`` is what the host advertises; with None it advertises
    none, and a payload that does not hold is taken with a warning, unless the host is strict. ``posture`` says
    what becomes of a schema outside OpenWOP's portable subset. ``legacy=True`` admits the three names from before
    there were namespaces.

    Raises ``InputError`` for a name that the host may not give or has given, a version that is none, and a schema
    with ``oneOf``, with variants that no field tells apart, with references to elsewhere, or beyond the bounds;
    ``Uncompilable`` for what is no schema.
    """
    name = check_name(kind_id, legacy=legacy)
    number: Any = version
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
        raise InputError(f"The version of {name} must be a whole number, 0 or more, or None.")
    given = source(model)
    schema = vetted(name, given)
    findings = _linted(name, schema, posture)
    rules = (readable(given.read),) if given.typed else ()
    return into.with_kinds(Kind(name, version, canonical(name, schema), rules, findings=findings))


def _linted(kind_id: str, schema: dict[str, Any], posture: Posture | str) -> tuple[Finding, ...]:
    try:
        chosen = Posture(posture)
    except ValueError as error:
        known = " or ".join(repr(each.value) for each in Posture)
        raise InputError(f"posture is {posture!r}; it must be {known}.") from error
    if chosen is Posture.OFF:
        return ()
    findings = lint_tier1(schema, Mode.STRICT)
    if findings and chosen is Posture.STRICT:
        told = f"{kind_id} is outside the portable subset: {listed(findings)}"
        raise InputError(told, hint="Mend it, or register it with posture='warn'.")
    return findings
