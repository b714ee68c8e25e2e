"""What reading a valid document came to, and what pydantic found, told without a word of the document.

Of pydantic's own findings only the kind, the place and what the type itself demands are kept, since its messages may
quote the document. Of what a validator of the caller's raises the message is kept without what it quotes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from pydantic_core import PydanticKnownError

from emitter.schema.author import Author
from emitter.schema.formats import OFFSET
from emitter.schema.messages import without
from emitter.schema.violation import Violation
from emitter.schema.violation import told as told_name
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_core import ErrorDetails, ValidationError

    from emitter.wire import Json

T = TypeVar("T")

MAX_FINDINGS = 12
"""More than this many are cut off: a corrective fragment has constant size."""

_LONGEST = 200
_OF_THE_TYPE = frozenset(
    {"gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern", "expected", "expected_tags"}
    | {"discriminator", "max_digits", "decimal_places", "whole_digits", "class", "class_name", "tz_expected"}
    | {"expected_schemes", "expected_version", "field_type"}
)
"""What of an error's context comes from the type. All else may come from the document, and is left out."""

_CODE = frozenset({"value_error", "assertion_error"})
"""What a validator of the caller's raised."""
UNTOLD = "what the description of this place asks for"
"""What is told where a validator has no message, or one of which nothing is left."""
CUSTOM = "custom"
FROM_CODE = frozenset({*_CODE, CUSTOM})
"""The rules of findings whose words come from a validator."""


@dataclass(frozen=True, slots=True)
class Raised:
    """Code of the caller's, a check or a validator, raised what is no finding: a bug, not a verdict."""

    by: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """A ``value``, or the ``violations`` that forbid it, or what code of the caller's ``raised``.

    ``remarks`` are what is to be told of a value that stands all the same.
    """

    value: T | None = None
    violations: tuple[Violation, ...] = ()
    raised: Raised | None = None
    remarks: tuple[Violation, ...] = ()


class _Gaps(dict[str, str]):
    """The values of a message; one that is not known is a gap, and a plural is one."""

    def __missing__(self, key: str) -> str:
        return "s" if key == "expected_plural" else "…"


def found(
    error: ValidationError, document: Json, names: frozenset[str], author: Callable[[], Author] = Author
) -> tuple[Violation, ...]:
    """Return what pydantic found in ``document``; ``names`` are those that the schema knows.

    ``author`` returns what stands in the code of the type's validators.
    """
    details = error.errors(include_url=False, include_input=False)
    told = partial(without, document=document, author=cache(author), names=names)
    violations = (Violation(_pointer(each["loc"], document, names), *_rule(each, told)) for each in details)
    return tuple(dict.fromkeys(violations))[:MAX_FINDINGS]


def _pointer(path: tuple[str | int, ...], document: Json, names: frozenset[str]) -> str:
    """Return the place as a JSON pointer; what pydantic adds to it, such as a union's branch, is left out."""
    steps: list[str] = []
    value = document
    for nth, step in enumerate(path, start=1):
        if isinstance(step, int) and isinstance(value, list) and step < len(sequence(value)):
            value = sequence(value)[step]
            steps.append(str(step))
        elif isinstance(step, str) and isinstance(value, dict):
            table = cast("dict[str, Json]", value)
            if step in table or (nth == len(path) and step in names):
                value = table.get(step)
                steps.append(told_name(step, names))
    return "".join(f"/{each}" for each in steps)


def _rule(error: ErrorDetails, told: Callable[[str], str | None]) -> tuple[str, str]:
    """Return the kind of an error and what is expected: from the type's side, or in the words of a validator."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in _CODE:
        raised = context.get("error")
        return kind, told(error["msg"] if raised is None else str(raised)) or UNTOLD
    if kind == "timezone_aware":
        return kind, OFFSET
    try:
        template = PydanticKnownError(cast("Any", kind), context).message_template
    except (KeyError, TypeError):  # a kind of the caller's own, which may be made of anything
        return CUSTOM, told(error["msg"]) or UNTOLD
    return kind, template.format_map(_of_the_type(context))


def _of_the_type(context: Mapping[str, Any]) -> _Gaps:
    return _Gaps({name: _short(str(value)) for name, value in context.items() if name in _OF_THE_TYPE})


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
