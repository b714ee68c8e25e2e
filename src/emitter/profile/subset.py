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


class Recursion(str, Enum):
    """What the vendor takes of references that lead back to where they stand."""

    KEEP = "keep"
    """All of them."""
    OPTIONAL = "optional"
    """Those that lead through a property that may be left out."""
    REFUSE = "refuse"
    """None: they are unrolled ``Subset.unroll`` times, and beyond that carried as JSON text."""


class Limits(Facts):
    """Size limits of a schema; absent means that none is published.

    ``depth`` counts nested objects and arrays from the root, ``levels`` schemas in one another below it,
    scalars and unions included and references not followed, ``enum_values`` all members of all enums,
    ``characters`` property and definition names plus enum and const values, ``optional`` the properties
    left out of ``required``, ``optional_of_one_object`` those of any one object, ``unions`` the places with
    ``anyOf`` or a type list. A string enum of more than ``long_enum`` values may have
    ``long_enum_characters`` in all. ``text`` counts the characters of all titles and descriptions.
    """

    depth: int | None = None
    levels: int | None = None
    properties: int | None = None
    enum_values: int | None = None
    characters: int | None = None
    optional: int | None = None
    optional_of_one_object: int | None = None
    unions: int | None = None
    long_enum: int | None = None
    long_enum_characters: int | None = None
    text: int | None = None


class Subset(Facts):
    """The vendor's strict JSON Schema subset.

    ``enforced`` is false for servers that hold a model to nothing: the schema then stands in the prompt as it
    is. ``keywords`` are enforced when sent; ``formats`` are the string formats taken; ``enum_types`` the types
    of constants; ``min_items_max`` is the largest ``minItems`` taken where it is bounded; ``ordering`` is the
    keyword that fixes property order, where one exists. ``closed_objects`` says that every object must be
    closed, ``discriminated`` that the objects of a union must each name themselves in a property with one
    value. ``root_ref`` says that ``{"$ref": "#"}`` may stand for the root, ``root_names`` is a regular expression
    that the root's property names must match in full.
    ``pattern_refuses`` is a regular expression: a ``pattern`` in which it is found uses syntax that the
    vendor does not take.
    """

    enforced: bool = True
    keywords: frozenset[str]
    formats: frozenset[str] = frozenset()
    enum_types: frozenset[str] = frozenset({"string", "integer", "number", "boolean"})
    optionals: Optionals
    closed_objects: bool = True
    discriminated: bool = False
    ref_siblings: bool = False
    root_ref: bool = False
    root_names: Pattern | None = None
    recursion: Recursion = Recursion.REFUSE
    unroll: int = 2
    min_items_max: int | None = None
    ordering: str | None = None
    pattern_refuses: Pattern | None = None
    limits: Limits
