"""Surfaces that make of a tool's result what it is not."""
# ruff: noqa: D102  the methods are those of the honest one

from __future__ import annotations

from dataclasses import replace
from typing import Any

from emitter.models import BindingMoment
from emitter.render.delivery import PlainResult
from emitter.testing.sample_moments import VALID_MOMENT
from tests.testing.surfaces.honest import Honest, Sheet


class DrawsNoDecision(Honest):
    """Always falls back."""

    def deliver(self, result: Any) -> Sheet | PlainResult:
        own = (
            {key: value for key, value in result.items() if key != "binding_moment"} if isinstance(result, dict) else {}
        )
        return PlainResult(own or result)


class RepairsTheMalformed(Honest):
    """Fills in what is missing."""

    def deliver(self, result: Any) -> Sheet | PlainResult:
        found = super().deliver(result)
        if (
            not isinstance(found, PlainResult)
            or found.diagnostic is None
            or not isinstance(result["binding_moment"], dict)
        ):
            return found
        return self.draw(BindingMoment.model_validate({**VALID_MOMENT.to_json(), "synopsis": "Repaired."}))


class DiscardsInSilence(Honest):
    """Gives no diagnostic."""

    def deliver(self, result: Any) -> Sheet | PlainResult:
        found = super().deliver(result)
        return replace(found, diagnostic=None) if isinstance(found, PlainResult) else found


class QuotesTheMalformed(Honest):
    """Shows what it discards."""

    def deliver(self, result: Any) -> Sheet | PlainResult:
        found = super().deliver(result)
        if isinstance(found, PlainResult) and found.diagnostic:
            return replace(found, diagnostic=f"{found.diagnostic} {result['binding_moment']}")
        return found


class LosesThePayload(Honest):
    """Falls back to nothing."""

    def deliver(self, result: Any) -> Sheet | PlainResult:
        found = super().deliver(result)
        return replace(found, payload={}) if isinstance(found, PlainResult) and found.diagnostic else found


class ComplainsOfNothing(Honest):
    """Tells of a discarded envelope where there was none."""

    def deliver(self, result: Any) -> Sheet | PlainResult:
        found = super().deliver(result)
        return replace(found, diagnostic=found.diagnostic or "?") if isinstance(found, PlainResult) else found
