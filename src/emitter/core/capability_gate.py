"""Check a model's capabilities before a request is sent (OpenWOP RFC 0031).

A model that lacks a required capability is replaced by the declared fallback at most once, or refused. Nothing is sent
and no attempt is used. A capability counts as provided only if emitter's profile of the model says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from emitter.events import ModelCapabilityInsufficient, ModelCapabilitySubstituted, NodeFailed
from emitter.messages import Medium, OutputMode
from emitter.profiles.tables import Capability

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from emitter.events import Event
    from emitter.profiles import Profile, WireFormat

LONG_CONTEXT = 200_000
"""The smallest context window, in tokens, that counts as long."""
CAPABILITY_NOT_PROVIDED = "capability_not_provided"
"""The terminal code of a refusal."""
_DISCRIMINATOR_KEYWORDS = frozenset({"anyOf", "enum"})


@dataclass(frozen=True, slots=True)
class CandidateModel:
    """A model that may be used. ``provider`` and ``model`` are its ids in events."""

    provider: str
    model: str
    provides: frozenset[str]
    authenticated: bool = True

    def missing(self, required: Collection[str]) -> tuple[str, ...]:
        """Return the required capabilities that the model lacks, sorted."""
        return tuple(sorted(set(required) - self.provides))


class RefusalCause(str, Enum):
    """The reason why no model can be used."""

    NO_FALLBACK = "no fallback"
    """No fallback is declared, or the host does not substitute models."""
    UNAUTHENTICATED = "unauthenticated"
    """There are no credentials for the fallback."""
    LACKING = "lacking"
    """The fallback lacks a required capability too."""


@dataclass(frozen=True, slots=True)
class UseNamedModel:
    """Use the named model."""


@dataclass(frozen=True, slots=True)
class UseFallbackModel:
    """Use the fallback, and report this before anything else."""

    event: ModelCapabilitySubstituted


@dataclass(frozen=True, slots=True)
class NoCapableModel:
    """Use no model."""

    event: ModelCapabilityInsufficient
    cause: RefusalCause

    def __str__(self) -> str:
        """Return the message. It does not reveal whether the host has credentials for the fallback."""
        event = self.event
        lacking = f"{event.provider}/{event.model} does not provide {', '.join(event.missing_capabilities)}"
        return f"{lacking}{_FALLBACK_TEXT[event.fallback_attempted]}."

    @property
    def events(self) -> tuple[Event, ...]:
        """The events to record, in order."""
        details = {"missingCapabilities": list(self.event.missing_capabilities)}
        return self.event, NodeFailed(CAPABILITY_NOT_PROVIDED, str(self), details=details)


GateDecision: TypeAlias = UseNamedModel | UseFallbackModel | NoCapableModel
USE_NAMED_MODEL = UseNamedModel()
_FALLBACK_TEXT = {
    False: ", and there is no fallback model",
    True: ", and the fallback model cannot be used",
}


def choose_model(
    required: Collection[str],
    named: CandidateModel,
    fallback: CandidateModel | None = None,
    *,
    substitution: bool = True,
) -> GateDecision:
    """Choose the model to use. Without ``substitution`` the fallback is ignored."""
    missing = named.missing(required)
    if not missing:
        return USE_NAMED_MODEL
    if fallback is None or not substitution:
        return _make_refusal(named, missing, RefusalCause.NO_FALLBACK)
    if not fallback.authenticated:
        return _make_refusal(named, missing, RefusalCause.UNAUTHENTICATED)
    if fallback.missing(required):
        return _make_refusal(named, missing, RefusalCause.LACKING)
    return UseFallbackModel(
        ModelCapabilitySubstituted(
            original_provider=named.provider,
            original_model=named.model,
            fallback_provider=fallback.provider,
            fallback_model=fallback.model,
            missing_capabilities=missing,
        )
    )


def _make_refusal(candidate: CandidateModel, missing: tuple[str, ...], cause: RefusalCause) -> NoCapableModel:
    attempted = cause is not RefusalCause.NO_FALLBACK
    return NoCapableModel(ModelCapabilityInsufficient(candidate.provider, candidate.model, missing, attempted), cause)


def model_capabilities(profile: Profile, wire: WireFormat, model: str) -> frozenset[str]:
    """Return the capabilities of ``model`` over ``wire``."""
    derived = frozenset(
        capability.value for capability, holds in _DERIVED_CAPABILITIES.items() if holds(profile, wire, model)
    )
    capabilities = profile.stated_capabilities(model) | derived
    return capabilities if _allows_reasoning(profile, wire, model) else capabilities - {Capability.REASONING.value}


def provider_capabilities(profile: Profile) -> frozenset[str]:
    """Return the capabilities that some model of a vendor has over some wire."""
    limits, thinkers, stated = profile.models, profile.thinkers, profile.capabilities
    patterns = {*(row.match for row in limits), *(row.match for row in thinkers), *(row.match for row in stated)}
    models = [_example_name(name) for name in patterns]
    return frozenset[str]().union(
        *(model_capabilities(profile, wire, name) for wire in profile.wires for name in models)
    )


def advertised_capabilities(profiles: Iterable[Profile]) -> tuple[str, ...]:
    """Return the capabilities of all vendors, sorted, for ``modelCapabilities.advertised``.

    RFC 0031 lets a host advertise only capabilities that its nodes require: remove the others.
    """
    return tuple(sorted(frozenset[str]().union(*map(provider_capabilities, profiles))))


def _example_name(pattern: str) -> str:
    """Return a name that matches a shell pattern."""
    return re.sub(r"\[(.).*?\]", r"\1", pattern).replace("*", "-")


def _enforces_schema(profile: Profile, wire: WireFormat, model: str) -> bool:
    """Return whether the vendor enforces the schema in the mode that the library uses."""
    match profile.preferred_output_mode(wire, model):
        case OutputMode.JSON_SCHEMA:
            return profile.subset.enforced and profile.enforces_schema(wire, model)
        case OutputMode.TOOL:
            return profile.subset.enforced and profile.sends_strict(wire, model)
        case OutputMode.JSON_OBJECT | OutputMode.TEXT:
            return False


def _enforces_discriminators(profile: Profile, wire: WireFormat, model: str) -> bool:
    return _enforces_schema(profile, wire, model) and profile.subset.keywords >= _DISCRIMINATOR_KEYWORDS


def _has_long_context(profile: Profile, wire: WireFormat, model: str) -> bool:  # noqa: ARG001  the functions of the table share a signature
    """Return whether the context window is long. An assumed window of an unknown model does not count."""
    limits = profile.model_limits(model)
    is_assumed = not limits.known or (limits.elastic and limits.match == "*")
    return limits.longest_prompt >= LONG_CONTEXT and not is_assumed


def _has_reasoning(profile: Profile, wire: WireFormat, model: str) -> bool:  # noqa: ARG001  as above
    return profile.thinks_by_default(model)


def _can_force_function(profile: Profile, wire: WireFormat, model: str) -> bool:
    """Return whether a function call can be forced, on a wire that is known to honour the request."""
    return OutputMode.TOOL in profile.output_modes(wire, model) and profile.enforces_schema(wire, model)


def _allows_reasoning(profile: Profile, wire: WireFormat, model: str) -> bool:
    """Return whether the model can think in the mode that the library uses."""
    thinking = profile.wires[wire].thinking
    return (
        thinking is None
        or thinking.beside_forced_tool
        or profile.preferred_output_mode(wire, model) is not OutputMode.TOOL
    )


def _takes_images(profile: Profile, wire: WireFormat, model: str) -> bool:
    return profile.is_known_to_take(wire, model, Medium.IMAGE)


def _takes_audio(profile: Profile, wire: WireFormat, model: str) -> bool:
    return profile.is_known_to_take(wire, model, Medium.AUDIO)


def _takes_documents(profile: Profile, wire: WireFormat, model: str) -> bool:
    return profile.is_known_to_take(wire, model, Medium.DOCUMENT)


_DERIVED_CAPABILITIES: Mapping[Capability, Callable[[Profile, WireFormat, str], bool]] = MappingProxyType(
    {
        Capability.STRUCTURED_OUTPUT: _enforces_schema,
        Capability.DISCRIMINATOR_ENUM: _enforces_discriminators,
        Capability.LONG_CONTEXT: _has_long_context,
        Capability.REASONING: _has_reasoning,
        Capability.FUNCTION_CALLING: _can_force_function,
        Capability.VISION_INPUT: _takes_images,
        Capability.AUDIO_INPUT: _takes_audio,
        Capability.DOCUMENT_INPUT: _takes_documents,
    }
)
"""Capabilities derived from other facts of the profile. Image and audio output are absent: no adapter supports them."""
