"""The caller's own rules: what they find is corrected, what they raise is reported as theirs."""

from __future__ import annotations

import functools
import itertools
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, field_validator

from emitter import Policy
from emitter.errors import CheckFailed
from emitter.events import NodeFailed, ProviderUsage, RetryAttempted, RetryExhausted
from emitter.forms.document import DocumentTerms, document_form
from emitter.schema import Violation
from tests.forms.document.asking import FORM, HELD, INVOICE, ODD, Invoice, ask, every_wire, every_world, said

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


@pytest.mark.parametrize(("check", "reported"), FOUND.values(), ids=FOUND.keys())
def test_a_finding_is_one_line(check: Callable[[Any], object], reported: str) -> None:
    """Sentences and violations, one or many, stand one a line in the corrective fragment."""
    asked = ask("openai-chat", [said(HELD), said(HELD)], checks=[check], policy=Policy(max_attempts=2))

    assert f"\n{reported}\n" in _last(asked.bodies[1])
    assert asked.error.code == "envelope_invalid"


@pytest.mark.parametrize("found", [None, [], (), "", True], ids=repr)
def test_nothing_found_is_nothing_reported(found: object) -> None:
    """None, True and an empty list or text are the same: the rule holds."""
    assert ask("anthropic", [said(HELD)], checks=[lambda _: None, lambda _: found]).value == INVOICE


def small(invoice: Invoice) -> bool:
    """Keep the total below 50 euros.

    Larger ones are split.
    """
    return invoice.total <= 50


REFUSING: dict[str, tuple[Callable[[Any], object], str]] = {
    "with a docstring": (small, "- /: check: Keep the total below 50 euros."),
    "without one": (lambda invoice: invoice.total <= 50, "- /: check: an answer that passes the check <lambda>"),
    "partial": (functools.partial(lambda _, __: False, 1), "- /: check: an answer that passes the check partial"),
}


@pytest.mark.parametrize(("check", "reported"), REFUSING.values(), ids=REFUSING.keys())
def test_a_check_may_say_yes_or_no(check: Callable[[Any], object], reported: str) -> None:
    """False refuses the answer, and the model is told what the check says of itself."""
    asked = ask("openai-chat", [said(DEAR), said(DEAR)], checks=[check], policy=Policy(max_attempts=2))

    assert f"\n{reported}\n" in _last(asked.bodies[1])


def quoting(invoice: dict[str, Any]) -> Violation:
    """Quote the answer wherever that is possible."""
    vendor = invoice["vendor"]
    return Violation(f"/total/{vendor}", vendor, f"another vendor than {vendor!r}")


def test_what_a_check_quotes_is_struck_out() -> None:
    """In the message, the rule and the pointer."""
    answer = {**HELD, "vendor": "Quentin & Sons"}
    asked = ask("openai-chat", [said(answer)] * 2, FORM, checks=[quoting], policy=Policy(max_attempts=2))

    assert "\n- /total/*: check: another vendor than '…'\n" in _last(asked.bodies[1])
    assert "Quentin" not in f"{asked.bodies[1]}{asked.error}{asked.reported}"


def test_what_a_check_keeps_of_an_answer_is_struck_out() -> None:
    """A check that holds its last message as an attribute tells no more than one that returns it at once."""

    class Keeping:
        def __call__(self, form: Any) -> list[str]:
            self.why = f"{form['vendor']} is unknown to the register"
            return [self.why]

    script = [said({**HELD, "vendor": "Zanzibar Quux"})] * 2
    asked = ask("openai-chat", script, FORM, checks=[Keeping()], policy=Policy(max_attempts=2))

    assert "- /: check: … is unknown to the register\n" in _last(asked.bodies[1])


def test_the_words_of_checks_and_validators_can_be_withheld() -> None:
    """Then the model is told that something is wrong, and not what the caller's code says of it."""

    class Strict(Invoice):
        @field_validator("total")
        @classmethod
        def _known(cls, total: int) -> int:
            if total > DEAR["total"]:
                raise ValueError("only totals of two digits")
            return total

    script = [said({**HELD, "total": 9999}), said(DEAR), said(DEAR)]
    thrice = Policy(max_attempts=3)
    reported = ask("openai-chat", script, Strict, checks=[cheap], policy=thrice)
    withheld = ask("openai-chat", script, Strict, checks=[cheap], policy=thrice, validator_messages=False)

    assert "- /total: value_error: only totals of two digits\n" in _last(reported.bodies[1])
    assert "split it." in _last(reported.bodies[2])
    assert "- /total: value_error: what the description of this place asks for\n" in _last(withheld.bodies[1])
    assert "- /: check: an answer that passes the check cheap\n" in _last(withheld.bodies[2])


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
    "numbers": (lambda _: [1], TypeError),
    "while iterating": (lambda _: (1 / 0 for _ in "a"), ZeroDivisionError),
}


@every_wire
@pytest.mark.parametrize(("check", "cause"), RAISING.values(), ids=RAISING.keys())
def test_a_check_that_raises_is_the_callers_bug(
    wire: str, check: Callable[[Any], object], cause: type[Exception]
) -> None:
    """It ends the emission at once with what was spent, and what it raised is the cause, reported nowhere else."""
    asked = ask(wire, [said(HELD)], checks=[check])
    error = asked.error

    assert isinstance(error, CheckFailed)
    assert isinstance(error.__cause__, cause)
    assert error.code == "check_failed"
    reported = "returned a value of type int; a check returns" if cause is TypeError else f"raised {cause.__name__}"
    assert reported in str(error)
    assert error.trace.usage.output == 40
    assert [each.verdict.value for each in asked.trace.attempts] == ["unchecked"]
    assert [type(each) for each in asked.events][1:] == [ProviderUsage, NodeFailed]
    assert not any(isinstance(each, RetryExhausted) for each in asked.events)
    assert ODD not in f"{error} {asked.reported}"


def test_a_check_that_returns_its_value_is_reported_so() -> None:
    """A pydantic model can be iterated, so its fields must not be taken for findings."""

    class Total(BaseModel):
        total: int

    form = document_form(Total, DocumentTerms(checks=(lambda total: total,)))
    failure = form.read_value({"total": 1}).failure

    assert "returned a value of type Total" in str(failure)


def test_a_check_is_named_in_the_error() -> None:
    """Which one it was stands in the sentence, and the error crosses a process."""
    error = ask("anthropic", [said(HELD)], checks=[cheap, _divide]).error

    assert str(error).startswith("The check _divide raised ZeroDivisionError (calls made: 1).")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_validator_that_raises_what_is_no_finding_is_a_bug_too() -> None:
    """Pydantic makes findings of ``ValueError``; anything else is reported like a check's."""

    class Broken(Invoice):
        def model_post_init(self, _: Any) -> None:
            raise KeyError(ODD)

    error = ask("openai-chat", [said(HELD)], Broken).error

    assert isinstance(error, CheckFailed)
    assert isinstance(error.__cause__, KeyError)
    assert str(error).startswith("A validator of Broken raised KeyError")


def test_a_later_check_is_asked_though_an_earlier_one_found() -> None:
    """All that is wrong is reported at once."""
    checks: Iterable[Any] = [lambda _: ["One."], lambda _: ["Two."]]
    asked = ask("openai-chat", [said(HELD), said(HELD)], checks=checks, policy=Policy(max_attempts=2))

    assert "- /: check: One.\n- /: check: Two." in _last(asked.bodies[1])
