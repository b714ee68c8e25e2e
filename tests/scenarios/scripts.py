"""Each scenario as the list of responses that a vendor gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.testing.scenarios import FIRST_BUDGET, TYPED_SCENARIO
from tests.scenarios.answers import (
    BOUND,
    DELIBERATION,
    PROSE_ONLY,
    REFUSAL_TEXT,
    TYPED,
    VIOLATED,
    cut,
    fenced,
    in_prose,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.scenarios.vendors import Response, Vendor

WHOLE_TOKENS = 620
"""What a whole answer costs in the scripts."""

SCRIPTS: dict[str, Callable[[Vendor], list[Response]]] = {
    "bound": lambda v: [v.whole(text(BOUND), WHOLE_TOKENS)],
    "deliberation": lambda v: [v.whole(text(DELIBERATION), 140)],
    "truncated-then-bound": lambda v: [v.cut(cut(BOUND, 0.6), FIRST_BUDGET), v.whole(text(BOUND), WHOLE_TOKENS)],
    "truncated-to-the-ceiling": lambda v: [
        v.cut(cut(BOUND, 0.4), FIRST_BUDGET),
        v.cut(cut(BOUND, 0.6), 2 * FIRST_BUDGET),
        v.cut(cut(BOUND, 0.8), 3000),
    ],
    "refused": lambda v: [v.refused(REFUSAL_TEXT)],
    "filtered": lambda v: [v.filtered()],
    "violated-then-bound": lambda v: [v.whole(text(VIOLATED), 480), v.whole(text(BOUND), WHOLE_TOKENS)],
    "fenced": lambda v: [v.whole(fenced(BOUND), WHOLE_TOKENS)],
    "prose": lambda v: [v.whole(in_prose(BOUND), WHOLE_TOKENS)],
    "malformed-to-the-end": lambda v: [v.whole(PROSE_ONLY, 40)] * 3,
    "overloaded-then-bound": lambda v: [v.overloaded(), v.whole(text(BOUND), WHOLE_TOKENS)],
    "thinking-ate-the-budget": lambda v: [v.thought(FIRST_BUDGET), v.whole(text(BOUND), WHOLE_TOKENS)],
    TYPED_SCENARIO: lambda v: [v.cut(cut(TYPED, 0.5), FIRST_BUDGET), v.whole(text(TYPED), 24)],
}
