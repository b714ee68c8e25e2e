"""The contract that every surface keeps, as one class of tests, and as one function that runs them."""

from __future__ import annotations

from inspect import getdoc
from typing import TYPE_CHECKING, Any, ClassVar

from emitter.testing.surfaces import answering, delivering, looking
from emitter.testing.surfaces.hostile import HOSTILE, HUGE
from emitter.testing.surfaces.moments import MOMENTS
from emitter.testing.surfaces.require import Broken
from emitter.testing.surfaces.results import GOOD, MALFORMED, OTHER, PAYLOAD, WITHOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.kinds import BindingMoment
    from emitter.testing.surfaces.subject import Subject
    from emitter.wire import Json


class SurfaceContract:
    """Tests of one surface: subclass it as ``TestMySurface`` and set ``subject``.

    ``moments`` may be ``FEW`` for a surface that takes its time. ``bound`` is false for a surface whose replies cannot
    name the envelope they answer, such as a typed line: whoever reads one says which envelope was shown.
    """

    subject: Subject[Any]
    moments: ClassVar[Mapping[str, BindingMoment]] = MOMENTS
    bound: ClassVar[bool] = True

    def test_the_briefing_is_shown_whole(self) -> None:
        """Section 8.1: all four briefing slots."""
        self._each(looking.briefing)

    def test_every_option_is_shown_with_its_reasoning(self) -> None:
        """Section 8.1: the cached comparison is there."""
        self._each(looking.options)

    def test_exactly_the_recommended_option_is_marked(self) -> None:
        """Section 8.1: the agent's lean is to be seen."""
        self._each(looking.mark)

    def test_the_mark_is_in_words(self) -> None:
        """Section 8.1: and never in colour alone."""
        self._each(looking.mark_in_words)

    def test_every_open_hatch_and_no_other_can_be_invoked(self) -> None:
        """Section 8.1: the vetoes are not the renderer's to withdraw."""
        self._each(looking.hatches)

    def test_a_selection_comes_back(self) -> None:
        """Section 6.3: the vote."""
        self._each(answering.selection)

    def test_an_answer_in_ones_own_words_comes_back_where_it_may(self) -> None:
        """Section 6.3: the amendment, and its refusal where the hatch is closed."""
        self._each(answering.own_words)

    def test_an_objection_comes_back_where_it_may(self) -> None:
        """Section 6.3: the motion to refer back, and its refusal where the hatch is closed."""
        self._each(answering.objection)

    def test_an_option_that_is_not_there_is_refused(self) -> None:
        """Section 6.3: nothing happens."""
        self._each(answering.out_of_range)

    def test_what_is_no_answer_is_never_consent(self) -> None:
        """Section 6.3: one of three, or none."""
        self._each(answering.forged)

    def test_a_reply_to_another_envelope_is_refused(self) -> None:
        """Section 3: an envelope solicits its own resolution."""
        if self.bound:
            self._each(answering.unnamed)
            for name, moment in self.moments.items():
                _held(answering.foreign, name, self.subject, moment, OTHER)

    def test_a_decision_is_found_in_a_result(self) -> None:
        """Section 7.1: beside the tool's own payload."""
        result = {**PAYLOAD, "binding_moment": GOOD.to_json()}
        _held(delivering.well_formed, "beside a payload", self.subject, result, GOOD)

    def test_a_malformed_decision_falls_back(self) -> None:
        """Sections 4, 8.3 and 11.5: the payload and a diagnostic, and no part of a decision."""
        for name, result in MALFORMED.items():
            _held(delivering.malformed, name, self.subject, result, PAYLOAD)

    def test_a_result_without_a_decision_is_shown_as_it_is(self) -> None:
        """Section 8.3: the tool's own payload."""
        for name, result in WITHOUT.items():
            _held(delivering.without, name, self.subject, result, result)

    def test_untrusted_text_is_shown_whole(self) -> None:
        """Sections 8.1 and 11: markup is text, and the slots hold."""
        self._hostile(looking.briefing, looking.options)

    def test_untrusted_text_is_harmless(self) -> None:
        """Section 11: no controls, no bidi controls, nothing that cannot be seen."""
        self._hostile(looking.harmless)

    def test_untrusted_text_moves_neither_mark_nor_hatch(self) -> None:
        """Sections 8.1 and 11: the layout is ours, and so are the replies."""
        self._hostile(looking.mark, looking.hatches, answering.selection)

    def test_a_label_that_deceives_is_shown_with_its_warning(self) -> None:
        """Section 11: false marks, keys, vetoes and twins are named."""
        self._hostile(looking.warnings)

    def test_a_huge_decision_is_shown_whole_or_not_at_all(self) -> None:
        """Section 8.1: nothing is dropped to save space."""
        for name, moment in HUGE.items():
            _held(looking.whole_or_not_at_all, name, self.subject, moment)

    def _each(self, check: Callable[[Subject[Any], BindingMoment], None]) -> None:
        __tracebackhide__ = True
        for name, moment in self.moments.items():
            _held(check, name, self.subject, moment)

    def _hostile(self, *given: Callable[[Subject[Any], BindingMoment], None]) -> None:
        __tracebackhide__ = True
        for check in given:
            for name, moment in HOSTILE.items():
                _held(check, name, self.subject, moment)


def check_surface(subject: Subject[Any], *, moments: Mapping[str, BindingMoment] = MOMENTS, bound: bool = True) -> None:
    """Hold a surface to the whole contract; raises ``AssertionError`` that names every broken invariant."""
    contract = type("Contract", (SurfaceContract,), {"subject": subject, "moments": moments, "bound": bound})()
    broken: list[str] = []
    for name in [each for each in vars(SurfaceContract) if each.startswith("test_")]:
        try:
            getattr(contract, name)()
        except Broken as error:
            broken.append(str(error))
    if broken:
        raise Broken("\n".join(broken))


def _held(check: Callable[..., None], case: str, *given: Json) -> None:
    """Run a check; raises ``Broken`` with the check's sentence and the name of the case."""
    __tracebackhide__ = True  # pytest shows the test and the sentence, not the kit
    try:
        check(*given)
    except Broken as error:
        raise Broken(f"{getdoc(check)}\n  {case}: {error}") from None
    except Exception as error:  # whatever a surface raises, the message says which rule it was held to
        raise Broken(f"{getdoc(check)}\n  {case}: {type(error).__name__}: {error}") from error
