"""Slack: its limits, its markup, its modals, and what it sends back."""

from __future__ import annotations

import inspect
import json
from bisect import bisect_left
from typing import Any

import pytest
from slack_sdk import WebClient

from emitter.models import BindingMoment, Option
from emitter.render import slack
from emitter.render.slack import MAX_MESSAGE_COST, message_cost
from emitter.testing.sample_moments import HOSTILE_MOMENTS, ORDINARY_MOMENTS, VALID_MOMENT
from tests.render.json.formats import slack as faults
from tests.render.json.subject_slack import SlackSubject

SUBJECT = SlackSubject()


def found(value: Any, key: str) -> list[Any]:
    """Return every value of a member of this name, at any depth."""
    if isinstance(value, list):
        return [each for item in value for each in found(item, key)]
    if not isinstance(value, dict):
        return []
    own = [value[key]] if key in value else []
    return own + [each for item in value.values() for each in found(item, key)]


def asking(finding: str) -> BindingMoment:
    """Return an envelope with a first finding of its own."""
    return VALID_MOMENT.model_copy(update={"findings": (finding, *VALID_MOMENT.findings)})


def test_the_message_is_what_chat_post_message_takes() -> None:
    """The client of Slack's SDK knows every argument."""
    drawn = slack.RENDERER.draw(VALID_MOMENT)

    inspect.signature(WebClient.chat_postMessage).bind(None, channel="C1", **drawn)
    assert drawn["mrkdwn"] is drawn["unfurl_links"] is drawn["unfurl_media"] is False
    assert drawn["parse"] == "none"


@pytest.mark.parametrize("moment", [*HOSTILE_MOMENTS.values()], ids=[*HOSTILE_MOMENTS])
def test_no_text_is_markup(moment: BindingMoment) -> None:
    """Each is plain, without emoji codes, and without the characters that make mentions and links."""
    drawn = slack.RENDERER.draw(moment)
    kinds = {each["type"] for each in found(drawn["blocks"], "text") if isinstance(each, dict)}

    assert kinds == {"plain_text"}
    assert set(found(drawn["blocks"], "emoji")) == {False}
    for each in [drawn["text"], *(text for text in found(drawn["blocks"], "text") if isinstance(text, str))]:
        assert "<" not in each
        assert ">" not in each


def test_a_mention_is_text() -> None:
    """It is reported as it was written, and nobody is called."""
    drawn = slack.RENDERER.draw(asking("<!channel> R&D :smile: *b*"))
    reported = found(drawn["blocks"], "text")

    assert any("&lt;!channel&gt; R&amp;D :smile: *b*" in each for each in reported if isinstance(each, str))
    assert "&lt;!channel&gt; R&amp;D : smile: *b*" in drawn["text"]


def test_a_long_finding_goes_on_in_the_next_section() -> None:
    """Every word is there, in order, and no section has more than 3,000 characters."""
    words = [f"word{number}" for number in range(900)]
    drawn = slack.RENDERER.draw(asking(" ".join(words)))
    sections = [each["text"]["text"] for each in drawn["blocks"] if each["type"] == "section"]

    assert faults(drawn) == []
    assert max(map(len, sections)) <= 3000
    assert [each for text in sections for each in text.split() if each.startswith("word")] == words


def test_findings_stay_in_one_piece_where_they_can() -> None:
    """A finding that fits a section is not parted for the room that the one before left."""
    findings = ["one " * 600, "two " * 600, "three " * 300]
    drawn = slack.RENDERER.draw(VALID_MOMENT.model_copy(update={"findings": tuple(findings)}))
    sections = [each["text"]["text"] for each in drawn["blocks"] if each["type"] == "section"]

    assert [text for each in findings for text in sections if text == f"\N{BULLET} {each.strip()}"] == sections[:3]


def test_the_limit_of_a_message_is_exact() -> None:
    """The last character that fits is drawn, and one more is refused."""
    most = bisect_left(range(MAX_MESSAGE_COST), True, key=lambda size: not _fits(size)) - 1

    assert message_cost(slack.RENDERER.draw(asking(_sized(most)))["blocks"]) == MAX_MESSAGE_COST
    assert not _fits(most + 1)


def _sized(size: int) -> str:
    return ("ab " * size)[:size].rstrip().ljust(size, "z")


def _fits(size: int) -> bool:
    try:
        slack.RENDERER.draw(asking(_sized(size)))
    except slack.TooLong:
        return False
    return True


