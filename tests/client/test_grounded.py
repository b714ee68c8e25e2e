"""An answer that outside material fed makes its envelope untrusted, like the same material in the messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Policy, emit
from emitter.models import Trust
from emitter.profiles import WireFormat
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.adapters.bodies import text
from tests.adapters.test_grounding import MARKERS
from tests.client.streams.vendor import JSON, WIRES, WORLDS, Answer, Vendor, Waits, ask, whole

if TYPE_CHECKING:
    from tests.adapters.test_grounding import Marker

FORM: dict[str, Any] = {
    "title": "Vendor",
    "type": "object",
    "properties": {"vendor": {"type": "string"}},
    "required": ["vendor"],
    "additionalProperties": False,
}


def marker(wire: str) -> Marker:
    """Return a mark of a wire."""
    return next(each for each in MARKERS.values() if each.wire.value == wire)


def streamed(wire: str) -> Answer:
    """Return an answer with the mark, as a stream."""
    return Answer([f"data: {json.dumps(each)}\n\n".encode() for each in marker(wire).events])


def plain(wire: str, words: str = '{"vendor": "Acme"}') -> Answer:
    """Return an answer without a mark."""
    return whole(json.dumps(text(WireFormat(wire), words)))


def unary(wire: str, script: list[Answer], **more: Any) -> Any:
    """Emit with these answers."""
    vendor = Vendor(script)
    return emit(
        FORM,
        "Who?",
        model=SCENARIO_MODELS[wire],
        wire=wire,
        client=vendor.client(wire, "sync"),
        clock=Waits().clock(),
        **more,
    )


@pytest.mark.parametrize("wire", WIRES)
def test_the_envelope_is_untrusted(wire: str) -> None:
    """And so are the events from then on, and the messages that continue the conversation."""
    emission = unary(wire, [Answer([json.dumps(marker(wire).body).encode()], headers=JSON)])

    assert emission.value == {"vendor": "Acme"}
    assert emission.envelope.meta.content_trust is Trust.UNTRUSTED
    assert emission.events[-1].content_trust is Trust.UNTRUSTED
    assert '"trust": "untrusted"' in json.dumps(emission.messages)
    assert unary(wire, [plain(wire)]).envelope.meta.content_trust is Trust.TRUSTED


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("wire", WIRES)
def test_the_envelope_of_a_stream_is_untrusted(wire: str, world: str) -> None:
    """Whatever the stream does not repeat at its end."""
    found = ask(wire, world, [streamed(wire)], FORM)

    assert found.result.value == {"vendor": "Acme"}
    assert found.result.envelope.meta.content_trust is Trust.UNTRUSTED


@pytest.mark.parametrize("wire", WIRES)
def test_a_rejected_answer_does_not_taint_the_next(wire: str) -> None:
    """A correction has no word of the answer."""
    grounded = json.loads(json.dumps(marker(wire).body).replace("vendor", "seller"))
    emission = unary(wire, [Answer([json.dumps(grounded).encode()], headers=JSON), plain(wire)])

    assert [attempt.verdict.value for attempt in emission.attempts] == ["violated", "complete"]
    assert emission.envelope.meta.content_trust is Trust.TRUSTED


@pytest.mark.parametrize("first", ["last answer", "described"])
def test_prose_taints_the_document_that_it_is_converted_to(first: str) -> None:
    """The second step reads the words of the first."""
    body = json.loads(json.dumps(marker("openai-chat").body))
    body["choices"][0]["message"]["content"] = "It is Acme."
    prose = Answer([json.dumps(body).encode()], headers=JSON)
    script = [prose] if first == "last answer" else [plain("openai-chat", '{"seller": 1}'), prose]
    policy = Policy(max_attempts=1, nl_to_format=True)
    emission = unary("openai-chat", [*script, plain("openai-chat")], policy=policy)

    assert emission.value == {"vendor": "Acme"}
    assert emission.envelope.meta.content_trust is Trust.UNTRUSTED
