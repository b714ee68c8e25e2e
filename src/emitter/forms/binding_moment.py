"""Ask for a binding moment.

Validates the caller's options (hatches, checks, earlier answers, fixed options with actions), renders them for the
model, checks an answer against the draft's rules, and selects the parts that a stream reports.

Source: draft-morrison-binding-moment-envelope-00, sections 5, 6 and 11.3. Actions are emitter's own: an envelope
contains none, and the model never sees a digest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, assert_never, cast

from pydantic import ValidationError

from emitter.arguments import check_list, check_text, check_type
from emitter.checks import DEFAULT_CHECKS, ModelJudge, StructuralChecks
from emitter.checks.structural import is_hatch_label
from emitter.checks.text import is_unreadable, normalize_text
from emitter.decisions import (
    Act,
    Continuation,
    Dialogue,
    FreeText,
    Hold,
    Incorporate,
    Reopen,
    Selected,
    Unresolved,
    answer_in_words,
    digest,
    open_dialogue,
    select_option,
)
from emitter.decisions.ledger_arguments import MAX_ACTION_LENGTH
from emitter.decisions.reopening import check_reopened
from emitter.errors import InputError
from emitter.findings import Finding, Severity
from emitter.forms.content import Check, ContentChecks, validate_checks
from emitter.forms.form import FormJudge, OutputForm
from emitter.messages import as_list, as_mapping
from emitter.models import BINDING_MOMENT, DELIBERATION, OPEN_HATCHES, BindingMoment, Hatches, Option, binding_moment
from emitter.models.binding_moment import MAX_OPTIONS
from emitter.prompts import binding_moment_prompt, escape_json, fence
from emitter.render.safe_text import MAX_WORD_WIDTH, to_compact_skeleton, to_single_line
from emitter.schema import Violation
from emitter.schema.compiler import ImmutableSchema
from emitter.schema.results import ParseResult
from emitter.schema.validator import property_names
from emitter.streaming import FieldComplete, StreamSelection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.core.verdicts import DocumentContract
    from emitter.messages import Json
    from emitter.models import AIEnvelope
    from emitter.models.binding_moment import TurnAnswer
    from emitter.prompts import PromptTemplates


def binding_moment_form(options: DecisionTerms) -> OutputForm:
    """Return the form of a decision. A form without earlier answers and actions is cached."""
    return _make_form(options) if options.after or options.actions else _cached_form(options)


def _make_form(options: DecisionTerms) -> OutputForm:
    return OutputForm(
        kind=BINDING_MOMENT,
        default_node_id="emit_binding_moment",
        name=binding_moment.TURN_SCHEMA_NAME,
        schema=_TURN_SCHEMA_SOURCE,
        system_prompt=partial(binding_moment_prompt, **options.hatches.model_dump()),
        read_value=partial(_read_turn, options),
        codec=_TurnCodec(options.actions),
        normalize=binding_moment.add_reasoning,
        render_history=partial(_render_earlier, options) if options.after or options.actions else None,
        cache_key=options.cache_key,
        judge=options.form_judge,
        value_pointer=_envelope_pointer,
    )


_cached_form = lru_cache(maxsize=64)(_make_form)


def _read_turn(options: DecisionTerms, document: Json) -> ParseResult[TurnAnswer]:
    if not binding_moment.is_recommendation_in_range(document):
        return ParseResult(violations=(_NO_SUCH_OPTION,))
    answer = binding_moment.parse_turn(document, options.hatches, options.decision_class)
    return check_content(answer, document, options) if isinstance(answer, BindingMoment) else ParseResult(answer)


def _render_earlier(options: DecisionTerms, prompts: PromptTemplates) -> tuple[str, ...]:
    return (*render_history(prompts, options.after), *render_fixed_options(prompts, options.actions))


_TURN_SCHEMA_SOURCE = ImmutableSchema(binding_moment.TURN_SCHEMA)


@cache
def _moment_names() -> frozenset[str]:
    return property_names(binding_moment.TURN_SCHEMA) | {"meta"}


_NO_SUCH_OPTION = Violation(
    "/turn/question/recommended_idx", "range", "the position of an option that exists, counted from 0"
)


@dataclass(frozen=True, slots=True)
class _TurnCodec:
    actions: Actions

    def to_payload(self, answer: TurnAnswer, document: Json) -> tuple[str, Json]:
        return binding_moment.kind_of(answer), binding_moment.turn_payload(answer, document["reasoning"])

    def from_envelope(self, _: DocumentContract, envelope: AIEnvelope) -> tuple[TurnAnswer, Json] | None:
        """Return the recorded answer with its own hatches, if it offers the current actions."""
        try:
            answer = binding_moment.parse_recorded_turn(envelope.type, envelope.payload)
        except ValidationError:
            return None
        if isinstance(answer, BindingMoment) and any(fixed_option_violations(self.actions, answer)):
            return None
        return answer, binding_moment.turn_document(answer, as_mapping(envelope.payload).get("reasoning", ""))


Actions: TypeAlias = Mapping[str, str | None]
"""The label of an option, and the digest of its action, or None for no action."""


@dataclass(frozen=True, slots=True, eq=False)
class DecisionTerms:
    """The validated options of a decision.

    ``checks`` check the envelope, ``after`` holds the continuations of earlier envelopes, earliest first, and
    ``actions`` the options with actions. ``content`` has the checks without a ``ModelJudge``.
    """

    hatches: Hatches = OPEN_HATCHES
    decision_class: str | None = None
    checks: tuple[Check[BindingMoment], ...] = DEFAULT_CHECKS
    after: tuple[Continuation, ...] = ()
    actions: Actions = field(default_factory=dict[str, "str | None"])
    content: ContentChecks = field(init=False, repr=False)

    def __post_init__(self) -> None:
        checks = tuple(check for check in self.checks if not isinstance(check, ModelJudge))
        object.__setattr__(self, "content", ContentChecks(checks, _moment_names, locate=_place_in_turn))
        name: Any = self.decision_class
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise InputError(f"decision_class is {name!r}; it must be a text such as 'consent', or None.")
        check_type("hatches", self.hatches, Hatches)
        check_hatch_labels(self.actions, self.checks)
        if reopened_questions(self.after) and not self.hatches.dialogue:
            raise InputError(
                "The principal refused a question, so hatches= must let them refuse the next one.",
                hint="Leave the dialogue hatch open.",
            )

    @property
    def form_judge(self) -> FormJudge | None:
        """The judge among the checks, which the emission asks after the others."""
        judge = next((check for check in self.checks if isinstance(check, ModelJudge)), None)
        return None if judge is None else FormJudge(judge, ContentChecks((), _moment_names, locate=_place_in_turn))

    @property
    def cache_key(self) -> tuple[str, ...]:
        """Identifies these options, except for ``after``, which is in the prompt."""
        return (
            self.hatches.model_dump_json(),
            self.decision_class or "",
            *map(_check_key, self.checks),
            *actions_cache_key(self.actions),
        )

    @classmethod
    def from_arguments(
        cls,
        hatches: Hatches,
        decision_class: str | None,
        checks: Iterable[Check[BindingMoment]] | None,
        after: EarlierAnswers,
        actions: Actions,
    ) -> DecisionTerms:
        """Validate the caller's arguments. Most decisions have none of the last three, so they share cached terms."""
        if checks is None and after == () and actions is NO_ACTIONS:
            with suppress(TypeError):  # an argument of a wrong type may have no hash
                return _default_terms(hatches, decision_class)  # pyright: ignore[reportArgumentType]  a frozen model has
        chosen = DEFAULT_CHECKS if checks is None else validate_checks(checks)
        return cls(hatches, decision_class, chosen, validate_continuations(after), validate_actions(actions))

    def with_history(self, after: EarlierAnswers, actions: Actions) -> DecisionTerms:
        """Return these terms for a decision with its own earlier answers and options with actions."""
        return replace(self, after=validate_continuations(after), actions=validate_actions(actions))


