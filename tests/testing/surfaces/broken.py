"""Every broken surface, with the test that has to catch it, and the sentence that has to be named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.testing.surfaces import broken_deliveries as deliveries
from tests.testing.surfaces import broken_replies as replies
from tests.testing.surfaces import broken_sheets as sheets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.testing.surfaces.honest import Honest

BRIEFING, OPTIONS, MARK = (
    "the four briefing slots, the stem and the note are shown completely",
    "each option is shown",
    "exactly the recommended option",
)
BROKEN: Mapping[str, tuple[type[Honest], str, str]] = {
    each.__name__: (each, test, sentence)
    for test, sentence, subjects in (
        (
            "test_the_briefing_is_drawn_completely",
            BRIEFING,
            (
                sheets.DropsAFinding,
                sheets.ShowsThreeFindings,
                sheets.ShowsTwoMoves,
                sheets.DropsTheOffer,
                sheets.DropsTheNote,
                sheets.CutsTheSynopsis,
            ),
        ),
        ("test_every_option_is_drawn_with_its_reasoning", OPTIONS, (sheets.HidesAReasoning, sheets.SwapsReasonings)),
        (
            "test_exactly_the_recommended_option_is_marked",
            MARK,
            (sheets.MarksNothing, sheets.MarksTheFirst, sheets.MarksTwo),
        ),
        (
            "test_the_mark_is_in_words",
            "the mark is a word at the recommended option and at no other",
            (sheets.MarksByColour, sheets.MarksEveryOptionInWords),
        ),
        (
            "test_every_open_hatch_and_no_other_can_be_invoked",
            "exactly the open hatches can be used",
            (sheets.OmitsTheQuestionHatch, sheets.OffersAClosedHatch, sheets.Crashes),
        ),
        (
            "test_a_selection_is_read",
            "selecting an option returns the selection",
            (replies.SelectsTheNext, replies.AnswersForAnother),
        ),
        (
            "test_a_free_text_answer_is_read_if_its_hatch_is_open",
            "a free-text answer comes back word for word",
            (
                replies.TakesAnAnswerForAChoice,
                replies.CutsTheAnswer,
                replies.TakesAnAnswerAtAClosedHatch,
                replies.CallsAClosedHatchBad,
            ),
        ),
        (
            "test_an_objection_is_read_if_its_hatch_is_open",
            "an objection comes back",
            (replies.WantsAReasonForAnObjection, replies.ObjectsAtAClosedHatch),
        ),
        (
            "test_a_missing_option_is_refused",
            "an option that does not exist is refused",
            (replies.TakesTheLastForOneTooMany,),
        ),
        (
            "test_an_invalid_reply_is_never_consent",
            "never consent",
            (replies.TakesEnterForConsent, replies.TakesYesForConsent),
        ),
        (
            "test_a_reply_to_another_envelope_is_refused",
            "\u00a73: ",
            (replies.TakesUnnamedReplies, replies.TakesForeignReplies),
        ),
        (
            "test_a_decision_is_found_in_a_result",
            "the envelope in a tool's result is drawn",
            (deliveries.DrawsNoDecision,),
        ),
        (
            "test_a_malformed_decision_falls_back",
            "a malformed envelope is discarded",
            (
                deliveries.RepairsTheMalformed,
                deliveries.DiscardsInSilence,
                deliveries.QuotesTheMalformed,
                deliveries.LosesThePayload,
            ),
        ),
        (
            "test_a_result_without_a_decision_stays_unchanged",
            "without a diagnostic",
            (deliveries.ComplainsOfNothing,),
        ),
        ("test_untrusted_text_is_drawn_completely", BRIEFING, (sheets.InterpretsMarkup,)),
        (
            "test_untrusted_text_is_harmless",
            "control, bidi or invisible characters",
            (sheets.LeaksEscapes, sheets.LeaksBidi),
        ),
        ("test_untrusted_text_moves_neither_mark_nor_hatch", MARK, (sheets.BelievesLabels,)),
        (
            "test_a_deceptive_label_has_its_warning",
            "with the layout's warning",
            (sheets.HidesWarnings,),
        ),
        (
            "test_a_huge_decision_is_drawn_completely_or_refused",
            "too large is shown completely, or refused",
            (sheets.CutsTheHuge, sheets.ShowsSixFindings, replies.FallsBackInSilence),
        ),
    )
    for each in subjects
}
"""By name: the subject, the test that has to fail, and the sentence that it has to fail with."""
