"""What cannot be asked for is reported in one sentence, before anything is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import attrs
import openai
import pytest
from pydantic import BaseModel, ConfigDict

from emitter import InputError, Policy, Unreachable, aemit, emit
from emitter.errors import Uncompilable, UnknownModel, UnknownModelWarning
from emitter.models import AUTHORIZATION, AuthorizationEnvelope
from emitter.models.authorization import Action, Measurement, Provenance, Refusal
from tests.forms.document.asking import FORM, HELD, TASK, Invoice


class Plain:
    """A class that says nothing of its members."""


@attrs.define
class Item:
    """A class of attrs."""

    name: str


@dataclass
class Box:
    """A dataclass with a class of attrs in it."""

    item: Item


class Claimed(BaseModel):
    """A form with an authorization envelope in it."""

    notes: list[str]
    claims: dict[str, list[Measurement | Refusal]]


class Deferred(BaseModel):
    """A form whose schema is not built before it is needed."""

    model_config = ConfigDict(defer_build=True)

    claim: Measurement


class Ours(Measurement):
    """A measurement of the caller's own type."""


@dataclass
class Rests:
    """What a claim of the caller's own rests on."""

    on: Provenance | None


class Later(BaseModel):
    """A model that names what is nowhere."""

    next: "Nowhere"  # type: ignore[name-defined]  # noqa: F821


AUTHORITY: dict[str, object] = {
    "a claim": Measurement,
    "a refusal": Refusal,
    "any kind": AuthorizationEnvelope,
    "a list of claims": list[Action],
    "a claim in a form": Claimed,
    "a claim of the caller's own type": Ours,
    "a provenance": Rests,
    "a claim in a form that is built later": Deferred,
}


@pytest.mark.parametrize("schema", AUTHORITY.values(), ids=AUTHORITY.keys())
def test_no_model_grants_authority(schema: object) -> None:
    """What it wrote would be taken for an envelope, with oracles that nobody asked."""
    with pytest.raises(InputError, match="cannot write an authorization envelope"):
        emit(schema, TASK, model="openai/gpt-6-sol", client=openai.OpenAI(api_key="none"))


def test_no_document_is_an_authorization() -> None:
    """Whatever its schema is."""
    with pytest.raises(InputError, match="cannot write an authorization envelope"):
        emit(FORM, TASK, model="openai/gpt-6-sol", client=openai.OpenAI(api_key="none"), kind=AUTHORIZATION)


async def _slow(_: object) -> None:
    """Find nothing, later."""


async def _slow_generator(_: object) -> AsyncIterator[str]:
    """Find something, later."""
    yield "wrong"


NO_SCHEMAS: dict[str, tuple[object, str]] = {
    "nothing": (None, "a schema is a JSON Schema as a dict, or a type such as a pydantic model; this is of type None"),
    "text": ('{"type": "object"}', "this is of type str; emit takes the form first, and then the prompt"),
    "bytes": (b"{}", "this is of type bytes"),
    "a number": (5, "this is of type int"),
    "a lambda": (lambda x: x, "this is of type function"),
    "a list": ([FORM], "or list[...] of one; this is of type list; emit takes the form first"),
    "a value of the model": (Invoice.model_validate(HELD), "pass the class Invoice, not an instance of it"),
    "a value of the dataclass": (Rests(None), "pass the class Rests, not an instance of it"),
    "a class that is no schema": (
        Plain,
        "pydantic can make no JSON Schema of Plain: it reads the fields of dataclasses",
    ),
    "an attrs class": (Item, "of Item: it reads the fields of dataclasses"),
    "a list of an attrs class": (list[Item], "of Item: it reads the fields of dataclasses"),
    "a dataclass with an attrs class": (Box, "with @dataclasses.dataclass in place of @attrs.define"),
    "a function": (Callable[[int], int], "pydantic can make no JSON Schema of"),
    "an undefined name": (Later, "pydantic can make no JSON Schema of Later"),
    "not a number": ({"type": "number", "maximum": float("nan")}, "the schema is not JSON"),
    "a set": ({"enum": {1, 2}}, "the schema is not JSON"),
    "half a character": ({"title": "\ud83d"}, "the schema is not JSON"),
}


@pytest.mark.parametrize(("schema", "reported"), NO_SCHEMAS.values(), ids=NO_SCHEMAS.keys())
def test_what_is_no_schema_is_refused(schema: object, reported: str) -> None:
    """The error of any argument, at the root, in a plain sentence."""
    with pytest.raises(InputError) as raised:
        emit(schema, TASK, model="openai/gpt-6-sol")

    assert isinstance(raised.value, Uncompilable)
    assert raised.value.pointer == ""
    assert reported in str(raised.value)


