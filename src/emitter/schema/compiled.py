"""What compiling returns: the wire schema, the way there and back, and what the vendor will not enforce."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.schema.violation import Violation
    from emitter.wire import Json


class Why(str, Enum):
    """Why a keyword is not enforced by the vendor."""

    UNSUPPORTED = "unsupported"
    """The vendor's subset lacks it."""
    INSIDE = "inside"
    """A branch of this union is not enforced in full, so neither is the union."""
    OPEN = "open"
    """It stands inside a value that has no closed form, carried as JSON text."""
    CLOSED = "closed"
    """What the schema does not name is left out, as the caller wished."""
    WIDENED = "widened"
    """Null is taken besides, by OpenAPI's ``nullable``, which JSON Schema does not know."""
    DEGRADED = "degraded"
    """The vendor has it, but the schema as a whole was too large for the vendor."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A keyword that the vendor does not enforce: told to the model, checked locally.

    ``pointer`` is the JSON pointer of the schema that holds ``keyword``; ``value`` is its value as JSON,
    cut where it is long.
    """

    pointer: str
    keyword: str
    value: str
    why: Why = Why.UNSUPPORTED

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.keyword} {self.value}"


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A schema inside the vendor's subset, and the way there and back.

    ``schema`` goes on the wire and ``losses`` names what it does not enforce. ``encode`` turns an instance of
    the original into a document of ``schema`` and raises ``Unencodable`` for what is none; ``decode`` turns a
    document back, and never raises. Null and absent are the same in an optional property. ``validate`` checks
    an instance against ``original``, the caller's own schema. Where ``enforced`` is false nothing sound was
    left that the vendor could enforce: ``schema`` is the original, and belongs into the prompt.
    ``appendix`` holds the pieces of the original, by JSON pointer, that descriptions in ``schema`` name and have no
    room for: the prompt carries them.
    One object serves all callers: copy what you want to change.
    """

    schema: Mapping[str, Json] | bool
    losses: tuple[Loss, ...]
    encode: Callable[[Json], Json]
    decode: Callable[[Json], Json]
    validate: Callable[[Json], tuple[Violation, ...]]
    original: Mapping[str, Json] | bool = field(default_factory=dict[str, "Json"])
    enforced: bool = True
    appendix: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    @property
    def degraded(self) -> tuple[Loss, ...]:
        """The losses that only the vendor's size limits caused."""
        return tuple(each for each in self.losses if each.why is Why.DEGRADED)
