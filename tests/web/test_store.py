"""A ledger in a store that fails: nobody's answer is lost, and nothing is shown that is not known."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from emitter.decisions.ledger import Ledger
from emitter.stores import SqliteStore
from tests.web.running import request, running

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_store_that_fails_loses_no_words(tmp_path: Path) -> None:
    """What could not be kept is on the page again, and can be sent again."""
    place = tmp_path / "ledger.db"
    with SqliteStore(place, timeout=0.05) as store, running(Ledger(store)) as site:
        asked = site.asked().opened()
        written = {**asked.forms[1], "choice": "free_text", "answer": "Neither."}
        with closing(sqlite3.connect(place, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            failed = asked.send(written)
        stood = asked.stands
        kept = asked.send(written)

    assert (failed.status, kept.status) == (503, 200)
    assert failed.root.one("textarea", name="answer").text.strip() == "Neither."
    assert stood == asked.pending


def test_a_store_out_of_reach_shows_nothing(tmp_path: Path) -> None:
    """What cannot be known is not shown as a decision; it can be asked for again."""
    place = tmp_path / "ledger.db"
    with SqliteStore(place) as store, running(Ledger(store)) as site:
        asked = site.asked()
        with closing(sqlite3.connect(place)) as other:
            other.execute("ALTER TABLE entries RENAME TO elsewhere")
            away = request(asked.url)
            other.execute("ALTER TABLE elsewhere RENAME TO entries")
        back = request(asked.url)

    assert (away.status, back.status) == (503, 200)
    assert "Try again" in away.root.text


def test_a_mistake_of_ours_is_said_without_a_word_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A store that was closed too early is nobody's answer; the response is as guarded as any, and the log too."""
    with SqliteStore(tmp_path / "ledger.db") as store, running(Ledger(store)) as site:
        asked = site.asked().opened()
        store.close()
        broken = asked.choose(0)

    assert broken.status == 500
    assert "Open the link again" in broken.root.text
    assert "frame-ancestors 'none'" in broken.header("content-security-policy")
    assert urlsplit(asked.url).path not in caplog.text
