"""The options that the functions and clients share. Each is declared and documented once.

A function takes them as ``**options: Unpack[...]``, so type checkers and editors know each one.
``@documented_options(...)`` adds them to its signature and docstring for ``help()``.
"""

from __future__ import annotations

import inspect
import re
import sys
from functools import wraps
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, cast, is_typeddict

from emitter.errors import UnknownArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from os import PathLike
    from typing import ForwardRef

    from emitter.client.background import Background
    from emitter.client.rate_limits import RateLimit
    from emitter.client.routing import Fallback, FallbackWord
    from emitter.clock import Clock
    from emitter.core.verdicts import FallbackReason
    from emitter.forms.binding_moment import Actions, EarlierAnswers
    from emitter.forms.content import Check
    from emitter.host import Acceptor, EnvelopeContract
    from emitter.messages import Json
    from emitter.models import BindingMoment, Hatches
    from emitter.policy import Policy
    from emitter.profiles import Profile
    from emitter.prompts import Example, Material, Media
    from emitter.schema.compiler import UndeclaredProperties
    from emitter.schema.references import SchemaRegistry
    from emitter.telemetry.sinks import Sink

T = TypeVar("T")
ReasoningEffort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
F = TypeVar("F", bound="Callable[..., Any]")


class ModelSettings(TypedDict, total=False):
    """Settings of the model, mapped to the vendor's own fields. One that the model does not take raises ``InputError``.

    Args:
        temperature: How random the answer is, from 0 to the vendor's maximum.
        top_p: The share of the most likely tokens to sample from.
        seed: A number that makes sampling repeatable as far as the vendor can.
        reasoning_effort: How long the model thinks, from ``"none"`` to ``"max"``. The output budget follows it.
        service_tier: The vendor's processing tier, such as ``"flex"`` or ``"priority"``.
        safety: Google's safety settings: categories such as ``"HARM_CATEGORY_HARASSMENT"`` with their thresholds.
        stop: Texts that end the answer.
        extra_headers: HTTP headers to send along.
        extra_body: The vendor's own parameters, such as ``{"metadata": {"team": "legal"}}``. They are merged into the
            request body (for Google, into the ``GenerateContentConfig``) and must not set what the library sets itself.
    """

    temperature: float | None
    top_p: float | None
    seed: int | None
    reasoning_effort: ReasoningEffort | None
    service_tier: str | None
    safety: Mapping[str, str] | None
    stop: str | Sequence[str] | None
    extra_headers: Mapping[str, str] | None
    extra_body: Mapping[str, Json] | None


class CallContent(TypedDict, total=False):
    """The content and the limits of one emission.

    Args:
        materials: Texts, images, documents and audio that bear on the task, with their trust.
        policy: Limits on attempts, tokens, time and cost. Defaults to ``Policy()``, or to the client's.
        keep_response: True keeps the model's own text and tool arguments, without registered secrets: of the accepted
            answer in ``response``, and of every answer in ``response`` of its attempt.
        background: True lets the vendor write the answer without an open connection, which is then looked for until it
            is there: for answers that take minutes, over OpenAI's Responses API. ``Background(store, key)`` waits for
            the same answer again after a crash. Not for streams and many jobs.
    """

    materials: Iterable[Material | Media | str]
    policy: Policy | None
    keep_response: bool
    background: Background | bool


