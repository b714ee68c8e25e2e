"""The e-mail: both of its parts hold the drawing's side of the contract, and neither of them takes an answer."""

from __future__ import annotations

import email
from email import policy
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import BadResolution, InputError
from emitter.render.email_message import Email
from emitter.testing import surfaces
from emitter.testing.sample_moments import FEW_MOMENTS, HOSTILE_MOMENTS, HUGE_MOMENTS, VALID_MOMENT
from tests.render.html.reading import parsed
from tests.render.html.test_contract import _Keys
from tests.render.text.subjects import PlainSubject

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.models import BindingMoment

LINK = "https://agents.example/inbox/decisions/0123?a=1&b=2"
RENDERER = Email(LINK)


def received(moment: BindingMoment) -> EmailMessage:
    """Return a mail as it arrives, through its bytes."""
    return email.message_from_bytes(RENDERER.draw(moment).as_bytes(), EmailMessage, policy=policy.default)


def part(message: EmailMessage, kind: str) -> str:
    """Return one of its two parts."""
    body = message.get_body((kind,))
    assert body is not None
    text: str = body.get_content()
    return text.replace("\r\n", "\n")


class _Text(PlainSubject):
    """Looks at the mail in a reader for text."""

    def draw(self, moment: BindingMoment) -> str:
        return part(received(moment), "plain")


class _Page(_Keys):
    """Looks at the mail in a reader for HTML."""

    def draw(self, moment: BindingMoment) -> str:
        return part(received(moment), "html")


CHECKS = (
    surfaces.check_briefing,
    surfaces.check_options,
    surfaces.check_mark,
    surfaces.check_mark_in_words,
    surfaces.check_hatches,
)


@pytest.mark.parametrize("subject", [_Text(76), _Page()], ids=["text", "HTML"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_each_part_shows_the_whole_decision(subject: Any, check: Callable[..., None]) -> None:
    """Section 8.1, for readers of either."""
    for moment in FEW_MOMENTS.values():
        check(subject, moment)


@pytest.mark.parametrize("moment", HOSTILE_MOMENTS.values(), ids=HOSTILE_MOMENTS.keys())
def test_hostile_words_stay_words(moment: BindingMoment) -> None:
    """They add no header, no part, no link and no script."""
    message = received(moment)
    page = parsed(part(message, "html"))

    assert [each.get_content_type() for each in message.walk()] == ["multipart/alternative", "text/plain", "text/html"]
    assert sorted(message.keys()) == sorted(
        ["Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]
    )
    assert [each.attributes["href"] for each in page.all("a")] == [LINK]
    assert page.all("script") + page.all("img") + page.all("form") == []


@pytest.mark.parametrize("moment", HUGE_MOMENTS.values(), ids=HUGE_MOMENTS.keys())
def test_huge_decisions_arrive_whole(moment: BindingMoment) -> None:
    """In lines that mail allows."""
    sent = RENDERER.draw(moment).as_bytes(policy=policy.SMTP)

    assert max(map(len, sent.split(b"\r\n"))) <= 998
    surfaces.check_briefing(_Page(), moment)


def test_it_says_where_to_answer() -> None:
    """In both parts; it is marked as sent by a program, so that no autoresponder answers."""
    message = received(VALID_MOMENT)

    assert LINK in part(message, "plain").split("\n")
    assert "A reply to this mail is not read." in part(message, "plain")
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Subject"] == "Decision: Stem: what happens to the release?"


@pytest.mark.parametrize("reply", ["1", "a Yes.", {"choice": "option:0"}, None, b"1"], ids=repr)
def test_a_reply_is_no_consent(reply: Any) -> None:
    """Whatever it says."""
    with pytest.raises(BadResolution, match="does not answer a decision"):
        RENDERER.read(VALID_MOMENT, reply)


BAD = [
    "",
    "javascript:alert(1)",
    "/inbox",
    "https://",
    "https://x.example/\nBcc: all@x.example",
    "https://x.example/ a",
]


@pytest.mark.parametrize("link", BAD)
def test_a_link_is_an_address(link: str) -> None:
    """Of a page, on one line."""
    with pytest.raises(InputError):
        Email(link)
