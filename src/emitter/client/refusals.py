"""Remember the forms of a request that servers refused, so that later emissions do not use them again.

A server refuses an output mode, or an answer that is not streamed. What it refused is kept for the SDK client that was
passed, or for the pool of an ``Emitter`` or of the functions, by address, wire and model.
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
    from emitter.client.routing import ModelTarget
    from emitter.client.settings import Settings
    from emitter.messages import ModelRequest, OutputMode
    from emitter.profiles import WireFormat

_MAX_SERVERS = 1024
"""The maximum number of models that are remembered for a client. The oldest is forgotten first."""


class Refusals(NamedTuple):
    """The output modes that a server refuses, and whether it answers only in a stream."""

    modes: frozenset[OutputMode] = frozenset()
    needs_stream: bool = False


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
    with _LOCK, suppress(TypeError):
        servers = _REMEMBERED.setdefault(_owner(settings), {})
        server = _server(settings, target)
        known = servers.pop(server, NO_REFUSALS)
        if kind is FaultKind.STREAM_REQUIRED:
            known = known._replace(needs_stream=True)
        else:
            known = known._replace(modes=known.modes | {request.output.mode})
        servers[server] = known
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
