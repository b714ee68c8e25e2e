"""Remember what servers refused or ignored, so that later emissions do not ask for it again.

A server refuses an output mode, an answer that is not streamed, or an output budget, or it ignores the schema. This is
kept for the SDK client that was passed, or for the pool of an ``Emitter`` or of the functions, by address, wire and
model.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from emitter.adapters.clients import find_base_url
from emitter.errors import InputError
from emitter.messages import FaultKind, ModelResponse, StatedLimits

if TYPE_CHECKING:
    from collections.abc import Hashable

    from emitter.client.routing import ModelTarget
    from emitter.client.settings import Settings
    from emitter.messages import CallResult, ModelRequest, OutputMode
    from emitter.profiles import WireFormat

_MAX_SERVERS = 1024
"""The maximum number of models that are remembered for a client. The oldest is forgotten first."""


class Refusals(NamedTuple):
    """The features that a model's server refuses or ignores, and the limits that it named.

    ``modes`` are the output modes that it refuses. ``needs_stream`` means that it answers only in a stream, and
    ``ignores_schema`` that it ignores schemas. ``limits`` are the figures that it named when it refused a budget.
    """

    modes: frozenset[OutputMode] = frozenset()
    needs_stream: bool = False
    ignores_schema: bool = False
    limits: StatedLimits | None = None

    @property
    def of_form(self) -> Refusals:
        """The part that concerns the output format and the prompt."""
        return self if self is NO_REFUSALS else self._replace(needs_stream=False, limits=None)

    def add(self, found: Refusals) -> Refusals:
        """Return these refusals with later ones. Of two figures for a limit, the later one counts."""
        later = {} if found.limits is None else _named(found.limits)
        return Refusals(
            self.modes | found.modes,
            self.needs_stream or found.needs_stream,
            self.ignores_schema or found.ignores_schema,
            replace(self.limits or StatedLimits(), **later) if later else self.limits,
        )


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


def remember_answer(settings: Settings, target: ModelTarget, request: ModelRequest, answer: CallResult) -> None:
    """Remember what an answer says about the form and the output budget that the server takes."""
    limits = None if answer.report is None else answer.report.limits
    if limits is not None:
        _remember(settings, target, Refusals(limits=replace(limits, **_OF_REQUEST)))
    if isinstance(answer, ModelResponse):
        if _REMEMBERED and answer.report is None:
            _forget_disproved_limits(settings, target, request, answer)
    elif answer.kind is FaultKind.STREAM_REQUIRED:
        _remember(settings, target, Refusals(needs_stream=True))
    elif answer.kind is FaultKind.MODE_REFUSED:
        _remember(settings, target, Refusals(modes=frozenset({request.output.mode})))


_OF_REQUEST: dict[str, None] = dict.fromkeys(("prompt", "least_prompt", "requested"))
"""The figures that are about one request, without a value."""


def _forget_disproved_limits(
    settings: Settings, target: ModelTarget, request: ModelRequest, answer: ModelResponse
) -> None:
    """Forget the limits that the request of an answer exceeded."""
    limits = recall_refusals(settings, target).limits
    if limits is None:
        return
    prompt = 0 if answer.usage is None or answer.usage.estimated else answer.usage.input
    budget = request.max_output_tokens
    reached = {"output": budget, "credit": budget, "window": prompt + budget, "rate": prompt + budget}
    reached["longest_prompt"] = prompt
    disproved = dict.fromkeys(name for name, limit in _named(limits).items() if limit < reached[name])
    if disproved:
        with _LOCK, suppress(KeyError):  # it was forgotten in the meantime
            servers, server = _REMEMBERED[_owner(settings)], _server(settings, target)
            kept = replace(limits, **disproved)
            servers[server] = servers[server]._replace(limits=kept if _named(kept) else None)


def _named(limits: StatedLimits) -> dict[str, int]:
    """Return the figures that are known, by name."""
    return {name: figure for name, figure in asdict(limits).items() if figure is not None}


def remember_ignored_schema(settings: Settings, target: ModelTarget) -> None:
    """Remember that the model's server ignored a schema."""
    _remember(settings, target, Refusals(ignores_schema=True))


def _remember(settings: Settings, target: ModelTarget, found: Refusals) -> None:
    with _LOCK, suppress(TypeError):
        servers = _REMEMBERED.setdefault(_owner(settings), {})
        server = _server(settings, target)
        servers[server] = servers.pop(server, NO_REFUSALS).add(found)
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
