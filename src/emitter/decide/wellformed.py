"""Whether what arrived as ``binding_moment`` is one: all of it, or nothing.

Source: draft-morrison-binding-moment-envelope-00, section 4: what is malformed is never shown as a decision, neither
in part nor repaired. The cardinalities and types are those of sections 5.1 to 5.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from pydantic import ValidationError

from emitter.decide.canonical import Profile, conform
from emitter.decide.digest import envelope
from emitter.decide.strict import parse
from emitter.errors import InputError, NotCanonical
from emitter.kinds import BindingMoment, Hatches, Meta, Option, Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    from emitter.wire import Json

FIELD: Final = "binding_moment"
"""The member of a tool's result whose value is the envelope (section 4)."""

DRAFT: Final = "draft-morrison-binding-moment-envelope-00"
"""The revision that is checked against."""

MAX_REASONS: Final = 20
"""How many places of a malformed envelope are told."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What one revision of the draft calls well-formed; of the member names, a diagnostic tells only ``names``."""

    grammar: type[BindingMoment]
    names: frozenset[str]


_00: Final = Revision(
    BindingMoment,
    frozenset({FIELD}.union(*(part.model_fields for part in (BindingMoment, Question, Option, Hatches, Meta)))),
)

REVISIONS: Final[Mapping[str, Revision]] = MappingProxyType({DRAFT: _00})
"""The revisions that can be read, by the draft's name; a later one is an entry more."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Why an envelope was discarded: sentences of ours, with places, without a word of the envelope."""

    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"The envelope was discarded as malformed: {'; '.join(self.reasons)}."


def read(value: Json, revision: Revision = REVISIONS[DRAFT]) -> BindingMoment | Malformed:
    """Return the envelope, or why it is malformed, whatever ``value`` is."""
    try:
        return revision.grammar.model_validate(conform(value, Profile.ENVELOPE, revision.names))
    except NotCanonical as error:
        return _misread(error)
    except ValidationError as error:
        return _malformed(error.errors(include_url=False, include_input=False))


def read_text(text: str | bytes, revision: Revision = REVISIONS[DRAFT]) -> BindingMoment | Malformed:
    """Return the envelope that a JSON text holds, or why it is malformed.

    The text is the envelope itself or an object that carries it as ``binding_moment``, as a tool's result does. It is
    read strictly: see ``emitter.decide.strict.parse``. Raises ``InputError`` for what is no text.
    """
    try:
        value = parse(_text(text), Profile.WIRE, revision.names)
    except NotCanonical as error:
        return _misread(error)
    return read(value[FIELD] if isinstance(value, dict) and FIELD in value else cast("Json", value), revision)


def wellformed(moment: BindingMoment) -> BindingMoment:
    """Return an envelope as its wire form says it; raises ``InputError`` for a malformed one.

    A copy of a model that holds need not hold.
    """
    found = read(_written(envelope(moment)))
    if isinstance(found, Malformed):
        raise InputError(str(found))
    return found


def _written(moment: BindingMoment) -> Json:
    try:
        return moment.model_dump(mode="json", exclude_none=True, warnings=False)
    except (ValueError, TypeError, AttributeError):
        raise InputError("The envelope cannot be written as JSON.") from None


def _text(given: object) -> str | bytes:
    if not isinstance(given, str | bytes):
        raise InputError(
            f"The text of an envelope was given as {type(given).__name__}.",
            hint="Give a str or bytes; emitter.decide.read reads a JSON value.",
        )
    return given


def _misread(error: NotCanonical) -> Malformed:
    return Malformed((_reason(error.pointer, f"{error.reason[0].lower()}{error.reason[1:].removesuffix('.')}"),))


def _malformed(errors: list[ErrorDetails]) -> Malformed:
    found = [each for each in errors if not _miscounted(each, errors)]
    told = [_reason(_pointer(each), _said(each)) for each in found[:MAX_REASONS]]
    more = [f"and {len(found) - MAX_REASONS} places more"] if len(found) > MAX_REASONS else []
    return Malformed((*told, *more))


def _miscounted(error: ErrorDetails, errors: list[ErrorDetails]) -> bool:
    """Tell whether an array was called too short for entries that are there: pydantic counts only those that hold."""
    place = error["loc"]
    return error["type"] == "too_short" and any(each["loc"][:-1][: len(place)] == place for each in errors)


def _reason(pointer: str, said: str) -> str:
    return f"{pointer or '#'}: {said}"


def _pointer(found: ErrorDetails) -> str:
    steps = [*found["loc"][:-1], "*"] if found["type"] == "extra_forbidden" else found["loc"]
    return "".join(f"/{step}" for step in steps)


def _said(found: ErrorDetails) -> str:
    """Return what is wrong; the grammar's own rules say it themselves."""
    if found["type"] == "value_error":
        return found["msg"].removeprefix("Value error, ")
    return _SAID.get(found["type"], "this does not hold").format_map(found.get("ctx", {}))


_SAID: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing": "this member is required",
        "extra_forbidden": "there is no such member",
        "model_type": "this must be an object",
        "tuple_type": "this must be an array",
        "string_type": "this must be a string",
        "int_type": "this must be an integer",
        "bool_type": "this must be true or false",
        "greater_than_equal": "this must not be negative",
        "too_short": "there must be at least {min_length} entries",
        "too_long": "there must be at most {max_length} entries",
    }
)
