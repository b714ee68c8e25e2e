"""Every exception of the library, and nothing else.

EmitterError
  InputError                what the caller handed over cannot be used
    UnknownModel            no such vendor, or not ``vendor/model``
    MissingKey              no credentials in the usual place
    MissingExtra            a vendor's SDK, or another extra, is not installed
    BadProfile              a file of ``providers/`` does not hold
    BadPrompt               a file of ``prompts/`` does not hold
    BadCassette             a cassette does not hold
    BadTraffic              a recorded exchange does not hold
    BadJournal              a journal is of another run, in use, or does not hold
    PromptTooLong           the prompt leaves no room for an answer in the model's window
    NotCanonical            a text or a value has no canonical form, and so no digest
    TooLong                 the envelope is longer than a surface can carry
    ResolutionError         an answer to a decision cannot be taken; nothing happened
      BadResolution         it is none of the three that there are
      NoSuchOption          it names an option that the envelope does not have
      HatchClosed           it uses a veto that the envelope does not offer
      WrongDigest           it answers another envelope
      UnknownDecision       nobody asked this
      AlreadyResolved       the decision was resolved otherwise before
      DecisionExpired       the decision was open for a time, which is over
      BadToken              the token is forged, spent or of another decision
  UnexpectedRequest         a replay met a request that its cassette does not know
  JournalFailed             the journal of a run could not be written
  StoreFailed               a store could not be read or written, or kept its caller waiting too long
  Uncompilable              a schema no sound form of which the vendor takes
  Unencodable               a value that the compiled schema cannot say
  EmissionError             the emission ended without an envelope
    Refused                 the model or a filter said no
    Truncated               the answer never fitted its budget
    Invalid                 the answer never satisfied its schema
    Unreachable             the vendor could not be reached, or would not serve
    LimitReached            a limit of the caller's left nothing for a further call
      TokenLimitReached     ``Policy.max_total_tokens``
      CostLimitReached      ``Policy.max_cost``
      DeadlineReached       ``Policy.deadline``; it is ``Unreachable`` too
    CheckFailed             a check or a validator of the caller's own raised
    CapabilityNotProvided   no model at hand has what the caller requires of it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class EmitterError(Exception):
    """The root of every exception this library raises on purpose.

    ``hint`` is one sentence that says what to do next.
    """

    hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.hint}".strip()


class InputError(EmitterError, ValueError):
    """What the caller handed over cannot be used; nothing was sent."""


class UnknownModel(InputError):
    """The model string names no vendor that has a profile."""


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


class PromptTooLong(InputError):
    """The prompt leaves no room for an answer in the model's context window."""

    hint = "Shorten the situation, the material or the schema, or choose a model with a larger window."


class TooLong(InputError):
    """The envelope is longer than a surface can carry; nothing was drawn, since a part of it would be no decision."""

    hint = "Show it on a surface without limits, such as a page, and post where it is to be found."


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


class UnexpectedRequest(EmitterError):
    """A replay met a request that its cassette does not know; the message shows the difference."""


class JournalFailed(EmitterError):
    """The journal of a run could not be written, so nothing more was begun; what was finished is handed out."""

    hint = "Make room for it, and run again: what stands in it is not asked for again."


class StoreFailed(EmitterError):
    """A store could not be read or written, or its caller had to wait too long for others.

    What was asked of it is kept whole or not at all: ask again, and what was kept is found.
    """


class _Placed(EmitterError):
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


class Uncompilable(_Placed):
    """No sound form of the schema exists in the vendor's subset.

    ``pointer`` is the JSON pointer of the place, ``reason`` one sentence.
    """


class Unencodable(_Placed):
    """The value is no instance of the schema, or one that its compiled form has no place for.

    ``pointer`` is the JSON pointer of the place in the value, ``reason`` one sentence without the value.
    """


class NotCanonical(_Placed, InputError):
    """The text or the value has no canonical form that every reader agrees on, so it has no digest.

    ``pointer`` is the JSON pointer of the place, with ``*`` for a name that is not ours; ``reason`` one sentence
    without a word of the text.
    """


class Trace(Protocol):
    """What every failed emission tells: see ``emitter.moment.Trace``."""

    @property
    def attempts(self) -> Sequence[object]:
        """Every call that was made, in order."""
        ...

    @property
    def usage(self) -> object:
        """The tokens of all calls together."""
        ...

    @property
    def events(self) -> Sequence[object]:
        """Every event that was told, in order."""
        ...


class EmissionError(EmitterError):
    """The emission ended without an envelope.

    ``code`` is OpenWOP's terminal code; ``trace`` holds attempts, usage and events. The message never
    carries text of the model.
    """

    def __init__(self, message: str, *, code: str, trace: Trace, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.trace = trace

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), Exception.__str__(self), self.code, self.trace, self.hint)


def _again(kind: type[EmissionError], message: str, code: str, trace: Trace, hint: str) -> EmissionError:
    """Build an error again, so that it can cross a process."""
    return kind(message, code=code, trace=trace, hint=hint)


class Refused(EmissionError):
    """The model refused, or a safety system blocked the exchange."""

    hint = "A refusal is never re-sent: change the situation or ask a person."


class Truncated(EmissionError):
    """The answer did not fit its budget, even raised to the ceiling."""

    hint = "Allow more attempts or tokens in Policy, shorten the material, or choose a larger model."


class Invalid(EmissionError):
    """The answer never satisfied its schema within the attempts allowed."""

    hint = "Each attempt's stop and violations are in the error's trace; another model or more attempts may do."


class Unreachable(EmissionError):
    """The vendor could not be reached, or would not serve the request."""

    hint = "Check key, model name, address and network; each attempt's fault is in the error's trace."


class LimitReached(EmissionError):
    """A limit of the caller's left nothing for a further call."""

    hint = "Raise the limit in Policy; what was spent until then is in the error's trace."


class TokenLimitReached(LimitReached):
    """All calls together would have come to more than ``Policy.max_total_tokens``."""


class CostLimitReached(LimitReached):
    """All calls together would have cost more than ``Policy.max_cost``."""


class DeadlineReached(LimitReached, Unreachable):
    """``Policy.deadline`` passed before there was an answer that holds."""


class CheckFailed(EmissionError):
    """A check or a validator of the caller's own raised, so that nothing says what the answer is worth.

    What it raised is the error's ``__cause__``.
    """

    hint = "It is a bug in that code: a check returns what it finds, and a validator raises ValueError."


class CapabilityNotProvided(EmissionError):
    """Neither the model nor its declared fallback provides what is required of it, so nothing was sent.

    Source: OpenWOP RFC 0031, section B.
    """

    hint = "Choose a model that provides it, or name one as fallback_model."
