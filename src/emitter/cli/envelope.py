"""Reading the decision that a command is about, in whichever of its wrappings it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.cli.source import read_text
from emitter.decide.canonical import Profile
from emitter.decide.strict import parse
from emitter.decide.wellformed import DRAFT, FIELD, REVISIONS
from emitter.errors import InputError, NotCanonical
from emitter.render.delivery import Fallback, delivery, of_tool_result
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.kinds import BindingMoment
    from emitter.render.delivery import Delivery
    from emitter.wire import Json

_PAYLOAD: Final = "payload"
_RESULT: Final = ("structuredContent", "content")
_MEANT: Final = "It holds a binding moment, a tool's result with one, or what `emitter moment --json` printed."


def read_moment(name: str) -> BindingMoment:
    """Return the envelope in the file ``name``, or on standard input for ``-``.

    It stands there by itself, as the ``binding_moment`` of a tool's result, or in the payload of an AIEnvelope. Raises
    ``InputError`` for what is no such thing, is JSON that two readers could understand differently, or is malformed.
    """
    place = _place(name)
    found = read_delivery(name)
    if not isinstance(found, Fallback):
        return found.moment
    if found.diagnostic is None:
        raise InputError(f"{place} puts no decision: the agent withheld it, or had none.", hint=_MEANT)
    raise InputError(f"{place}: {found.diagnostic}")


def read_delivery(name: str) -> Delivery:
    """Return what the file holds: an envelope, or what is shown instead; raises ``InputError`` for what is no JSON."""
    names = REVISIONS[DRAFT].names | {_PAYLOAD, *_RESULT}
    try:
        document = parse(read_text(name), Profile.WIRE, names)
    except NotCanonical as error:
        raise InputError(f"{_place(name)} cannot be read: {error}") from None
    return _delivered(document)


def _delivered(document: Json) -> Delivery:
    """Tell the wrappings apart by the members that each has; what has none of them is the envelope itself."""
    table = mapping(document)
    if FIELD in table:
        return delivery(table)
    if any(each in table for each in _RESULT):
        return of_tool_result(table)
    if _PAYLOAD in table:
        return delivery(table[_PAYLOAD])
    if table and not table.keys() & REVISIONS[DRAFT].names:
        return delivery(document)
    return delivery({FIELD: document})


def _place(name: str) -> str:
    return "standard input" if name == "-" else name
