"""Exchanges in the forms that recorders keep them in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter.cli.model_answers import classify_exchange, find_exchange_files, load_exchange
from emitter.errors import BadTraffic
from emitter.profiles import WireFormat
from tests.adapters.bodies import events, text

if TYPE_CHECKING:
    from pathlib import Path


def exchange(wire: WireFormat, **more: Any) -> dict[str, Any]:
    """Return an exchange that holds the wire's plainest answer, and nothing about itself."""
    return {"response": {"status": 200, "headers": {}, "body": text(wire, "{}"), **more}}


@pytest.mark.parametrize("wire", WireFormat)
def test_an_exchange_that_says_nothing_about_itself(wire: WireFormat) -> None:
    """Without vendor, endpoint and request, the body's shape tells the wire."""
    for reported in ({}, {"vendor": None, "endpoint": None, "request": None}, {"request": {"path": None}}):
        found = classify_exchange({**exchange(wire), **reported}, "x")
        assert (found.verdict, found.document) == ("complete", "json")


@pytest.mark.parametrize("endpoint", ["interactions.get", "embeddings", "audio.speech"])
def test_an_endpoint_of_another_kind(endpoint: str) -> None:
    """What is none of our wires is unsupported, whatever its body looks like."""
    found = classify_exchange({**exchange(WireFormat.OPENAI_CHAT), "endpoint": endpoint, "request": None}, "x")
    assert (found.verdict, found.document, found.stop, found.fault) == ("unsupported", "none", None, None)


def test_an_error_of_which_only_the_vendor_is_known() -> None:
    """The vendor's default wire reads it."""
    recorded = exchange(WireFormat.OPENAI_CHAT, status=429, body={"error": {"code": "insufficient_quota"}})
    found = classify_exchange({**recorded, "vendor": "openai"}, "x")
    assert found.fault is not None
    assert found.fault.kind.value == "quota"


HEADERS: dict[str, Any] = {
    "text": {"Retry-After": "7"},
    "list": {"retry-after": ["7"]},
    "pairs": [["date", "x"], ["Retry-After", "7"]],
    "pairs-of-lists": [["Retry-After", ["7"]]],
}


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS)
def test_headers(headers: Any) -> None:
    """Recorders keep header lines as texts, as lists, or as pairs."""
    recorded = exchange(WireFormat.OPENAI_CHAT, status=429, body={"error": {}}, headers=headers)
    found = classify_exchange({**recorded, "endpoint": "chat.completions"}, "x")
    assert found.fault is not None
    assert found.fault.retry_after == 7.0


DOCUMENTS = {
    "json": ('{"a": 1}', "json"),
    "fenced": ('```json\n{"a": 1}\n```', "recovered"),
    "twice": ('{"a": 1}\n{"a": 1}', "recovered"),
    "several": ('{"a": 1}\n{"a": 2}', "several"),
    "almost-the-same": ('{"a": 1}{"a": true}', "several"),
    "prose": ("I cannot say.", "text"),
    "unclosed": ('{"a": 1', "text"),
    "empty": ("", "none"),
    "blank": (" \n", "none"),
}


@pytest.mark.parametrize(("words", "document"), DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("wire", WireFormat)
def test_what_an_answer_holds(wire: WireFormat, words: str, document: str) -> None:
    """Equal documents are one, different ones are several, and the verdict judges the stop alone."""
    found = classify_exchange({"response": {"status": 200, "body": text(wire, words)}}, "x")
    assert (found.verdict, found.document) == ("complete", document)


def test_a_cut_answer_is_never_recovered() -> None:
    """What looks whole under a cut is reported as it stands, and what would need repair is only text."""
    for words, document in (('{"a": 1}', "json"), ('```json\n{"a": 1}\n```', "text"), ("{}{}", "text")):
        found = classify_exchange(
            {"response": {"status": 200, "body": text(WireFormat.OPENAI_CHAT, words, "length")}}, "x"
        )
        assert (found.verdict, found.document) == ("truncated", document)


def test_a_called_tool_is_a_clean_stop() -> None:
    """A forced tool ends with the word for a tool, or with the plain one; both are complete."""
    call = {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    for stop in ("stop", "tool_calls"):
        body = {"choices": [{"message": call, "finish_reason": stop}]}
        found = classify_exchange({"response": {"status": 200, "body": body}}, "x")
        assert (found.verdict, found.document) == ("complete", "tool")


def test_a_stream_is_read_from_its_text() -> None:
    """A body that is a text of events is the stream it was."""
    body = events({"choices": [{"delta": {"content": "{}"}, "finish_reason": "stop"}]})
    assert classify_exchange({"response": {"status": 200, "body": body}}, "x").verdict == "complete"


def test_two_lone_surrogates_have_a_digest() -> None:
    """Text that is no Unicode is still told apart from other text."""
    found = [
        classify_exchange(exchange(WireFormat.OPENAI_CHAT, body=text(WireFormat.OPENAI_CHAT, each)), "x")
        for each in "\ud800\udc00"
    ]
    assert found[0].text_sha256 != found[1].text_sha256


BAD = {
    "no-json": ("{", "is not a JSON file"),
    "no-object": ("7", "is not an exchange"),
    "no-response": ('{"response": 7}', "is not an exchange"),
    "deep": ("[" * 100_000, "is not a JSON file"),
}


@pytest.mark.parametrize(("written", "sentence"), BAD.values(), ids=BAD)
def test_a_file_that_is_no_exchange(tmp_path: Path, written: str, sentence: str) -> None:
    """A sentence names the file and what is wrong with it."""
    path = tmp_path / "x.json"
    path.write_text(written, "utf-8")
    with pytest.raises(BadTraffic, match=sentence):
        load_exchange(path)


def test_files_are_found_to_any_depth(tmp_path: Path) -> None:
    """Folders are searched, files are taken as they are, and what is not there is said."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "x.json").write_text(json.dumps(exchange(WireFormat.GOOGLE)), "utf-8")
    (deep / "notes.txt").write_text("no", "utf-8")
    assert find_exchange_files([tmp_path, deep / "notes.txt"]) == [deep / "x.json", deep / "notes.txt"]
    with pytest.raises(BadTraffic, match="does not exist"):
        find_exchange_files([tmp_path / "nowhere"])
