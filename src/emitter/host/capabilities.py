"""Build the capability document that a host advertises, from its actual settings. Disabled features are left out.

Source: capabilities.schema.json of OpenWOP v1; RFC 0026, 0030, 0031, 0032, 0033, 0055 and 0094.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from emitter import profiles as profile
from emitter.adapters.clients import check_client_config
from emitter.errors import InputError
from emitter.host.config import HostConfig
from emitter.host.kinds import MediaSourceRule
from emitter.host.registry import Posture
from emitter.policy import DEFAULT_POLICY, Policy
from emitter.profiles.tables import is_capability_id
from emitter.schema import Tier1Mode, lint_tier1
from emitter.version import __version__

if TYPE_CHECKING:
    from emitter.host.kinds import KindRegistry
    from emitter.messages import Json
    from emitter.profiles import Profile

PROTOCOL_VERSION = "1.1"
"""The protocol version: ai-envelope.md is "Stable, v1.1.1", and the schema has major and minor only."""
_PACKAGE = "emitter"
_SECRET_SCOPES = ("tenant", "user", "run", "workspace")


class ReasoningDirective(str, Enum):
    """The emphasis with which prompts ask for ``reasoning`` (RFC 0030). It never affects acceptance."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Implementation:
    """The program's name, version and vendor."""

    name: str
    version: str | None = None
    vendor: str | None = None


@dataclass(frozen=True, slots=True)
class CapabilitySettings:
    """The settings of a host.

    Attributes:
        config: The kinds, limits and strictness of the host.
        has_contracts: Whether nodes declare which kinds they may emit.
        posture: The treatment of the host's own kinds outside the portable subset.
        policy: The policy of its emissions, or None for a host that emits nothing.
        reasoning: The emphasis on ``reasoning`` in its prompts. The library's own prompts make it mandatory: they
            ask for it first, and the form requires it.
        providers: The available vendors; see ``list_usable_providers``.
        model_capabilities: The capabilities that are checked before a call, or None if none are.
        substitution: Whether a declared fallback model is used if a capability is missing.
        secret_scopes: The scopes of credentials that are resolved by reference. Secrets that are only redacted do
            not count.
        implementation: The program; the default is this package.
    """

    config: HostConfig = field(default_factory=HostConfig)
    has_contracts: bool = False
    posture: Posture = Posture.OFF
    policy: Policy | None = DEFAULT_POLICY
    reasoning: ReasoningDirective = ReasoningDirective.MANDATORY
    providers: tuple[str, ...] = ()
    model_capabilities: tuple[str, ...] | None = None
    substitution: bool = False
    secret_scopes: tuple[str, ...] = ()
    implementation: Implementation | None = None


def build_capabilities(settings: CapabilitySettings) -> dict[str, Json]:
    """Return the capability document.

    Raises:
        InputError: A capability or a scope is invalid.
    """
    document: dict[str, Json] = {
        "protocolVersion": PROTOCOL_VERSION,
        "implementation": _build_implementation(settings.implementation),
        **_build_envelope_support(settings.config),
        "envelopeContracts": {"advertised": True} if settings.has_contracts else None,
        "envelopes": _build_envelope_features(settings),
        "aiEnvelope": {"schemaResponseCounterPolicy": "counted"} if settings.config.accepts_envelopes else None,
        "modelCapabilities": _build_model_capabilities(settings),
        # No costEstimates: provider.usage has tokens and no price.
        "providerUsage": {"supported": True} if settings.policy is not None else None,
        "aiProviders": _build_providers(settings),
        "secrets": _build_secrets(settings.secret_scopes),
    }
    return {name: value for name, value in document.items() if value is not None}


def list_usable_providers() -> tuple[str, ...]:
    """Return the vendors whose SDK, key and address are available. Add the vendors of your own clients yourself."""
    profiles = [profile.load_profile(name) for name in profile.profile_names()]
    return tuple(dict.fromkeys(entry.provider for entry in profiles if _is_usable(entry)))


def list_reliability_events(policy: Policy) -> tuple[str, ...]:
    """Return the reliability events that emissions under ``policy`` can record."""
    return (
        *(("envelope.retry.attempted",) if policy.max_attempts > 1 else ()),
        "envelope.retry.exhausted",
        "envelope.refusal",
        "envelope.truncated",
        *(("envelope.nlToFormat.engaged",) if policy.nl_to_format else ()),
        "envelope.recovery.applied",
    )


