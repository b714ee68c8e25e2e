"""A binding moment, as something to ask for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import ValidationError

from emitter import prompt
from emitter.door.form import Enclosing, Wanted
from emitter.kinds import BINDING_MOMENT, BindingMoment, turn
from emitter.moment.acting import fixed, unkept
from emitter.moment.after import heard
from emitter.moment.held import held
from emitter.schema import Violation
from emitter.schema.compile import Constant
from emitter.schema.findings import Reading
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.judge import Contract
    from emitter.kinds import AIEnvelope
    from emitter.moment.acting import Actions
    from emitter.moment.terms import Terms
    from emitter.prompt import Prompts
    from emitter.wire import Json


def wanted(terms: Terms) -> Wanted:
    """Return what to ask for."""

    def read(document: Json) -> Reading[turn.Outcome]:
        if not turn.recommended_in_range(document):
            return Reading(violations=(_NO_SUCH_OPTION,))
        chosen = turn.read(document, terms.hatches, terms.decision_class)
        return held(chosen, terms) if isinstance(chosen, BindingMoment) else Reading(chosen)

    def shown(prompts: Prompts) -> tuple[str, ...]:
        return (*heard(prompts, terms.after), *fixed(prompts, terms.actions))

    return Wanted(
        kind=BINDING_MOMENT,
        node="emit_binding_moment",
        name=turn.NAME,
        schema=_SCHEMA,
        words=prompt.ask,
        read=read,
        enclosing=Enclosing(_enclose, partial(_disclose, terms.actions)),
        tidy=turn.with_reasoning,
        heard=shown,
        terms=terms.told,
    )


_SCHEMA = Constant(turn.SCHEMA)
_NO_SUCH_OPTION = Violation(
    "/turn/question/recommended_idx", "range", "the position of an option that exists, counted from 0"
)


def _enclose(chosen: turn.Outcome, document: Json) -> tuple[str, Json]:
    return turn.kind_of(chosen), turn.payload(chosen, document["reasoning"])


def _disclose(actions: Actions, _: Contract, envelope: AIEnvelope) -> tuple[turn.Outcome, Json] | None:
    """Return the choice as it was recorded, with the hatches that it had then, if it offers today's actions."""
    try:
        chosen = turn.recorded(envelope.type, envelope.payload)
    except ValidationError:
        return None
    if isinstance(chosen, BindingMoment) and any(True for _ in unkept(actions, chosen)):
        return None
    return chosen, turn.document(chosen, mapping(envelope.payload).get("reasoning", ""))
