"""What a surface shows: the slots, the mark, the vetoes, and nothing that text of others could do to them.

Source: draft-morrison-binding-moment-envelope-00, sections 8.1 and 11. A check is a function of a subject and an
envelope that raises ``Broken``; its docstring is the sentence it fails with.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError
from emitter.render.delivery import Fallback
from emitter.render.layout import HatchKind, layout
from emitter.testing.surfaces.require import require, shows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.kinds import BindingMoment
    from emitter.testing.surfaces.subject import Subject


def briefing(subject: Subject[Any], moment: BindingMoment) -> None:
    """§8.1: all four briefing slots are shown, each finding and each recommendation whole; so are note and stem."""
    shown, wanted = subject.text(subject.draw(moment)), layout(moment)
    shows(shown, "the synopsis", [wanted.synopsis])
    shows(shown, "every finding", wanted.findings)
    shows(shown, "every recommendation", wanted.recommendations)
    shows(shown, "the offer", [wanted.offer])
    shows(shown, "the question's stem", [wanted.stem])
    shows(shown, "the calibration note", [wanted.note or ""])


def options(subject: Subject[Any], moment: BindingMoment) -> None:
    """§8.1: each option is shown with its label, and its reasoning with it or one step away."""
    drawn = subject.draw(moment)
    everything = subject.text(drawn)
    for each in layout(moment).choices:
        found = subject.option(drawn, each.index)
        shows(found.text, f"the label of option {each.index}, with the option", [each.label])
        shows(found.reasoning, f"the reasoning of option {each.index}, with the option", [each.reasoning])
        shows(everything, f"label and reasoning of option {each.index}", [each.label, each.reasoning])


def warnings(subject: Subject[Any], moment: BindingMoment) -> None:
    """§11: a label that passes for another, for a mark or for a veto is shown with the warning of the layout."""
    drawn = subject.draw(moment)
    for each in layout(moment).choices:
        found = subject.option(drawn, each.index)
        shows(found.text, f"the warning at option {each.index} ({each.warning})", [each.warning or ""])


def mark(subject: Subject[Any], moment: BindingMoment) -> None:
    """§8.1: exactly the recommended option is marked, to be seen without acting."""
    drawn, right = subject.draw(moment), moment.question.recommended_idx
    marked = [index for index, _ in enumerate(moment.question.options) if subject.option(drawn, index).marked]
    require(marked == [right], f"option {right} is recommended, and marked are {marked}")


def mark_in_words(subject: Subject[Any], moment: BindingMoment) -> None:
    """§8.1: the mark is a word that stands with the option, so never colour alone, and with no other."""
    count, right = len(moment.question.options), moment.question.recommended_idx
    wrong = (right + 1) % count
    other = moment.model_copy(update={"question": moment.question.model_copy(update={"recommended_idx": wrong})})
    here, there = subject.draw(moment), subject.draw(other)
    word = _words(subject.option(here, right).text) - _words(subject.option(there, right).text)
    word -= {each for index in range(count) if index != right for each in _words(subject.option(here, index).text)}
    require(bool(word), f"no word tells that option {right} is recommended")
    require(bool(word & _words(subject.text(here))), "the mark stands nowhere in the text")


def hatches(subject: Subject[Any], moment: BindingMoment) -> None:
    """§8.1: every hatch whose boolean is true can be invoked, and no other."""
    wanted = {each for each in HatchKind if getattr(moment.question.hatches, each.value)}
    found = subject.hatches(subject.draw(moment))
    require(found == wanted, f"open are {_names(wanted)}, and can be invoked: {_names(found)}")


def harmless(subject: Subject[Any], moment: BindingMoment) -> None:
    """§11: no text of the envelope reaches a person as a control, a bidi control or anything that cannot be seen."""
    found = {f"U+{ord(each):04X}" for each in subject.text(subject.draw(moment)) if _unsafe(each)}
    require(not found, f"these came through: {', '.join(sorted(found))}")


def whole_or_not_at_all(subject: Subject[Any], moment: BindingMoment) -> None:
    """§8.1: an envelope that is too large for a surface is shown whole, or refused with ``InputError``."""
    try:
        subject.draw(moment)
    except InputError:
        found = subject.deliver({"binding_moment": moment.to_json()})
        require(isinstance(found, Fallback) and bool(found.diagnostic), "what cannot be drawn must fall back")
        return
    for check in (briefing, options, harmless):
        check(subject, moment)


def _unsafe(character: str) -> bool:
    if character in "\n\t\u200c\u200d":
        return False
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def _names(kinds: Iterable[HatchKind]) -> str:
    return ", ".join(sorted(each.value for each in kinds)) or "none"


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", text.casefold()))