class ClientSettings(TypedDict, total=False):
    """The client, the models to ask after the named one, and what applies to every call.

    Args:
        client: An SDK client of any flavour, which you close. By default emitter creates one from the vendor's
            environment variables and keeps it open.
        base_url: The server's address, if no client is passed.
        profile: What the server is, if emitter's profile of it is wrong or missing: a ``Profile`` from
            ``Profile.from_toml(...)`` or ``Profile.from_name(...).override(...)``. ``model`` is then the server's own
            name of the model, and the profile's name may stand before it.
        instructions: Text for the system prompt, after the library's own.
        fallback: Models to ask in order if the named one lacks a required capability or fails: names, or
            ``Fallback``s. Each is asked in its own vendor's form, within the emission's limits and deadline. At another
            vendor it uses that vendor's environment variables: ``client``, ``base_url``, ``profile``, ``wire`` and
            ``extra_headers`` apply only to the named vendor, and so does ``extra_body`` if the wire differs.
        fallback_on: The failures after which the next model is asked. Defaults to ``{"unreachable", "rate-limited",
            "truncated", "invalid"}``. A refusal is taken to another model only if you add ``"refused"``.
        on_event: A function that is called with every event. If it raises, the emission warns once and goes on.
        rate_limit: A ``RateLimit`` that all emissions of the process keep together, by model, key and address. Calls
            wait for it, within the emission's deadline. The limits that the vendor reports in its headers apply
            too: ``RateLimit()`` keeps these alone.
        cache_prompt: True marks what all emissions of a form begin with, so that the vendor caches it, and ``"long"``
            asks for the vendor's longest lifetime. False writes nothing to a cache, where the vendor leaves the choice.
            By default a mark is set only where writing costs no more than reading afresh.
    """

    client: object
    base_url: str | None
    profile: Profile | None
    instructions: str | None
    fallback: Sequence[str | Fallback]
    fallback_on: Collection[FallbackWord | FallbackReason]
    on_event: Sink | None
    rate_limit: RateLimit | None
    cache_prompt: bool | Literal["long"] | None


class CompilationSettings(TypedDict, total=False):
    """The choice of the API, the prompts and the form of the schema.

    Args:
        wire: One of the vendor's wires, such as ``"openai-chat"``, if it has several.
        prompts: A folder whose files replace the library's prompts of the same name.
        degrade: False raises ``Uncompilable`` for a schema that is too large for the vendor. By default the part that
            does not fit is checked here only.
        undeclared: ``"carry"`` keeps properties that an object schema does not declare, as text (the default for a JSON
            Schema). ``"close"`` forbids them (the default for a type).
        registry: The schemas that a JSON Schema refers to outside itself: a mapping of URIs to schemas, or a
            ``referencing.Registry``. Nothing is fetched.
        requires: The capabilities that the model must have (OpenWOP RFC 0031), such as ``["structured-output"]``. If it
            lacks one, nothing is sent and ``CapabilityNotProvided`` is raised.
        validator_messages: False withholds the messages of your validators and checks from the model.
    """

    wire: str | None
    prompts: str | PathLike[str] | None
    degrade: bool
    undeclared: UndeclaredProperties | Literal["carry", "close"] | None
    registry: SchemaRegistry | None
    requires: Iterable[str]
    validator_messages: bool


class NodeOptions(TypedDict, total=False):
    """The place of one emission in a run of OpenWOP.

    Args:
        run_id: The id of the run in every event. Defaults to a new id.
        node_id: The id of the node in every event.
        turn: The node's turn, within which the host counts envelopes.
    """

    run_id: str | None
    node_id: str | None
    turn: int


class HostOptions(TypedDict, total=False):
    """The OpenWOP host that takes the envelope.

    Args:
        kind: Your own kind, whose payload the document is. ``host`` must know it. Without it the document is emitted as
            ``vendor.emitter.document``.
        contract: The kinds that the node may emit. An answer of another kind fails with
            ``envelope_contract_violation``. The four universal kinds are always allowed.
        host: The ``Acceptor`` that takes the envelope, with its kinds, limits, secrets and store. With a store, an
            answer that was accepted before for the same ``run_id``, ``node_id``, ``turn``, prompt and form is returned
            without asking a model. The host's ``HostLimits`` apply too: ``schema_rounds`` can lower
            ``Policy.max_attempts``.
        provider_ids: The names of vendors in events, if they differ from ours: OpenWOP lists ``gemini`` for ``google``.
        clock: The clock, for tests and replays.
    """

    kind: str | None
    contract: EnvelopeContract | None
    host: Acceptor | None
    provider_ids: Mapping[str, str] | None
    clock: Clock | None


