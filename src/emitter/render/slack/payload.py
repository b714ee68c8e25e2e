"""What Slack sends back: a press of a button, or a modal with the words of a veto.

Source: https://docs.slack.dev/reference/interaction-payloads. That a payload is Slack's own is for the app to check
by its signature.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from emitter.errors import BadResolution
from emitter.render.layout import HatchKind
from emitter.render.reply import DETAIL, FIELDS, TOPIC, Outcome, answered, asked_for, for_this
from emitter.render.slack.blocks import PREFIX
from emitter.render.slack.modal import WORDS
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.wire import Json


def read(moment: BindingMoment, payload: Json) -> Resolution:
    """Return what a payload says; raises as ``answered``."""
    given = mapping(payload)
    match given.get("type"):
        case "block_actions":
            if opened(moment, given) is not None:
                raise BadResolution(
                    "A veto's button says nothing yet.", hint="Open its modal, and read its submission."
                )
            return answered(moment, _pressed(given))
        case "view_submission":
            return _submitted(moment, mapping(given.get("view")))
        case _:
            raise BadResolution("A decision is answered by a block_actions or a view_submission payload.")


def opened(moment: BindingMoment, payload: Json) -> HatchKind | None:
    """Return the veto whose button was pressed, None for an option's.

    Raises ``WrongDigest``, and ``BadResolution`` for what is no press of a button of ours.
    """
    said = _pressed(mapping(payload))
    for_this(moment, said.get("digest"))
    outcome: object = said.get("outcome")
    return HatchKind(outcome) if isinstance(outcome, str) and outcome in FIELDS else None


def wants_detail(moment: BindingMoment, payload: Json) -> bool:
    """Tell whether the button that asks for detail was pressed: then ``detail_modal`` goes to ``views.open``.

    Raises as ``opened`` does.
    """
    said = _pressed(mapping(payload))
    for_this(moment, said.get("digest"))
    return said.get("outcome") == DETAIL


def detail_topic(moment: BindingMoment, payload: Json) -> str | None:
    """Return the topic that a submitted modal asks for detail on, empty for all of it; None for any other payload.

    Give it to ``Ledger.ask_detail``. Raises ``WrongDigest``, and ``BadResolution`` for a topic that is no text.
    """
    given = mapping(payload)
    view = mapping(given.get("view"))
    if given.get("type") != "view_submission":
        return None
    values = mapping(mapping(view.get("state")).get("values"))
    field = mapping(mapping(values.get(WORDS)).get(WORDS))
    return asked_for(moment, {**_carried(view.get("private_metadata")), TOPIC: field.get("value")})


def _pressed(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what the one pressed button of ours carries."""
    pressed = [mapping(each) for each in sequence(payload.get("actions"))]
    ours = [each for each in pressed if str(each.get("action_id")).startswith(PREFIX)]
    if len(ours) != 1:
        raise BadResolution("The payload is not of one press of a button of the decision.")
    return _carried(ours[0].get("value"))


def _submitted(moment: BindingMoment, view: Mapping[str, Json]) -> Resolution:
    said = _carried(view.get("private_metadata"))
    outcome: object = said.get("outcome")
    if not isinstance(outcome, str) or outcome not in FIELDS:
        raise BadResolution("The modal is not one of the decision's.")
    values = mapping(mapping(view.get("state")).get("values"))
    field = mapping(mapping(values.get(WORDS)).get(WORDS))
    return answered(moment, {**said, FIELDS[Outcome(outcome)]: field.get("value")})


def _carried(text: Json) -> Mapping[str, Json]:
    """Return the members that a button or a modal carries as text; none where it carries something else."""
    try:
        return mapping(cast("object", json.loads(text)))
    except (TypeError, ValueError, RecursionError):
        return {}
