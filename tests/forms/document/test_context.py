"""The context of pydantic validators: it reaches each of them, and nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationInfo, field_validator

from emitter import InputError, emit_many, stream
from emitter.testing import Text, simulator
from tests.forms.document.asking import FORM, ask, every_wire, every_world, said

LEDGER = "ledger-of-quxillious"
"""Stands in the context and must not be sent."""


class Order(BaseModel):
    """An order from a vendor that the caller knows."""

    vendor: str

    @field_validator("vendor")
    @classmethod
    def _is_known(cls, vendor: str, info: ValidationInfo) -> str:
        assert info.context["ledger"] == LEDGER
        if vendor not in info.context["vendors"]:
            raise ValueError("the name must be that of a vendor in the ledger")
        return vendor


CONTEXT = {"vendors": ["Acme"], "ledger": LEDGER}


@every_wire
@every_world
def test_an_answer_and_its_correction_are_validated_in_the_context(wire: str, world: str) -> None:
    """A vendor that the context does not have is corrected; the context is never sent."""
    asked = ask(wire, [said({"vendor": "Bolt"}), said({"vendor": "Acme"})], Order, world=world, context=CONTEXT)

    assert asked.value == Order.model_construct(vendor="Acme")
    assert [attempt.verdict.value for attempt in asked.trace.attempts] == ["violated", "complete"]
    assert "must be that of a vendor in the ledger" in json.dumps(asked.bodies[1])
    assert LEDGER not in asked.reported


def test_streams_and_runs_validate_in_the_context() -> None:
    """The option is the same in every function."""
    with simulator(answers=Text({"vendor": "Acme"})) as vendor:
        options: dict[str, Any] = {"model": "openai/gpt-6-sol", "context": CONTEXT}
        client = vendor.client("openai/gpt-6-sol")
        with stream(Order, "Who?", client=client, **options) as running:
            assert running.result().value.vendor == "Acme"
        with emit_many(Order, ["Who?"], client=vendor.client("openai/gpt-6-sol", asynchronous=True), **options) as run:
            assert [result.value.vendor for result in run] == ["Acme"]


def test_an_example_is_validated_in_the_context() -> None:
    """An example that the context does not allow is an error before anything is sent."""
    with pytest.raises(InputError, match=r"examples\[0\] is invalid: /vendor"):
        ask("anthropic", [], Order, context=CONTEXT, examples=[{"vendor": "Bolt"}])


def test_a_json_schema_takes_no_context() -> None:
    """It has no validators that could read one."""
    with pytest.raises(InputError, match="a JSON Schema has none"):
        ask("anthropic", [], FORM, context=CONTEXT)
