"""The rules of options that do something: what may be asked for, and that no option ever has another's digest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from emitter import InputError, emit_binding_moment
from emitter.bulk import Job
from emitter.checks import StructuralChecks
from emitter.decisions.ledger import Ledger
from emitter.forms.binding_moment import (
    DecisionTerms,
    actions_cache_key,
    fixed_option_violations,
    option_digests,
    render_fixed_options,
    validate_actions,
)
from emitter.models import OPEN_HATCHES, BindingMoment, Option, binding_moment
from emitter.prompts import escape_json, load
from emitter.render.layout import build_layout
from tests.scenarios.answers import BOUND

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.forms.binding_moment import Actions

PROMPTS = load()
SOFT = [StructuralChecks({"option-hatch": "warning"})]
DIGEST = "sha256:0"
BAD: dict[str, tuple[Any, str]] = {
    "a list": ([("Send", DIGEST)], "actions is of type list; it must be of type Mapping"),
    "nothing": (None, "actions is of type NoneType; it must be of type Mapping"),
    "a text": ("Send", "actions is of type str"),
    "five": (dict.fromkeys(["Send", "Keep", "Ask", "Wipe", "Move"]), "actions has 5 labels. A question has at most 4"),
    "a label that is no text": ({1: DIGEST}, "Label 1 of actions is of type int"),
    "the second label": ({"Send": DIGEST, " ": None}, "Label 2 of actions is blank"),
    "an empty label": ({"": DIGEST}, "is blank"),
    "a label of marks": ({"...": DIGEST}, "is blank. Name what the option does"),
    "a label that nobody can see": ({"\N{HANGUL FILLER}": DIGEST}, "is blank"),
    "half a character": ({"Send \ud83d": DIGEST}, "Label 1 of actions contains a lone surrogate"),
    "a long label": ({"x" * 201: DIGEST}, "has 201 characters. At most 200 are allowed"),
    "two lines": ({"Send\nKeep": DIGEST}, "would not be displayed exactly as written. Write it on one line"),
    "two lines by another sign": ({"Send\u2028Keep": DIGEST}, "would not be displayed exactly as written"),
    "a tab": ({"Send\tit": DIGEST}, "would not be displayed exactly as written"),
    "a space before": ({" Send": DIGEST}, "would not be displayed exactly as written"),
    "a space after": ({"Send ": DIGEST}, "would not be displayed exactly as written"),
    "an escape sequence": ({"Send \x1b[31m": DIGEST}, "would not be displayed exactly as written"),
    "a text that runs backwards": ({"Send \u202eyenom": DIGEST}, "would not be displayed exactly as written"),
    "a space without width": ({"Se\u200bnd": DIGEST}, "would not be displayed exactly as written"),
    "two cases": ({"Send": DIGEST, "SEND": None}, "Two labels of actions can be confused"),
    "two scripts": ({"Send": DIGEST, "S\u0435nd": None}, "Two labels of actions can be confused"),
    "a mark more": ({"Send it": DIGEST, "Keep": None, "Send - it!": None}, "Two labels of actions can be confused"),
    "a hatch in other letters": ({"Sоmеthіng else": DIGEST}, "A label of actions repeats a veto"),  # noqa: RUF001
    "a hatch": ({"Something else": DIGEST}, "A label of actions repeats a veto"),
    "more talk": ({"Send": DIGEST, "Let us discuss": None}, "defers the decision. The principal always has"),
    "an empty digest": ({"Send": ""}, "The digest at label 1 of actions must have 1 to 512 characters"),
    "a long digest": ({"Send": "0" * 513}, "must have 1 to 512 characters. Pass None for no action"),
    "half a digest": ({"Send": "sha256:\udc00"}, "The digest at label 1 of actions contains a lone surrogate"),
    "bytes": ({"Keep": None, "Send": b"0"}, "The digest at label 2 of actions is of type bytes"),
    "a digest that is no text": ({"Send": 0}, "is of type int, not text"),
}


@pytest.mark.parametrize(("actions", "said"), BAD.values(), ids=BAD)
def test_what_no_envelope_could_offer_is_refused_before_anything_is_sent(actions: Any, said: str) -> None:
    """One sentence says what is wrong, by its place, and where one can do something, another says what."""
    with pytest.raises(InputError) as raised:
        emit_binding_moment("Resume?", model="anthropic/claude-sonnet-5-5", client=object(), actions=actions)

    assert said in str(raised.value)


GOOD: dict[str, Actions] = {
    "none": {},
    "one": {"Send": DIGEST},
    "four": {"Send": DIGEST, "Keep": None, "Ask": DIGEST, "Wipe": "0"},
    "the longest": {"x" * 200: "0" * 512},
    "one that differs by a number": {"Pay 10": DIGEST, "Pay 100": "1"},
    "one within another": {"Send": DIGEST, "Send now": "1"},
    "other scripts": {"Отправить": DIGEST, "送信する": "1", "ارسال می\u200cکنم": "2", "Sí, añadir 👩‍👩‍👧": None},
}


@pytest.mark.parametrize("actions", GOOD.values(), ids=GOOD)
def test_what_can_be_offered_is_taken(actions: Actions) -> None:
    """In the order of its labels, as a copy."""
    found = validate_actions(actions)

    assert found == dict(actions)
    assert list(found) == sorted(actions)
    assert found is not actions
    assert Job("?", actions=actions).actions == found


def test_a_softened_check_lets_a_label_pass() -> None:
    """What the caller's own checks would not refuse in an envelope is not refused in a label."""
    found = DecisionTerms.from_arguments(OPEN_HATCHES, None, SOFT, (), {"Something else": DIGEST}).actions

    assert found == {"Something else": DIGEST}
    with pytest.raises(InputError, match="repeats a veto"):
        DecisionTerms.from_arguments(OPEN_HATCHES, None, None, (), found)


