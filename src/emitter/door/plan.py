"""From the caller's words to what is asked of which vendor. Nothing is sent here."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from emitter import conversation, profile, prompt, tokens
from emitter.door import wording
from emitter.door.fallback import fallback
from emitter.door.spending import spending
from emitter.errors import InputError, Unencodable
from emitter.judge import Contract
from emitter.schema import compile_schema
from emitter.schema.compile import Undeclared
from emitter.steps import Ask
from emitter.wire import OutputFormat, OutputMode, Request, mapping, with_budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.conversation import Situation
    from emitter.door.settings import Settings
    from emitter.judge import Read
    from emitter.kinds import Trust
    from emitter.profile import Profile
    from emitter.profile.model import WireName
    from emitter.prompt import Prompts
    from emitter.schema import Compiled
    from emitter.wire import Json

_LONGEST_ID = 128
_NO_DOCUMENT = "the answer holds no single JSON document"
_BUG = "An example must be one that your checks and validators take."


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a door asks for.

    ``kind`` is the envelope's, ``node`` the node's id where the caller names none, ``name`` what the document
    is called on the wire, ``schema`` what ``compile_schema`` takes. ``words`` begin the system prompt.
    ``read`` and ``tidy`` are those of ``Contract``. ``examples`` are valid documents to show.
    """

    kind: str
    node: str
    name: str
    schema: object
    words: Callable[[Prompts], str]
    read: Read
    tidy: Callable[[Json], Json] = lambda document: document
    examples: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is settled before the first call."""

    profile: Profile
    wire: WireName
    ask: Ask
    trust: Trust
    node_id: str
    correlation_id: str


def plan(wanted: Wanted, situation: Situation, settings: Settings) -> Plan:
    """Return the plan of one emission; raises ``InputError`` for what cannot be asked."""
    named, model = profile.of_model(settings.model)
    chosen = _for_client(named, settings.client)
    wire = _wire(chosen, settings.wire)
    prompts, materials = wording.load(settings.prompts), settings.shown()
    talk = conversation.read(situation, prompts)
    contract = Contract(_compile(wanted, chosen, settings), wanted.read, wanted.tidy)
    form = _form(wanted.name, contract.compiled, prompts, _Reached(chosen, wire, model))
    said = wording.joined(wanted.words(prompts), settings.instructions or "", *talk.system)
    shown, two_steps = partial(wording.messages, prompts, talk.messages, materials), settings.policy.nl_to_format
    request = Request(
        model=model,
        system=wording.joined(said, *form.words, prompt.examples(prompts, _encoded(contract, wanted.examples))),
        messages=shown("begin"),
        output=form.output,
        budget=1,
        options=settings.options,
    )
    allowed = spending(request, contract.compiled, (chosen, wire), settings.policy)
    node_id = wanted.node if settings.node_id is None else settings.node_id
    return Plan(
        profile=chosen,
        wire=wire,
        ask=Ask(
            provider=chosen.provider,
            request=with_budget(request, allowed.budget),
            contract=contract,
            write=lambda violations: prompt.corrective(prompts, violations or (_NO_DOCUMENT,)),
            ceiling=allowed.ceiling,
            least=chosen.wires[wire].tokens.minimum,
            kind=wanted.kind,
            count=lambda request: tokens.of_request(request, chosen.encoding(model)),
            fallback=fallback(prompts, said, shown("begin_in_words"), contract.compiled) if two_steps else None,
        ),
        trust=conversation.meet([talk.trust, *(each.trust for each in materials)]),
        node_id=node_id,
        correlation_id=_correlation_id(settings.run_id, node_id, wanted.kind),
    )


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
    found = next((each for each in chosen.wires if each == named), None)
    if found is None:
        has = ", ".join(each.value for each in chosen.wires)
        raise InputError(f"{chosen.title} has no wire {named!r}.", hint=f"It has {has}.")
    return found


def _compile(wanted: Wanted, chosen: Profile, settings: Settings) -> Compiled:
    undeclared = None if settings.undeclared is None else Undeclared(settings.undeclared)
    return compile_schema(wanted.schema, chosen, degrade=settings.degrade, undeclared=undeclared)


class _Reached(NamedTuple):
    """Whom a request reaches."""

    profile: Profile
    wire: WireName
    model: str


class _Form(NamedTuple):
    """The form that is asked for, and what is said of it."""

    output: OutputFormat
    words: tuple[str, ...]


@lru_cache(maxsize=256)
def _form(name: str, compiled: Compiled, prompts: Prompts, to: _Reached) -> _Form:
    """Return the form to ask for; a schema that the vendor cannot hold the model to is not sent as one."""
    mode = to.profile.mode(to.wire, to.model) if compiled.enforced else _unenforced(compiled, to)
    output = OutputFormat(name, mapping(compiled.schema), mode, strict=to.profile.strict(to.wire, to.model))
    return _Form(output, wording.form(prompts, compiled, output, holds=to.profile.holds(to.wire, to.model)))


def _unenforced(compiled: Compiled, to: _Reached) -> OutputMode:
    allowed = to.profile.limits(to.model).modes
    has = OutputMode.JSON_OBJECT in to.profile.wires[to.wire].output.modes
    usable = has and (allowed is None or OutputMode.JSON_OBJECT in allowed)
    return OutputMode.JSON_OBJECT if usable and _is_object(compiled.original) else OutputMode.TEXT


def _is_object(schema: Json) -> bool:
    """Tell whether every document of the schema is an object, where its root or what the root refers to says so."""
    node = mapping(schema)
    if "$ref" in node:
        node = mapping(mapping(node.get("$defs")).get(str(node["$ref"]).removeprefix("#/$defs/")))
    return node.get("type") == "object"


def _encoded(contract: Contract, examples: tuple[Json, ...]) -> list[Json]:
    """Return the examples in the vendor's form; raises ``InputError`` for one that would not be accepted."""
    return [_example(contract, index, each) for index, each in enumerate(examples)]


def _example(contract: Contract, index: int, example: Json) -> Json:
    found = contract.accept(example)
    if found.raised is not None:
        raised = f"{found.raised.by} raised {type(found.raised.error).__name__} on examples[{index}]."
        raise InputError(raised, hint=_BUG) from found.raised.error
    if found.violations:
        raise InputError(f"examples[{index}] does not hold: {'; '.join(map(str, found.violations))}.")
    try:
        return contract.compiled.encode(example)
    except Unencodable as error:
        raise InputError(f"examples[{index}] cannot be shown: {error}.") from error


def _correlation_id(run_id: str, node_id: str, kind: str) -> str:
    made = f"{run_id}:{node_id}:0:{_digest(kind)}"
    if len(made) > _LONGEST_ID or not run_id or not node_id:
        raise InputError(f"run_id and node_id must be non-empty and make an id of at most {_LONGEST_ID} characters.")
    return made


@lru_cache(maxsize=256)
def _digest(kind: str) -> str:
    return hashlib.sha256(kind.encode()).hexdigest()[:8]
