"""The last rows of the window: what the picker says, or the keys there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.render.layout import OFFER, HatchKind
from emitter.render.wrap import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.render.layout import Layout
    from emitter.terminal.view import View

MOST_ROWS = 3
_BETWEEN = "   "
_VETOES = {HatchKind.FREE_TEXT: "answer", HatchKind.DIALOGUE: "object"}


def status(view: View, layout: Layout, width: int, measure: Callable[[str], int], *, detail: bool = False) -> list[str]:
    """Return what stands below the page while an option is chosen; ``detail`` says whether more can be asked for."""
    if view.says is not None:
        return wrapped(view.says, width - 1, measure)[:MOST_ROWS]
    keys = f"1-{len(layout.choices)} pick"
    more = [OFFER.key] if detail else []
    long = [*(f"{each.key} {_VETOES[each.kind]}" for each in layout.hatches), *(f"{each} more" for each in more)]
    short = [*(each.key for each in layout.hatches), *more]
    below = "[more below]" if view.more else ""
    forms = (
        [below, f"Up/Down or {keys}", "Enter choose", *long, "q leave"],
        [keys, "Enter choose", *long, "q leave", below and "..."],
        [keys, "Enter", *short, "q leave", below and "..."],
        [keys[: -len(" pick")], "Enter", *short, "q", below and "..."],
    )
    return [_fitting(forms, width - 1)]


def writing(hint: str, said: str | None, width: int, measure: Callable[[str], int]) -> list[str]:
    """Return what stands below a text that is being written."""
    if said is not None:
        return wrapped(said, width - 1, measure)[:MOST_ROWS]
    return [_fitting((["Enter send", "Esc back", hint], ["Enter", "Esc back"]), width - 1)]


def _fitting(forms: Sequence[Sequence[str]], room: int) -> str:
    """Return the first form that fits, wide or close; of the last one as much as fits."""
    drawn = [between.join(filter(None, form)) for form in forms for between in (_BETWEEN, "  ", " ")]
    return next((each for each in drawn if len(each) <= room), drawn[-1][:room])
