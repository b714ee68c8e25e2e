"""What is reported a document that is being written is the document, whatever its form and however it comes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.schema import compile_schema
from emitter.streaming import FieldComplete, TextDelta
from tests.streaming.forms import FORMS, PROFILES, SCALARS, every_form
from tests.streaming.reading import at, members, reader, reported, slots, texts
from tests.streaming.writing import cut, written
from tests.work import examples

if TYPE_CHECKING:
    from random import Random

    from hypothesis.strategies import DataObject

often = settings(max_examples=examples(25))
every_profile = pytest.mark.parametrize("profile", PROFILES)
STYLES = st.randoms(use_true_random=False)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=4)


def exactly(value: Any) -> str:
    """Return a value such that 1, 1.0 and true differ, and the order of members counts."""
    return json.dumps(value)


def on_the_wire(schema: Any, profile: str, document: Any, style: Random) -> tuple[str, Any]:
    """Return a document as a vendor writes it, and as it is read back."""
    compiled = compile_schema(schema, profile)
    wire = compiled.encode(document)
    back = compiled.decode(wire)
    ordered = {name: back[name] for name in document if name in back} if isinstance(back, dict) else back
    assert ordered == back
    return written(wire, style), ordered


@every_form(0)
@given(data=st.data(), style=STYLES, sizes=SIZES)
@often
def test_the_slots_are_the_document(name: str, profile: str, data: DataObject, style: Random, sizes: list[int]) -> None:
    """Put together they are its members, each once and in order; what is absent is not reported."""
    form = FORMS[name]
    text, document = on_the_wire(form.schema, profile, data.draw(form.documents), style)

    found = slots(reported(reader(form.schema, profile), cut(text, sizes)))

    assert exactly(found) == exactly(list(members(document)))


@every_profile
@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form.into])
@given(data=st.data(), style=STYLES, sizes=SIZES)
@often
def test_opened_containers_are_reported_by_member(
    name: str, profile: str, data: DataObject, style: Random, sizes: list[int]
) -> None:
    """An opened container is reported member by member, or whole where the vendor has it in one text."""
    form = FORMS[name]
    text, document = on_the_wire(form.schema, profile, data.draw(form.documents), style)

    found = slots(reported(reader(form.schema, profile, form.into), cut(text, sizes)))

    whole = {pointer for pointer, _ in found}
    opened = [each for each in form.into if each not in whole]
    assert exactly(found) == exactly(list(members(document, opened)))


@every_profile
@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form.follow])
@given(data=st.data(), style=STYLES, sizes=SIZES)
@often
def test_followed_texts_are_the_texts(
    name: str, profile: str, data: DataObject, style: Random, sizes: list[int]
) -> None:
    """The pieces of a followed text are the text, and its slot comes after the last of them."""
    form = FORMS[name]
    if name == "everything" and profile != "plain":
        pytest.skip("the vendors' forms of this union carry its texts elsewhere")
    text, document = on_the_wire(form.schema, profile, data.draw(form.documents), style)

    found = reported(reader(form.schema, profile, follow=form.follow), cut(text, sizes))

    for pointer, joined in texts(found).items():
        assert joined == at(document, pointer)
        last = max(place for place, each in enumerate(found) if isinstance(each, TextDelta))
        assert any(each.pointer == pointer for each in found[last:] if isinstance(each, FieldComplete))
    whole = dict(slots(found))
    assert {each for each in form.follow if whole.get(each)} == texts(found).keys()


@every_form(1)
@given(data=st.data(), style=STYLES, sizes=SIZES, before=st.sampled_from(("", "\n", "```json\n", "Here it is: ")))
@often
def test_any_cut_tells_the_same(  # noqa: PLR0913, PLR0917  two of them are the table's
    name: str, profile: str, data: DataObject, style: Random, sizes: list[int], before: str
) -> None:
    """Slots and joined texts do not depend on the pieces, whatever stands before the document."""
    form = FORMS[name]
    text, _ = on_the_wire(form.schema, profile, data.draw(form.documents), style)
    follow = form.follow if name != "everything" or profile == "plain" else ()

    ways = [[before + text], cut(before + text, sizes), list(before + text)]
    found = [reported(reader(form.schema, profile, form.into, follow), pieces) for pieces in ways]

    assert len({exactly([slots(each), texts(each)]) for each in found}) == 1


@every_form(2)
@given(data=st.data(), style=STYLES)
@often
def test_nothing_is_reported_before_it_is_whole(name: str, profile: str, data: DataObject, style: Random) -> None:
    """What is reported after each character is what is reported the text that ends there, whatever follows."""
    form = FORMS[name]
    text, document = on_the_wire(form.schema, profile, data.draw(form.documents), style)
    end = data.draw(st.integers(0, len(text)))
    after = data.draw(st.sampled_from(("", "0", '"', "}", "]", ",", "\\", "x", '"}')))

    found = slots(reported(reader(form.schema, profile), [text[:end], after]))

    valid = compile_schema(form.schema, profile)
    for pointer, value in found[:-1]:
        assert value == at(document, pointer), valid
    assert len(found) <= len(list(members(document))) + 1


@every_profile
@pytest.mark.parametrize("name", SCALARS)
def test_a_document_that_is_no_container(name: str, profile: str) -> None:
    """It is reported whole, or not at all where it is written bare; brackets in a text open nothing."""
    schema, document = SCALARS[name]
    wire = json.dumps(compile_schema(schema, profile).encode(document))

    assert slots(reported(reader(schema, profile), wire)) in ([], [("", document)])
