"""The messages of validators and checks reach the model without a word of its answer."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from decimal import Decimal
from enum import Enum
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, ClassVar
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    IPvAnyAddress,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from emitter.forms.document import DocumentTerms, document_form, make_reader
from emitter.schema.message_redaction import SourceText, collect_source_text, redact_message
from emitter.schema.python_types import resolve_schema
from emitter.schema.results import DEFAULT_EXPECTATION
from tests.forms.document import asking
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


@pytest.mark.parametrize(("form", "document", "reported"), TOLD.values(), ids=TOLD)
def test_the_caller_s_own_words_are_kept(form: Any, document: Any, reported: str) -> None:
    """Of validators of every sort, and of the types that pydantic brings along; what they quote is struck out."""
    [found] = resolve_schema(form).parse(document).violations

    assert str(found) == reported


class Order(BaseModel):
    """An order of one of the customers that the validation context names."""

    customer: str

    @field_validator("customer")
    @classmethod
    def is_ours(cls, customer: str, info: ValidationInfo) -> str:
        """Name the customers, and remember what was answered."""
        context: Any = info.context
        context["seen"].append(customer)
        raise ValueError(
            f"{customer!r} is no customer. Ours: {', '.join(context['ours'])}. Seen: {context['seen'][-1]}"
        )


@pytest.mark.parametrize(
    "answer", ["Acme Limited Berlin", "ACME GMBH", "acme gmbh", "Acme-GmbH", "berlin BROT"], ids=repr
)
def test_what_the_context_names_is_kept(answer: str) -> None:
    """Words of the context from before the first call reach the model; what a validator stores there does not."""
    ours = ["Acme GmbH", "Berlin Brot"]
    form = document_form(Order, DocumentTerms(context={"ours": ours, "seen": list[str]()}))
    found = form.read_value({"customer": answer})

    assert [each.expected for each in found.violations] == [
        "'…' is no customer. Ours: Acme GmbH, Berlin Brot. Seen: …",
    ]


def test_what_the_context_names_is_kept_where_the_answer_has_it_too() -> None:
    """The words are the caller's: a list without them would tell the model something else."""
    form = document_form(Order, DocumentTerms(context={"ours": ["Acme GmbH", "Berlin Brot"], "seen": list[str]()}))
    found = form.read_value({"customer": "Acme GmbH"})

    assert [each.expected for each in found.violations] == [
        "'Acme GmbH' is no customer. Ours: Acme GmbH, Berlin Brot. Seen: Acme GmbH",
    ]


class Parcel(BaseModel):
    """An order whose customer a check judges."""

    customer: str


def test_a_check_may_name_what_the_context_has_as_a_validator_may() -> None:
    """The same words of the caller's, wherever the rule stands."""

    def is_known(parcel: Parcel) -> str:
        return f"write a customer of ours, not {parcel.customer}"

    expected: list[str] = []
    for context in ({"ours": ["Acme GmbH"]}, {"ours": ["Berlin Brot"]}):
        form = document_form(Parcel, DocumentTerms((is_known,), context=context))
        expected += [each.expected for each in form.read_value({"customer": "Acme GmbH"}).violations]

    assert expected == ["write a customer of ours, not Acme GmbH", "write a customer of ours, not …"]


SUMS: dict[str, tuple[float | str, str, str]] = {
    "near": (500, "the sum is 470, or 511, not 5001", "the sum is 470, or 511, not 5001"),
    "same": (500, "the sum is not 500, but 511", "the sum is not …, but 511"),
    "same, as a text": ("500", "the sum is not 500.00, but 511", "the sum is not …, but 511"),
    "rounded": (1234.567, "neither 1235 nor 1,234.57, but 1236", "neither … nor …, but 1236"),
    "same digits": (12500, "it is 125.00 euros, not 126.00", "it is … euros, not 126.00"),
    "inside another": (10400, "the sum is at most 1000 or 040", "the sum is at most 1000 or 040"),
    "the caller's limit": (4000, f"the sum is below {LIMIT}", "the sum is below 4000"),
}


@pytest.mark.parametrize(("answer", "message", "reported"), SUMS.values(), ids=SUMS)
def test_only_numbers_of_the_answer_are_struck_out(answer: float | str, message: str, reported: str) -> None:
    """A correct number is often near the wrong one, and a limit may be the same."""
    found = redact_message(message, {"total": answer}, lambda: collect_source_text(LIMIT), frozenset({"total"}))

    assert found == reported


def test_words_that_the_answer_has_too_are_kept_where_they_are_the_caller_s() -> None:
    """A long answer shares words with every sentence."""
    document = {"day": "It must be a weekday in English: write the day as such, Monday."}
    [found] = resolve_schema(Form).parse(document).violations

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
    assert redact_message(message, document, SourceText, frozenset()) is None


def test_a_validator_without_words_is_reported_as_one() -> None:
    """An assertion without a message says nothing."""

    def judge(value: int) -> int:
        if value != 1:
            raise AssertionError
        return value

    [found] = resolve_schema(Annotated[int, AfterValidator(judge)]).parse(7).violations
    assert found.expected == DEFAULT_EXPECTATION


