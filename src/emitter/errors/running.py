"""What fails at run time, or cannot be compiled."""

from __future__ import annotations

from emitter.errors.base import EmitterError, Placed


class UnexpectedRequest(EmitterError):
    """A replay met a request that its cassette does not know; the message shows the difference."""


class JournalFailed(EmitterError):
    """The journal of a run could not be written, so nothing more was begun; what was finished is handed out."""

    hint = "Make room for it, and run again: what stands in it is not asked for again."


class StoreFailed(EmitterError):
    """A store could not be read or written, or its caller had to wait too long for others.

    What was asked of it is kept whole or not at all: ask again, and what was kept is found.
    """


class Uncompilable(Placed):
    """No sound form of the schema exists in the vendor's subset.

    ``pointer`` is the JSON pointer of the place, ``reason`` one sentence.
    """


class Unencodable(Placed):
    """The value is no instance of the schema, or one that its compiled form has no place for.

    ``pointer`` is the JSON pointer of the place in the value, ``reason`` one sentence without the value.
    """


class Tampered(EmitterError):
    """A record, a proposal or a chain of records is not what was written.

    ``place`` says where: a line's number, or the name of a document.
    """

    def __init__(self, message: str, *, place: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.place = place


class StoreAltered(StoreFailed, Tampered):
    """What a store keeps is not what was written into it."""