# The order of the bases is the order of the options in help(): first what most programs use, OpenWOP's last.


class EmitterOptions(ClientSettings, ModelSettings, CompilationSettings, HostOptions, total=False):
    """Options of a client."""


class CallOptions(CallContent, ModelSettings, NodeOptions, total=False):
    """Options of one emission."""


class EmitOptions(
    CallContent, ClientSettings, ModelSettings, CompilationSettings, NodeOptions, HostOptions, total=False
):
    """Options of every function that emits."""


class DocumentRules(TypedDict, Generic[T], total=False):
    """Options of a typed object.

    Args:
        checks: Functions that receive a valid value and return what is wrong with it: sentences, False, ``Violation``s
            or ``emitter.checks.Finding``s with a severity. The model is corrected with these messages, from which its
            own words are removed.
        examples: Valid values or documents to show to the model, or ``Example``s, each with the input that it answers.
        context: The context of your pydantic validators (``info.context``), for the answer, its corrections and the
            examples. Only what their messages say of it is sent.
    """

    checks: Iterable[Check[T]]
    examples: Iterable[T | Json | Example[T]]
    context: object


class DocumentCall(DocumentRules[T], CallOptions, Generic[T], total=False):
    """Options of ``Emitter.emit``."""


class DocumentOptions(DocumentRules[T], EmitOptions, Generic[T], total=False):
    """Options of ``emit``."""


class StreamSelectors(TypedDict, total=False):
    """Options of every stream: texts to report while they are written.

    Args:
        follow: JSON pointers to texts that are reported as ``TextDelta`` while they are written. In a decision they
            are ``/reasoning``, ``/synopsis``, ``/offer`` and ``/question/stem``.
    """

    follow: Iterable[str]


class DocumentSelectors(StreamSelectors, total=False):
    """Options of a stream of a typed object.

    Args:
        into: JSON pointers to lists or objects, such as ``/lines``, whose members are reported one by one.
    """

    into: Iterable[str]


class DocumentStreamCall(DocumentSelectors, DocumentCall[T], Generic[T], total=False):
    """Options of ``Emitter.stream``."""


class DocumentStreamOptions(DocumentSelectors, DocumentOptions[T], Generic[T], total=False):
    """Options of ``stream``."""


class DecisionRules(TypedDict, total=False):
    """Options of decisions.

    Args:
        decision_class: A class for the envelope's ``meta``, such as ``"consent"``.
        hatches: The vetoes that the principal has. Both are open by default.
        checks: Checkers of the envelope, and functions as for ``emit``, instead of ``emitter.checks.DEFAULT_CHECKS``.
            Add one with ``checks=(*DEFAULT_CHECKS, check)``.
    """

    decision_class: str | None
    hatches: Hatches
    checks: Iterable[Check[BindingMoment]] | None


class SingleDecision(DecisionRules, total=False):
    """Options of one decision.

    Args:
        after: The continuations of earlier envelopes from ``continue_after``, earliest first. The model reads them and
            must not repeat a refused question. The envelope is then untrusted, since they repeat a model's words.
        actions: One to four options that do something, as label to action digest, or None for no action. The envelope
            offers exactly these labels beside the model's own options. The model reads the labels but no digest. The
            envelope is then untrusted, since anyone's words may be in a label.
    """

    after: EarlierAnswers
    actions: Actions


class DecisionCall(SingleDecision, CallOptions, total=False):
    """Options of ``Emitter.emit_binding_moment``."""


class DecisionOptions(SingleDecision, EmitOptions, total=False):
    """Options of ``emit_binding_moment``."""


class DecisionStreamCall(StreamSelectors, DecisionCall, total=False):
    """Options of ``Emitter.stream_binding_moment``."""


class DecisionStreamOptions(StreamSelectors, DecisionOptions, total=False):
    """Options of ``stream_binding_moment``."""


