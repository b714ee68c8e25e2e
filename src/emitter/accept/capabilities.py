"""The capability document: what a host says of itself, built from what it is really set to do.

Source: capabilities.schema.json of OpenWOP v1; RFC 0026, 0030, 0031, 0032, 0033, 0055 and 0094. What is not set is
left out rather than claimed. Two things a host may have no member says: that it can ask somebody (readers infer it
from ``supportedEnvelopes``, where the universal four must stand either way), and that it strikes out secrets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from emitter import profile
from emitter.accept.case import Rules
from emitter.accept.catalogue import Posture
from emitter.accept.catalogue.rules import Sourced
from emitter.adapters.client import reachable
from emitter.errors import InputError, MissingExtra, MissingKey
from emitter.policy import DEFAULT_POLICY, Policy
from emitter.profile.capabilities import is_id
from emitter.schema import Mode, lint_tier1

if TYPE_CHECKING:
    from emitter.accept.catalogue import Catalogue
    from emitter.profile import Profile
    from emitter.wire import Json

PROTOCOL_VERSION = "1.1"
"""The protocol that is spoken: ai-envelope.md is "Stable, v1.1.1", and the schema writes major and minor."""

_PACKAGE = "emitter"
_SCOPES = ("tenant", "user", "run", "workspace")


class Directive(str, Enum):
    """How firmly prompts ask for ``reasoning`` (RFC 0030): a matter of words, never of what is accepted."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Implementation:
    """Who answers: the program's name, its version, and who makes it."""

    name: str
    version: str | None = None
    vendor: str | None = None


@dataclass(frozen=True, slots=True)
class Configured:
    """What a host is set to do.

    ``rules``: what it takes. ``contracts``: its nodes declare which kinds they may emit. ``posture``: what became
    of its own kinds whose schemas leave the portable subset. ``policy``: what its emissions may spend, None for a
    host that accepts envelopes and emits none; ``reasoning``: how firmly its prompts ask for it. The library's own
    do so firmly: to write it first is an instruction, with no leave to omit it, and the form that the model fills
    requires it. Say what prompts of your own do.
    ``providers``: the vendors that can be reached, see ``usable_providers``. ``model_capabilities``: those that
    nodes' requirements are held against before dispatch, None where none are; ``substitution``: a declared
    fallback model is then asked. ``secret_scopes``: where credentials are found by reference; secrets that are
    only struck out are not found, and say nothing here.
    """

    rules: Rules = field(default_factory=Rules)
    contracts: bool = False
    posture: Posture = Posture.OFF
    policy: Policy | None = DEFAULT_POLICY
    reasoning: Directive = Directive.MANDATORY
    providers: tuple[str, ...] = ()
    model_capabilities: tuple[str, ...] | None = None
    substitution: bool = False
    secret_scopes: tuple[str, ...] = ()
    implementation: Implementation | None = None


def capabilities(configured: Configured) -> dict[str, Json]:
    """Return the capability document.

    Raises ``InputError`` for what no document may say: capabilities or scopes whose names are none.
    """
    document: dict[str, Json] = {
        "protocolVersion": PROTOCOL_VERSION,
        "implementation": _implementation(configured.implementation or _ours()),
        **_taken(configured.rules),
        "envelopeContracts": {"advertised": True} if configured.contracts else None,
        "envelopes": _envelopes(configured),
        "aiEnvelope": {"schemaResponseCounterPolicy": "counted"} if configured.rules.envelopes else None,
        "modelCapabilities": _model_capabilities(configured),
        # no costEstimates: provider.usage tells tokens, and no price
        "providerUsage": {"supported": True} if configured.policy is not None else None,
        "aiProviders": _providers(configured),
        "secrets": _secrets(configured.secret_scopes),
    }
    return {name: value for name, value in document.items() if value is not None}


def usable_providers() -> tuple[str, ...]:
    """Return the vendors that could be called now, as events name them: SDK, key and address are at hand.

    A host that brings clients of its own names its vendors itself.
    """
    profiles = [profile.load(name) for name in profile.names()]
    return tuple(dict.fromkeys(each.provider for each in profiles if _is_usable(each)))


