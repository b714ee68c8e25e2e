"""Surfaces that show what they should not, or not what they should."""
# ruff: noqa: D102  the methods are those of the honest one

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.render.layout import HatchKind
from emitter.testing.surfaces import ShownOption
from tests.testing.surfaces.honest import Honest, Sheet

if TYPE_CHECKING:
    from emitter.models import BindingMoment
    from emitter.render.layout import OptionLayout


class DropsAFinding(Honest):
    """Saves space."""

    def draw(self, moment: BindingMoment) -> Sheet:
        drawn = super().draw(moment)
        return replace(drawn, briefing=tuple(each for each in drawn.briefing if not each.startswith("Finding three")))


class ShowsThreeFindings(Honest):
    """Has room for three."""

    def draw(self, moment: BindingMoment) -> Sheet:
        return super().draw(moment.model_copy(update={"findings": moment.findings[:3]}))


class ShowsTwoMoves(Honest):
    """Has room for two."""

    def draw(self, moment: BindingMoment) -> Sheet:
        return super().draw(moment.model_copy(update={"recommendations": moment.recommendations[:2]}))


class ShowsSixFindings(Honest):
    """Has room for as many as the draft recommends."""

    def draw(self, moment: BindingMoment) -> Sheet:
        return super().draw(moment.model_copy(update={"findings": moment.findings[:6]}))


class DropsTheOffer(Honest):
    """Saves space."""

    def draw(self, moment: BindingMoment) -> Sheet:
        drawn = super().draw(moment)
        return replace(drawn, briefing=tuple(each for each in drawn.briefing if not each.startswith("Offer")))


class DropsTheNote(Honest):
    """Spares the agent its line of honesty."""

    def draw(self, moment: BindingMoment) -> Sheet:
        drawn = super().draw(moment)
        return replace(drawn, briefing=drawn.briefing[1:])


class CutsTheSynopsis(Honest):
    """Shows the first words."""

    def text(self, drawn: Sheet) -> str:
        return "\n".join(each[:20] for each in super().text(drawn).split("\n"))


class HidesAReasoning(Honest):
    """Shows labels only."""

    def drawn_option(self, choice: OptionLayout) -> ShownOption:
        return replace(super().drawn_option(choice), reasoning="")


class SwapsReasonings(Honest):
    """Shows the reasoning of the first option with every one."""

    def option(self, drawn: Sheet, index: int) -> ShownOption:
        return replace(drawn.options[index], reasoning=drawn.options[0].reasoning)


class MarksNothing(Honest):
    """Leaves the lean out."""

    def drawn_option(self, choice: OptionLayout) -> ShownOption:
        return ShownOption(choice.label, choice.reasoning, is_marked=False)


class MarksTheFirst(Honest):
    """Marks the option on top."""

    def drawn_option(self, choice: OptionLayout) -> ShownOption:
        return replace(super().drawn_option(choice), is_marked=choice.index == 0)


class MarksTwo(Honest):
    """Marks one more."""

    def drawn_option(self, choice: OptionLayout) -> ShownOption:
        return replace(super().drawn_option(choice), is_marked=choice.recommended or choice.index == 1)


class MarksByColour(Honest):
    """Is green, and says nothing."""

    def drawn_option(self, choice: OptionLayout) -> ShownOption:
        return ShownOption(f"{choice.label} {choice.warning or ''}", choice.reasoning, choice.recommended)


class MarksEveryOptionInWords(Honest):
    """Says of each that it is recommended or not, in the same words."""

    def drawn_option(self, choice: OptionLayout) -> ShownOption:
        return replace(super().drawn_option(choice), text=f"not recommended {choice.label} {choice.warning or ''}")


class OmitsTheQuestionHatch(Honest):
    """Takes the options for exhaustive."""

    def hatches(self, drawn: Sheet) -> set[HatchKind]:
        return set(drawn.vetoes) - {HatchKind.DIALOGUE}


class OffersAClosedHatch(Honest):
    """Always offers both."""

    def hatches(self, drawn: Sheet) -> set[HatchKind]:
        return {*drawn.vetoes, HatchKind.FREE_TEXT}


class LeaksEscapes(Honest):
    """Shows texts as they came."""

    def draw(self, moment: BindingMoment) -> Sheet:
        return replace(super().draw(moment), briefing=(moment.synopsis,))


class LeaksBidi(Honest):
    """Isolates what it shows with the very characters that it refuses."""

    def text(self, drawn: Sheet) -> str:
        return f"\u2068{super().text(drawn)}\u2069"


class InterpretsMarkup(Honest):
    """Swallows what looks like a tag."""

    def text(self, drawn: Sheet) -> str:
        return super().text(drawn).replace("<b>", "").replace("</b>", "")


class HidesWarnings(Honest):
    """Shows a false mark for what it says."""

    def drawn_option(self, choice: OptionLayout) -> ShownOption:
        return super().drawn_option(replace(choice, warning=None))


class BelievesLabels(Honest):
    """Finds the mark by its word."""

    def option(self, drawn: Sheet, index: int) -> ShownOption:
        found = drawn.options[index]
        return replace(found, is_marked="recommended" in found.text)


class CutsTheHuge(Honest):
    """Shows a thousand characters of each line."""

    def text(self, drawn: Sheet) -> str:
        return "\n".join(each[:1000] for each in super().text(drawn).split("\n"))


class Crashes(Honest):
    """Fails with an error of its own."""

    def hatches(self, drawn: Sheet) -> set[HatchKind]:
        raise KeyError(drawn.digest)
