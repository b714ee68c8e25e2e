"""Test that a surface draws binding moments and reads replies as the draft requires.

Subclass ``SurfaceContract`` in your tests (``class TestMySurface(SurfaceContract): subject = MySubject()``), or call
``check_surface(MySubject())``. ``RendererSubject`` implements what the subjects of all ``Renderer`` classes share.

Source: draft-morrison-binding-moment-envelope-00, sections 3, 4, 6.3, 7.1, 8 and 11.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import partial
from inspect import getdoc
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from emitter.decisions import Dialogue, FreeText, Selected, Unresolved, digest
from emitter.errors import HatchClosed, InputError, ResolutionError
from emitter.render.delivery import PlainResult, present
from emitter.render.layout import HatchKind, build_layout
from emitter.testing.sample_moments import (
    HOSTILE_MOMENTS,
    HUGE_MOMENTS,
    MALFORMED_RESULTS,
    ORDINARY_MOMENTS,
    OTHER_MOMENT,
    RESULTS_WITHOUT_MOMENT,
    TOOL_PAYLOAD,
    VALID_MOMENT,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emitter.decisions import Resolution
    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render import Renderer

DrawingT = TypeVar("DrawingT")


class SurfaceSubject(Protocol[DrawingT]):
    """A surface under test. Texts are as a person reads them: rendered, and not escaped."""

    def draw(self, moment: BindingMoment) -> DrawingT:
        """Return a new drawing of the envelope."""
        ...

    def text(self, drawn: DrawingT) -> str:
        """Return all readable text, including text that is one step away."""
        ...

    def option(self, drawn: DrawingT, index: int) -> ShownOption:
        """Return the option at ``index`` (from 0) as the drawing shows it."""
        ...

    def hatches(self, drawn: DrawingT) -> set[HatchKind]:
        """Return the hatches that can be used."""
        ...

    def select(self, drawn: DrawingT, index: int) -> Json:
        """Return the reply that selects an option. If the option does not exist, forge one."""
        ...

    def answer(self, drawn: DrawingT, text: str, /) -> Json:
        """Return a free-text reply. If the hatch is closed, forge one."""
        ...

    def object(self, drawn: DrawingT, text: str, /) -> Json:
        """Return a dialogue reply; ``text`` may be empty. If the hatch is closed, forge one."""
        ...

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return the resolution of a reply to this envelope. Raises ``ResolutionError``."""
        ...

    def deliver(self, result: Json) -> DrawingT | PlainResult:
        """Return the drawing of a tool's structured result, or its plain result."""
        ...