@lru_cache(maxsize=64)
def _default_terms(hatches: Hatches, decision_class: str | None) -> DecisionTerms:
    return DecisionTerms(hatches, decision_class)


def _check_key(check: object) -> str:
    """Return a key for a check: its name if it is a function, and its settings otherwise."""
    name = getattr(check, "__qualname__", None)
    return repr(check) if name is None else f"{getattr(check, '__module__', '')}.{name}"


HATCH_SUPPRESSED = "hatch-suppressed"
"""Reported for every envelope with a closed hatch. It cannot be turned off."""
_TURN_POINTER = "/turn"
_META_POINTER = "/meta"
_HATCH_EXPECTED = "open, unless the revision is genuinely inapplicable (section 5.8)"


def check_content(binding_moment: BindingMoment, document: Json, options: DecisionTerms) -> ParseResult[TurnAnswer]:
    """Return the envelope with the findings of the checks, or the violations that reject it."""
    fixed = tuple(fixed_option_violations(options.actions, binding_moment)) if options.actions else ()
    reopened = check_reopened(reopened_questions(options.after), binding_moment) if options.after else ()
    closed = _closed_hatches(binding_moment) if options.hatches != OPEN_HATCHES else ()
    checked = options.content.run(binding_moment, document, findings=(*reopened, *closed))
    if checked.failure is not None or not fixed:
        return checked
    return ParseResult(violations=(*fixed, *checked.violations))


