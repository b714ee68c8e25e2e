"""Log one line at the end of each emission, to the logger ``emitter`` at the level INFO. It has no content."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from emitter.client.result import Trace, emission_prices
from emitter.errors import describe_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.client.request import PreparedEmission
    from emitter.core.effects import Attempt, EmissionOutcome

_LOGGER = logging.getLogger("emitter")


def log_end(prepared: PreparedEmission, started_at: float, outcome: EmissionOutcome) -> None:
    """Log the end of an emission that started at this time."""
    attempts, failure = outcome.attempts, outcome.failure
    usage, cost = outcome.usage, Trace(attempts, (), emission_prices(prepared)).cost
    _LOGGER.info(
        "%s: %s after %d %s, %d input and %d output tokens, %s, %.2f s",
        _describe(attempts) or f"{prepared.profile.name}/{prepared.target.model}",
        "complete" if failure is None else f"{failure.verdict.value} ({failure.code})",
        len(attempts),
        "attempt" if len(attempts) == 1 else "attempts",
        usage.input,
        usage.output,
        "cost unknown" if cost is None else f"${cost:.6f}",
        prepared.settings.clock.monotonic() - started_at,
    )


def _describe(attempts: Sequence[Attempt]) -> str:
    """Return the model, or the models with how the earlier ones failed."""
    models = dict.fromkeys(attempt.model for attempt in attempts)
    return describe_models(attempts) if len(models) > 1 else "".join(models)
