"""Webhooks: each event is delivered in order, signed so that another's library verifies it, and marked in the store."""

from __future__ import annotations

import base64
import json
import threading
from itertools import repeat
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter.decisions import answer_in_words, select_option
from emitter.decisions.ledger import Ledger
from emitter.errors import InputError, Tampered
from emitter.stores import MemoryStore, SqliteStore
from emitter.testing.sample_moments import VALID_MOMENT
from tests.raw_server import raw_server

standardwebhooks = pytest.importorskip("standardwebhooks", reason="standardwebhooks is not installed")
from emitter.integrations import webhooks  # noqa: E402
from emitter.integrations.webhooks import WebhookFailed, Webhooks  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

SECRET = f"whsec_{base64.b64encode(bytes(range(32))).decode()}"
URL = "https://hooks.example/decisions"
VERIFIER = standardwebhooks.Webhook(SECRET)


class Endpoint:
    """A receiver that verifies what it gets, and answers with these statuses; then with 200."""

    def __init__(self, *statuses: int | Exception) -> None:
        self.statuses = list(statuses)
        self.requests: list[httpx2.Request] = []
        self.accepted: list[dict[str, Any]] = []
        self.slept: list[float] = []

    def webhooks(self, ledger: Ledger, **settings: Any) -> Webhooks:
        """Return what delivers here."""
        transport = httpx2.MockTransport(self.receive)
        return Webhooks(ledger, URL, SECRET, **{"transport": transport, "sleep": self.slept.append, **settings})

    def receive(self, request: httpx2.Request) -> httpx2.Response:
        """Take a delivery."""
        self.requests.append(request)
        answer = self.statuses.pop(0) if self.statuses else 200
        if isinstance(answer, Exception):
            raise answer
        document = VERIFIER.verify(request.content, dict(request.headers))
        if answer == 200:
            self.accepted.append(document)
        return httpx2.Response(answer, headers={"location": "https://evil.example/"})

    @property
    def types(self) -> list[str]:
        """The types of what was accepted."""
        return [each["type"] for each in self.accepted]


def decided(ledger: Ledger) -> str:
    """Open a decision and let somebody answer it; return its id."""
    pending = ledger.open(VALID_MOMENT, agent="a", actions=("x", None, None))
    ledger.resolve(pending.decision_id, select_option(VALID_MOMENT, 0), principal="alice", channel="web")
    return pending.decision_id


def test_a_decision_that_cannot_be_read_holds_up_no_other() -> None:
    """Its event says why, and has nothing of the answer that does not count."""
    store, endpoint = MemoryStore(), Endpoint()
    decided(Ledger(store))

    def check(*_: object) -> None:
        raise Tampered("The signature is missing.")

    ledger = Ledger(store, check=check)
    ledger.open(VALID_MOMENT, agent="b", decision_id="next")
    endpoint.webhooks(ledger).deliver()
    unreadable, following = endpoint.accepted[1]["data"], endpoint.accepted[2]["data"]

    assert (unreadable["error"], following["decision_id"]) == ("unsigned_answer", "next")
    assert not {"principal", "option", "action"} & unreadable.keys()


def test_what_happens_is_delivered_in_order() -> None:
    """With the digest, the option and its action, who answered, and a link; and once."""
    ledger, endpoint = Ledger(MemoryStore()), Endpoint()
    webhooks = endpoint.webhooks(ledger, inbox_url="https://agents.example/inbox/")
    decision_id = decided(ledger)
    counts = [webhooks.deliver(), webhooks.deliver()]
    resolved = ledger.find(decision_id)
    data = endpoint.accepted[1]["data"]

    assert counts == [2, 0]
    assert endpoint.types == ["decision.opened", "decision.resolved"]
    assert (data["decision_id"], data["digest"]) == (decision_id, resolved.pending.digest)  # type: ignore[union-attr]
    assert (data["principal"], data["option"], data["action"], data["channel"]) == ("alice", 0, "x", "web")
    assert data["link"] == f"https://agents.example/inbox/decisions/{data['reference']}"


