"""Decisions in Slack: posted as messages, answered by the buttons and modals of a Bolt app.

Bolt verifies Slack's signature of every request before it reaches this module. Messages name their decision, so any
process that serves the app can record any answer. All state is in the ledger.

Source: https://docs.slack.dev/tools/bolt-python and https://docs.slack.dev/reference/interaction-payloads, read
2026-11-23 through slack-bolt 1.30.0.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from emitter.answers import Admitted, AnswerRecorder, Reply
from emitter.arguments import is_async
from emitter.authority import Authority
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, pending_of
from emitter.errors import BadResolution, InputError, ResolutionError
from emitter.messages import as_list, as_mapping
from emitter.render.outcomes import format_state
from emitter.render.slack import (
    ACTION_PREFIX,
    WORDS_ID,
    Slack,
    build_sections,
    escape_text,
    find_words_problem,
    get_pressed_veto,
    get_submitted_words,
    veto_modal,
    wants_whole,
    whole_modal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slack_bolt import App

    from emitter.decisions.ledger import Ledger
    from emitter.decisions.principals import MayFunction, Principal
    from emitter.messages import Json
    from emitter.render.layout import HatchKind

_log = logging.getLogger("emitter.slack")
_RENDERER: Final = Slack(folds=True)
CHANNEL: Final = "slack"
"""The channel that the ledger records."""
_BLOCK_PREFIX: Final = "emitter.decision."
"""The prefix of the ids of blocks with buttons. The decision's reference and a number follow."""
_BLOCK_ID: Final = re.compile(rf"{re.escape(_BLOCK_PREFIX)}([0-9a-f]{{64}})\.[0-9]+")
_BUTTONS: Final = re.compile(rf"^{re.escape(ACTION_PREFIX)}")
AuthenticateSlackUser: TypeAlias = "Callable[[Mapping[str, Json]], Principal | None]"
"""Returns the principal of the ``user`` object in Slack's payload, which has an ``id`` and a ``team_id``, or None."""


@dataclass(frozen=True, slots=True)
class SlackMessage:
    """The message that a decision was posted in."""

    decision_id: str
    channel: str
    ts: str


