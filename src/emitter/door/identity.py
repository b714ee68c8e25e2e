"""Which emission it is: the correlation id, by which everything that is told of it is found again."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from emitter.errors import InputError
from emitter.kinds.envelope import LONGEST_ID, correlation_id

if TYPE_CHECKING:
    from emitter.accept import Context
    from emitter.door.settings import Settings
    from emitter.judge import Contract


_NAMED = f"run_id and node_id must be non-empty and make an id of at most {LONGEST_ID} characters."


class Asked(NamedTuple):
    """What is asked: the ``words`` of the system prompt, what is ``shown`` beside them, the form, and its terms."""

    words: tuple[str | None, ...]
    shown: tuple[object, ...]
    contract: Contract
    terms: tuple[str, ...]


def node_of(settings: Settings, usual: str) -> str:
    """Return the node's id, ``usual`` where the caller names none; raises ``InputError`` for an empty name."""
    node_id = usual if settings.node_id is None else settings.node_id
    if not settings.run_id or not node_id:
        raise InputError(_NAMED)
    return node_id


def correlation(settings: Settings, context: Context, kind: str, asked: Asked) -> str:
    """Return the emission's correlation id; raises ``InputError`` for names that make too long a one.

    Where answers are kept it holds a digest of what is asked: another question is not answered by them.
    """
    what = kind if settings.host.store is None else f"{kind} {_digest(asked)}"
    made = correlation_id(context.run_id, context.node_id, settings.turn, what)
    if len(made) > LONGEST_ID:
        raise InputError(_NAMED)
    return made


def _digest(asked: Asked) -> str:
    said = json.dumps([asked.words, list(map(repr, asked.shown)), asked.contract.compiled.original, asked.terms])
    return hashlib.sha256(said.encode()).hexdigest()