class _Omitted:
    """The default of an option, which its description states."""

    def __repr__(self) -> str:
        return "..."


_OMITTED = _Omitted()
_ARGUMENT_SECTION = re.compile(r"^Args:\n((?: +.*\n)*)", re.MULTILINE)
_OTHER_SECTION = re.compile(r"^(Returns|Yields|Raises|Attributes|Examples?|Note):$", re.MULTILINE)
_ARGUMENT = re.compile(r"^ {4}(\w+): .*\n(?: {5,}.*\n)*", re.MULTILINE)


def documented_options(source: type) -> Callable[[F], F]:
    """Add the options of ``source`` to the signature and docstring of a function that takes ``**options``.

    The function then raises ``UnknownArgument`` for any other option, before a missing argument is reported.
    """

    def document(function: F) -> F:
        signature, docstring = describe_options(function, source)
        known = frozenset(signature.parameters.keys() | EmitOptions.__annotations__.keys())

        @wraps(function)
        def call(*args: Any, **passed: Any) -> Any:
            if not known.issuperset(passed):
                raise _unknown_option(passed, known)
            return function(*args, **passed)

        @wraps(function)
        async def acall(*args: Any, **passed: Any) -> Any:
            if not known.issuperset(passed):
                raise _unknown_option(passed, known)
            from emitter.fairness import take_turn  # noqa: PLC0415  only event loops need it

            await take_turn()
            return await function(*args, **passed)

        documented = cast("Any", acall if inspect.iscoroutinefunction(function) else call)
        documented.__signature__, documented.__doc__ = signature, docstring
        return cast("F", documented)

    return document


def describe_options(function: Callable[..., Any], source: type) -> tuple[inspect.Signature, str]:
    """Return the signature and the docstring of a function whose ``**options`` are those of ``source``."""
    hints: dict[str, ForwardRef] = source.__annotations__
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_OMITTED, annotation=hint.__forward_arg__)
        for name, hint in hints.items()
    ]
    descriptions = _descriptions(__name__, source) | _descriptions(source.__module__, source)
    signature = inspect.signature(function)
    *named, _ = signature.parameters.values()
    docstring = _add_arguments(function.__doc__ or "", "".join(descriptions[name] for name in hints))
    return signature.replace(parameters=[*named, *options]), docstring


def _unknown_option(passed: Mapping[str, object], known: Collection[str]) -> UnknownArgument:
    name = min(passed.keys() - known)
    return UnknownArgument(f"There is no option {name!r}.", hint=_advise(name, known))


