"""Reading an envelope fails closed: what is not one, whatever it is, is blocked; and writing takes nothing else."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.authority.envelopes import (
    UnverifiedClaim,
    dump_authorization,
    enforce_workflow,
    handle_envelope,
    read_authorization,
)
from emitter.authority.envelopes.oracles import REFUSAL_MESSAGES
from emitter.errors import InputError
from emitter.models import AIEnvelope
from emitter.models.authorization import Refusal, RefusalCode
from tests.authority.envelopes.parts import CLAIM, DOCUMENTS, DRAFTS, ENVELOPES, INLINE, MOMENT, document

if TYPE_CHECKING:
    from collections.abc import Callable

every_kind = pytest.mark.parametrize("kind", ENVELOPES)


def blocked(envelope: object) -> str:
    """Return the audit id of an envelope, having seen that it is blocked, and says nothing else."""
    assert isinstance(envelope, Refusal)
    reason = envelope.reason
    assert (reason.code, reason.recovery_hint) == (RefusalCode.BLOCKED, None)
    assert reason.user_message == REFUSAL_MESSAGES[RefusalCode.BLOCKED]
    return reason.audit_id


@every_kind
@pytest.mark.parametrize("form", ["value", "text", "bytes", "spaced"])
def test_what_was_written_is_read_again(kind: str, form: str) -> None:
    """As a value, as a text and as bytes."""
    written = dump_authorization(ENVELOPES[kind])
    text = json.dumps(written, indent=2 if form == "spaced" else None)
    given_as: Any = {"value": written, "text": text, "bytes": text.encode(), "spaced": text}[form]

    assert read_authorization(given_as) == ENVELOPES[kind]


@every_kind
def test_reading_leaves_the_document_alone(kind: str) -> None:
    """It is no part of the envelope, and may be changed afterwards."""
    written = dump_authorization(ENVELOPES[kind])
    before = copy.deepcopy(written)
    read_authorization(written)

    assert written == before


def _without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda written: {key: each for key, each in written.items() if key != name}


def _with(**change: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda written: {**written, **change}


def _provenance(**change: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda written: {**written, "provenance": {**written["provenance"], **change}}


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "unknown kind": _with(kind="measurment"),
    "kind in capitals": _with(kind="MEASUREMENT"),
    "no kind": _without("kind"),
    "null kind": _with(kind=None),
    "kind in a list": _with(kind=["measurement"]),
    "another kind's": _with(kind="classification"),
    "no value": _without("value"),
    "value as text": _with(value="4.2"),
    "value as truth": _with(value=True),
    "value beyond what is exact": _with(value=2**53),
    "no provenance": _without("provenance"),
    "null provenance": _with(provenance=None),
    "no oracle record": _provenance(oracle_records=[]),
    "null among the records": _provenance(oracle_records=[None]),
    "null for derived_from": _provenance(derived_from=None),
    "no envelope_id": lambda written: {**written, "provenance": _without("envelope_id")(written["provenance"])},
    "made at no time": _provenance(generated_at="2026-02-30T00:00:00Z"),
    "in a list": lambda written: [written],
    "in its payload": lambda written: {"authorization": written},
    "null": lambda _: None,
    "a number": lambda _: 4.2,
    "empty": lambda _: {},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("as_text", [False, True], ids=["value", "text"])
def test_what_is_no_envelope_is_blocked(change: Callable[[dict[str, Any]], Any], *, as_text: bool) -> None:
    """Unknown kinds and malformed known ones alike; nothing of it is shown."""
    changed = change(dump_authorization(ENVELOPES["measurement"]))
    found = read_authorization(json.dumps(changed) if as_text else changed)

    assert "4.2" not in json.dumps(dump_authorization(found))
    assert blocked(found)


TEXTS: dict[str, str | bytes] = {
    "no JSON": "refusal",
    "empty": "",
    "two documents": "{}{}",
    "a name twice": '{"kind":"narrative","kind":"refusal"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "no UTF-8": b"\xff",
    "half a character": '{"kind":"\\ud800"}',
    "half a character as it is": '{"kind":"\ud800"}',
    "NaN": '{"kind":"measurement","value":NaN}',
    "out of range": '{"kind":"measurement","value":1e999}',
    "very deep": "[" * 100_000,
    "thousands of digits": "9" * 10_000,
}


PLACES: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "the envelope": ("measurement", ()),
    "the envelope, as another kind has it": ("narrative", ()),
    "the provenance": ("classification", ("provenance",)),
    "a record of an oracle": ("action", ("provenance", "oracle_records", 0)),
    "the policy": ("narrative", ("policy",)),
    "the reason": ("refusal", ("reason",)),
    "a conflict": ("dispute_summary", ("sources", 0)),
    "an oracle of a conflict": ("dispute_summary", ("sources", 0, "oracles", 0)),
}


@pytest.mark.parametrize(("kind", "place"), PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("as_text", [False, True], ids=["value", "text"])
def test_members_that_the_rfc_does_not_name_are_left_out(
    kind: str, place: tuple[str | int, ...], *, as_text: bool
) -> None:
    """Its types are minimum schemas, and only an unknown kind is BLOCKED; what nobody scanned is not handed on."""
    written = dump_authorization(ENVELOPES[kind])
    more = copy.deepcopy(written)
    found: Any = more
    for each in place:
        found = found[each]
    found |= {
        "note": "The device is safe.",
        "x": {"y": [1]},
        **({} if place or kind == "measurement" else {"value": 5}),
    }
    before = copy.deepcopy(more)

    assert read_authorization(json.dumps(more) if as_text else more) == ENVELOPES[kind]
    assert more == before


def test_an_unknown_member_hides_nothing_that_is_malformed() -> None:
    """A known kind that does not hold is blocked, with it or without."""
    written = dump_authorization(ENVELOPES["measurement"]) | {"note": 1, "value": "4.2"}

    assert read_authorization(written).kind == "refusal"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_text_is_read_strictly(text: str | bytes) -> None:
    """What two readers could understand differently is blocked, whatever it says; it has no digest."""
    assert blocked(read_authorization(text)) == "unreadable"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
)


@st.composite
def near(draw: st.DrawFn) -> Any:
    """Return an envelope with one place changed to anything."""
    written: Any = copy.deepcopy(dump_authorization(ENVELOPES[draw(st.sampled_from(sorted(ENVELOPES)))]))
    node = written
    while True:
        keys = list(range(len(node))) if isinstance(node, list) else sorted(node)
        key = draw(st.sampled_from(keys))
        inside = isinstance(node[key], dict | list) and node[key]
        if not inside or draw(st.booleans()):
            node[key] = draw(VALUES)
            return written
        node = node[key]


@given(VALUES | near() | st.text() | st.binary())
def test_no_content_makes_it_raise(content: Any) -> None:
    """Any value, any text, any bytes, and what is almost an envelope: it is one, or it is blocked."""
    found = read_authorization(content)

    assert handle_envelope(found, **dict.fromkeys(ENVELOPES, lambda each: each)) is found  # type: ignore[arg-type]
    if not isinstance(found, Refusal):
        assert read_authorization(dump_authorization(found)) == found


@given(near())
def test_what_was_read_is_what_was_written(content: Any) -> None:
    """Nothing is dropped, added or made to fit on the way."""
    found = read_authorization(content)
    if not (isinstance(found, Refusal) and found.reason.code is RefusalCode.BLOCKED):
        assert dump_authorization(found) == content


class Odd:
    """No JSON at all."""


@pytest.mark.parametrize("odd", [Odd(), Odd, {1: 2}, {"a": {1}}, (1,), ...], ids=range(6))
def test_what_is_no_json_is_blocked(odd: Any) -> None:
    """An object of somebody's own is content like any other."""
    assert blocked(read_authorization(odd)) == "unreadable"


