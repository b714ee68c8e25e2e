"""The messages of validators and checks reach the model without a word of its answer."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    IPvAnyAddress,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from emitter.schema.findings import UNTOLD
from emitter.schema.messages import Author, author_of, without
from emitter.schema.source import source
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 4000
ALLOWED = ("invoice", "receipt")


def _weekday(_: str) -> str:
    raise ValueError("write the day as a weekday in English, such as Monday")


def _word(value: str) -> str:
    if value not in ALLOWED:
        raise ValueError(f"{value!r} must be one of {', '.join(ALLOWED)}")
    return value


def _custom(value: str) -> str:
    raise PydanticCustomError("grade", "{given} is no grade; use {grades}", {"given": value, "grades": "first, second"})


def _mail(_: str) -> str:
    """Find what pydantic's own type for addresses finds, which needs a package more."""
    reason = {"reason": "An email address must have an @-sign."}
    raise PydanticCustomError("value_error", "value is not a valid email address: {reason}", reason)


class Form(BaseModel):
    """A form with rules of its own."""

    day: Annotated[str, AfterValidator(_weekday)] = ""
    word: Annotated[str, BeforeValidator(_word)] = "invoice"
    grade: Annotated[str, AfterValidator(_custom)] = ""
    mail: Annotated[str, AfterValidator(_mail)] | None = None
    address: IPvAnyAddress | None = None
    parts: list[int] = []
    total: int = 0

    @field_validator("total")
    @classmethod
    def _affordable(cls, total: int) -> int:
        if total > LIMIT:
            raise AssertionError(f"{total:,} is above the limit of {LIMIT} euros")
        return total

    @model_validator(mode="after")
    def _adds_up(self) -> Form:
        if self.parts and sum(self.parts) != self.total:
            raise ValueError(f"the parts {self.parts} do not add up to the total {self.total}")
        return self


@dataclass
class Span:
    """A dataclass that checks itself."""

    first: int
    last: int

    def __post_init__(self) -> None:
        """Keep the order."""
        if self.last < self.first:
            raise ValueError("last must not be smaller than first")


TOLD: dict[str, tuple[Any, Any, str]] = {
    "annotated": (
        Form,
        {"day": "22 November"},
        "/day: value_error: write the day as a weekday in English, such as Monday",
    ),
    "allowed words": (Form, {"word": "letter"}, "/word: value_error: '…' must be one of invoice, receipt"),
    "custom error": (Form, {"grade": "excellent"}, "/grade: custom: … is no grade; use first, second"),
    "assertion": (Form, {"total": 51234}, "/total: assertion_error: … is above the limit of 4000 euros"),
    "whole model": (
        Form,
        {"parts": [1234, 5], "total": 20},
        "/: value_error: the parts […, 5] do not add up to the total 20",
    ),
    "dataclass": (Span, {"first": 2, "last": 1}, "/: value_error: last must not be smaller than first"),
    "pydantic's own mail": (
        Form,
        {"mail": "somebody"},
        "/mail: value_error: value is not a valid email address: An email address must have an @-sign.",
    ),
    "pydantic's own address": (
        Form,
        {"address": "nowhere"},
        "/address: custom: value is not a valid IPv4 or IPv6 address",
    ),
}


@pytest.mark.parametrize(("form", "document", "told"), TOLD.values(), ids=TOLD)
def test_the_caller_s_own_words_are_kept(form: Any, document: Any, told: str) -> None:
    """Of validators of every sort, and of the types that pydantic brings along; what they quote is struck out."""
    [found] = source(form).read(document).violations

    assert str(found) == told


def test_words_that_the_answer_has_too_are_kept_where_they_are_the_caller_s() -> None:
    """A long answer shares words with every sentence."""
    document = {"day": "It must be a weekday in English: write the day as such, Monday."}
    [found] = source(Form).read(document).violations

    assert found.expected == "write the day as a weekday in English, such as Monday"


WITHHELD: dict[str, tuple[str, Any]] = {
    "nothing but the answer": ("Quentin & Sons", {"v": "Quentin & Sons"}),
    "escaped": ("no line may be '\\\\u0441\\\\u043b\\\\u043e'", {"v": "\u0441\u043b\u043e\u0432\u043e"}),
    "percent signs": ("no name may be %41nna", {"v": "Anna Smith"}),
    "entities": ("no name may be A&amp;B Smith", {"v": "A&B Smith"}),
    "empty": (" ", {"v": "a"}),
    "an answer too long to compare": ("some words of the caller", {"v": "x" * 300_000}),
}


@pytest.mark.parametrize(("message", "document"), WITHHELD.values(), ids=WITHHELD)
def test_in_doubt_a_message_is_withheld(message: str, document: Any) -> None:
    """Where nothing but the answer is left, or where it may stand in another spelling."""
    assert without(message, document, Author, frozenset()) is None