class SurfaceContract:
    """Tests of one surface: subclass it as ``TestMySurface`` and set ``subject``.

    Slow surfaces may set ``moments`` to ``FEW_MOMENTS``. Set ``bound`` to False if replies cannot name their
    envelope, as a typed line cannot; then the caller decides which envelope a reply belongs to.
    """

    subject: SurfaceSubject[Any]
    moments: ClassVar[Mapping[str, BindingMoment]] = ORDINARY_MOMENTS
    bound: ClassVar[bool] = True

    def test_the_briefing_is_drawn_completely(self) -> None:
        """Section 8.1: all four briefing slots are visible."""
        self._check_moments(check_briefing)

    def test_every_option_is_drawn_with_its_reasoning(self) -> None:
        """Section 8.1: the reasoning of every option is available."""
        self._check_moments(check_options)

    def test_exactly_the_recommended_option_is_marked(self) -> None:
        """Section 8.1: the recommendation is visible."""
        self._check_moments(check_mark)

    def test_the_mark_is_in_words(self) -> None:
        """Section 8.1: the mark is not colour alone."""
        self._check_moments(check_mark_in_words)

    def test_every_open_hatch_and_no_other_can_be_invoked(self) -> None:
        """Section 8.1: a renderer never withdraws a veto."""
        self._check_moments(check_hatches)

    def test_a_selection_is_read(self) -> None:
        """Section 6.3: the vote."""
        self._check_moments(check_selection)

    def test_a_free_text_answer_is_read_if_its_hatch_is_open(self) -> None:
        """Section 6.3: the amendment, and its refusal if the hatch is closed."""
        self._check_moments(check_free_text)

    def test_an_objection_is_read_if_its_hatch_is_open(self) -> None:
        """Section 6.3: the motion to refer back, and its refusal if the hatch is closed."""
        self._check_moments(check_dialogue)

    def test_a_missing_option_is_refused(self) -> None:
        """Section 6.3: an option that does not exist cannot be selected."""
        self._check_moments(check_out_of_range)

    def test_an_invalid_reply_is_never_consent(self) -> None:
        """Section 6.3: an invalid reply is never a resolution."""
        self._check_moments(check_forged_replies)

    def test_a_reply_to_another_envelope_is_refused(self) -> None:
        """Section 3: a reply resolves its own envelope only."""
        if self.bound:
            self._check_moments(check_unnamed_replies)
            for name, moment in self.moments.items():
                _run_check(check_foreign_reply, name, self.subject, moment, OTHER_MOMENT)

    def test_a_decision_is_found_in_a_result(self) -> None:
        """Section 7.1: the envelope is next to the tool's own payload."""
        result = {**TOOL_PAYLOAD, "binding_moment": VALID_MOMENT.to_json()}
        _run_check(check_well_formed_result, "beside a payload", self.subject, result, VALID_MOMENT)

    def test_a_malformed_decision_falls_back(self) -> None:
        """Sections 4, 8.3 and 11.5: only the payload and a diagnostic are shown."""
        for name, result in MALFORMED_RESULTS.items():
            _run_check(check_malformed_result, name, self.subject, result, TOOL_PAYLOAD)

    def test_a_result_without_a_decision_stays_unchanged(self) -> None:
        """Section 8.3: the tool's own payload is shown."""
        for name, result in RESULTS_WITHOUT_MOMENT.items():
            _run_check(check_result_without_moment, name, self.subject, result, result)

    def test_untrusted_text_is_drawn_completely(self) -> None:
        """Sections 8.1 and 11: markup is text, and no slot loses any."""
        self._check_hostile(check_briefing, check_options)

    def test_untrusted_text_is_harmless(self) -> None:
        """Section 11: no control, bidi or invisible characters."""
        self._check_hostile(check_harmless)

    def test_untrusted_text_moves_neither_mark_nor_hatch(self) -> None:
        """Sections 8.1 and 11: text cannot change the layout or the replies."""
        self._check_hostile(check_mark, check_hatches, check_selection)

    def test_a_deceptive_label_has_its_warning(self) -> None:
        """Section 11: false marks, keys, vetoes and duplicates get a warning."""
        self._check_hostile(check_warnings)

    def test_a_huge_decision_is_drawn_completely_or_refused(self) -> None:
        """Section 8.1: nothing is left out to save space."""
        for name, moment in HUGE_MOMENTS.items():
            _run_check(check_complete_or_refused, name, self.subject, moment)

    def _check_moments(self, check: Callable[[SurfaceSubject[Any], BindingMoment], None]) -> None:
        __tracebackhide__ = True
        for name, moment in self.moments.items():
            _run_check(check, name, self.subject, moment)

    def _check_hostile(self, *checks: Callable[[SurfaceSubject[Any], BindingMoment], None]) -> None:
        __tracebackhide__ = True
        for check in checks:
            for name, moment in HOSTILE_MOMENTS.items():
                _run_check(check, name, self.subject, moment)


def check_surface(
    subject: SurfaceSubject[Any], *, moments: Mapping[str, BindingMoment] | None = None, bound: bool = True
) -> None:
    """Run the whole contract on a surface, by default with ``ORDINARY_MOMENTS``.

    Raises:
        ContractViolation: With every violated rule.
    """
    moments = ORDINARY_MOMENTS if moments is None else moments
    contract = type("Contract", (SurfaceContract,), {"subject": subject, "moments": moments, "bound": bound})()
    violations: list[str] = []
    for name in [name for name in vars(SurfaceContract) if name.startswith("test_")]:
        try:
            getattr(contract, name)()
        except ContractViolation as error:
            violations.append(str(error))
    if violations:
        raise ContractViolation("\n".join(violations))