def test_no_words_leave() -> None:
    """Neither the envelope's nor the principal's."""
    ledger, endpoint = Ledger(MemoryStore()), Endpoint()
    pending = ledger.open(VALID_MOMENT)
    ledger.resolve(pending.decision_id, answer_in_words(VALID_MOMENT, "Nobody else's business."))
    endpoint.webhooks(ledger).deliver()
    sent = b"".join(each.content for each in endpoint.requests)

    assert endpoint.accepted[1]["data"]["outcome"] == "free_text"
    assert not any(words in sent for words in (b"business", b"Synopsis", b"Alder", b"Stem"))


def test_every_end_is_delivered() -> None:
    """Withdrawal, expiry, the first of two approvals, and a request for detail."""
    now = [1_800_000_000.0]
    ledger, endpoint = Ledger(MemoryStore(), clock=lambda: now[0]), Endpoint()
    for name, settings in {"w": {}, "e": {"expires_in": 60.0}, "f": {"four_eyes": True}}.items():
        ledger.open(VALID_MOMENT, agent=name, decision_id=name, **settings)
    ledger.withdraw("w")
    ledger.approve("f", select_option(VALID_MOMENT, 0), principal="alice")
    ledger.ask_detail("f", "the tests")
    now[0] += 60
    endpoint.webhooks(ledger).deliver()

    ends = [(each["type"], each["data"]["decision_id"]) for each in endpoint.accepted[3:]]
    assert ends == [
        ("decision.unresolved", "w"),
        ("decision.approved", "f"),
        ("decision.detail_asked", "f"),
        ("decision.unresolved", "e"),
    ]


RETRIED: dict[str, int | Exception] = {
    "an error of the server": 500,
    "too many": 429,
    "not found": 404,
    "a redirect, which is not followed": 307,
    "no connection": httpx2.ConnectError("refused"),
    "no answer": httpx2.ReadTimeout("late"),
}


@pytest.mark.parametrize("failure", RETRIED.values(), ids=RETRIED.keys())
def test_a_failed_delivery_is_repeated(failure: int | Exception) -> None:
    """Under the same id, with a delay; nothing after it overtakes it."""
    ledger, endpoint = Ledger(MemoryStore()), Endpoint(failure, failure)
    decided(ledger)
    count = endpoint.webhooks(ledger).deliver()
    ids = [each.headers["webhook-id"] for each in endpoint.requests]

    assert (count, len(endpoint.slept)) == (2, 2)
    assert len({*ids[:3]}) == 1
    assert ids[3] != ids[0]
    assert endpoint.types == ["decision.opened", "decision.resolved"]
    assert {each.url.host for each in endpoint.requests} == {"hooks.example"}


def test_what_was_not_accepted_is_the_next() -> None:
    """After all attempts it gives up, and begins there again, in another process, too."""
    ledger, endpoint = Ledger(MemoryStore()), Endpoint(500, 500)
    decided(ledger)
    with pytest.raises(WebhookFailed, match="status 500"):
        endpoint.webhooks(ledger, attempts=2).deliver()
    count = endpoint.webhooks(Ledger(ledger.store)).deliver()

    assert count == 2
    assert endpoint.types == ["decision.opened", "decision.resolved"]


def test_an_endpoint_that_is_gone_is_not_tried_again() -> None:
    """Status 410, as the specification says."""
    ledger, endpoint = Ledger(MemoryStore()), Endpoint(410)
    decided(ledger)
    with pytest.raises(WebhookFailed, match="gone"):
        endpoint.webhooks(ledger).deliver()

    assert len(endpoint.requests) == 1


def test_a_restart_repeats_nothing(tmp_path: Path) -> None:
    """The store has what was delivered; another endpoint has its own marks."""
    with SqliteStore(tmp_path / "agent.db") as store:
        first, second, other = Endpoint(), Endpoint(), Endpoint()
        decided(Ledger(store))
        first.webhooks(Ledger(store)).deliver()
        second.webhooks(Ledger(store)).deliver()
        transport = httpx2.MockTransport(other.receive)
        Webhooks(Ledger(store), f"{URL}/other", SECRET, transport=transport).deliver()

    assert [len(each.accepted) for each in (first, second, other)] == [2, 0, 2]


