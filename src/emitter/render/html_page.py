"""Draw a decision as one HTML page, to read or to answer with a form.

``RENDERER.draw(moment)`` returns a complete document without scripts or external resources, fit for a file, a
mail or a frame. ``Html(Form(action))`` draws the same page with working forms, and reads what they submit.
Elements escape everything that is not ``Markup``, and every page carries a strict Content Security Policy.

Sources: draft-morrison-binding-moment-envelope-00, section 8; the HTML standard, sections 4.10, 13.1.2 and
13.3; Content Security Policy Level 3, sections 3.3 and 8.4; WCAG 2.2, 1.3.1, 2.2.1, 3.3.1 and 4.1.2.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.decisions.resolution import ResolutionOutcome
from emitter.messages import as_mapping
from emitter.render.layout import DETAIL_OFFER, NOT_ANSWERED_YET, HatchKind, build_layout
from emitter.render.replies import (
    CHOICE,
    DETAIL,
    TOPIC,
    check_digest,
    encode_choice,
    parse_form_reply,
    parse_typed_reply,
    typing_instructions,
)
from emitter.render.safe_text import to_safe_lines, to_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from emitter.decisions import Resolution
    from emitter.decisions.ledger_details import DetailRequest
    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render.layout import BriefingSection, Hatch, Layout, OptionLayout


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a page that can be answered.

    Attributes:
        action: The path, on the page's own origin, that receives the answers.
        hidden: Fields sent with each answer.
        closes_at: The time after which no answer is accepted.
        details: The requests for detail so far, shown with a form for another one. None if detail cannot be requested.
        problem: Why a submitted form was rejected, as a sentence for the person.
        field_values: The rejected form's texts, which are kept. Its choice has to be made again.
    """

    action: str
    hidden: Mapping[str, str] = field(default_factory=dict[str, str])
    closes_at: datetime | None = None
    details: Sequence[DetailRequest] | None = None
    problem: str | None = None
    field_values: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Html:
    """The HTML renderer. Pages with a ``form`` are answered in place, others by a typed line."""

    form: Form | None = None
    name: str = "html"

    def draw(self, moment: BindingMoment) -> str:
        """Return a complete HTML document."""
        hint = f"Nothing is chosen for you. Answer where you were asked. {typing_instructions(moment)}"
        return build_html_page(build_layout(moment), self.form or hint)

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return the resolution that a reply means.

        A page with a form is answered by the fields ``digest``, ``choice`` and a veto's words. A page without one also
        accepts a typed line.

        Raises:
            ResolutionError: The reply is not a valid answer to this decision.
        """
        if self.form is None and isinstance(reply, str):
            return parse_typed_reply(moment, reply)
        check_digest(moment, as_mapping(reply).get("digest"))
        return parse_form_reply(moment, reply)


QUESTION_ID: Final = "question"
"""The id of the question. A form whose action ends in ``#question`` returns to it."""


def build_html_page(
    layout: Layout,
    form_or_hint: Form | str,
    *,
    header: Sequence[Markup] = (),
    footer: Sequence[Markup] = (),
    security: str | None = None,
) -> str:
    """Return the page, with a form or with a hint for answering it elsewhere.

    ``header`` stands above the decision, ``footer`` below it. ``security`` replaces the page's Content-Security-Policy.
    """
    form = form_or_hint if isinstance(form_or_hint, Form) else None
    prefix = "" if form is None or form.problem is None else "Not accepted - "
    question = _keyed_question(layout, str(form_or_hint)) if form is None else answer_section(layout, form)
    details = tuple(detail_section(form)) if form is not None else ()
    note = "The agent's words are shown as it wrote them; nobody has checked them. This decision's digest: "
    return build_document(
        f"{prefix}Decision: {layout.stem}",
        *header,
        *_briefing(layout),
        *((element("section", *details, class_="details", aria_labelledby="detail"),) if details else ()),
        element("section", *question, id=QUESTION_ID, class_="question", aria_labelledby="stem"),
        *footer,
        element("footer", element("p", note, element("code", layout.digest))),
        security=security or (STATIC_POLICY if form is None else SAME_ORIGIN_POLICY),
    )


def _briefing(layout: Layout) -> Iterator[Markup]:
    decision_class = () if layout.decision_class is None else (" · ", untrusted_element("span", layout.decision_class))
    yield element("p", "A decision for you", *decision_class, class_="eyebrow")
    if layout.note is not None:
        yield element(
            "p", element("strong", "A note first:"), " ", untrusted_element("span", layout.note), class_="note"
        )
    yield untrusted_element("h1", layout.synopsis)
    yield from map(_section, layout.sections)
    yield untrusted_element("p", layout.offer, class_="offer")


def _section(section: BriefingSection) -> Markup:
    items = (untrusted_element("li", item) for item in section.items)
    content = element("ul", *items) if section.items else element("p", "None given.")
    return element("section", element("h2", section.heading, id=section.name), content, aria_labelledby=section.name)


