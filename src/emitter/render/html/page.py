"""The decision as a page: the briefing to read, then the question with its options and vetoes, none of them chosen.

Source: draft-morrison-binding-moment-envelope-00, section 8.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.render.html import option
from emitter.render.html.document import OWN, STATIC, document
from emitter.render.html.form import Form, answerable, details
from emitter.render.html.markup import Markup, element, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.render.layout import Choice, Hatch, Layout


QUESTION: Final = "question"
"""The id of the part with the question: a form whose action ends in ``#question`` comes back to it."""


def page(layout: Layout, answering: Form | str) -> str:
    """Return the page; ``answering`` is a form, or a sentence on how to answer elsewhere, by the keys that it shows."""
    form = answering if isinstance(answering, Form) else None
    refused = "" if form is None or form.problem is None else "Not taken - "
    question = _keyed(layout, str(answering)) if form is None else answerable(layout, form)
    return document(
        f"{refused}Decision: {layout.stem}",
        *_briefing(layout),
        *_asked(form),
        element("section", *question, id=QUESTION, class_="question", aria_labelledby="stem"),
        _footer(layout),
        security=STATIC if form is None else OWN,
    )


def _briefing(layout: Layout) -> Iterator[Markup]:
    kind = () if layout.decision_class is None else (" · ", said("span", layout.decision_class))
    yield element("p", "A decision for you", *kind, class_="eyebrow")
    if layout.note is not None:
        yield element("p", element("strong", "A note first:"), " ", said("span", layout.note), class_="note")
    yield said("h1", layout.synopsis)
    yield _section("findings", "What it rests on", layout.findings)
    yield _section("recommendations", "What to do", layout.recommendations)
    yield said("p", layout.offer, class_="offer")


def _asked(form: Form | None) -> Iterator[Markup]:
    if form is not None and form.details:
        yield element("section", *details(form), class_="details", aria_labelledby="detail")


def _section(name: str, heading: str, items: tuple[str, ...]) -> Markup:
    shown = element("ul", *(said("li", each) for each in items)) if items else element("p", "None given.")
    return element("section", element("h2", heading, id=name), shown, aria_labelledby=name)


def _keyed(layout: Layout, how: str) -> Iterator[Markup]:
    yield said("h2", layout.stem, id="stem", class_="stem")
    yield element("p", "Nothing is chosen for you. Answer where you were asked. ", how, class_="how")
    yield element("ul", *map(_keyed_choice, layout.choices), class_="choices")
    if layout.hatches:
        yield element("p", "Or, instead of choosing:", class_="how or")
        yield element("ul", *map(_keyed_hatch, layout.hatches), class_="hatches")


def _keyed_choice(choice: Choice) -> Markup:
    about = element("div", element("p", option.name(choice), class_="label"), *option.about(choice, "p"))
    return element("li", element("kbd", choice.key), " ", about, class_=option.style(choice))


def _keyed_hatch(hatch: Hatch) -> Markup:
    return element("li", element("kbd", hatch.key), " ", element("p", hatch.label, class_="label"), class_="hatch")


def _footer(layout: Layout) -> Markup:
    words = "The agent's words are shown as it wrote them; nobody has checked them. This decision's digest: "
    return element("footer", element("p", words, element("code", layout.digest)))
