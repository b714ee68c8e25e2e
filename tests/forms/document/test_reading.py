"""What pydantic finds, reported without a word of the document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from emitter.findings import Violation
from emitter.schema.python_types import resolve_schema
from tests.forms.document.asking import ODD
from tests.forms.document.shapes import Box, Cat, Dog, Point


def _custom(value: str) -> str:
    raise PydanticCustomError("of_" + value, "{word} is odd", {"word": value})  # type: ignore[arg-type]


class Judged(BaseModel):
    """Many rules, of the type and of code."""

    model_config = ConfigDict(extra="forbid")

    count: Annotated[int, Field(ge=2)] = 2
    word: Annotated[str, Field(pattern="^[a-z]+$", max_length=3)] = "a"
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    many: dict[str, int] = {}
    points: list[Point] = []
    valued: str = ""
    custom: Annotated[str, AfterValidator(_custom)] | None = None
    nested: Box[int] | None = None

    @field_validator("valued")
    @classmethod
    def _quotes(cls, valued: str) -> str:
        if valued:
            raise ValueError(f"{valued} is not wanted")
        return valued


FOUND: dict[str, tuple[Any, str]] = {
    "bound": ({"count": 1}, "/count: greater_than_equal: Input should be greater than or equal to 2"),
    "type": ({"count": ODD}, "/count: int_parsing: "),
    "pattern": ({"word": "3"}, "/word: string_pattern_mismatch: String should match pattern '^[a-z]+$'"),
    "length": ({"word": ODD}, "/word: string_too_long: String should have at most 3 characters"),
    "tag": ({"pet": {"kind": ODD}}, "/pet: union_tag_invalid: Input tag '…' found using 'kind' does not match"),
    "in a branch": ({"pet": {"kind": "cat", "lives": ODD}}, "/pet/lives: int_parsing: "),
    "a key of the answer's": ({"many": {ODD: "x"}}, "/many/*: int_parsing: "),
    "a property of the answer's": ({ODD: 1}, "/*: extra_forbidden: Extra inputs are not permitted"),
    "in a list": ({"points": [{"x": 1}, {}]}, "/points/1/x: missing: Field required"),
    "a validator": ({"valued": ODD}, "/valued: value_error: … is not wanted"),
    "a kind of the caller's": ({"custom": ODD}, "/custom: custom: what the description of this place asks for"),
    "no object": (ODD, "/: model_type: Input should be a valid dictionary"),
}


@pytest.mark.parametrize(("document", "reported"), FOUND.values(), ids=FOUND.keys())
def test_what_pydantic_finds_is_reported_without_a_word_of_the_document(document: Any, reported: str) -> None:
    """The place in the schema's names, the kind of error, and what the type itself demands."""
    violations = resolve_schema(Judged).parse(document).violations

    assert reported in "\n".join(map(str, violations))
    assert ODD not in repr(violations)


def test_what_pydantic_finds_is_bounded() -> None:
    """A thousand broken items make a corrective fragment of constant size, and so does a long rule."""
    assert len(resolve_schema(Judged).parse({"points": [{}] * 1000}).violations) == 12
    [found] = resolve_schema(Literal[tuple(f"choice {nth}" for nth in range(1000))]).parse(ODD).violations

    assert len(found.expected) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([ODD, f"{ODD} 2027-01-01", f"<{ODD}>"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*Judged.model_fields, "kind", "x", "held", ODD, f"/{ODD}~"]), inner, max_size=5
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_document_leaves_a_word_in_a_finding(document: Any) -> None:
    """Whatever it holds, wherever it stands."""
    read = resolve_schema(Judged).parse(document)

    assert ODD not in repr(read.violations)
    assert len(read.violations) <= 12
    assert all(isinstance(each, Violation) for each in read.violations)
    if not read.violations:
        assert isinstance(read.value, Judged)


def _not(word: str) -> AfterValidator:
    def check(value: Any) -> Any:
        if value == word:
            raise ValueError(f"not {word}")
        return value

    return AfterValidator(check)


class Part(BaseModel):
    """A branch without a constant."""

    name: Annotated[str, _not("X")]


class Note(BaseModel):
    """The other one."""

    text: str
    more: str


class Claim(BaseModel):
    """A branch with a constant, a rule of code and a union inside."""

    kind: Literal["claim"]
    number: Annotated[str, _not("X")]
    part: Part | Note | None = None


class NoClaim(BaseModel):
    """A branch that lacks what the other has."""

    kind: Literal["none"]
    reason: str


UNIONS: dict[str, tuple[Any, Any, list[str]]] = {
    "by a constant": (Claim | NoClaim, {"kind": "claim", "number": "X"}, ["/number"]),
    "by what is there": (Part | Note, {"name": "X"}, ["/name"]),
    "in a list": (list[Part | Note], [{"name": "X"}, {"text": "", "more": ""}, {"name": "X"}], ["/0/name", "/2/name"]),
    "in a map, under a branch's name": (dict[str, Part | Note], {"Part": {"name": "X"}}, ["/*/name"]),
    "in a branch": (Claim | NoClaim, {"kind": "claim", "number": "1", "part": {"name": "X"}}, ["/part/name"]),
    "in a branch, and beside": (
        Claim | NoClaim,
        {"kind": "claim", "number": "X", "part": {"name": "X"}},
        ["/number", "/part/name"],
    ),
    "of scalars": (Annotated[int, _not("X")] | Annotated[str, _not("X")], "X", [""]),
    "of two that fit": (Annotated[Part, _not("X")] | Part, {"name": "X"}, ["/name"]),
}


@pytest.mark.parametrize(("schema", "document", "places"), UNIONS.values(), ids=UNIONS.keys())
def test_of_a_union_only_the_chosen_branch_is_corrected(schema: Any, document: Any, places: list[str]) -> None:
    """What the other branches miss would tell the model to choose one of them."""
    violations = resolve_schema(schema).parse(document).violations

    assert [each.pointer for each in violations] == places
    assert {each.rule for each in violations} == {"value_error"}
