"""What the caller handed over cannot be used."""

from __future__ import annotations

from emitter.errors.base import EmitterError, Placed


class InputError(EmitterError, ValueError):
    """What the caller handed over cannot be used; nothing was sent."""


class UnknownModel(InputError):
    """The model string names no vendor that has a profile."""


class UnknownModelWarning(UserWarning):
    """No table knows the model, so that its limits are assumed; the message says which."""


class MissingKey(InputError):
    """No credentials were found in the vendor's usual environment variables."""


class MissingExtra(InputError):
    """An extra is not installed: a vendor's SDK, or what the simulator is made of."""


class BadProfile(InputError):
    """A vendor profile does not hold: the message names file, key and allowed values."""


class BadPrompt(InputError):
    """A prompt template is missing, or asks for a name that nothing fills."""


class BadCassette(InputError):
    """A cassette file is missing or does not hold."""


class BadTraffic(InputError):
    """A recorded exchange is not in the expected form."""


class BadJournal(InputError):
    """A journal is of another run, is in use, or does not hold; it was left as it is."""


class TooLong(InputError):
    """The envelope is longer than a surface can carry; nothing was drawn, since a part of it would be no decision."""

    hint = "Show it on a surface without limits, such as a page, and post where it is to be found."


class NotCanonical(Placed, InputError):
    """The text or the value has no canonical form that every reader agrees on, so it has no digest.

    ``pointer`` is the JSON pointer of the place, with ``*`` for a name that is not ours; ``reason`` one sentence
    without a word of the text.
    """
