"""What the draft asks for, and the sentences of the draft in which it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.traced.form import Obligation


@dataclass(frozen=True, slots=True)
class Passage:
    """One obligation, and the fingerprints of its sentences; none where the draft binds without a keyword."""

    obligation: Obligation
    sentences: tuple[str, ...] = ()


def contract(*names: str) -> tuple[str, ...]:
    """Return checks of the contract that every surface is held to; each of ours runs it."""
    return tuple(f"src/emitter/testing/surfaces/contract.py::{each}" for each in names)
