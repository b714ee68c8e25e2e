"""What the first call may write, of what the model, the caller and the schema say."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from emitter import tokens
from emitter.budget.first import Allowed, first_budget
from emitter.budget.measured import measured
from emitter.budget.window import Spending, Window, fitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.policy import Policy
    from emitter.profile import Profile, WireName
    from emitter.schema import Compiled
    from emitter.wire import Request


def spending(request: Request, compiled: Compiled, reached: tuple[Profile, WireName], policy: Policy) -> Spending:
    """Return the first budget of ``request``, whatever it has, and the ceiling to which it may be raised.

    Raises ``PromptTooLong`` where no answer can fit beside the prompt.
    """
    profile, wire = reached
    limits, minimum = profile.limits(request.model), profile.wires[wire].tokens.minimum
    ceiling = min(limits.max_output, policy.max_output_tokens or limits.max_output)
    thinking = profile.thinking(wire, request.model, request.options)
    cost = measured(compiled)
    budget = first_budget(cost.answer, thinking, Allowed(minimum, ceiling), asked=policy.output_tokens)
    wished = Spending(budget, ceiling, firm=policy.output_tokens is not None)
    if limits.elastic:
        return wished
    window = Window(
        model=f"{profile.name}/{request.model}",
        context=limits.context,
        typical=max(cost.answer.typical, minimum),
        exact=partial(_exact, profile.encoding(request.model)),
    )
    return fitted(wished, tokens.texts(request, cost.text), window)


def _exact(encoding: str | None) -> Callable[[str], int] | None:
    return tokens.counter(encoding) if tokens.at_hand(encoding) else None
