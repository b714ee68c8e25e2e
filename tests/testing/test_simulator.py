"""The server as a thing in a program: where it is, what it needs, and how it ends."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import subprocess
import sys
import threading
from typing import Any, cast

import httpx2
import pytest

import emitter
from emitter import emit
from emitter.errors import InputError, MissingExtra, UnknownModel
from emitter.messages import ModelResponse
from emitter.profiles.model import WireFormat
from emitter.testing import Dropped, Simulator, Stalled, Text, simulator
from tests.testing.asking import DOCUMENT, SCHEMA, Question, address, answer, body, headers, post, until


def test_leaving_cuts_what_is_still_under_way() -> None:
    """A client that waits for a stalled answer loses its connection, and the block ends."""
    failed: list[Exception] = []

    def wait(url: str) -> None:
        try:
            httpx2.post(f"{url}/v1/chat/completions", json=body(WireFormat.OPENAI_CHAT, Question()), timeout=120)
        except httpx2.TransportError as error:
            failed.append(error)

    with simulator(answers=Stalled(answer=Text("x"))) as vendor:
        waiting = [threading.Thread(target=wait, args=(vendor.url,)) for _ in range(3)]
        for each in waiting:
            each.start()
        until(lambda: len(vendor.calls) == 3)
    for each in waiting:
        each.join()

    assert len(failed) == 3


def test_the_port_is_free_afterwards() -> None:
    """The same address can be taken again at once, and nobody answers in between."""
    with simulator() as vendor:
        port = int(vendor.url.rpartition(":")[2])
    with socket.socket() as free, pytest.raises(OSError, match="refused"):
        free.connect(("127.0.0.1", port))
    with simulator(answers=Text("x"), port=port) as vendor:
        assert post(vendor, WireFormat.OPENAI_CHAT).status_code == 200


def test_several_at_once() -> None:
    """Each has its own address, books and script."""
    with simulator(answers=Text("one")) as one, simulator(answers=Text("two")) as two:
        replies = [answer(each, WireFormat.ANTHROPIC) for each in (one, two)]

        assert [each.text for each in replies if isinstance(each, ModelResponse)] == ["one", "two"]
        assert (len(one.calls), len(two.calls)) == (1, 1)


def test_a_taken_port_is_an_error_at_once() -> None:
    """It is reported as bad input, at once."""
    with simulator() as vendor:
        second = simulator(port=int(vendor.url.rpartition(":")[2]))
        with pytest.raises(InputError, match="in use"):
            second.__enter__()


def test_used_outside_its_block() -> None:
    """There is no address before, nor a second beginning."""
    vendor = simulator()
    with pytest.raises(InputError, match="not running"):
        _ = vendor.url
    with vendor, pytest.raises(InputError, match="already running"), vendor:
        pass


WRONG: dict[str, dict[str, Any]] = {
    "a class": {"answers": Text},
    "a text": {"answers": "Yes."},
    "an empty mixture": {"answers": {}},
    "no weight": {"answers": {Text("x"): 0}},
    "a negative weight": {"answers": {Text("x"): -1, Text("y"): 2}},
    "a class in a mixture": {"answers": {Text: 1}},
    "a negative wait": {"latency": -1},
    "no speed": {"tokens_per_second": 0},
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_simulated(arguments: dict[str, Any]) -> None:
    """What is wrong is said before anything runs."""
    with pytest.raises(InputError):
        simulator(**arguments)


@pytest.mark.parametrize("error", [emitter.Refused, emitter.RateLimited, ValueError("no")], ids=repr)
def test_an_exception_is_no_behaviour(vendor: Simulator, error: Any) -> None:
    """Some exceptions have the name of a behaviour, so the error says where behaviours are."""
    for simulate in (vendor.script, lambda wrong: simulator(answers=wrong)):
        with pytest.raises(InputError, match=r"is an exception, not a behaviour.*emitter\.testing\.Refused"):
            cast("Any", simulate)(error)


def test_a_script_of_no_behaviours(vendor: Simulator) -> None:
    """A class in place of its instance is reported, and nothing of the script is taken."""
    with pytest.raises(InputError, match="is not a behaviour"):
        vendor.script(Text("x"), Stalled)  # type: ignore[arg-type]

    post(vendor, WireFormat.OPENAI_CHAT)
    assert vendor.calls[0].behaviour == Text(DOCUMENT)


def test_where_clients_go(vendor: Simulator) -> None:
    """Base URLs and variables are those that the SDKs expect."""
    assert vendor.base_url("openai/gpt-6-sol") == f"{vendor.url}/v1"
    assert vendor.base_url("openai-compatible/x") == f"{vendor.url}/v1"
    assert vendor.base_url("azure-openai/x") == vendor.url
    assert vendor.base_url("anthropic/x") == vendor.base_url("google/x") == vendor.url
    assert vendor.environment()["OPENAI_BASE_URL"] == f"{vendor.url}/v1"
    assert vendor.environment()["ANTHROPIC_BASE_URL"] == vendor.environment()["GOOGLE_GEMINI_BASE_URL"] == vendor.url
    with pytest.raises(UnknownModel):
        vendor.client("nobody/x")


def test_latency_comes_before_the_headers() -> None:
    """A client that is not patient enough gets nothing at all, and pays for its prompt."""
    asked = Question()
    with simulator(answers=Text(DOCUMENT), latency=30) as vendor, httpx2.Client(timeout=0.2) as client:
        place = address(vendor, WireFormat.OPENAI_CHAT, asked)
        with pytest.raises(httpx2.ReadTimeout):
            client.post(place, json=body(WireFormat.OPENAI_CHAT, asked))
        until(lambda: vendor.billed.output == 0)
        assert vendor.billed.input > 0


def test_many_at_once() -> None:
    """Hundreds of requests under way lose nothing."""

    async def ask() -> int:
        async with simulator(answers=Text(DOCUMENT)) as vendor, httpx2.AsyncClient(timeout=120) as client:
            sent = [
                client.post(
                    address(vendor, WireFormat.OPENAI_RESPONSES, Question()),
                    json=body(WireFormat.OPENAI_RESPONSES, Question(prompt=str(number))),
                    headers=headers(WireFormat.OPENAI_RESPONSES, "a-key"),
                )
                for number in range(300)
            ]
            good = sum(each.status_code == 200 for each in await asyncio.gather(*sent))
            assert len(vendor.calls) == 300
            return good

    assert asyncio.run(ask()) == 300


def test_the_process_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A cut connection is no error of the server's, and its logging is left as it was."""
    before = logging.getLogger("uvicorn.error").level
    with simulator(answers=Dropped(answer=Text(DOCUMENT))) as vendor, pytest.raises(httpx2.TransportError):
        post(vendor, WireFormat.OPENAI_CHAT)

    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
    assert logging.getLogger("uvicorn.error").level == before


