"""The Markdown that shows a call: what is done, to whom, with what, in the sections that the draft recommends.

Source: draft-hardt-aauth-r3-02, section 10.1. Names and values are the caller's, and so text: none starts a line, a
section, a link or anything else. What is said of them stands in emphasis or strong type, which they cannot have.
``## Account`` is ours: section 7.1 wants the account named.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.authority.proposal.parameters import Held, entries, holds
from emitter.authority.proposal.vocabulary import besides_name, name_of
from emitter.render.line import line
from emitter.render.markdown import escaped
from emitter.schema.pointer import escaped as step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.wire import Json

LONGEST_SHOWN: Final = 2_000
"""Characters of a value that are shown."""
_LONGEST_NAME: Final = 100
_RECIPIENTS: Final = frozenset({"to", "recipient", "recipients", "cc", "bcc"})


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is proposed; ``parameters`` have a ``Held`` for each value that stands as a digest."""

    operation: Mapping[str, Json]
    vocabulary: str
    parameters: dict[str, Json]
    account: str | None


def summary_of(call: Call) -> str:
    """Return one line that says what is called, where nobody said it better."""
    return plain_summary(call.operation, call.vocabulary)


def plain_summary(operation: Mapping[str, Json], vocabulary: str) -> str:
    """Return the summary of an operation of which nothing but its name is known."""
    return line(f"Call {name_of(operation, vocabulary)}")


def detail_of(call: Call, irreversible: str | None) -> str:
    """Return the Markdown of a call; ``irreversible`` is what cannot be undone, in plain language."""
    parameters = call.parameters.items()
    recipients = [each for each in parameters if each[0].casefold() in _RECIPIENTS]
    others = [each for each in parameters if each[0].casefold() not in _RECIPIENTS]
    sections = {
        "Action": _action(call),
        "Account": [] if call.account is None else [_text(call.account)],
        "To": [_row(*each) for each in _leaves(recipients)],
        "Details": [_row(at, each) for at, each in _leaves(others) if not isinstance(each, Held)],
        "Content": [_row(at, each) for at, each in _leaves(others) if isinstance(each, Held)],
        "Irreversible": [escaped(line(irreversible))] if irreversible else [],
    }
    return "\n\n".join("\n".join((f"## {title}", *rows)) for title, rows in sections.items() if rows)


def _action(call: Call) -> list[str]:
    named = f"Call {_text(name_of(call.operation, call.vocabulary))}"
    return [named, *(_row(*each) for each in _leaves(besides_name(call.operation, call.vocabulary).items()))]


def _leaves(members: Iterable[tuple[str, Json]], above: str = "") -> Iterator[tuple[str, Json]]:
    """Yield what has a row of its own, with its place: what stands as a digest, and what is short and holds none."""
    for name, value in members:
        at = f"{above}{step(name)}"
        shown = value.within if isinstance(value, Held) and value.within is not None else value
        if holds(shown) or (entries(shown) and len(_json(shown)) > LONGEST_SHOWN):
            yield from _leaves(entries(shown), f"{at}/")
        else:
            yield at, shown


def _row(at: str, value: Json) -> str:
    name = escaped(line(f"{at[:_LONGEST_NAME]}…" if len(at) > _LONGEST_NAME else at))
    return f"- {f'**{name}:**' if name else '*(no name)*'} {_value(value)}"


def _value(value: Json) -> str:
    if isinstance(value, Held):
        excerpt = value.digest.get("excerpt")
        return f"*({value.about}; not shown)*" if excerpt is None else f"{escaped(excerpt)} *(excerpt; {value.about})*"
    return _text(value if isinstance(value, str) else _json(value))


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(text: str) -> str:
    """Return text as Markdown of one line that shows it, cut where it is longer than anybody reads."""
    shown = escaped(line(text[:LONGEST_SHOWN])) or "*(blank)*"
    return shown if len(text) <= LONGEST_SHOWN else f"{shown} *(cut; {len(text):,} characters)*"
