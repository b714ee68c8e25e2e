"""An answer to a decision cannot be taken."""

from __future__ import annotations

from emitter.errors.given import InputError


class ResolutionError(InputError):
    """An answer to a decision cannot be taken; nothing happened, and the decision stands as it stood.

    ``code`` is a word that a program can tell the reasons apart by.
    """

    code = "resolution_error"


class BadResolution(ResolutionError):
    """What was handed over is none of the three resolutions there are."""

    code = "bad_resolution"


class NoSuchOption(ResolutionError):
    """The resolution names an option that the envelope does not have."""

    code = "no_such_option"


class HatchClosed(ResolutionError):
    """The resolution uses a veto that the envelope does not offer."""

    code = "hatch_closed"


class WrongDigest(ResolutionError):
    """The resolution answers another envelope than the one that was asked."""

    code = "wrong_digest"


class UnknownDecision(ResolutionError):
    """Nobody asked this."""

    code = "unknown_decision"


class AlreadyResolved(ResolutionError):
    """The decision was resolved otherwise before; an envelope solicits a single resolution.

    ``decision_id`` names the decision in which the principal refused the question, where that is why it is not asked
    again; it is empty otherwise.
    """

    code = "already_resolved"

    def __init__(self, message: str, *, decision_id: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.decision_id = decision_id


class DecisionExpired(ResolutionError):
    """The decision was open for a time, and that is over."""

    code = "decision_expired"


class BadToken(ResolutionError):
    """The token is forged, spent, or of another decision."""

    code = "bad_token"