def _place_in_turn(pointer: str) -> str:
    """Return the pointer of a slot in the model's document, which has no ``meta``."""
    return f"{_TURN_POINTER}{pointer.removeprefix(_META_POINTER)}"


def _closed_hatches(binding_moment: BindingMoment) -> Iterator[Finding]:
    for name, is_open in binding_moment.question.hatches.model_dump().items():
        if not is_open:
            yield Finding(f"/question/hatches/{name}", HATCH_SUPPRESSED, Severity.WARNING, _HATCH_EXPECTED)


EarlierAnswers: TypeAlias = Continuation | Iterable[Continuation]
"""One continuation, or several, earliest first."""
_EARLIER_ENVELOPE = "your earlier envelope"
_NO_OBJECTION_TEXT = "(They gave no reason. Find out what is wrong with the question before you ask another.)"


def render_history(prompts: PromptTemplates, continuations: tuple[Continuation, ...]) -> tuple[str, ...]:
    """Return the continuations as text for the model."""
    return tuple(_render_continuation(prompts, continuation) for continuation in continuations)


def reopened_questions(continuations: tuple[Continuation, ...]) -> tuple[Reopen, ...]:
    """Return the continuations in which the principal refused the question."""
    return tuple(continuation for continuation in continuations if isinstance(continuation, Reopen))


def validate_continuations(after: object) -> tuple[Continuation, ...]:
    """Return the continuations. Raises ``InputError`` for any other value, or for an undecided one."""
    if isinstance(after, Act | Incorporate | Reopen | Hold):
        after = (after,)
    if isinstance(after, BindingMoment | Selected | FreeText | Dialogue | Unresolved):
        raise InputError(f"after is of type {type(after).__name__}.", hint="Pass continue_after(resolution, moment).")
    continuations = tuple(
        map(_validate_continuation, check_list("after", after, (str, bytes), "what continue_after returned"))
    )
    if len({digest(continuation.moment) for continuation in continuations}) < len(continuations):
        raise InputError("after has two answers to one envelope.", hint="Pass the answer that counts.")
    return continuations


def _validate_continuation(value: object) -> Continuation:
    """Check a continuation against its envelope, since the caller may have built it without ``continue_after``."""
    if not isinstance(value, Act | Incorporate | Reopen | Hold) or not isinstance(
        cast("object", value.moment), BindingMoment
    ):
        raise InputError(f"after holds a {type(value).__name__}.", hint="Pass what continue_after returned.")
    match value:
        case Act(moment, index):
            select_option(moment, index)
        case Incorporate(moment, answer):
            answer_in_words(moment, answer)
        case Reopen(moment, objection):
            open_dialogue(moment, objection)
        case Hold():
            raise InputError(
                "after has a decision that was not made.", hint="Ask the principal again, or leave it out."
            )
        case _:
            assert_never(value)
    return value


def _render_continuation(prompts: PromptTemplates, continuation: Continuation) -> str:
    proposal = _render_proposal(continuation.moment)
    match continuation:
        case Act(index=index, option=option):
            text = fence(_render_option(option), "option", _EARLIER_ENVELOPE)
            return prompts.fill("chosen", question=proposal, number=str(index + 1), option=text)
        case Incorporate(answer=answer):
            return prompts.fill("answer", question=proposal, answer=answer)
        case Reopen(objection=objection):
            text = objection if objection.strip() else _NO_OBJECTION_TEXT
            return prompts.fill("objection", question=proposal, objection=text, deliberation=DELIBERATION)
        case Hold():
            raise TypeError("A Hold cannot be rendered for the model.")
        case _:
            assert_never(continuation)


