"""How many sentences a text is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.checks.text import count_sentences, is_unreadable

COUNTED: dict[str, int] = {
    "Ship it.": 1,
    "Ship it": 1,
    "Ship!!!": 1,
    "Ship it. Tell support.": 2,
    "Ship it! tell support.": 1,
    "Ship it (now). Go.": 2,
    "Is it so? Yes.": 2,
    "One. Two. Three.": 3,
    # what only looks like an end
    "Ship 2.0 at 1.5 bar.": 1,
    "Ship 2.0. Tell support.": 2,
    "Ship v1.2.3-rc.4... and only that.": 1,
    "Wait... The rest is noise.": 2,
    "Wait… and see.": 1,
    "Use a bucket (e.g. in Ohio) i.e. U.S. East.": 1,
    "Use e.g. Norda.": 1,
    "See Dr. Osei and Mr. A. J. Falk, Ph.D. of Leeds.": 1,
    "See Dr. Osei. He knows.": 2,
    "Pay Nordhus Inc. for it.": 1,
    "Pay Nordhus Inc. The rest waits.": 2,
    "Fire at 6 a.m. and stop at 7 p.m. sharp.": 1,
    "Fire at 6 a.m. Then stop.": 2,
    "See fig. 3 and no. 7 in vol. 2.": 1,
    "So do I. They wait.": 2,
    "Choose plan B. The rest waits.": 2,
    "Go to www.example.com today.": 1,
    "Ship it.Tell support.": 1,
    "File the petition named What Now? with the clerk.": 1,
    # quotations are the words of others
    'He said "Stop. Now." and left.': 1,
    "Strike “as is. No returns.” and sign.": 1,
    '"Ship it. Hold it."': 2,
    # lines
    "Ship it because\nall is green.": 1,
    "Ship it\n\nTell support": 2,
    "- Ship\n- Tell": 2,
    # other scripts
    "\u706b\u66dc\u65e5\u306b\u51fa\u8377\u3002": 1,
    "\u706b\u66dc\u65e5\u306b\u51fa\u8377\u3002\u627f\u8a8d\u6e08\u307f\u3002": 2,
    "\u51fa\u8377\u3057\u307e\u3059\u304b\uff1f\u306f\u3044\u3002": 2,
    "\u0647\u0644 \u0646\u0648\u0627\u0641\u0642\u061f \u0646\u0639\u0645": 2,
    "\u092d\u0941\u0917\u0924\u093e\u0928 \u0915\u0930\u0947\u0902\u0964": 1,
    "Wir verschieben auf Montag, 9. M\u00e4rz, d.h. z.B. Bonn.": 1,
    # nothing
    "": 0,
    " \n\t": 0,
    "...": 0,
    "\u200b\u2060": 0,
    "\u3164": 0,
    "\U0001f44d": 1,
}


@pytest.mark.parametrize("text", COUNTED)
def test_count(text: str) -> None:
    """A mark ends a sentence, unless it belongs to a word, a number or a quotation."""
    assert count_sentences(text) == COUNTED[text]


@given(st.lists(st.sampled_from(["Ship it.", "Tell support!", "They wait?", "It rains…"]), min_size=1, max_size=9))
def test_sentences_add_up(parts: list[str]) -> None:
    """Plain sentences side by side are as many as there are."""
    assert count_sentences(" ".join(parts)) == len(parts)


@given(st.text())
def test_nothing_is_no_sentence(text: str) -> None:
    """A text has a sentence only where something can be seen."""
    assert not is_unreadable(text) or count_sentences(text) == 0
