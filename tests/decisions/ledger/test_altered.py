"""What a store keeps of a decision's end is what was written of it, or nobody goes on by it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.errors import StoreFailed
from emitter.stores import SqliteStore
from tests.decisions.ledger.asking import moment
from tests.stores.making import edited

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.messages import Json

MOMENT = moment()
CHOSEN: dict[str, dict[str, Json]] = {
    "another option": {"index": 9},
    "an option before the first": {"index": -1},
    "no option": {"index": None},
    "a truth value": {"index": True},
    "another envelope": {"digest": "sha256:" + "0" * 64},
    "another outcome": {"outcome": "approved"},
    "no time": {"resolvedAt": None},
    "no channel": {"channel": 1},
}
SPOKEN: dict[str, dict[str, Json]] = {"no salt": {"salt": "z"}, "no hash": {"hash": None}}
_CLOSED = "SELECT correlation_id, entry FROM entries WHERE correlation_id LIKE 'closed:%'"


def altered(place: Path, change: dict[str, Any]) -> None:
    """Write something else into the entry of a decision's end, as somebody would who knows its format."""
    with edited(place) as connection:
        ((name, text),) = connection.execute(
            "SELECT correlation_id, entry FROM entries WHERE correlation_id LIKE 'closed:%'"
        )
        entry = json.loads(text)
        entry["outcome"] |= change
        connection.execute("UPDATE entries SET entry = ? WHERE correlation_id = ?", (json.dumps(entry), name))


@pytest.mark.parametrize("change", CHOSEN.values(), ids=CHOSEN.keys())
def test_an_altered_choice_is_nobodys(tmp_path: Path, change: dict[str, Json]) -> None:
    """Neither by finding the decision nor by answering it again."""
    with SqliteStore(place := tmp_path / "store.db") as store:
        pending = Ledger(store).open(MOMENT, decision_id="d")
        Ledger(store).resolve("d", select_option(pending.moment, 0))
        altered(place, change)
        for use in (
            lambda: Ledger(store).find("d"),
            lambda: Ledger(store).resolve("d", select_option(pending.moment, 0)),
        ):
            with pytest.raises(StoreFailed, match="not what was written"):
                use()


@pytest.mark.parametrize("change", SPOKEN.values(), ids=SPOKEN.keys())
def test_altered_words_are_nobodys(tmp_path: Path, change: dict[str, Json]) -> None:
    """The hash of what was said is read before anything is compared with it."""
    with SqliteStore(place := tmp_path / "store.db") as store:
        pending = Ledger(store).open(MOMENT, decision_id="d")
        Ledger(store).resolve("d", open_dialogue(pending.moment, "Why now?"))
        altered(place, change)
        with pytest.raises(StoreFailed, match="not what was written"):
            Ledger(store).resolve("d", open_dialogue(pending.moment, "Why now?"))
