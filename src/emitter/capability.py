"""The gate before dispatch: whether a model provides what a node requires of it (RFC 0031).

Rule: check, then substitute at most once, then tell, and only then dispatch or refuse. A fallback that lacks
something is refused like the model itself: there is no fallback of a fallback. Nothing is sent, and no attempt is
used up.

What a model provides is what this library can make use of through its adapters, so it follows from the facts that
requests are built from. What no fact says is not provided.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from emitter.events import ModelCapabilityInsufficient, ModelCapabilitySubstituted, NodeFailed
from emitter.profile.capabilities import Capability
from emitter.wire import OutputMode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from emitter.events import Event
    from emitter.profile import Profile, WireName

LONG_CONTEXT = 200_000
"""Tokens of a window from which on it is a long one."""
NOT_PROVIDED = "capability_not_provided"
"""The terminal code of a refusal."""

_TAGGED = frozenset({"anyOf", "enum"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may be asked: its ids in events, what it provides, and whether there are credentials for it."""

    provider: str
    model: str
    provides: frozenset[str]
    authenticated: bool = True

    def lacks(self, required: Collection[str]) -> tuple[str, ...]:
        """Return what of ``required`` it does not provide, in alphabetical order."""
        return tuple(sorted(set(required) - self.provides))


class Why(str, Enum):
    """Why there is no way out of what a model lacks."""

    NO_FALLBACK = "no fallback"
    """None is declared, or the host substitutes none."""
    UNAUTHENTICATED = "unauthenticated"
    """There are no credentials for the fallback."""
    LACKING = "lacking"
    """The fallback does not provide all of it either."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Ask the model that was named."""


@dataclass(frozen=True, slots=True)
class Substituted:
    """Ask the fallback, and tell so before anything else."""

    event: ModelCapabilitySubstituted


@dataclass(frozen=True, slots=True)
class Insufficient:
    """Ask nobody."""

    event: ModelCapabilityInsufficient
    why: Why

    def __str__(self) -> str:
        """Say it in words; whether the host holds credentials for the fallback is not told."""
        told = self.event
        lacking = f"{told.provider}/{told.model} does not provide {', '.join(told.missing_capabilities)}"
        return f"{lacking}{_AND[told.fallback_attempted]}."

    @property
    def events(self) -> tuple[Event, ...]:
        """What is told, in order: the cause before its effect."""
        details = {"missingCapabilities": list(self.event.missing_capabilities)}
        return self.event, NodeFailed(NOT_PROVIDED, str(self), details=details)


Gate: TypeAlias = Dispatch | Substituted | Insufficient

DISPATCH = Dispatch()

_AND = {False: ", and no fallback model may be asked instead", True: ", and the declared fallback model is no way out"}


def gate(
    required: Collection[str], named: Candidate, fallback: Candidate | None = None, *, substitution: bool = True
) -> Gate:
    """Return who is asked. Without ``substitution`` a declared fallback is not looked at."""
    missing = named.lacks(required)
    if not missing:
        return DISPATCH
    if fallback is None or not substitution:
        return _refused(named, missing, Why.NO_FALLBACK)
    if not fallback.authenticated:
        return _refused(named, missing, Why.UNAUTHENTICATED)
    if fallback.lacks(required):
        return _refused(named, missing, Why.LACKING)
    return Substituted(
        ModelCapabilitySubstituted(
            original_provider=named.provider,
            original_model=named.model,
            fallback_provider=fallback.provider,
            fallback_model=fallback.model,
            missing_capabilities=missing,
        )
    )


def _refused(named: Candidate, missing: tuple[str, ...], why: Why) -> Insufficient:
    attempted = why is not Why.NO_FALLBACK
    return Insufficient(ModelCapabilityInsufficient(named.provider, named.model, missing, attempted), why)


def provided(profile: Profile, wire: WireName, model: str) -> frozenset[str]:
    """Return what ``model`` provides over ``wire``."""
    follows = frozenset(each.value for each, holds in _FOLLOWS.items() if holds(profile, wire, model))
    found = profile.stated(model) | follows
    return found if _may_think(profile, wire, model) else found - {Capability.REASONING.value}


def offered(profile: Profile) -> frozenset[str]:
    """Return what some model of a vendor provides, over some wire."""
    limits, thinkers, stated = profile.models, profile.thinkers, profile.capabilities
    patterns = {*(row.match for row in limits), *(row.match for row in thinkers), *(row.match for row in stated)}
    models = [_sample(each) for each in patterns]
    return frozenset[str]().union(*(provided(profile, wire, each) for wire in profile.wires for each in models))


def advertised(profiles: Iterable[Profile]) -> tuple[str, ...]:
    """Return what the vendors offer together, in alphabetical order: ``modelCapabilities.advertised``.

    RFC 0031 has a host advertise no more than its nodes require: leave out what none of yours does.
    """
    return tuple(sorted(frozenset[str]().union(*map(offered, profiles))))


def _sample(pattern: str) -> str:
    """Return a name that a shell pattern matches."""
    return re.sub(r"\[(.).*?\]", r"\1", pattern).replace("*", "-")


def _held(profile: Profile, wire: WireName, model: str) -> bool:
    """Tell whether the way in which the library asks for a document holds the model to its schema."""
    match profile.mode(wire, model):
        case OutputMode.JSON_SCHEMA:
            return profile.subset.enforced and profile.holds(wire, model)
        case OutputMode.TOOL:
            return profile.subset.enforced and profile.strict(wire, model)
        case OutputMode.JSON_OBJECT | OutputMode.TEXT:
            return False


def _tagged(profile: Profile, wire: WireName, model: str) -> bool:
    return _held(profile, wire, model) and profile.subset.keywords >= _TAGGED


def _long(profile: Profile, wire: WireName, model: str) -> bool:  # noqa: ARG001  all of the table are asked alike
    """Tell whether the window is a long one; the one that is assumed of strangers is no fact."""
    limits = profile.limits(model)
    return limits.context >= LONG_CONTEXT and not (limits.elastic and limits.match == "*")


def _thinks(profile: Profile, wire: WireName, model: str) -> bool:  # noqa: ARG001  as above
    return profile.thinks(model)


def _calls(profile: Profile, wire: WireName, model: str) -> bool:
    """Tell whether a function can be forced, on a wire that is known to heed what it is sent."""
    return OutputMode.TOOL in profile.modes(wire, model) and profile.holds(wire, model)


def _may_think(profile: Profile, wire: WireName, model: str) -> bool:
    """Tell whether nothing in the way in which a document is asked for keeps the model from thinking."""
    thinking = profile.wires[wire].thinking
    return thinking is None or thinking.beside_forced_tool or profile.mode(wire, model) is not OutputMode.TOOL


_FOLLOWS: Mapping[Capability, Callable[[Profile, WireName, str], bool]] = MappingProxyType(
    {
        Capability.STRUCTURED_OUTPUT: _held,
        Capability.DISCRIMINATOR_ENUM: _tagged,
        Capability.LONG_CONTEXT: _long,
        Capability.REASONING: _thinks,
        Capability.FUNCTION_CALLING: _calls,
    }
)
"""What follows from facts that stand elsewhere. Images and sound are in none of them: no adapter carries any."""
