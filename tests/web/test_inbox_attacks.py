"""What the inbox refuses: each attack with its status, and the decision stands as it stood."""

from __future__ import annotations

import socket
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Mount

from emitter.decisions.ledger import Ledger
from emitter.stores import MemoryStore
from emitter.web import inbox
from tests.web.inboxes import PREFIX, Inbox, Question, authenticate, running, serving
from tests.web.running import Shown, request
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def box() -> Iterator[Inbox]:
    """Run one inbox for all tests of this module."""
    with running() as found:
        yield found


def vote(question: Question, **changes: str) -> dict[str, str]:
    """Return the form that chooses the first option, changed."""
    return {**question.forms[0], "choice": "option:0", **changes}


def without(question: Question, name: str) -> dict[str, str]:
    """Return the same form without a field."""
    return {each: value for each, value in vote(question).items() if each != name}


NO_RESPONSE = 0


def raw(question: Question, lines: str, body: str = "", *, hangs_up: bool = False) -> Shown:
    """Send a request as it stands, and return the response."""
    parts = urlsplit(question.url)
    text = lines.format(path=parts.path, host=parts.netloc, origin=question.inbox.origin)
    with socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=20) as connection:
        connection.sendall(text.replace("\n", "\r\n").encode() + b"\r\n" + body.encode())
        if hangs_up:
            connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65_536), b"")).decode()
    head, _, page = answer.partition("\r\n\r\n")
    return Shown(int(head.split()[1]) if head else NO_RESPONSE, [], page)


POST = """POST {path} HTTP/1.1
Host: {host}
Origin: {origin}
X-User: alice
Content-Type: application/x-www-form-urlencoded
Connection: close
"""


@dataclass(frozen=True)
class Attack:
    """What is sent, and the status that it gets."""

    kind: str
    send: Callable[[Question], Shown]
    status: int


def _other(question: Question) -> Question:
    """Return another decision, with its own forms as the same person has them."""
    return question.inbox.asked().opened()


def _replayed(question: Question) -> Shown:
    """Send a form that was sent before, to a decision that is open."""
    sent = _other(question)
    fields = vote(sent)
    assert sent.send(fields).status == 200
    return question.send(fields)


def _replayed_after(question: Question) -> Shown:
    """Send what somebody sent again, as somebody else, to the decision that it resolved."""
    sent = _other(question)
    fields = vote(sent)
    assert sent.send(fields).status == 200
    return replace(sent, user="bob").send(fields)


def assign(question: Question, name: str = "bob", token: str | None = None, **headers: str | None) -> Shown:
    """Send the form that assigns the decision."""
    fields = {"assignee": name, "token": question.forms[0]["token"] if token is None else token}
    return question.send(fields, url=f"{question.url}/assignee", **headers)


