"""The forms that the records share: closed, frozen objects, and the texts, times and amounts in them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Context, Decimal
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

from emitter.decide.canonical import HALF_PAIR, MAX_INTEGER

if TYPE_CHECKING:
    from typing import Self

    from emitter.wire import Json

LONGEST_NAME: Final = 512
"""Characters of an id, a target, an action or a capability."""
LONGEST_TTL: Final = 100 * 365 * 24 * 60 * 60
"""Seconds: what ends later than that has no date on every surface."""
DIGEST: Final = r"^sha256:[0-9a-f]{64}$"
_DAY: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME: Final = rf"^{_DAY}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,6}})?Z$"


class Record(BaseModel):
    """A closed, frozen object that takes no value of another type; an absent member is left out, never null."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @classmethod
    def of(cls, **members: object) -> Self:
        """Return the record with these members, those that are None left out; raises pydantic's ``ValidationError``."""
        return cls.model_validate({name: each for name, each in members.items() if each is not None})

    def to_json(self) -> dict[str, Json]:
        """Return the wire form; what is absent is left out."""
        return self.model_dump(mode="json")

    # Not a serializer: pydantic would turn an interrupt that comes amid one into an error of its own.
    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return the members; what is absent is left out, so that what is written can be read back."""
        given: dict[str, Any] = {"exclude_none": True, **options}
        return super().model_dump(**given)

    def model_dump_json(self, **options: Any) -> str:
        """Return the members as JSON; what is absent is left out, so that what is written can be read back."""
        given: dict[str, Any] = {"exclude_none": True, **options}
        return super().model_dump_json(**given)


def _whole(text: str) -> str:
    if HALF_PAIR.search(text):
        raise ValueError("a text holds half of a surrogate pair")
    return text


def _no_null(given: object) -> object:
    if given is None:
        raise ValueError("an absent member must be left out, not null")
    return given


def _time(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("no such time: it is ISO 8601 in UTC, such as 2026-01-31T12:00:00.000Z") from None
    return text


Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_whole)]
Text: TypeAlias = Annotated[str, Field(max_length=10_000), AfterValidator(_whole)]
Names: TypeAlias = Annotated[tuple[Name, ...], Field(strict=False)]
Timestamp: TypeAlias = Annotated[str, Field(pattern=_TIME), AfterValidator(_time)]
Digest: TypeAlias = Annotated[str, Field(pattern=DIGEST)]
Amount: TypeAlias = int | Decimal
"""Of money, the currency's main unit: dollars, not cents; of everything else, how many."""
BUDGET: Final = r"budget_[a-z]{3}"
"""The name of a limit on money: ``budget_`` and an ISO 4217 code."""
_LIMIT: Final = r"[a-z][a-z0-9_]{0,63}"
_FRACTION: Final = r"(0|[1-9][0-9]{0,14})\.[0-9]{0,5}[1-9]"
_PLACES: Final = 6
_DIGITS: Final = 15
_COUNT: Final[dict[str, Json]] = {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER}
_AMOUNTS: Final[dict[str, Json]] = {
    "type": "object",
    "patternProperties": {
        f"^{BUDGET}$": {"anyOf": [_COUNT, {"type": "string", "pattern": f"^{_FRACTION}$"}]},
        f"^(?!{BUDGET}$){_LIMIT}$": _COUNT,
    },
    "additionalProperties": False,
}


def exact(amount: Amount) -> Amount:
    """Return an amount as it is written: a whole one as an integer, any other without zeros at its end."""
    return int(amount) if amount == int(amount) else Decimal(amount).normalize(_EXACT)


_EXACT: Final = Context(prec=64)


def plus(one: Amount, other: Amount) -> Amount:
    """Return the sum of two amounts, to the last digit."""
    return exact(_EXACT.add(Decimal(one), Decimal(other)))


def _amount(given: object) -> object:
    match given:
        case float():
            raise ValueError("a float is not exact: write an integer or a Decimal")
        case Decimal():
            return _decimal(given)
        case str():
            if re.fullmatch(_FRACTION, given) is None:
                raise ValueError("an amount is an integer or, of money, a decimal such as 7.5, with no zero at its end")
            return Decimal(given)
        case _:
            return given


def _decimal(given: Decimal) -> Amount:
    if not given.is_finite() or given.adjusted() >= _DIGITS:
        raise ValueError(f"an amount is finite, and has at most {_DIGITS} digits before its point")
    if given != given.quantize(Decimal(1).scaleb(-_PLACES), context=_EXACT):
        raise ValueError(f"an amount has at most {_PLACES} decimal places")
    return exact(given)


def _counted(amounts: dict[str, Amount]) -> dict[str, Amount]:
    """Refuse a fraction of what is no money."""
    for name, amount in amounts.items():
        if isinstance(amount, Decimal) and re.fullmatch(BUDGET, name) is None:
            raise ValueError(f"{name} is a whole number")
    return amounts


Amounts: TypeAlias = Annotated[
    dict[
        Annotated[str, Field(pattern=f"^{_LIMIT}$")],
        Annotated[
            Annotated[int, Field(ge=0, le=MAX_INTEGER)] | Annotated[Decimal, Field(ge=0)], BeforeValidator(_amount)
        ],
    ],
    AfterValidator(_counted),
    WithJsonSchema(_AMOUNTS),
]
"""How much of each limit: an integer or, of money, a ``Decimal``, which is written as a text such as ``"7.5"``."""
ABSENT: Final = BeforeValidator(_no_null)


class RiskLevel(str, Enum):
    """How much may go wrong, as the principal was told."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    def covers(self, other: RiskLevel) -> bool:
        """Tell whether an approval at this level covers an act at another."""
        return _ORDER.index(self) >= _ORDER.index(other)


_ORDER: Final = tuple(RiskLevel)
Risk: TypeAlias = Annotated[RiskLevel, Field(strict=False)]


def written(at: float) -> str:
    """Return seconds since 1970 as a timestamp, to the millisecond, rounded down."""
    moment = datetime.fromtimestamp(at, UTC)  # to the microsecond: at * 1000 may fall short of a whole number
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def moment(timestamp: str) -> float:
    """Return the seconds since 1970 that a timestamp tells."""
    return datetime.fromisoformat(timestamp).timestamp()
