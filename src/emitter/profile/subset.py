"""The vendor's strict JSON Schema subset and its size limits."""

from __future__ import annotations

from enum import Enum

from emitter.profile.facts import Facts, Pattern


class Optionals(str, Enum):
    """How a property that may be absent is written in the vendor's subset."""

    NULLABLE = "nullable"
    """Required, and a union with null."""
    OMIT = "omit"
    """Left out of ``required``."""


class Limits(Facts):
    """Size limits of a schema; absent means that none is published.

    ``depth`` counts nested objects and arrays from the root, ``enum_values`` all members of all enums,
    ``characters`` property and definition names plus enum and const values, ``optional`` the properties
    left out of ``required``, ``unions`` the properties with ``anyOf`` or a type list.
    """

    depth: int | None = None
    properties: int | None = None
    enum_values: int | None = None
    characters: int | None = None
    optional: int | None = None
    unions: int | None = None


class Subset(Facts):
    """The vendor's strict JSON Schema subset.

    ``keywords`` are enforced when sent; ``formats`` are the string formats taken; ``min_items_max`` is the
    largest ``minItems`` taken where it is bounded; ``ordering`` is the keyword that fixes property order,
    where one exists. ``pattern_refuses`` is a regular expression: a ``pattern`` in which it is found uses
    syntax that the vendor does not take.
    """

    keywords: frozenset[str]
    formats: frozenset[str] = frozenset()
    optionals: Optionals
    closed_objects: bool = True
    ref_siblings: bool = False
    root_union: bool = False
    recursion: bool = False
    min_items_max: int | None = None
    ordering: str | None = None
    pattern_refuses: Pattern | None = None
    limits: Limits
