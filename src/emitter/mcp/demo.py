"""The ready server's demonstration: a scripted scenario instead of a model, with no key and no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from emitter.moment import aemit_binding_moment
from emitter.scenarios import SITUATION, replay, scene

if TYPE_CHECKING:
    from emitter.mcp.server import Emit
    from emitter.moment.result import Decision

WIRE: Final = "openai-responses"
"""The wire that is played where none is named."""


def playing(scenario: str, wire: str | None = None) -> Emit:
    """Return what plays a scenario on a wire, whatever it is asked; raises ``InputError`` where there is none such."""
    played = scene(scenario, wire or WIRE)
    replay(played)

    async def emit(_situation: str, **_asked: Any) -> Decision:
        """Play the scenario's own situation: a replay answers nothing else."""
        client = played.client(replay(played), asynchronous=True)
        return await aemit_binding_moment(SITUATION, client=client, **played.arguments())

    return emit
