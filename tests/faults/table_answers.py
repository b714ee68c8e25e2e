"""What a model may write, and what comes of it: the rows that end in an answer, good or not."""

from __future__ import annotations

from emitter import Policy
from emitter.testing import (
    Cut,
    Empty,
    EndReason,
    Failed,
    Fenced,
    Filtered,
    InProse,
    Malformed,
    Paused,
    Refused,
    Thinking,
    Twice,
    UnknownStop,
)
from tests.faults.model import MARK, WHOLE, Says
from tests.faults.row import FIRST, Row

WORDS = Malformed(f"I would {MARK} on with what was left, since the lock is gone.")
CUT = Cut(answer=WHOLE)
VIOLATING, DRIFTED, MISTYPED = Says("{violating}"), Says("{drifted}"), Says("{mistyped}")
PAUSED = Paused(f"So far {MARK}.")
STRANGE = UnknownStop(answer=WHOLE)

INVALID = "Invalid(envelope_invalid)"
REFUSED = "Refused(envelope_refusal)"
TRUNCATED = "Truncated(envelope_truncation_unrecoverable)"
_REFUSAL = "call REFUSED usage refusal failed(envelope_refusal)"
_UNBILLED_REFUSAL = {"story": "call REFUSED refusal failed(envelope_refusal)"}
_END = "breached(schema) failed(envelope_invalid)"
_CUT_OFF = "breached(schema) failed(envelope_truncation_unrecoverable)"
_UNKNOWN = "call UNKNOWN usage retry-2(unknown) call COMPLETE usage done"
_UNKNOWN_VIOLATING = """call UNKNOWN usage retry-2(unknown) call VIOLATED usage retry-3(schema-violation)
                        call+fix COMPLETE usage done"""
_UNKNOWN_TWICE = f"call UNKNOWN usage retry-2(unknown) call UNKNOWN usage exhausted-2(unknown) {_END}"

