"""What a refusal may tell, and what it must not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority.narrative import NarrativeRule, find_leaks
from emitter.errors import InputError
from tests.authority.narrative.labelled import NAMES

SPELT = [
    "openfda",
    "OpenFDA",
    "open FDA",
    "open-f-d-a",
    "open_fda",
    "o p e n f d a",
    "open\u200bfda",
    "op\u0435nfd\u0430",
    "\uff4f\uff50\uff45\uff4e\uff26\uff24\uff21",
    "openfda's",
    "0penfda",
    "FDA Orange Book",
    "f.d.a. orange-book",
    "FDA\nOrange\nBook",
    "oracle 7",
    "Oracle7",
    "WHO",
    "W.H.O.",
]


@pytest.mark.parametrize("name", SPELT, ids=ascii)
def test_a_name_is_found_however_it_is_spelt(name: str) -> None:
    """The marker has the whole name, as it was written."""
    text = f"We asked {name} twice."
    found = find_leaks(text, NAMES)
    assert any(text[each.start : each.end].strip(".").startswith(name.removesuffix("'s").strip(".")) for each in found)
    assert {each.rule for each in found} == {NarrativeRule.LEAK}


@pytest.mark.parametrize(
    "text",
    [
        "People who moved use another form.",
        "Who sent it?",
        "The experience was good.",
        "The reopened file is complete.",
        "Orange books are in the shop.",
    ],
)
def test_a_part_of_a_word_and_a_function_word_are_no_name(text: str) -> None:
    """The oracle WHO is named in capitals, and not by everyone who says who."""
    assert find_leaks(text, NAMES) == ()


def test_names_that_show_nothing_are_found_nowhere() -> None:
    """Nor do they make everything a leak."""
    assert find_leaks("This cannot be answered here.", ("", " ", "\u200b")) == ()


def test_what_is_expected_names_no_oracle() -> None:
    """The sentence of the rule is the same whatever leaked."""
    one, other = find_leaks("The oracle failed.", ()), find_leaks("We asked openFDA.", NAMES)
    assert {each.expected for each in one} == {each.expected for each in other}


@pytest.mark.parametrize(
    ("text", "names", "message"),
    [
        (None, (), "text is of type NoneType"),
        ({"a": 1}, (), "text is of type dict"),
        ("It failed.", "openfda", "names must be a list"),
    ],
)
def test_a_text_and_several_names_are_asked_for(text: Any, names: Any, message: str) -> None:
    """One name in the place of many would be taken for its letters."""
    with pytest.raises(InputError, match=message):
        find_leaks(text, names)


@settings()
@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=4))
def test_every_marker_is_a_part_of_the_text(text: str, names: list[str]) -> None:
    """Whatever the text and the names."""
    assert all(0 <= each.start < each.end <= len(text) for each in find_leaks(text, names))


@settings()
@given(st.text(st.characters(categories=["Ll", "Lu", "Nd"], max_codepoint=0x17F), min_size=5, max_size=12))
def test_any_name_is_found_as_it_is(name: str) -> None:
    """Of five letters or more, in a sentence."""
    assert find_leaks(f"We asked {name} again.", (name,))
