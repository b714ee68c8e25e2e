"""An envelope, added to a tool's result: as a member of the structured content, and whole in the text as well.

Source: draft-morrison-binding-moment-envelope-00, sections 4, 7.1 and 8.3. The payload and the conventional text stay
as they are and stand first, so that a surface which knows nothing of envelopes shows what it always showed. Hosts
hand their model either the structured content or the text, so each of them has all of it.
"""

from __future__ import annotations

import json
import logging
import unicodedata
from typing import TypeAlias

from emitter.decide.wellformed import FIELD
from emitter.errors import EmitterError, InputError
from emitter.kinds import BindingMoment
from emitter.mcp import sdk
from emitter.moment import Emission, Withheld
from emitter.render import plain_text
from emitter.wire import mapping

_log = logging.getLogger("emitter.mcp")

Decided: TypeAlias = BindingMoment | Emission[BindingMoment] | Withheld | None
"""An envelope, or that there is none: the agent withheld it, or had nothing to ask."""


def moment_of(decided: Decided) -> BindingMoment | None:
    """Return the envelope, where there is one; raises ``InputError`` for what is no decision."""
    match decided:
        case BindingMoment():
            return decided
        case Emission(value=BindingMoment() as moment):
            return moment
        case Withheld() | None:
            return None
        case _:
            raise InputError(
                f"A decision was given as {type(decided).__name__}.",
                hint="Give a BindingMoment, what emit_binding_moment returned, or None.",
            )


def blocks(moment: BindingMoment) -> list[str]:
    """Return the texts of an envelope: one to read, and one that holds all of it as JSON, in the member's own form."""
    whole = json.dumps({FIELD: moment.to_json()}, ensure_ascii=False)
    return [plain_text.binding_moment(moment).strip("\n"), "".join(map(_harmless, whole))]


def _harmless(character: str) -> str:
    """Return a character of JSON so that it can be seen: controls, and what has no shape, as JSON escapes them."""
    return json.dumps(character)[1:-1] if unicodedata.category(character) in _UNSEEN else character


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def attached(to: sdk.Result, moment: BindingMoment | None, *, structured: bool = True) -> sdk.Result:
    """Return a tool's result with an envelope added to it; without one, or to an error, nothing is added.

    ``structured=False`` adds it to the text alone. Raises ``InputError`` for a payload that has such a member, or
    that is no object, and for an envelope that is malformed.
    """
    if moment is None or sdk.failed(to):
        return to
    texts = [sdk.text(each) for each in blocks(moment)]
    members = sdk.structured(to)
    return sdk.with_more(to, texts, {**_free(members), FIELD: moment.to_json()} if structured else members)


def undecided(to: sdk.Result, tool: str, error: Exception) -> sdk.Result:
    """Return the result of a tool that ran, with a text which says that the decision to go with it failed.

    The tool may have done something that cannot be done twice, so its result is never given up. Only errors of this
    library are quoted: the words of others may hold a secret.
    """
    _log.warning("The decision that goes with the result of %s failed.", tool, exc_info=error)
    why = Exception.__str__(error) if isinstance(error, EmitterError) else f"It raised {type(error).__name__}."
    note = f"No decision goes with this result, because making it failed: {why} The result itself stands."
    members = sdk.structured(to)
    if isinstance(members, dict):  # a member of that name that is no envelope stands in the text alone
        members = {name: each for name, each in mapping(members).items() if name != FIELD}
    return sdk.with_more(to, [sdk.text(note)], members)


def _free(members: object) -> dict[str, object]:
    """Return a payload that has room for the member."""
    if members is not None and not isinstance(members, dict):
        raise InputError(f"The tool's result is no object, so {FIELD} cannot be a member of it.")
    if FIELD in mapping(members):
        raise InputError(f"The tool's result has a member {FIELD} of its own.", hint="Give it another name.")
    return dict(mapping(members))
