"""Slack Block Kit: a message with a button beside each option, and a modal for each veto.

Source: draft-morrison-binding-moment-envelope-00, section 8; Slack's reference of Block Kit
(https://docs.slack.dev/reference/block-kit).

An app posts ``RENDERER.draw(moment)`` with ``chat.postMessage``. When a button is pressed, ``opened(moment, payload)``
tells whether it was a veto's, whose ``modal(moment, kind)`` goes to ``views.open``. Every other press, and the
modal's submission, is for ``RENDERER.read``.

``Slack(detail=True)`` draws one more button, which asks for detail and decides nothing: where ``wants_detail(moment,
payload)`` tells that it was pressed, ``detail_modal(moment)`` goes to ``views.open``, and ``detail_topic(moment,
payload)`` returns what its submission asks for.
"""

from emitter.errors import TooLong as TooLong
from emitter.render.slack.message import RENDERER as RENDERER
from emitter.render.slack.message import Slack as Slack
from emitter.render.slack.modal import detail_modal as detail_modal
from emitter.render.slack.modal import modal as modal
from emitter.render.slack.payload import detail_topic as detail_topic
from emitter.render.slack.payload import opened as opened
from emitter.render.slack.payload import wants_detail as wants_detail