def test_empty_texts_are_told_to_be_empty() -> None:
    """Slack refuses a text without a character."""
    empty = Option(label="", reasoning="")
    question = VALID_MOMENT.question.model_copy(update={"stem": "", "options": (empty, empty), "recommended_idx": 0})
    slots = {"synopsis": "", "findings": (), "recommendations": (), "offer": "", "question": question}
    drawn = slack.RENDERER.draw(VALID_MOMENT.model_copy(update=slots))

    assert faults(drawn) == []
    assert found(drawn["blocks"], "text").count("(empty)") == 5


def test_the_recommended_button_is_primary_and_says_so() -> None:
    """The style is never alone, and no other button has it."""
    buttons = found(slack.RENDERER.draw(VALID_MOMENT)["blocks"], "accessory")

    assert [each.get("style") for each in buttons] == [None, "primary", None]
    assert [each["text"]["text"] for each in buttons] == ["Choose 1", "Choose 2 (recommended)", "Choose 3"]


def test_the_text_beside_the_blocks_tells_everything() -> None:
    """For a notification and a screen reader; where that is too long, that there is something to see."""
    everything = slack.RENDERER.draw(VALID_MOMENT)["text"]
    short = slack.RENDERER.draw(asking("many words " * 500))["text"]

    assert all(
        each in everything for each in (VALID_MOMENT.synopsis, *VALID_MOMENT.findings, VALID_MOMENT.question.stem)
    )
    assert len(short) < 100
    assert "many words" not in short


def test_no_entity_is_parted() -> None:
    """A section never ends within the escape of a character."""
    drawn = slack.RENDERER.draw(asking("&<> " * 600))

    assert faults(drawn) == []
    for each in found(drawn["blocks"], "text"):
        if isinstance(each, str):
            assert each.count("&") == each.count(";")


def test_every_button_has_an_action_id_of_its_own() -> None:
    """Slack takes none twice in a message's block, and apps route by them."""
    for moment in ORDINARY_MOMENTS.values():
        ids = found(slack.RENDERER.draw(moment)["blocks"], "action_id")

        assert len(ids) == len(set(ids))


def shown(document: Any) -> str:
    """Return all texts of blocks."""
    return "\n".join(each for each in found(document["blocks"], "text") if isinstance(each, str))


SQL = "sql: " + "SELECT 1; " * 4_000 + "DROP TABLE customers;"
FOLDING = slack.Slack(folds=True)


def test_a_message_without_room_has_a_button_that_shows_all() -> None:
    """It shows the beginning and the end, and the question says how many characters it does not show."""
    drawn = FOLDING.draw(asking(SQL))
    text = shown(drawn)

    assert faults(drawn) == []
    assert message_cost(drawn["blocks"]) <= MAX_MESSAGE_COST
    assert "DROP TABLE customers;" in text
    assert all(each in text for each in VALID_MOMENT.findings)
    assert 'characters that this rests on are not shown here. Press "Show all" below before you decide.)' in text
    button = drawn["blocks"][-1]["elements"][0]
    assert button["text"]["text"] == "Show all"
    assert slack.wants_whole(asking(SQL), {"actions": [button]})
    assert not slack.wants_whole(VALID_MOMENT, {"actions": [found(FOLDING.draw(VALID_MOMENT), "accessory")[0]]})


@pytest.mark.parametrize("size", [1, 100, 11_000])
def test_a_message_with_room_is_the_same(size: int) -> None:
    """Nothing is left out, and there is no button for it."""
    moment = asking("x " * (size // 2))
    if _fits(size):
        assert FOLDING.draw(moment) == slack.RENDERER.draw(moment)


def test_what_is_no_finding_is_never_left_out() -> None:
    """Options that do not fit are an error."""
    options = [each.model_copy(update={"reasoning": "why " * 2_000}) for each in VALID_MOMENT.question.options]
    question = VALID_MOMENT.question.model_copy(update={"options": tuple(options)})
    with pytest.raises(slack.TooLong):
        FOLDING.draw(VALID_MOMENT.model_copy(update={"question": question}))


def test_the_modal_has_the_whole_text() -> None:
    """As many characters as a modal holds; a longer one says how many it does not show, and where they are."""
    modal = slack.whole_modal(asking(SQL))
    assert " ".join(shown(modal).split()).count("SELECT 1;") == 4_000
    assert "not shown" not in shown(modal)

    larger = slack.whole_modal(asking(SQL * 25))
    assert len(larger["blocks"]) <= 100
    assert len(json.dumps(larger)) < 250_000
    assert "characters that this rests on are not shown here. Read them on the decision's page" in shown(larger)
