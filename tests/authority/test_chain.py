"""Whoever changes a chain is found out: each edit is refused, at its line and with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority.audit import read_lines, report_chain
from emitter.authority.signing import make_signer, make_verifier, new_key, public_jwk
from emitter.errors import Tampered
from tests.authority.lived import PUBLIC, TYPES, Document, chain, forged, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority.audit import ChainReport

HEAD = chain()[-1]["hash"]
EARLIER = "2027-01-15T07:00:00.000Z"


def verified(lines: list[Document] | bytes, *keys: Any, **how: Any) -> ChainReport:
    """Return what a file of these lines comes to."""
    data = lines if isinstance(lines, bytes) else text(lines)
    return report_chain(read_lines(data), make_verifier(*keys) if keys else None, **how)


def swapped(lines: list[Document], one: int, other: int) -> list[Document]:
    """Swap two lines."""
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def without(lines: list[Document], *numbers: int) -> list[Document]:
    """Leave lines out."""
    return [each for number, each in enumerate(lines) if number not in numbers]


def edited(lines: list[Document], number: int, **members: Any) -> list[Document]:
    """Change members of a record."""
    lines[number]["record"] |= members
    return lines


def marked(lines: list[Document], number: int, **members: Any) -> list[Document]:
    """Change members of a line."""
    lines[number] |= members
    return lines


def repeated(lines: list[Document]) -> bytes:
    """Let a name stand twice in a record: what one reader takes first, another takes last."""
    return text(lines).replace(b'"target":"mom"', b'"target":"ceo","target":"mom"', 1)


def spaced(lines: list[Document]) -> bytes:
    """Spell a line in another way."""
    return text(lines).replace(b'"seq":1,', b'"seq": 1,', 1)


EDITS: dict[str, tuple[Callable[[list[Document]], Any], str, str]] = {
    "two lines swapped": (lambda it: swapped(it, 3, 4), "line 3", "does not follow the previous line"),
    "a receipt edited": (lambda it: edited(it, 2, target="ceo"), "line 2", "its hash does not match"),
    "a receipt's effects edited": (lambda it: edited(it, 2, side_effects={}), "line 2", "its hash does not match"),
    "an intent edited": (lambda it: edited(it, 1, spends={"budget_usd": 1}), "line 1", "its hash does not match"),
    "a confirm widened": (lambda it: edited(it, 0, limits={"budget_usd": 10**6}), "line 0", "its hash does not match"),
    "a reason edited": (lambda it: edited(it, 3, reason="Nobody said so."), "line 3", "its hash does not match"),
    "the time edited": (lambda it: marked(it, 2, at="2027-01-15T08:00:09.001Z"), "line 2", "its hash does not match"),
    "a hash edited": (lambda it: marked(it, 2, hash=it[1]["hash"]), "line 2", "its hash does not match"),
    "a number edited": (lambda it: marked(it, 2, seq=3), "line 2", "its hash does not match"),
    "a member more": (lambda it: edited(it, 2, note="x"), "line 2", "is not a line of a chain"),
    "a member of a line more": (lambda it: marked(it, 2, note="x"), "line 2", "is not a line of a chain"),
    "another type": (lambda it: edited(it, 2, type="INTENT"), "line 2", "is not a line of a chain"),
    "an absent member as null": (lambda it: edited(it, 1, step_id=None), "line 1", "is not a line of a chain"),
    "the first line dropped": (lambda it: without(it, 0), "line 0", "does not follow the previous line"),
    "a middle line dropped": (lambda it: without(it, 2), "line 2", "does not follow the previous line"),
    "a line doubled": (lambda it: [*it[:3], *it[2:]], "line 3", "does not follow the previous line"),
    "two chains spliced": (lambda it: [*it[:5], *chain("v")[5:]], "line 5", "does not follow the previous line"),
    "all lines dropped": (lambda _: [], "line 0", "has no line"),
    "a line cut off amid": (lambda it: text(it)[:-20], "line 12", "is not a line of a chain"),
    "a blank line": (lambda it: text(it).replace(b"\n", b"\n\n", 1), "line 1", "is not a line of a chain"),
    "a byte order mark": (lambda it: b"\xef\xbb\xbf" + text(it), "line 0", "is not a line of a chain"),
    "no UTF-8": (lambda it: text(it).replace(b"mom", b"m\xffm", 1), "line 1", "is not a line of a chain"),
    "an array": (lambda _: b"[]\n", "line 0", "is not a line of a chain"),
    "a name that stands twice": (repeated, "line 1", "two members of the same name"),
    "another spelling": (spaced, "line 1", "is not canonical JSON"),
    "line ends of Windows": (lambda it: text(it).replace(b"\n", b"\r\n"), "line 0", "is not canonical JSON"),
    "a number as a fraction": (lambda it: text(it).replace(b":742", b":742.0", 1), "line 1", "is not canonical JSON"),
}


@pytest.mark.parametrize(("edit", "place", "reason"), EDITS.values(), ids=EDITS.keys())
def test_an_edit_is_refused(edit: Callable[[list[Document]], Any], place: str, reason: str) -> None:
    """The file is not what was written; the error names the first line at which it is not, and why."""
    with pytest.raises(Tampered) as refused:
        verified(edit(chain()))

    assert (refused.value.place, reason in str(refused.value)) == (place, True), refused.value


@settings()  # the machine may be busy
@given(at=st.integers(0, len(text(chain())) - 2), byte=st.integers(0, 255))
def test_no_byte_can_be_another(at: int, byte: int) -> None:
    """Whatever stands in its stead, the chain does not hold any more."""
    data = text(chain())
    if data[at] != byte:
        with pytest.raises(Tampered):
            verified(data[:at] + bytes([byte]) + data[at + 1 :])


@settings()  # the machine may be busy
@given(at=st.integers(0, len(text(chain(signed=True))) - 2), byte=st.integers(0, 255))
def test_no_byte_of_a_signed_chain_can_be_another(at: int, byte: int) -> None:
    """Neither can one of a signature: it has one spelling."""
    data = text(chain(signed=True))
    if data[at] != byte:
        with pytest.raises(Tampered):
            verified(data[:at] + bytes([byte]) + data[at + 1 :], PUBLIC)


@settings()
@given(st.integers(0, len(text(chain())) - 2))
def test_no_byte_can_be_left_out(at: int) -> None:
    """But for the last, which ends the last line, no byte is there for nothing."""
    data = text(chain())

    with pytest.raises(Tampered):
        verified(data[:at] + data[at + 1 :])


def test_an_end_that_was_cut_off_is_found_by_what_was_noted() -> None:
    """The lines that are left hold; that there were more is known only to who noted the hash of one of them."""
    cut = chain()[:-2]

    assert verified(cut).lines == len(TYPES) - 2
    with pytest.raises(Tampered, match="its end was cut off") as refused:
        verified(cut, head=HEAD)
    assert refused.value.place == "line 11"


def test_what_was_noted_may_be_older_than_the_end() -> None:
    """A chain grows: the line whose hash was noted must be in it, and need not be the last."""
    for each in chain():
        assert verified(chain(), head=each["hash"]).head == HEAD


def test_another_chain_is_not_the_one_that_was_noted() -> None:
    """Whoever writes a whole chain anew gets hashes that hold, and another head."""
    other = forged(edited(chain(), 3, reason="Nobody said so."))

    assert verified(other).lines == len(TYPES)
    with pytest.raises(Tampered, match="it is another chain"):
        verified(other, head=HEAD)


SIGNED: dict[str, tuple[Callable[[list[Document]], Any], str, str]] = {
    "hashed anew": (lambda it: forged(edited(it, 3, reason="No.")), "line 3", "does not match its hash"),
    "hashed anew, the end dropped": (
        lambda it: forged(edited(it[:4], 3, reason="No.")),
        "line 3",
        "does not match its hash",
    ),
    "another line's signature": (
        lambda it: marked(it, 2, signature=it[1]["signature"]),
        "line 2",
        "does not match its hash",
    ),
    "no signature": (lambda it: [*it[:4], {k: v for k, v in it[4].items() if k != "signature"}], "line 4", "not sign"),
    "none signed": (lambda _: chain(), "line 0", "is not signed"),
    "signed by somebody else": (
        lambda it: marked(it, 0, signature=make_signer(new_key())(it[0]["hash"])),
        "line 0",
        "by an unknown key",
    ),
}


@pytest.mark.parametrize(("edit", "place", "reason"), SIGNED.values(), ids=SIGNED.keys())
def test_a_signed_chain_cannot_be_written_anew(edit: Callable[[list[Document]], Any], place: str, reason: str) -> None:
    """Without the key nobody makes a line that passes: the hashes of all these hold."""
    with pytest.raises(Tampered) as refused:
        verified(edit(chain(signed=True)), PUBLIC)

    assert (refused.value.place, reason in str(refused.value)) == (place, True), refused.value


def test_a_signed_chain_holds() -> None:
    """By its own key, among others; and by nobody's where none is asked for."""
    found = verified(chain(signed=True), public_jwk(new_key()), PUBLIC)

    assert (found.signed, found.lines) == (len(TYPES), len(TYPES))
    assert verified(chain(signed=True)).signed == len(TYPES)
    assert verified(chain()).signed == 0


def test_a_chain_is_of_its_workflow() -> None:
    """One that holds is refused in the place of another workflow's."""
    assert verified(chain("v"), workflow_id="v").workflow_id == "v"
    with pytest.raises(Tampered, match="belongs to another workflow's chain"):
        verified(chain("v"), workflow_id="w")
