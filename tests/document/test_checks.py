"""The caller's own rules: what they find is corrected, what they raise is told as theirs."""

from __future__ import annotations

import itertools
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from emitter import CheckFailed, Policy, Violation
from emitter.events import NodeFailed, ProviderUsage, RetryAttempted, RetryExhausted
from tests.document.asking import FORM, HELD, INVOICE, ODD, Invoice, ask, every_wire, every_world, said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DEAR = {**HELD, "total": 99}


def cheap(invoice: Invoice) -> list[str]:
    """Find what is too dear."""
    return ["The total is above 50 euros: split it."] if invoice.total > 50 else []


def _last(body: Any) -> str:
    return body["messages"][-1]["content"]


@every_world
@every_wire
def test_what_a_check_finds_is_corrected(wire: str, world: str) -> None:
    """The model is told in the caller's words, and asked again."""
    asked = ask(wire, [said(DEAR), said(HELD)], checks=[cheap], world=world)

    assert asked.value == INVOICE
    assert "split it." in str(asked.bodies[1])
    assert "split it." not in str(asked.bodies[0])
    assert len([each for each in asked.events if isinstance(each, RetryAttempted)]) == 1


FOUND: dict[str, tuple[Callable[[Any], object], str]] = {
    "a sentence": (lambda _: "Too dear.", "- /: check: Too dear."),
    "sentences": (lambda _: ["Too dear.", "Too late."], "- /: check: Too dear.\n- /: check: Too late."),
    "a violation": (lambda _: Violation("/total", "budget", "at most 50"), "- /total: budget: at most 50"),
    "from a generator": (lambda _: (each for each in ["One."]), "- /: check: One."),
    "over several lines": (lambda _: ["One\n\n# Two"], "- /: check: One # Two"),
    "half a character": (lambda _: ["\ud83d!"], "- /: check: ?!"),
}


@pytest.mark.parametrize(("check", "told"), FOUND.values(), ids=FOUND.keys())
def test_a_finding_is_one_line(check: Callable[[Any], object], told: str) -> None:
    """Sentences and violations, one or many, stand one a line in the corrective fragment."""
    asked = ask("openai-chat", [said(HELD), said(HELD)], checks=[check], policy=Policy(max_attempts=2))

    assert f"\n{told}\n" in _last(asked.bodies[1])
    assert asked.error.code == "envelope_invalid"


@pytest.mark.parametrize("found", [None, [], (), ""], ids=repr)
def test_nothing_found_is_nothing_told(found: object) -> None:
    """None and an empty list are the same: the rule holds."""
    checks = [lambda _: None, lambda _: found] if found != "" else [lambda _: None]

    assert ask("anthropic", [said(HELD)], checks=checks).value == INVOICE


def test_findings_are_bounded() -> None:
    """Neither their number nor their length can swell the prompt."""
    endless = ask(
        "openai-chat",
        [said(HELD), said(HELD)],
        checks=[lambda _: (f"{nth} " + "x" * 1000 for nth in itertools.count()), lambda _: ["more"]],
        policy=Policy(max_attempts=2),
    )
    lines = [each for each in _last(endless.bodies[1]).splitlines() if each.startswith("- ")]

    assert len(lines) == 12
    assert max(map(len, lines)) < 350


def test_a_check_sees_a_value_once_and_only_a_valid_one() -> None:
    """It is asked of the model's instance, after schema and validators, once for each answer."""
    seen: list[object] = []
    ask("google", [said({**HELD, "vendor": ODD}), said(HELD)], checks=[seen.append])

    assert seen == [INVOICE]


def test_a_check_of_a_schema_sees_json() -> None:
    """Without a type the value is the document."""
    seen: list[object] = []
    ask("google", [said(HELD)], FORM, checks=[seen.append])

    assert seen == [HELD]


def _divide(_: object) -> None:
    raise ZeroDivisionError(ODD)


RAISING: dict[str, tuple[Callable[[Any], object], type[Exception]]] = {
    "an exception": (_divide, ZeroDivisionError),
    "a truth": (lambda _: True, TypeError),
    "a falsehood": (lambda _: False, TypeError),
    "numbers": (lambda _: [1], TypeError),
    "while iterating": (lambda _: (1 / 0 for _ in "a"), ZeroDivisionError),
}


@every_wire
@pytest.mark.parametrize(("check", "cause"), RAISING.values(), ids=RAISING.keys())
def test_a_check_that_raises_is_the_callers_bug(
    wire: str, check: Callable[[Any], object], cause: type[Exception]
) -> None:
    """It ends the emission at once with what was spent, and what it raised is the cause, told nowhere else."""
    asked = ask(wire, [said(HELD)], checks=[check])
    error = asked.error

    assert isinstance(error, CheckFailed)
    assert isinstance(error.__cause__, cause)
    assert error.code == "check_failed"
    assert f"raised {cause.__name__}" in str(error)
    assert error.trace.usage.output == 40
    assert [each.verdict.value for each in asked.trace.attempts] == ["unchecked"]
    assert [type(each) for each in asked.events][1:] == [ProviderUsage, NodeFailed]
    assert not any(isinstance(each, RetryExhausted) for each in asked.events)
    assert ODD not in f"{error} {asked.told}"


def test_a_check_is_named_in_the_error() -> None:
    """Which one it was stands in the sentence, and the error crosses a process."""
    error = ask("anthropic", [said(HELD)], checks=[cheap, _divide]).error

    assert str(error).startswith("The check _divide raised ZeroDivisionError (calls made: 1).")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_validator_that_raises_what_is_no_finding_is_a_bug_too() -> None:
    """Pydantic makes findings of ``ValueError``; anything else that a model's code raises is told like a check's."""

    class Broken(Invoice):
        def model_post_init(self, _: Any) -> None:
            raise KeyError(ODD)

    error = ask("openai-chat", [said(HELD)], Broken).error

    assert isinstance(error, CheckFailed)
    assert isinstance(error.__cause__, KeyError)
    assert str(error).startswith("A validator of Broken raised KeyError")


def test_a_later_check_is_asked_though_an_earlier_one_found() -> None:
    """All that is wrong is told at once."""
    checks: Iterable[Any] = [lambda _: ["One."], lambda _: ["Two."]]
    asked = ask("openai-chat", [said(HELD), said(HELD)], checks=checks, policy=Policy(max_attempts=2))

    assert "- /: check: One.\n- /: check: Two." in _last(asked.bodies[1])