asked = binding_moment.parse_turn(BOUND, OPEN_HATCHES, None)
assert isinstance(asked, BindingMoment)
MOMENT = asked


def offering(labels: tuple[str, ...]) -> BindingMoment:
    """Return an envelope with options of these labels."""
    options = tuple(Option(label=each, reasoning="It can be done.") for each in labels)
    return MOMENT.model_copy(update={"question": MOMENT.question.model_copy(update={"options": options})})


WORDS = st.lists(st.sampled_from(["send", "keep", "Send", "wipe it", "10", "100", "x"]), min_size=1, max_size=2)
LABELS = st.one_of(WORDS.map(" ".join), st.text(min_size=1, max_size=6))
DIGESTS = st.one_of(st.none(), st.text("0123456789abcdef", min_size=1, max_size=4).map("sha256:{}".format))


@st.composite
def some_actions(draw: st.DrawFn) -> dict[str, str | None]:
    """Return actions that can be asked for."""
    drawn = draw(st.dictionaries(LABELS, DIGESTS, min_size=1, max_size=4))
    try:
        return validate_actions(drawn)
    except InputError:
        assume(False)
        raise


@given(some_actions(), st.data())
def test_a_digest_is_its_labels_and_of_no_other_option(actions: dict[str, str | None], data: st.DataObject) -> None:
    """Of an envelope that holds: one entry an option; a digest stands where its label does, once, and nowhere else."""
    own = data.draw(st.lists(LABELS, max_size=4 - len(actions)))
    labels = data.draw(st.permutations([*actions, *own]))
    assume(len(labels) > 1)
    moment = offering(tuple(labels))
    assume(not list(fixed_option_violations(actions, moment)))

    found = option_digests(actions, moment)

    assert len(found) == len(moment.question.options)
    told_of = list(zip(labels, found, strict=True))
    assert sorted(each for each in told_of if each[0] in actions) == sorted(actions.items())
    assert all(digest is None for label, digest in told_of if label not in actions)
    assert Ledger().open(moment, actions=found).actions == found


@given(some_actions(), st.lists(LABELS, min_size=2, max_size=4))
def test_an_envelope_is_taken_only_with_each_label_once(actions: dict[str, str | None], labels: list[str]) -> None:
    """Whatever else it offers; what passes for a label is reported wherever surfaces warn of two that look the same."""
    moment = offering(tuple(labels))

    rules = {each.rule for each in fixed_option_violations(actions, moment)}

    assert ("action-missing" in rules) == any(labels.count(each) == 0 for each in actions)
    assert ("action-twice" in rules) == any(labels.count(each) > 1 for each in actions)
    for label, choice in zip(labels, build_layout(moment).choices, strict=True):
        looks_alike = "looks like option" in (choice.warning or "")
        if label in actions and looks_alike and labels.count(label) == 1:
            assert "action-alike" in rules


@given(some_actions(), st.randoms())
def test_the_order_of_the_entries_means_nothing(actions: dict[str, str | None], luck: Any) -> None:
    """The same actions are asked for in the same words, and are the same emission."""
    entries = list(actions.items())
    luck.shuffle(entries)
    again = validate_actions(dict(entries))

    assert actions_cache_key(again) == actions_cache_key(actions)
    assert render_fixed_options(PROMPTS, again) == render_fixed_options(PROMPTS, actions)


@given(some_actions(), some_actions())
def test_other_actions_are_told_apart(one: dict[str, str | None], other: dict[str, str | None]) -> None:
    """By what they are, digests and all."""
    assert (actions_cache_key(one) == actions_cache_key(other)) == (one == other)


@given(st.text().map(lambda text: text.encode(errors="replace").decode()))
def test_a_label_is_spelled_whole_and_closes_nothing(text: str) -> None:
    """It reads back as what it is, on one line, without a sign that could open or close a fence."""
    said = escape_json(text)

    assert json.loads(said) == text
    assert not {"<", "\N{FULLWIDTH LESS-THAN SIGN}", "\N{SMALL LESS-THAN SIGN}", "\n"} & set(said)


@given(some_actions())
def test_the_model_reads_no_digest(actions: Mapping[str, str | None]) -> None:
    """Each label is in the prompt, under the number by which it is reported; no digest is."""
    (said,) = render_fixed_options(PROMPTS, actions)

    assert all(f"\n{number}. {escape_json(each)}\n" in said for number, each in enumerate(actions, start=1))
    assert "sha256:" not in said
    assert said.count("</UNTRUSTED>") == 1
