"""Hostile text costs no more than its length, and never an exception; ``benchmarks/linear.py`` measures it."""

from __future__ import annotations

import json
import sys
from functools import partial

import pytest

from emitter.recover import RecoveryPath, parse_answer, recover
from emitter.recover.answer import MAX_STRING_LAYERS
from emitter.strict_json import MAX_JSON_DEPTH
from tests.work import FULL, count_lines

UNITS = (
    *("[", "{", "}", "{}", "[]", '"', "'", "\\", "`", "```", "/*", "//", "# ", "“", "‘", "9", "-", " ", "\n", "\0"),  # noqa: RUF001
    *('{"a":', "{a", "t]{{", "{a:", "{a:/*", "{a:b ", "[1,", "[1 x", '["a" x', '{"a":"b', '[" "a" ', '["( "b" c '),
    *('{"a":1}', '{"a":1}, ', "{a:1} ", "[1] ", "\n[1]\n", "[]/*", '{"a":"x "y" z"} ', '["x" "y" ', '{"a" ', "cb("),
    *(
        "Sure. ",
        "json ",
        "here is the ",
        '\u201ea" ',
        '\u201ca" ',
        "\\,",
        "\\tau ",
        'x"\n',
        'x"}',
        "<|think|>",
        "<unused94>",
    ),
    *('{"a":"","":"","":""} ', '{\\"a\\":1}', '"""', "```json\n{}\n```\n", "{'a'b", "\ud800", '{"a":"b""c"', "},"),
)
SIZES = (3_000, 12_000) if FULL else (1_000, 4_000)
FRAMES = (("", ""), ('{"a": "', '"}'), ('["', '"]'), ("{a: ", "}"), ("[", "*/]"))


@pytest.mark.parametrize("unit", UNITS, ids=[ascii(unit) for unit in UNITS])
def test_linear(unit: str) -> None:
    """Four times the text takes four times the lines of Python, not the sixteenfold of a quadratic reading."""
    for frame in FRAMES:
        short, long = ((unit * (size // len(unit))).join(frame) for size in SIZES)
        lines = count_lines(partial(parse_answer, short))
        count_lines(partial(parse_answer, long), limit=5 * lines + 1_000)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 1_000_000, id="openers"),
        pytest.param('{"a":' * 100_000, id="members"),
        pytest.param("\\" * 1_000_000, id="backslashes"),
        pytest.param('"' * 1_000_001, id="quotes"),
        pytest.param("```" * 300_000, id="fences"),
        pytest.param("x {" + "}" * 500_000, id="closers"),
        pytest.param("{a" + "t]{{" * 200_000 + '"}', id="mixed brackets"),
        pytest.param("[1, " * 100_000 + "and so on", id="openers in prose"),
        pytest.param("/*" * 400_000, id="comments"),
        pytest.param("[" * 100_000 + "]" * 100_000, id="deep and valid"),
        pytest.param("9" * 5_000, id="digits"),
        pytest.param('{"a": ' + "9" * 5_000 + ",}", id="digits inside"),
        pytest.param("[1e400]", id="infinite"),
    ],
)
def test_hostile(text: str) -> None:
    """Hostile text of a megabyte ends in nothing, soon and quietly."""
    assert recover(text) is None


def test_many_documents() -> None:
    """The same document a hundred thousand times is one document."""
    found = recover('{"a":1}' * 50_000)
    assert found is not None
    assert found.path is RecoveryPath.CUSTOM


@pytest.mark.parametrize("frame", ["%s", "see %s here", "```\n%s\n```", "%s,"])
def test_depth(frame: str) -> None:
    """Every step reads documents as deep as the bound, and none that are deeper."""
    for depth, whole in ((MAX_JSON_DEPTH, True), (MAX_JSON_DEPTH + 1, False)):
        text = '{"a":' * depth + "1" + "}" * depth
        assert (recover(frame % text) is not None) is whole


def test_wide_is_not_deep() -> None:
    """Only nesting is bounded, not the number of containers."""
    text = json.dumps([[{}]] * 5_000)
    found = recover(text)
    assert found is not None
    assert found.path is RecoveryPath.DIRECT


def test_layers() -> None:
    """A document is taken out of as many strings as the bound says."""
    text = "[1]"
    for layer in range(MAX_STRING_LAYERS + 2):
        found = recover(text)
        assert found is not None
        assert (found.value == [1]) is (layer <= MAX_STRING_LAYERS)
        text = json.dumps(text)


def test_on_a_deep_stack() -> None:
    """A caller near the interpreter's own limit gets no exception either."""

    def on_event(left: int) -> object:
        return on_event(left - 1) if left else parse_answer('{"a":' * 150 + "1" + "}" * 150 + " x")

    depth = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    assert on_event(sys.getrecursionlimit() - depth - 120) is not None


@pytest.mark.parametrize("text", ["\ud800", '"\\ud800"', '{"a": "\\ud800"}', '\ud800 {"a": 1}', '{"\ud800": 1,}'])
def test_lone_surrogates(text: str) -> None:
    """Half a character is carried, and counts three bytes."""
    found = recover(text)
    assert found is None or found.byte_offset == (4 if text.startswith("\ud800 ") else 0)