ATTACKS = {
    "no token": Attack("forged", lambda q: q.send(without(q, "token")), 403),
    "another token": Attack("forged", lambda q: q.send(vote(q, token="0" * 64)), 403),
    "an empty token": Attack("forged", lambda q: q.send(vote(q, token="")), 403),
    "a token that is no ASCII": Attack("forged", lambda q: q.send(vote(q, token="\xe9")), 403),
    "the token of another decision": Attack(
        "forged", lambda q: q.send(vote(q, token=_other(q).forms[0]["token"])), 403
    ),
    "the token of another person": Attack(
        "forged", lambda q: q.send(vote(q, token=q.opened("bob").forms[0]["token"])), 403
    ),
    "another envelope": Attack("forged", lambda q: q.send(vote(q, digest=f"sha256:{'0' * 64}")), 409),
    "no envelope": Attack("forged", lambda q: q.send(without(q, "digest")), 422),
    "an option that is not there": Attack("forged", lambda q: q.send(vote(q, choice="option:9")), 422),
    "a choice that is none": Attack("forged", lambda q: q.send(vote(q, choice="approve")), 422),
    "two answers": Attack("forged", lambda q: q.send(vote(q, answer="No.")), 422),
    "a field twice": Attack("forged", lambda q: q.send(f"{urlencode(vote(q))}&choice=option:1".encode()), 415),
    "another's form": Attack("replayed", _replayed, 403),
    "an answer again, by another": Attack("replayed", _replayed_after, 403),
    "another site": Attack("cross-site", lambda q: q.send(vote(q), origin="https://evil.example"), 403),
    "a sibling domain": Attack("cross-site", lambda q: q.send(vote(q), sec_fetch_site="same-site"), 403),
    "another site, says the browser": Attack(
        "cross-site", lambda q: q.send(vote(q), sec_fetch_site="cross-site", origin=None), 403
    ),
    "another port": Attack("cross-site", lambda q: q.send(vote(q), origin="http://127.0.0.1:1"), 403),
    "nowhere": Attack("cross-site", lambda q: q.send(vote(q), origin="null"), 403),
    "who does not say": Attack("cross-site", lambda q: q.send(vote(q), origin=None, sec_fetch_site=None), 403),
    "another host": Attack("cross-site", lambda q: q.send(vote(q), host="evil.example"), 403),
    "nobody": Attack("unauthenticated", lambda q: q.send(vote(q), x_user=None), 403),
    "somebody unknown": Attack("unauthenticated", lambda q: q.send(vote(q), x_user="root"), 403),
    "who may only read": Attack("without rights", lambda q: q.send(vote(q), x_user="carol"), 403),
    "who may not see it": Attack("without rights", lambda q: q.send(vote(q), x_user="mallory"), 404),
    "an unknown decision": Attack("other prefix", lambda q: q.send(vote(q), url=f"{q.inbox.url}decisions/x"), 404),
    "no prefix": Attack(
        "other prefix",
        lambda q: q.send(vote(q), url=q.url.replace(PREFIX, "")),
        404,
    ),
    "a prefix twice": Attack("other prefix", lambda q: q.send(vote(q), url=q.url.replace(PREFIX, PREFIX * 2)), 404),
    "a path that climbs": Attack(
        "other prefix", lambda q: q.send(vote(q), url=q.url.replace("/decisions", "/x/../decisions")), 404
    ),
    "a path with a slash too many": Attack("other prefix", lambda q: q.send(vote(q), url=f"{q.url}/"), 404),
    "the id for the reference": Attack(
        "other prefix", lambda q: q.send(vote(q), url=f"{q.inbox.url}decisions/{q.pending.decision_id}"), 404
    ),
    "the list": Attack("other prefix", lambda q: q.send(vote(q), url=q.inbox.url), 405),
    "a flood": Attack("oversized", lambda q: q.send(vote(q, answer="x" * 200_000)), 413),
    "a flood without a length": Attack(
        "oversized",
        lambda q: raw(q, f"{POST}Transfer-Encoding: chunked\n", f"20001\r\n{'x' * 0x20001}\r\n0\r\n\r\n"),
        413,
    ),
    "too many fields": Attack("oversized", lambda q: q.send(vote(q, **{f"f{n}": "" for n in range(9)})), 415),
    "words without end": Attack(
        "oversized", lambda q: q.send({**q.forms[1], "choice": "free_text", "answer": "x" * 10_001}), 422
    ),
    "PUT": Attack("another method", lambda q: q.send(vote(q), method="PUT"), 405),
    "PATCH": Attack("another method", lambda q: q.send(vote(q), method="PATCH"), 405),
    "DELETE": Attack("another method", lambda q: q.send(b"", method="DELETE"), 405),
    "a method that overrides": Attack(
        "another method", lambda q: q.send(vote(q), method="PUT", x_http_method_override="POST"), 405
    ),
    "GET with the form": Attack(
        "another method", lambda q: request(f"{q.url}?{urlencode(vote(q))}", x_user="alice"), 200
    ),
    "HEAD with the form": Attack(
        "another method", lambda q: request(f"{q.url}?{urlencode(vote(q))}", "HEAD", x_user="alice"), 200
    ),
    "JSON": Attack("another body", lambda q: q.send(b"{}", content_type="application/json"), 415),
    "text": Attack("another body", lambda q: q.send(b"x=1", content_type="text/plain"), 415),
    "parts": Attack("another body", lambda q: q.send(b"", content_type="multipart/form-data; boundary=x"), 415),
    "no type": Attack("another body", lambda q: q.send(vote(q), content_type=None), 415),
    "bytes": Attack("another body", lambda q: q.send(b"\xff\x00"), 415),
    "half a form": Attack(
        "another body", lambda q: raw(q, f"{POST}Content-Length: 500\n", "choice=option:0", hangs_up=True), NO_RESPONSE
    ),
    "two hosts": Attack("headers", lambda q: raw(q, f"{POST}Host: evil.example\nContent-Length: 0\n"), 400),
    "no host": Attack("headers", lambda q: raw(q, "GET {path} HTTP/1.0\nX-User: alice\n"), 421),
    "a user with a line break": Attack(
        "headers", lambda q: raw(q, POST.replace("alice", "nobody\nX-Other: alice") + "Content-Length: 0\n"), 403
    ),
    "two lengths": Attack("headers", lambda q: raw(q, f"{POST}Content-Length: 0\nContent-Length: 9\n"), 400),
    "a length and chunks": Attack(
        "headers", lambda q: raw(q, f"{POST}Content-Length: 5\nTransfer-Encoding: chunked\n", "0\r\n\r\n"), 403
    ),
    "a prefix of the client's": Attack(
        "headers", lambda q: q.send(vote(q, token=""), x_forwarded_prefix="/evil", x_script_name="/evil"), 403
    ),
    "an event id that is none": Attack(
        "headers", lambda q: request(f"{q.inbox.url}events?after=x", x_user=None, last_event_id="\xe9" * 9), 403
    ),
    "an event id that is too long": Attack(
        "oversized", lambda q: request(f"{q.inbox.url}events", x_user="alice", last_event_id="9" * 5000), 400
    ),
    "a number of an event that is too long": Attack(
        "oversized", lambda q: request(f"{q.inbox.url}events?after={'9' * 5000}", x_user="alice"), 400
    ),
    "assigned without a token": Attack("assigned", lambda q: assign(q, token=""), 403),
    "assigned with another's token": Attack(
        "assigned", lambda q: assign(q, token=q.opened("bob").forms[0]["token"]), 403
    ),
    "assigned from another site": Attack("assigned", lambda q: assign(q, origin="https://evil.example"), 403),
    "assigned by who may only read": Attack("assigned", lambda q: assign(q, x_user="carol"), 403),
    "assigned by who may not see it": Attack("assigned", lambda q: assign(q, x_user="mallory"), 404),
    "assigned by nobody": Attack("assigned", lambda q: assign(q, x_user=None), 403),
    "assigned by an address": Attack(
        "assigned", lambda q: request(f"{q.url}/assignee?assignee=bob", x_user="bob"), 405
    ),
    "assigned to too long a name": Attack("assigned", lambda q: assign(q, "x" * 1_000), 422),
}
REACHES = {"GET with the form", "HEAD with the form"}
"""What gets the page and answers nothing."""


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_nothing_is_answered(box: Inbox, attack: Attack) -> None:
    """The status is the one in the table; then the same page still takes the person's own answer."""
    question = box.asked().opened()
    shown = attack.send(question)

    assert shown.status == attack.status
    assert question.stands == question.pending
    assert question.stands.assignee == ""
    assert question.choose(0).status == 200


