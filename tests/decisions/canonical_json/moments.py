"""Well-formed envelopes for laws, and the same envelope spelled otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from random import Random

Document = dict[str, Any]

TEXTS = st.text(max_size=12)


def documents(texts: st.SearchStrategy[str] = TEXTS) -> st.SearchStrategy[Document]:
    """Return the wire forms that the draft calls well-formed, whatever their texts say."""
    option = st.fixed_dictionaries({"label": texts, "reasoning": texts})
    question = st.lists(option, min_size=2, max_size=4).flatmap(
        lambda options: st.fixed_dictionaries(
            {
                "stem": texts,
                "options": st.just(options),
                "recommended_idx": st.integers(0, len(options) - 1),
                "hatches": st.fixed_dictionaries({"free_text": st.booleans(), "dialogue": st.booleans()}),
            }
        )
    )
    return st.fixed_dictionaries(
        {
            "synopsis": texts,
            "findings": st.lists(texts, max_size=3),
            "recommendations": st.lists(texts, max_size=3),
            "offer": texts,
            "question": question,
        },
        optional={
            "meta": st.fixed_dictionaries({}, optional={"decision_class": texts, "calibration_note": texts}),
        },
    )


def respelled(value: Any, dice: Random) -> str:
    """Return a JSON text of the value: members shuffled, blanks and escapes thrown in, integers written as decimals."""
    match value:
        case dict():
            pairs = [f"{respelled(name, dice)}{_blank(dice)}:{respelled(each, dice)}" for name, each in value.items()]
            return f"{_blank(dice)}{{{','.join(dice.sample(pairs, len(pairs)))}{_blank(dice)}}}"
        case list():
            return f"{_blank(dice)}[{','.join(respelled(each, dice) for each in value)}{_blank(dice)}]"
        case str():
            return _blank(dice) + f'"{"".join(_spelled(char, dice) for char in value)}"'
        case int() if not isinstance(value, bool):
            return (
                _blank(dice) + dice.choice([f"{value}", f"{value}.0", f"{value}e0", f"{value * 10}E-1"]) + _blank(dice)
            )
        case _:
            return _blank(dice) + json.dumps(value) + _blank(dice)


def _blank(dice: Random) -> str:
    return dice.choice(["", "", " ", "\n", "\t", "\r\n  "])


def _spelled(char: str, dice: Random) -> str:
    if dice.random() < 0.5:
        return json.dumps(char, ensure_ascii=False)[1:-1]
    units = char.encode("utf-16-be").hex()
    escapes = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    return escapes if dice.random() < 0.5 else escapes.upper().replace("\\U", "\\u")
