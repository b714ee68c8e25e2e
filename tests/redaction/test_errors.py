"""What is reported exceptions."""

from __future__ import annotations

import json

from emitter.redaction import NO_SECRETS, Secrets

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


def test_without_secrets() -> None:
    """Without secrets it is reported as it is."""
    assert NO_SECRETS.redact_error(ValueError("as it is")) == "ValueError: as it is"