def test_the_table_covers_every_kind() -> None:
    """How many there are of each kind; a kind without an attack would be a gap in the table."""
    counts = Counter(attack.kind for attack in ATTACKS.values())

    assert counts == {
        "forged": 12,
        "replayed": 2,
        "cross-site": 7,
        "unauthenticated": 2,
        "without rights": 2,
        "other prefix": 7,
        "oversized": 6,
        "another method": 6,
        "another body": 6,
        "headers": 7,
        "assigned": 8,
    }


ORIGIN = "https://agents.example.com"
HOSTS: dict[str, tuple[dict[str, str | None], int]] = {
    "the public origin": ({"host": "agents.example.com", "origin": ORIGIN}, 200),
    "the public origin without encryption": (
        {"host": "agents.example.com", "origin": "http://agents.example.com"},
        403,
    ),
    "another origin": ({"host": "agents.example.com", "origin": "https://evil.example"}, 403),
    "the inner host": ({"origin": ORIGIN}, 421),
    "a host that was rebound": ({"host": "evil.example", "origin": "http://evil.example"}, 421),
}


@pytest.mark.parametrize(("headers", "status"), HOSTS.values(), ids=HOSTS.keys())
def test_a_public_origin_is_the_only_one(headers: dict[str, str | None], status: int) -> None:
    """Behind a proxy: another host is misdirected, another origin is another site."""
    with running(origin=ORIGIN) as box:
        question = box.asked()
        page = request(question.url, x_user="alice", host="agents.example.com")
        question.forms = [each.fields for each in page.root.all("form")]

        assert question.choose(0, **headers).status == status


def test_a_form_of_another_inbox_is_worth_nothing() -> None:
    """Two stores have two keys, even for the same decision and the same person."""
    stores = MemoryStore(), MemoryStore()
    apps = [Mount(f"/{number}", inbox(store, authenticate=authenticate)) for number, store in enumerate(stores)]
    with serving(Starlette(routes=apps)) as origin, running() as box:
        question = box.asked(decision_id="same")
        moment, actions = question.pending.moment, question.pending.actions
        here, there = (
            Ledger(store).open(moment, agent="agent", actions=actions, decision_id="same") for store in stores
        )
        pages = [request(f"{origin}/{number}/decisions/{here.reference}", x_user="alice") for number in (0, 1)]
        forms = [page.root.all("form")[0].fields for page in pages]

    assert here.reference == there.reference
    assert forms[0]["digest"] == forms[1]["digest"]
    assert forms[0]["token"] != forms[1]["token"]


FIELDS = st.dictionaries(
    st.sampled_from(["digest", "token", "choice", "answer", "objection", "x"]), st.text(max_size=20)
)
BODIES: Any = st.binary(max_size=80) | FIELDS.map(lambda fields: urlencode(fields, errors="replace").encode())


@settings(max_examples=examples(40))
@given(BODIES, st.sampled_from(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]))
def test_no_forgery_answers(box: Inbox, body: bytes, kind: str) -> None:
    """Whatever is sent without the form's token, nobody has decided."""
    question = box.asked().opened()
    shown = question.send(body, content_type=kind)

    assert shown.status in {403, 413, 415}
    assert question.stands == question.pending
