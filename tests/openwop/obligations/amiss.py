"""What is known to be wrong: tests that are expected to fail, under the obligation or invariant they would hold.

Whoever mends it takes it out here, and may name the test under the obligation.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

AMISS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
"""Best when empty."""