def test_two_processes_deliver_each_event_once(tmp_path: Path) -> None:
    """One of them at a time, whichever is first."""
    endpoint = Endpoint()
    with SqliteStore(tmp_path / "agent.db") as one, SqliteStore(tmp_path / "agent.db") as other:
        for _ in range(5):
            decided(Ledger(one))
        threads = [threading.Thread(target=endpoint.webhooks(Ledger(each)).deliver) for each in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    ids = [each.headers["webhook-id"] for each in endpoint.requests]
    assert len(ids) == len({*ids}) == 10


def test_a_changed_delivery_is_not_verified() -> None:
    """The signature is over the id, the time and the body."""
    ledger, endpoint = Ledger(MemoryStore()), Endpoint()
    decided(ledger)
    endpoint.webhooks(ledger).deliver()
    request = endpoint.requests[0]
    headers = dict(request.headers)
    changes: list[tuple[bytes, dict[str, str]]] = [
        (request.content.replace(b"opened", b"closed"), headers),
        (request.content, {**headers, "webhook-id": "other"}),
        (request.content, {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 1)}),
    ]
    for body, changed in changes:
        with pytest.raises(standardwebhooks.WebhookVerificationError):
            VERIFIER.verify(body, changed)

    assert json.loads(request.content)["type"] == "decision.opened"


_OK = b"HTTP/1.1 200 OK\r\n"
ENDLESS: dict[str, tuple[Callable[[], Iterable[bytes | float]], int]] = {
    "a body without an end": (lambda: [_OK, b"\r\n", *repeat(bytes(65536), 2000)], 2),
    "a body of a gigabyte": (lambda: [_OK, b"content-length: 1600000000\r\n\r\n", *repeat(bytes(65536), 2000)], 2),
    "a trickled body": (lambda: [_OK, b"content-length: 99\r\n\r\n", *repeat_slowly(b"x")], 2),
    "no body": (lambda: [_OK, b"content-length: 0\r\n\r\n"], 2),
    "a trickled head": (lambda: [_OK, *repeat_slowly(b"x: y\r\n"), b"\r\n"], 0),
    "no head": (lambda: [20.0, _OK, b"\r\n"], 0),
    "early hints": (lambda: [*repeat_slowly(b"HTTP/1.1 103 Early Hints\r\n\r\n"), _OK, b"\r\n"], 0),
    "an endless head": (lambda: [_OK, *repeat(b"x: y\r\n", 200_000)], 0),
    "a redirect": (lambda: [b"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\n\r\n"], 0),
    "another protocol": (lambda: [b"220 mail.example\r\n"], 0),
    "nothing": (list, 0),
}


def repeat_slowly(data: bytes) -> Iterator[bytes | float]:
    """The same again and again, for twenty seconds."""
    for _ in range(200):
        yield data
        yield 0.1


@pytest.mark.parametrize(("script", "count"), ENDLESS.values(), ids=ENDLESS)
def test_an_endpoint_has_little_time_and_its_body_is_not_read(
    monkeypatch: pytest.MonkeyPatch, script: Callable[[], Iterable[bytes | float]], count: int
) -> None:
    """A status is enough for a delivery, and anything else is a failed attempt."""
    monkeypatch.setattr(webhooks, "_TIMEOUT_SECONDS", 0.5)
    ledger = Ledger(MemoryStore())
    decided(ledger)
    with raw_server(script) as server:
        delivering = Webhooks(ledger, f"http://127.0.0.1:{server.port}/", SECRET, attempts=1)
        if count:
            assert delivering.deliver() == count
        else:
            with pytest.raises(WebhookFailed, match="accepted no delivery in 1 attempts"):
                delivering.deliver()
    assert server.written < 20_000_000


INVALID: dict[str, tuple[str, str]] = {
    "http": ("http://hooks.example/", SECRET),
    "no host": ("https:///x", SECRET),
    "another scheme": ("file:///etc/passwd", SECRET),
    "no address": ("https://[::1", SECRET),
    "no port": ("https://hooks.example:x/", SECRET),
    "no prefix": (URL, SECRET.removeprefix("whsec_")),
    "too short": (URL, "whsec_c2hvcnQ="),
    "no base64": (URL, "whsec_!!!"),
}


@pytest.mark.parametrize(("url", "secret"), INVALID.values(), ids=INVALID.keys())
def test_misuse_is_said(url: str, secret: str) -> None:
    """Before anything is sent; the error does not repeat the secret."""
    with pytest.raises(InputError) as caught:
        Webhooks(Ledger(), url, secret)

    assert secret not in str(caught.value)
