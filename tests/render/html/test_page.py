"""The page itself: self-contained, accessible by its markup, and with nothing in it that an envelope put there."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime, timedelta, timezone
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.decisions import digest
from emitter.models import Hatches
from emitter.render.html_page import RENDERER, Form, Html
from emitter.render.layout import build_layout
from emitter.testing.sample_moments import HOSTILE_MOMENTS, VALID_MOMENT, fill_every_slot, make_moment
from tests.render.html.contrast import contrast
from tests.render.html.reading import Node, parsed
from tests.work import examples

if TYPE_CHECKING:
    from emitter.messages import Json
    from emitter.models import BindingMoment

FORM = Form("/answer", {"token": "TOKEN"}, datetime(2026, 12, 24, 18, 0, tzinfo=UTC))
CSS = files("emitter.render").joinpath("style.css").read_text(encoding="utf-8")


def answerable(moment: BindingMoment, form: Form = FORM) -> str:
    """Return the page with its forms."""
    return Html(form).draw(moment)


DRAWN = pytest.mark.parametrize(
    "drawn", [RENDERER.draw(VALID_MOMENT), answerable(VALID_MOMENT)], ids=["to read", "to answer"]
)


@DRAWN
def test_a_page_fetches_nothing_and_runs_nothing(drawn: str) -> None:
    """No script, no frame, no picture, no address of another, no style but its own."""
    root = parsed(drawn)
    tags = {each.tag for each in root.walk()}
    names = {name for each in root.walk() for name in each.attributes}

    assert not tags & {"script", "iframe", "img", "link", "object", "embed", "base", "svg", "a"}
    assert not names & {"src", "href", "style", "srcset"}
    assert not any(name.startswith("on") for name in names)
    assert "url(" not in CSS
    assert "@import" not in CSS


@pytest.mark.parametrize(
    ("drawn", "sends"),
    [(RENDERER.draw(VALID_MOMENT), "'none'"), (answerable(VALID_MOMENT), "'self'")],
    ids=["to read", "to answer"],
)
def test_the_policy_allows_the_one_style_and_no_more(drawn: str, sends: str) -> None:
    """Content Security Policy: the hash is of the style sheet as it stands."""
    root = parsed(drawn)
    (style,) = root.one("style").children
    reported = root.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    digested = base64.b64encode(hashlib.sha256(str(style).encode()).digest()).decode()

    assert reported == f"default-src 'none'; style-src 'sha256-{digested}'; base-uri 'none'; form-action {sends}"


@DRAWN
def test_a_page_can_be_found_one_s_way_in(drawn: str) -> None:
    """WCAG 1.3.1, 2.4.2, 2.4.6, 3.1.1, 4.1.2: title, language, landmarks, headings without a gap, names that exist."""
    root = parsed(drawn)
    ids = [each.attributes["id"] for each in root.walk() if "id" in each.attributes]
    named = " ".join(
        each.attributes.get(name, "") for each in root.walk() for name in ("aria-labelledby", "aria-describedby", "for")
    ).split()
    levels = [int(each.tag[1]) for each in root.walk() if re.fullmatch("h[1-6]", each.tag)]

    assert root.attributes["lang"] == "en"
    assert build_layout(VALID_MOMENT).stem in "".join(map(str, root.one("title").children))
    assert len(root.all("main")) == len(root.all("h1")) == 1
    assert root.one("h1").text == build_layout(VALID_MOMENT).synopsis
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert len(ids) == len(set(ids))
    assert set(named) <= set(ids)


def test_what_others_wrote_has_a_language_and_a_direction_of_its_own() -> None:
    """Section 8.1, read aloud and from right to left too: it is not English, and is isolated from what is ours."""
    text = "\u05e9\u05dc\u05d5\u05dd"
    root = parsed(answerable(fill_every_slot(text)))
    holding = [
        each
        for each in root.one("body").walk()
        if any(text in str(part) for part in each.children if isinstance(part, str))
    ]

    assert len(holding) == 13
    assert all(each.attributes.get("dir") == "auto" and each.attributes.get("lang") == "" for each in holding)


def test_nothing_is_chosen_beforehand() -> None:
    """Silence is no consent: each radio button is free, and one is required before a form goes out."""
    root = parsed(answerable(VALID_MOMENT))
    radios = root.all("input", type="radio")

    assert [each.attributes["value"] for each in radios] == ["option:0", "option:1", "option:2"]
    assert not any("checked" in each.attributes or "autofocus" in each.attributes for each in root.walk())
    assert all("required" in each.attributes for each in radios)


def test_each_answer_has_a_form_of_its_own() -> None:
    """Exactly one of three: no form can send two, and each says which envelope it answers."""
    forms = parsed(answerable(VALID_MOMENT)).all("form")
    sent = [{name for each in form.walk() if (name := each.attributes.get("name"))} for form in forms]

    assert sent == [
        {"digest", "token", "choice"},
        {"digest", "token", "choice", "answer"},
        {"digest", "token", "choice", "objection"},
    ]
    assert all(form.fields["digest"] == digest(VALID_MOMENT) and form.fields["token"] == "TOKEN" for form in forms)
    assert all(form.attributes["method"] == "post" and form.attributes["action"] == "/answer" for form in forms)
    assert all(len(form.all("button", type="submit")) == 1 for form in forms)


def test_a_page_to_read_has_keys_instead_of_forms() -> None:
    """Every answer shows what stands for it on the other surfaces, and nothing pretends to be sent."""
    root = parsed(RENDERER.draw(VALID_MOMENT))
    keys = [each.text for each in root.all("kbd")]

    assert {each.key for each in (*build_layout(VALID_MOMENT).choices, *build_layout(VALID_MOMENT).hatches)} <= set(
        keys
    )
    assert not [each for each in root.walk() if each.tag in {"form", "input", "textarea", "button"}]


@pytest.mark.parametrize("hatches", [(True, True), (True, False), (False, True), (False, False)], ids=str)
def test_a_hatch_has_a_form_when_it_is_open(hatches: tuple[bool, bool]) -> None:
    """Section 8.1: the vetoes are there exactly where the envelope offers them."""
    moment = make_moment(2, 0, Hatches(free_text=hatches[0], dialogue=hatches[1]))
    root = parsed(answerable(moment))
    found = tuple(bool(root.all("textarea", name=each)) for each in ("answer", "objection"))

    assert found == hatches
    assert ("instead of choosing" in root.text) == any(hatches)


def test_when_it_closes_is_said() -> None:
    """WCAG 2.2.1: a time limit is reported."""
    reported = parsed(answerable(VALID_MOMENT)).one("time")

    assert reported.attributes["datetime"] == "2026-12-24T18:00:00+00:00"
    assert reported.text == "2026-12-24 18:00 UTC"
    assert "Open until" not in parsed(answerable(VALID_MOMENT, Form("/answer"))).text


@pytest.mark.parametrize(
    ("zone", "reported"),
    [
        (timezone(timedelta(hours=1), "CET"), "CET (UTC+01:00)"),
        (timezone(timedelta(hours=5, minutes=30)), "UTC+05:30"),
        (timezone(timedelta(hours=-3), "-03"), "UTC-03:00"),
    ],
    ids=["named", "unnamed", "numbered"],
)
def test_a_time_has_its_zone(zone: timezone, reported: str) -> None:
    """Who reads the page may be elsewhere than the machine that draws it."""
    closes = datetime(2026, 12, 24, 18, 0, tzinfo=zone)
    assert (
        parsed(answerable(VALID_MOMENT, Form("/answer", closes_at=closes))).one("time").text
        == f"2026-12-24 18:00 {reported}"
    )


def test_a_form_that_was_not_taken_keeps_the_words() -> None:
    """WCAG 3.3.1: what is wrong is said where it is heard, and nobody writes twice."""
    form = Form("/answer", problem="No & no.", field_values={"answer": "\n<b>mine</b>", "objection": ""})
    root = parsed(answerable(VALID_MOMENT, form))

    assert root.one("p", role="alert").text == "No & no."
    assert root.one("textarea", name="answer").text == "\n\n<b>mine</b>"  # a browser drops the first line break
    assert root.one("textarea", name="objection").text == "\n"


def test_an_empty_slot_is_shown_as_empty() -> None:
    """Section 8.1: no briefing slot is dropped, not even one without entries."""
    bare = VALID_MOMENT.model_copy(update={"findings": (), "recommendations": ()})
    root = parsed(RENDERER.draw(bare))

    assert [each.text for each in root.all("h2")][:2] == ["What it rests on", "What to do"]
    assert root.text.count("None given.") == 2


def skeleton(node: Node) -> Json:
    """Return an element without its texts: what must not depend on an envelope's words."""
    attributes = {
        name: "" if value.startswith("sha256:") or name == "aria-describedby" else value
        for name, value in node.attributes.items()
    }
    inside = [skeleton(each) for each in node.children if isinstance(each, Node)]
    return node.tag, attributes, [each for each in inside if each[1].get("class") != "caution"]


