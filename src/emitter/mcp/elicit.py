"""Putting a decision to the principal through the client: a form, or an address to open.

Two eras of the protocol carry the same request. Through 2025-11-25 the server asks while the tool waits
(``elicitation/create``). From 2026-07-28 on there is no way back to the client during a call: the tool returns the
request as its result, and the client calls the tool again with what was answered. A tool that asks hands back
``Suspended.result`` then, and finds its answer when it is called again.

Source: MCP 2025-11-25 and 2026-07-28, "Elicitation"; mcp 2.3.0 and 1.30.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from emitter.errors import BadResolution
from emitter.mcp import sdk
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.wire import Json

STATELESS: Final = "2026-07-28"
"""The first revision in which a request to the client is a result of the call."""


@dataclass(frozen=True, slots=True)
class Modes:
    """What the client says that its user can be asked by."""

    form: bool
    url: bool


@dataclass(frozen=True, slots=True)
class Suspended:
    """The client is asked, and will call the tool again: return ``result`` from the tool."""

    result: Any


@dataclass(frozen=True, slots=True)
class Dropped:
    """The client said that it can ask, and did not."""


Reply: TypeAlias = "Mapping[str, Json] | Suspended | Dropped"


def modes(context: Any) -> Modes:
    """Return what the client of a call can ask its user by; a bare ``elicitation`` means forms.

    None where there is no way back to it, as in the older era over HTTP without sessions.
    """
    capabilities = sdk.client_capabilities(context)
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None or not (stateless(context) or sdk.can_send(context)):
        return Modes(form=False, url=False)
    form, url = elicitation.form is not None, elicitation.url is not None
    return Modes(form=form or not url, url=url)


def stateless(context: Any) -> bool:
    """Tell whether a call's era has no way back to the client but the call's own result."""
    return sdk.protocol_version(context) >= STATELESS


async def ask(context: Any, key: str, params: Callable[[], Mapping[str, Json]], *, state: str | None = None) -> Reply:
    """Put a request to the client's user, and return the ``ElicitResult`` as JSON.

    ``key`` names the request, so that no answer is taken for another's; ``params`` returns those of
    ``elicitation/create`` where they are needed. ``state`` comes back with the answer in the stateless era, sealed by
    the SDK: see ``state_of``. Raises ``BadResolution`` for an answer of another kind.
    """
    if not stateless(context):
        answer = await sdk.elicited(context, params())
        return Dropped() if answer is None else _said(answer)
    answers: Mapping[str, Any] = context.input_responses or {}
    answer = answers.get(key)
    return Suspended(sdk.input_required(key, params(), state)) if answer is None else _said(answer)


def state_of(context: Any) -> str | None:
    """Return the state that came back with an answer; None at the first call, and where the era has none."""
    return cast("str | None", getattr(context, "request_state", None))


def _said(answer: Any) -> Mapping[str, Json]:
    told = mapping(answer.model_dump(mode="json", by_alias=True, exclude_none=True))
    if "action" not in told:
        raise BadResolution("The client answered another question than the one that was put to it.")
    return told
