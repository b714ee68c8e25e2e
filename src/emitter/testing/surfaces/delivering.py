"""What a surface makes of a tool's result: a decision that is well-formed, or the tool's own payload.

Source: draft-morrison-binding-moment-envelope-00, sections 4, 7.1, 8.3 and 11.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.decide import Selected, digest
from emitter.render.delivery import Fallback
from emitter.render.layout import layout
from emitter.testing.surfaces.require import Broken, require, returns, shows

if TYPE_CHECKING:
    from emitter.kinds import BindingMoment
    from emitter.testing.surfaces.subject import Subject
    from emitter.wire import Json


def well_formed(subject: Subject[Any], result: Json, moment: BindingMoment) -> None:
    """§7.1: the envelope is found in a tool's result, beside the tool's own payload, and answered."""
    drawn = subject.deliver(result)
    require(not isinstance(drawn, Fallback), "a well-formed envelope was not drawn")
    shows(subject.text(drawn), "the synopsis", [layout(moment).synopsis])
    returns(subject, moment, subject.select(drawn, 0), Selected(digest(moment), 0))


def malformed(subject: Subject[Any], result: Json, payload: Json) -> None:
    """§8.3: a malformed envelope is discarded with a diagnostic, and the tool's own payload is shown; no part of it."""
    found = _fallback(subject, result, payload)
    require(bool(found.diagnostic), "a diagnostic must say that an envelope was discarded")
    require("Synopsis:" not in str(found.diagnostic), "the diagnostic quotes the envelope")


def without(subject: Subject[Any], result: Json, payload: Json) -> None:
    """§8.3: a result without an envelope is the tool's own payload, and nothing is wrong with it."""
    found = _fallback(subject, result, payload)
    require(found.diagnostic is None, "no envelope was there to discard")


def _fallback(subject: Subject[Any], result: Json, payload: Json) -> Fallback:
    found = subject.deliver(result)
    if not isinstance(found, Fallback):
        raise Broken("it was drawn as a decision")
    require(found.payload == payload, f"the payload must be whole: {found.payload!r} is not {payload!r}")
    return found
