"""Validate the settings of an emission and resolve its model.

``Settings`` checks every argument before a request is sent. It resolves ``provider/model``, the client and the wire
to a profile, and switches to the fallback model if the named one lacks a required capability.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, cast

from emitter import profiles as profile
from emitter.adapters.clients import create_client
from emitter.adapters.request_options import check_extra_headers
from emitter.arguments import check_list, check_text, check_type
from emitter.client.acceptance import DEFAULT_HOST
from emitter.client.pool import DEFAULT_POOL, ClientPool
from emitter.client.result import Trace
from emitter.clock import Clock, TimeLimits
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
from emitter.errors import CapabilityNotProvided, InputError, MissingKey
from emitter.events import Level, LogAppended
from emitter.host import Acceptor, EnvelopeContract
from emitter.host.config import ANY_KIND
from emitter.messages import no_fields
from emitter.policy import DEFAULT_POLICY, Policy
from emitter.prices import require_listed_prices
from emitter.profiles import find_profile
from emitter.profiles.tables import SETTING_NAMES, Capability, is_capability_id
from emitter.prompts import Material
from emitter.schema.compiler import UndeclaredProperties
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.client.options import EmitOptions
    from emitter.events import Event
    from emitter.messages import Json
    from emitter.profiles import ProviderProfile, WireFormat
    from emitter.schema.references import SchemaRegistry
    from emitter.telemetry.sinks import EventRecorder, Sink

MAX_REQUIRED_CAPABILITIES = 32
"""The most capabilities that a node may require (RFC 0031, section B)."""
_UNDECLARED_VALUES = tuple(each.value for each in UndeclaredProperties)
_CAPABILITY_HINT = "Write one such as 'structured-output', or 'x-host-<host>-<key>' for one of your own."


@dataclass(frozen=True, slots=True)
class Settings:
    """The validated settings of one emission; see ``EmitOptions``.

    ``gate`` is the decision of the capability check and ``opening`` the events that report it. If the fallback model is
    used, ``model``, ``client``, ``base_url``, ``wire`` and ``extra_body`` are those of the fallback.
    """

    model: str
    client: object = None
    materials: Iterable[Material | str] = ()
    policy: Policy = DEFAULT_POLICY
    on_event: Sink | None = None
    instructions: str | None = None
    prompts: str | PathLike[str] | None = None
    wire: str | None = None
    base_url: str | None = None
    parameters: Mapping[str, Json] = field(default_factory=no_fields)
    extra_body: Mapping[str, Json] = field(default_factory=no_fields)
    extra_headers: Mapping[str, str] = field(default_factory=no_fields)
    degrade: bool = True
    undeclared: UndeclaredProperties | Literal["carry", "close"] | None = None
    registry: SchemaRegistry | None = None
    run_id: str = field(default_factory=generate_id)
    node_id: str | None = None
    clock: Clock = field(default_factory=Clock)
    requires: Iterable[str] = ()
    fallback_model: str | None = None
    provider_ids: Mapping[str, str] = field(default_factory=dict[str, str])
    kind: str | None = None
    host: Acceptor = DEFAULT_HOST
    turn: int = 0
    contract: EnvelopeContract = ANY_KIND
    validator_messages: bool = True
    pool: ClientPool = DEFAULT_POOL
    gate: GateDecision = USE_NAMED_MODEL
    opening: tuple[Event, ...] = ()

    @classmethod
    def from_options(cls, model: str, options: EmitOptions) -> Settings:
        """Return the settings. An option that is None has its default."""
        values: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        if isinstance(values.get("client"), ClientPool):
            values["pool"] = values.pop("client")
        given = values.keys() & _PARAMETER_NAMES
        if given:
            values["parameters"] = {name: values.pop(name) for name in SETTING_NAMES if name in given}
        unknown = values.keys() - _SETTING_NAMES
        if unknown:
            from difflib import get_close_matches  # noqa: PLC0415  only a misspelt option needs it

            name = min(unknown)
            hint = "".join(f" Did you mean {close!r}?" for close in get_close_matches(name, _OPTION_NAMES, 1))
            raise TypeError(f"There is no option {name!r}.{hint}")
        return cls(model, **values)

    def __post_init__(self) -> None:
        if self.client is not None and self.base_url is not None:
            raise InputError("Pass client= or base_url=, not both.", hint="Set the address on the client.")
        for name, kind in _TYPES.items():
            if getattr(self, name).__class__ is not kind:
                check_type(name, getattr(self, name), Mapping if kind is dict else kind)
        for name in _TEXTS:
            if getattr(self, name) is not None:
                check_type(name, getattr(self, name), str)
        self._check_values()
        self._limit_attempts()
        if self.requires != () or self.fallback_model is not None:
            self._check_routing()
        if self.policy.max_cost is not None and self.policy.prices is None:
            target = resolve_model(self.model, self.client, self.wire)
            prices = require_listed_prices(target.profile, target.model)
            object.__setattr__(self, "policy", replace(self.policy, prices=prices))

    def _limit_attempts(self) -> None:
        """Lower the attempts to the host's limit: a retry is one of its schema rounds, the first call is not."""
        calls = self.host.config.limits.schema_rounds + 1
        if calls < self.policy.max_attempts:
            object.__setattr__(self, "policy", replace(self.policy, max_attempts=calls))

    def _check_routing(self) -> None:
        required = _check_required(self.requires)
        if self.fallback_model is not None:
            find_profile(self.fallback_model)
        if required and self.gate is USE_NAMED_MODEL:
            self._route(required)

    def _check_values(self) -> None:
        """Check the options that most calls leave out."""
        if self.on_event is not None:
            self._check_sink()
        if self.extra_headers:
            check_type("extra_headers", self.extra_headers, Mapping)
            check_extra_headers(self.extra_headers)
        if self.instructions is not None:
            check_text("instructions", self.instructions)
        if self.undeclared is not None and self.undeclared not in _UNDECLARED_VALUES:
            allowed = ", ".join(_UNDECLARED_VALUES)
            raise InputError(f"undeclared is {self.undeclared!r}; it must be one of {allowed}, or None.")
        prompts = cast("object", self.prompts) if self.prompts is not None else None
        if prompts is not None and not isinstance(prompts, str | PathLike):
            raise InputError(f"prompts is of type {type(prompts).__name__}; it must be the path of a folder.")
        if self.provider_ids and not all(
            name_in_events and name_in_events.__class__ is str for name_in_events in self.provider_ids.values()
        ):
            raise InputError(
                "provider_ids must map provider names to non-empty strings.", hint='Write {"google": "gemini"}.'
            )

    def _check_sink(self) -> None:
        """Reject a sink that is not a function of an event, or that is async."""
        on_event: object = self.on_event
        if isinstance(on_event, str | PathLike):
            path = str(cast("object", on_event))
            raise InputError(f"on_event= is {path!r}, not a function.", hint=f"Pass on_event=to_jsonl({path!r}).")
        if on_event is not None and not callable(on_event):
            raise InputError(f"on_event= is of type {type(on_event).__name__}, not a function of an event.")
        if inspect.iscoroutinefunction(on_event):
            raise InputError("on_event= is async.", hint="Pass a plain function, such as the put_nowait of a queue.")

    def _route(self, required: tuple[str, ...]) -> None:
        """Select the named model or the fallback, once: a copy of the settings is not routed again."""
        named_route = ModelRoute(self.model, self.client, self.base_url, self.wire, self.extra_body)
        decision = route_model(named_route, required, self.fallback_model, self.provider_ids)
        settled = {item.name: getattr(decision.route, item.name) for item in fields(decision.route)}
        for name, value in {
            **settled,
            "requires": required,
            "gate": decision.gate,
            "opening": decision.opening,
        }.items():
            object.__setattr__(self, name, value)

    def time_limits(self) -> TimeLimits:
        """Return the time limits of one call and of the emission."""
        return TimeLimits(self.policy.timeout, self.policy.deadline, self.clock)

    def resolve_materials(self) -> list[Material]:
        """Return the materials; a plain text becomes a trusted one."""
        if self.materials == ():
            return []
        texts = check_list("materials", self.materials, (str, Material), "the texts, or Materials")
        return [text if isinstance(text, Material) else Material(cast("str", text)) for text in texts]


