"""Parse a ``binding_moment`` from JSON or text.

A malformed envelope is rejected whole. It is never repaired and never shown in part.

Source: draft-morrison-binding-moment-envelope-00, sections 4 and 5.1 to 5.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from pydantic import ValidationError

from emitter.decisions.canonical_json import CanonicalProfile, normalize_json, parse_strict_json, require_moment
from emitter.errors import InputError, NotCanonical
from emitter.models import BindingMoment, Hatches, Meta, Option, Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    from emitter.messages import Json

MOMENT_FIELD: Final = "binding_moment"
"""The member of a tool result whose value is the envelope (section 4)."""
DRAFT: Final = "draft-morrison-binding-moment-envelope-00"
"""The revision of the draft that envelopes are checked against."""
MAX_REPORTED_REASONS: Final = 20
"""Maximum number of places that are reported for a malformed envelope."""


@dataclass(frozen=True, slots=True)
class DraftRevision:
    """The model of one revision of the draft. Diagnostics mention only names in ``member_names``."""

    model: type[BindingMoment]
    member_names: frozenset[str]


_REVISION_00: Final = DraftRevision(
    BindingMoment,
    frozenset({MOMENT_FIELD}.union(*(part.model_fields for part in (BindingMoment, Question, Option, Hatches, Meta)))),
)
REVISIONS: Final[Mapping[str, DraftRevision]] = MappingProxyType({DRAFT: _REVISION_00})
"""The known revisions, by the name of the draft."""


@dataclass(frozen=True, slots=True)
class MalformedEnvelope:
    """The reasons for discarding an envelope, as sentences with places and without a word of the envelope."""

    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"The envelope was discarded as malformed: {'; '.join(self.reasons)}."


def parse_moment(value: Json, revision: DraftRevision = REVISIONS[DRAFT]) -> BindingMoment | MalformedEnvelope:
    """Return the envelope, or why it is malformed. Accepts any value."""
    try:
        return revision.model.model_validate(normalize_json(value, CanonicalProfile.ENVELOPE, revision.member_names))
    except NotCanonical as error:
        return _malformed_json(error)
    except ValidationError as error:
        return _malformed_members(error.errors(include_url=False, include_input=False))


def parse_moment_text(
    text: str | bytes, revision: DraftRevision = REVISIONS[DRAFT]
) -> BindingMoment | MalformedEnvelope:
    """Parse the envelope in a JSON text, or return why it is malformed.

    The text is the envelope, or an object with the envelope as ``binding_moment``, such as a tool result. It is parsed
    strictly: see ``emitter.decisions.canonical_json.parse_strict_json``.

    Raises:
        InputError: ``text`` is not a string or bytes.
    """
    try:
        value = parse_strict_json(_require_text(text), CanonicalProfile.WIRE, revision.member_names)
    except NotCanonical as error:
        return _malformed_json(error)
    return parse_moment(
        value[MOMENT_FIELD] if isinstance(value, dict) and MOMENT_FIELD in value else cast("Json", value), revision
    )


def require_wellformed(moment: BindingMoment) -> BindingMoment:
    """Return an envelope, parsed again because a copy can be invalid. Raises ``InputError`` if it is malformed."""
    parsed = parse_moment(_to_json(require_moment(moment)))
    if isinstance(parsed, MalformedEnvelope):
        raise InputError(str(parsed))
    return parsed


def _to_json(moment: BindingMoment) -> Json:
    try:
        return moment.model_dump(mode="json", exclude_none=True, warnings=False)
    except (ValueError, TypeError, AttributeError):
        raise InputError("The envelope cannot be written as JSON.") from None


def _require_text(value: object) -> str | bytes:
    if not isinstance(value, str | bytes):
        raise InputError(
            f"text is of type {type(value).__name__}; it must be a str or bytes.",
            hint="Use emitter.decisions.parse_moment for a JSON value.",
        )
    return value


def _malformed_json(error: NotCanonical) -> MalformedEnvelope:
    return MalformedEnvelope(
        (_format_reason(error.pointer, f"{error.reason[0].lower()}{error.reason[1:].removesuffix('.')}"),)
    )


def _malformed_members(errors: list[ErrorDetails]) -> MalformedEnvelope:
    relevant = [error for error in errors if not _is_spurious_too_short(error, errors)]
    reasons = [_format_reason(_error_pointer(error), _error_text(error)) for error in relevant[:MAX_REPORTED_REASONS]]
    more = [f"and {len(relevant) - MAX_REPORTED_REASONS} places more"] if len(relevant) > MAX_REPORTED_REASONS else []
    return MalformedEnvelope((*reasons, *more))


def _is_spurious_too_short(error: ErrorDetails, errors: list[ErrorDetails]) -> bool:
    """Return whether "too short" only means that entries are invalid: pydantic counts the valid ones."""
    location = error["loc"]
    return error["type"] == "too_short" and any(other["loc"][:-1][: len(location)] == location for other in errors)


def _format_reason(pointer: str, text: str) -> str:
    return f"{pointer or '#'}: {text}"


def _error_pointer(error: ErrorDetails) -> str:
    steps = [*error["loc"][:-1], "*"] if error["type"] == "extra_forbidden" else error["loc"]
    return "".join(f"/{step}" for step in steps)


def _error_text(error: ErrorDetails) -> str:
    if error["type"] == "value_error":  # raised by our own validators
        return error["msg"].removeprefix("Value error, ")
    return _ERROR_TEXTS.get(error["type"], "this is invalid").format_map(error.get("ctx", {}))


_ERROR_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
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
