"""The question with working forms: one for the options and one for each open veto, so that none can send two answers.

Source: the HTML standard, section 4.10; WCAG 2.2, 1.3.1 (``fieldset`` and ``legend``), 2.2.1 (a limit is told), 3.3.1
(what is wrong is said), 4.1.2 (each control has its name and its description).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.ledger import Unkept
from emitter.render.html import option
from emitter.render.html.markup import Markup, element, join, said
from emitter.render.layout import OFFER, HatchKind
from emitter.render.line import line, lines
from emitter.render.reply import CHOICE, DETAIL, FIELDS, TOPIC, Outcome, named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from emitter.ledger import DetailRequest
    from emitter.render.layout import Choice, Hatch, Layout

_STAYS = "This decides nothing: the decision stays open, for as long as it would."
_WAITS = "The agent has not answered yet."
_SEND = {HatchKind.FREE_TEXT: "Send my answer", HatchKind.DIALOGUE: "Send it back"}


@dataclass(frozen=True, slots=True)
class Form:
    """Where the answers go, on the page's own origin; ``hidden`` is sent along with each.

    ``closes`` is when none is taken any more. ``details`` are the requests for detail that were made so far, shown with
    their answers and with a form for another one; None where detail cannot be asked for. A form that was sent and
    cannot be taken says so with ``problem``, a sentence of ours, and keeps what was ``written`` in its fields; what was
    chosen has to be chosen again.
    """

    action: str
    hidden: Mapping[str, str] = field(default_factory=dict[str, str])
    closes: datetime | None = None
    details: Sequence[DetailRequest] | None = None
    problem: str | None = None
    written: Mapping[str, str] = field(default_factory=dict[str, str])


def answerable(layout: Layout, form: Form) -> Iterator[Markup]:
    """Yield the question, and where to answer it."""
    if form.problem is not None:
        yield element("p", form.problem, role="alert", class_="problem")
    yield _form(_choices(layout, form), form=form, layout=layout)
    if layout.hatches:
        yield element("p", "Or, instead of choosing:", class_="how or")
        vetoes = (_form(_veto(each, form), form=form, layout=layout) for each in layout.hatches)
        yield element("div", *vetoes, class_="hatches")
    if form.details is not None:
        yield element("p", "Or, before you decide:", class_="how or")
        yield element("div", _form(_more(form), form=form, layout=layout), class_="hatches")


def details(form: Form) -> Iterator[Markup]:
    """Yield what the principal wanted to know more about, and what the agent answered."""
    if not form.details:
        return
    yield element("h2", "What you asked about", id="detail")
    for each in form.details:
        yield (
            said("h3", line(each.topic)) if each.topic and not isinstance(each.topic, Unkept) else element("h3", "More")
        )
        yield element("p", _WAITS, class_="how") if each.is_open else said("blockquote", "\n".join(lines(each.text)))
    if any(each.is_open for each in form.details):
        path = form.action.partition("#")[0]
        yield element("p", element("a", "Look again", href=path))


def _more(form: Form) -> Markup:
    asks = element("label", f"{OFFER.asks} (may be left empty)", for_=TOPIC)
    written = join("\n", form.written.get(TOPIC, ""))
    text = element("textarea", written, name=TOPIC, id=TOPIC, rows="2", dir="auto")
    sent = element("button", "Ask for detail", type="submit", name=CHOICE, value=DETAIL, class_="quiet")
    return element(
        "fieldset", element("legend", element("h3", OFFER.label)), element("p", _STAYS), element("p", asks), text, sent
    )


def _form(content: Markup, *, form: Form, layout: Layout) -> Markup:
    carried = {"digest": layout.digest, **form.hidden}
    hidden = (element("input", type="hidden", name=name, value=value) for name, value in carried.items())
    return element("form", *hidden, content, method="post", action=form.action, autocomplete="off")


def _choices(layout: Layout, form: Form) -> Markup:
    how = "Nothing is chosen for you, and nothing happens until you send one answer."
    return element(
        "fieldset",
        element("legend", said("h2", layout.stem, id="stem", class_="stem")),
        element("p", how, *_limit(form), class_="how"),
        element("div", *map(_radio, layout.choices), class_="choices"),
        element("button", "Send my choice", type="submit"),
    )


def _limit(form: Form) -> Iterator[Markup]:
    if form.closes is not None:
        closes = element(
            "time",
            f"{form.closes:%Y-%m-%d %H:%M} {_zone(form.closes)}",
            datetime=form.closes.isoformat(timespec="seconds"),
        )
        yield join(" Open until ", closes, ".")


def _zone(at: datetime) -> str:
    """Return the zone of a time as people write it: its name where it has a short one, and its distance from UTC."""
    away = f"{at:%z}"
    distance = "UTC" if away in {"", "+0000"} else f"UTC{away[:3]}:{away[3:5]}"
    named = at.tzname() or ""
    return f"{named} ({distance})" if named.isalpha() and named != distance else distance


def _radio(choice: Choice) -> Markup:
    label, lines = f"option-{choice.index}-label", [*option.about(choice, "span")]
    radio = element(
        "input",
        type="radio",
        name=CHOICE,
        value=named(Outcome.SELECTED, choice.index),
        required=True,
        aria_labelledby=label,
        aria_describedby=option.described(choice),
    )
    shown = element("span", option.name(choice), id=label, class_="label")
    below = (join(element("br"), each) for each in lines)
    card = element("label", radio, " ", element("span", shown, *below), class_=option.style(choice))
    return element("div", card)  # a line of its own also where no style is read


def _veto(hatch: Hatch, form: Form) -> Markup:
    outcome = Outcome(hatch.kind.value)
    name = FIELDS[outcome]
    optional = hatch.kind is HatchKind.DIALOGUE
    asks = element("label", hatch.asks, " (may be left empty)" if optional else "", for_=name)
    written = join("\n", form.written.get(name, ""))  # HTML drops the first line break of a textarea
    text = element("textarea", written, name=name, id=name, rows="3", required=not optional, dir="auto")
    sent = element("button", _SEND[hatch.kind], type="submit", name=CHOICE, value=named(outcome), class_="quiet")
    return element("fieldset", element("legend", element("h3", hatch.label)), element("p", asks), text, sent)
