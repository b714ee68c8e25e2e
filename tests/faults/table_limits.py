"""What the caller's own limits make of a fault, and the way through plain words that a caller may allow."""

from __future__ import annotations

from emitter import Policy, Prices
from emitter.testing import Failed, Overloaded, Refused
from tests.faults.model import MARK, WHOLE
from tests.faults.row import FIRST, Row
from tests.faults.table_answers import CUT, INVALID, REFUSED, TRUNCATED, VIOLATING, WORDS

_ONE = Policy(max_attempts=1)
_TWO_STEPS = Policy(nl_to_format=True)
_END = "breached(schema) failed(envelope_invalid)"
_CUT_OFF = "breached(schema) failed(envelope_truncation_unrecoverable)"
_ROOM = FIRST + 6_000
"""Tokens that leave room for the prompt and the first budget, and for no second call with more."""
_PRICES = Prices(input=1, output=4)
_CENTS = 0.04
"""Pays for the prompt and the first budget at these prices, and for no second call with more."""
_MALFORMED = """call MALFORMED usage retry-2(parse-error) call+fix MALFORMED usage retry-3(parse-error)
                call+fix MALFORMED usage"""

LIMITS: dict[str, Row] = {
    # --- max_attempts counts answers, the first included; faults are counted apart
    "one-attempt-violating": Row(
        (VIOLATING,), f"call VIOLATED usage exhausted-1(schema-violation) {_END}", INVALID, policy=_ONE
    ),
    "one-attempt-cut": Row(
        (CUT,),
        f"call TRUNCATED usage truncated(max_tokens) exhausted-1(truncation) {_CUT_OFF}",
        TRUNCATED,
        policy=_ONE,
    ),
    "one-attempt-and-a-fault": Row(
        (Failed(), WHOLE), "call FAULTED resent(server) call COMPLETE usage done", waits="1", policy=_ONE
    ),
    # --- tokens and money of all calls together: a call that would pass the limit is not made
    "no-tokens-for-a-call": Row(
        (),
        "breached(budget-tokens) failed(token_limit_reached)",
        "TokenLimitReached(token_limit_reached)",
        policy=Policy(max_total_tokens=100),
    ),
    "no-tokens-for-a-larger-budget": Row(
        (CUT,),
        """call TRUNCATED usage truncated(max_tokens) exhausted-1(truncation)
           breached(budget-tokens) failed(token_limit_reached)""",
        "TokenLimitReached(token_limit_reached)",
        policy=Policy(max_total_tokens=_ROOM),
    ),
    "no-money-for-a-call": Row(
        (),
        "breached(budget-cost) failed(cost_limit_reached)",
        "CostLimitReached(cost_limit_reached)",
        policy=Policy(max_cost=0.0001, prices=_PRICES),
    ),
    "no-money-for-a-larger-budget": Row(
        (CUT,),
        """call TRUNCATED usage truncated(max_tokens) exhausted-1(truncation)
           breached(budget-cost) failed(cost_limit_reached)""",
        "CostLimitReached(cost_limit_reached)",
        policy=Policy(max_cost=_CENTS, prices=_PRICES),
    ),
    # --- the deadline would pass while waiting: it is not waited for
    "deadline-in-the-back-off": Row(
        (Overloaded(429, retry_after=30),),
        "call FAULTED resent(rate_limit) failed(deadline_exceeded)",
        "DeadlineReached(deadline_exceeded)",
        policy=Policy(deadline=20),
    ),
    # --- plain words first, then the form: only where allowed, and only after the attempts at the form
    "in-words-after-violating": Row(
        (VIOLATING, VIOLATING, VIOLATING, WORDS, WHOLE),
        """call VIOLATED usage retry-2(schema-violation) call+fix VIOLATED usage retry-3(schema-violation)
           call+fix VIOLATED usage two-steps(2) call COMPLETE usage call COMPLETE usage done""",
        policy=_TWO_STEPS,
    ),
    "in-words-already": Row(
        (WORDS, WORDS, WORDS, WHOLE), f"{_MALFORMED} two-steps(1) call COMPLETE usage done", policy=_TWO_STEPS
    ),
    "in-words-in-vain": Row(
        (WORDS,) * 4,
        f"{_MALFORMED} two-steps(1) call MALFORMED usage exhausted-3(parse-error) {_END}",
        INVALID,
        policy=_TWO_STEPS,
    ),
    "in-words-refused": Row(
        (WORDS, WORDS, WORDS, Refused(f"No, {MARK}.")),
        f"{_MALFORMED} two-steps(1) call REFUSED usage refusal failed(envelope_refusal)",
        REFUSED,
        policy=_TWO_STEPS,
    ),
    "in-words-after-a-fault": Row(
        (WORDS, WORDS, WORDS, Failed(), WHOLE),
        f"{_MALFORMED} two-steps(1) call FAULTED resent(server) call COMPLETE usage done",
        waits="1",
        policy=_TWO_STEPS,
    ),
    "in-words-and-cut": Row(
        (WORDS, WORDS, WORDS, CUT),
        f"{_MALFORMED} two-steps(1) call TRUNCATED usage truncated(max_tokens) exhausted-3(truncation) {_CUT_OFF}",
        TRUNCATED,
        policy=_TWO_STEPS,
    ),
    "in-words-not-after-a-cut": Row(
        (CUT,),
        f"call TRUNCATED usage truncated(max_tokens) exhausted-1(truncation) {_CUT_OFF}",
        TRUNCATED,
        policy=Policy(nl_to_format=True, max_attempts=1),
    ),
}
