"""From the caller's words to what is asked of which vendor. Nothing is sent here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

from emitter import conversation, profile, prompt
from emitter.drive import Clock
from emitter.errors import InputError
from emitter.judge import Contract
from emitter.kinds import BINDING_MOMENT, Hatches, Trust, turn
from emitter.profile.model import WireName
from emitter.prompt import Material, Prompts
from emitter.remedy import Policy
from emitter.schema import Compiled, Violation, compile_schema
from emitter.sinks import new_id
from emitter.steps import Ask
from emitter.wire import Message, OutputFormat, OutputMode, Request, Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.conversation import Situation
    from emitter.profile import Profile
    from emitter.wire import Json

_LONGEST_ID = 128


class More(TypedDict, total=False):
    """What few callers set.

    ``prompts``: a folder whose files replace the library's prompts of the same name. ``wire``: one of the
    vendor's wires (``openai-chat``, …) where it has several. ``base_url``: where the server is, when no
    client is passed. ``options``: merged into the vendor's request body as they are (for Google: into its
    ``GenerateContentConfig``). ``run_id``, ``node_id``: told in every event; the run's is made up where
    absent. ``clock``: time itself, for tests and replays.
    """

    prompts: str | Path | None
    wire: str | None
    base_url: str | None
    options: Mapping[str, Json]
    run_id: str
    node_id: str
    clock: Clock


@dataclass(frozen=True, slots=True)
class Settings:
    """All that shapes one emission; see ``emit_binding_moment`` and ``More``."""

    model: str
    materials: Iterable[Material | str]
    decision_class: str | None
    hatches: Hatches
    policy: Policy
    prompts: str | Path | None = None
    wire: str | None = None
    base_url: str | None = None
    options: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    run_id: str = field(default_factory=new_id)
    node_id: str = "emit_binding_moment"
    clock: Clock = field(default_factory=Clock)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is settled before the first call."""

    profile: Profile
    wire: WireName
    ask: Ask
    trust: Trust
    correlation_id: str


def plan(situation: Situation, settings: Settings, client: object) -> Plan:
    """Return the plan of one emission; raises ``InputError`` for what cannot be asked."""
    named, model = profile.of_model(settings.model)
    chosen = _for_client(named, client)
    _check(settings, client)
    wire = _wire(chosen, settings.wire)
    prompts = _prompts(settings.prompts)
    materials = _materials(settings.materials)
    talk = conversation.read(situation, prompts)
    compiled = compile_schema(turn.SCHEMA, chosen)
    limits = chosen.limits(model)
    tokens = chosen.wires[wire].tokens
    ceiling = min(limits.max_output, settings.policy.max_output_tokens or limits.max_output)
    output = OutputFormat(turn.NAME, compiled.schema, chosen.mode(wire, model), strict=chosen.strict(wire, model))
    request = Request(
        model=model,
        system=_system(prompts, talk.system, compiled, output, holds=chosen.holds(wire, model)),
        messages=_messages(prompts, talk.messages, materials),
        output=output,
        budget=max(min(settings.policy.output_tokens or tokens.default, ceiling), tokens.minimum),
        options=settings.options,
    )
    return Plan(
        profile=chosen,
        wire=wire,
        ask=Ask(
            provider=chosen.provider,
            request=request,
            contract=Contract(compiled, (_text_is_whole, _recommended_exists), turn.with_reasoning),
            write=lambda violations: prompt.corrective(prompts, violations or (_NO_DOCUMENT,)),
            ceiling=ceiling,
        ),
        trust=conversation.meet([talk.trust, *(each.trust for each in materials)]),
        correlation_id=_correlation_id(settings),
    )


_NO_DOCUMENT = "the answer holds no single JSON document"