NASTY = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("<>&\"'=/-!\n\r\x00\x1b\u202e]"), max_size=30
) | st.sampled_from(
    [
        "</title><script>x</script>",
        "<!--",
        "-->",
        "]]>",
        "<![CDATA[",
        '" onload="x',
        "&lt;b&gt;",
        "</textarea>",
        "<svg/onload=x>",
    ]
)


@settings(max_examples=examples(50))
@given(NASTY)
@example("</style></title></textarea><script>alert(1)</script>")
def test_no_text_becomes_an_element_or_an_attribute(text: str) -> None:
    """Section 11: with any words in every slot the page has the elements and attributes that it has with plain ones."""
    plain, nasty = fill_every_slot("plain"), fill_every_slot(text)

    assert skeleton(parsed(RENDERER.draw(nasty))) == skeleton(parsed(RENDERER.draw(plain)))
    assert skeleton(parsed(answerable(nasty))) == skeleton(parsed(answerable(plain)))


@pytest.mark.parametrize("moment", HOSTILE_MOMENTS.values(), ids=HOSTILE_MOMENTS.keys())
def test_a_label_s_warning_belongs_to_its_option(moment: BindingMoment) -> None:
    """Section 11: who hears an option hears what is odd about it, before its reasoning."""
    root = parsed(answerable(moment))
    for each in build_layout(moment).choices:
        about = root.one("input", value=f"option:{each.index}").attributes["aria-describedby"].split()
        heard = [root.named(name).text for name in about]
        assert heard[-1].strip() == each.reasoning
        assert tuple(heard[:-1]) == each.warnings


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_the_colours_can_be_told_apart(scheme: int) -> None:
    """WCAG 1.4.3 and 1.4.11, level AA: 4.5 to 1 for every text, 3 to 1 for the edges of controls."""
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", CSS.split("@media")[scheme]))
    grounds = [colours[name] for name in ("paper", "card", "tint")]
    texts = [colours[name] for name in ("ink", "soft", "accent", "caution")]

    assert min(contrast(text, ground) for text in texts for ground in grounds) >= 4.5
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
    assert min(contrast(colours["edge"], ground) for ground in grounds) >= 3
