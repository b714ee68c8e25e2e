"""Validate the settings of an emission, and choose its models, before a request is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, cast

from emitter.adapters.request_options import check_extra_headers
from emitter.arguments import check_list, check_text, check_type, is_async
from emitter.client.pool import DEFAULT_POOL, ClientPool
from emitter.client.routing import ModelRoute, check_profile, fallback_routes, resolve_model, route_models
from emitter.clock import DEFAULT_CLOCK, Clock
from emitter.core.capability_gate import USE_NAMED_MODEL, GateDecision, UseFallbackModel
from emitter.core.verdicts import DEFAULT_FALLBACK_REASONS
from emitter.errors import InputError
from emitter.host import Acceptor, EnvelopeContract, HostConfig
from emitter.host.config import ANY_KIND, UNLIMITED
from emitter.messages import NO_FIELDS
from emitter.policy import DEFAULT_POLICY, Policy
from emitter.prices import require_listed_prices
from emitter.profiles.tables import SETTING_NAMES, Capability, is_capability_id
from emitter.prompts import Material, Media
from emitter.schema.compiler import UndeclaredProperties
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from emitter.client.background import Background
    from emitter.client.options import EmitOptions
    from emitter.client.rate_limits import RateLimit
    from emitter.client.routing import Fallback, FallbackWord, ModelTarget
    from emitter.core.verdicts import FallbackReason
    from emitter.events import Event
    from emitter.messages import Json
    from emitter.profiles import Profile
    from emitter.schema.references import SchemaRegistry
    from emitter.telemetry.sinks import Sink

DEFAULT_HOST = Acceptor(HostConfig(limits=UNLIMITED), store=None)
"""Accepts every kind of this library. It has no secrets, no limits and no store."""
MAX_REQUIRED_CAPABILITIES = 32
"""The maximum number of capabilities that a node may require (RFC 0031, section B)."""
_UNDECLARED_VALUES = tuple(each.value for each in UndeclaredProperties)
_MATERIAL_HINT = "Wrap a file in Image(...), Document(...) or Audio(...) of emitter.media, and a text in Material(...)."
_CAPABILITY_HINT = "Write one such as 'structured-output', or 'x-host-<host>-<key>' for one of your own."


@dataclass(frozen=True, slots=True)
class Settings:
    """The validated settings of one emission; see ``EmitOptions``.

    ``gate`` is the decision of the capability check, ``opening`` the events that report it, and ``alternatives`` the
    models that are asked if the first one fails. If a fallback is used from the start, ``model`` and the settings that
    belong to a model are the fallback's, and ``is_fallback`` is true.
    """

    model: str
    client: object = None
    materials: Iterable[Material | Media | str] = ()
    policy: Policy = DEFAULT_POLICY
    on_event: Sink | None = None
    instructions: str | None = None
    prompts: str | PathLike[str] | None = None
    wire: str | None = None
    base_url: str | None = None
    parameters: Mapping[str, Json] = NO_FIELDS
    extra_body: Mapping[str, Json] = NO_FIELDS
    extra_headers: Mapping[str, str] = NO_FIELDS
    degrade: bool = True
    undeclared: UndeclaredProperties | Literal["carry", "close"] | None = None
    registry: SchemaRegistry | None = None
    run_id: str = field(default_factory=generate_id)
    node_id: str | None = None
    clock: Clock = DEFAULT_CLOCK
    requires: Iterable[str] = ()
    fallback: Sequence[str | Fallback] = ()
    fallback_on: Collection[FallbackWord | FallbackReason] = DEFAULT_FALLBACK_REASONS
    provider_ids: Mapping[str, str] = field(default_factory=dict[str, str])
    kind: str | None = None
    host: Acceptor = DEFAULT_HOST
    turn: int = 0
    contract: EnvelopeContract = ANY_KIND
    validator_messages: bool = True
    pool: ClientPool = DEFAULT_POOL
    gate: GateDecision = USE_NAMED_MODEL
    opening: tuple[Event, ...] = ()
    alternatives: tuple[ModelRoute, ...] = ()
    rate_limit: RateLimit | None = None
    profile: Profile | None = None
    keep_response: bool = False
    cache_prompt: bool | Literal["long"] | None = None
    background: Background | bool = False
    is_fallback: bool = False

    @classmethod
    def from_options(cls, model: str, options: EmitOptions) -> Settings:
        """Return the settings of these options. None stands for the default of an option."""
        values: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        if isinstance(values.get("client"), ClientPool):
            values["pool"] = values.pop("client")
        names = values.keys() & _PARAMETER_NAMES
        if names:
            values["parameters"] = {name: values.pop(name) for name in SETTING_NAMES if name in names}
        return cls(model, **values)

    def __post_init__(self) -> None:
        if self.client is not None and self.base_url is not None:
            raise InputError("Pass client= or base_url=, not both.", hint="Set the address on the client.")
        for name, kind in _TYPES.items():
            if getattr(self, name).__class__ is not kind:
                check_type(name, getattr(self, name), Mapping if kind is dict else kind)
        for name in _TEXTS:
            text = getattr(self, name)
            if text is not None and text.__class__ is not str:
                check_type(name, text, str)
        self._check_values()
        self._limit_attempts()
        if self.requires != () or self.fallback != ():
            self._check_routing()
        if self.policy.max_cost is not None and self.policy.prices is None:
            target = self.resolve()
            prices = require_listed_prices(target.profile, target.model)
            object.__setattr__(self, "policy", replace(self.policy, prices=prices))

    def _limit_attempts(self) -> None:
        """Lower the attempts to the host's limit, in which each retry is a schema round but the first call is not."""
        calls = self.host.config.limits.schema_rounds + 1
        if calls < self.policy.max_attempts:
            object.__setattr__(self, "policy", replace(self.policy, max_attempts=calls))

    def _check_routing(self) -> None:
        """Choose the models by capability. A copy of the settings is not routed again."""
        required = _check_required(self.requires)
        if self.fallback == () and (not required or self.gate is not USE_NAMED_MODEL):
            return
        named = ModelRoute(*(getattr(self, name) for name in _ROUTED))
        fallbacks = fallback_routes(self.fallback, self.fallback_on, named) or self.alternatives
        decision = route_models(named, fallbacks, required, self.provider_ids)
        values = {name: getattr(decision.route, name) for name in _ROUTED}
        values |= {"gate": decision.gate, "opening": decision.opening, "alternatives": decision.alternatives}
        for name, value in {**values, "requires": required, "fallback": ()}.items():
            object.__setattr__(self, name, value)
        if isinstance(decision.gate, UseFallbackModel):
            object.__setattr__(self, "is_fallback", True)
            object.__setattr__(self, "policy", replace(self.policy, prices=decision.route.prices))

    def for_route(self, route: ModelRoute) -> Settings:
        """Return the settings for another model of the same emission."""
        values = {name: getattr(route, name) for name in _ROUTED}
        policy = replace(self.policy, prices=route.prices)
        return replace(self, **values, policy=policy, requires=(), alternatives=(), opening=(), is_fallback=True)

    def _check_values(self) -> None:
        """Check the options that most calls leave out."""
        if self.on_event is not None:
            self._check_sink()
        if self.rate_limit is not None or self.profile is not None or self.extra_headers:
            self._check_server()
        if self.instructions is not None:
            check_text("instructions", self.instructions)
        if self.undeclared is not None or self.cache_prompt is not None or self.background is not False:
            self._check_words()
        prompts = cast("object", self.prompts) if self.prompts is not None else None
        if prompts is not None and not isinstance(prompts, str | PathLike):
            raise InputError(f"prompts is of type {type(prompts).__name__}; it must be the path of a folder.")
        if self.provider_ids and not all(
            provider_id and provider_id.__class__ is str for provider_id in self.provider_ids.values()
        ):
            raise InputError(
                "provider_ids must map provider names to non-empty strings.", hint='Write {"google": "gemini"}.'
            )

    def _check_server(self) -> None:
        """Check the options that describe the server."""
        if self.rate_limit is not None:
            from emitter.client.rate_limits import RateLimit  # noqa: PLC0415  most emissions have none

            check_type("rate_limit", self.rate_limit, RateLimit)
        if self.profile is not None:
            check_profile("profile", self.profile)
        if self.extra_headers:
            check_type("extra_headers", self.extra_headers, Mapping)
            check_extra_headers(self.extra_headers)

    def _check_background(self) -> None:
        from emitter.client.background import Background  # noqa: PLC0415  few emissions run in the background

        if self.background is True:
            object.__setattr__(self, "background", Background())
        check_type("background", self.background, Background)

    def _check_words(self) -> None:
        """Check the options that accept only a few values."""
        if self.background is not False:
            self._check_background()
        if self.cache_prompt not in (None, True, False, "long"):
            raise InputError(f'cache_prompt is {self.cache_prompt!r}; it must be True, False or "long".')
        if self.undeclared is not None and self.undeclared not in _UNDECLARED_VALUES:
            allowed = ", ".join(_UNDECLARED_VALUES)
            raise InputError(f"undeclared is {self.undeclared!r}; it must be one of {allowed}, or None.")

    def _check_sink(self) -> None:
        """Reject a sink that is async, or not a function of an event."""
        on_event: object = self.on_event
        if on_event is None:
            return
        if isinstance(on_event, str | PathLike):
            path = str(cast("object", on_event))
            raise InputError(f"on_event= is {path!r}, not a function.", hint=f"Pass on_event=to_jsonl({path!r}).")
        if not callable(on_event):
            raise InputError(f"on_event= is of type {type(on_event).__name__}, not a function of an event.")
        if is_async(on_event):
            raise InputError("on_event= is async.", hint="Pass a plain function, such as the put_nowait of a queue.")

    def resolve(self) -> ModelTarget:
        """Return the profile, wire and model. Raises ``UnknownModel`` or ``InputError``."""
        return resolve_model(self.model, self.client, self.wire, self.profile)

    def requiring(self, capabilities: tuple[str, ...]) -> Settings:
        """Return the settings with more required capabilities, routed again if any of them is new."""
        missing = [capability for capability in capabilities if capability not in self.requires]
        if not missing or self.gate is not USE_NAMED_MODEL:
            return self
        return replace(self, requires=(*self.requires, *missing))

    def resolve_materials(self) -> list[Material | Media]:
        """Return the materials. A string becomes a trusted material."""
        if self.materials == ():
            return []
        items = check_list("materials", self.materials, (str, Material, Media), "the texts, Materials or media")
        return [_to_material(index, item) for index, item in enumerate(items)]


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
_ROUTED = (
    "model",
    "client",
    "base_url",
    "wire",
    "parameters",
    "extra_body",
    "extra_headers",
    "pool",
    "rate_limit",
    "profile",
)
"""The settings that belong to one model, in the order of ``ModelRoute``."""
_PARAMETER_NAMES = frozenset(SETTING_NAMES)


def _to_material(index: int, item: object) -> Material | Media:
    if isinstance(item, Material | Media):
        return item
    if not isinstance(item, str):
        raise InputError(f"materials[{index}] is of type {type(item).__name__}, not text.", hint=_MATERIAL_HINT)
    return Material(item)


def _check_required(value: object) -> tuple[str, ...]:
    """Return the required capabilities. Raises ``InputError`` for names that RFC 0031, section B, does not allow."""
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
