"""What becomes of a schema outside the portable subset: ``tierOneSubsetCompliance``."""

from __future__ import annotations

import pytest

from emitter.errors import InputError
from emitter.host.registry import Posture
from tests.host.kinds.shapes import OBJECT, of, registered

PORTABLE = of(reasoning={"type": ["string", "null"]}, title={"type": "string"})
OUTSIDE = {"type": "object", "properties": {"title": {"type": "string", "maxLength": 5}, "x": {"not": {}}}}


def test_outside_the_subset_is_reported_on_the_kind() -> None:
    """The default: the kind is taken, and its findings say where the schema is not portable, and how to mend it."""
    found = registered(OUTSIDE).findings

    assert [(each.pointer, each.rule, each.detail) for each in found] == [
        ("#", "additionalProperties-must-be-false-on-object-strict-only", None),
        ("#/properties/title", "property-not-in-required-strict-mode-only", None),
        ("#/properties/title", "forbidden-string-constraint-strict-only", "maxLength"),
        ("#/properties/x", "property-not-in-required-strict-mode-only", None),
        ("#/properties/x", "forbidden-keyword", "not"),
    ]
    assert all(each.fix for each in found)


def test_a_strict_host_refuses_what_is_outside() -> None:
    """With every place, and what to do there."""
    with pytest.raises(InputError, match="is outside the portable subset") as raised:
        registered(OUTSIDE, posture="strict")

    reported = str(raised.value)
    assert "#/properties/title: forbidden-string-constraint-strict-only (maxLength). Remove the keyword" in reported
    assert "posture='warn'" in reported
    assert registered(PORTABLE, posture="strict").findings == ()


def test_a_long_list_of_findings_is_cut() -> None:
    """An error is read by a person."""
    many = {**OBJECT, "properties": {f"p{index}": {"type": "string"} for index in range(30)}}

    with pytest.raises(InputError, match="; and 22 more"):
        registered(many, posture=Posture.STRICT)


def test_nobody_looks_where_the_lint_is_off() -> None:
    """The kind has no findings then."""
    assert registered(OUTSIDE, posture="off").findings == ()


def test_a_posture_that_is_none() -> None:
    """The words are those of ``tierOneSubsetCompliance``."""
    with pytest.raises(InputError, match="posture is 'loud'; it must be 'strict' or 'warn' or 'off'"):
        registered(OBJECT, posture="loud")
