"""Whatever a request holds, it is answered: nothing that a client sends is a mistake of the simulator's."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.profiles.model import WireFormat
from emitter.testing import Cut, Decoded, Dropped, ErrorEvent, Refused, Text, Thinking, Twice, Unended, Violating
from emitter.testing.handler import SimulatorHandler
from emitter.testing.responses import CallLog, RawRequest
from tests.testing.asking import DOCUMENT, Question, body
from tests.work import examples

if TYPE_CHECKING:
    from emitter.testing import Behaviour
    from emitter.testing.responses import SimulatedResponse

PATHS = {
    WireFormat.OPENAI_RESPONSES: "/v1/responses",
    WireFormat.OPENAI_CHAT: "/v1/chat/completions",
    WireFormat.ANTHROPIC: "/v1/messages",
    WireFormat.GOOGLE: "/v1/models/gemini-3.8-flash:generateContent",
    WireFormat.GEMINI_INTERACTIONS: "/v1/interactions",
    WireFormat.BEDROCK_CONVERSE: "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
}
SAID: list[Behaviour] = [
    Text(DOCUMENT),
    Text("a" * 70),
    Cut(answer=Text(DOCUMENT)),
    Thinking(5, answer=Text(DOCUMENT)),
    Twice(answer=Text(DOCUMENT)),
    Refused(),
    Unended(answer=Text(DOCUMENT)),
    ErrorEvent(answer=Text(DOCUMENT)),
    Dropped(40, answer=Text(DOCUMENT)),
]
SCALARS = st.none() | st.booleans() | st.integers(-3, 40) | st.floats() | st.text(max_size=3)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of everything inside a value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [path, *(each for key in keys for each in places(value[key], (*path, key)))]


def changed(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return the whole with another value in one place."""
    if not path:
        return value
    result = copy.deepcopy(whole)
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return result


def handled(desk: SimulatorHandler, path: str, sent: Any) -> SimulatedResponse:
    """Return what is answered to a body."""
    return desk.handle(RawRequest("POST", path, {}, json.dumps(sent).encode()))[0]


@given(st.data())
@settings(max_examples=examples(300))
def test_any_body_is_answered(data: st.DataObject) -> None:
    """A request with one odd value gets an answer or a 400, and a bill that is no less than nothing."""
    wire = data.draw(st.sampled_from(list(WireFormat)))
    asked = Question(tool=data.draw(st.booleans()), budget=data.draw(st.sampled_from([16, 40, 400])))
    whole = body(wire, asked, streamed=data.draw(st.booleans()))
    odd = changed(whole, data.draw(st.sampled_from(places(whole))), data.draw(VALUES))
    ledger = CallLog(None)
    desk = SimulatorHandler(data.draw(st.sampled_from(SAID)), ledger, seed=0, check_schemas=data.draw(st.booleans()))

    response = handled(desk, PATHS[wire], odd)

    assert response.status in (200, 400, 404)
    assert response.body
    assert 0 <= ledger.billed.thinking <= ledger.billed.output
    assert ledger.billed.input >= 0


@given(VALUES, st.booleans())
@settings(max_examples=examples(60))
def test_any_schema_is_decoded_or_refused(schema: Any, broken: bool) -> None:
    """Where schemas are not checked, the decoder refuses what it cannot read."""
    desk = SimulatorHandler(Violating() if broken else Decoded(), CallLog(None), seed=0, check_schemas=False)
    sent = body(WireFormat.ANTHROPIC, Question(budget=20_000))
    sent["output_config"]["format"]["schema"] = schema

    assert handled(desk, PATHS[WireFormat.ANTHROPIC], sent).status in (200, 400)
