"""Run emissions through the vendors' batch interfaces: cheaper and slower, with the same verdicts and events."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emitter.bulk.batches import anthropic_batches, google_batches, openai_batches
from emitter.bulk.batches.emissions import Batch as Batch
from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.bulk.batches.vendor_api import BatchVendor
    from emitter.profiles import Profile

BATCH_VENDORS: Mapping[str, BatchVendor] = MappingProxyType(
    {"openai": openai_batches, "anthropic": anthropic_batches, "google": google_batches}
)
"""The vendors with a batch API, by the name of their profile."""


def get_batch_vendor(profile: Profile) -> BatchVendor:
    """Return the batch API of a profile. Raises ``InputError`` if it has none."""
    if profile.name not in BATCH_VENDORS or profile.batches is None:
        raise InputError(
            f"{profile.title} has no batch interface that emitter supports.",
            hint=f"Leave batch= out, or use a model of {', '.join(BATCH_VENDORS)}.",
        )
    return BATCH_VENDORS[profile.name]
