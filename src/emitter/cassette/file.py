"""The file of a cassette: its form, and reading and writing it."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from emitter.errors import BadCassette
from emitter.files import private_opener


class Provenance(str, Enum):
    """Where the responses come from."""

    RECORDED = "recorded"
    BY_HAND = "written by hand"


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordedRequest(_Closed):
    """What is compared on replay: method, path with its harmless query, and the JSON body."""

    method: str
    path: str
    body: Any = None


class RecordedResponse(_Closed):
    """What is answered; ``body`` is JSON, or text where it is not JSON or is a stream of events."""

    status: Annotated[int, Field(ge=100, le=599)]
    headers: dict[str, str] = Field(default_factory=dict)
    body: Any = None


class Interaction(_Closed):
    """One request and its response."""

    request: RecordedRequest
    response: RecordedResponse


class Cassette(_Closed):
    """A file of ``cassettes/``: what happened, in order, and whether it really did."""

    provenance: Provenance
    note: str = ""
    interactions: tuple[Interaction, ...] = ()


def load(path: str | Path) -> Cassette:
    """Return the cassette at ``path``; raises ``BadCassette``."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCassette(f"The cassette {path} cannot be read: {error}.") from error
    return parse(text, str(path))


def parse(text: str, name: str) -> Cassette:
    """Return the cassette whose JSON is ``text``; ``name`` is used in errors only."""
    try:
        return Cassette.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(each) for each in first["loc"])
        raise BadCassette(f"The cassette {name} does not hold: {where}: {first['msg']}.") from error


def save(cassette: Cassette, place: str | Path) -> None:
    """Write the cassette, whole or not at all, readable by its owner alone."""
    path = Path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f"{path.suffix}.part")
    partial.unlink(missing_ok=True)  # a leftover may be readable by others
    with open(partial, "x", encoding="utf-8", opener=private_opener) as file:
        file.write(json.dumps(cassette.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n")
    partial.replace(path)
