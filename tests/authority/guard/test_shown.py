"""What a person reads of a guarded call beside its arguments: what it does, and what follows from it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.authority.proposals import Display
from emitter.decisions import select_option
from emitter.errors import InputError
from emitter.render import FORMATS, get_renderer

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.models import BindingMoment


def drop_table(name: str) -> str:
    """Delete a table with all of its rows.

    More than the first line is for programmers.
    """
    return name


def undocumented(name: str) -> str:  # noqa: D103  that is the point
    return name


def shown(tool: Callable[..., Any], **settings: Any) -> BindingMoment:
    """Return the decision that a person is asked."""
    asked: list[PendingDecision] = []

    def ask(pending: PendingDecision) -> Any:
        asked.append(pending)
        return select_option(pending.moment, 0)

    Authority().guard(tool, ask=ask, name="drop_table", **settings)("users")
    return asked[0].moment


DISPLAY = Display(
    "Delete the table users for good.",
    implications="Nobody can\nlog in any more.",
    data_accessed="All rows of users.",
    irreversible="Yes. There is no backup.",
)
LINES = (
    "What it does: Delete the table users for good.",
    "What follows from it: Nobody can log in any more.",
    "What it reads or discloses: All rows of users.",
    "Whether it can be undone: Yes. There is no backup.",
)


@pytest.mark.parametrize("name", FORMATS)
def test_every_surface_shows_the_display_above_the_options(name: str) -> None:
    """The findings hold it, and every renderer draws the findings."""
    moment = shown(drop_table, display=lambda _: DISPLAY)

    assert moment.findings[-len(LINES) :] == LINES
    drawn = str(get_renderer(name).draw(moment))
    for each in ("Nobody can log in any more", "There is no backup"):
        assert each in drawn.replace("\\", "").replace("\n", " ")


@pytest.mark.parametrize(
    ("tool", "last"),
    [
        (drop_table, "What it does: Delete a table with all of its rows."),
        (functools.partial(drop_table), "What it does: Delete a table with all of its rows."),
        (undocumented, None),
    ],
    ids=["function", "partial", "undocumented"],
)
def test_the_docstring_says_what_a_tool_does(tool: Callable[..., Any], last: str | None) -> None:
    """Where no display does: its first line, and nothing where there is none."""
    found = [each for each in shown(tool).findings if each.startswith("What it does")]
    assert found == ([] if last is None else [last])


NAMES = ("to", "from", "x-mail", "self", "call_id", "run", 'to: "ada"\nto')
"""What parameters of tools that were not written in Python are called."""


def test_arguments_by_any_name_are_shown_one_by_one() -> None:
    """Each as the parameter it is, by a name that looks like nothing else; and the tool gets them."""
    authority = Authority()
    arguments = {name: f"<{number}>" for number, name in enumerate(NAMES)}
    got = list[Any]()

    def send(run: str, /, **arguments: str) -> None:
        got.append((run, arguments))

    options: dict[str, Any] = {"parameters": NAMES, "exclude": ["run"], "target": lambda call: call["from"]}
    tool = authority.guard(send, digested=["x-mail"], **options)
    pending = tool.propose("c1", "now", **arguments)
    lines = pending.moment.findings
    authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 0))
    tool.call("c1", "later", **arguments)

    assert got == [("later", arguments)]
    assert {'to: "<0>"', 'from: "<1>"', 'self: "<3>"', 'call_id: "<4>"', 'run: "<5>"'} <= {*lines}
    assert any(line.startswith('"x-mail": not shown (SHA-256') for line in lines)
    assert '"to: \\"ada\\"\\nto": "<6>"' in lines
    assert 'Target: "<1>". It runs once.' in lines


def test_an_argument_by_no_name_is_refused() -> None:
    """Before anybody is asked."""
    authority = Authority()
    tool = authority.guard(lambda **arguments: arguments, name="send", parameters=["to"])
    with pytest.raises(InputError, match="no parameter 'cc'"):
        tool.propose("c1", to="ada", cc="eve")

    assert authority.ledger.pending() == ()
