"""The pages beside the decision itself: what was recorded, and what was not.

Each says what happened and what can be done now. None repeats a word of a request, save the principal's own answer on
the page that records it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from starlette.responses import HTMLResponse

from emitter.decide import Dialogue, FreeText, Selected
from emitter.ledger import Outcome, Unspoken
from emitter.render.html.document import OWN, document
from emitter.render.html.markup import element, said
from emitter.render.line import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.ledger import KeepWords, Resolved
    from emitter.render.html.markup import Markup


def recorded(done: Resolved, words: KeepWords | None) -> HTMLResponse:
    """Return the page that says what was taken down, and how the principal's ``words`` are kept."""
    kept = _CHOSEN if isinstance(done.resolution, Selected) else _UNKEPT if words is None else words.summary
    return _told(done, "Recorded", f"{kept} You can close this page.", 200)


_CHOSEN = "Your choice is recorded for the agent to read."
_UNKEPT = "Which answer it was is recorded. Your words are handed to the program that serves this page, and not kept."


def answered_before(done: Resolved) -> HTMLResponse:
    """Return the page for an answer to a decision that had one: nothing was taken down, and that one stands."""
    return _told(done, "Already answered", "The first answer stands; nothing more was recorded.", 409)


def _told(done: Resolved, title: str, words: str, status: int) -> HTMLResponse:
    named = element("p", "This answers the decision with the digest ", element("code", done.pending.digest))
    body = (
        element("p", "A decision of yours", class_="eyebrow"),
        element("h1", title),
        *_answer(done),
        element("p", words, class_="how"),
        element("footer", named),
    )
    return HTMLResponse(document(title, *body, security=OWN), status)


def _answer(done: Resolved) -> Iterator[Markup]:
    match done.resolution:
        case Selected(index=index):
            yield element("p", "You chose:")
            yield said("blockquote", line(done.pending.moment.question.options[index].label))
        case FreeText(answer=answer):
            yield element("p", "You answered in your own words:")
            yield said("blockquote", answer)
        case Dialogue(objection=objection):
            yield element("p", "You sent the question back, to talk first", ":" if objection else ".")
            if objection:
                yield said("blockquote", objection)
        case Unspoken(outcome=outcome):
            yield element("p", _UNSPOKEN[outcome])
        case _ as never:
            assert_never(never)


_UNSPOKEN = {
    Outcome.SELECTED: "You chose an option.",
    Outcome.FREE_TEXT: "You answered in your own words.",
    Outcome.DIALOGUE: "You sent the question back, to talk first.",
}


def refused(status: int, title: str, words: str, back: str | None = None) -> HTMLResponse:
    """Return the page for a request that changed nothing; ``back`` is the path of the decision, if it still stands."""
    body = [element("h1", title), element("p", words), element("p", "Nothing was recorded by this.", class_="how")]
    if back is not None:
        body.append(element("p", element("a", "Back to the decision", href=back)))
    return HTMLResponse(document(title, *body, security=OWN), status)


def misdirected() -> HTMLResponse:
    """Return the page for a request to another name than ours."""
    return refused(421, "Not under this name", "Open the address exactly as it was told, with its number and port.")