def test_a_validator_without_words_is_told_as_one() -> None:
    """An assertion without a message says nothing."""

    def judge(value: int) -> int:
        if value != 1:
            raise AssertionError
        return value

    [found] = source(Annotated[int, AfterValidator(judge)]).read(7).violations
    assert found.expected == UNTOLD


def test_what_code_can_be_filled_with_is_not_the_caller_s() -> None:
    """A list that a validator keeps may hold an answer; strings, tuples and closures stay what they are."""
    kept: list[str] = ["Quentin & Sons"]

    def check(value: str, where: str = "in the register") -> str:
        return f"{value} stands {where} of {ALLOWED} beside {kept}"

    author = author_of(partial(check, where="among the vendors"))
    assert {"in the register", "among the vendors", "invoice", "receipt", "stands"} <= set(author.phrases)
    assert "Quentin & Sons" not in author.phrases


LITERALS = ("the value ", " must be another one, and not near ")
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "upper": str.upper,
    "title": str.title,
    "swapped": str.swapcase,
    "repr": repr,
    "ascii": ascii,
    "json": json.dumps,
    "html": html.escape,
    "url": quote,
    "slug": lambda text: re.sub(r"\W+", "-", text),
    "spaced": " ".join,
    "backwards": lambda text: text[::-1],
    "begin": lambda text: f"{text[:9]}...",
    "end": lambda text: text[-9:],
    "sorted": lambda text: " ".join(sorted(text.split())),
    "decomposed": partial(unicodedata.normalize, "NFD"),
    "composed": partial(unicodedata.normalize, "NFKC"),
    "bytes": lambda text: str(text.encode(errors="replace")),
    "hex": lambda text: text.encode(errors="replace").hex(),
}
NUMBERS: dict[str, Callable[[float], str]] = {
    "as it is": str,
    "grouped": "{:,}".format,
    "two places": "{:.2f}".format,
    "no places": "{:.0f}".format,
    "scientific": "{:.3e}".format,
    "hexadecimal": lambda number: hex(int(number)),
    "underscored": lambda number: f"{int(number):_}",
}
TEXTS = st.text(st.sampled_from("abcdefgmnoruvt éßЖ-_.'\"\\\n&%<01234"), min_size=4, max_size=40)


def letters(text: str) -> str:
    """Return the letters and digits of a text, small and without accents."""
    flat = unicodedata.normalize("NFKD", text).casefold()
    return "".join(each for each in unicodedata.normalize("NFKD", flat) if each.isalnum())


def leaked(told: str, of: str) -> list[str]:
    """Return what a told message shows of a text, beside the caller's own words."""
    pieces = re.split("|".join(re.escape(each.strip()) for each in LITERALS), told)
    there = letters(of)
    found = [letters(piece)[at : at + 4] for piece in pieces for at in range(len(letters(piece)) - 3)]
    return [each for each in found if each in there]


def own() -> Author:
    """Return what stands in the code that writes the messages of the laws."""
    return Author(tuple(each.strip() for each in LITERALS))


@settings(max_examples=examples(60))
@given(text=TEXTS, other=TEXTS, spelling=st.sampled_from(sorted(SPELLINGS)), nested=st.booleans())
def test_no_text_of_the_model_goes_along(text: str, other: str, spelling: str, *, nested: bool) -> None:
    """However the caller's code writes it, cuts it or turns it round; names that the model made up are text, too."""
    document = {"known": [{text: 1}]} if nested else {"known": {"known": text}, "other": other}
    message = SPELLINGS[spelling](text).join(LITERALS)
    told = without(message, document, own, frozenset({"known", "other"}))

    assert told is None or not leaked(told, text), told


@settings(max_examples=examples(60))
@given(
    number=st.integers(100, 10**12) | st.floats(100, 1e9, allow_nan=False).map(lambda each: round(each, 3)),
    spelling=st.sampled_from(sorted(NUMBERS)),
)
def test_no_number_of_the_model_goes_along(number: float, spelling: str) -> None:
    """However it is formatted or rounded."""
    message = NUMBERS[spelling](number).join(LITERALS)
    told = without(message, {"known": number}, own, frozenset({"known"}))

    assert told is None or not re.search(r"\d{3}", told.replace(",", "").replace("_", "")), told


@settings(max_examples=examples(40))
@given(text=TEXTS, answer=st.text("abcdefgmnoruvt ", max_size=60))
def test_a_message_that_quotes_nothing_is_told_as_it_is(text: str, answer: str) -> None:
    """Whatever the answer says: the caller's own words are never taken for it, unless they are all of a text in it."""
    message = " ".join("".join(LITERALS).split())
    told = without(message, {"known": [answer, text]}, lambda: Author((message,)), frozenset({"known"}))

    assert told == message or letters(message) in (letters(text), letters(answer))
