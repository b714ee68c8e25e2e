"""Read one number or constant of almost-JSON."""

from __future__ import annotations

from emitter.recover.lexis import LITERAL, LITERALS, NUMBER
from emitter.wire.strict import finite


def scalar(text: str, at: int) -> tuple[int | float | bool | None, int] | None:
    """Return the value at ``at`` and where it ends, if there is one.

    :raises ValueError: when the number is too large to hold.
    """
    if token := LITERAL.match(text, at):
        return LITERALS[token[0]], token.end()
    if token := NUMBER.match(text, at):
        digits = token[0]
        whole = digits.lstrip("+-").isdecimal()
        return int(digits) if whole else finite(digits), token.end()
    return None
