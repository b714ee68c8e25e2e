"""The judge: the stop reason first, then the document, then the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.attempts import Verdict
from emitter.core.verdicts import DOUBTFUL, FAULTS, REMEDIES, RETRACTED, VERDICT_BY_STOP, DocumentContract, classify
from emitter.messages import Fault, FaultKind, ModelResponse, StopReason
from emitter.recover import RecoveryPath
from emitter.schema import Violation
from emitter.schema.results import CallbackFailure, ParseResult
from tests.core import asks

if TYPE_CHECKING:
    from emitter.messages import CallResult, Json

CONTRACT = DocumentContract(asks.COMPILED)
VALID = '{"kind": "answer", "count": 2}'

TABLE: dict[str, tuple[CallResult, Verdict]] = {
    "clean and valid": (asks.WHOLE, Verdict.COMPLETE),
    "clean, in a fence": (asks.FENCED, Verdict.COMPLETE),
    "clean, sent twice": (asks.TWICE, Verdict.COMPLETE),
    "clean, two different": (asks.SEVERAL, Verdict.MALFORMED),
    "clean, wrong type": (asks.WRONG_TYPE, Verdict.VIOLATED),
    "clean, prose": (asks.PROSE, Verdict.MALFORMED),
    "clean, empty": (asks.EMPTY, Verdict.MALFORMED),
    "clean, unclosed": (asks.reply(StopReason.COMPLETE, '{"kind": "answer", "count": 2'), Verdict.MALFORMED),
    "cut": (asks.CUT, Verdict.TRUNCATED),
    "cut but valid": (asks.CUT_BUT_VALID, Verdict.TRUNCATED),
    "refused but valid": (asks.REFUSED_BUT_VALID, Verdict.REFUSED),
    "overflowed": (asks.OVERFLOWED, Verdict.OVERFLOWED),
    "paused but valid": (asks.PAUSED, Verdict.PAUSED),
    "unknown but valid": (asks.UNKNOWN, Verdict.UNKNOWN),
    "fault": (asks.OVERLOADED, Verdict.FAULTED),
    "tool, as an object": (
        ModelResponse(StopReason.COMPLETE, "tool_use", arguments=({"kind": "answer", "count": 2},)),
        Verdict.COMPLETE,
    ),
    "tool, as text": (ModelResponse(StopReason.COMPLETE, "tool_calls", arguments=(VALID,)), Verdict.COMPLETE),
    "tool beside prose": (
        ModelResponse(StopReason.COMPLETE, "tool_use", text="Here.", arguments=(VALID,)),
        Verdict.COMPLETE,
    ),
    "tool beside its document in words": (
        ModelResponse(StopReason.COMPLETE, "tool_use", text=f"```json\n{VALID}\n```", arguments=(VALID,)),
        Verdict.COMPLETE,
    ),
    "tool, called twice alike": (
        ModelResponse(StopReason.COMPLETE, "tool_calls", arguments=(VALID, VALID)),
        Verdict.COMPLETE,
    ),
    "tool, called twice otherwise": (
        ModelResponse(StopReason.COMPLETE, "tool_calls", arguments=(VALID, VALID.replace("2", "3"))),
        Verdict.MALFORMED,
    ),
    "tool, cut": (ModelResponse(StopReason.TRUNCATED, "length", arguments=(VALID,)), Verdict.TRUNCATED),
    "tool, empty object": (ModelResponse(StopReason.COMPLETE, "tool_use", arguments=({},)), Verdict.VIOLATED),
}


@pytest.mark.parametrize(("answer", "verdict"), TABLE.values(), ids=TABLE.keys())
def test_verdict(answer: CallResult, verdict: Verdict) -> None:
    """Each answer gets its verdict, and a value only when complete."""
    judgement = classify(answer, CONTRACT)

    assert judgement.verdict is verdict
    assert (judgement.value is not None) == (verdict is Verdict.COMPLETE)
    assert bool(judgement.violations) == (verdict in {Verdict.VIOLATED, Verdict.MALFORMED})


@pytest.mark.parametrize("arguments", [(), (VALID,)], ids=["text", "tool"])
def test_words_around_a_document_or_beside_a_call_are_a_finding(arguments: tuple[Json, ...]) -> None:
    """They ask for one correction, unless nothing may be asked."""
    text = "Suppose that the count is two." + ("" if arguments else f"\n{VALID}")
    answer = ModelResponse(StopReason.COMPLETE, "stop", text=text, arguments=arguments)
    flagged, accepted = (classify(answer, CONTRACT, can_flag=flag) for flag in (True, False))

    assert (flagged.verdict, flagged.violations) == (Verdict.FLAGGED, (DOUBTFUL,))
    assert (accepted.verdict, accepted.violations) == (Verdict.COMPLETE, ())
    assert [[each.rule for each in judged.findings] for judged in (flagged, accepted)] == [["doubted"]] * 2


@pytest.mark.parametrize(("text", "doubtful"), [(VALID, False), (f"Suppose {VALID}", True), ('{"count": 3}', True)])
def test_a_document_beside_a_call_is_the_same_or_a_doubt(text: str, doubtful: bool) -> None:
    """The document of the call stands, and the other one is words beside it."""
    judgement = classify(ModelResponse(StopReason.COMPLETE, "stop", text=text, arguments=(VALID,)), CONTRACT)

    assert judgement.value == {"kind": "answer", "count": 2}
    assert [each.rule for each in judgement.findings] == ["doubted"] * doubtful


def test_words_beside_a_call_that_take_it_back_leave_no_answer() -> None:
    """It is asked again, and says why."""
    answer = ModelResponse(StopReason.COMPLETE, "tool_use", text="I cannot help with that.", arguments=(VALID,))
    judgement = classify(answer, CONTRACT, can_flag=True)

    assert (judgement.verdict, judgement.violations) == (Verdict.MALFORMED, (RETRACTED,))


@given(st.sampled_from([each for each in StopReason if each is not StopReason.COMPLETE]), st.text())
def test_no_text_makes_an_unclean_stop_complete(stop: StopReason, text: str) -> None:
    """The text is not even looked at, however it reads."""
    assert classify(ModelResponse(stop, stop.value, text=text), CONTRACT).verdict is not Verdict.COMPLETE
    assert classify(ModelResponse(stop, stop.value, text=VALID + text), CONTRACT) == classify(
        ModelResponse(stop, "", VALID), CONTRACT
    )


def test_a_null_optional_is_absent() -> None:
    """A property that the vendor had to write comes back as if it were not there."""
    judgement = classify(asks.said({"kind": "answer", "count": 2, "note": None}), CONTRACT)

    assert judgement.value == {"kind": "answer", "count": 2}


def test_content_rules_are_asked_after_the_schema() -> None:
    """They see only valid documents, once, and what they find is a violation."""
    seen: list[Json] = []

    def read(document: Json) -> ParseResult[Json]:
        seen.append(document)
        even = Violation("/count", "even", "an odd number")
        return ParseResult(document, (even,) if document["count"] % 2 == 0 else ())

    contract = DocumentContract(asks.COMPILED, read)

    assert classify(asks.WRONG_TYPE, contract).verdict is Verdict.VIOLATED
    assert seen == []
    assert classify(asks.WHOLE, contract).violations == (Violation("/count", "even", "an odd number"),)
    assert len(seen) == 1


def test_a_value_is_what_was_read_and_the_document_stays() -> None:
    """What comes of reading is the value; what was read is kept beside it."""
    judgement = classify(asks.WHOLE, DocumentContract(asks.COMPILED, lambda document: ParseResult(document["count"])))

    assert (judgement.value, judgement.document) == (2, {"kind": "answer", "count": 2})


def test_code_of_the_callers_that_raises_is_no_verdict_on_the_answer() -> None:
    """Nobody can say what the document is worth: it is neither accepted nor found at fault."""
    raised = CallbackFailure("The check even", ZeroDivisionError())
    judgement = classify(asks.WHOLE, DocumentContract(asks.COMPILED, lambda _: ParseResult(failure=raised)))

    assert judgement.verdict is Verdict.UNCHECKED
    assert judgement.raised is raised


def test_half_a_character_is_no_text() -> None:
    """JSON can spell it, and nothing can carry it; a whole one, spelt in two halves, is text like any other."""
    halved, whole = (
        classify(asks.reply(StopReason.COMPLETE, f'{{"kind": "answer", "count": 2, "note": "{note}"}}'), CONTRACT)
        for note in ("\\ud83d", "\\ud83d\\ude00")
    )

    assert halved.violations == (Violation("", "unicode", "text without lone surrogates"),)
    assert whole.value["note"] == "\U0001f600"


def test_recovery_is_reported() -> None:
    """The path by which the document was read stands in the judgement."""
    recovered = classify(asks.FENCED, CONTRACT).recovered

    assert recovered is not None
    assert recovered.path is RecoveryPath.MARKDOWN_FENCE
    assert recovered.byte_offset == len("```json\n")


@pytest.mark.parametrize("stop", StopReason)
def test_every_stop_has_a_verdict_of_its_name(stop: StopReason) -> None:
    """A stop that no verdict stands for ends every emission that meets it."""
    assert stop in VERDICT_BY_STOP, f"Add {stop.name} to Verdict in src/emitter/attempts.py."


@pytest.mark.parametrize("verdict", [each for each in Verdict if each is not Verdict.COMPLETE])
def test_every_verdict_has_a_row(verdict: Verdict) -> None:
    """Its remedy, and the failure if that does not help; a message names only what there is to say."""
    assert verdict in REMEDIES, f"Add a row for {verdict.name} to REMEDIES in src/emitter/core/verdicts.py."
    rule = REMEDIES[verdict]
    assert (
        rule.message.format(stop="", budget=0, thinking="", limit="", violations="", raised="x")
        or verdict is Verdict.FAULTED
    )
    assert rule.remedy is None or rule.reason is not None, "A retry reports its reason."


def test_every_fault_has_a_row() -> None:
    """Its code, its exception, and whether another model is asked."""
    assert set(FAULTS) == set(FaultKind)


def test_complete_is_the_last_stop() -> None:
    """Of several reasons the first counts, so that none is hidden by a clean one."""
    assert [*StopReason][-1] is StopReason.COMPLETE, "Put the new one before COMPLETE in src/emitter/messages.py."


def test_no_stop_has_the_name_of_a_fault() -> None:
    """A rule of ``providers/*.toml`` names either of them by its value alone."""
    assert not {each.value for each in StopReason} & {each.value for each in FaultKind}


def test_a_fault_is_never_read() -> None:
    """A fault has no text to be misread."""
    assert classify(Fault(FaultKind.PROTOCOL, VALID), CONTRACT).verdict is Verdict.FAULTED
