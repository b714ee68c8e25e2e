"""Azure OpenAI: the subset of 2024 that its own page still lists, with its lower limits."""

from __future__ import annotations

from emitter.testing.rules import clauses, openai
from emitter.testing.rules.dialect import Dialect
from emitter.testing.rules.reading import levels

DIALECT = Dialect(
    reads=openai.STRUCTURE,
    everywhere=(*openai.EVERYWHERE, clauses.only(openai.STRUCTURE), openai.long_enum_is_short(7_500)),
    of_the_whole=(
        clauses.refs_resolve,
        clauses.at_most(5, "max_nesting", levels),
        clauses.at_most(100, "max_properties", clauses.properties),
        clauses.at_most(500, "max_enum_values", clauses.enum_values),
        clauses.at_most(15_000, "max_characters", clauses.characters),
    ),
)

broken = DIALECT.broken
