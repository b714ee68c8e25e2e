"""What a ready server asks instead of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emitter.client.result import Decision

EMIT = "emit_binding_moment"
DETAIL = "answer_detail"
SITUATION = {"situation": "Shall we go on?"}


def raising(error: BaseException) -> Any:
    """Return what raises, whatever is asked."""

    async def emit(_situation: str, **_asked: Any) -> Decision:
        raise error

    return emit
