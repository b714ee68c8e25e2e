"""The page with forms, held to the contract of every surface: it is read by a parser, and its forms are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.render.html_page import RENDERER, Form, Html
from emitter.render.layout import HATCHES, HatchKind
from emitter.testing.sample_moments import FEW_MOMENTS, ORDINARY_MOMENTS
from emitter.testing.surfaces import RendererSubject, ShownOption, SurfaceContract
from tests.render.html.reading import Node, parsed
from tests.render.text.subjects import TypedSubject
from tests.work import FULL

if TYPE_CHECKING:
    from emitter.messages import Json


class _Forms(RendererSubject[str]):
    """Looks at the page through its parsed form."""

    renderer = Html(Form("/answer", {"token": "TOKEN"}))

    def text(self, drawn: str) -> str:
        return parsed(drawn).text

    def option(self, drawn: str, index: int) -> ShownOption:
        root = parsed(drawn)
        radio = root.one("input", type="radio", value=f"option:{index}")
        about = [root.named(each) for each in radio.attributes["aria-describedby"].split()]
        marked = root.named(radio.attributes["aria-labelledby"]).all("strong")
        return ShownOption(radio.within("label").text, about[-1].text, bool(marked))

    def hatches(self, drawn: str) -> set[HatchKind]:
        buttons = [each for form in _sending(drawn) for each in form.all("button", type="submit", name="choice")]
        return {HatchKind(each.attributes["value"]) for each in buttons}

    def select(self, drawn: str, index: int) -> Json:
        return {**_sending(drawn)[0].fields, "choice": f"option:{index}"}

    def answer(self, drawn: str, text: str) -> Json:
        return self._hatch(drawn, "free_text", "answer", text)

    def object(self, drawn: str, text: str) -> Json:
        return self._hatch(drawn, "dialogue", "objection", text)

    def _hatch(self, drawn: str, choice: str, field: str, text: str) -> Json:
        forms = [each for each in _sending(drawn) if each.all("button", value=choice)] or _sending(drawn)
        return {**forms[0].fields, "choice": choice, field: text}


def _sending(drawn: str) -> list[Node]:
    return [each for each in parsed(drawn).all("form") if each.attributes["method"] == "post"]


class _Keys(TypedSubject, _Forms):
    """Looks at the page that is answered by a typed line."""

    renderer = RENDERER

    def option(self, drawn: str, index: int) -> ShownOption:
        """Return the list's entry with the option's key."""
        entry = _entries(drawn, "choice")[index]
        assert entry.one("kbd").text == str(index + 1)
        label = entry.one("p", **{"class": "label"})
        return ShownOption(entry.text, entry.one("p", **{"class": "why"}).text, bool(label.all("strong")))

    def hatches(self, drawn: str) -> set[HatchKind]:
        """Return the vetoes that have a key."""
        keys = {entry.one("kbd").text for entry in _entries(drawn, "hatch")}
        return {kind for kind, each in HATCHES.items() if each.key in keys}


def _entries(drawn: str, name: str) -> list[Node]:
    return [each for each in parsed(drawn).all("li") if name in each.attributes.get("class", "").split()]


class TestForms(SurfaceContract):
    """Section 8.1, and what it stands on."""

    subject = _Forms()
    moments = ORDINARY_MOMENTS if FULL else FEW_MOMENTS


class TestKeys(SurfaceContract):
    """The same of the page that is only to be read: a typed line names no envelope."""

    subject = _Keys()
    moments = FEW_MOMENTS
    bound = False