def test_the_refusal_is_looked_up_by_an_id() -> None:
    """The caller's own, or the digest of what was read, which is the same for the same document."""
    document = {"kind": "decree", "text": CLAIM}

    assert blocked(read_authorization(document, audit_id="log-17")) == "log-17"
    assert blocked(read_authorization("decree", audit_id="log-17")) == "log-17"
    first, again = (blocked(read_authorization(each)) for each in (document, json.dumps(document)))
    assert first == again
    assert first.startswith("sha256:")
    assert blocked(read_authorization({**document, "text": ""})) != first


NO_ENVELOPES: dict[str, tuple[Any, str]] = {
    **{f"a draft: {name}": (draft, "authorize_draft") for name, draft in DRAFTS.items()},
    "a decision": (MOMENT, "not an authorization"),
    "an unverified claim": (UnverifiedClaim(ENVELOPES["measurement"]), r"Call its verify\("),
    "the envelope around it": (
        AIEnvelope.model_construct(payload={"authorization": dump_authorization(ENVELOPES["measurement"])}),
        "read_authorization",
    ),
}
NOT_READ = {
    **NO_ENVELOPES,
    "JSON": (dump_authorization(ENVELOPES["measurement"]), "read_authorization"),
    "None": (None, "value"),
}
TAKES_AN_ENVELOPE: dict[str, Callable[[Any], object]] = {
    "handle": lambda it: handle_envelope(it, **dict.fromkeys(ENVELOPES, repr)),  # type: ignore[arg-type]
    "enforce": lambda it: enforce_workflow(it, INLINE),
    "to_json": dump_authorization,
}


@pytest.mark.parametrize("use", TAKES_AN_ENVELOPE.values(), ids=TAKES_AN_ENVELOPE.keys())
@pytest.mark.parametrize(("odd", "reported"), NOT_READ.values(), ids=NOT_READ.keys())
def test_what_is_no_envelope_is_not_used_as_one(use: Callable[[Any], object], odd: Any, reported: str) -> None:
    """A draft, a decision, an unverified claim, and JSON that nobody read: the error says what to do."""
    with pytest.raises(InputError, match=reported) as raised:
        use(odd)

    assert CLAIM not in str(raised.value)


@pytest.mark.parametrize(("odd", "reported"), NO_ENVELOPES.values(), ids=NO_ENVELOPES.keys())
def test_an_object_that_is_no_envelope_is_not_read_as_one(odd: Any, reported: str) -> None:
    """It is a mistake of the program's, and no content."""
    with pytest.raises(InputError, match=reported):
        read_authorization(odd)


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("part", ["document", "proposal", "renamed"])
def test_what_a_model_wrote_is_never_read_as_an_envelope(kind: str, part: str) -> None:
    """Not even with the tag that an envelope has: what it rests on is not in it."""
    written = document(kind)
    proposal = written["proposal"]
    renamed = {"kind": proposal["proposes"], **{key: each for key, each in proposal.items() if key != "proposes"}}

    assert blocked(read_authorization({"document": written, "proposal": proposal, "renamed": renamed}[part]))


def test_a_decision_is_never_read_as_an_envelope() -> None:
    """The synopsis of a binding moment orders, and its findings have numbers: it is a proposal, and not scanned."""
    assert blocked(read_authorization(MOMENT.to_json()))
    assert blocked(read_authorization({"kind": "action", **MOMENT.to_json()}))
