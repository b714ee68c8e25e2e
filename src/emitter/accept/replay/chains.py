"""A log as chains: what was told of one node for one cause, in the order it was told.

Nodes run side by side, so the order of events of different nodes says nothing; within a chain it says all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from emitter.accept.replay.fields import agree, compared, members, same

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.wire import Json

Key: TypeAlias = "str | None"
Group = TypeVar("Group")


@dataclass(frozen=True, slots=True)
class Told:
    """One event of a log; ``sequence`` is its place there, where the document names none that can be one."""

    sequence: int
    type: str
    doc: Mapping[str, Json]

    @property
    def payload(self) -> Mapping[str, Json]:
        """What it says."""
        return members(self.doc.get("payload"))

    def agrees(self, other: Told) -> bool:
        """Tell whether a replay that told ``other`` told this again."""
        return (
            self.type == other.type
            and same(_trust(self), _trust(other))
            and same(_bare(self), _bare(other))
            and agree(self.type, self.payload, other.payload)
        )


Chain: TypeAlias = "list[Told]"
Nodes: TypeAlias = "dict[Key, dict[Key, Chain]]"
Runs: TypeAlias = "dict[Key, Nodes]"


def runs(log: Iterable[Mapping[str, Json]]) -> Runs:
    """Return the chains of a log by run, node and cause, each in the order of its sequence."""
    found: Runs = {}
    for told in sorted(_read(log), key=lambda each: each.sequence):
        run, node, cause = keys(told)
        found.setdefault(run, {}).setdefault(node, {}).setdefault(cause, []).append(told)
    return found


def keys(told: Told) -> tuple[Key, Key, Key]:
    """Return run, node and cause. A cause that is named after its run, as recommended, is named without it."""
    run, cause = text(told.doc.get("runId")), text(told.doc.get("causationId"))
    if run is not None and cause is not None:
        cause = cause.removeprefix(f"{run}:")
    return run, text(told.doc.get("nodeId")) or text(told.payload.get("nodeId")), cause


def paired(originals: Mapping[Key, Group], replays: Mapping[Key, Group]) -> Iterator[tuple[Group | None, Group | None]]:
    """Yield what belongs together: first by name, then, of what is left, by order; None where there is no other."""
    left = deque(group for name, group in replays.items() if name not in originals)
    for name, group in originals.items():
        yield group, replays[name] if name in replays else (left.popleft() if left else None)
    for group in left:
        yield None, group


def text(given: Json) -> Key:
    """Return ``given`` where it is a text that says something."""
    return given if isinstance(given, str) and given else None


def _read(log: Iterable[Mapping[str, Json]]) -> Iterator[Told]:
    for place, given in enumerate(log):
        doc = members(given)
        kind = text(doc.get("type")) or ""
        if compared(kind, members(doc.get("payload"))):
            yield Told(_sequence(doc.get("sequence"), place), kind, doc)


def _sequence(given: Json, place: int) -> int:
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else place


def _trust(told: Told) -> Json:
    """Return the trust of what it tells of; where nothing is said it is trusted, as in an envelope."""
    return told.doc.get("contentTrust") or "trusted"


def _bare(told: Told) -> Json:
    """Return the payload where it is no object, which the document allows."""
    payload: Json = told.doc.get("payload")
    return None if isinstance(payload, Mapping) else payload
