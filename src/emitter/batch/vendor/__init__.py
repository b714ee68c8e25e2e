"""The vendors' batch interfaces: what each module of this package offers, and which is whose."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from emitter.batch.vendor import anthropic, google, openai
from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from emitter.batch.vendor.shapes import Candidate, Channel, Intent, Look, Packed, Result
    from emitter.profile import Profile, WireName
    from emitter.wire import Json


class Vendor(Protocol):
    """What every vendor's module offers. All of it raises what the SDK raises."""

    def packed(self, ident: str, body: Mapping[str, Json], wire: WireName) -> Packed:
        """Return a request as it lies in a batch, under an id."""
        ...

    async def submit(self, channel: Channel, tag: str, requests: Sequence[Packed]) -> str:
        """Make a batch that can be found by its tag, and return its id."""
        ...

    async def look(self, channel: Channel, batch: str) -> Look:
        """Return how a batch stands."""
        ...

    def results(self, channel: Channel, batch: str, ended: Look) -> AsyncGenerator[Result]:
        """Yield what the requests of an ended batch came to, in any order."""
        ...

    async def candidates(self, channel: Channel, intent: Intent) -> list[Candidate]:
        """Return the batches that may be one whose submission was never confirmed."""
        ...

    async def cancel(self, channel: Channel, batch: str) -> None:
        """Have the vendor begin no more of a batch."""
        ...


VENDORS: Mapping[str, Vendor] = MappingProxyType({"openai": openai, "anthropic": anthropic, "google": google})
"""The batch interface of each vendor that has one, by the name of its profile."""


def vendor_of(profile: Profile) -> Vendor:
    """Return the batch interface of a profile; raises ``InputError`` where it has none that is known here."""
    if profile.name not in VENDORS or profile.batches is None:
        raise InputError(
            f"{profile.title} has no batch interface that is known here.",
            hint=f"Leave batch= away, or use a model of {', '.join(VENDORS)}.",
        )
    return VENDORS[profile.name]
