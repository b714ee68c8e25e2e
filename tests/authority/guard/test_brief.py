"""The envelope by which a call is approved tells the call whole, on lines of its own, whoever writes the rest."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority import Authority, brief_from_template
from emitter.authority.guard import briefing
from emitter.authority.proposals import DigestedParameter
from emitter.checks import DEFAULT_CHECKS, Severity, StructuralChecks
from emitter.errors import InputError, NotApproved
from emitter.models import BindingMoment
from emitter.render.layout import build_layout
from emitter.render.safe_text import sanitize_clusters
from tests.authority.guard.parts import CEO, MOM, Person, Post, moment
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import ApprovalRequest

ODD = (
    "\n\r\t\v\f\x00\x07\x1b[31m\x7f\x85\x9b2J\xa0\xad\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u202a\u202e\u2028\u2029"
    '\u2060\u2066\u2069\u3000\u3164\ufe0f\ufeff\ufffd\uffa0\ue000\U000e0041\U0001f468\u0301\u0430\u2215"\\:{}[], aA1'
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.text(st.sampled_from(ODD), max_size=40),
    st.text(st.sampled_from("ab \u0430"), min_size=190, max_size=420),
    st.sampled_from(["a" * 300, f"{'a' * 200} {'a' * 100}", " ", "  ", " a", "a ", "a  b", "", "null", '"', "x: y"]),
)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(TEXTS.filter(lambda name: name != "s256"), inner, max_size=4)
    ),
    max_leaves=8,
)


def tool(first: Any = None, second: Any = None) -> None:
    """Do nothing."""


def shown(*positional: Any, **how: Any) -> BindingMoment:
    """Return the envelope of a call."""
    person = Person()
    Authority().guard(tool, ask=person, **how)(*positional)
    return person.asked[0].moment


def is_one_line(text: str) -> bool:
    """Tell whether a text stands on a line as it is: nothing of it is replaced or left out where it is shown."""
    words = text.split(" ")
    return (
        len(text.splitlines()) == 1
        and all(words)
        and "".join(map("".join, map(sanitize_clusters, words))) == "".join(words)
    )


@settings(max_examples=examples(120))
@given(value=VALUES)
def test_each_argument_is_reported_whole_on_one_line(value: Any) -> None:
    """What is reported reads back as the value; so two values are never reported in the same words."""
    reported = shown(value).findings[0]

    assert reported.startswith("first: ")
    assert json.loads(reported.removeprefix("first: ")) == value
    assert is_one_line(reported)


@settings(max_examples=examples(60))
@given(first=VALUES | TEXTS, second=VALUES, target=TEXTS.filter(bool), to=st.integers(0, 10**9))
def test_the_template_passes_the_structural_checks(first: Any, second: Any, target: str, to: int) -> None:
    """Whatever the arguments, the target and the limits are: no rule is broken, and every line is one."""
    envelope = shown(first, second, target=target[:500], spends=lambda _: {"budget_usd": to})

    assert [each for each in StructuralChecks()(envelope) if each.severity is Severity.ERROR] == []
    assert len(envelope.findings) == 5
    assert all(map(is_one_line, envelope.findings))
    assert build_layout(envelope).choices[1].warning is None
    reported, limits, _ = envelope.findings[2].rpartition(" It runs once, and uses at most ")
    assert json.loads(reported.removeprefix("Target: ").removesuffix(".")) == target[:500]
    assert limits


KEPT: dict[str, tuple[Any, dict[str, Any], str]] = {
    "bytes": (b"\x00\xff", {}, "first: 2 bytes (SHA-256 "),
    "bytes that can be changed": (bytearray(b"h"), {}, "first: 1 byte (SHA-256 "),
    "what is kept back": ("the PIN is PLUGH", {"digested": ["first"]}, "first: not shown (SHA-256 "),
    "what is kept back but for its start": (
        "Dear Mom, all is well.",
        {"digested": [DigestedParameter("first", excerpt=True)]},
        'first: begins "Dear Mom, all is well." (SHA-256 ',
    ),
    "a long text that is kept back": ("x" * 10_000, {"digested": ["first"]}, "first: not shown (SHA-256 "),
    "what looks like a digest": ({"s256": "A" * 43}, {}, f'first: {{"s256": "{"A" * 43}"}} (SHA-256 '),
}


@pytest.mark.parametrize(("value", "how", "reported"), KEPT.values(), ids=KEPT)
def test_what_is_not_reported_whole_is_reported_by_its_hash(value: Any, how: dict[str, Any], reported: str) -> None:
    """On one line; nothing else of it is in the envelope."""
    envelope = shown(value, **how)
    line = envelope.findings[0]

    assert line.startswith(reported)
    assert line.endswith(")")
    assert is_one_line(line)
    assert len(line) < 300
    if "digested" in how and "begins" not in reported:
        assert "PLUGH" not in envelope.model_dump_json()


LONG: dict[str, Any] = {
    "a text": "x" * 99_999 + "DROP TABLE customers;",
    "a text that drives a terminal": "\x1b[2J\u202e" * 3_000,
    "a list": ["x" * 2_000] * 50,
    "an object": {f"{number}": "x" * 100 for number in range(1_000)},
}


@pytest.mark.parametrize("value", LONG.values(), ids=LONG)
def test_what_is_long_is_reported_whole(value: Any) -> None:
    """However long it is: only digested= hides."""
    assert json.loads(shown(value).findings[0].removeprefix("first: ")) == value


def test_what_is_no_json_within_is_reported_by_its_size_and_hash() -> None:
    """What stands around it is reported, and what looks like a digest is reported whole."""
    line = shown({"to": MOM, "body": [b"hi", {"s256": "x", "cc": CEO}]}).findings[0]

    assert line.startswith(f'first: {{"to": "{MOM}", "body": [2 bytes (SHA-256 ')
    assert f'{{"s256": "x", "cc": "{CEO}"}} (SHA-256 ' in line


def test_a_longer_text_than_anybody_reads_is_refused() -> None:
    """With what to do: keep it back, or pass a reference to it."""
    with pytest.raises(InputError, match="digested="):
        shown("x" * 1_000_001)
    shown("x" * 1_000_001, digested=["first"])


LOOKALIKES: dict[str, tuple[str, str]] = {
    "a letter": ("m\u043em@x.org", r"m\u043em@x.org"),
    "after a line break": ("\n\u043c\u043e\u0441\u043a\u0432\u0430", r"\n" + "\u043c\u043e\u0441\u043a\u0432\u0430"),
    "a word": ("\u0430\u0440\u0440\u04cf\u0435.com", r"\u0430\u0440\u0440\u04cf\u0435.com"),
    "a Latin letter in a Cyrillic word": ("\u043co\u0441\u043a\u0432\u0430", "\u043c\\u006f\u0441\u043a\u0432\u0430"),
    "a wide letter": ("\uff50aypal", r"\uff50aypal"),
    "a digit": ("1\u06623", r"1\u06623"),
    "Armenian": ("micr\u0585soft", r"micr\u0585soft"),
    "a letter without width": ("a\u200bb", r"a\u200bb"),
    "Russian": ("\u041c\u043e\u0441\u043a\u0432\u0430", "\u041c\u043e\u0441\u043a\u0432\u0430"),
    "Greek": ("\u0394x = \u03b1", "\u0394x = \u03b1"),
    "German": ("Stra\u00dfe", "Stra\u00dfe"),
    "Thai": ("USB\u0e04\u0e23\u0e31\u0e1a", "USB\u0e04\u0e23\u0e31\u0e1a"),
    "units": ("5 \u00b5m\u00b2", "5 \u00b5m\u00b2"),
}


@pytest.mark.parametrize(("value", "reported"), LOOKALIKES.values(), ids=LOOKALIKES)
def test_a_letter_that_looks_like_another_is_marked(value: str, reported: str) -> None:
    """In an argument and in the target; what people write is left as it is."""
    lines = shown(value, target=value).findings
    assert lines[0] == f'first: "{reported}"'
    assert f'Target: "{reported}".' in "\n".join(lines)


def test_a_call_without_arguments_says_so() -> None:
    """Its target and its limits are reported all the same."""
    person = Person()
    Authority().guard(lambda: None, name="ping", ask=person, ttl_seconds=86_400, risk_level="low")()
    envelope = person.asked[0].moment

    assert envelope.findings[0] == "The call takes no arguments."
    assert envelope.findings[1] == 'Target: "ping". It runs once.'
    assert envelope.findings[2].startswith("Risk: low. Function: ")
    assert "lasts 1 day." in envelope.recommendations[0]


LIMITS: dict[str, tuple[dict[str, Any], str]] = {
    "none": ({}, "It runs once."),
    "money": ({"budget_usd": Decimal("1742.5")}, "It runs once, and uses at most 1,742.5 USD."),
    "more than one effect": ({"max_side_effects": 3}, "It runs once, and uses at most 3 side effects."),
    "a limit of the caller's own": ({"max_new_files": 2}, "It runs once, and uses at most 2 new files."),
    "several": ({"budget_eur": 5, "max_rows": 9}, "It runs once, and uses at most 5 EUR, 9 rows."),
}


@pytest.mark.parametrize(("spends", "reported"), LIMITS.values(), ids=LIMITS)
def test_the_limits_are_reported_in_words(spends: dict[str, Any], reported: str) -> None:
    """With the currency and the names that a person knows."""
    person = Person()
    authority = Authority(limits=["max_new_files", "max_rows"])
    authority.guard(lambda: None, name="ping", ask=person, spends=lambda _: spends)()
    moment = person.asked[0].moment
    amounts = reported.partition("at most ")[2].removesuffix(".")

    assert moment.findings[1] == f'Target: "ping". {reported}'
    assert (f"run ping for {amounts} once" in moment.synopsis) is bool(spends and "max_side_effects" not in spends)


FUNCTIONS = {
    "bank:send": 'Function: "send" in the module "bank".',
    "bank:make.<locals>.send#0123456789abcdef": 'Function: "make.<locals>.send" in the module "bank".',
    "__main__(t8.py#0123456789abcdef):send": 'Function: "send" in the file "t8.py".',
    "__main__(a:b#(1).py#0123456789abcdef):<lambda>#0123456789abcdef": 'Function: "<lambda>" in the file "a:b#(1).py".',
    "__main__:send": 'Function: "send".',
    "ba\u202enk:se\nnd": 'Function: "se\\nnd" in the module "ba\\u202enk".',
}


@pytest.mark.parametrize(("function", "reported"), FUNCTIONS.items(), ids=FUNCTIONS)
def test_the_function_is_reported_by_its_name_and_its_file(function: str, reported: str) -> None:
    """Without the hashes that bind it, which nobody can read."""
    assert briefing._describe_function(function) == reported


def test_a_function_of_a_guarded_call_is_reported_by_its_name() -> None:
    """As it stands in the findings; the reference is that of the proposal."""
    (risk,) = (each for each in shown(MOM).findings if each.startswith("Risk: "))
    assert risk.startswith('Risk: high. Function: "tool" in the module "tests.authority.guard.test_brief". Reference ')


OFFERS: dict[str, tuple[Any, dict[str, Any], bool]] = {
    "all is shown": (MOM, {}, False),
    "a hash": ("secret", {"digested": ["first"]}, True),
    "a hash within": ({"body": [b"hi"]}, {}, True),
    "a long text": ("x" * 2_000, {}, False),
}


@pytest.mark.parametrize(("value", "how", "offered"), OFFERS.values(), ids=OFFERS)
def test_hashes_are_spoken_of_only_where_one_is_shown(value: Any, how: dict[str, Any], offered: bool) -> None:
    """The offer is of something that there is."""
    assert ("hash" in shown(value, **how).offer) is offered


@pytest.mark.parametrize("risk_level", ["low", "medium", "high"])
def test_the_template_recommends_what_costs_least_if_it_is_wrong(risk_level: str) -> None:
    """It has no reasons for the call; its synopsis says so, and what it says breaks no rule of the draft."""
    envelope = shown(MOM, risk_level=risk_level)
    question = envelope.question
    assert question.options[question.recommended_idx].label == "Leave it undone"
    assert "gives no reasons" in envelope.synopsis
    assert [each for check in DEFAULT_CHECKS for each in check(envelope)] == []


SYNOPSES: dict[str, tuple[dict[str, Any], str]] = {
    "a text": ({"target": "airline/account_123"}, 'on "airline/account_123" once'),
    "of the parameters": ({"target": lambda call: f"to {call['first']}"}, 'on "to mom@x.org" once'),
    "none": ({}, "run both once"),
    "what drives a terminal": ({"target": "a\n\x1b[2Jb"}, 'on "a\\n\\u001b[2Jb" once'),
    "a long one": ({"target": "x" * 300}, f'on "{"x" * 100}\u2026" once'),
}


@pytest.mark.parametrize(("how", "reported"), SYNOPSES.values(), ids=SYNOPSES)
def test_the_synopsis_names_the_target(how: dict[str, Any], reported: str) -> None:
    """On one line, and the findings tell all of it."""
    envelope = shown(MOM, name="both", **how)

    assert reported in envelope.synopsis
    assert is_one_line(envelope.synopsis)
    if how.get("target") == "x" * 300:
        assert any("x" * 300 in each for each in envelope.findings)


def test_another_call_is_another_envelope() -> None:
    """By its arguments, its tool, its limits, its risk, its target: an answer to the one is no answer to the other."""
    same = shown(1)
    others = [
        shown(2),
        shown(True),
        shown("1"),
        shown(1, 1),
        shown(1, name="other"),
        shown(1, spends=lambda _: {"budget_usd": 1}),
        shown(1, risk_level="low"),
        shown(1, target="t"),
        shown(1, ttl_seconds=60),
    ]

    assert shown(1) == same
    assert all(each != same for each in others)


BAD: dict[str, Callable[[ApprovalRequest], Any]] = {
    "without the label": lambda asked: moment(asked, label="Run it"),
    "with the label twice": lambda asked: moment(asked, asked.label),
    "with the label three times": lambda asked: moment(asked, asked.label, asked.label),
    "in another case": lambda asked: moment(asked, label=asked.label.upper()),
    "with a space more": lambda asked: moment(asked, label=f"{asked.label} "),
    "with a look-alike": lambda asked: moment(asked, label=asked.label.replace("a", "\u0430")),
    "nothing": lambda _: None,
    "a text": lambda asked: asked.label,
    "the wire form": lambda asked: brief_from_template(asked).to_json(),
    "a class": lambda _: BindingMoment,
    "what does not hold": lambda asked: brief_from_template(asked).model_copy(update={"synopsis": None}),
    "half a character": lambda asked: brief_from_template(asked).model_copy(update={"offer": "\ud800"}),
    "an index beyond": lambda asked: moment(asked).model_copy(
        update={"question": moment(asked).question.model_copy(update={"recommended_idx": 7})}
    ),
}


@pytest.mark.parametrize("brief", BAD.values(), ids=BAD)
def test_an_envelope_that_does_not_offer_the_call_once_is_refused(brief: Callable[[ApprovalRequest], Any]) -> None:
    """Nobody is asked by it; and the call can be made with another one."""
    authority, post, person = Authority(), Post(), Person()
    with pytest.raises(InputError):
        authority.guard(post.send_email, ask=person, brief=brief, workflow_id="w").call("c1", MOM)
    assert (person.asked, post.sent) == ([], [])
    assert authority.ledger.pending() == ()

    assert authority.guard(post.send_email, ask=person, workflow_id="w").call("c1", MOM) == 1


ALIKE = {
    "in another case": str.upper,
    "with a space more": lambda label: f"{label} ",
    "with a look-alike": lambda label: label.replace("a", "\u0430"),
    "with what cannot be seen": lambda label: label.replace(" ", " \u200b"),
}


@pytest.mark.parametrize("alike", ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize("first", [True, False], ids=["ours first", "ours last"])
def test_an_option_that_looks_like_ours_makes_no_call(alike: Callable[[str], str], first: bool) -> None:
    """Whoever takes the one for the other leaves it undone; and surfaces warn of two that look the same."""

    def brief(asked: ApprovalRequest) -> BindingMoment:
        made = moment(asked, alike(asked.label))
        options = made.question.options if first else made.question.options[::-1]
        return made.model_copy(update={"question": made.question.model_copy(update={"options": options})})

    post, person = Post(), Person()
    guard = Authority().guard(post.send_email, ask=person, brief=brief)
    if first:
        assert guard(MOM) == 1
    else:
        with pytest.raises(NotApproved):
            guard(MOM)
        assert post.sent == []
    assert all(each.warning for each in build_layout(person.asked[0].moment).choices)


def test_a_brief_says_why_and_not_what() -> None:
    """What it says is in the envelope, after what the call is."""
    person, seen = Person(), list[Any]()

    def brief(asked: ApprovalRequest) -> BindingMoment:
        seen.append((asked.tool, asked.proposal.parameters, asked.request.scope.targets))
        return moment(asked).model_copy(update={"findings": ('to: "dad@x.org"',)})

    Authority().guard(Post().send_email, ask=person, brief=brief, target=lambda given: str(given["to"]))(MOM)

    assert person.asked[0].moment.findings[:2] == (f'to: "{MOM}"', 'body: "hi"')
    assert person.asked[0].moment.findings[-1] == 'to: "dad@x.org"'
    assert seen == [("send_email", {"to": MOM, "body": "hi", "more": {}}, (MOM,))]


def test_a_brief_that_raises_asks_nobody() -> None:
    """It is raised, and the same call has it written again."""
    authority, post, person = Authority(), Post(), Person()
    briefs: list[Any] = [lambda _: 1 / 0, brief_from_template]

    def brief(asked: ApprovalRequest) -> BindingMoment:
        written: BindingMoment = briefs.pop(0)(asked)
        return written

    guard = authority.guard(post.send_email, ask=person, brief=brief)
    with pytest.raises(ZeroDivisionError):
        guard.call("c1", MOM)
    assert authority.ledger.pending() == ()

    assert guard.call("c1", MOM) == guard.call("c1", MOM) == 1
    assert briefs == []
    assert post.sent == [(MOM, "hi")]
