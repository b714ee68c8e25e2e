"""The root of every exception, and what has a place."""

from __future__ import annotations


class EmitterError(Exception):
    """The root of every exception this library raises on purpose.

    ``hint`` is one sentence that says what to do next.
    """

    hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint

    @property
    def summary(self) -> str:
        """The error in this library's own words: nothing that a vendor said, so that a model may read it."""
        return f"{Exception.__str__(self)} {self.hint}".strip()

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.hint}".strip()


class Placed(EmitterError):
    """An error with a place: ``pointer`` and ``reason``."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer or '#'}: {reason}")
        self.pointer = pointer
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (self.pointer, self.reason) == (other.pointer, other.reason)

    def __hash__(self) -> int:
        return hash((type(self), self.pointer, self.reason))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.pointer, self.reason)
