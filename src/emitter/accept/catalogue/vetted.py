"""What a schema must be, so that a host can take a kind by it. Each check raises ``InputError`` and says the cure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from emitter.accept.catalogue.bounds import bounded
from emitter.accept.catalogue.kind import DIALECT
from emitter.accept.catalogue.schema import named, places
from emitter.accept.catalogue.typed import portable
from emitter.accept.catalogue.variants import untold
from emitter.errors import InputError
from emitter.schema import Validator
from emitter.schema.drafts import DRAFT202012
from emitter.schema.read.scope import Scope
from emitter.schema.read.weight import weigh
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.schema import Finding
    from emitter.schema.source import Source

_SHOWN: Final = 8
_ELSEWHERE = frozenset({"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"})


def vetted(kind_id: str, given: Source[Any]) -> dict[str, Any]:
    """Return the payload's schema as plain JSON; raises ``InputError`` or ``Uncompilable`` where it will not do."""
    if not isinstance(given.schema, dict):
        raise InputError(f"The schema of {kind_id} must be of an object.", hint=_ROOT)
    schema = bounded(kind_id, given.schema)
    if given.typed:
        schema = portable(schema)
    _check_root(kind_id, schema)
    _check_references(kind_id, schema)
    findings = untold(schema)
    if findings:
        raise InputError(f"{kind_id} has variants that no field tells apart: {listed(findings)}")
    Validator(schema)
    weigh(Scope(schema, DRAFT202012))
    return schema


def listed(findings: tuple[Finding, ...]) -> str:
    """Return findings in one line, with what to do."""
    told = "; ".join(_told(findings[:_SHOWN]))
    return told if len(findings) <= _SHOWN else f"{told}; and {len(findings) - _SHOWN} more"


def _told(findings: Iterable[Finding]) -> Iterable[str]:
    for each in findings:
        what = each.rule if each.detail is None else f"{each.rule} ({each.detail})"
        yield f"{each.pointer}: {what}. {each.fix}"


_ROOT = 'Let it say "type": "object" at its root; put a list or a union into a property.'


def _check_root(kind_id: str, schema: dict[str, Any]) -> None:
    if schema.get("type") != "object":
        raise InputError(f"The schema of {kind_id} must be of an object.", hint=_ROOT)
    dialect = schema.get("$schema", DIALECT)
    if dialect != DIALECT:
        raise InputError(f"The schema of {kind_id} names another dialect.", hint=f"Write it in {DIALECT}.")


def _check_references(kind_id: str, schema: dict[str, Any]) -> None:
    for pointer, node in places(schema):
        elsewhere = _ELSEWHERE.intersection(node) - ({"$id"} if node is schema else set())
        if elsewhere or ("$ref" in node and not _leads(schema, node["$ref"])):
            raise InputError(
                f"{pointer} in the schema of {kind_id} refers elsewhere, or has an address of its own.",
                hint="Put what it needs under $defs, and refer to it with #/$defs/<name>.",
            )


def _leads(schema: dict[str, Any], reference: object) -> bool:
    found = named(schema, reference)
    return isinstance(found, bool) or bool(mapping(found)) or found == {}
