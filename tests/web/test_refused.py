"""What the page refuses: each with its status and a page that says what to do, and nothing happens."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision
from emitter.models import Hatches
from emitter.testing.sample_moments import make_moment
from tests.web.running import Asked, Running, Shown, request, running
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


CLOSED = make_moment(2, 0, Hatches(free_text=False, dialogue=False))


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    """Run one site for all tests of this module."""
    with running() as found:
        yield found


def vote(asked: Asked, **changes: str) -> dict[str, str]:
    """Return the form that chooses the first option, changed."""
    return {**asked.forms[0], "choice": "option:0", **changes}


def without(asked: Asked, name: str) -> dict[str, str]:
    """Return the same form without a field."""
    return {each: value for each, value in vote(asked).items() if each != name}


def encoded(asked: Asked, more: str) -> bytes:
    """Return the same form as it is sent, with more after it."""
    return f"{urlencode(vote(asked))}&{more}".encode()


def port(asked: Asked) -> str:
    """Return the port of the page."""
    return str(urlsplit(asked.url).port)


@dataclass(frozen=True)
class Refused:
    """What is sent, what status it gets, and a word of what is said."""

    send: Callable[[Asked], Shown]
    status: int
    reported: str


FORGED = {
    "no cookie": Refused(lambda a: a.send(vote(a), cookie=None), 403, "Open the link again"),
    "another cookie": Refused(lambda a: a.send(vote(a), cookie=f"{a.cookie}0"), 403, "Open the link again"),
    "a cookie that is no text": Refused(lambda a: a.send(vote(a), cookie="\xe9=\xe9"), 403, "Open the link again"),
    "no token": Refused(lambda a: a.send(without(a, "token")), 403, "Open the link again"),
    "another token": Refused(lambda a: a.send(vote(a, token="0" * 64)), 403, "Open the link again"),
    "a token that is no ASCII": Refused(lambda a: a.send(vote(a, token="\xe9")), 403, "Open the link again"),
    "from another site": Refused(lambda a: a.send(vote(a), origin="https://evil.example"), 403, "on the page itself"),
    "from another port": Refused(lambda a: a.send(vote(a), origin="http://127.0.0.1:1"), 403, "on the page itself"),
    "from nowhere": Refused(lambda a: a.send(vote(a), origin="null"), 403, "on the page itself"),
    "from another site, says the browser": Refused(
        lambda a: a.send(vote(a), sec_fetch_site="cross-site"), 403, "on the page itself"
    ),
    "from another port, says the browser": Refused(
        lambda a: a.send(vote(a), sec_fetch_site="same-site", origin=None), 403, "on the page itself"
    ),
    "from who does not say": Refused(
        lambda a: a.send(vote(a), sec_fetch_site=None, origin=None), 403, "on the page itself"
    ),
    "another name": Refused(
        lambda a: a.send(vote(a), host=f"evil.example:{port(a)}"), 421, "exactly as you received it"
    ),
    "localhost": Refused(lambda a: a.send(vote(a), host=f"localhost:{port(a)}"), 421, "exactly as you received it"),
    "no port": Refused(lambda a: a.send(vote(a), host="127.0.0.1"), 421, "exactly as you received it"),
    "another link": Refused(lambda a: request(f"{a.url}0", "POST", b""), 404, "as you received it"),
}

WRONG = {
    "another envelope": Refused(lambda a: a.send(vote(a, digest=f"sha256:{'0' * 64}")), 409, "another envelope"),
    "no envelope": Refused(lambda a: a.send(without(a, "digest")), 422, "does not name the envelope"),
    "no choice": Refused(lambda a: a.send(without(a, "choice")), 422, "Choose an option"),
    "an option that is not there": Refused(lambda a: a.send(vote(a, choice="option:3")), 422, "no option"),
    "a choice with a zero too many": Refused(lambda a: a.send(vote(a, choice="option:00")), 422, "Choose an option"),
    "a choice with a plus": Refused(lambda a: a.send(vote(a, choice="option:+0")), 422, "Choose an option"),
    "a choice of another kind": Refused(lambda a: a.send(vote(a, choice="approve")), 422, "Choose an option"),
    "a blank answer": Refused(
        lambda a: a.send({**a.forms[1], "choice": "free_text", "answer": " \n"}), 422, "no visible text"
    ),
    "an answer that is too long": Refused(
        lambda a: a.send({**a.forms[1], "choice": "free_text", "answer": "x" * 10_001}), 422, "10,000 characters"
    ),
    "two answers": Refused(lambda a: a.send(vote(a, answer="Neither.")), 422, "not both"),
    "a field twice": Refused(lambda a: a.send(encoded(a, "choice=option:1")), 415, "twice"),
    "too many fields": Refused(
        lambda a: a.send(encoded(a, "&".join(f"f{i}=" for i in range(9)))), 415, "form cannot be read"
    ),
    "a field without a name": Refused(lambda a: a.send(encoded(a, "x")), 415, "form cannot be read"),
    "half a character": Refused(lambda a: a.send(encoded(a, "answer=%ff")), 415, "form cannot be read"),
    "bytes": Refused(lambda a: a.send(b"\xff\x00"), 415, "form cannot be read"),
    "JSON": Refused(lambda a: a.send(b"{}", content_type="application/json"), 415, "not a form"),
    "text, as an old form may send": Refused(lambda a: a.send(b"x=1", content_type="text/plain"), 415, "not a form"),
    "parts": Refused(lambda a: a.send(b"", content_type="multipart/form-data; boundary=x"), 415, "not a form"),
    "nothing said of what it is": Refused(lambda a: a.send(vote(a), content_type=None), 415, "not a form"),
    "a flood": Refused(lambda a: a.send(vote(a, answer="x" * 200_000)), 413, "at most 10,000 characters"),
    "another method": Refused(lambda a: request(a.url, "PUT", b""), 405, "in a browser"),
}


@pytest.mark.parametrize("case", {**FORGED, **WRONG}.values(), ids={**FORGED, **WRONG}.keys())
def test_nothing_happens(site: Running, case: Refused) -> None:
    """Sections 4, 6.3, 11.4: a typed error in words, and the decision stands as it stood; then it can be answered."""
    asked = site.asked().opened()
    reported = len(site.reported)
    shown = case.send(asked)

    assert shown.status == case.status
    assert case.reported in shown.root.one("main").text
    assert asked.stands == asked.pending
    assert len(site.reported) == reported
    assert asked.choose(0).status == 200


HATCHES = {
    "own words": {"choice": "free_text", "answer": "Neither."},
    "an objection": {"choice": "dialogue", "objection": "Why?"},
}


@pytest.mark.parametrize("sent", HATCHES.values(), ids=HATCHES.keys())
def test_a_closed_hatch_cannot_be_forced(site: Running, sent: dict[str, str]) -> None:
    """Section 5.8: what the page does not offer is refused when it is sent all the same."""
    asked = site.asked(CLOSED).opened()
    shown = asked.send({**asked.forms[0], **sent})

    assert shown.status == 422
    assert asked.stands == asked.pending


def test_what_was_written_is_kept(site: Running) -> None:
    """WCAG 3.3.1: the page comes back with what is wrong, and the words to mend."""
    asked = site.asked().opened()
    shown = asked.send({**asked.forms[1], "choice": "free_text", "answer": "w" * 10_001})
    root = shown.root

    assert "Not accepted" in str(root.one("title").children[0])
    assert "10,000" in root.one("p", role="alert").text
    assert root.one("textarea", name="answer").text == f"\n{'w' * 10_001}"


def test_when_its_time_is_over_it_is_closed() -> None:
    """Expiry is no consent: neither is the page shown any more, nor an answer taken that was begun in time."""
    late = [0.0]
    with running(Ledger(clock=lambda: time.time() + late[0])) as site:
        asked = site.asked(expires_in=60).opened()
        late[0] = 61
        by_the_ledger = asked.choose(0)
        late[0] = -61
        early = site.asked(expires_in=60)
        by_the_clock = request(early.url)

    assert (by_the_ledger.status, by_the_clock.status) == (410, 410)
    assert "put it to you again" in by_the_clock.body
    assert asked.stands == asked.pending
    assert isinstance(early.stands, PendingDecision)


def test_a_decision_that_the_ledger_does_not_know_is_not_shown(site: Running) -> None:
    """A link to nothing is nothing."""
    link = site.site.link("nobody-asked-this")
    shown = request(site.site.url(link.path))

    assert shown.status == 404


NOWHERE = ["/", "/decide", "/decide/", "/decide/x/y", "/open/x", "/favicon.ico", "/docs", "/decide/..%2f..", "//evil"]


@pytest.mark.parametrize("path", NOWHERE)
def test_there_is_nothing_else(site: Running, path: str) -> None:
    """No index, no list of decisions, no way to learn of one."""
    shown = request(site.site.url("") + path)

    assert shown.status == 404
    assert "Nothing here" in shown.root.one("h1").text


FIELDS = st.dictionaries(
    st.sampled_from(["digest", "token", "choice", "answer", "objection", "x"]), st.text(max_size=20)
)
BODIES: Any = st.binary(max_size=80) | FIELDS.map(lambda fields: urlencode(fields, errors="replace").encode())


@settings(max_examples=examples(60))
@given(BODIES, st.sampled_from(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]))
def test_no_forgery_answers(site: Running, body: bytes, kind: str) -> None:
    """Whatever is sent without the form's token, nobody has decided."""
    asked = site.asked().opened()
    shown = asked.send(body, content_type=kind)

    assert shown.status in {403, 413, 415}
    assert asked.stands == asked.pending
