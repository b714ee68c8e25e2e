"""Processes that are there at once, over one confirm: what was done is what the chain says, and what was granted."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Intent, Receipt
from emitter.authority.chain import verify_chain
from tests.stores.jobs import opened
from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.authority.records import ChainRecord

_ROUNDS = 2 if FULL else 1
_MOST = {"free": 5, "money": 3, "once": 1}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_was_done_is_what_was_granted(
    kind: str, tmp_path: Path, told_by: Callable[..., list[list[Any]]], request: pytest.FixtureRequest
) -> None:
    """Limits are spent to the last, and by no more; nothing begins after a stop; each act has one receipt."""
    address = tmp_path / "store.db" if kind == "sqlite" else request.getfixturevalue("postgres").empty()
    *reported, (_, statuses) = told_by("crowding", kind, address, tmp_path, _ROUNDS)
    assert statuses == [0] * 5
    lines = [json.loads(each)[0] for each in (tmp_path / "done").read_text().splitlines()]
    assert len(set(lines)) == len(lines)
    with opened(kind, str(address)) as store:
        authority = Authority(store)
        assert authority.unfinished_actions() == ()
        began: list[str] = []
        for flow in authority.workflows():
            records = [each.record for each in verify_chain(authority.lines(flow))]
            names = [each.type for each in records]
            acts = [each.intent_id for each in records if isinstance(each, Intent)]
            assert sorted(each.intent_ref for each in records if isinstance(each, Receipt)) == sorted(acts)
            began += [each for each in acts if each not in _never_called(records)]
            _check_bounds(flow, names, [code for at, _, code in reported if at == flow])
    assert sorted(began) == sorted(lines)
    assert {name for _, name, code in reported if code == "done"} <= set(lines)


def _never_called(records: list[ChainRecord]) -> set[str]:
    """Return the acts that were stopped, or lost their authority, between their intent and the call of the tool."""
    return {
        each.intent_ref
        for each in records
        if isinstance(each, Receipt) and (each.error or "").startswith("It was broken off before it began: ")
    }


def _check_bounds(flow: str, names: list[str], codes: list[str]) -> None:
    kind, done = flow.rstrip("0123456789"), names.count("INTENT")
    if kind in _MOST:
        assert done == _MOST[kind]
        assert set(codes) <= {"done", "unfinished", "limit_exceeded", "already_used"}
        return
    end = {"stop": "STOP", "revoke": "REVOKE"}[kind]
    assert done > 0
    assert Counter(names)[end] == 1
    assert "INTENT" not in names[names.index(end) :]