def _keyed_question(layout: Layout, hint: str) -> Iterator[Markup]:
    yield untrusted_element("h2", layout.stem, id="stem", class_="stem")
    yield element("p", hint, class_="how")
    yield element("ul", *map(_keyed_choice, layout.choices), class_="choices")
    if layout.hatches:
        yield element("p", "Or, instead of choosing:", class_="how or")
        yield element("ul", *map(_keyed_hatch, layout.hatches), class_="hatches")


def _keyed_choice(choice: OptionLayout) -> Markup:
    content = element("div", element("p", option_label(choice), class_="label"), *option_details(choice, "p"))
    return element("li", element("kbd", choice.key), " ", content, class_=option_classes(choice))


def _keyed_hatch(hatch: Hatch) -> Markup:
    return element("li", element("kbd", hatch.key), " ", element("p", hatch.label, class_="label"), class_="hatch")


_STAYS_OPEN = "This decides nothing: the decision stays open, for as long as it would."
_SEND_LABELS = {HatchKind.FREE_TEXT: "Send my answer", HatchKind.DIALOGUE: "Send it back"}


def answer_section(layout: Layout, form: Form) -> Iterator[Markup]:
    """Yield the question and its forms."""
    if form.problem is not None:
        yield element("p", form.problem, role="alert", class_="problem")
    yield _form_element(_choices_fieldset(layout, form), form=form, layout=layout)
    if layout.hatches:
        yield element("p", "Or, instead of choosing:", class_="how or")
        vetoes = (_form_element(_veto_fieldset(hatch, form), form=form, layout=layout) for hatch in layout.hatches)
        yield element("div", *vetoes, class_="hatches")
    if form.details is not None:
        yield element("p", "Or, before you decide:", class_="how or")
        yield element("div", _form_element(_detail_fieldset(form), form=form, layout=layout), class_="hatches")


def detail_section(form: Form) -> Iterator[Markup]:
    """Yield the person's requests for detail and the agent's answers."""
    if not form.details:
        return
    yield element("h2", "What you asked about", id="detail")
    for request in form.details:
        yield (
            untrusted_element("h3", to_single_line(request.readable_topic))
            if request.readable_topic
            else element("h3", "More")
        )
        yield (
            element("p", NOT_ANSWERED_YET, class_="how")
            if request.is_open
            else untrusted_element("blockquote", "\n".join(to_safe_lines(request.text)))
        )
    if any(request.is_open for request in form.details):
        path = form.action.partition("#")[0]
        yield element("p", element("a", "Look again", href=path))


def _detail_fieldset(form: Form) -> Markup:
    label = element("label", f"{DETAIL_OFFER.prompt} (may be left empty)", for_=TOPIC)
    return element(
        "fieldset",
        element("legend", element("h3", DETAIL_OFFER.label)),
        element("p", _STAYS_OPEN),
        element("p", label),
        _textarea(TOPIC, form, rows="2"),
        element("button", "Ask for detail", type="submit", name=CHOICE, value=DETAIL, class_="quiet"),
    )


def _textarea(name: str, form: Form, **attributes: Attribute) -> Markup:
    # HTML drops the first line break of a textarea, which may be the person's own.
    value = join_markup("\n", form.field_values.get(name, ""))
    return element("textarea", value, name=name, id=name, **attributes, dir="auto")


def _form_element(content: Markup, *, form: Form, layout: Layout) -> Markup:
    values = {"digest": layout.digest, **form.hidden}
    hidden = (element("input", type="hidden", name=name, value=value) for name, value in values.items())
    return element("form", *hidden, content, method="post", action=form.action, autocomplete="off")


def _choices_fieldset(layout: Layout, form: Form) -> Markup:
    hint = "Nothing is chosen for you, and nothing happens until you send one answer."
    closes = () if form.closes_at is None else (" Open until ", time_element(form.closes_at), ".")
    return element(
        "fieldset",
        element("legend", untrusted_element("h2", layout.stem, id="stem", class_="stem")),
        element("p", hint, *closes, class_="how"),
        element("div", *map(_choice_radio, layout.choices), class_="choices"),
        element("button", "Send my choice", type="submit"),
    )


def time_element(time: datetime) -> Markup:
    """Return a time with its zone."""
    text = f"{time:%Y-%m-%d %H:%M} {_format_zone(time)}"
    return element("time", text, datetime=time.isoformat(timespec="seconds"))


def _format_zone(time: datetime) -> str:
    """Return a time zone's short name, if it has one, and its offset from UTC."""
    offset = f"{time:%z}"
    distance = "UTC" if offset in {"", "+0000"} else f"UTC{offset[:3]}:{offset[3:5]}"
    name = time.tzname() or ""
    return f"{name} ({distance})" if name.isalpha() and name != distance else distance


