"""What the caller sets, whichever door is used, and what is refused before anything is paid for."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Literal, TypedDict, cast

from emitter.accept import Acceptor, EnvelopeContract
from emitter.accept.context import ANYTHING
from emitter.arguments import check_kind, listed, whole
from emitter.capability import DISPATCH
from emitter.clock import Clock, Limits
from emitter.door.dispatch import Way, dispatched
from emitter.door.taking import DEFAULT_HOST
from emitter.errors import InputError
from emitter.policy import Policy
from emitter.profile import of_model
from emitter.profile.capabilities import Capability, is_id
from emitter.prompt import Material
from emitter.schema.compile import Undeclared
from emitter.sinks import new_id

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.capability import Gate
    from emitter.events import Event
    from emitter.schema.bundle import Supplied
    from emitter.sinks import Sink
    from emitter.wire import Json


MAX_REQUIRED = 32
"""Capabilities that a node may require (RFC 0031, section B)."""

_UNDECLARED = tuple(each.value for each in Undeclared)
_CAPABILITY = "Write one such as 'structured-output', or 'x-host-<host>-<key>' for one of your own."


class More(TypedDict, total=False):
    """What few callers set.

    ``instructions``: words of your own for the system prompt, beside the library's. ``prompts``: a folder
    whose files replace the library's prompts of the same name. ``wire``: one of the vendor's wires
    (``openai-chat``, …) where it has several. ``base_url``: where the server is, when no client is passed.
    ``options``: parameters of the vendor's own, such as ``{"temperature": 0}``, which are merged into its request
    body (for Google: into its ``GenerateContentConfig``); what the library sets itself they may not.
    ``degrade=False`` refuses a schema that is too large for the vendor, rather than have a part of it checked here
    only. ``undeclared`` says what becomes of properties that an object schema is silent about: ``"carry"`` them as
    text, as is usual for a JSON Schema, or ``"close"`` the object, as is usual for a type. ``registry`` supplies the
    schemas that a JSON Schema refers to outside itself: a mapping of URIs to schemas, or a ``referencing.Registry``;
    nothing is ever fetched. ``run_id``, ``node_id``: told in every event; the run's is made up where absent.
    ``clock``: time itself, for tests and replays.

    ``requires``: what the model must provide (OpenWOP RFC 0031), such as ``["structured-output"]``; where it does
    not, ``CapabilityNotProvided`` is raised and nothing is sent. ``fallback_model`` is the ``vendor/model`` that is
    asked instead, once, if it provides all of that. At another vendor it is reached through that vendor's
    environment variables: ``client``, ``base_url`` and ``wire`` are the named model's alone, and so are ``options``
    where the wire is another.

    ``validator_messages=False`` withholds from the model what your type's validators and your checks say of its answer.

    ``provider_ids``: what events call a vendor, where that is not our id for it: OpenWOP's own list says ``gemini``
    where we say ``google``.

    ``kind``: the kind of your own that a document is emitted as, and the payload of, which ``host`` must know;
    without it, it is a ``vendor.emitter.document``.

    ``host`` takes the envelope: an ``Acceptor`` with kinds, limits, secrets and a store of your own. With a store,
    ``run_id``, ``node_id`` and ``turn`` name the emission: what was accepted under the same three, for the same words
    and form, is returned as it is, and no model is asked. The host's ``Limits`` bind emissions: their retries by
    ``schema_rounds``, where ``Policy.max_attempts`` allows more, and the envelopes of a run's node and turn together.

    ``contract`` is the node's ``EnvelopeContract``: the kinds that it may emit. An answer of another kind ends in
    ``envelope_contract_violation``; the universal four pass every contract.
    """

    instructions: str | None
    prompts: str | Path | None
    wire: str | None
    base_url: str | None
    options: Mapping[str, Json]
    degrade: bool
    undeclared: Undeclared | Literal["carry", "close"] | None
    registry: Supplied | None
    run_id: str
    node_id: str
    clock: Clock
    requires: Iterable[str]
    fallback_model: str | None
    provider_ids: Mapping[str, str]
    kind: str | None
    host: Acceptor
    turn: int
    contract: EnvelopeContract
    validator_messages: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """All that shapes one emission, whatever is asked for; see ``emit`` and ``More``.

    ``gate`` is the word on what the model provides, and ``opening`` what is told of it before all else. Where the
    fallback is asked, ``model``, ``client``, ``base_url``, ``wire`` and ``options`` are those by which it is reached.
    """

    model: str
    client: object
    materials: Iterable[Material | str]
    policy: Policy
    sink: Sink | None
    instructions: str | None = None
    prompts: str | Path | None = None
    wire: str | None = None
    base_url: str | None = None
    options: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    degrade: bool = True
    undeclared: Undeclared | Literal["carry", "close"] | None = None
    registry: Supplied | None = None
    run_id: str = field(default_factory=new_id)
    node_id: str | None = None
    clock: Clock = field(default_factory=Clock)
    requires: Iterable[str] = ()
    fallback_model: str | None = None
    provider_ids: Mapping[str, str] = field(default_factory=dict[str, str])
    kind: str | None = None
    host: Acceptor = DEFAULT_HOST
    turn: int = 0
    contract: EnvelopeContract = ANYTHING
    validator_messages: bool = True
    gate: Gate = DISPATCH
    opening: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        if self.client is not None and self.base_url is not None:
            raise InputError("Both client= and base_url= were given.", hint="Give the address to the client.")
        check_kind("policy", self.policy, Policy)
        self._check_kinds()
        self._check_sink()
        if self.instructions is not None:
            whole("instructions", self.instructions)
        if self.undeclared is not None and self.undeclared not in _UNDECLARED:
            known = ", ".join(_UNDECLARED)
            raise InputError(f"undeclared is {self.undeclared!r}; it must be one of {known}, or None.")
        # a retry is one of the host's schema rounds, the first call is not
        calls = min(self.policy.max_attempts, self.host.rules.limits.schema_rounds + 1)
        if calls < self.policy.max_attempts:
            object.__setattr__(self, "policy", replace(self.policy, max_attempts=calls))
        required = _required(self.requires)
        if self.fallback_model is not None:
            of_model(self.fallback_model)
        if required and self.gate is DISPATCH:
            self._dispatch(required)

    def _check_kinds(self) -> None:
        kinds = {"host": Acceptor, "turn": int, "provider_ids": Mapping, "clock": Clock, "contract": EnvelopeContract}
        for name, kind in kinds.items():
            check_kind(name, getattr(self, name), kind)
        for name in ("wire", "base_url", "run_id", "node_id", "kind"):
            if getattr(self, name) is not None:
                check_kind(name, getattr(self, name), str)
        prompts = cast("object", self.prompts)
        if prompts is not None and not isinstance(prompts, str | PathLike):
            raise InputError(f"prompts is of type {type(prompts).__name__}; it must be the path of a folder.")
        if not all(each and each.__class__ is str for each in self.provider_ids.values()):
            raise InputError("provider_ids must name vendors by texts.", hint='Write {"google": "gemini"}.')

    def _check_sink(self) -> None:
        """Refuse a sink that is no function of an event, or one that nobody would wait for."""
        given: object = self.sink
        if isinstance(given, str | PathLike):
            path = str(cast("object", given))
            raise InputError(f"sink= is {path!r}, not a function.", hint=f"Pass sink=to_jsonl({path!r}).")
        if given is not None and not callable(given):
            raise InputError(f"sink= is of type {type(given).__name__}, not a function of an event.")
        if inspect.iscoroutinefunction(given):
            raise InputError("sink= is async.", hint="Pass a plain function, such as the put_nowait of a queue.")

    def _dispatch(self, required: tuple[str, ...]) -> None:
        """Become the settings of the model that is asked, once: a copy is not dispatched again."""
        named = Way(self.model, self.client, self.base_url, self.wire, self.options)
        found = dispatched(named, required, self.fallback_model, self.provider_ids)
        settled = {each.name: getattr(found.way, each.name) for each in fields(found.way)}
        for name, value in {**settled, "requires": required, "gate": found.gate, "opening": found.opening}.items():
            object.__setattr__(self, name, value)

    def limits(self) -> Limits:
        """Return how long calls and the whole may take."""
        return Limits(self.policy.timeout, self.policy.deadline, self.clock)

    def shown(self) -> list[Material]:
        """Return the materials, plain texts among them as trusted ones."""
        texts = listed("materials", self.materials, (str, Material), "the texts, or Materials")
        return [each if isinstance(each, Material) else Material(cast("str", each)) for each in texts]


def _required(given: object) -> tuple[str, ...]:
    """Return what the model must provide; raises ``InputError`` for what no node may require (RFC 0031, section B)."""
    named = tuple(listed("requires", given, (str,), "the capabilities"))
    if len(named) > MAX_REQUIRED:
        raise InputError(f"requires names {len(named)} capabilities; at most {MAX_REQUIRED} are allowed.")
    odd = next((each for each in named if not isinstance(each, str) or not is_id(each)), None)
    if odd is not None:
        raise InputError(f"requires has {odd!r}, which is no capability.", hint=_CAPABILITY)
    if len(set(named)) < len(named):
        raise InputError("requires names a capability twice.", hint="Name each once.")
    return tuple(each.value if isinstance(each, Capability) else cast("str", each) for each in named)