def test_what_code_can_be_filled_with_is_not_the_caller_s() -> None:
    """A list that a validator keeps may hold an answer; defaults, arguments and literals stay what they are."""
    kept = [" & ".join(sorted(["Sons", "Quentin"]))]

    def check(value: str, where: str = "in the register") -> str:
        return f"{value} stands {where} of {ALLOWED} beside {kept}"

    author = collect_source_text(partial(check, where="among the vendors"))
    assert {"in the register", "among the vendors", "invoice", "receipt", "stands"} <= set(author.phrases)
    assert "Quentin & Sons" not in author.phrases


LAST = ""
HISTORY: list[str] = []
GROWING: tuple[str, ...] = ()


class Remembering:
    """A check that keeps what it said in itself, or in its class."""

    said = ""

    def __init__(self, *, in_class: bool) -> None:
        """Keep nothing yet."""
        self.in_class = in_class
        self.why = ""

    def __call__(self, value: str) -> str:
        """Keep what is said, and say it."""
        if self.in_class:
            Remembering.said = f"{value} is unknown to the register"
            return Remembering.said
        self.why = f"{value} is unknown to the register"
        return self.why


class Notes:
    """What stands for a logger."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.last = ""

    def note(self, text: str) -> str:
        """Keep a text."""
        self.last = text
        return text


NOTES = Notes()


def _in_global(value: str) -> str:
    global LAST  # noqa: PLW0603  the subject
    LAST = f"{value} is unknown to the register"
    return LAST


def _in_growing_tuple(value: str) -> str:
    global GROWING  # noqa: PLW0603  the subject
    GROWING = (*GROWING, f"{value} is unknown to the register")
    return GROWING[-1]


def _in_list(value: str) -> str:
    HISTORY.append(f"{value} is unknown to the register")
    return HISTORY[-1]


def _in_notes(value: str) -> str:
    return NOTES.note(f"{value} is unknown to the register")


def _in_closure() -> Callable[[str], str]:
    kept = ""

    def check(value: str) -> str:
        nonlocal kept
        kept = f"{value} is unknown to the register"
        return kept

    return check


def _in_parameter(refused: str = "") -> Callable[[str], str]:
    def check(value: str) -> str:
        nonlocal refused
        refused = f"{value} is unknown to the register"
        return refused

    return check


def _by_a_neighbour() -> Callable[[str], str]:
    noted = ""

    def note(text: str) -> None:
        nonlocal noted
        noted = text

    def check(value: str) -> str:
        note(f"{value} is unknown to the register")
        return noted

    return check


def _in_dict() -> Callable[[str], str]:
    memory: dict[str, str] = {}

    def check(value: str) -> str:
        return memory.setdefault(value, f"{value} is unknown to the register")

    return check


def _in_attribute(value: str) -> str:
    vars(_in_attribute)["last"] = f"{value} is unknown to the register"
    return str(vars(_in_attribute)["last"])


@cache
def _in_cache(value: str) -> str:
    return f"{value} is unknown to the register"


KEEPING: dict[str, Callable[[str], str]] = {
    "attribute of the object": Remembering(in_class=False),
    "attribute of the class": Remembering(in_class=True),
    "attribute of the function": _in_attribute,
    "global": _in_global,
    "growing tuple": _in_growing_tuple,
    "list": _in_list,
    "dict": _in_dict(),
    "nonlocal": _in_closure(),
    "nonlocal parameter": _in_parameter(),
    "nonlocal of a neighbour": _by_a_neighbour(),
    "cache": _in_cache,
    "logger": _in_notes,
    "partial": partial(_in_global),
    "method": Remembering(in_class=False).__call__,
}


@pytest.mark.parametrize("check", KEEPING.values(), ids=KEEPING)
@pytest.mark.parametrize("as_validator", [False, True], ids=["check", "validator"])
def test_what_a_check_remembers_of_an_answer_is_struck_out(check: Callable[[str], str], *, as_validator: bool) -> None:
    """However it is kept, and in whatever emission: the same check is asked in three, with the same answer at last."""

    def judge(value: str) -> str:
        raise ValueError(check(value))

    validated = resolve_schema(Annotated[str, AfterValidator(judge)])
    for text in ("Zanzibar Quux", "Mombasa Quuz", "Zanzibar Quux"):
        found = validated.parse(text) if as_validator else make_reader(resolve_schema(str), (check,))(text)
        [violation] = found.violations
        assert violation.expected == "… is unknown to the register"


CITIES = {"Berlin", "Hamburg"}
LARGEST = Decimal("500.00")
WORDS = {"plain": "without a comma"}


class Grade(Enum):
    """What a grade may be."""

    FIRST = "first class"
    SECOND = "second class"


class OneOf:
    """A check with a table in its class."""

    known: ClassVar = ["Acme Limited"]

    def __init__(self) -> None:
        """Take a table of its own."""
        self.more = frozenset({"Bolt Limited"})

    def __call__(self, value: str) -> str:
        """Name the tables."""
        return f"{value!r} is none of {self.listed()}"

    def listed(self) -> str:
        """Return both tables as text."""
        return ", ".join([*self.known, *sorted(self.more)])


def _among(*allowed: str) -> Callable[[str], str]:
    return lambda value: f"{value!r} must be one of {', '.join(allowed)}"


def _wrapping(inner: Callable[[str], str]) -> Callable[[str], str]:
    @wraps(inner)
    def outer(value: str) -> str:
        return inner(value)

    return outer


def _explained(_: str) -> str:
    return f"write it {WORDS['plain']}"


USEFUL: dict[str, tuple[Callable[[str], str], str, str]] = {
    "set": (
        lambda value: f"{value!r} is none of {sorted(CITIES)}",
        "Berlin-Mitte",
        "'…' is none of ['Berlin', 'Hamburg']",
    ),
    "decimal": (lambda _: f"no more than {LARGEST} euros", "1500.00", "no more than 500.00 euros"),
    "dict": (_explained, "10 without a comma", "write it without a comma"),
    "enum": (
        lambda _: f"use {' or '.join(each.value for each in Grade)}",
        "first class, surely",
        "use first class or second class",
    ),
    "class": (OneOf(), "Acme Limited, London; Bolt Limited", "'…' is none of Acme Limited, Bolt Limited"),
    "factory": (_among("Berlin", "Hamburg"), "Berlin-Mitte", "'…' must be one of Berlin, Hamburg"),
    "decorated": (_wrapping(_explained), "10 without a comma", "write it without a comma"),
    "cached": (cache(_explained), "10 without a comma", "write it without a comma"),
    "import": (lambda _: f"at most {asking.TASK}", f"So: {asking.TASK}", f"at most {asking.TASK}"),
    "literal": (lambda _: "the name of a city", "the name of a city in words", "the name of a city"),
}


@pytest.mark.parametrize(("check", "text", "reported"), USEFUL.values(), ids=USEFUL)
def test_the_caller_s_constants_are_kept_where_an_answer_comes_near(
    check: Callable[[str], str], text: str, reported: str
) -> None:
    """Whatever they stand in: a near miss must still be told what would have been right."""
    [found] = make_reader(resolve_schema(str), (check,))(text).violations

    if "'…" in reported:  # what is quoted of the answer may be words of the caller's, too
        assert found.expected.partition(" ")[2].endswith(reported.partition(" ")[2])
    else:
        assert found.expected == reported


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


def leaked(reported: str, of: str) -> list[str]:
    """Return what a reported message shows of a text, beside the caller's own words."""
    pieces = re.split("|".join(re.escape(each.strip()) for each in LITERALS), reported)
    there = letters(of)
    found = [letters(piece)[at : at + 4] for piece in pieces for at in range(len(letters(piece)) - 3)]
    return [each for each in found if each in there]


