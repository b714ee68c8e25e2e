"""Choose the models of an emission: the named model, and the fallbacks if it lacks a capability or fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast

from emitter.adapters.clients import client_settings, require_sdk
from emitter.arguments import check_list, check_type, known_arguments
from emitter.attempts import Verdict
from emitter.client.pool import DEFAULT_POOL, ClientPool
from emitter.core.capability_gate import (
    CAPABILITY_NOT_PROVIDED,
    USE_NAMED_MODEL,
    CandidateModel,
    GateDecision,
    NoCapableModel,
    RefusalCause,
    UseFallbackModel,
    choose_model,
    model_capabilities,
)
from emitter.core.effects import EmissionFailure, Obstacle
from emitter.core.verdicts import DEFAULT_FALLBACK_REASONS, FallbackReason
from emitter.errors import CapabilityNotProvided, InputError, MissingExtra, MissingKey
from emitter.events import Level, LogAppended
from emitter.messages import NO_FIELDS
from emitter.profiles import Profile, find_profile, is_named, load_profile, profile_names, vendor_of
from emitter.profiles.tables import SETTING_NAMES

if TYPE_CHECKING:
    from collections.abc import Collection

    from emitter.client.options import ModelSettings
    from emitter.client.rate_limits import RateLimit
    from emitter.events import Event
    from emitter.messages import Json
    from emitter.policy import PriceTable
    from emitter.profiles import WireFormat

FallbackWord: TypeAlias = Literal["unreachable", "rate-limited", "truncated", "invalid", "refused"]
_EXTRA_BODY_DROPPED = "extra_body= belongs to another wire than the fallback model's, so it is ignored"
_ROUTING_HINTS = {
    RefusalCause.UNAUTHENTICATED: "Set the key of the fallback model's vendor, or name another fallback.",
    RefusalCause.LACKING: "Name a fallback that provides all required capabilities.",
}
_PASSED_SETTINGS = frozenset({*SETTING_NAMES, "extra_body", "extra_headers"})


@known_arguments(**dict.fromkeys(SETTING_NAMES, "settings"), fallback_on="on")
@dataclass(frozen=True, slots=True)
class Fallback:
    """A model to ask if the models before it lack a capability or fail.

    Args:
        model: The provider and model name, for example ``"anthropic/claude-sonnet-5-5"``.
        client: An SDK client of your own. By default the named model's client is used for the same vendor, and emitter
            creates a client for another vendor.
        base_url: The server's address, if no client is passed.
        profile: A ``Profile`` of your own. By default the named model's applies to the same vendor.
        wire: One of the vendor's wires, if it has several.
        on: The failures after which the model is asked. Defaults to ``fallback_on``.
        settings: Model settings that replace those of the emission, such as ``{"temperature": None}``.
        prices: The prices for ``Policy.max_cost``. Defaults to the listed ones.
        rate_limit: The model's ``RateLimit``.
    """

    model: str
    client: object = None
    base_url: str | None = None
    wire: str | None = None
    on: Collection[FallbackWord | FallbackReason] | None = None
    settings: ModelSettings | None = None
    prices: PriceTable | None = None
    rate_limit: RateLimit | None = None
    profile: Profile | None = None

    def __post_init__(self) -> None:
        if self.client is not None and self.base_url is not None:
            raise InputError("Pass client= or base_url=, not both.", hint="Set the address on the client.")
        if self.profile is not None:
            check_profile("Fallback.profile", self.profile)
        if self.settings is not None:
            check_type("Fallback.settings", self.settings, Mapping)
        if self.rate_limit is not None:
            from emitter.client.rate_limits import RateLimit  # noqa: PLC0415  most models have none

            check_type("Fallback.rate_limit", self.rate_limit, RateLimit)
        if self.prices is not None and not hasattr(self.prices, "cost_of"):
            raise InputError(f"Fallback.prices is {self.prices!r}.", hint="Pass Prices(input=…, output=…).")
        unknown = set(self.settings or ()) - _PASSED_SETTINGS
        if unknown:
            raise InputError(
                f"Fallback.settings has {min(unknown)!r}, which is not a model setting.",
                hint=f"Choose among {', '.join(sorted(_PASSED_SETTINGS))}.",
            )
        if self.on is not None:
            object.__setattr__(self, "on", parse_reasons("Fallback.on", self.on))


def parse_reasons(name: str, value: object) -> frozenset[FallbackReason]:
    """Return the failures after which a model may be asked."""
    words = set(check_list(name, value, (str,), "the failures"))
    known = {reason.value for reason in FallbackReason}
    unknown = sorted(str(word) for word in words if word not in known)
    if unknown:
        raise InputError(f"{name} has {unknown[0]!r}; choose among {', '.join(sorted(known))}.")
    return frozenset(FallbackReason(word) for word in words)


@dataclass(frozen=True, slots=True)
class ModelRoute:
    """A model, ``provider/model``, with the settings that apply only to it."""

    model: str
    client: object = None
    base_url: str | None = None
    wire: str | None = None
    parameters: Mapping[str, Json] = NO_FIELDS
    extra_body: Mapping[str, Json] = NO_FIELDS
    extra_headers: Mapping[str, str] = NO_FIELDS
    pool: ClientPool = DEFAULT_POOL
    rate_limit: RateLimit | None = None
    profile: Profile | None = None
    prices: PriceTable | None = None
    reasons: frozenset[FallbackReason] = DEFAULT_FALLBACK_REASONS
    notices: tuple[Event, ...] = ()

    @property
    def provider(self) -> str:
        """The name of the vendor's profile."""
        return find_profile(self.model, self.profile)[0].name

    def resolve(self) -> ModelTarget:
        """Return the profile, wire and model. Raises ``UnknownModel`` or ``InputError``."""
        return resolve_model(self.model, self.client, self.wire, self.profile)

    def require_credentials(self) -> None:
        """Raise ``MissingKey`` or ``MissingExtra`` if there is no client and none can be created."""
        if self.client is None:
            profile = self.resolve().profile
            require_sdk(profile)
            client_settings(profile, base_url=self.base_url, api_key=self.pool.api_key)

    @property
    def is_authenticated(self) -> bool:
        """True if there is a client or a key for the model."""
        try:
            self.require_credentials()
        except (MissingKey, MissingExtra):
            return False
        return True


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """The first model to ask, the models to ask if it fails, and the events that report the choice."""

    route: ModelRoute
    gate: GateDecision = USE_NAMED_MODEL
    opening: tuple[Event, ...] = ()
    alternatives: tuple[ModelRoute, ...] = ()


