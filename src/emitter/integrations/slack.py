"""Decisions in Slack: posted as messages, answered by the buttons and modals of a Bolt app.

Bolt verifies Slack's signature of every request before it reaches this module. Messages name their decision, so any
process that serves the app can record any answer. All state is in the ledger.

Source: https://docs.slack.dev/tools/bolt-python and https://docs.slack.dev/reference/interaction-payloads, read
2026-11-23 through slack-bolt 1.30.0.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, pending_of
from emitter.decisions.principals import Principal, is_allowed, record_answer
from emitter.errors import (
    BadResolution,
    BadToken,
    HatchClosed,
    InputError,
    ResolutionError,
    UnsignedAnswer,
)
from emitter.messages import as_list, as_mapping
from emitter.render.outcomes import format_state
from emitter.render.slack import (
    ACTION_PREFIX,
    RENDERER,
    WORDS_ID,
    build_sections,
    escape_text,
    get_pressed_veto,
    veto_modal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slack_bolt import App

    from emitter.decisions.ledger import Ledger
    from emitter.decisions.principals import MayFunction
    from emitter.messages import Json

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
        self._client: Any = app.client
        self._ledger = ledger
        self._authenticate = authenticate
        self._may = may
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
        drawn = RENDERER.draw(pending.moment)
        blocks = [
            _name_block(block, f"{_BLOCK_PREFIX}{pending.reference}.{number}") if is_open else _without_buttons(block)
            for number, block in enumerate(drawn["blocks"])
        ]
        state = format_state(decision, self._ledger.first_approvals(pending.decision_id) if is_open else ())
        status = build_sections(state) if pending.four_eyes or not is_open else []
        text = drawn["text"] if is_open else escape_text(state)
        return {**drawn, "text": text, "blocks": [*(block for block in blocks if block is not None), *status]}

    def _on_button_click(self, ack: Callable[..., Any], body: dict[str, Any], client: Any) -> None:
        """Record the option of a button, or open the modal of a veto."""
        # Slack shows an error unless a press is acknowledged within three seconds, so before the store is used.
        ack()
        message = as_mapping(body.get("container"))
        place = {"channel": message.get("channel_id"), "ts": message.get("message_ts")}
        try:
            pending = self._find_open(_read_reference(body))
            principal = self._require_principal(body, pending)
            veto = get_pressed_veto(pending.moment, body)
            if veto is not None:
                modal = veto_modal(pending.moment, veto)
                carried = {**json.loads(modal["private_metadata"]), **place, "decision": pending.reference}
                client.views_open(
                    trigger_id=body["trigger_id"], view={**modal, "private_metadata": json.dumps(carried)}
                )
                return
            record_answer(self._ledger, principal, pending, RENDERER.read(pending.moment, body), CHANNEL)
        except (ResolutionError, UnsignedAnswer) as error:
            _notify_user(client, body, place, str(error))
        self._update(client, _find_reference(body), place)

    def _on_submission(self, ack: Callable[..., Any], body: dict[str, Any], client: Any) -> None:
        """Record the words of a veto, or show at the field why they are invalid."""
        carried = as_mapping(_load_json(as_mapping(body.get("view")).get("private_metadata")))
        reference = carried.get("decision")
        try:
            pending = self._find_open(str(reference))
            principal = self._require_principal(body, pending)
            record_answer(self._ledger, principal, pending, RENDERER.read(pending.moment, body), CHANNEL)
        except (BadResolution, HatchClosed) as error:
            ack(response_action="errors", errors={WORDS_ID: str(error)})
            return
        except (ResolutionError, UnsignedAnswer) as error:
            ack()
            _notify_user(client, body, carried, str(error))
        else:
            ack()
        self._update(client, str(reference), carried)

    def _find_open(self, reference: str) -> PendingDecision:
        decision = self._ledger.find_by_reference(reference)
        if isinstance(decision, ResolvedDecision) or decision.expiry_recorded:
            raise BadToken("This decision is closed already.")
        return decision

    def _require_principal(self, body: Mapping[str, Json], pending: PendingDecision) -> Principal:
        """Return the principal who acts. Raises ``BadToken`` if they may not answer."""
        principal = self._authenticate(as_mapping(body.get("user")))
        if not isinstance(principal, Principal) or not is_allowed(self._may, principal, pending, "answer"):
            raise BadToken("You may not answer this decision.")
        return principal

    def _update(self, client: Any, reference: str, place: Mapping[str, Json]) -> None:
        """Show the state of a decision in the message that somebody used."""
        try:
            decision = self._ledger.find_by_reference(reference)
        except (ResolutionError, UnsignedAnswer):
            return
        client.chat_update(channel=place["channel"], ts=place["ts"], **self._draw(decision))


def _read_reference(body: Mapping[str, Json]) -> str:
    """Return the reference of the decision whose button was pressed, or raise ``BadResolution``."""
    reference = _find_reference(body)
    if not reference:
        raise BadResolution("The button belongs to no decision of this app.")
    return reference


def _find_reference(body: Mapping[str, Json]) -> str:
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


def _notify_user(client: Any, body: Mapping[str, Json], place: Mapping[str, Json], text: str) -> None:
    """Show a message to the person who pressed the button, and to nobody else."""
    user = str(as_mapping(body.get("user")).get("id"))
    client.chat_postEphemeral(channel=str(place.get("channel")), user=user, text=text)


def _load_json(text: Json) -> Json:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
