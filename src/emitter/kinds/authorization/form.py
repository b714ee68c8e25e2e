"""The forms that the members of an authorization envelope share, and what JSON alone does not say of them."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
)

from emitter.kinds.binding_moment import Slot, Text

if TYPE_CHECKING:
    from emitter.wire import Json

_EXACT: Final = 2**53 - 1
"""The largest magnitude up to which a double tells every integer from its neighbours."""

_TIME: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)"
    r"(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)


def _no_null(given: Json) -> Json:
    if given is None:
        raise ValueError("an absent member must be left out, not null")
    return given


def _exact(given: Json) -> Json:
    """Refuse an integer that other readers of JSON would take for its neighbour."""
    if isinstance(given, int) and abs(given) > _EXACT:
        raise ValueError("an integer must be at most 2^53 - 1")
    return given


def _carried(given: Json) -> Json:
    """Return a copy; raises ``ValueError`` for what no JSON text can carry."""
    try:
        text = json.dumps(given, allow_nan=False, ensure_ascii=False)
        text.encode()
        copied: Json = json.loads(text, parse_int=lambda digits: _exact(int(digits)))
    except (TypeError, ValueError, RecursionError):
        raise ValueError("this must be a JSON value, and an integer in it at most 2^53 - 1") from None
    if copied != given:  # a tuple, or a name that is no text
        raise ValueError("this must be a JSON value")
    return copied


def _on_a_calendar(timestamp: str) -> str:
    try:
        datetime.fromisoformat(re.sub(r":60$", ":59", timestamp[:19].upper()))
    except ValueError:
        raise ValueError("no such time: it is RFC 3339, such as 2026-01-31T12:00:00Z") from None
    return timestamp


ABSENT: Final = BeforeValidator(_no_null)
Said: TypeAlias = Annotated[Text, Field(min_length=1)]
Timestamp: TypeAlias = Annotated[str, Field(pattern=_TIME), AfterValidator(_on_a_calendar)]
Number: TypeAlias = Annotated[
    int | Annotated[float, Field(allow_inf_nan=False)], BeforeValidator(_exact), WithJsonSchema({"type": "number"})
]
Value: TypeAlias = Annotated[Any, BeforeValidator(_carried)]
Params: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_carried)]


class Part(Slot):
    """A closed, frozen object; what is absent is left out whichever way it is written, never null."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        written: dict[str, Any] = write(self)
        return {name: each for name, each in written.items() if each is not None or fields[name].is_required()}
