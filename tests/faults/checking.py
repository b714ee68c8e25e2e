"""What must hold in every cell, whatever its row says."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from emitter import BindingMoment, Emission, EmissionError, Withheld
from emitter.profiles import find_profile
from emitter.tokens import has_exact_counter
from tests.faults.model import MARK, Invoice
from tests.faults.reading import CORRECTION, budgets, is_about_schema, restarts, seen, story
from tests.faults.row import BILLS, WIRES

if TYPE_CHECKING:
    from emitter import Usage
    from emitter.attempts import Attempt
    from emitter.events import RunEvent
    from emitter.testing.responses import SimulatedCall
    from tests.faults.asking import Found
    from tests.faults.reading import Seen
    from tests.faults.row import Cell, Row

SAYS_INPUT_FIRST = ("anthropic", "google")
"""The wires whose streams begin with what the prompt costs."""
HIDES_THINKING = ("bedrock-converse",)
"""The wires that do not tell thinking from the rest of the output."""
READS_PIECES = ("bedrock-converse",)
"""The wires whose SDK keeps a piece of a body that is not complete."""


def check(cell: Cell, row: Row, found: Found) -> None:
    """Check all that a row says of a cell, and what holds everywhere."""
    requests = [seen(cell.wire, each.body) for each in found.calls]
    assert story(found, requests) == " ".join(row.story.split())
    assert ended(found.result) == row.ends
    _waits(row.waits.split(), found)
    _requests(cell, found, requests)
    _silence(found)
    _bill(cell, row, found)


def _waits(expected: list[str], found: Found) -> None:
    bounds = [[float(end) for end in (each.split("..") * 2)[:2]] for each in expected]
    assert len(found.waited) == len(bounds)
    for seconds, (least, most) in zip(found.waited, bounds, strict=True):
        assert least <= seconds <= most


def ended(result: object) -> str:
    """Return what an emission came to, in the words of the tables."""
    if isinstance(result, EmissionError):
        return f"{type(result).__name__}({result.code})"
    if isinstance(result, Withheld):
        return "withheld"
    assert isinstance(result, Emission)
    assert isinstance(cast("Emission[object]", result).value, BindingMoment | Invoice)
    return "value"


def _requests(cell: Cell, found: Found, requests: list[Seen]) -> None:
    """Check that what was reported is what was sent, and that nothing but budget and fragment ever differs."""
    trace = found.result.trace
    sent = [each.budget for each in requests]
    assert [each.budget for each in trace.attempts][: len(sent)] == budgets(trace.events)[: len(sent)] == sent
    assert [each.corrected for each in trace.attempts][: len(sent)] == [bool(each.correction) for each in requests]
    engaged = any(each.type == "envelope.nlToFormat.engaged" for each in trace.events)
    # The schema is described from one request on, if an answer has shown that the server ignores it.
    described = any(is_about_schema(reported.event) for reported in found.result.trace.events)
    changes = sum(before.rest != after.rest for before, after in pairwise(requests))
    assert engaged or changes <= described
    if cell.streamed:
        verdicts = [each.verdict.name for each in trace.attempts]
        assert restarts(found) == list(enumerate(verdicts, 2))[: len(verdicts) - 1]
        assert all(each.streamed for each in found.calls)


def _silence(found: Found) -> None:
    """Check that no word of the model's stands in a request, an event or an error.

    The one exception is the step of natural-language-to-form that puts the model's own words into the form.
    """
    for each in found.calls:
        said = json.dumps(each.body)
        assert MARK not in said or "the answer in plain words" in said
        assert said.count(CORRECTION) <= 1
    assert MARK not in json.dumps([each.to_json() for each in found.result.trace.events])
    if isinstance(found.result, EmissionError):
        assert MARK not in f"{found.result} {found.result.trace.attempts}"


def _bill(cell: Cell, row: Row, found: Found) -> None:
    """Check the tokens of each call, and of all together; see ``BILLS``."""
    assert row.bill in BILLS
    trace = found.result.trace
    pairs = list(zip(trace.attempts, found.calls, strict=False))
    assert all(each.usage is None for each in trace.attempts[len(pairs) :])
    reported = [(each.event.input_tokens, each.event.output_tokens) for each in trace.events if _is_usage(each)]
    assert reported == [(each.usage.input, each.usage.output) for each in trace.attempts if each.usage is not None]
    inexact = [pair for pair in pairs if not _exact(cell.wire, *pair)]
    assert bool(inexact) == (row.bill != "exact"), [(one.usage, two.usage) for one, two in pairs]
    for attempt, call in inexact:
        _inexact(cell, row.bill, attempt, call)
    if row.bill == "exact":
        assert _numbers(cell.wire, trace.usage) == _numbers(cell.wire, found.billed)
        assert not trace.usage.estimated


def _is_usage(event: RunEvent) -> bool:
    return event.type == "provider.usage"


def _exact(wire: str, attempt: Attempt, call: SimulatedCall) -> bool:
    usage = attempt.usage
    if usage is None:
        return _numbers(wire, call.usage) == (0, 0, 0)
    return _numbers(wire, usage) == _numbers(wire, call.usage) and not usage.estimated


def _inexact(cell: Cell, bill: str, attempt: Attempt, call: SimulatedCall) -> None:
    usage = attempt.usage
    assert usage is not None
    assert usage.estimated
    if bill == "presumed":
        assert usage.input > 0
        return
    if bill == "unheard":
        assert call.usage.input <= usage.input <= 1.2 * call.usage.input
        assert usage.output == 0
        return
    if bill == "guessed":
        assert call.usage.input <= usage.input <= 1.2 * call.usage.input
        assert usage.output > 0 or cell.wire in READS_PIECES
        return
    assert call.usage.output > 0, "the stream broke off before its text"
    if cell.wire in SAYS_INPUT_FIRST:
        assert usage.input == call.usage.input
    else:
        assert call.usage.input <= usage.input <= 1.2 * call.usage.input
    written = call.usage.output - (call.usage.thinking if bill == "unseen" else 0)
    assert usage.output >= written
    if same_tokenizer(cell.wire):
        assert usage.output == written


def same_tokenizer(wire: str) -> bool:
    """Tell whether both sides count alike: the simulator takes OpenAI's tokenizer, or the estimate that we take."""
    profile, model = find_profile(WIRES[wire])
    return profile.token_encoding(model) == "o200k_base" or not has_exact_counter("o200k_base")


def _numbers(wire: str, usage: Usage) -> tuple[int, int, int]:
    return usage.input, usage.output, 0 if wire in HIDES_THINKING else usage.thinking