def fallback_routes(fallback: object, fallback_on: object, named: ModelRoute) -> tuple[ModelRoute, ...]:
    """Return the routes to the fallback models. Raises ``InputError`` or ``UnknownModel`` for an invalid model."""
    reasons = parse_reasons("fallback_on", fallback_on)
    models = check_list("fallback", fallback, (str, Fallback), "the models")
    routes: list[ModelRoute] = []
    for model in models:
        option = model if isinstance(model, Fallback) else Fallback(cast("str", model))
        option = replace(option, profile=option.profile or profile_for(option.model, named.profile))
        find_profile(option.model, option.profile)
        own_reasons = reasons if option.on is None else parse_reasons("Fallback.on", option.on)
        routes.append(replace(_fallback_route(option, named), reasons=own_reasons))
    return tuple(routes)


def route_models(
    named: ModelRoute, fallbacks: tuple[ModelRoute, ...], required: tuple[str, ...], provider_ids: Mapping[str, str]
) -> RoutingDecision:
    """Select the first model that has the required capabilities. Nothing is sent."""
    candidate = candidate_model(named, provider_ids)
    capable = [route for route in fallbacks if not candidate_model(route, provider_ids).missing(required)]
    if not fallbacks or not candidate.missing(required):
        return RoutingDecision(named, choose_model(required, candidate), alternatives=tuple(capable))
    usable = [route for route in capable if route.is_authenticated]
    chosen = (*usable, *capable, *fallbacks)[0]
    fallback = replace(candidate_model(chosen, provider_ids), authenticated=bool(usable) or chosen.is_authenticated)
    gate = choose_model(required, candidate, fallback)
    if not isinstance(gate, UseFallbackModel):
        return RoutingDecision(named, gate)
    later = tuple(capable[capable.index(chosen) + 1 :])
    return RoutingDecision(chosen, gate, (gate.event, *chosen.notices), later)


def candidate_model(route: ModelRoute, provider_ids: Mapping[str, str]) -> CandidateModel:
    """Return the model of a route with its capabilities."""
    target = route.resolve()
    provider = provider_ids.get(target.profile.provider, target.profile.provider)
    return CandidateModel(provider, target.model, model_capabilities(*target))


def describe_refusal(refusal: NoCapableModel) -> Obstacle:
    """Return the obstacle of an emission for which no model has the required capabilities."""
    hint = _ROUTING_HINTS.get(refusal.cause)
    failure = EmissionFailure(
        Verdict.FAULTED, CAPABILITY_NOT_PROVIDED, str(refusal), error=CapabilityNotProvided, hint=hint
    )
    return Obstacle(failure, refusal.events)


