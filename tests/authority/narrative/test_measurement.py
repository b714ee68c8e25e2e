"""What is a measurement, however it is spelt, and what is left when it is taken out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority.narrative import MEASUREMENT_PLACEHOLDER, NarrativeRule, scan_narrative, scrub_measurements
from tests.authority.narrative.labelled import As

MEASURED = [
    "50 mg",
    "50mg",
    "50-mg",
    "50 MG",
    "5 0 mg",
    "5o mg",
    "l0 mg",
    "1,000.5 kg",
    "5\u200b0 mg",
    "5\u20600\u00a0mg",
    "50\u00admg",
    "\uff15\uff10\uff4d\uff47",
    "\u0665\u0660 mg",
    "\u2075\u2070 mg",
    "\u2464 mg",
    "\U0001d7d3\U0001d7d8 mg",
    "5\ufe0f\u20e30\ufe0f\u20e3 mg",
    "50 \u043cg",
    "50 \u338e",
    "**50** mg",
    "50&nbsp;mg",
    "5<b>0</b> mg",
    "50\\,mg",
    "f i f t y  m g",
    "f-i-f-t-y mg",
    "fifty milligrams",
    "fiftymg",
    "f\u0456fty milligrams",
    "a hundred and twenty-five milligrams",
    "half a tablet",
    "\u00bd tablet",
    "3\u00bd litres",
    "two and a half hours",
    "between 5 and 10 ml",
    "5\u201310 ml",
    "five to ten drops",
    "10 mg/kg/day",
    "10 %",
    "\uff11\uff10\uff05",
    "ten per cent",
    "2 percentage points",
    "$5",
    "US$5.5m",
    "5 \u20ac",
    "EUR 5",
    "five dollars",
    "20k euros",
    "37 \u00b0C",
    "37C",
    "98.6 degrees",
    "one in five",
    "3 out of 10",
    "two-thirds",
    "a quarter of patients",
    "threefold",
    "10-fold",
    "10x",
    "three times as",
    "twice the",
    "twice daily",
    "3 times a day",
    "BMI of 31",
    "pH: 7.4",
    "ratio of 3:1",
    "aged 45",
    "a 45-year-old",
    "80 km/h",
    "12 m\u00b2",
    "4 stars",
    "mg 50",
    "(mg) | 5 |",
    "the dose in mg is five",
    "1e3 mg",
    "potassium is 4.2",
    "potassium came back at 4.2",
    "potassium: 4.2",
    "potassium = 4,2",
    "potassium was about -0.5",
    "potassium is \uff14.\u0662",
    "potassium is four point two",
    "a potassium of twenty-one point five",
]
COUNTED = [
    "three studies",
    "12 countries",
    "in 1998",
    "at 9:30",
    "on 4 May 2021",
    "COVID-19",
    "vitamin B12",
    "type 2 diabetes",
    "stage 4",
    "version 3.1",
    "section 5.2",
    "room 12",
    "24/7",
    "one day",
    "several hours",
    "some percent",
    "a minute crack",
    "the second weld",
    "a 5G network",
    "4K screens",
    "the 1920s",
    "call 0800 123 456",
    "a third party",
    "milligrams",
    "tenants",
    "a dozen eggs",
    "page 3",
    "a version that is 3.1.4",
    "a train that is at 9.30 pm",
    "Version: 3.1",
    "a section: 5.2",
    "a date: 4.2.2019",
    "a population that was 4,200",
    "at one point two men",
    "mg is a unit",
]


@pytest.mark.parametrize("said", MEASURED, ids=ascii)
def test_a_quantity_is_found(said: str) -> None:
    """However it is written, it is found, and gone when it is taken out."""
    text = f"The note has {said} in it."
    found = [each for each in scan_narrative(text, As()) if each.rule == NarrativeRule.MEASUREMENT]
    assert found
    assert MEASUREMENT_PLACEHOLDER in scrub_measurements(text)
    assert scrub_measurements(text).startswith("The note has ")
    assert scrub_measurements(text).endswith("in it.")


@pytest.mark.parametrize("said", COUNTED)
def test_a_count_a_date_and_a_name_are_none(said: str) -> None:
    """They stay where they are."""
    text = f"The note has {said} in it."
    assert NarrativeRule.MEASUREMENT not in {each.rule for each in scan_narrative(text, As())}
    assert scrub_measurements(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Take 50 mg, then 10 ml.", f"Take {MEASUREMENT_PLACEHOLDER}, then {MEASUREMENT_PLACEHOLDER}."),
        ("It is 5\u200b0\u200b mg\u200b.", f"It is {MEASUREMENT_PLACEHOLDER}."),
        ("It is \u00bd tablet\u0301 \u2014 no more.", f"It is {MEASUREMENT_PLACEHOLDER} \u2014 no more."),
        ("Caf\u00e9 \u201cfifty mg\u201d", f"Caf\u00e9 \u201c{MEASUREMENT_PLACEHOLDER}\u201d"),
        (f"It is {MEASUREMENT_PLACEHOLDER} a day.", f"It is {MEASUREMENT_PLACEHOLDER} a day."),
        ("", ""),
    ],
    ids=ascii,
)
def test_the_rest_of_a_text_stays(text: str, expected: str) -> None:
    """Character by character, what cannot be seen inside a quantity goes with it."""
    assert scrub_measurements(text) == expected


NUMBERS = ["5", "0", "50", "1,000", "fifty", "two", "half a", "\u00bd", "\uff15", "one", "twice", "a", "3:1", "140/90"]
UNITS = ["mg", "ml", "%", "$", "\u20ac", "tablets", "hours", "\u00b0C", "fold", "in", "out of", "kg/day", "daily", "pH"]
JOINTS = [
    "",
    " ",
    "-",
    "\u200b",
    "/",
    ".",
    ",",
    "*",
    "\u00ad",
    " and ",
    " to ",
    "&nbsp;",
    "\n",
    MEASUREMENT_PLACEHOLDER,
    "_",
    "(",
]
TEXTS = st.lists(st.sampled_from([*NUMBERS, *UNITS, *JOINTS, *JOINTS]), max_size=30).map("".join)


@settings()
@given(TEXTS | st.text(max_size=40))
def test_what_is_scrubbed_has_no_measurement_left(text: str) -> None:
    """Nor is there anything to take out of it again."""
    clean = scrub_measurements(text)
    assert NarrativeRule.MEASUREMENT not in {each.rule for each in scan_narrative(clean, As())}
    assert scrub_measurements(clean) == clean


@settings()
@given(TEXTS)
def test_what_has_no_measurement_is_not_touched(text: str) -> None:
    """Scrubbing changes a text exactly where a scan finds a measurement in it."""
    measured = NarrativeRule.MEASUREMENT in {each.rule for each in scan_narrative(text, As())}
    assert (scrub_measurements(text) != text) is measured
