"""Which model is asked, before anything is planned: the named one, its declared fallback, or none (RFC 0031)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from emitter.adapters.client import make
from emitter.capability import DISPATCH, NOT_PROVIDED, Candidate, Gate, Insufficient, Substituted, Why, gate, provided
from emitter.door.reached import reached
from emitter.door.result import Trace
from emitter.errors import CapabilityNotProvided, MissingKey
from emitter.events import Level, LogAppended
from emitter.profile import of_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.door.reached import Reached
    from emitter.events import Event
    from emitter.sinks import Recorder
    from emitter.wire import Json

_OPTIONS = "options= are of another wire than the fallback model's, so they are left out"
_HINTS = {
    Why.UNAUTHENTICATED: "Set the key of the fallback model's vendor, or name another fallback_model.",
    Why.LACKING: "Name a fallback_model that provides all that is required.",
}


@dataclass(frozen=True, slots=True)
class Way:
    """How a model is reached: ``vendor/model``, and the settings that are that vendor's own."""

    model: str
    client: object = None
    base_url: str | None = None
    wire: str | None = None
    options: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    @property
    def vendor(self) -> str:
        """The profile of the vendor that the caller named."""
        return of_model(self.model)[0].name

    def reached(self) -> Reached:
        """Return whom it reaches; raises ``UnknownModel``, and ``InputError`` for no wire of the vendor's."""
        return reached(self.model, self.client, self.wire)


@dataclass(frozen=True, slots=True)
class Dispatched:
    """Who is asked and in which ``way``, and the events that come before all others."""

    way: Way
    gate: Gate = DISPATCH
    opening: tuple[Event, ...] = ()


def dispatched(
    named: Way, required: tuple[str, ...], fallback_model: str | None, provider_ids: Mapping[str, str]
) -> Dispatched:
    """Return who is asked; nothing is sent. Events call vendors by ``provider_ids``, where that names them."""
    asked = candidate(named, provider_ids)
    if fallback_model is None or not asked.lacks(required):
        return _settled(named, named, gate(required, asked))
    other = _way_to(fallback_model, named)
    fallback = replace(candidate(other, provider_ids), authenticated=_is_authenticated(other))
    return _settled(named, other, gate(required, asked, fallback))


def candidate(way: Way, provider_ids: Mapping[str, str]) -> Candidate:
    """Return the model that a way leads to, with what it provides."""
    to = way.reached()
    told = provider_ids.get(to.profile.provider, to.profile.provider)
    return Candidate(told, to.model, provided(*to))


def refuse(refused: Insufficient, tell: Recorder) -> NoReturn:
    """Tell that nobody is asked, and raise ``CapabilityNotProvided``."""
    for each in refused.events:
        tell(each)
    trace = Trace((), tuple(tell.told))
    raise CapabilityNotProvided(str(refused), code=NOT_PROVIDED, trace=trace, hint=_HINTS.get(refused.why))


def _settled(named: Way, other: Way, decided: Gate) -> Dispatched:
    if not isinstance(decided, Substituted):
        return Dispatched(named, decided)
    left = (LogAppended(Level.WARN, _OPTIONS),) if named.options and not other.options else ()
    return Dispatched(other, decided, (decided.event, *left))


def _way_to(model: str, named: Way) -> Way:
    """Return the way to the fallback.

    The caller's client, address and wire lead to one vendor, and what a request body holds is the wire's own:
    none of it is handed to another, who would get a key or words that are not meant for it.
    """
    other = replace(named, model=model)
    if other.vendor == named.vendor:
        return other
    away = Way(model)
    return replace(away, options=named.options) if away.reached().wire is named.reached().wire else away


def _is_authenticated(way: Way) -> bool:
    """Tell whether the vendor can be reached: through the caller's client, or with a key of the environment."""
    if way.client is not None:
        return True
    try:
        made = make(way.reached().profile, asynchronous=False, base_url=way.base_url)
    except MissingKey:
        return False
    cast("Any", made).close()
    return True
