"""Answering on the page: each of the three, once, and read back to whoever gave it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from emitter.decisions import Act, Dialogue, FreeText, Incorporate, Reopen, Selected, digest
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.decisions.ledger_words import KeepWords
from emitter.testing.sample_moments import VALID_MOMENT, make_labelled_moment
from tests.web.running import Running, request, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decisions import Resolution


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    """Run one site for all tests of this module."""
    with running() as found:
        yield found


@dataclass(frozen=True)
class Answer:
    """What is filled into which form, and what comes of it."""

    form: int
    filled: dict[str, str]
    resolution: Resolution
    then: type
    reported: str


ANSWERS = {
    "an option": Answer(0, {"choice": "option:2"}, Selected(digest(VALID_MOMENT), 2), Act, "Cedar the release"),
    "own words": Answer(
        1,
        {"choice": "free_text", "answer": "Neither:\r\nwait <b>a</b> day"},
        FreeText(digest(VALID_MOMENT), "Neither:\nwait <b>a</b> day"),
        Incorporate,
        "Neither:\nwait <b>a</b> day",
    ),
    "an objection": Answer(
        2,
        {"choice": "dialogue", "objection": "Why now?"},
        Dialogue(digest(VALID_MOMENT), "Why now?"),
        Reopen,
        "Why now?",
    ),
    "no objection": Answer(2, {"choice": "dialogue"}, Dialogue(digest(VALID_MOMENT), ""), Reopen, ""),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_is_taken_down_and_read_back(site: Running, answer: Answer) -> None:
    """Section 6.3: which of the three it was reaches the ledger, by the channel of this surface."""
    asked = site.asked().opened()
    shown = asked.send({**asked.forms[answer.form], **answer.filled})
    found = asked.stands

    assert shown.status == 200
    assert shown.root.one("h1").text == "Recorded"
    assert [each.text for each in shown.root.all("blockquote")] == ([answer.reported] if answer.reported else [])
    assert isinstance(found, ResolvedDecision)
    assert (found.resolution, found.channel) == (answer.resolution, "web")
    assert isinstance(found.continuation, answer.then)


def test_what_is_read_back_is_text() -> None:
    """Section 11: a label of the agent's is shown as harmless here as on the decision's page."""
    with running() as site:
        asked = site.asked(make_labelled_moment("Keep", "</blockquote><script>x</script>\u202e")).opened()
        shown = asked.choose(1)

    assert shown.root.one("blockquote").text == "</blockquote><script>x</script>\ufffd"


def test_an_answer_counts_once(site: Running) -> None:
    """A second one, the same or another, changes nothing, and says what stands."""
    asked = site.asked().opened()
    assert asked.choose(1).status == 200
    reported = len(site.reported)
    again = [asked.choose(1), asked.choose(0), asked.send({**asked.forms[1], "choice": "free_text", "answer": "No."})]

    assert [each.status for each in again] == [409, 409, 409]
    assert {each.root.one("h1").text for each in again} == {"Already answered"}
    assert {each.root.one("blockquote").text for each in again} == {"Birch the release"}
    assert asked.answer == Selected(digest(VALID_MOMENT), 1)
    assert len(site.reported) == reported


def test_a_spent_link_shows_neither_question_nor_answer(site: Running) -> None:
    """Who finds the link in a history afterwards learns that it was answered, and no more."""
    asked = site.asked().opened()
    asked.send({**asked.forms[1], "choice": "free_text", "answer": "SECRET"})
    shown = request(asked.url)

    assert shown.status == 409
    assert "SECRET" not in shown.body
    assert VALID_MOMENT.synopsis not in shown.body
    assert asked.send({"choice": "option:0"}).status == 403


def test_two_that_answer_at_once_are_told_apart(site: Running) -> None:
    """One answer is recorded, and whoever came second is reported so."""
    asked = site.asked().opened()
    found: list[tuple[int, int]] = []
    both = [threading.Thread(target=lambda i=i: found.append((asked.choose(i).status, i))) for i in (0, 1)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    ((_, first),) = [each for each in found if each[0] == 200]

    assert sorted(status for status, _ in found) == [200, 409]
    assert asked.answer == Selected(digest(VALID_MOMENT), first)


def test_decisions_of_one_site_do_not_touch(site: Running) -> None:
    """Section 3: each has its link, its cookie and its answer; those of one are worth nothing to another."""
    one, other = site.asked().opened(), site.asked().opened()
    stolen = other.send({**one.forms[0], "choice": "option:0"}, cookie=one.cookie)
    mixed = other.send({**one.forms[0], "choice": "option:0"}, cookie=f"{one.cookie}; {other.cookie}")

    assert (stolen.status, mixed.status) == (403, 403)
    assert other.choose(2).status == 200
    assert (one.answer, other.answer) == (None, Selected(digest(VALID_MOMENT), 2))


def test_a_link_may_be_opened_again_until_it_is_answered(site: Running) -> None:
    """A reload, and a second window, lose nothing: the first form still counts."""
    asked = site.asked().opened()
    request(asked.url)

    assert asked.choose(0).status == 200


def test_a_ticket_leads_to_the_page_once(site: Running) -> None:
    """What stands on a browser's command line is worth nothing afterwards."""
    pending = site.ledger.open(VALID_MOMENT, agent="another")
    link = site.site.link(pending.decision_id)
    ticket = site.site.ticket(link)
    looked = request(ticket, "HEAD")
    first, second = request(ticket), request(ticket)

    assert (looked.status, looked.header("location")) == (303, link.path)
    assert (first.status, first.header("location")) == (303, link.path)
    assert second.status == 404
    assert request(site.site.url(link.path)).status == 200