ANSWERS: dict[str, Row] = {
    "clean": Row((WHOLE,), "call COMPLETE usage done"),
    "withheld": Row((Says("{withheld}"),), "call COMPLETE usage done", ends="withheld"),
    # --- cut: the same request with twice the budget, and no corrective word
    "cut-then-whole": Row(
        (CUT, WHOLE),
        "call TRUNCATED usage truncated(max_tokens) retry-2(truncation) call*2 COMPLETE usage done",
    ),
    "cut-to-the-end": Row(
        (CUT, CUT, CUT),
        f"""call TRUNCATED usage truncated(max_tokens) retry-2(truncation)
            call*2 TRUNCATED usage truncated(max_tokens) retry-3(truncation)
            call*4 TRUNCATED usage truncated(max_tokens) exhausted-3(truncation) {_CUT_OFF}""",
        TRUNCATED,
    ),
    "cut-to-the-ceiling": Row(
        (CUT, CUT),
        f"""call TRUNCATED usage truncated(max_tokens) retry-2(truncation)
            call*1.5 TRUNCATED usage truncated(max_tokens) exhausted-2(truncation) {_CUT_OFF}""",
        TRUNCATED,
        policy=Policy(max_output_tokens=FIRST * 3 // 2),
    ),
    "cut-but-valid": Row(
        (Says("{whole}", EndReason.TRUNCATED, output=FIRST), WHOLE),
        "call TRUNCATED usage truncated(max_tokens) retry-2(truncation) call*2 COMPLETE usage done",
    ),
    "cut-then-violating": Row(
        (CUT, VIOLATING, WHOLE),
        """call TRUNCATED usage truncated(max_tokens) retry-2(truncation)
           call*2 VIOLATED usage retry-3(schema-violation) call+fix*2 COMPLETE usage done""",
    ),
    "thinking-eats-the-budget": Row(
        (Thinking(FIRST + 100, WHOLE), Thinking(FIRST + 100, WHOLE)),
        "call TRUNCATED usage truncated(max_tokens) retry-2(truncation) call*2 COMPLETE usage done",
    ),
    # --- refused: never sent again, whatever the text is; a prompt that is blocked with an error costs nothing
    "refused": Row((Refused(f"No, {MARK}."),), _REFUSAL, REFUSED),
    "refused-with-a-valid-text": Row((Says("{whole}", EndReason.REFUSED),), _REFUSAL, REFUSED),
    "filtered": Row((Filtered(partial_text=f'{{"reasoning": "{MARK} is'),), _REFUSAL, REFUSED),
    "filtered-with-a-valid-text": Row((Says("{whole}", EndReason.FILTERED),), _REFUSAL, REFUSED),
    "prompt-blocked": Row(
        (Filtered(block_prompt=True),),
        _UNBILLED_REFUSAL["story"],
        REFUSED,
        but={"google": {"story": _REFUSAL}},
    ),
    # --- paused or stopped with an unknown word: the same once more; Chat and Converse have no word for a pause: Chat
    # tells none, and a stream of its without one never ended
    "paused-then-whole": Row(
        (PAUSED, WHOLE),
        "call PAUSED usage retry-2(unknown) call COMPLETE usage done",
        but={
            "openai-chat": {"story": _UNKNOWN},
            "bedrock-converse": {"story": _UNKNOWN},
            "openai-chat streamed": {
                "story": "call FAULTED usage resent(protocol) call COMPLETE usage done",
                "waits": "1",
            },
        },
    ),
    "paused-twice": Row(
        (PAUSED, PAUSED),
        f"call PAUSED usage retry-2(unknown) call PAUSED usage exhausted-2(unknown) {_END}",
        INVALID,
        but={
            "openai-chat": {"story": _UNKNOWN_TWICE},
            "bedrock-converse": {"story": _UNKNOWN_TWICE},
            "openai-chat streamed": {
                "script": (PAUSED, PAUSED, WHOLE),
                "story": """call FAULTED usage resent(protocol) call FAULTED usage resent(protocol)
                            call COMPLETE usage done""",
                "ends": "value",
                "waits": "1 2",
            },
        },
    ),
    "unknown-stop-then-whole": Row((STRANGE, WHOLE), _UNKNOWN),
    "unknown-stop-twice": Row(
        (STRANGE, STRANGE),
        _UNKNOWN_TWICE,
        INVALID,
    ),
    # --- a broken form: the same budget, and one fragment that is written from the validator
    "violating-then-whole": Row(
        (VIOLATING, WHOLE), "call VIOLATED usage retry-2(schema-violation) call+fix COMPLETE usage done"
    ),
    "violating-to-the-end": Row(
        (VIOLATING,) * 3,
        f"""call VIOLATED usage retry-2(schema-violation) call+fix VIOLATED usage retry-3(schema-violation)
            call+fix VIOLATED usage exhausted-3(schema-violation) {_END}""",
        INVALID,
    ),
    "type-drift": Row((DRIFTED, WHOLE), "call VIOLATED usage retry-2(type-drift) call+fix COMPLETE usage done"),
    "type-mismatch": Row((MISTYPED, WHOLE), "call VIOLATED usage retry-2(type-mismatch) call+fix COMPLETE usage done"),
    "malformed-then-whole": Row(
        (WORDS, WHOLE), "call MALFORMED usage retry-2(parse-error) call+fix COMPLETE usage done"
    ),
    "malformed-to-the-end": Row(
        (WORDS,) * 3,
        f"""call MALFORMED usage retry-2(parse-error) call+fix MALFORMED usage retry-3(parse-error)
            call+fix MALFORMED usage exhausted-3(parse-error) {_END}""",
        INVALID,
    ),
    "violating-then-malformed": Row(
        (VIOLATING, WORDS, WHOLE),
        """call VIOLATED usage retry-2(schema-violation) call+fix MALFORMED usage retry-3(parse-error)
           call+fix COMPLETE usage done""",
    ),
    "empty-then-whole": Row((Empty(), WHOLE), "call MALFORMED usage retry-2(parse-error) call+fix COMPLETE usage done"),
    # --- several in turn: a fault between changes nothing, and a raised budget stays raised. A cut is answered with
    # the same request, so that a fragment that stood in it stays, and none is added
    "cut-fault-whole": Row(
        (CUT, Failed(), WHOLE),
        """call TRUNCATED usage truncated(max_tokens) retry-2(truncation)
           call*2 FAULTED resent(server) call*2 COMPLETE usage done""",
        waits="1",
    ),
    "violating-fault-whole": Row(
        (VIOLATING, Failed(), WHOLE),
        "call VIOLATED usage retry-2(schema-violation) call+fix FAULTED resent(server) call+fix COMPLETE usage done",
        waits="1",
    ),
    "violating-cut-whole": Row(
        (VIOLATING, CUT, WHOLE),
        """call VIOLATED usage retry-2(schema-violation) call+fix TRUNCATED usage truncated(max_tokens)
           retry-3(truncation) call*2 COMPLETE usage done""",
    ),
    "cut-violating-refused": Row(
        (CUT, VIOLATING, Refused(f"No, {MARK}.")),
        """call TRUNCATED usage truncated(max_tokens) retry-2(truncation) call*2 VIOLATED usage
           retry-3(schema-violation) call+fix*2 REFUSED usage refusal failed(envelope_refusal)""",
        REFUSED,
    ),
    "paused-violating-whole": Row(
        (PAUSED, VIOLATING, WHOLE),
        """call PAUSED usage retry-2(unknown) call VIOLATED usage retry-3(schema-violation)
           call+fix COMPLETE usage done""",
        but={
            "openai-chat": {"story": _UNKNOWN_VIOLATING},
            "bedrock-converse": {"story": _UNKNOWN_VIOLATING},
            "openai-chat streamed": {
                "story": """call FAULTED usage resent(protocol) call VIOLATED usage retry-2(schema-violation)
                            call+fix COMPLETE usage done""",
                "waits": "1",
            },
        },
    ),
    # --- not plain JSON, and read all the same: no further call
    "fenced": Row((Fenced(WHOLE),), "call COMPLETE usage recovered(markdown-fence) done"),
    "in-prose": Row((InProse(WHOLE),), "call COMPLETE usage recovered(brace-walker) done"),
    "trailing-text": Row((Says("{whole}\n\nShall I go on?"),), "call COMPLETE usage recovered(brace-walker) done"),
    "twice-the-same": Row((Twice(WHOLE),), "call COMPLETE usage recovered(custom) done"),
    "twice-and-different": Row(
        (Says("{whole}\n{other}"), WHOLE), "call MALFORMED usage retry-2(parse-error) call+fix COMPLETE usage done"
    ),
}