def _is_usable(provider_profile: Profile) -> bool:
    try:
        check_client_config(provider_profile)
    except InputError:
        return False
    return True


def _build_implementation(implementation: Implementation | None) -> Json:
    if implementation is None:
        implementation = Implementation(_PACKAGE, __version__)
    return {name: value for name, value in asdict(implementation).items() if value is not None}


def _build_envelope_support(config: HostConfig) -> dict[str, Json]:
    """Return the kinds and limits. A host without ``host.aiEnvelope`` accepts no kinds at all."""
    return {
        "supportedEnvelopes": list(config.registry.ids) if config.accepts_envelopes else [],
        "schemaVersions": dict(config.registry.versions) if config.accepts_envelopes else {},
        "limits": {
            "clarificationRounds": config.limits.clarification_rounds,
            "schemaRounds": config.limits.schema_rounds,
            "envelopesPerTurn": config.limits.envelopes_per_turn,
        },
        "envelopeStrictness": config.strictness.value,
    }


def _build_envelope_features(settings: CapabilitySettings) -> Json:
    compliance, policy = _get_compliance(settings).value, settings.policy
    if policy is None:
        return {"tierOneSubsetCompliance": compliance}
    calls = min(policy.max_attempts, settings.config.limits.schema_rounds + 1)
    return {
        "reasoning": {"supported": True, "promptDirective": settings.reasoning.value},
        "tierOneSubsetCompliance": compliance,
        "reliability": {
            "supported": True,
            "events": list(list_reliability_events(replace(policy, max_attempts=calls))),
            "maxRetryAttempts": calls,
            "completion": {
                "distinguishesTruncation": True,
                "truncationBudgetMultiplier": policy.truncation_multiplier,
            },
        },
    }


def _get_compliance(settings: CapabilitySettings) -> Posture:
    """Return the posture that every schema meets. Those of the universal four are outside the subset."""
    if settings.posture is not Posture.STRICT:
        return settings.posture
    kinds = settings.config.registry.values() if settings.config.accepts_envelopes else ()
    has_findings = any(lint_tier1(dict(kind.schema), Tier1Mode.STRICT) for kind in kinds)
    return Posture.WARN if has_findings else Posture.STRICT


def _build_model_capabilities(settings: CapabilitySettings) -> Json:
    advertised = settings.model_capabilities
    if advertised is None:
        if settings.substitution:
            raise InputError(
                "substitution=True needs model_capabilities.", hint="List the capabilities that you check."
            )
        return None
    invalid = [name for name in advertised if not is_capability_id(name)]
    if invalid:
        raise InputError(f"{invalid[0]!r} is not a capability.", hint="Use lower-case letters, digits and hyphens.")
    names = list(dict.fromkeys(advertised))
    return {"supported": True, "advertised": names, "substitutionSupported": settings.substitution}


def _build_providers(settings: CapabilitySettings) -> Json:
    providers: dict[str, Json] = {}
    if settings.providers:
        providers["supported"] = list(dict.fromkeys(settings.providers))
    max_inline_bytes = _get_inline_bytes(settings.config.registry) if settings.config.accepts_envelopes else None
    if max_inline_bytes is not None:
        providers["maxInlineMediaBytes"] = max_inline_bytes
    return providers or None


def _get_inline_bytes(registry: KindRegistry) -> int | None:
    """Return the limit on inline media that the kinds enforce, or None without such kinds."""
    rules = (rule for kind in registry.values() for rule in kind.rules)
    return min((rule.max_inline_bytes for rule in rules if isinstance(rule, MediaSourceRule)), default=None)


def _build_secrets(scopes: tuple[str, ...]) -> Json:
    unknown = [scope for scope in scopes if scope not in _SECRET_SCOPES]
    if unknown:
        raise InputError(f"{unknown[0]!r} is not a secret scope.", hint=f"Use one of {', '.join(_SECRET_SCOPES)}.")
    if not scopes:
        return {"supported": False}
    return {"supported": True, "scopes": list(dict.fromkeys(scopes)), "resolution": "host-managed"}