def _for_client(chosen: Profile, client: object) -> Profile:
    """Return the profile of the client's own flavour where one exists: an Azure client has Azure's limits."""
    flavour = type(client).__name__.removeprefix("Async")
    if client is None or flavour == chosen.client.flavour:
        return chosen
    others = (profile.load(each) for each in profile.names())
    same_sdk = (each for each in others if each.client.sdk is chosen.client.sdk)
    return next((each for each in same_sdk if each.client.flavour == flavour), chosen)


def _wire(chosen: Profile, named: str | None) -> WireName:
    if named is None:
        return chosen.default_wire
    has = [each.value for each in chosen.wires]
    if named not in has:
        raise InputError(f"{chosen.title} has no wire {named!r}.", hint=f"It has {', '.join(has)}.")
    return WireName(named)


def _check(settings: Settings, client: object) -> None:
    """Refuse what would only fail after an answer was paid for."""
    named: Any = settings.decision_class
    if named is not None and (not isinstance(named, str) or not named.strip()):
        raise InputError(f"decision_class is {named!r}; it must be a text such as 'consent', or None.")
    if client is not None and settings.base_url is not None:
        raise InputError("Both client= and base_url= were given.", hint="Give the address to the client.")
    _check_kind("hatches", settings.hatches, Hatches)
    _check_kind("policy", settings.policy, Policy)


def _check_kind(name: str, given: object, kind: type) -> None:
    if not isinstance(given, kind):
        raise InputError(f"{name} is of type {type(given).__name__}; it must be a {kind.__name__}.")


def _prompts(override: str | Path | None) -> Prompts:
    if override is None:
        return prompt.load()
    place = Path(override)
    if not place.is_dir():
        raise InputError(f"prompts={str(override)!r} is not a folder.")
    return prompt.load(place)


def _materials(given: object) -> list[Material]:
    if isinstance(given, str | Material) or not isinstance(given, Iterable):
        raise InputError("materials must be a list.", hint="Put the texts, or Materials, into one.")
    return [each if isinstance(each, Material) else Material(each) for each in cast("Iterable[str]", given)]


def _system(prompts: Prompts, given: tuple[str, ...], compiled: Compiled, output: OutputFormat, *, holds: bool) -> str:
    """Return the system prompt; the schema stands in it where the vendor will not enforce it."""
    parts = [prompt.ask(prompts), *given, prompt.losses(prompts, compiled.losses)]
    if output.mode is OutputMode.JSON_OBJECT or (output.mode is OutputMode.JSON_SCHEMA and not holds):
        parts.append(prompt.schema(prompts, compiled.schema))
    return "\n\n".join(part for part in parts if part)


def _messages(prompts: Prompts, messages: tuple[Message, ...], materials: list[Material]) -> tuple[Message, ...]:
    """Return the turns with the materials, ending in a user turn as every vendor wants it."""
    shown = [prompt.material(prompts, each) for each in materials]
    last = Message(Role.USER, "\n\n".join([*shown, prompts.fill("begin")]))
    if messages[-1].role is Role.ASSISTANT:
        return (*messages, last)
    joined = replace(messages[-1], text=f"{messages[-1].text}\n\n{last.text}")
    return (*messages[:-1], joined)


def _text_is_whole(document: Any) -> tuple[Violation, ...]:
    return () if turn.encodable(document) else (Violation("", "unicode", "text without lone surrogates"),)


def _recommended_exists(document: Any) -> tuple[Violation, ...]:
    if turn.recommended_in_range(document):
        return ()
    expected = "the position of an option that exists, counted from 0"
    return (Violation("/turn/question/recommended_idx", "range", expected),)


def _correlation_id(settings: Settings) -> str:
    kind = hashlib.sha256(BINDING_MOMENT.encode()).hexdigest()[:8]
    made = f"{settings.run_id}:{settings.node_id}:0:{kind}"
    if len(made) > _LONGEST_ID or not settings.run_id or not settings.node_id:
        raise InputError(f"run_id and node_id must be non-empty and make an id of at most {_LONGEST_ID} characters.")
    return made
