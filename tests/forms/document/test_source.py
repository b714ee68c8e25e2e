"""What may be called a schema: its name, its JSON Schema, the way to a value and back."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import uuid
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel, ValidationError, field_validator

from emitter.schema.python_types import resolve_schema
from tests.forms.document.shapes import Box, Cat, Colour, Dog, Named, Node, Point, Table

NAMED = Named(
    theTime=dt.datetime(2027, 1, 2, 3, 4, tzinfo=dt.UTC),
    price=decimal.Decimal("1.50"),
    ident=uuid.UUID(int=7),
    raw=b"xyz",
    tags={"a"},
    pair=(1, "b"),
    embedded="[1, 2]",  # type: ignore[arg-type]
)

TYPES: dict[str, tuple[Any, Any, str]] = {
    "model": (Cat, Cat(kind="cat"), "Cat"),
    "generic model": (Box[int], Box[int](held=1), "Box_int"),
    "recursive model": (Node, Node(name="a", below=[Node(name="b")]), "Node"),
    "root model": (RootModel[list[int]], RootModel[list[int]]([1]), "RootModel_list_int"),
    "everything that JSON lacks": (Named, NAMED, "Named"),
    "dataclass": (Point, Point(1), "Point"),
    "typed dict": (Table, {"a": 1}, "Table"),
    "list": (list[int], [1], "document"),
    "literal": (Literal["a", "b"], "a", "document"),
    "union": (int | str, "a", "document"),
    "discriminated union": (Annotated[Cat | Dog, Field(discriminator="kind")], Dog(kind="dog"), "document"),
    "annotated": (Annotated[int, Field(gt=2)], 3, "document"),
    "enum": (Colour, Colour.RED, "Colour"),
    "date": (dt.date, dt.date(2027, 1, 2), "date"),
    "anything": (Any, {"a": [1]}, "Any"),
}


@pytest.mark.parametrize(("kind", "value", "name"), TYPES.values(), ids=TYPES.keys())
def test_a_value_comes_back_from_its_document(kind: Any, value: Any, name: str) -> None:
    """The document is JSON, what is read from it equals the value, and the name is one that every vendor takes."""
    made = resolve_schema(kind)
    document = json.loads(json.dumps(made.dump(value)))
    read = made.parse(document)

    assert (made.is_python_type, made.name) == (True, name)
    assert (read.value, read.violations) == (value, ())
    assert type(read.value) is type(value)


def test_a_document_is_what_is_read_not_what_is_shown() -> None:
    """Names are the wire's, a computed member is left out, and embedded JSON stays text."""
    document = resolve_schema(Named).dump(NAMED)

    assert set(document) == {"theTime", "price", "ident", "raw", "tags", "pair", "embedded"}
    assert document["embedded"] == "[1,2]"


NAMES = {
    "Invoice": "Invoice",
    "Box[int]": "Box_int",
    "Größe, in cm": "Gr_e_in_cm",
    "発注": "document",
    "": "document",
    "2 of 3": "document_2_of_3",
    "x" * 100: "x" * 64,
    "_hidden-": "hidden",
}


@pytest.mark.parametrize(("title", "name"), NAMES.items())
def test_a_name_is_one_that_every_vendor_takes(title: str, name: str) -> None:
    """Letters, digits and underscores, a letter first, at most 64."""
    assert resolve_schema({"title": title}).name == name


@given(st.text())
def test_any_title_makes_a_name(title: str) -> None:
    """Whatever stands there."""
    if any("\ud800" <= each <= "\udfff" for each in title):
        return
    name = resolve_schema({"title": title}).name

    assert 1 <= len(name) <= 64
    assert name.replace("_", "a").isalnum()
    assert name.isascii()
    assert name[0].isalpha()


@pytest.mark.parametrize("schema", [True, False, {}, {"type": "object"}, {"title": 5}], ids=str)
def test_a_json_schema_is_its_own_source(schema: Any) -> None:
    """Its values are the documents themselves, and its name its title where that is one."""
    made = resolve_schema(schema)

    assert (made.schema, made.is_python_type, made.name) == (schema, False, "document")
    assert made.parse({"a": 1}).value == {"a": 1}
    assert made.dump([1]) == [1]


def test_a_readers_own_bug_is_not_hidden() -> None:
    """What a validator raises that is no finding comes out as it is."""

    class Broken(BaseModel):
        a: int

        @field_validator("a")
        @classmethod
        def _bug(cls, _: int) -> int:
            raise KeyError("bug")

    with pytest.raises(KeyError, match="bug"):
        resolve_schema(Broken).parse({"a": 1})
    with pytest.raises(ValidationError):
        Broken.model_validate({})
