"""A briefing that a model writes: it says why the call should be made, or not; what the call is, we say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.errors import NotApproved
from emitter.kinds import Trust
from emitter.moment import Emission, aemit_binding_moment, emit_binding_moment
from emitter.prompt import Material

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from emitter.authority.guard.briefing import Asked
    from emitter.conversation import Situation
    from emitter.kinds import BindingMoment
    from emitter.moment import Withheld


def emitted(
    situation: Situation, *, model: str, materials: Iterable[Material | str] = (), **more: Any
) -> Callable[[Asked], BindingMoment]:
    """Return a brief that asks a model, by ``emit_binding_moment``, and takes whatever else that takes.

    Where the model withholds the decision, ``NotApproved`` is raised, and nobody is asked.
    """
    given = tuple(materials)

    def brief(asked: Asked) -> BindingMoment:
        return _bound(
            emit_binding_moment(
                situation, model=model, materials=(*given, _call(asked)), actions=_offered(asked), **more
            )
        )

    return brief


def aemitted(
    situation: Situation, *, model: str, materials: Iterable[Material | str] = (), **more: Any
) -> Callable[[Asked], Awaitable[BindingMoment]]:
    """Do as ``emitted`` does, for an async tool."""
    given = tuple(materials)

    async def brief(asked: Asked) -> BindingMoment:
        return _bound(
            await aemit_binding_moment(
                situation, model=model, materials=(*given, _call(asked)), actions=_offered(asked), **more
            )
        )

    return brief


def _offered(asked: Asked) -> dict[str, str]:
    return {asked.label: asked.request.digest}


def _call(asked: Asked) -> Material:
    """Return the call as a material: its arguments may be anybody's words."""
    display = asked.proposal.display
    text = "" if display is None else f"{display.summary}\n\n{display.detail or ''}"
    return Material(text, source=f"the proposed call of {asked.tool}", trust=Trust.UNTRUSTED)


def _bound(decision: Emission[BindingMoment] | Withheld) -> BindingMoment:
    if not isinstance(decision, Emission):
        raise NotApproved("The agent withheld the decision, so nobody was asked.", hint="See what it says is missing.")
    return decision.value
