"""The members of a union of Python types are never guessed: the fields that tell them apart are required."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, Optional

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError
from typing_extensions import TypedDict

from emitter.schema import compile_schema
from emitter.schema.python_types import resolve_schema
from emitter.streaming.partials import make_partial_reader


class Mark(str, enum.Enum):
    """Tags as members of an enum."""

    YES = "yes"
    NO = "no"


class Approve(BaseModel):
    """Yes, and a version that both members share."""

    kind: Literal["approve"] = "approve"
    version: Literal[1] = 1
    reason: str


class Reject(BaseModel):
    """No."""

    kind: Literal["reject", "veto"] = "reject"
    version: Literal[1] = 1
    reason: str


@dataclass
class ApprovePoint:
    """Yes."""

    reason: str
    kind: Literal["approve"] = "approve"


@dataclass
class RejectPoint:
    """No."""

    reason: str
    kind: Literal["reject"] = "reject"


class ApproveTable(TypedDict):
    """Yes."""

    kind: NotRequired[Literal["approve"]]
    reason: str


class RejectTable(TypedDict):
    """No."""

    kind: NotRequired[Literal["reject"]]
    reason: str


class ApproveMark(BaseModel):
    """Yes, in which something else may be decided."""

    kind: Literal[Mark.YES] = Field(Mark.YES, alias="type")
    reason: str
    below: ApproveMark | RejectMark | None = None


class RejectMark(BaseModel):
    """No."""

    type: Literal[Mark.NO] = Mark.NO
    reason: str


class Verdict(RootModel[Approve | Reject]):
    """Either, as a model."""


class Late(BaseModel):
    """A model that is built when it is used, with fields named like parts of pydantic's own schemas."""

    model_config = ConfigDict(defer_build=True)
    type: Approve | Reject
    members: list[Approve | Reject] = []
    default: int = 0


UNIONS: dict[str, tuple[Any, str, Any]] = {
    "models": (Approve | Reject, "kind", "reject"),
    "optional": (Optional[Approve | Reject], "kind", "reject"),  # noqa: UP045  the other way to write it
    "discriminator": (Annotated[Approve | Reject, Field(discriminator="kind")], "kind", "reject"),
    "nested": (Annotated[Verdict, Field(description="It.")] | int, "kind", "reject"),
    "dataclasses": (ApprovePoint | RejectPoint, "kind", "reject"),
    "typed dicts": (ApproveTable | RejectTable, "kind", "reject"),
    "enum members, alias, recursive": (ApproveMark | RejectMark, "type", "no"),
}


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "google"])
@pytest.mark.parametrize(("union", "tag", "value"), UNIONS.values(), ids=UNIONS.keys())
def test_a_member_without_its_tag_is_a_violation(vendor: str, union: Any, tag: str, value: str) -> None:
    """Pydantic alone would read it as the first member."""
    compiled, reported = compile_schema(list[union], vendor), {tag: value, "reason": "too dear"}
    untold = [{"reason": "too dear"}]

    assert "required" in {found.rule for found in compiled.validate(untold)}
    assert compiled.validate(compiled.decode(compiled.encode([reported]))) == ()
    assert "variant" not in str(compiled.schema)


def test_a_field_that_no_other_member_contradicts_stays_optional() -> None:
    """So do a literal of a model that stands alone, and one that all members share."""
    both: Any = resolve_schema(Approve | Reject).schema
    assert {name: each["required"] for name, each in both["$defs"].items()} == {
        "Approve": ["kind", "reason"],
        "Reject": ["kind", "reason"],
    }
    for alone, document in (
        (Approve, {"reason": "a"}),
        (Approve | None, {"reason": "a"}),
        (tuple[Approve, Reject], [{"reason": "a"}, {"reason": "b"}]),
    ):
        assert compile_schema(alone, "openai").validate(document) == ()


def test_fields_are_found_whatever_their_names() -> None:
    """Names of fields are not taken for keywords of pydantic's own schemas."""
    late = compile_schema(Late, "openai")
    assert late.validate({"type": {"reason": "a"}})
    assert late.validate({"type": {"kind": "veto", "reason": "a"}, "members": [{"reason": "b"}]})
    assert make_partial_reader(Late)({}) == Late.model_construct(type=None, members=None, default=None)


def test_a_json_schema_is_kept() -> None:
    """What it does not require is optional."""
    branches = [
        {"type": "object", "properties": {"kind": {"const": kind}, "reason": {"type": "string"}}}
        for kind in ("approve", "reject")
    ]
    assert compile_schema({"anyOf": branches}, "openai").validate({"reason": "a"}) == ()


@pytest.mark.parametrize(("union", "tag", "value"), UNIONS.values(), ids=UNIONS.keys())
def test_a_partial_value_is_no_guess_either(union: Any, tag: str, value: str) -> None:
    """There is no value until its tag is there."""
    read = make_partial_reader(union)
    reported = read({tag: value})

    with pytest.raises(ValidationError):
        read({"reason": "too dear"})
    assert reported[tag] == value if isinstance(reported, dict) else "Reject" in repr(reported)