def _render_proposal(moment: BindingMoment) -> str:
    """Return all that the principal read, because their answer may be about any part of it."""
    question, note = moment.question, None if moment.meta is None else moment.meta.calibration_note
    lines = [
        *([] if note is None else [f"Note: {_single_line(note)}"]),
        f"Synopsis: {_single_line(moment.synopsis)}",
        *_number("Finding", moment.findings),
        *_number("Recommendation", moment.recommendations),
        f"Offer: {_single_line(moment.offer)}",
        f"Question: {_single_line(question.stem)}",
        *(f"{number}. {_render_option(option)}" for number, option in enumerate(question.options, start=1)),
        f"Recommended: option {question.recommended_idx + 1}",
    ]
    return fence("\n".join(lines), "proposal", _EARLIER_ENVELOPE)


def _number(name: str, texts: Iterable[str]) -> Iterator[str]:
    return (f"{name} {number}: {_single_line(text)}" for number, text in enumerate(texts, start=1))


def _render_option(option: Option) -> str:
    return f"{_single_line(option.label)}: {_single_line(option.reasoning)}"


def _single_line(text: str) -> str:
    """Return the text on one line, so that it cannot look like a further option."""
    return " ".join(text.split())


NO_ACTIONS: Final[Actions] = MappingProxyType({})
MAX_LABEL_LENGTH: Final = 200
OPTION_MISSING: Final = "action-missing"
OPTION_DUPLICATED: Final = "action-twice"
OPTION_CONFUSABLE: Final = "action-alike"
_OPTIONS_POINTER: Final = "/turn/question/options"
_LABEL_HINT: Final = (
    f"Write it on one line, without outer, double or invisible spaces, control characters, "
    f"or a word of more than {MAX_WORD_WIDTH} columns."
)
_HATCH_HINT: Final = "The principal always has both vetoes (section 5.8): name what the option does."


def validate_actions(actions: object) -> dict[str, str | None]:
    """Return the actions sorted by label. Raises ``InputError`` for labels that no envelope could offer."""
    check_type("actions", actions, Mapping)
    pairs = tuple(cast("Mapping[object, object]", actions).items())
    if len(pairs) > MAX_OPTIONS:
        raise InputError(f"actions has {len(pairs)} labels.", hint=f"A question has at most {MAX_OPTIONS} options.")
    for number, (label, action) in enumerate(pairs, start=1):
        _check_label(f"Label {number} of actions", label)
        _check_digest(f"The digest at label {number} of actions", action)
    labelled = cast("tuple[tuple[str, str | None], ...]", pairs)
    if any(_are_confusable(one, other) for (one, _), (other, _) in combinations(labelled, 2)):
        raise InputError("Two labels of actions can be confused.", hint="Choose labels that look and read differently.")
    return dict(sorted(labelled))


def check_hatch_labels(actions: Actions, checks: Iterable[object]) -> None:
    """Raise ``InputError`` for a label that the structural checks reject in every envelope."""
    rejects = any(
        isinstance(check, StructuralChecks) and check.severity("option-hatch") is Severity.ERROR for check in checks
    )
    if rejects and any(map(is_hatch_label, actions)):
        raise InputError("A label of actions repeats a veto, or defers the decision.", hint=_HATCH_HINT)


def actions_cache_key(actions: Actions) -> tuple[str, ...]:
    """Return a cache key for the actions, including their digests."""
    return (json.dumps(sorted(actions.items())),) if actions else ()


def render_fixed_options(prompts: PromptTemplates, actions: Actions) -> tuple[str, ...]:
    """Return the labels for the model, fenced because they may contain anyone's words."""
    lines = [f"{number}. {escape_json(label)}" for number, label in enumerate(actions, start=1)]
    if not lines:
        return ()
    labels = fence("\n".join(lines), "labels", "the caller")
    return (prompts.fill("actions", labels=labels, binding_moment=BINDING_MOMENT),)


def fixed_option_violations(actions: Actions, binding_moment: BindingMoment) -> Iterator[Violation]:
    """Yield a violation for each fixed label that is missing, repeated or confusable."""
    labels = [option.label for option in binding_moment.question.options]
    for number, fixed_label in enumerate(actions, start=1):
        yield from _label_violations(number, [index for index, label in enumerate(labels) if label == fixed_label])
    for index, label in enumerate(labels):
        number = 0 if label in actions else _confusable_label(label, tuple(actions))
        if number:
            expected = f"fixed label {number} exactly, or one that cannot be taken for it"
            yield Violation(f"{_OPTIONS_POINTER}/{index}/label", OPTION_CONFUSABLE, expected)


