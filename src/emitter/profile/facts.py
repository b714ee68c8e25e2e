"""What every table of a profile has: closed keys, and for facts a source and a date."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Table(BaseModel):
    """A closed table: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __hash__(self) -> int:
        """Be found by identity: a profile is loaded once, and every emission looks up what was made for it."""
        return id(self)


class Facts(Table):
    """A table of facts with its source."""

    source: Annotated[str, Field(min_length=1)]
    verified: dt.date


def _compiled(pattern: str) -> str:
    """Return ``pattern`` if it is a regular expression; pydantic makes a sentence of the ``ValueError``."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


Pattern: TypeAlias = Annotated[str, AfterValidator(_compiled)]
"""A regular expression, as text."""
