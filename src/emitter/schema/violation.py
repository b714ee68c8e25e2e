"""What is wrong with an answer, said without a word of the answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: where, which, and what is expected there.

    ``pointer`` is a JSON pointer in which every name that the schema does not know stands as ``*``, ``rule``
    the schema keyword or the id of a content rule, ``expected`` one phrase written from the schema alone.
    """

    pointer: str
    rule: str
    expected: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.rule}: {self.expected}"
