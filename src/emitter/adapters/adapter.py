"""The four functions of a wire, and which module has them for which wire."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from emitter.adapters import anthropic_messages, google_generate_content, openai_chat, openai_responses
from emitter.profile.model import WireName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.adapters.answer import Assembled, Tables
    from emitter.adapters.body import Owned
    from emitter.profile.model import Wire
    from emitter.wire import Answer, Json, OutputMode, Request


class Adapter(Protocol):
    """What every wire's module offers."""

    OWNED: Mapping[str, Owned]
    """What options may not set in a request, and what to use instead."""

    def encode(self, request: Request, wire: Wire) -> dict[str, Json]:
        """Return the request body."""
        ...

    def decode(self, body: Mapping[str, Json], tables: Tables) -> Answer:
        """Return what a response body says."""
        ...

    def assemble(self, events: Sequence[Json]) -> Assembled:
        """Return the body that the events of a stream amount to."""
        ...

    def call(self, client: object, body: Mapping[str, Json], timeout: float) -> object:
        """Send through the client; return its response, or an awaitable of it from an async client."""
        ...

    def streamed(self, body: Mapping[str, Json], wire: Wire) -> dict[str, Json]:
        """Return the body of a request for a stream."""
        ...

    def stream(self, client: object, body: Mapping[str, Json], timeout: float) -> object:
        """Send for a stream; return the ``httpx2`` response unread, or an awaitable of it."""
        ...

    def written(self, event: Mapping[str, Json], mode: OutputMode, memory: dict[str, Json]) -> str:
        """Return what an event adds to the document: to a called tool's arguments, or to the text, as the mode says.

        ``memory`` is the adapter's own, one for a stream.
        """
        ...


ADAPTERS: Mapping[WireName, Adapter] = MappingProxyType(
    {
        WireName.OPENAI_RESPONSES: openai_responses,
        WireName.OPENAI_CHAT: openai_chat,
        WireName.ANTHROPIC: anthropic_messages,
        WireName.GOOGLE: google_generate_content,
    }
)
"""The adapter of each wire; total over ``WireName``."""