_TYPES = {
    "policy": Policy,
    "host": Acceptor,
    "turn": int,
    "provider_ids": dict,
    "clock": Clock,
    "contract": EnvelopeContract,
    "run_id": str,
}
_TEXTS = ("wire", "base_url", "node_id", "kind")
_PARAMETER_NAMES = frozenset(SETTING_NAMES)
_SETTING_NAMES = frozenset(item.name for item in fields(Settings))
_OPTION_NAMES = (_SETTING_NAMES | _PARAMETER_NAMES) - {"parameters", "gate", "opening", "pool"}


def _check_required(value: object) -> tuple[str, ...]:
    """Return the required capabilities; raise ``InputError`` for names that RFC 0031, section B, does not allow."""
    if value == ():
        return ()
    capabilities = tuple(check_list("requires", value, (str,), "the capabilities"))
    if len(capabilities) > MAX_REQUIRED_CAPABILITIES:
        raise InputError(
            f"requires names {len(capabilities)} capabilities; at most {MAX_REQUIRED_CAPABILITIES} are allowed."
        )
    invalid = next(
        (
            capability
            for capability in capabilities
            if not isinstance(capability, str) or not is_capability_id(capability)
        ),
        None,
    )
    if invalid is not None:
        raise InputError(f"requires has {invalid!r}, which is not a capability.", hint=_CAPABILITY_HINT)
    if len(set(capabilities)) < len(capabilities):
        raise InputError("requires names a capability twice.", hint="Name each once.")
    return tuple(
        capability.value if isinstance(capability, Capability) else cast("str", capability)
        for capability in capabilities
    )


