"""An answer to a decision cannot be taken."""

from __future__ import annotations

from emitter.errors.given import InputError


class ResolutionError(InputError):
    """An answer to a decision cannot be taken; nothing happened, and the decision stands as it stood."""


class BadResolution(ResolutionError):
    """What was handed over is none of the three resolutions there are."""


class NoSuchOption(ResolutionError):
    """The resolution names an option that the envelope does not have."""


class HatchClosed(ResolutionError):
    """The resolution uses a veto that the envelope does not offer."""


class WrongDigest(ResolutionError):
    """The resolution answers another envelope than the one that was asked."""


class UnknownDecision(ResolutionError):
    """Nobody asked this."""


class AlreadyResolved(ResolutionError):
    """The decision was resolved otherwise before; an envelope solicits a single resolution."""


class DecisionExpired(ResolutionError):
    """The decision was open for a time, and that is over."""


class BadToken(ResolutionError):
    """The token is forged, spent, or of another decision."""