def test_a_schema_that_holds_itself_is_refused() -> None:
    """A circle of dicts has no end, and is reported instead of followed."""
    circle: dict[str, Any] = {"type": "object"}
    circle["properties"] = {"again": circle}

    with pytest.raises(Uncompilable, match="contains itself"):
        emit(circle, TASK, model="openai/gpt-6-sol")


BAD: dict[str, tuple[dict[str, Any], type[InputError], str]] = {
    "no-vendor": ({"model": "my-model"}, UnknownModel, "Write vendor/model"),
    "empty-situation": ({"messages": " \n"}, InputError, "The prompt is empty."),
    "no-messages": ({"messages": []}, InputError, "is an empty list"),
    "unknown-wire": ({"wire": "telex"}, InputError, "It has openai-responses, openai-chat"),
    "wrong-client": ({"client": object()}, InputError, "needs an OpenAI client, but client= is an object."),
    "address-twice": ({"base_url": "http://127.0.0.1:9/v1"}, InputError, "Pass client= or base_url=, not both."),
    "policy-as-dict": ({"policy": {"max_attempts": 1}}, InputError, "it must be of type Policy."),
    "materials-as-text": ({"materials": "abc"}, InputError, "materials must be a list."),
    "one-check": ({"checks": print}, InputError, "checks must be a list. Put the functions into one."),
    "checks-as-text": ({"checks": "abc"}, InputError, "checks must be a list."),
    "no-check": ({"checks": [5]}, InputError, "checks[0] is of type int, not a function of the value."),
    "async-check": ({"checks": [_slow]}, InputError, "checks[0] is async."),
    "async-generator-check": ({"checks": [_slow_generator]}, InputError, "checks[0] is async."),
    "instructions-of-another-type": ({"instructions": 5}, InputError, "instructions is of type int, not text."),
    "half-instructions": ({"instructions": "\ud83d"}, InputError, "instructions contains a lone surrogate."),
    "unknown-undeclared": ({"undeclared": "drop"}, InputError, "it must be one of carry, close, or None."),
    "empty-node-id": ({"node_id": ""}, InputError, "must not be empty"),
}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("given", "error", "reported"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_reported_before_anything_is_sent(
    given: dict[str, Any], error: type[InputError], reported: str, asynchronous: bool
) -> None:
    """The same sentences in both worlds."""
    kind = openai.AsyncOpenAI if asynchronous else openai.OpenAI
    defaults = {"messages": TASK, "model": "openai/gpt-6-sol"}
    arguments: dict[str, Any] = {"client": kind(api_key="k", base_url="http://127.0.0.1:9/v1"), **defaults, **given}

    with pytest.raises(error) as raised:
        asyncio.run(aemit(FORM, **arguments)) if asynchronous else emit(FORM, **arguments)

    assert reported in str(raised.value)


def test_a_dict_without_a_keyword_is_warned_of() -> None:
    """Everything is valid for it, which nobody means."""
    client = openai.OpenAI(api_key="none", base_url="http://127.0.0.1:9/v1")
    with pytest.warns(UserWarning, match="no keyword of JSON Schema") as warned, pytest.raises(Unreachable):
        emit({"vendor": "string"}, TASK, model="openai/gpt-6-sol", client=client, policy=Policy(max_faults=0))

    assert warned[0].filename == __file__


def test_an_unknown_model_with_a_similar_name_is_suggested() -> None:
    """A misspelt model is unknown, and the warning says which one is meant. A later one is not taken for it."""
    client = openai.OpenAI(api_key="none", base_url="http://127.0.0.1:9/v1")
    policy = Policy(max_faults=0)
    with (
        pytest.warns(UnknownModelWarning, match=r"Did you mean 'openai/gpt-6-sol'\?") as warned,
        pytest.raises(Unreachable),
    ):
        emit(FORM, TASK, model="openai/gtp-6-sol", client=client, policy=policy)
    assert len(warned) == 1
    with pytest.warns(UnknownModelWarning, match=r"gpt-10 is an unknown model\. Assuming"), pytest.raises(Unreachable):
        emit(FORM, TASK, model="openai/gpt-10", client=client, policy=policy)


@pytest.mark.parametrize("base_url", ["localhost:8000", "user:secret@host/v1", "ftp://host"])
def test_an_address_without_http_is_refused(base_url: str) -> None:
    """It is no address that can be called, so it is not tried five times. Credentials in it are not shown."""
    with pytest.raises(InputError, match="does not begin with http:// or https://") as raised:
        emit(FORM, TASK, model="openai-compatible/m", base_url=base_url)

    assert "secret" not in str(raised.value)


def test_an_unknown_argument_is_a_type_error() -> None:
    """A misspelt argument is not swallowed."""
    with pytest.raises(TypeError, match="chekcs"):
        emit(FORM, TASK, model="openai/gpt-6-sol", chekcs=())  # type: ignore[call-overload]