class SlackApprovals:
    """Posts decisions to Slack, and records the answers of people whom you know.

    Args:
        app: The Bolt app, with its signing secret and its token. Listeners for the buttons are added to it.
        ledger: The ledger of the agents.
        authenticate: Returns the ``Principal`` of a Slack user, or None for one who may not answer anything.
        may: Returns True if a principal may ``"answer"`` a decision. The channel decides who may see it.
    """

    def __init__(
        self, app: App, ledger: Ledger, *, authenticate: AuthenticateSlackUser, may: MayFunction | None = None
    ) -> None:
        if not callable(authenticate) or not (may is None or callable(may)):
            raise InputError("authenticate= and may= must be functions.")
        if is_async(authenticate) or is_async(may):
            raise InputError("authenticate= and may= must not be async, because they are not awaited.")
        self._client: Any = app.client
        self._ledger = ledger
        self._authority = Authority(ledger.store, ledger=ledger)
        self._authenticate = authenticate
        self._answers = AnswerRecorder(ledger, CHANNEL, may)
        bolt: Any = app  # whose annotations are incomplete
        bolt.action(_BUTTONS)(self._on_button_click)
        bolt.view(_BUTTONS)(self._on_submission)

    def post(self, decision_id: str, channel: str) -> SlackMessage:
        """Post an open decision to a channel, and return its message.

        Raises:
            TooLong: The envelope does not fit into one message.
            ResolutionError: The decision is unknown or closed.
        """
        decision = self._ledger.find(decision_id)
        if isinstance(decision, ResolvedDecision) or decision.expiry_recorded:
            raise BadResolution("The decision is closed.", hint="Post open decisions.")
        response = self._client.chat_postMessage(channel=channel, **self._draw(decision))
        return SlackMessage(decision_id, str(response["channel"]), str(response["ts"]))

    def update(self, message: SlackMessage) -> None:
        """Show the decision's current state in its message, for example after an answer in the inbox."""
        decision = self._ledger.find(message.decision_id)
        self._client.chat_update(channel=message.channel, ts=message.ts, **self._draw(decision))

    def _draw(self, decision: PendingDecision | ResolvedDecision) -> dict[str, Any]:
        """Return a message: with buttons while the decision is open, and with its state once it has changed."""
        pending = pending_of(decision)
        is_open = isinstance(decision, PendingDecision) and not decision.expiry_recorded
        drawn = _RENDERER.draw(pending.moment)
        blocks = [
            _name_block(block, f"{_BLOCK_PREFIX}{pending.reference}.{number}") if is_open else _without_buttons(block)
            for number, block in enumerate(drawn["blocks"])
        ]
        state = format_state(decision, self._ledger.first_approvals(pending.decision_id) if is_open else ())
        if isinstance(decision, ResolvedDecision) and decision.action is not None:
            state = f"{state} {self._authority.find_state(decision).deed}"
        status = build_sections(state) if pending.four_eyes or not is_open else []
        text = drawn["text"] if is_open else escape_text(state)
        return {**drawn, "text": text, "blocks": [*(block for block in blocks if block is not None), *status]}

    def _on_button_click(self, ack: Callable[..., Any], body: dict[str, Any], client: Any) -> None:
        """Record the option of a button, or open a modal: that of a veto, or the one with the whole text."""
        # Slack shows an error unless a press is acknowledged within three seconds, so before the store is used.
        ack()
        message, reference = as_mapping(body.get("container")), _find_reference(body)
        press = _Press(client, body, reference, {"channel": message.get("channel_id"), "ts": message.get("message_ts")})
        admitted = self._admit(press)
        if isinstance(admitted, Admitted):
            pending = admitted.pending
            try:
                is_whole = wants_whole(pending.moment, body)
                veto = get_pressed_veto(pending.moment, body)
            except ResolutionError as error:
                self._reply(press, self._answers.explain(error, pending, admitted.principal))
                return
            if is_whole or veto is not None:
                self._open_modal(press, pending, veto)
                return
        self._record(press, admitted)

    def _on_submission(self, ack: Callable[..., Any], body: dict[str, Any], client: Any) -> None:
        """Record the words of a veto, or show at the field why they are invalid."""
        problem = find_words_problem(body)
        if problem is not None:
            ack(response_action="errors", errors={WORDS_ID: problem})
            return
        # The modal closes: its words are checked, and the store may take longer than Slack waits.
        ack()
        carried = as_mapping(_load_json(as_mapping(body.get("view")).get("private_metadata")))
        press = _Press(client, body, str(carried.get("decision")), carried)
        self._record(press, self._admit(press))

    def _admit(self, press: _Press) -> Admitted | Reply:
        return self._answers.admit(
            lambda: self._ledger.find_by_reference(press.reference), lambda: self._authenticate(press.user)
        )

    def _record(self, press: _Press, admitted: Admitted | Reply) -> None:
        if isinstance(admitted, Admitted):
            pending = admitted.pending
            read = partial(_RENDERER.read, pending.moment, press.body)
            admitted = self._answers.record(pending, admitted.principal, read)
        self._reply(press, admitted)

    def _open_modal(self, press: _Press, pending: PendingDecision, veto: HatchKind | None) -> None:
        """Open the modal of a veto, or without one that of the whole text."""
        try:
            modal = whole_modal(pending.moment) if veto is None else veto_modal(pending.moment, veto)
            carried = {**json.loads(modal.get("private_metadata", "{}")), **press.place, "decision": pending.reference}
            view = {**modal, "private_metadata": json.dumps(carried)}
            press.client.views_open(trigger_id=press.body["trigger_id"], view=view)
        except Exception:  # noqa: BLE001  the person waits for a form, so whatever it is, they read that it does not come
            _log.warning("A form could not be opened in Slack.", exc_info=True)
            press.notify(
                "Slack did not open the form or the whole text, and nothing was recorded. Press the button again."
            )

    def _reply(self, press: _Press, reply: Reply) -> None:
        """Show the state of the decision in its message, and tell the person what the message does not show."""
        is_shown = reply.decision is None or self._update(press, reply.decision)
        texts = [] if reply.is_new and is_shown else [reply.text]
        words = get_submitted_words(press.body)
        if not reply.counts and words:
            texts.append(f"You wrote: {words}")
        if not is_shown:
            texts.append("The message of the decision could not be updated, so it does not show its current state.")
        if texts:
            press.notify("\n".join(texts))

    def _update(self, press: _Press, decision: PendingDecision | ResolvedDecision) -> bool:
        """Draw the message that somebody used again. Return False if that fails."""
        try:
            press.client.chat_update(channel=press.place["channel"], ts=press.place["ts"], **self._draw(decision))
        except Exception:  # noqa: BLE001  the answer counts whatever happens to its message
            _log.warning("The message of a decision could not be updated in Slack.", exc_info=True)
            return False
        return True


@dataclass(frozen=True, slots=True)
class _Press:
    """A button or modal that a person used, with the channel and time stamp of its message."""

    client: Any
    body: Mapping[str, Json]
    reference: str
    place: Mapping[str, Json]

    @property
    def user(self) -> Mapping[str, Json]:
        """Slack's ``user`` object."""
        return as_mapping(self.body.get("user"))

    def notify(self, text: str) -> None:
        """Show a text to the person, and to nobody else: in the channel, or else in a direct message."""
        user = str(self.user.get("id"))
        # The text may have an option's label in it, which must not become a link or mention people.
        quiet = {
            "text": escape_text(text),
            "blocks": build_sections(*text.split("\n")),
            "parse": "none",
            "link_names": False,
        }
        try:
            self.client.chat_postEphemeral(channel=str(self.place.get("channel")), user=user, **quiet)
        except Exception:  # noqa: BLE001  such as a channel that the app has left
            try:
                self.client.chat_postMessage(
                    channel=user, mrkdwn=False, unfurl_links=False, unfurl_media=False, **quiet
                )
            except Exception:  # noqa: BLE001  there is no other way to the person
                _log.exception("A person could not be told in Slack what became of their answer.")


def _find_reference(body: Mapping[str, Json]) -> str:
    """Return the reference of the decision whose button was pressed, or an empty string, which no decision has."""
    blocks = [as_mapping(action).get("block_id") for action in as_list(body.get("actions"))]
    match = _BLOCK_ID.fullmatch(str(blocks[0])) if len(blocks) == 1 else None
    return "" if match is None else match[1]


def _name_block(block: Json, block_id: str) -> Json:
    """Return a block, with an id if it has buttons."""
    has_buttons = "accessory" in block or block["type"] == "actions"
    return {**block, "block_id": block_id} if has_buttons else block


def _without_buttons(block: Json) -> Json | None:
    """Return a block without its button, or None if it has nothing else."""
    return None if block["type"] == "actions" else {name: block[name] for name in block if name != "accessory"}


def _load_json(text: Json) -> Json:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