def _choice_radio(choice: OptionLayout) -> Markup:
    label = f"option-{choice.index}-label"
    radio = element(
        "input",
        type="radio",
        name=CHOICE,
        value=encode_choice(ResolutionOutcome.SELECTED, choice.index),
        required=True,
        aria_labelledby=label,
        aria_describedby=description_ids(choice),
    )
    name = element("span", option_label(choice), id=label, class_="label")
    details = (join_markup(element("br"), line) for line in option_details(choice, "span"))
    card = element("label", radio, " ", element("span", name, *details), class_=option_classes(choice))
    return element("div", card)  # keeps options on separate lines without the style sheet


def _veto_fieldset(hatch: Hatch, form: Form) -> Markup:
    optional = hatch.kind is HatchKind.DIALOGUE
    label = element("label", hatch.prompt, " (may be left empty)" if optional else "", for_=hatch.field)
    text = _textarea(hatch.field, form, rows="3", required=not optional)
    value = encode_choice(hatch.outcome)
    send = element("button", _SEND_LABELS[hatch.kind], type="submit", name=CHOICE, value=value, class_="quiet")
    return element("fieldset", element("legend", element("h3", hatch.label)), element("p", label), text, send)


class Markup(str):
    """Trusted HTML."""

    __slots__ = ()


Child: TypeAlias = str
Attribute: TypeAlias = str | bool
_VOID_ELEMENTS = frozenset({"br", "hr", "input", "link", "meta"})


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Return an element. Children that are not ``Markup`` are escaped.

    Use it, with ``join_markup``, in any format that contains HTML; ``untrusted_element`` needs a host that keeps
    attributes.

    An underscore in an attribute's name becomes a hyphen, and a trailing one is dropped. Attributes that are False or
    empty are left out, except ``lang``, whose empty value means an unknown language.
    """
    opening = f"<{name}{''.join(_attribute(*item) for item in attributes.items())}>"
    return Markup(opening if name in _VOID_ELEMENTS else f"{opening}{join_markup(*children)}</{name}>")


def join_markup(*children: Child) -> Markup:
    """Join children. Those that are not ``Markup`` are escaped."""
    return Markup("".join(child if isinstance(child, Markup) else escape(child) for child in children))


def untrusted_element(name: str, text: str, /, *others: Child, **attributes: Attribute) -> Markup:
    """Return an element for untrusted text, with its own text direction and an unknown language."""
    # dir="auto" isolates the text, so that right-to-left letters cannot reorder the labels around it. lang="" keeps
    # screen readers from reading it as English.
    return element(name, text, *others, dir="auto", lang="", **attributes)


def _attribute(name: str, value: Attribute) -> str:
    name = name.rstrip("_").replace("_", "-")
    if isinstance(value, bool):
        return f" {name}" if value else ""
    return f' {name}="{escape(value)}"' if value or name == "lang" else ""


_STYLE = Markup(files("emitter.render").joinpath("style.css").read_text(encoding="utf-8"))
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def security_policy(form_action: str) -> str:
    """Return a Content-Security-Policy that allows the style sheet and forms to ``form_action`` only."""
    return f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action {form_action}"


STATIC_POLICY: Final = security_policy("'none'")
"""The policy of a page without forms."""
SAME_ORIGIN_POLICY: Final = security_policy("'self'")
"""The policy of a page whose forms go to its own origin."""


def build_document(title: str, *children: Child, security: str = STATIC_POLICY) -> str:
    """Return a complete HTML document. ``security`` is its Content-Security-Policy."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        # As a header too, when it is served; the element protects a page that was saved or mailed.
        element("meta", http_equiv="Content-Security-Policy", content=security),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="same-origin"),
        element("meta", name="robots", content="noindex"),
        element("title", title),
        element("style", _STYLE),
    )
    body = element("body", element("main", *children))
    return f"<!doctype html>\n{element('html', join_markup(head, body), lang='en')}\n"


RENDERER: Final = Html()


def option_label(choice: OptionLayout) -> Markup:
    """Return an option's label with its mark."""
    mark = () if choice.mark is None else (" ", element("strong", choice.mark, class_="mark"))
    return join_markup(untrusted_element("span", choice.label), *mark)


def option_details(choice: OptionLayout, tag: str) -> Iterator[Markup]:
    """Yield an option's warnings and reasoning as elements."""
    for warning in choice.warnings:
        yield element(tag, warning, id=f"option-{choice.index}-caution", class_="caution")
    yield untrusted_element(tag, choice.reasoning, id=f"option-{choice.index}-why", class_="why")


def option_classes(choice: OptionLayout) -> str:
    """Return the CSS classes of an option."""
    return "choice recommended" if choice.recommended else "choice"


def description_ids(choice: OptionLayout) -> str:
    """Return the ids of the elements that describe an option."""
    caution = f"option-{choice.index}-caution " if choice.warnings else ""
    return f"{caution}option-{choice.index}-why"
