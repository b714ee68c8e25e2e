"""From the caller's words to what is asked of which vendor. Nothing is sent here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from emitter import conversation, prompt, tokens
from emitter.accept import Context
from emitter.adapters.adapter import ADAPTERS
from emitter.adapters.body import check_options
from emitter.adapters.client import keys_of
from emitter.budget.window import NoRoomError
from emitter.capability import Insufficient
from emitter.door import wording
from emitter.door.dispatch import refuse
from emitter.door.fallback import fallback
from emitter.door.hosted import hosted
from emitter.door.hushed import hushing
from emitter.door.identity import Asked, correlation, node_of
from emitter.door.reached import reached
from emitter.door.recording import recording
from emitter.door.result import Trace
from emitter.door.spending import spending
from emitter.door.taking import Taking
from emitter.errors import InputError, PromptTooLong, Unencodable
from emitter.events import NodeFailed
from emitter.judge import Contract
from emitter.kinds import Trust
from emitter.profile import WireName
from emitter.remedy import Code
from emitter.schema import compile_schema
from emitter.schema.compile import Undeclared
from emitter.steps import Ask
from emitter.wire import OutputFormat, OutputMode, Request, mapping, with_budget

if TYPE_CHECKING:
    from emitter.conversation import Situation
    from emitter.door.form import Enclosing, Wanted
    from emitter.door.reached import Reached
    from emitter.door.settings import Settings
    from emitter.profile import Profile
    from emitter.prompt import Prompts
    from emitter.schema import Compiled
    from emitter.sinks import Recorder
    from emitter.wire import Json

_NO_DOCUMENT = "the answer holds no single JSON document"
_BUG = "An example must be one that your checks and validators take."


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is settled before the first call."""

    profile: Profile
    wire: WireName
    ask: Ask
    context: Context
    correlation_id: str
    enclosing: Enclosing

    @property
    def node_id(self) -> str:
        """The node that emits."""
        return self.context.node_id


def plan(wanted: Wanted, situation: Situation, settings: Settings) -> Plan:
    """Return the plan of one emission.

    Raises ``InputError`` for what cannot be asked, ``PromptTooLong`` for a prompt that leaves no room for an answer,
    and ``CapabilityNotProvided`` where nobody may be asked.
    """
    _check_kind(wanted.kind, settings)
    chosen, wire, model = to = reached(settings.model, settings.client, settings.wire)
    check_options(settings.options, ADAPTERS[wire].OWNED, plain=wire is not WireName.GOOGLE)
    prompts, materials = wording.load(settings.prompts), settings.shown()
    talk = conversation.read(situation, prompts, headed=wanted.headed)
    contract = Contract(_compile(wanted, chosen, settings), hosted(wanted.read, settings), wanted.tidy)
    heard = wanted.heard(prompts)
    trust = conversation.meet([talk.trust, *(each.trust for each in materials), *(Trust.UNTRUSTED for _ in heard)])
    context = Context(settings.run_id, node_of(settings, wanted.node), settings.contract, inputs=trust)
    turns = (*talk.messages, *materials, *heard)
    asked = Asked((wanted.words(prompts), settings.instructions, *talk.system), turns, contract, wanted.terms)
    told_as = correlation(settings, context, wanted.kind, asked)
    taking = Taking(settings.host, contract, context, told_as, wanted.enclosing, settings.turn, wanted.kind)
    if isinstance(settings.gate, Insufficient) and taking.known() is None:
        refuse(settings.gate, recording(settings, context, told_as))
    form = _form(wanted.name, contract.compiled, prompts, to)
    said = wording.joined(
        wanted.words(prompts),
        "" if wanted.headed else wording.unknown(prompts, contract.compiled),
        settings.instructions or "",
        *talk.system,
    )
    beside = wording.beside(prompts, materials, heard)
    shown, two_steps = partial(wording.messages, prompts, talk.messages, beside), settings.policy.nl_to_format
    request = Request(
        model=model,
        system=wording.joined(said, *form.words, prompt.examples(prompts, _encoded(contract, wanted.examples))),
        messages=shown("begin"),
        output=form.output,
        budget=1,
        options=settings.options,
    )
    try:
        allowed = spending(request, contract.compiled, (chosen, wire), settings.policy)
    except NoRoomError as error:
        raise _too_long(error, recording(settings, context, told_as)) from None
    return Plan(
        profile=chosen,
        wire=wire,
        ask=Ask(
            provider=settings.provider_ids.get(chosen.provider, chosen.provider),
            request=with_budget(request, allowed.budget),
            contract=contract,
            write=lambda violations: prompt.corrective(prompts, violations or (_NO_DOCUMENT,)),
            ceiling=allowed.ceiling,
            least=chosen.wires[wire].tokens.minimum,
            kind=wanted.kind,
            count=lambda request: tokens.of_request(request, chosen.encoding(model)),
            fallback=fallback(prompts, said, shown("begin_in_words"), contract.compiled) if two_steps else None,
            opening=settings.opening,
            hush=hushing(settings.host.rules.secrets, partial(keys_of, chosen, settings.client)),
            known=taking.known,
            full=taking.full,
            take=taking,
        ),
        context=context,
        correlation_id=told_as,
        enclosing=wanted.enclosing,
    )


def _too_long(found: NoRoomError, tell: Recorder) -> PromptTooLong:
    """Tell that nothing is sent, and return the error that a vendor's own word for it would come to."""
    sentence, code = str(found), Code.TRUNCATION.value
    tell(NodeFailed(code, sentence, 0, {}))
    return PromptTooLong(sentence, code=code, trace=Trace((), tuple(tell.told)))


def _check_kind(kind: str, settings: Settings) -> None:
    """Refuse what the host would not take, before it is paid for."""
    if settings.kind not in (None, kind):
        raise InputError(f"kind is {settings.kind!r}, and this makes a {kind}.", hint="Leave it out, or use emit.")
    rules = settings.host.rules
    if not rules.envelopes or kind not in rules.catalogue:
        raise InputError(f"The host does not take {kind}.", hint="Pass the host= whose catalogue has the kind.")


def _compile(wanted: Wanted, chosen: Profile, settings: Settings) -> Compiled:
    undeclared = None if settings.undeclared is None else Undeclared(settings.undeclared)
    return compile_schema(
        wanted.schema, chosen, degrade=settings.degrade, undeclared=undeclared, registry=settings.registry
    )


class _Form(NamedTuple):
    """The form that is asked for, and what is said of it."""

    output: OutputFormat
    words: tuple[str, ...]


@lru_cache(maxsize=256)
def _form(name: str, compiled: Compiled, prompts: Prompts, to: Reached) -> _Form:
    """Return the form to ask for; a schema that the vendor cannot hold the model to is not sent as one."""
    mode = to.profile.mode(to.wire, to.model) if compiled.enforced else _unenforced(compiled, to)
    output = OutputFormat(name, mapping(compiled.schema), mode, strict=to.profile.strict(to.wire, to.model))
    return _Form(output, wording.form(prompts, compiled, output, holds=to.profile.holds(to.wire, to.model)))


def _unenforced(compiled: Compiled, to: Reached) -> OutputMode:
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