def test_importing_costs_little() -> None:
    """Neither server nor decoder nor SDK is loaded before it is needed."""
    script = "import sys, json, emitter.testing; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout)

    assert not {"uvicorn", "llguidance", "openai", "anthropic", "google.genai", "tiktoken", "httpx2"} & set(loaded)


def test_a_name_that_a_module_has_too() -> None:
    """The function is what is imported, whichever name of its module is asked for first."""
    script = "from emitter.testing import Simulator, simulator; print(type(simulator()) is Simulator)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout

    assert said.strip() == "True"


def test_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is named, with the line that installs it."""
    monkeypatch.setitem(sys.modules, "emitter.testing.uvicorn_server", None)
    with pytest.raises(MissingExtra, match=r"emitter\[testing\]"):
        simulator().__enter__()


def test_without_a_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only drawn documents need the decoder, and whoever asks for one is reported."""
    monkeypatch.setitem(sys.modules, "emitter.testing.constrained_decoding", None)
    fresh = Question(schema={**SCHEMA, "title": "Nobody has drawn this one before"})
    vendor = simulator().__enter__()
    vendor.script(Text(DOCUMENT))

    whole, drawn = (post(vendor, WireFormat.OPENAI_CHAT, each) for each in (Question(), fresh))

    assert (whole.status_code, drawn.status_code) == (200, 500)
    assert "llguidance" in drawn.text
    with pytest.raises(MissingExtra, match="llguidance"):
        vendor.__exit__(None, None, None)


@pytest.mark.parametrize("model", ["openai/gpt-6-sol", "anthropic/claude-opus-5"])
def test_a_form_of_many_fields_is_answered(model: str) -> None:
    """How long a document may become grows with its schema."""
    names = [f"quite_a_long_name_of_a_field_number_{number}" for number in range(300)]
    form = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    with simulator() as vendor:
        value = emit(form, "Fill it in.", model=model, client=vendor.client(model)).value
    assert list(value) == names
