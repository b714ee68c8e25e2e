"""The form in which a model proposes: one object, of which only the kinds are there that the terms allow.

The tag is ``proposes`` and not ``kind``, and nothing of provenance is asked for: a proposal cannot be read as an
envelope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from emitter.authority.envelope.reading import agreed, disputed
from emitter.kinds.authorization import RefusalCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.authority.envelope.reading import OracleReading
    from emitter.authority.envelope.terms import Terms

NAME: Final = "authorization_proposal"

_TEXT: Final = {"type": "string", "minLength": 1}


def schema(terms: Terms) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the document that the model writes."""
    return _object(
        reasoning={"type": "string", "description": "Think here first, before the proposal."},
        proposal={"anyOf": [_named(kind, form) for kind, form in _forms(terms)]},
    )


def offered(terms: Terms) -> tuple[str, ...]:
    """Return the kinds that the model may propose; without readings, or without authority, only those without any."""
    return tuple(kind for kind, _ in _forms(terms))


def _forms(terms: Terms) -> Iterator[tuple[str, dict[str, Any]]]:
    if terms.workflow.authoritative:
        yield from _authoritative(terms)
    yield "narrative", _object(text=_TEXT)
    code = _one_of(each.value for each in RefusalCode)
    yield "refusal", _object("recovery_hint", code=code, user_message=_TEXT, recovery_hint=_TEXT)
    between = disputed(terms.oracles)
    if between:
        yield "dispute_summary", _object(axes=_several(sorted(between)))


def _authoritative(terms: Terms) -> Iterator[tuple[str, dict[str, Any]]]:
    usable = _citable(agreed(terms.oracles))
    if numbers := [each for each in usable if each.number is not None]:
        yield "measurement", _object(axis=_one_of(_axes(numbers)), value={"type": "number"}, cites=_cites(numbers))
    if labelled := [each for each in usable if each.labels]:
        yield "classification", _object(axis=_one_of(_axes(labelled)), label=_TEXT, cites=_cites(labelled))
    if usable and terms.actions != ():
        action = _TEXT if terms.actions is None else _one_of(terms.actions)
        params = {"type": "object", "additionalProperties": True}
        yield (
            "action",
            _object("params", action=action, axes=_several(_axes(usable)), cites=_cites(usable), params=params),
        )


def _axes(readings: Iterable[OracleReading]) -> list[str]:
    return [each.axis for each in readings]


def _cites(readings: Iterable[OracleReading]) -> dict[str, Any]:
    return _several(each.record.oracle_id for each in readings)


def _citable(readings: tuple[OracleReading, ...]) -> tuple[OracleReading, ...]:
    """Return the readings on axes that an oracle above ``unverified`` speaks about."""
    carried = {each.axis for each in readings if each.verified}
    return tuple(each for each in readings if each.axis in carried)


def _one_of(values: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(dict.fromkeys(values))}


def _several(values: Iterable[str]) -> dict[str, Any]:
    return {"type": "array", "items": _one_of(values), "minItems": 1}


def _object(*optional: str, **properties: Any) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _named(kind: str, form: dict[str, Any]) -> dict[str, Any]:
    """Return a form with its tag before all else."""
    properties = {"proposes": {"type": "string", "enum": [kind]}, **form["properties"]}
    return {**form, "properties": properties, "required": ["proposes", *form["required"]]}