_EXTRA_BODY_DROPPED = "extra_body= belongs to another wire than the fallback model's, so it is ignored"
_ROUTING_HINTS = {
    RefusalCause.UNAUTHENTICATED: "Set the key of the fallback model's vendor, or name another fallback_model.",
    RefusalCause.LACKING: "Name a fallback_model that provides all that is required.",
}


@dataclass(frozen=True, slots=True)
class ModelRoute:
    """A model, ``provider/model``, with the settings that apply only to it."""

    model: str
    client: object = None
    base_url: str | None = None
    wire: str | None = None
    extra_body: Mapping[str, Json] = field(default_factory=no_fields)

    @property
    def provider(self) -> str:
        """The name of the vendor's profile."""
        return find_profile(self.model)[0].name

    def resolve(self) -> ModelTarget:
        """Return the profile, wire and model; raise ``UnknownModel`` or ``InputError``."""
        return resolve_model(self.model, self.client, self.wire)


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """The selected route, and the events that report the selection."""

    route: ModelRoute
    gate: GateDecision = USE_NAMED_MODEL
    opening: tuple[Event, ...] = ()


def route_model(
    named: ModelRoute, required: tuple[str, ...], fallback_model: str | None, provider_ids: Mapping[str, str]
) -> RoutingDecision:
    """Select the named model, or the fallback if the named one lacks a required capability. Nothing is sent."""
    candidate = candidate_model(named, provider_ids)
    if fallback_model is None or not candidate.missing(required):
        return _routing_decision(named, named, choose_model(required, candidate))
    other = _fallback_route(fallback_model, named)
    fallback = replace(candidate_model(other, provider_ids), authenticated=_is_authenticated(other))
    return _routing_decision(named, other, choose_model(required, candidate, fallback))


