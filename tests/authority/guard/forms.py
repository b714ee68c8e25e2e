"""What is guarded in many forms, and what the envelope of its last call reported."""

from __future__ import annotations

from typing import Any

from emitter.authority import Authority
from tests.authority.guard.parts import Person


class Office:
    """An authority, who is asked, and what the envelope reported."""

    def __init__(self) -> None:
        self.authority, self.person = Authority(), Person()

    def guard(self, tool: Any, **settings: Any) -> Any:
        """Guard a tool."""
        return self.authority.guard(tool, **{"ask": self.person, **settings})

    @property
    def reported(self) -> list[str]:
        """The lines that told the arguments of the last call."""
        others = ("Target:", "Risk:", "What it does:")
        return [each for each in self.person.asked[-1].moment.findings if not each.startswith(others)]


def plain(a: Any, b: Any = 2) -> Any:
    """Return both."""
    return [a, b]
