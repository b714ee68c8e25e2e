"""Natural language to form: two calls more, where the form was broken to the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.attempts import Verdict
from emitter.events import CapBreached, EnvelopeRefusal, Event, NlToFormatEngaged, NodeFailed, RetryExhausted
from emitter.messages import Message, OutputMode, Role, StopReason
from emitter.policy import Policy
from tests.core import asks
from tests.core.asks import ask, reply
from tests.core.driving import by_hand

if TYPE_CHECKING:
    from emitter.messages import CallResult

VALUE = {"kind": "answer", "count": 2}
WORDS = reply(StopReason.COMPLETE, "There are two of them.")


ASK = ask()
POLICY = Policy(nl_to_format=True)

ENGAGED: dict[str, tuple[list[CallResult], int, str | None]] = {
    "prose-then-formed": ([asks.PROSE] * 3 + [asks.WHOLE], 1, None),
    "violated-then-two-steps": ([asks.WRONG_TYPE] * 3 + [WORDS, asks.WHOLE], 2, None),
    "empty-then-two-steps": ([asks.EMPTY] * 3 + [WORDS, asks.WHOLE], 2, None),
    "a-broken-document-is-no-prose": ([reply(StopReason.COMPLETE, '{"kind": ')] * 3 + [WORDS, asks.WHOLE], 2, None),
    "overloaded-on-the-way": ([asks.PROSE] * 3 + [asks.OVERLOADED, asks.WHOLE], 1, None),
    "still-broken": ([asks.PROSE] * 3 + [asks.WRONG_TYPE], 1, "envelope_invalid"),
    "no-words-either": ([asks.EMPTY] * 3 + [asks.EMPTY], 2, "envelope_invalid"),
    "refused-on-the-way": ([asks.WRONG_TYPE] * 3 + [asks.REFUSED], 2, "envelope_refusal"),
    "cut-on-the-way": ([asks.WRONG_TYPE] * 3 + [asks.CUT], 2, "envelope_truncation_unrecoverable"),
    "unreachable-on-the-way": ([asks.PROSE] * 3 + [asks.UNAUTHORISED], 1, "provider_authentication_failed"),
}


@pytest.mark.parametrize("name", ENGAGED)
def test_the_form_is_sought_in_two_steps(name: str) -> None:
    """It is reported once, with the calls that it takes; every call is counted, success leaves nothing exhausted."""
    script, calls, code = ENGAGED[name]
    ran = by_hand(script, POLICY, ASK)

    assert [each for each in ran.events if isinstance(each, NlToFormatEngaged)] == [
        NlToFormatEngaged("vendor.test.answer", calls)
    ]
    assert len(ran.outcome.attempts) == len(script)
    assert (ran.outcome.failure.code if ran.outcome.failure else None) == code
    if code is None:
        assert ran.outcome.value == VALUE
        assert not any(isinstance(each, RetryExhausted | CapBreached | NodeFailed) for each in ran.events)


NOT_ENGAGED: dict[str, tuple[list[CallResult], Policy]] = {
    "not-asked-for": ([asks.PROSE] * 3, Policy()),
    "refused": ([asks.REFUSED], POLICY),
    "cut-to-the-end": ([asks.CUT] * 3, POLICY),
    "overflowed": ([asks.OVERFLOWED], POLICY),
    "unknown-stop": ([asks.UNKNOWN] * 2, POLICY),
    "unreachable": ([asks.UNAUTHORISED], POLICY),
    "cured-by-a-correction": ([asks.WRONG_TYPE, asks.WHOLE], POLICY),
}


@pytest.mark.parametrize("name", NOT_ENGAGED)
def test_nothing_else_is_sought_in_two_steps(name: str) -> None:
    """Only a form that was broken to the end is; a refusal and a cut never are."""
    script, policy = NOT_ENGAGED[name]
    ran = by_hand(script, policy, ASK)

    assert len(ran.requests) == len(script)
    assert not any(isinstance(each, NlToFormatEngaged) for each in ran.events)


def test_the_words_of_the_answer_are_what_is_put_into_the_form() -> None:
    """The first call asks for plain words without a form, the second brings just these words."""
    ran = by_hand([asks.WRONG_TYPE] * 3 + [WORDS, asks.WHOLE], POLICY, ASK)
    spoken, formed = ran.requests[-2:]

    assert spoken.output.mode is OutputMode.TEXT
    assert formed.messages == (Message(Role.USER, WORDS.text),)
    assert formed.output == ASK.request.output
    assert (spoken.correction, formed.correction) == (None, None)


def test_a_refusal_on_the_way_is_reported_as_one() -> None:
    """It ends the emission at once, without a word of exhaustion."""
    ran = by_hand([asks.WRONG_TYPE] * 3 + [asks.REFUSED], POLICY, ASK)
    tail: list[Event] = [each for each in ran.events if isinstance(each, EnvelopeRefusal | RetryExhausted | NodeFailed)]

    assert [type(each) for each in tail] == [EnvelopeRefusal, NodeFailed]
    assert ran.verdicts[-1] is Verdict.REFUSED


def test_failure_counts_only_the_attempts_at_the_form_as_exhausted() -> None:
    """OpenWOP's count stays within the policy's attempts; all calls are in the trace."""
    ran = by_hand([asks.PROSE] * 3 + [asks.WRONG_TYPE], POLICY, ASK)
    [exhausted] = [each for each in ran.events if isinstance(each, RetryExhausted)]

    assert exhausted.total_attempts == 3
    assert len(ran.outcome.attempts) == 4


def test_the_limits_hold_on_the_way_too() -> None:
    """What is left of the tokens bounds the two calls as it bounds every other."""
    spent = 3 * asks.SPENT.total
    ran = by_hand([asks.PROSE] * 3, Policy(nl_to_format=True, max_total_tokens=spent + asks.SPENT.input), ASK)

    assert ran.outcome.failure is not None
    assert ran.outcome.failure.code == "token_limit_reached"
