"""Events are read however they are written down."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.adapters.sse import SseDecoder, is_event_stream


def events(written: str) -> list[Any]:
    """Return the events of a stream that comes in one piece."""
    decoder = SseDecoder()
    found = [*decoder.feed(written), *decoder.end()]
    assert not decoder.is_broken
    return found


ONE, TWO = {"a": 1}, {"b": "x\ny"}
WRITTEN = {
    "plain": 'data: {"a": 1}\n\ndata: {"b": "x\\ny"}\n\n',
    "no-last-line": 'data: {"a": 1}\n\ndata: {"b": "x\\ny"}',
    "byte-order-mark": '\ufeffdata: {"a": 1}\n\ndata: {"b": "x\\ny"}\n\n',
    "blank-before": '\r\n\r\n data: {"a": 1}\n\ndata: {"b": "x\\ny"}\n\n',
    "windows": 'data: {"a": 1}\r\n\r\ndata: {"b": "x\\ny"}\r\n\r\n',
    "old-mac": 'data: {"a": 1}\r\rdata: {"b": "x\\ny"}\r\r',
    "no-blank-lines": 'data: {"a": 1}\ndata: {"b": "x\\ny"}\n',
    "named-without-blank-lines": 'event: x\ndata: {"a": 1}\nevent: y\ndata: {"b": "x\\ny"}\n',
    "several-data-lines": 'data: {"a":\ndata: 1}\n\ndata: {\ndata: "b": "x\\ny"\ndata: }\n\n',
    "comments-and-fields": ': hi\nretry: 10\nid: 7\ndata: {"a": 1}\n\n: ping\n\ndata:{"b": "x\\ny"}\nid: 8\n\n',
    "done": 'data: {"a": 1}\n\ndata: {"b": "x\\ny"}\n\ndata: [DONE]\n\n',
    "done-in-one-block": 'data: {"a": 1}\ndata: {"b": "x\\ny"}\ndata: [DONE]\n',
    "empty-data": 'data:\n\ndata\n\ndata: {"a": 1}\n\ndata: {"b": "x\\ny"}\n\n',
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_two_events(written: str) -> None:
    """All of these are the same two events."""
    assert is_event_stream(written)
    assert events(written) == [ONE, TWO]


ERRORS = {
    "named": 'event: error\ndata: {"reason": "x"}\n\n',
    "named-afterwards": 'data: {"reason": "x"}\nevent: error\n\n',
    "named-without-blank-line": 'event: x\ndata: {"a": 1}\nevent: error\ndata: {"reason": "x"}\n',
}


@pytest.mark.parametrize("written", ERRORS.values(), ids=ERRORS)
def test_an_event_named_error_says_so(written: str) -> None:
    """A payload that does not say itself that it is an error is made to."""
    assert events(written)[-1] == {"type": "error", "error": {"reason": "x"}}


def test_the_name_does_not_outlive_its_event() -> None:
    """An event without data leaves nothing behind."""
    assert events('event: error\n\ndata: {"a": 1}\n\n') == [ONE]


@pytest.mark.parametrize("written", ["data: {\n\n", 'data: {"a": 1} x\n\n', "data: no\n\n"])
def test_a_payload_that_is_no_json(written: str) -> None:
    """It is an error and not left out: the missing event might be the one that counts."""
    decoder = SseDecoder()
    before = decoder.feed(f'data: {{"a": 1}}\n\n{written}')
    after = [*decoder.feed('data: {"a": 2}\n\n'), *decoder.end()]
    assert decoder.is_broken
    assert (before, after) == ([ONE], [])


@pytest.mark.parametrize("written", ['{"data": 1}', "[1]", "", "<html>", "database: x"])
def test_what_is_no_stream(written: str) -> None:
    """A document is reported from a stream by its first characters."""
    assert not is_event_stream(written)


def test_nothing_is_read_after_an_event_that_is_not_json() -> None:
    """Neither in the piece that brings it nor in a later one: what follows may be half of something."""
    decoder = SseDecoder()

    assert decoder.feed('data: {"n": 1}\n\ndata: {oops\n\ndata: {"n": 2}\n\n') == [{"n": 1}]
    assert decoder.feed('data: {"n": 3}\n\n') == []
    assert decoder.end() == []