def own() -> SourceText:
    """Return what stands in the code that writes the messages of the laws."""
    return SourceText(tuple(each.strip() for each in LITERALS))


@settings(max_examples=examples(60))
@given(text=TEXTS, other=TEXTS, spelling=st.sampled_from(sorted(SPELLINGS)), nested=st.booleans())
def test_no_text_of_the_model_goes_along(text: str, other: str, spelling: str, *, nested: bool) -> None:
    """However the caller's code writes it, cuts it or turns it round; names that the model made up are text, too."""
    document = {"known": [{text: 1}]} if nested else {"known": {"known": text}, "other": other}
    message = SPELLINGS[spelling](text).join(LITERALS)
    reported = redact_message(message, document, own, frozenset({"known", "other"}))

    assert reported is None or not leaked(reported, text), reported


@settings(max_examples=examples(60))
@given(
    number=st.integers(100, 10**12) | st.floats(100, 1e9, allow_nan=False).map(lambda each: round(each, 3)),
    spelling=st.sampled_from(sorted(NUMBERS)),
)
def test_no_number_of_the_model_goes_along(number: float, spelling: str) -> None:
    """However it is formatted or rounded."""
    message = NUMBERS[spelling](number).join(LITERALS)
    reported = redact_message(message, {"known": number}, own, frozenset({"known"}))

    assert reported is None or not re.search(r"\d{3}", reported.replace(",", "").replace("_", "")), reported


@settings(max_examples=examples(40))
@given(text=TEXTS, answer=st.text("abcdefgmnoruvt ", max_size=60))
def test_a_message_that_quotes_nothing_is_reported_as_it_is(text: str, answer: str) -> None:
    """Whatever the answer says: the caller's own words are never taken for it, unless they are all of a text in it."""
    message = " ".join("".join(LITERALS).split())
    reported = redact_message(message, {"known": [answer, text]}, lambda: SourceText((message,)), frozenset({"known"}))

    assert reported == message or letters(message) in (letters(text), letters(answer))