def candidate_model(route: ModelRoute, provider_ids: Mapping[str, str]) -> CandidateModel:
    """Return the model of a route with its capabilities."""
    target = route.resolve()
    provider = provider_ids.get(target.profile.provider, target.profile.provider)
    return CandidateModel(provider, target.model, model_capabilities(*target))


def raise_not_provided(refusal: NoCapableModel, record: EventRecorder) -> NoReturn:
    """Record the events of a refusal, and raise ``CapabilityNotProvided``."""
    for event in refusal.events:
        record(event)
    trace = Trace((), tuple(record.events))
    raise CapabilityNotProvided(
        str(refusal), code=CAPABILITY_NOT_PROVIDED, trace=trace, hint=_ROUTING_HINTS.get(refusal.cause)
    )


def _routing_decision(named: ModelRoute, fallback: ModelRoute, gate: GateDecision) -> RoutingDecision:
    if not isinstance(gate, UseFallbackModel):
        return RoutingDecision(named, gate)
    warnings = (LogAppended(Level.WARN, _EXTRA_BODY_DROPPED),) if named.extra_body and not fallback.extra_body else ()
    return RoutingDecision(fallback, gate, (gate.event, *warnings))


def _fallback_route(model: str, named: ModelRoute) -> ModelRoute:
    """Return the route to the fallback model.

    The client, address, wire and extra body belong to one vendor. None of them is passed to another vendor, which would
    otherwise receive a key or parameters that are not meant for it.
    """
    other = replace(named, model=model)
    if other.provider == named.provider:
        return other
    away = ModelRoute(model)
    return replace(away, extra_body=named.extra_body) if away.resolve().wire is named.resolve().wire else away


def _is_authenticated(route: ModelRoute) -> bool:
    """Return whether there is a client, or a key in the environment, for the route's vendor."""
    if route.client is not None:
        return True
    try:
        created = create_client(route.resolve().profile, asynchronous=False, base_url=route.base_url)
    except MissingKey:
        return False
    cast("Any", created).close()
    return True


class ModelTarget(NamedTuple):
    """The profile, wire and model that a request is sent to."""

    profile: ProviderProfile
    wire: WireFormat
    model: str


def resolve_model(model: str, client: object, wire: str | None) -> ModelTarget:
    """Return the target of ``provider/model``; raise ``UnknownModel``, or ``InputError`` for an unknown wire."""
    flavour = "" if client is None else type(client).__name__.removeprefix("Async")
    find = _find_target if model.__class__ is str else _find_target.__wrapped__
    return find(model, flavour, wire)


@lru_cache(maxsize=256)
def _find_target(model: str, flavour: str, wire: str | None) -> ModelTarget:
    named_profile, model_name = profile.find_profile(model)
    chosen = _profile_for_flavour(named_profile, flavour)
    return ModelTarget(chosen, _select_wire(chosen, wire), model_name)


def _profile_for_flavour(chosen: ProviderProfile, flavour: str) -> ProviderProfile:
    """Return the profile of the client's own flavour, if there is one: an Azure client has Azure's limits."""
    if flavour in ("", chosen.client.flavour):
        return chosen
    others = (profile.load_profile(candidate) for candidate in profile.profile_names())
    same_sdk = (candidate for candidate in others if candidate.client.sdk is chosen.client.sdk)
    return next((candidate for candidate in same_sdk if candidate.client.flavour == flavour), chosen)


def _select_wire(vendor_profile: ProviderProfile, name: str | None) -> WireFormat:
    if name is None:
        return vendor_profile.default_wire
    selected = next((wire for wire in vendor_profile.wires if wire == name), None)
    if selected is None:
        available = ", ".join(wire.value for wire in vendor_profile.wires)
        raise InputError(f"{vendor_profile.title} has no wire {name!r}.", hint=f"It has {available}.")
    return selected
