"""What is reported exceptions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx2
import pytest

from emitter.redaction import NO_SECRETS, Secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VALUE = 'sk-live-51H8\n"xyz"'
SECRETS = Secrets.of({"k": VALUE})


class Silent(Exception):
    """Has no message that can be made."""

    def __str__(self) -> str:
        raise RuntimeError(VALUE)


def caused(error: BaseException, cause: BaseException) -> BaseException:
    """Return an exception with its cause."""
    error.__cause__ = cause
    return error


def test_chain() -> None:
    """Causes and notes are reported, a line or more each, and no secret in them."""
    error = caused(ValueError(f"bad key {VALUE}"), caused(KeyError(VALUE), OSError(5, json.dumps(VALUE))))
    error.add_note(f"while {VALUE} was read")
    assert SECRETS.redact_error(error) == (
        "ValueError: bad key [REDACTED:k]\nwhile [REDACTED:k] was read\n"
        "KeyError: '[REDACTED:k]'\nOSError: [Errno 5] \"[REDACTED:k]\""
    )


def test_context() -> None:
    """What an exception came in the way of is reported, unless it was set aside."""
    error = RuntimeError("second")
    error.__context__ = KeyError(VALUE)
    assert SECRETS.redact_error(error) == "RuntimeError: second\nKeyError: '[REDACTED:k]'"
    error.__suppress_context__ = True
    assert SECRETS.redact_error(error) == "RuntimeError: second"


def test_group() -> None:
    """All members of a group are reported, before what it came of."""
    group = caused(ExceptionGroup("several", [KeyError(VALUE), ValueError("second")]), LookupError("cause"))
    assert SECRETS.redact_error(group) == (
        "ExceptionGroup: several (2 sub-exceptions)\nKeyError: '[REDACTED:k]'\nValueError: second\nLookupError: cause"
    )


def test_odd() -> None:
    """A message that cannot be made is left out, notes that are no list too, and a circle of causes ends."""
    silent, other = Silent(), ValueError("other")
    silent.__notes__ = 5  # type: ignore[assignment]
    silent.__cause__, other.__cause__ = other, silent
    assert SECRETS.redact_error(silent) == "Silent\nValueError: other"


def test_long_chain() -> None:
    """A chain may be longer than the stack is deep."""
    first = error = ValueError("first")
    for _ in range(20_000):
        error.__cause__ = ValueError("next")
        error = error.__cause__
    error.args = (VALUE,)
    assert SECRETS.redact_error(first).endswith("\nValueError: [REDACTED:k]")
    while first.__cause__ is not None:
        first.__cause__, first = None, first.__cause__


def holding(**attributes: object) -> BaseException:
    """Return an exception with these attributes."""
    error = ValueError("bad request")
    vars(error).update(attributes)
    return error


def answered(charset: str = "utf-8") -> httpx2.Response:
    """Return a response that was read."""
    return httpx2.Response(
        400,
        content=f"key {VALUE}".encode(charset),
        headers={"content-type": f"text/plain; charset={charset}"},
    )


def unread() -> httpx2.Response:
    """Return a response whose body was not read. Reading it would fail the test."""

    def read() -> Iterator[bytes]:
        pytest.fail("the body is read")
        yield b""

    return httpx2.Response(400, content=read())


def in_context(error: BaseException) -> BaseException:
    """Return an exception that suppresses the other one, which came first."""
    later = RuntimeError("second")
    later.__context__, later.__suppress_context__ = error, True
    return later


SHOWING: dict[str, Callable[[], BaseException]] = {
    "message": lambda: ValueError(VALUE),
    "argument": lambda: OSError(5, "failed", VALUE),
    "argument in bytes": lambda: KeyError({"a": [VALUE.encode()]}),
    "note": lambda: holding(__notes__=["first", VALUE]),
    "request id": lambda: holding(request_id=VALUE),
    "body": lambda: holding(body={"error": {"details": [{"seen": (VALUE,)}]}}),
    "key of a body": lambda: holding(body={VALUE: 1}),
    "body in escapes": lambda: holding(body=json.dumps({"key": json.dumps(VALUE)})),
    "document": lambda: json.JSONDecodeError("bad", f"[{VALUE}", 1),
    "undecodable bytes": lambda: UnicodeDecodeError("utf-8", VALUE.encode() + b"\xff", 0, 1, "bad"),
    "text of a response": lambda: holding(response=answered()),
    "text in UTF-16": lambda: holding(response=answered("utf-16")),
    "header": lambda: holding(response=httpx2.Response(400, headers={"x-key": VALUE.replace("\n", " ")})),
    "boto's response": lambda: holding(response={"ResponseMetadata": {"HTTPHeaders": {"x-key": VALUE}}}),
    "an exception in an attribute": lambda: holding(reason=KeyError(VALUE)),
    "cause": lambda: caused(ValueError("first"), holding(body=VALUE)),
    "context": lambda: in_context(holding(body=VALUE)),
    "member of a group": lambda: BaseExceptionGroup("several", [ValueError("first"), holding(code=VALUE)]),
    "member of a group in an argument": lambda: ValueError([ExceptionGroup("several", [KeyError(VALUE)])]),
    "set": lambda: holding(names={VALUE}),
}


@pytest.mark.parametrize("name", SHOWING)
def test_what_an_exception_shows(name: str) -> None:
    """Whatever can be read from it, however deep."""
    secrets = Secrets.of({"k": VALUE, "l": VALUE.replace("\n", " ")})
    assert secrets.is_shown_by(SHOWING[name]())
    assert secrets.is_shown_by(caused(RuntimeError(), SHOWING[name]()))


def test_what_an_exception_does_not_show() -> None:
    """Its type, a response that was not read, and the caller's own request."""
    request = httpx2.Request("POST", "https://vendor.test/", headers={"x-key": "sk-live"}, content=VALUE)
    circle = holding(numbers=[1, 2.0, None, True], request=request, response=unread(), odd=object())
    circle.__cause__ = circle
    assert not SECRETS.is_shown_by(circle)
    assert not SECRETS.is_shown_by(httpx2.ConnectError("refused", request=request))
    assert not SECRETS.is_shown_by(caused(Silent(), ValueError("as it is")))


def test_an_exception_with_too_much_to_search() -> None:
    """It may show a secret."""
    assert SECRETS.is_shown_by(holding(body=[[each] for each in range(200_000)]))
    assert SECRETS.is_shown_by(holding(body="\n" * 2_000_000))


def test_without_secrets() -> None:
    """Without secrets it is reported as it is."""
    assert NO_SECRETS.redact_error(ValueError("as it is")) == "ValueError: as it is"