SAID: dict[str, tuple[KeepWords | None, str]] = {
    "as usual": (KeepWords(), "Your words are kept for the agent to read, as plain text, for at most 7 days."),
    "encrypted": (
        KeepWords(3600, key=bytes(32)),
        "Your words are kept for the agent to read, encrypted, for at most 1 hour.",
    ),
    "for ever": (KeepWords(None), "Your words are kept for the agent to read, as plain text, as long as the store."),
    "not at all": (None, "Your words are passed to the program that serves this page, and not kept."),
}


@pytest.mark.parametrize("name", SAID)
def test_the_page_says_how_words_are_kept(name: str) -> None:
    """And nothing of words where an option was chosen."""
    words, reported = SAID[name]
    with running(Ledger(words=words)) as site:
        asked = site.asked().opened()
        said = asked.send({**asked.forms[1], "choice": "free_text", "answer": "Wait."})
        chosen = site.asked().opened().choose(0)

    assert reported in said.root.text
    assert "Your choice is recorded for the agent to read." in chosen.root.text
    assert "The agent is told" not in said.body + chosen.body


def test_detail_can_be_asked_for_and_decides_nothing(site: Running) -> None:
    """The page comes back with the request, and later with the agent's answer; then the decision is answered."""
    asked = site.asked().opened()
    request_ = {**asked.forms[3], "choice": "detail", "topic": "finding <two>"}
    sent = asked.send(request_)
    waits = request(asked.url)
    (found,) = site.ledger.detail_requests(asked.pending.decision_id)
    site.ledger.answer_detail(asked.pending.decision_id, 1, "It passed at noon.\n  <b>Twice</b>\u202e")
    shown = request(asked.url)

    assert (sent.status, asked.url.endswith(sent.header("location"))) == (303, True)
    assert (found.topic, found.channel) == ("finding <two>", "web")
    assert "The agent has not answered yet." in waits.root.text
    assert waits.root.one("a", href=sent.header("location")).text == "Look again"
    assert "finding <two>" in [each.text for each in shown.root.all("h3")]
    assert shown.root.one("blockquote").text == "It passed at noon.\n  <b>Twice</b>\ufffd"
    assert "<script" not in shown.body
    assert asked.stands == asked.pending
    assert asked.choose(1).status == 200
    assert asked.send(request_).status == 409


def test_a_function_answers_on_the_spot() -> None:
    """One that is async too; None is no answer yet."""

    async def later(topic: str) -> str | None:
        return None if topic == "unknown" else f"More on {topic}."

    for detail in (lambda topic: {"topic": topic}, later):
        with running(detail=detail) as site:
            asked = site.asked().opened()
            for topic in ("the log", "unknown"):
                asked.send({**asked.forms[3], "choice": "detail", "topic": topic})
            first, second = site.ledger.detail_requests(asked.pending.decision_id)
            assert first.answer in ({"topic": "the log"}, "More on the log.")
            assert second.is_open is (detail is later)
            assert asked.stands == asked.pending


REFUSED_DETAIL: dict[str, tuple[dict[str, str], int]] = {
    "words of an answer beside it": ({"choice": "detail", "topic": "", "answer": "Yes."}, 422),
    "too long": ({"choice": "detail", "topic": "x" * 2001}, 422),
    "another decision's digest": ({"choice": "detail", "topic": "", "digest": f"sha256:{'0' * 64}"}, 409),
    "a forged token": ({"choice": "detail", "topic": "", "token": "0" * 43}, 403),
}


@pytest.mark.parametrize("name", REFUSED_DETAIL)
def test_a_request_that_is_not_the_pages_is_refused(site: Running, name: str) -> None:
    """As an answer would be; nothing is asked for."""
    fields, status = REFUSED_DETAIL[name]
    asked = site.asked().opened()
    assert asked.send({**asked.forms[3], **fields}).status == status
    assert site.ledger.detail_requests(asked.pending.decision_id) == ()


def test_detail_is_not_offered_where_nobody_can_answer() -> None:
    """The page has no such form, and takes none."""
    with running(detail=False) as site:
        asked = site.asked().opened()
        sent = asked.send({**asked.forms[0], "choice": "detail", "topic": ""})
        assert (len(asked.forms), sent.status) == (3, 422)
        assert site.ledger.detail_requests(asked.pending.decision_id) == ()
