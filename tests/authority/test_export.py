"""A chain outside of its store: it comes back as it was, tells what it comes to, and was allowed line by line."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, StopRequest
from emitter.authority.audit import export_lines, read_lines, report_chain
from emitter.authority.rules import GrantEnd
from emitter.errors import Tampered
from emitter.stores import MemoryStore
from tests.authority.execution.making import act, approved, asked, granted, work
from tests.authority.lived import TYPES, Document, chain, lived, text
from tests.decisions.ledger.asking import Hand

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCES: dict[str, Callable[[bytes], Any]] = {
    "bytes": lambda data: data,
    "text": bytes.decode,
    "binary file": io.BytesIO,
    "text file": lambda data: io.StringIO(data.decode(), newline=""),
    "no last line feed": bytes.rstrip,
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_a_chain_comes_back_as_it_was(source: Callable[[bytes], Any]) -> None:
    """Line for line, and written again byte for byte, from whatever it is read."""
    lines = list(read_lines(source(text(chain()))))

    assert lines == chain()
    assert b"".join(export_lines(lines)) == text(chain())


def test_lines_are_parted_by_line_feeds_only() -> None:
    """What else ends a line somewhere stands in a text as it is, for canonical JSON does not escape it."""
    authority = Authority(MemoryStore())
    authority.stop(StopRequest("w", reason="one\u2028two\x85three\rfour\nfive\x1csix"))

    (data,) = export_lines(authority.lines("w"))
    assert "\u2028" in data.decode()
    assert report_chain(read_lines(data)).lines == report_chain(read_lines(data.decode())).lines == 1


def test_what_has_no_canonical_form_is_not_exported() -> None:
    """A store that somebody wrote into may hold what no line does."""
    with pytest.raises(Tampered, match="has no canonical form") as refused:
        list(export_lines([{}, {"x": "\ud800"}]))

    assert refused.value.place == "line 1"


def test_a_report_tells_what_a_chain_comes_to() -> None:
    """How much of each authority was spent, why it ended, and what nobody saw end."""
    found = report_chain(chain(), workflow_id="w")

    assert (found.workflow_id, found.lines, found.signed) == ("w", len(TYPES), 0)
    assert found.head == chain()[-1]["hash"]
    assert found.counts == {each: TYPES.count(each) for each in TYPES}
    assert [each.intent_id for each in found.unfinished] == ["killed"]
    assert [each.end for each in found.confirms] == [GrantEnd.REVOKED, GrantEnd.STOPPED, GrantEnd.EXPIRED, None]
    assert found.confirms[0].spent == {"budget_usd": 742, "max_side_effects": 1}
    assert [each.uses for each in found.confirms] == [1, 0, 1, 1]


def test_a_store_of_any_kind_will_do() -> None:
    """The chain is the store's; the report is of its lines."""
    authority = lived(MemoryStore(), "elsewhere")

    assert report_chain(authority.lines("elsewhere")).workflow_id == "elsewhere"
    assert report_chain(export_and_read(authority, "elsewhere")).workflow_id == "elsewhere"


def export_and_read(authority: Authority, workflow_id: str) -> list[Document]:
    """Return a chain that went through a file."""
    return list(read_lines(b"".join(export_lines(authority.lines(workflow_id)))))


def test_a_clock_that_was_behind_is_no_forgery() -> None:
    """Where clocks were allowed to differ, an approval may be of a time that the chain had not come to."""
    clock = Hand()
    store = MemoryStore()
    authority = Authority(store, clock=clock, max_skew=5)
    request = asked()
    consent = approved(authority, request)
    clock.now -= 4
    authority.confirm(consent, request)

    assert report_chain(authority.lines("w"), max_skew=5).lines == 1
    assert report_chain(authority.lines("w"), max_skew=4).lines == 1
    with pytest.raises(Tampered, match="is in the future"):
        report_chain(authority.lines("w"), max_skew=3)


def test_an_act_that_changes_nothing_holds() -> None:
    """It is no side effect, so that it needs none that is left."""
    authority = Authority(MemoryStore())
    confirm_id = granted(authority, limits={"max_side_effects": 0}).confirm_id
    authority.execute(confirm_id, work(act(is_pure=True)))

    assert [each.spent for each in report_chain(authority.lines("w")).confirms] == [{}]


def test_what_a_delegate_does_while_all_is_stopped_holds() -> None:
    """In what is delegated the other agent is granted authority, and acts."""
    store, clock = MemoryStore(), Hand()
    Authority(store, clock=clock).stop(StopRequest("w", takeover_mode="delegate_to_other_agent", delegate_to="bob"))
    clock.now += 1
    bob = Authority(store, clock=clock, actor="bob")
    bob.execute(granted(bob).confirm_id, work())

    assert report_chain(bob.lines("w")).counts == {"STOP": 1, "CONFIRM": 1, "INTENT": 1, "RECEIPT": 1}