def option_digests(actions: Actions, binding_moment: BindingMoment) -> tuple[str | None, ...]:
    """Return the digest of each option in order, or None for an option without one."""
    return tuple(actions.get(option.label) for option in binding_moment.question.options) if actions else ()


def _check_label(name: str, value: object) -> None:
    check_text(name, value)
    label = cast("str", value)
    if is_unreadable(label):
        raise InputError(f"{name} is blank.", hint="Name what the option does.")
    if len(label) > MAX_LABEL_LENGTH:
        raise InputError(f"{name} has {len(label)} characters.", hint=f"At most {MAX_LABEL_LENGTH} are allowed.")
    if to_single_line(label) != label:
        raise InputError(f"{name} would not be displayed exactly as written.", hint=_LABEL_HINT)


def _check_digest(name: str, value: object) -> None:
    if value is None:
        return
    check_text(name, value)
    if not 0 < len(cast("str", value)) <= MAX_ACTION_LENGTH:
        raise InputError(f"{name} must have 1 to {MAX_ACTION_LENGTH} characters.", hint="Pass None for no action.")


def _label_violations(number: int, positions: Sequence[int]) -> Iterator[Violation]:
    if not positions:
        yield Violation(_OPTIONS_POINTER, OPTION_MISSING, f"an option whose label is exactly fixed label {number}")
    for index in positions[1:]:
        yield Violation(
            f"{_OPTIONS_POINTER}/{index}/label",
            OPTION_DUPLICATED,
            f"another label, since fixed label {number} may appear only once",
        )


def _confusable_label(label: str, fixed: Sequence[str]) -> int:
    """Return the number of the fixed label that a label can be confused with, or 0."""
    return next((number for number, fixed_label in enumerate(fixed, start=1) if _are_confusable(fixed_label, label)), 0)


def _are_confusable(one: str, other: str) -> bool:
    """Return whether two labels look the same, or differ only in case and punctuation."""
    same_look = to_compact_skeleton(to_single_line(one)) == to_compact_skeleton(to_single_line(other))
    return same_look or _join_words(one) == _join_words(other)


def _join_words(label: str) -> str:
    """Return the words of a label, without case and punctuation."""
    return " ".join(word for word in normalize_text(label).split() if any(map(str.isalnum, word)))


_STREAMED_TURN = "/turn"
_STREAMED_OPTIONS = "/question/options/"
_STREAMED_RECOMMENDATION = "/question/recommended_idx"
_STREAMED_TEXTS = ("reasoning", "synopsis", "offer", "question/stem")


def decision_selectors(follow: object) -> StreamSelection:
    """Return the parts that a stream reports. ``follow`` names texts that are reported while they are written."""
    pointers = [_check_followed(pointer) for pointer in check_list("follow", follow, (str,), "the pointers")]
    return StreamSelection(
        containers=(("turn",), ("turn", "question"), ("turn", "question", "options")),
        text_pointers=tuple(
            pointer if pointer == "/reasoning" else f"{_STREAMED_TURN}{pointer}" for pointer in pointers
        ),
        new_event_factory=_FieldReader,
        display_pointer=_envelope_pointer,
    )


def _check_followed(pointer: object) -> str:
    allowed = [f"/{name}" for name in _STREAMED_TEXTS]
    if pointer not in allowed:
        raise InputError(f"follow has {pointer!r}.", hint=f"The texts of a decision are {', '.join(allowed)}.")
    return str(pointer)


def _envelope_pointer(pointer: str) -> str:
    return pointer.removeprefix(_STREAMED_TURN)


class _FieldReader:
    """Reads the fields of one answer. A recommendation is reported only after its option."""

    def __init__(self) -> None:
        self._option_count = 0

    def __call__(self, pointer: str, value: Json) -> FieldComplete | None:
        """Return the field's value: a text, a tuple of texts, an ``Option`` or an index."""
        field = _envelope_pointer(pointer)
        if field.startswith(_STREAMED_OPTIONS):
            self._option_count = int(field.removeprefix(_STREAMED_OPTIONS)) + 1
            return FieldComplete(field, Option(**value))
        if field == _STREAMED_RECOMMENDATION:
            return FieldComplete(field, int(value)) if value < self._option_count else None
        return FieldComplete(field, tuple(as_list(value)) if isinstance(value, list) else value)