def _run_check(check: Callable[..., None], case: str, *arguments: Json) -> None:
    """Run a check. Raises ``ContractViolation`` with the check's docstring and the name of the case."""
    __tracebackhide__ = True  # pytest shows the test and the message only
    try:
        check(*arguments)
    except ContractViolation as error:
        raise ContractViolation(f"{getdoc(check)}\n  {case}: {error}") from None
    except Exception as error:  # the message names the rule for any error of the surface
        raise ContractViolation(f"{getdoc(check)}\n  {case}: {type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class ShownOption:
    """An option as a person sees it on a drawing.

    Attributes:
        text: The text that is visible without an action: label, mark, warning, and the reasoning if it is visible.
        reasoning: The reasoning, visible or one step away.
        is_marked: Whether the option is marked as recommended.
    """

    text: str
    reasoning: str
    is_marked: bool


class NotOffered(Exception):
    """Raised by a subject if its surface has no way to send a reply, not even a forged one."""


class RendererSubject(Generic[DrawingT]):
    """The part of a subject that all renderers share. Subclasses set ``renderer`` and inspect its drawings."""

    renderer: Renderer[DrawingT]

    def draw(self, moment: BindingMoment) -> DrawingT:
        """Return the renderer's drawing."""
        return self.renderer.draw(moment)

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return the resolution that the renderer reads."""
        return self.renderer.read(moment, reply)

    def deliver(self, result: Json) -> DrawingT | PlainResult:
        """Return the drawing of a tool's result, or its plain result."""
        return present(result, self.renderer)


class ContractViolation(AssertionError):
    """A surface violates the contract. The message names the section, the rule and the difference."""


def require(condition: bool, message: str) -> None:  # noqa: FBT001  the condition is the subject
    """Raise ``ContractViolation`` unless the condition is true."""
    if not condition:
        raise ContractViolation(message)


def require_shown(shown: str, subject: str, texts: Iterable[str]) -> None:
    """Require that each text is shown. White space does not count, because texts may be wrapped."""
    shown_text = _strip_whitespace(shown)
    for text in texts:
        require(
            _strip_whitespace(text) in shown_text, f"{subject} must be shown: {text[:80]!r} is not in {shown[:400]!r}"
        )


def require_resolution(subject: SurfaceSubject[Any], moment: BindingMoment, reply: Json, expected: Resolution) -> None:
    """Require that the surface reads a reply as this resolution."""
    resolution = subject.read(moment, reply)
    require(resolution == expected, f"expected {expected}, got {resolution}")


def require_refused(
    subject: SurfaceSubject[Any], moment: BindingMoment, make_reply: Callable[[], Json], error: type[ResolutionError]
) -> None:
    """Require that a reply is impossible, or is refused with this error."""
    try:
        resolution = subject.read(moment, make_reply())
    except (error, NotOffered):
        return
    except ResolutionError as other_error:
        require(condition=False, message=f"expected {error.__name__}, got {type(other_error).__name__}")
    else:
        require(condition=False, message=f"expected {error.__name__}, got {resolution}")


def _strip_whitespace(text: str) -> str:
    return "".join(text.split())


def check_briefing(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§8.1: the four briefing slots, the stem and the note are shown completely."""
    shown, layout = subject.text(subject.draw(moment)), build_layout(moment)
    require_shown(shown, "the synopsis", [layout.synopsis])
    require_shown(shown, "every finding", layout.findings)
    require_shown(shown, "every recommendation", layout.recommendations)
    require_shown(shown, "the offer", [layout.offer])
    require_shown(shown, "the question's stem", [layout.stem])
    require_shown(shown, "the calibration note", [layout.note or ""])


def check_options(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§8.1: each option is shown with its label, and its reasoning with it or one step away."""
    drawing = subject.draw(moment)
    all_text = subject.text(drawing)
    for choice in build_layout(moment).choices:
        option = subject.option(drawing, choice.index)
        require_shown(option.text, f"the label of option {choice.index}, with the option", [choice.label])
        require_shown(option.reasoning, f"the reasoning of option {choice.index}, with the option", [choice.reasoning])
        require_shown(all_text, f"label and reasoning of option {choice.index}", [choice.label, choice.reasoning])


def check_warnings(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§11: a label that imitates another label, a mark or a veto is shown with the layout's warning."""
    drawing = subject.draw(moment)
    for choice in build_layout(moment).choices:
        option = subject.option(drawing, choice.index)
        require_shown(option.text, f"the warning at option {choice.index} ({choice.warning})", [choice.warning or ""])


def check_mark(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§8.1: exactly the recommended option is marked, visible without an action."""
    drawing, recommended = subject.draw(moment), moment.question.recommended_idx
    marked = [index for index, _ in enumerate(moment.question.options) if subject.option(drawing, index).is_marked]
    require(marked == [recommended], f"option {recommended} is recommended, but the marked options are {marked}")


def check_mark_in_words(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§8.1: the mark is a word at the recommended option and at no other."""
    question = moment.question
    recommended = question.recommended_idx
    other = (recommended + 1) % len(question.options)
    changed = moment.model_copy(update={"question": question.model_copy(update={"recommended_idx": other})})
    drawing, control = subject.draw(moment), subject.draw(changed)
    words = _find_words(subject.option(drawing, recommended).text)
    words -= _find_words(subject.option(control, recommended).text)
    for index in set(range(len(question.options))) - {recommended}:
        words -= _find_words(subject.option(drawing, index).text)
    require(bool(words), f"no word marks option {recommended} as recommended")
    require(bool(words & _find_words(subject.text(drawing))), "the mark is not in the text")


def check_hatches(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§8.1: exactly the open hatches can be used."""
    expected = {kind for kind in HatchKind if getattr(moment.question.hatches, kind.value)}
    offered = subject.hatches(subject.draw(moment))
    require(offered == expected, f"open hatches: {_list_names(expected)}; offered: {_list_names(offered)}")


def check_harmless(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§11: no text of the envelope has control, bidi or invisible characters."""
    unsafe = {f"U+{ord(character):04X}" for character in subject.text(subject.draw(moment)) if _is_unsafe(character)}
    require(not unsafe, f"unsafe characters: {', '.join(sorted(unsafe))}")


def check_complete_or_refused(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§8.1: an envelope that is too large is shown completely, or refused with ``InputError``."""
    try:
        subject.draw(moment)
    except InputError:
        plain = subject.deliver({"binding_moment": moment.to_json()})
        require(
            isinstance(plain, PlainResult) and bool(plain.diagnostic),
            "an envelope that cannot be drawn must fall back with a diagnostic",
        )
        return
    for check in (check_briefing, check_options, check_harmless):
        check(subject, moment)


def _is_unsafe(character: str) -> bool:
    if character in "\n\t\u200c\u200d":
        return False
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def _list_names(kinds: Iterable[HatchKind]) -> str:
    return ", ".join(sorted(kind.value for kind in kinds)) or "none"


def _find_words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", text.casefold()))


FREE_TEXT_ANSWER = "2 of them, but not today (see: 1)"
"""A free-text answer that starts like the selection of an option."""
DIALOGUE_OBJECTION = "What about the other customers?"
FORGED_REPLIES: tuple[Json, ...] = (
    *(None, True, False, -1, 1.5, [], [0], {}, {"action": "accept"}, {"index": 99}, {"selected": "0"}),
    *("", " ", "\n", "yes", "y", "ok", "approve", "recommended", "0", "-1", "1.5", "1 2", "\u0661", "99", "null", "{}"),
)
"""Replies that are invalid on any surface."""
UNNAMED_REPLIES: tuple[Json, ...] = (
    0,
    1,
    "1",
    "2",
    {"index": 0},
    {"selected": 0},
    {"dialogue": ""},
    {"free_text": "Neither."},
)
"""Replies that do not name their envelope."""


def check_selection(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§6.3: selecting an option returns the selection of this option of this envelope."""
    for index, _ in enumerate(moment.question.options):
        require_resolution(
            subject, moment, subject.select(subject.draw(moment), index), Selected(digest(moment), index)
        )


def check_free_text(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§6.3: a free-text answer comes back word for word, or is refused if the hatch is closed."""
    if moment.question.hatches.free_text:
        reply = subject.answer(subject.draw(moment), FREE_TEXT_ANSWER)
        require_resolution(subject, moment, reply, FreeText(digest(moment), FREE_TEXT_ANSWER))
    else:
        require_refused(subject, moment, lambda: subject.answer(subject.draw(moment), FREE_TEXT_ANSWER), HatchClosed)


def check_dialogue(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§6.3: an objection comes back, even an empty one, or is refused if the hatch is closed."""
    if not moment.question.hatches.dialogue:
        require_refused(subject, moment, lambda: subject.object(subject.draw(moment), DIALOGUE_OBJECTION), HatchClosed)
        return
    for text in (DIALOGUE_OBJECTION, ""):
        require_resolution(subject, moment, subject.object(subject.draw(moment), text), Dialogue(digest(moment), text))


def check_out_of_range(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§6.3: the selection of an option that does not exist is refused."""
    for index in (len(moment.question.options), 99):
        require_refused(subject, moment, partial(subject.select, subject.draw(moment), index), ResolutionError)


def check_forged_replies(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§6.3: an invalid reply is refused or unresolved, and is never consent."""
    _check_unresolved(subject, moment, FORGED_REPLIES)


def check_unnamed_replies(subject: SurfaceSubject[Any], moment: BindingMoment) -> None:
    """§3: a reply that does not name its envelope is refused. If replies cannot name it, set ``bound`` to False."""
    _check_unresolved(subject, moment, UNNAMED_REPLIES)


def check_foreign_reply(subject: SurfaceSubject[Any], moment: BindingMoment, other: BindingMoment) -> None:
    """§3: an envelope accepts only replies to itself."""
    require_refused(subject, moment, lambda: subject.select(subject.draw(other), 0), ResolutionError)
    if moment.question.hatches.free_text and other.question.hatches.free_text:
        require_refused(subject, moment, lambda: subject.answer(subject.draw(other), FREE_TEXT_ANSWER), ResolutionError)
    if moment.question.hatches.dialogue and other.question.hatches.dialogue:
        require_refused(
            subject, moment, lambda: subject.object(subject.draw(other), DIALOGUE_OBJECTION), ResolutionError
        )


def _check_unresolved(subject: SurfaceSubject[Any], moment: BindingMoment, replies: Iterable[Json]) -> None:
    for reply in replies:
        try:
            resolution = subject.read(moment, reply)
        except ResolutionError:
            continue
        require(isinstance(resolution, Unresolved), f"the reply {reply!r} was read as {type(resolution).__name__}")


def check_well_formed_result(subject: SurfaceSubject[Any], result: Json, moment: BindingMoment) -> None:
    """§7.1: the envelope in a tool's result is drawn and can be answered."""
    drawing = subject.deliver(result)
    require(not isinstance(drawing, PlainResult), "a well-formed envelope was not drawn")
    require_shown(subject.text(drawing), "the synopsis", [build_layout(moment).synopsis])
    require_resolution(subject, moment, subject.select(drawing, 0), Selected(digest(moment), 0))


def check_malformed_result(subject: SurfaceSubject[Any], result: Json, payload: Json) -> None:
    """§8.3: a malformed envelope is discarded with a diagnostic, and only the tool's payload is shown."""
    plain = _deliver_plain_result(subject, result, payload)
    require(bool(plain.diagnostic), "a diagnostic must report the discarded envelope")
    require("Synopsis:" not in str(plain.diagnostic), "the diagnostic quotes the envelope")


def check_result_without_moment(subject: SurfaceSubject[Any], result: Json, payload: Json) -> None:
    """§8.3: a result without an envelope is the tool's own payload, without a diagnostic."""
    plain = _deliver_plain_result(subject, result, payload)
    require(plain.diagnostic is None, "there was no envelope to report")


def _deliver_plain_result(subject: SurfaceSubject[Any], result: Json, payload: Json) -> PlainResult:
    plain = subject.deliver(result)
    if not isinstance(plain, PlainResult):
        raise ContractViolation("the result was drawn as a binding moment")
    require(plain.payload == payload, f"expected the payload {payload!r}, got {plain.payload!r}")
    return plain
