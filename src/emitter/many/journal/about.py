"""What a journal is about: everything that would make one of its answers an answer to something else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.door.plan import Plan
    from emitter.wire import Json

_SIZE = 16
"""Bytes of a digest; it tells apart, and secures nothing."""


@dataclass(frozen=True, slots=True)
class About:
    """What all answers of a run have in common; ``schema``, ``words`` and ``options`` are digests."""

    kind: str
    name: str
    model: str
    wire: str
    schema: str
    words: str
    options: str

    def to_json(self) -> dict[str, str]:
        """Return it as it stands in the first line."""
        return asdict(self)


def about(kind: str, probe: Plan) -> About:
    """Return what the emissions of a run have in common; ``probe`` is the plan of any situation, the same always."""
    request = probe.ask.request
    return About(
        kind=kind,
        name=request.output.name,
        model=f"{probe.profile.name}/{request.model}",
        wire=probe.wire.value,
        schema=_digest(probe.ask.contract.compiled.original),
        words=digest(probe),
        options=_digest(dict(request.options)),
    )


def digest(plan: Plan) -> str:
    """Return a digest of the words that are sent first."""
    request = plan.ask.request
    return _digest([request.system, *([each.role.value, each.text] for each in request.messages)])


def _digest(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=_SIZE).hexdigest()
