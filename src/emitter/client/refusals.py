"""Remember the forms of a request that servers refused or ignored, so that later emissions do not use them again.

A server refuses an output mode, or an answer that is not streamed, or it ignores the schema. This is kept for the SDK
client that was passed, or for the pool of an ``Emitter`` or of the functions, by address, wire and model.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from emitter.adapters.clients import find_base_url
from emitter.errors import InputError
from emitter.messages import FaultKind

if TYPE_CHECKING:
    from collections.abc import Hashable

    from emitter.client.routing import ModelTarget
    from emitter.client.settings import Settings
    from emitter.messages import ModelRequest, OutputMode
    from emitter.profiles import WireFormat

_MAX_SERVERS = 1024
"""The maximum number of models that are remembered for a client. The oldest is forgotten first."""


class Refusals(NamedTuple):
    """The output modes that a server refuses, whether it answers only in a stream, and whether it ignores schemas."""

    modes: frozenset[OutputMode] = frozenset()
    needs_stream: bool = False
    ignores_schema: bool = False


NO_REFUSALS = Refusals()


class _Server(NamedTuple):
    """A model of a server, as a client reaches it."""

    address: str | None
    profile: str
    wire: WireFormat
    model: str


_REMEMBERED: WeakKeyDictionary[object, dict[_Server, Refusals]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def recall_refusals(settings: Settings, target: ModelTarget) -> Refusals:
    """Return what the model's server has refused before."""
    if not _REMEMBERED:  # no server has refused anything, which is what most programs see
        return NO_REFUSALS
    with suppress(TypeError):  # a client that cannot be referenced weakly
        return _REMEMBERED.get(_owner(settings), {}).get(_server(settings, target), NO_REFUSALS)
    return NO_REFUSALS


def remember_refusal(settings: Settings, target: ModelTarget, request: ModelRequest, kind: FaultKind) -> None:
    """Remember that the model's server refused the form of a request."""
    if kind is FaultKind.STREAM_REQUIRED:
        _remember(settings, target, Refusals(needs_stream=True))
    else:
        _remember(settings, target, Refusals(modes=frozenset({request.output.mode})))


def remember_ignored_schema(settings: Settings, target: ModelTarget) -> None:
    """Remember that the model's server ignored a schema."""
    _remember(settings, target, Refusals(ignores_schema=True))


def _remember(settings: Settings, target: ModelTarget, found: Refusals) -> None:
    with _LOCK, suppress(TypeError):
        servers = _REMEMBERED.setdefault(_owner(settings), {})
        server = _server(settings, target)
        known = servers.pop(server, NO_REFUSALS)
        servers[server] = Refusals(
            known.modes | found.modes,
            known.needs_stream or found.needs_stream,
            known.ignores_schema or found.ignores_schema,
        )
        if len(servers) > _MAX_SERVERS:
            del servers[next(iter(servers))]


def _owner(settings: Settings) -> object:
    return settings.pool if settings.client is None else settings.client


def _server(settings: Settings, target: ModelTarget) -> _Server:
    address = None
    if settings.client is None:
        with suppress(InputError):  # the address is missing, which is an error only if a request is sent
            address = find_base_url(target.profile, settings.base_url)
    return _Server(address, target.profile.name, target.wire, target.model)


def find_server(settings: Settings, target: ModelTarget) -> tuple[object, Hashable]:
    """Return the client or pool for which something is remembered about a model, and the model as it reaches it."""
    return _owner(settings), _server(settings, target)
