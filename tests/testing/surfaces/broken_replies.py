"""Surfaces that take a reply for what it is not."""
# ruff: noqa: D102  the methods are those of the honest one

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from emitter.decisions import Dialogue, FreeText, Selected, Unresolved, UnresolvedReason, digest
from emitter.errors import BadResolution, InputError, ResolutionError
from emitter.render.delivery import PlainResult
from emitter.testing.sample_moments import VALID_MOMENT
from emitter.testing.surfaces import NotOffered
from tests.testing.surfaces.honest import Honest, Sheet

if TYPE_CHECKING:
    from emitter.models import BindingMoment

ROOM = 2_000
"""Characters of a slot."""


class SelectsTheNext(Honest):
    """Counts from one."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        found = super().read(moment, reply)
        return replace(found, index=found.index + 1) if isinstance(found, Selected) else found


class AnswersForAnother(Honest):
    """Binds the resolution to an envelope of its own."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        return replace(super().read(moment, reply), digest=digest(VALID_MOMENT))


class TakesAnAnswerForAChoice(Honest):
    """Reads the digit at the beginning."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        found = super().read(moment, reply)
        if isinstance(found, FreeText) and found.answer[0].isdigit():
            return Selected(found.digest, int(found.answer[0]) - 1)
        return found


class CutsTheAnswer(Honest):
    """Keeps the first ten characters."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        found = super().read(moment, reply)
        return replace(found, answer=found.answer[:10]) if isinstance(found, FreeText) else found


class WantsAReasonForAnObjection(Honest):
    """Takes no veto without words."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        found = super().read(moment, reply)
        if isinstance(found, Dialogue) and not found.objection:
            raise BadResolution("Say why.")
        return found


class TakesAnAnswerAtAClosedHatch(Honest):
    """Reads whatever comes."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        outcome = reply.get("outcome") if isinstance(reply, dict) else None
        return FreeText(digest(moment), reply["answer"]) if outcome == "free_text" else super().read(moment, reply)


class ObjectsAtAClosedHatch(Honest):
    """Reads whatever comes."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        outcome = reply.get("outcome") if isinstance(reply, dict) else None
        return Dialogue(digest(moment), reply["objection"]) if outcome == "dialogue" else super().read(moment, reply)


class CallsAClosedHatchBad(Honest):
    """Refuses, without a word that the hatch is closed."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        try:
            return super().read(moment, reply)
        except ResolutionError:
            raise BadResolution("No.") from None


class TakesTheLastForOneTooMany(Honest):
    """Clamps."""

    def select(self, drawn: Sheet, index: int) -> Any:
        return super().select(drawn, min(index, len(drawn.options) - 1))


class TakesEnterForConsent(Honest):
    """Reads silence as the recommended option."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        if reply in ("", None):
            return Selected(digest(moment), moment.question.recommended_idx)
        return super().read(moment, reply)


class TakesYesForConsent(Honest):
    """Reads a yes as the recommended option."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        if reply == "yes":
            return Selected(digest(moment), moment.question.recommended_idx)
        return super().read(moment, reply)


class TakesUnnamedReplies(Honest):
    """Does not ask which envelope is answered."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        return Selected(digest(moment), 0) if reply == {"selected": 0} else super().read(moment, reply)


class TakesForeignReplies(Honest):
    """Does not look at the digest."""

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        if isinstance(reply, dict) and reply.get("digest"):
            return super().read(moment, {**reply, "digest": digest(moment)})
        return super().read(moment, reply)


class SaysLess(Honest):
    """Keeps the contract all the same: has little room, cannot say what is not there, and knows who left."""

    def draw(self, moment: BindingMoment) -> Sheet:
        if len(moment.offer) > ROOM:
            raise InputError("There is no room.")
        return super().draw(moment)

    def deliver(self, result: Any) -> Sheet | PlainResult:
        try:
            return super().deliver(result)
        except InputError as error:
            return PlainResult({}, str(error))

    def select(self, drawn: Sheet, index: int) -> Any:
        if index >= len(drawn.options):
            raise NotOffered
        return super().select(drawn, index)

    def read(self, moment: BindingMoment, reply: Any) -> Any:
        return Unresolved(digest(moment), UnresolvedReason.CANCELLED) if reply is None else super().read(moment, reply)


class FallsBackInSilence(SaysLess):
    """Has no room, and does not say so."""

    def deliver(self, result: Any) -> Sheet | PlainResult:
        found = super().deliver(result)
        return PlainResult(found.payload) if isinstance(found, PlainResult) else found
