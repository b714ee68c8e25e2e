"""Faults that were found in what compiling costs; each test holds the least schema that shows it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import jsonschema_rs
import pytest

from emitter.errors import Uncompilable
from emitter.schema import compile_schema
from tests.schema.compile.forms import TEXT, closed, refer
from tests.schema.compile.lens import OPENAI
from tests.schema.compile.work import TooMuch, at_most


class Visited(dict[str, Any]):
    """A dict that may be written out only so often."""

    left = 600_000

    def items(self) -> Any:
        """Count the visit."""
        Visited.left -= 1
        if Visited.left < 0:
            raise TooMuch
        return super().items()


def test_a_dict_that_holds_another_twice_is_not_written_out_first() -> None:
    """Nested forty times it stands for a million million values, which are counted before they are copied."""
    schema: Any = Visited(TEXT)
    for _ in range(40):
        schema = Visited(type="object", properties=Visited(a=schema, b=schema))

    with pytest.raises(Uncompilable):
        compile_schema(dict(schema), OPENAI)


def test_a_pattern_is_built_once() -> None:
    """More patterns than a cache holds are not built anew for each name."""
    names = range(1_100)
    schema = {
        "type": "object",
        "properties": {f"name{each}": TEXT for each in names},
        "patternProperties": {f"^z{each}": TEXT for each in names},
    }

    with at_most(5_000, of=jsonschema_rs.validator_for):
        compile_schema(schema, OPENAI)


def test_comparing_two_branches_does_not_multiply_level_by_level() -> None:
    """Two branches of three hundred references are compared in a number of steps, not in its third power."""
    most = 60
    definitions = {
        f"{side}{level}": closed(
            **{f"p{each}": refer(f"{side}{level + 1}") if level < 3 else TEXT for each in range(most)}
        )
        for side in "AB"
        for level in range(4)
    }
    schema = {**closed(a={"oneOf": [refer("A0"), refer("B0")]}), "$defs": definitions}

    with at_most(400_000), suppress(Uncompilable):
        compile_schema(schema, OPENAI)
