"""A survey of a schema: each distinct part is looked at once, and told at every place where it stands.

Parts may be nested as deeply and shared as often as they like: looking is linear, and a report is bounded.
What is looked for is no business of this module.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emitter.wire import Json

MAX_REPORT = 4_000_000
"""Characters of pointers in one report; what lies beyond is cut off, and said to be."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A broken rule; until it is reported, ``pointer`` starts at the part that is looked at."""

    pointer: str
    rule: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The way from one part to the next; ``counts`` where the survey's count goes up by it."""

    pointer: str
    value: Json
    depth: int = 0
    counts: bool = False

    @property
    def key(self) -> Key:
        """What makes a part distinct: the value itself, and how deep it stands."""
        return id(self.value), self.depth


Key: TypeAlias = tuple[int, int]
Parts: TypeAlias = "dict[Key, list[Breach | Step]]"


class Survey:
    """All parts of a schema, each looked at once, the shallow before the deep.

    ``look`` yields the breaches of a part and the steps to further ones, in the order of the report.
    """

    def __init__(self, schema: Json, look: Callable[[Step], Iterable[Breach | Step]]) -> None:
        self._start = Step("#", schema)
        self._parts: Parts = {}
        pending = deque([self._start])
        while pending:
            step = pending.popleft()
            if step.key not in self._parts:
                self._parts[step.key] = list(look(step))
                pending.extend(each for each in self._parts[step.key] if isinstance(each, Step))

    def count(self) -> int:
        """Count the steps that count, those of a shared part as often as it is reached.

        Every step must lead one deeper: then a part stands after all that lead to it.
        """
        count = 0
        times = Counter({self._start.key: 1})
        for key, parts in self._parts.items():
            for each in parts:
                if isinstance(each, Step):
                    times[each.key] += times[key]
                    count += times[key] * each.counts
        return count

    def report(self) -> Iterator[Breach]:
        """Yield the breaches in order, each with its whole pointer."""
        leading = self._leading()
        stack, trail, left = [iter(leading.get(self._start.key, ()))], [self._start.pointer], MAX_REPORT
        while stack and left > 0:
            part = next(stack[-1], None)
            if part is None:
                stack.pop()
                trail.pop()
            elif isinstance(part, Breach):
                pointer = "".join((*trail, part.pointer))
                left -= len(pointer)
                yield replace(part, pointer=pointer)
            else:
                left -= 1  # so that even a schema that holds itself comes to an end
                stack.append(iter(leading[part.key]))
                trail.append(part.pointer)
        if stack:
            yield Breach("#", "report-cut-off", f"characters={MAX_REPORT}")

    def _leading(self) -> Parts:
        """Keep the parts that lead to a breach, so that a report pays only for what it tells."""
        above: dict[Key, list[Key]] = {}
        for key, parts in self._parts.items():
            for each in parts:
                if isinstance(each, Step):
                    above.setdefault(each.key, []).append(key)
        pending = [key for key, parts in self._parts.items() if any(isinstance(each, Breach) for each in parts)]
        lead = set(pending)
        while pending:
            fresh = set(above.get(pending.pop(), ())) - lead
            lead |= fresh
            pending.extend(fresh)
        return {
            key: [each for each in self._parts[key] if isinstance(each, Breach) or each.key in lead] for key in lead
        }
