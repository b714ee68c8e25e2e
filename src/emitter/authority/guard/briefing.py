"""Write the decision in which a principal approves or declines a tool call.

A template or a model writes the reasons. The library writes the lines that state the call and the label of the option
that runs it, so a model cannot misstate the call.

Source: draft-morrison-binding-moment-envelope-00, section 5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from emitter.authority.proposals.document import DIGEST_MEMBER
from emitter.authority.proposals.proposal import summarize_operation
from emitter.authority.records import BUDGET_PATTERN
from emitter.authority.rules import SIDE_EFFECTS
from emitter.client.binding_moments import aemit_binding_moment, emit_binding_moment
from emitter.client.result import Emission
from emitter.decisions.canonical_json import LONE_SURROGATE, digest
from emitter.decisions.ledger_words import format_duration
from emitter.errors import InputError, NotApproved
from emitter.forms.binding_moment import validate_continuations
from emitter.messages import as_list, as_mapping
from emitter.models import BindingMoment, ClarificationRequest, Deliberation, ErrorReport, Option, Question, Trust
from emitter.prompts import Material, Media
from emitter.render.safe_text import sanitize_clusters, to_single_line
from emitter.schema.json_data import escape_pointer_token
from emitter.visible_text import mark_lookalikes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.authority.proposals.proposal import Proposal
    from emitter.authority.records import Amount, ConfirmRequest
    from emitter.client.result import Withheld
    from emitter.conversation import Messages
    from emitter.decisions.resolution import Continuation, Reopen
    from emitter.messages import Json

_MAX_TARGET_LENGTH: Final = 100
"""Maximum characters of a target in the synopsis."""
_INVISIBLE_SPACE: Final = re.compile(r"(?<= ) |[^\S ]")
_WORD: Final = re.compile(r"[^ ]+")
_NO_ARGUMENTS: Final = "The call takes no arguments."


def call_label(tool: str) -> str:
    """Return the label of the option that makes a call of a tool."""
    return f"Run {tool} with exactly these arguments"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """The call to decide on: the tool's name, the ``proposal``, and the authority requested for it."""

    tool: str
    proposal: Proposal
    request: ConfirmRequest
    _objections: tuple[Reopen, ...] = field(default=(), init=False, repr=False, compare=False)
    _reads: list[bool] = field(default_factory=list[bool], init=False, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The label of the option that makes the call. The envelope must contain it exactly once."""
        return call_label(self.tool)

    def with_objections(self, objections: tuple[Reopen, ...]) -> ApprovalRequest:
        """Return a request with the objections to its call that ``read_objections`` returns."""
        request = ApprovalRequest(self.tool, self.proposal, self.request)
        object.__setattr__(request, "_objections", objections)
        return request

    def read_objections(self) -> tuple[Reopen, ...]:
        """Return the principal's objections to this very call, earliest first, to pass as ``after=``.

        A brief that reads them says that its envelope addresses them. If it does not, a call with objections is
        refused, and nobody is asked.
        """
        self._reads.append(True)
        return self._objections

    @property
    def has_read_objections(self) -> bool:
        """True once ``read_objections`` was called."""
        return bool(self._reads)


BriefWriter: TypeAlias = Callable[[ApprovalRequest], BindingMoment | Awaitable[BindingMoment]]
"""A function of an ``ApprovalRequest`` that returns the ``BindingMoment`` for its call, or an awaitable of it.

One option must have the label ``ApprovalRequest.label``.
"""


def brief_from_template(request: ApprovalRequest) -> BindingMoment:
    """Write an envelope that states the call and nothing more, without a model.

    A template has no reasons for or against a call. For a tie, the draft (section 5.7) asks that the synopsis names it
    and that the option is recommended which costs least if it is wrong. That is to leave the call undone, at any risk
    level, because it can be made later.
    """
    seconds = request.request.ttl_seconds
    targets = [target for target in request.request.scope.targets or () if target != request.tool]
    # The findings show each target whole.
    short = (f"{each[:_MAX_TARGET_LENGTH]}\u2026" if len(each) > _MAX_TARGET_LENGTH else each for each in targets)
    suffix = "".join(f" on {_visible_json(target)}" for target in short)
    amounts = _describe_amounts(request.request.limits)
    suffix += f" for {', '.join(amounts)}" if amounts else ""
    return BindingMoment(
        synopsis=(
            f"The agent asks to run {request.tool}{suffix} once, with exactly the arguments that are listed here, and "
            "gives no reasons, so the safer option is marked."
        ),
        findings=(),
        recommendations=(
            f"Approve the call only if every line above is right; the approval then lasts {format_duration(seconds)}.",
            "Leave it undone if you are not sure.",
        ),
        offer=(
            "Ask for the values that are shown only as a hash."
            if _contains_digest(request.proposal.parameters)
            else "Ask why the agent wants this call."
        ),
        question=Question.ask(
            f"What should happen to this call of {request.tool}?",
            [
                Option(label=request.label, reasoning="The call is exactly what you want."),
                Option(label="Leave it undone", reasoning="You are not sure. The agent can propose the call again."),
            ],
            recommended_idx=1,
        ),
    )


def add_call_findings(request: ApprovalRequest, moment: BindingMoment) -> tuple[BindingMoment, int]:
    """Put the call before the findings; return the index of the option that makes it, or raise ``InputError``."""
    if not isinstance(moment, BindingMoment):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("brief= must return a BindingMoment.")
    places = _find_call_options(request, moment)
    if len(places) != 1:
        raise InputError(
            "The envelope must offer the call exactly once.", hint="Give one option the label request.label."
        )
    return moment.model_copy(update={"findings": (*describe_call(request), *moment.findings)}), places[0]


def states_call(request: ApprovalRequest, moment: BindingMoment, actions: tuple[str | None, ...]) -> bool:
    """Return True if an existing envelope states the whole call and one option makes it."""
    places = _find_call_options(request, moment)
    count = len(moment.question.options)
    expected = tuple(request.request.digest if index in places else None for index in range(count))
    # Questions of earlier releases have no marks.
    statements = (describe_call(request, CallText(request.proposal, has_marks=marks)) for marks in (True, False))
    is_stated = any(moment.findings[: len(lines)] == lines for lines in statements)
    return len(places) == 1 and is_stated and actions == expected


def _find_call_options(request: ApprovalRequest, moment: BindingMoment) -> list[int]:
    return [index for index, option in enumerate(moment.question.options) if option.label == request.label]


def describe_call(request: ApprovalRequest, text: CallText | None = None) -> tuple[str, ...]:
    """Return the findings that state a call: arguments, account, limits, risk and consequences."""
    text = text or CallText(request.proposal)
    lines = text.describe_arguments()
    targets = ", ".join(map(text.format, request.request.scope.targets or ()))
    account = [] if request.proposal.account is None else [f"Account: {text.format(request.proposal.account)}"]
    bounds = f"Target: {targets}. {_describe_limits(request.request.limits)}"
    call = request.request.call
    function = "" if call is None or not call.function else f" {_describe_function(call.function)}"
    risk = f"Risk: {request.request.risk_level.value}.{function} Reference of the call: {request.proposal.s256}."
    return (*(lines or [_NO_ARGUMENTS]), *account, bounds, risk, *_display_lines(request.proposal))


def _describe_limits(limits: Mapping[str, Amount]) -> str:
    """Say in words how often a call runs and how much it may use."""
    effects = limits.get(SIDE_EFFECTS, 1)
    amounts = [] if effects == 1 else [f"{effects:,} side effects"]
    amounts += _describe_amounts(limits)
    return f"It runs once, and uses at most {', '.join(amounts)}." if amounts else "It runs once."


def _describe_amounts(limits: Mapping[str, Amount]) -> list[str]:
    return [_describe_amount(name, amount) for name, amount in limits.items() if name != SIDE_EFFECTS]


def _describe_amount(name: str, amount: Amount) -> str:
    unit = name[-3:].upper() if re.fullmatch(BUDGET_PATTERN, name) else name.removeprefix("max_")
    return f"{amount:,} {unit.replace('_', ' ')}"


_FUNCTION_HASH: Final = re.compile(r"#[0-9a-f]{16}\Z")
_SCRIPT_FUNCTION: Final = re.compile(r"__main__\((?P<file>.*)#[0-9a-f]{16}\):(?P<name>.*)", re.DOTALL)


def _describe_function(function: str) -> str:
    """Say which function a call runs: its name, and the file of a script or its module."""
    identity = _FUNCTION_HASH.sub("", function)
    script = _SCRIPT_FUNCTION.fullmatch(identity)
    if script is not None:
        return f"Function: {_visible_json(script['name'])} in the file {_visible_json(script['file'])}."
    module, _, name = identity.partition(":")
    place = "" if module == "__main__" else f" in the module {_visible_json(module)}"
    return f"Function: {_visible_json(name)}{place}."


def _contains_digest(value: Json) -> bool:
    """Return True if a value is shown, in whole or in part, as a hash."""
    match value:
        case Mapping():
            return DIGEST_MEMBER in value or any(map(_contains_digest, as_mapping(value).values()))
        case list():
            return any(map(_contains_digest, as_list(value)))
        case _:
            return False


_DISPLAY_TITLES: Final = {
    "summary": "What it does",
    "implications": "What follows from it",
    "data_accessed": "What it reads or discloses",
    "irreversible": "Whether it can be undone",
}
"""The display texts shown in the findings, with their titles."""


def _display_lines(proposal: Proposal) -> list[str]:
    """Return a line for each display text; a summary generated from the name alone is left out."""
    display = proposal.display
    if display is None:
        return []
    texts = {name: " ".join((getattr(display, name) or "").split()) for name in _DISPLAY_TITLES}
    if texts["summary"] == summarize_operation(proposal.operation, proposal.vocabulary):
        texts["summary"] = ""
    return [f"{title}: {texts[name]}" for name, title in _DISPLAY_TITLES.items() if texts[name]]


@dataclass(frozen=True, slots=True)
class CallText:
    """Writes the values of a proposal so that a person sees all that they hold, and what they only look like."""

    proposal: Proposal
    has_marks: bool = True

    def describe_arguments(self) -> list[str]:
        """Return a line for each argument."""
        shown = self.proposal.shown
        return [self._describe(name, value, shown) for name, value in self.proposal.parameters.items()]

    def _describe(self, name: str, value: Json, shown: Mapping[str, str]) -> str:
        start = name if name.isidentifier() and name.isascii() else self.format(name)
        pointer = f"/{escape_pointer_token(name)}"
        if isinstance(value, Mapping) and DIGEST_MEMBER in value and pointer not in shown:
            return f"{start}: {_describe_digest(as_mapping(value))}"
        return f"{start}: {self._format_value(value, pointer, shown) if shown else self.format(value)}"

    def _format_value(self, value: Json, pointer: str, shown: Mapping[str, str]) -> str:
        text = None if pointer not in shown else self._make_visible(shown[pointer])
        match value:
            case {"s256": str(digest)} if text is not None:
                return f"{text} (SHA-256 {digest})"
            case Mapping():
                members = (
                    f"{self.format(name)}: {self._format_value(each, f'{pointer}/{escape_pointer_token(name)}', shown)}"
                    for name, each in as_mapping(value).items()
                )
                plain = f"{{{', '.join(members)}}}"
            case list():
                entries = (
                    self._format_value(each, f"{pointer}/{index}", shown) for index, each in enumerate(as_list(value))
                )
                plain = f"[{', '.join(entries)}]"
            case _:
                plain = self.format(value)
        return plain if text is None else f"{text}: {plain}"

    def format(self, value: Json) -> str:
        """Return a value as JSON on one line, with invisible characters and letters that look like others escaped."""
        return self._make_visible(json.dumps(value, ensure_ascii=False))

    def _make_visible(self, text: str) -> str:
        if not self.has_marks or text.isascii():
            return _make_visible(text)
        # An escape such as \n is no letter of the word after it.
        parts = _JSON_ESCAPE.split(_make_visible(text))
        parts[::2] = [mark_lookalikes(part, _escape_character) for part in parts[::2]]
        return "".join(parts)


def _describe_digest(digest_object: Mapping[str, Json]) -> str:
    excerpt = digest_object.get("excerpt")
    beginning = "not shown" if excerpt is None else f"begins {_visible_json(excerpt)}"
    return f"{beginning} (SHA-256 {digest_object[DIGEST_MEMBER]})"


_JSON_ESCAPE: Final = re.compile(r"(\\(?:u[0-9a-f]{4}|.))")


def _visible_json(value: Json) -> str:
    """Return a value as JSON on one line, with invisible and misleading characters escaped."""
    return _make_visible(json.dumps(value, ensure_ascii=False))


def _make_visible(text: str) -> str:
    spaced = _INVISIBLE_SPACE.sub(lambda match: _escape_character(match[0]), LONE_SURROGATE.sub("\ufffd", text))
    return _WORD.sub(lambda match: _escape_unsafe(match[0]), spaced)


def _escape_unsafe(word: str) -> str:
    # sanitize_clusters() replaces each unsafe character by one other character, so the positions stay the same.
    sanitized = "".join(sanitize_clusters(word))
    return "".join(
        character if character == safe else _escape_character(character)
        for character, safe in zip(word, sanitized, strict=True)
    )


def _escape_character(character: str) -> str:
    return json.dumps(character)[1:-1] if not character.isascii() else f"\\u{ord(character):04x}"


def brief_with_model(
    situation: Messages | Callable[[ApprovalRequest], Messages],
    *,
    model: str,
    materials: Iterable[Material | Media | str] = (),
    **options: Any,
) -> Callable[[ApprovalRequest], BindingMoment]:
    """Return a brief writer that asks a model, with the arguments of ``emit_binding_moment``.

    ``situation`` is what the model reads beside the call, or a function of the request that returns it.
    If the principal objected to this very call before, the model reads the objection and must ask another question. If
    it withholds the decision, the call raises ``NotApproved`` and nobody is asked.
    """
    material_items, earlier = tuple(materials), validate_continuations(options.pop("after", ()))

    def brief(request: ApprovalRequest) -> BindingMoment:
        return _require_decision(
            emit_binding_moment(
                situation(request) if callable(situation) else situation,
                model=model,
                materials=(*material_items, _call_material(request)),
                actions=_call_action(request),
                after=_continuations(request, earlier),
                **options,
            )
        )

    return brief


def abrief_with_model(
    situation: Messages | Callable[[ApprovalRequest], Messages],
    *,
    model: str,
    materials: Iterable[Material | Media | str] = (),
    **options: Any,
) -> Callable[[ApprovalRequest], Awaitable[BindingMoment]]:
    """Async version of ``brief_with_model``, for async tools."""
    material_items, earlier = tuple(materials), validate_continuations(options.pop("after", ()))

    async def brief(request: ApprovalRequest) -> BindingMoment:
        return _require_decision(
            await aemit_binding_moment(
                situation(request) if callable(situation) else situation,
                model=model,
                materials=(*material_items, _call_material(request)),
                actions=_call_action(request),
                after=_continuations(request, earlier),
                **options,
            )
        )

    return brief


def _call_action(request: ApprovalRequest) -> dict[str, str]:
    return {request.label: request.request.digest}


def _continuations(request: ApprovalRequest, earlier: tuple[Continuation, ...]) -> tuple[Continuation, ...]:
    """Return the continuations that the caller passed and the objections to the call, each envelope once."""
    objections = request.read_objections()
    refused = {digest(each.moment) for each in objections}
    return (*(each for each in earlier if digest(each.moment) not in refused), *objections)


def _call_material(request: ApprovalRequest) -> Material:
    """Return the call as untrusted material, because its arguments may come from anywhere."""
    display = request.proposal.display
    text = "" if display is None else f"{display.summary}\n\n{display.detail or ''}"
    return Material(text, source=f"the proposed call of {request.tool}", trust=Trust.UNTRUSTED)


def _require_decision(decision: Emission[BindingMoment] | Withheld) -> BindingMoment:
    if not isinstance(decision, Emission):
        raise NotApproved(
            f"The agent withheld the decision, so nobody was asked: {_describe_withheld(decision.reason)}",
            withheld=decision.reason,
            hint="Provide what the agent says is missing.",
        )
    return decision.value


def _describe_withheld(reason: Deliberation | ClarificationRequest | ErrorReport) -> str:
    match reason:
        case Deliberation(state=state, missing=missing):
            text = " ".join((state, *(("Missing:", "; ".join(missing)) if missing else ())))
        case ClarificationRequest(questions=questions):
            text = " ".join(each.question for each in questions)
        case ErrorReport(message=message):
            text = message
    return to_single_line(text)