def told_of(policy: Policy) -> tuple[str, ...]:
    """Return the reliability events that emissions under ``policy`` tell where there is something to tell."""
    return (
        *(("envelope.retry.attempted",) if policy.max_attempts > 1 else ()),
        "envelope.retry.exhausted",
        "envelope.refusal",
        "envelope.truncated",
        *(("envelope.nlToFormat.engaged",) if policy.nl_to_format else ()),
        "envelope.recovery.applied",
    )


def _is_usable(facts: Profile) -> bool:
    try:
        reachable(facts)
    except (MissingKey, MissingExtra):
        return False
    return True


def _ours() -> Implementation:
    try:
        return Implementation(_PACKAGE, version(_PACKAGE))
    except PackageNotFoundError:
        return Implementation(_PACKAGE)


def _implementation(given: Implementation) -> Json:
    said = {"name": given.name, "version": given.version, "vendor": given.vendor}
    return {name: text for name, text in said.items() if text is not None}


def _taken(rules: Rules) -> dict[str, Json]:
    """Return what a host takes; one without ``host.aiEnvelope`` takes nothing, the universal four included."""
    catalogue = rules.catalogue
    return {
        "supportedEnvelopes": list(catalogue.ids) if rules.envelopes else [],
        "schemaVersions": dict(catalogue.versions) if rules.envelopes else {},
        "limits": {
            "clarificationRounds": rules.limits.clarification_rounds,
            "schemaRounds": rules.limits.schema_rounds,
            "envelopesPerTurn": rules.limits.envelopes_per_turn,
        },
        "envelopeStrictness": rules.strictness.value,
    }


def _envelopes(configured: Configured) -> Json:
    posture: dict[str, Json] = {"tierOneSubsetCompliance": _compliance(configured).value}
    if configured.policy is None:
        return posture
    reasoning: Json = {"supported": True, "promptDirective": configured.reasoning.value}
    calls = min(configured.policy.max_attempts, configured.rules.limits.schema_rounds + 1)
    bounded = replace(configured.policy, max_attempts=calls)
    return {"reasoning": reasoning, **posture, "reliability": _reliability(bounded)}


def _compliance(configured: Configured) -> Posture:
    """Return the posture that holds of every schema that is served; the universal four's leave the subset."""
    if configured.posture is not Posture.STRICT:
        return configured.posture
    served = configured.rules.catalogue.values() if configured.rules.envelopes else ()
    outside = any(lint_tier1(dict(each.schema), Mode.STRICT) for each in served)
    return Posture.WARN if outside else Posture.STRICT


def _reliability(policy: Policy) -> Json:
    completion: Json = {"distinguishesTruncation": True, "truncationBudgetMultiplier": policy.truncation_multiplier}
    return {
        "supported": True,
        "events": list(told_of(policy)),
        "maxRetryAttempts": policy.max_attempts,
        "completion": completion,
    }


def _model_capabilities(configured: Configured) -> Json:
    advertised = configured.model_capabilities
    if advertised is None:
        if configured.substitution:
            raise InputError("substitution is set, and no model_capabilities.", hint="A model is replaced for these.")
        return None
    odd = [each for each in advertised if not is_id(each)]
    if odd:
        raise InputError(f"{odd[0]!r} is no capability.", hint="Write small letters, digits and hyphens.")
    named = list(dict.fromkeys(advertised))
    return {"supported": True, "advertised": named, "substitutionSupported": configured.substitution}


def _providers(configured: Configured) -> Json:
    found: dict[str, Json] = {}
    if configured.providers:
        found["supported"] = list(dict.fromkeys(configured.providers))
    inline = _inline_bytes(configured.rules.catalogue) if configured.rules.envelopes else None
    if inline is not None:
        found["maxInlineMediaBytes"] = inline
    return found or None


def _inline_bytes(catalogue: Catalogue) -> int | None:
    """Return the cap on inline media that the kinds themselves hold to, None where there are no such kinds."""
    rules = (rule for kind in catalogue.values() for rule in kind.rules)
    return min((each.max_inline_bytes for each in rules if isinstance(each, Sourced)), default=None)


def _secrets(scopes: tuple[str, ...]) -> Json:
    odd = [each for each in scopes if each not in _SCOPES]
    if odd:
        raise InputError(f"{odd[0]!r} is no scope of secrets.", hint=f"There are {', '.join(_SCOPES)}.")
    if not scopes:
        return {"supported": False}
    return {"supported": True, "scopes": list(dict.fromkeys(scopes)), "resolution": "host-managed"}