def _fallback_route(fallback: Fallback, named: ModelRoute) -> ModelRoute:
    """Return the route to a fallback model.

    The client, address, key, wire, body and headers belong to one vendor. None of them is passed to another vendor,
    which would otherwise receive a key or parameters that are not meant for it.
    """
    route = ModelRoute(fallback.model, fallback.client, fallback.base_url, fallback.wire, named.parameters)
    route = replace(route, prices=fallback.prices, rate_limit=fallback.rate_limit, profile=fallback.profile)
    if route.provider == named.provider:
        route = replace(route, extra_body=named.extra_body, extra_headers=named.extra_headers, pool=named.pool)
        if fallback.client is None and fallback.base_url is None:
            route = replace(route, client=named.client, base_url=named.base_url)
        route = replace(route, wire=fallback.wire or named.wire)
    elif route.resolve().wire is named.resolve().wire:
        route = replace(route, extra_body=named.extra_body)
    elif named.extra_body:
        route = replace(route, notices=(LogAppended(Level.WARN, _EXTRA_BODY_DROPPED),))
    return _with_settings(route, fallback.settings or {})


def _with_settings(route: ModelRoute, settings: ModelSettings) -> ModelRoute:
    """Return the route with these model settings merged into its own. None removes a setting."""
    changes: Mapping[str, Json] = {**settings}
    merged: dict[str, Json] = {**route.parameters, **changes}
    parameters = {str(name): value for name, value in merged.items() if name in SETTING_NAMES and value is not None}
    body = changes.get("extra_body", route.extra_body) or NO_FIELDS
    headers = changes.get("extra_headers", route.extra_headers) or NO_FIELDS
    notices = () if "extra_body" in changes else route.notices
    return replace(route, parameters=parameters, extra_body=body, extra_headers=headers, notices=notices)


class ModelTarget(NamedTuple):
    """The profile, wire and model that a request is sent to."""

    profile: Profile
    wire: WireFormat
    model: str


def resolve_model(model: str, client: object, wire: str | None, profile: Profile | None = None) -> ModelTarget:
    """Return the target of ``provider/model``, under the caller's ``profile`` if there is one.

    Raises:
        UnknownModel: No provider has the model.
        InputError: The provider does not have the wire.
    """
    flavour = "" if client is None else type(client).__name__.removeprefix("Async")
    find = _find_target if model.__class__ is str else _find_target.__wrapped__
    return find(model, flavour, wire, profile)


@lru_cache(maxsize=256)
def _find_target(model: str, flavour: str, wire: str | None, profile: Profile | None) -> ModelTarget:
    found, model_name = find_profile(model, profile)
    chosen = _profile_for_flavour(found, flavour) if profile is None else found
    return ModelTarget(chosen, _select_wire(chosen, wire), model_name)


def profile_for(model: str, profile: Profile | None) -> Profile | None:
    """Return the caller's profile if it is that of another model, too."""
    return profile if profile is not None and is_named(profile, vendor_of(model)) else None


def check_profile(name: str, value: object) -> None:
    """Raise ``InputError`` for a profile that is none."""
    if not isinstance(value, Profile):
        kind = repr(value) if isinstance(value, str) else f"of type {type(value).__name__}"
        raise InputError(f"{name}= is {kind}, not a Profile.", hint=_PROFILE_HINT)


_PROFILE_HINT = 'Pass Profile.from_toml("server.toml"), or Profile.from_name("vllm").override(max_output=60_000).'


def _profile_for_flavour(chosen: Profile, flavour: str) -> Profile:
    """Return the profile of the client's flavour, if there is one. An Azure client has Azure's limits, for example."""
    if flavour in ("", chosen.client.flavour):
        return chosen
    others = (load_profile(candidate) for candidate in profile_names())
    same_sdk = (candidate for candidate in others if candidate.client.sdk is chosen.client.sdk)
    return next((candidate for candidate in same_sdk if candidate.client.flavour == flavour), chosen)


def _select_wire(vendor_profile: Profile, name: str | None) -> WireFormat:
    if name is None:
        return vendor_profile.default_wire
    selected = next((wire for wire in vendor_profile.wires if wire == name), None)
    if selected is None:
        available = ", ".join(wire.value for wire in vendor_profile.wires)
        raise InputError(f"{vendor_profile.title} has no wire {name!r}.", hint=f"It has {available}.")
    return selected
