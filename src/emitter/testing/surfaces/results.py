"""Results of tools that carry no decision: none, or a malformed one, which is nowhere shown in part or repaired.

Source: draft-morrison-binding-moment-envelope-00, sections 4 and 11.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.kinds import OPEN_HATCHES
from emitter.testing.surfaces.moments import ordinary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.kinds import BindingMoment
    from emitter.wire import Json

PAYLOAD: Mapping[str, Json] = {"released": False, "waiting": ["one", "two"]}
"""The conventional payload beside the envelope."""
GOOD: BindingMoment = ordinary(3, 1, OPEN_HATCHES)
"""The envelope that is spoilt below."""
OTHER: BindingMoment = GOOD.model_copy(update={"offer": "Offer: ask for the detail of any other item."})
"""An envelope that differs from all others in a word."""


def _question(moment: dict[str, Any], **changes: Json) -> None:
    moment["question"].update(changes)


_OPTION = {"label": "Elder the release", "reasoning": "Reasoning of elder, on one line."}
_SPOILT: dict[str, Callable[[dict[str, Any]], object]] = {
    "no synopsis": lambda moment: moment.pop("synopsis"),
    "no findings": lambda moment: moment.pop("findings"),
    "no recommendations": lambda moment: moment.pop("recommendations"),
    "no offer": lambda moment: moment.pop("offer"),
    "no question": lambda moment: moment.pop("question"),
    "no stem": lambda moment: moment["question"].pop("stem"),
    "no hatches": lambda moment: moment["question"].pop("hatches"),
    "one hatch missing": lambda moment: moment["question"]["hatches"].pop("dialogue"),
    "a hatch that is a word": lambda moment: moment["question"]["hatches"].update(dialogue="yes"),
    "one option": lambda moment: _question(moment, options=moment["question"]["options"][:1], recommended_idx=0),
    "five options": lambda moment: moment["question"]["options"].extend([_OPTION, _OPTION]),
    "an option without reasoning": lambda moment: moment["question"]["options"][2].pop("reasoning"),
    "nothing recommended": lambda moment: moment["question"].pop("recommended_idx"),
    "two recommended": lambda moment: _question(moment, recommended_idx=[0, 1]),
    "recommended beyond the last": lambda moment: _question(moment, recommended_idx=3),
    "recommended below the first": lambda moment: _question(moment, recommended_idx=-1),
    "recommended by true": lambda moment: _question(moment, recommended_idx=True),
    "an unknown member": lambda moment: moment.update(urgency="high"),
    "meta null": lambda moment: moment.update(meta=None),
    "half a character": lambda moment: moment.update(synopsis="\ud83d is half of one."),
}


def _spoilt(spoil: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    moment = GOOD.to_json()
    spoil(moment)
    return moment


MALFORMED: Mapping[str, Json] = {
    **{name: {**PAYLOAD, "binding_moment": _spoilt(spoil)} for name, spoil in _SPOILT.items()},
    "null": {**PAYLOAD, "binding_moment": None},
    "a text": {**PAYLOAD, "binding_moment": "Synopsis: the release is ready and should go out tonight."},
    "a list": {**PAYLOAD, "binding_moment": [GOOD.to_json()]},
}
"""Results with an envelope that has to be discarded."""

WITHOUT: Mapping[str, Json] = {
    "no envelope": {**PAYLOAD},
    "nothing": {},
    "no object": ["one", "two"],
    "a text": "released",
    "null": None,
}
"""Results of a tool that emitted none: nothing is wrong with them."""
