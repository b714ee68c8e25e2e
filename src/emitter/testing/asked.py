"""What a request asks for, the same on every wire."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.profile.model import WireName
    from emitter.wire import Json


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One request that arrived.

    ``schema`` is what the answer must hold to, None where nothing is asked; ``tool`` the function that must be
    called with it. ``budget`` is the output budget in tokens, None where the request names none. ``usage`` tells
    whether a stream is to end with its usage, ``azure`` whether the path is Azure's. ``before`` counts how often
    the same body came before; ``lot`` seeds what is left to chance.
    """

    wire: WireName
    path: str
    model: str
    body: Mapping[str, Json]
    streamed: bool
    schema: Json
    tool: str | None
    budget: int | None
    input_tokens: int
    usage: bool = True
    azure: bool = False
    before: int = 0
    lot: str = ""

    def luck(self) -> Random:
        """Return a source of chance: the same for the same seed, body and repetition."""
        return Random(self.lot)  # noqa: S311  nothing secret is drawn
