"""A line of a workflow's chain: one record, and the hash of all that stands before it (ours)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from emitter.authority.records.form import ABSENT, Digest, Record, Timestamp
from emitter.authority.records.grant import Confirm, Expire, Revoke
from emitter.authority.records.receipt import Intent, Receipt
from emitter.authority.records.stop import Resume, Stop

Chained: TypeAlias = Annotated[
    Confirm | Revoke | Expire | Stop | Resume | Intent | Receipt, Field(discriminator="type")
]
"""What can stand in a chain."""


class Line(Record):
    """One record in its place, which can be neither changed nor moved in silence.

    ``seq`` counts from 0 in each workflow, ``at`` never goes back, and ``hash`` is over all but itself and
    ``signature``. ``prev`` is the hash of the line before, for the first line that of the workflow's name.
    ``signature`` is a JWS of ``hash``, with its payload detached.
    """

    seq: Annotated[int, Field(ge=0)]
    at: Timestamp
    prev: Digest
    record: Chained
    hash: Digest
    signature: Annotated[str | None, ABSENT] = None
