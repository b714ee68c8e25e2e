"""Facts on what a budget is spent on: thinking, and the tokenizer that counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import Field

from emitter.profile.facts import Facts

if TYPE_CHECKING:
    from emitter.wire import Json

Path = Annotated[str, Field(pattern=r"^\w+(\.\w+)*$")]
"""Keys joined by dots: where a setting lies in the caller's options."""


class Thinking(Facts):
    """What a model's thinking takes of the output budget on a wire.

    ``counted`` says whether the budget includes it. ``tokens`` are the paths of options that set its length as
    a number, ``effort`` those that set it as a word; the first that is set wins, a number before a word.
    ``allowances`` are the tokens to set aside for a word, in small letters. ``beside_forced_tool`` says whether a
    model may think that is made to call a function.
    """

    counted: bool
    tokens: tuple[Path, ...] = ()
    effort: tuple[Path, ...] = ()
    allowances: dict[str, Annotated[int, Field(ge=0)]]
    beside_forced_tool: bool = True

    def allowance(self, options: Mapping[str, Json], unasked: str | None) -> int:
        """Return the tokens to set aside under ``options``; ``unasked`` is the effort where they say nothing."""
        if not self.counted:
            return 0
        for number in (_at(options, path) for path in self.tokens):
            if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
                return number
        words = (str(_at(options, path) or "").lower() for path in self.effort)
        word = next((each for each in words if each in self.allowances), unasked)
        return 0 if word is None else self.allowances.get(word, 0)


class Thinker(Facts):
    """With which ``effort`` the models whose name matches ``match`` think when the request says nothing."""

    match: str
    effort: str


class Encoding(Facts):
    """Which published ``encoding`` counts the tokens of the models whose name matches ``match``."""

    match: str
    encoding: str


def _at(options: Mapping[str, Json], path: str) -> Json:
    here: Json = options
    for key in path.split("."):
        here = cast("Mapping[str, Json]", here).get(key) if isinstance(here, Mapping) else getattr(here, key, None)
    return here
