"""json-repair is shown little, and believed only where the text proves it right."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.recover import recover, strategies
from emitter.recover.strategies import MAX_REPAIR_CHARS, MAX_REPAIR_DEPTH


@pytest.mark.parametrize(
    ("piece", "value", "proven"),
    [
        pytest.param('{"a": 1}', {"a": 1}, True, id="as written"),
        pytest.param('{"a" 1, "b": [true,],}', {"a": 1, "b": [True]}, True, id="colon and comma"),
        pytest.param('{"a": "x\\ny"}', {"a": "x\ny"}, True, id="escape"),
        pytest.param('{"a":}', {"a": ""}, False, id="invented string"),
        pytest.param('{"a":}', {"a": None}, False, id="invented null"),
        pytest.param('{"a": 1, "b": 2}', {"a": 1}, False, id="dropped member"),
        pytest.param("[1, 2]", [1], False, id="dropped element"),
        pytest.param("[1, x, 2]", [1, 2], False, id="dropped word"),
        pytest.param('{"a": 1}', {"a": "1"}, False, id="number to string"),
        pytest.param("[1]", [True], False, id="number to boolean"),
        pytest.param("[1]", [1.0], False, id="integer to float"),
        pytest.param("[1_0]", [10], False, id="odd number"),
        pytest.param("[1e999]", [float("inf")], False, id="infinity"),
        pytest.param("[a]", ["a"], False, id="quotes invented"),
        pytest.param('["a"b"]', ['a"b'], False, id="odd quote inside"),
        pytest.param('{"a", "b"}', ["a", "b"], False, id="other bracket"),
        pytest.param('["a"]', "a", False, id="no container"),
        pytest.param('["a"] x', ["a"], False, id="text left over"),
        pytest.param("[[1], 2]", [[1, 2]], False, id="moved element"),
        pytest.param("[]", [[]], False, id="bracket invented"),
    ],
)
def test_proven(piece: str, value: Any, proven: bool) -> None:
    """A value is proven when the text holds all of it and nothing else."""
    assert strategies.is_faithful(piece, value) is proven


def test_length_is_bounded() -> None:
    """A document of the bound's length is mended, one character more is not."""
    spare = MAX_REPAIR_CHARS - len('{"a": "v"alu"e", "": ""}')
    text = '{"a": "v"alu"e", "": "' + "x" * spare + '"}'
    assert len(text) == MAX_REPAIR_CHARS
    assert recover(text) is not None
    assert recover(text.replace('""', '"x"', 1)) is None


def test_depth_is_bounded() -> None:
    """Nesting up to the bound is mended, one level more is not."""
    inside = '{"a": "v"alu"e"}'
    assert recover("[" * (MAX_REPAIR_DEPTH - 1) + inside + "]" * (MAX_REPAIR_DEPTH - 1)) is not None
    assert recover("[" * MAX_REPAIR_DEPTH + inside + "]" * MAX_REPAIR_DEPTH) is None


def test_only_closed_text_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unclosed document never reaches json-repair, nor does one with another beside it."""
    shown: list[str] = []
    monkeypatch.setattr(strategies, "_run_json_repair", shown.append)
    for text in ('{"a": "v"alu"e"', '{"a": "v"alue"}', '{"a": x]', '{"a": x} {"b": 1}', '{"b": 1} {"a": x}', '{"a'):
        assert recover(text) is None
    assert shown == []
    assert recover('{"a": x}') is None
    assert shown == ['{"a": x}']


def test_whatever_it_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside json-repair is a document that is not read."""
    json_repair = pytest.importorskip("json_repair")

    def fail(*_: object, **__: object) -> None:
        raise RecursionError

    monkeypatch.setattr(json_repair, "repair_json", fail)
    assert recover('{"a": "v"alu"e"}') is None
