"""The forms that the records share: closed, frozen objects, and the texts, times and amounts in them."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

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
        return self.model_dump(mode="json", exclude_none=True)


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
Amount: TypeAlias = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
"""Of money, integer minor units (cents); of everything else, how many."""
Amounts: TypeAlias = dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")], Amount]
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
