"""The well-formed envelopes that a surface is held to: each slot can be told apart from every other.

``MOMENTS`` is every number of options with each of them recommended, with each setting of the hatches, with and without
``meta``; with it there are as many findings and recommendations as the draft recommends at most. ``FEW`` holds every
pair of these settings, for a surface that takes its time.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from emitter.kinds import BindingMoment, Hatches, Meta, Option, Question

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS = ("Alder", "Birch", "Cedar", "Damson")
_COUNTED = ("one", "two", "three", "four", "five", "six")
_MOVES = ("publish the packages", "watch the errors for an hour", "tell support", "close the milestone")
_META = Meta(decision_class="release", calibration_note="Note: the earlier estimate was too low.")


def ordinary(options: int, recommended: int, hatches: Hatches, meta: Meta | None = None) -> BindingMoment:
    """Return an envelope with this many options."""
    moment = BindingMoment(
        synopsis="Synopsis: the release is ready and should go out tonight.",
        findings=tuple(
            f"Finding {each}: the check called {each} passed." for each in _COUNTED[: 3 if meta is None else 6]
        ),
        recommendations=tuple(
            f"Move {each}: {move}." for each, move in zip(_COUNTED, _MOVES[: 2 if meta is None else 4], strict=False)
        ),
        offer="Offer: ask for the detail of any item.",
        question=Question(
            stem="Stem: what happens to the release?",
            options=tuple(
                Option(label=f"{word} the release", reasoning=f"Reasoning of {word.lower()}, on one line.")
                for word in _WORDS[:options]
            ),
            recommended_idx=recommended,
            hatches=hatches,
        ),
    )
    return moment.model_copy(update={"meta": meta})


def _all() -> dict[str, BindingMoment]:
    return {
        f"{options} options-{recommended + 1} recommended-{_open(free_text, dialogue)}-{'meta' if meta else 'bare'}": (
            ordinary(options, recommended, Hatches(free_text=free_text, dialogue=dialogue), meta)
        )
        for options, free_text, dialogue, meta in product((2, 3, 4), (True, False), (True, False), (_META, None))
        for recommended in range(options)
    }


def _open(free_text: bool, dialogue: bool) -> str:  # noqa: FBT001  the two settings of the hatches
    names = [name for name, is_open in (("free text", free_text), ("dialogue", dialogue)) if is_open]
    return " and ".join(names) or "no hatch"


MOMENTS: Mapping[str, BindingMoment] = _all()

_SIZES = ((2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (4, 3), (4, 4))
_OPPOSITE = (("free text and dialogue", "no hatch"), ("free text", "dialogue"))
FEW: Mapping[str, BindingMoment] = {
    name: MOMENTS[name]
    for place, (options, recommended) in enumerate(_SIZES)
    for turn, hatches in enumerate(_OPPOSITE[place % 2])
    if (name := f"{options} options-{recommended} recommended-{hatches}-{('meta', 'bare')[(place // 2 + turn) % 2]}")
}