_RETRIES = "Pass policy=Policy(max_faults=...) for failed calls, or Policy(max_attempts=...) for rejected answers."
_FORM = "Pass the type or JSON Schema as the first argument."
_MEDIA = "Pass materials=[Image(...)], or Document or Audio, of emitter.media."
_BODY = "If the vendor has it, pass extra_body={{{name!r}: ...}}."
_ADVICE = {
    **dict.fromkeys(("max_retries", "num_retries", "retries", "retry"), _RETRIES),
    **dict.fromkeys(("max_tokens", "max_completion_tokens"), "Pass policy=Policy(output_tokens=...)."),
    **dict.fromkeys(("request_timeout",), "Pass policy=Policy(timeout=...)."),
    **dict.fromkeys(("budget", "usage_limits"), "Pass policy=Policy(max_cost=...) or Policy(max_total_tokens=...)."),
    **dict.fromkeys(("system", "system_prompt", "system_instruction"), "Pass instructions=."),
    **dict.fromkeys(("tools", "tool_choice", "functions"), "No tools are run: emit on the messages of your tool loop."),
    **dict.fromkeys(("api_key", "key"), "Pass client=, or use Emitter(model, api_key=...)."),
    **dict.fromkeys(("endpoint", "url", "api_base", "host_url"), "Pass base_url=."),
    **dict.fromkeys(("headers", "default_headers"), "Pass extra_headers=."),
    **dict.fromkeys(("response_model", "response_format", "response_schema", "schema"), _FORM),
    **dict.fromkeys(("output_type", "output_schema", "result_type", "text_format", "type"), _FORM),
    **dict.fromkeys(("prompt", "input", "contents", "content", "text"), "Pass it as messages=."),
    **dict.fromkeys(("images", "image", "files", "file", "documents", "attachments", "audio", "media"), _MEDIA),
    **dict.fromkeys(("validators", "validate", "guards"), "Pass checks=."),
    **dict.fromkeys(("validation_context", "deps"), "Pass context=."),
    **dict.fromkeys(("few_shot", "fewshot", "shots"), "Pass examples=."),
    **dict.fromkeys(("fallbacks", "fallback_models"), "Pass fallback=."),
    **dict.fromkeys(("thinking", "reasoning", "thinking_budget", "effort"), "Pass reasoning_effort=."),
    **dict.fromkeys(("top_k", "n", "verbosity", "metadata", "user", "frequency_penalty", "presence_penalty"), _BODY),
    **dict.fromkeys(("stop_sequences",), "Pass stop=."),
    **dict.fromkeys(("rpm", "tpm", "rate_limiter"), "Pass rate_limit=RateLimit(...)."),
    **dict.fromkeys(("concurrency", "max_concurrency", "max_workers"), "Pass in_flight= to emit_many."),
    **dict.fromkeys(("callback", "callbacks", "hooks", "on_chunk"), "Pass on_event=."),
    **dict.fromkeys(("stream",), "Call stream() or astream()."),
    **dict.fromkeys(("mode", "output_mode"), "Pass profile=Profile.from_name(...).override(modes=[...])."),
    **dict.fromkeys(("model",), "The Emitter has a model. Make another Emitter, or call emit(..., model=...)."),
}
"""The words of other libraries. The fields of ``Policy`` and close spellings need no row."""
_CUTOFF = 0.7
"""The similarity below which no option is suggested."""


def _advise(name: str, options: Collection[str]) -> str:
    """Return a sentence that says what to pass instead of the option ``name``, or an empty text."""
    from difflib import get_close_matches  # noqa: PLC0415  only a mistake needs it

    from emitter.policy import Policy  # noqa: PLC0415

    if name in Policy.__dataclass_fields__:
        return f"Pass policy=Policy({name}=...)."
    if name in _ADVICE:
        return _ADVICE[name].format(name=name)
    for function, rules in (("emit", DocumentRules), ("emit_binding_moment", SingleDecision)):
        if name in rules.__annotations__:
            return f"It is an option of {function}."
    known = {*options, *DocumentRules.__annotations__, *SingleDecision.__annotations__}
    return "".join(f"Did you mean {close!r}?" for close in get_close_matches(name, sorted(known), 1, _CUTOFF))


def _descriptions(module: str, source: type) -> dict[str, str]:
    """Return the description of each option, from the ``Args`` of the module's classes that ``source`` extends."""
    values = [value for value in vars(sys.modules[module]).values() if is_typeddict(value)]
    bases = [value for value in values if value.__annotations__.items() <= source.__annotations__.items()]
    sections = [
        section for base in bases for section in _ARGUMENT_SECTION.findall(inspect.cleandoc(base.__doc__ or "") + "\n")
    ]
    return {match[1]: match[0] for section in sections for match in _ARGUMENT.finditer(section)}


def _add_arguments(docstring: str, descriptions: str) -> str:
    """Add descriptions to the ``Args`` of a docstring, which precede its other sections if it has none."""
    text = inspect.cleandoc(docstring)
    if section := _ARGUMENT_SECTION.search(text + "\n"):
        end = section.end(1)
        return f"{text[:end].rstrip()}\n{descriptions}{text[end:]}".rstrip()
    section = _OTHER_SECTION.search(text)
    end = len(text) if section is None else section.start()
    return f"{text[:end].rstrip()}\n\nArgs:\n{descriptions}\n{text[end:]}".rstrip()
