"""Each step of the ladder reads what it is for, and names itself."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from emitter.recover import Ambiguous, Recovered, RecoveryPath, parse_answer, recover

A = {"a": 1}

STEPS: list[tuple[str, str, Any, RecoveryPath, int]] = [
    ("object", '{"a": 1}', A, RecoveryPath.DIRECT, 0),
    ("spaces", ' \n{"a": 1}\t', A, RecoveryPath.DIRECT, 2),
    ("number", "42", 42, RecoveryPath.DIRECT, 0),
    ("null", "null", None, RecoveryPath.DIRECT, 0),
    ("string", '"x"', "x", RecoveryPath.DIRECT, 0),
    ("string that ends a document", '"{"', "{", RecoveryPath.DIRECT, 0),
    ("fence", '```json\n{"a": 1}\n```', A, RecoveryPath.MARKDOWN_FENCE, 8),
    ("fence without a tag", '```\n{"a": 1}\n```', A, RecoveryPath.MARKDOWN_FENCE, 4),
    ("fence on one line", '```{"a": 1}```', A, RecoveryPath.MARKDOWN_FENCE, 3),
    ("fence in prose", 'Sure, é:\n```json\n{"a": 1}\n```\nBye.', A, RecoveryPath.MARKDOWN_FENCE, 18),
    ("fence left open", '```json\n{"a": 1}\n', A, RecoveryPath.MARKDOWN_FENCE, 8),
    (
        "fence in a string",
        '```\n{"a": "```json\\n{}\\n```"}\n```',
        {"a": "```json\n{}\n```"},
        RecoveryPath.MARKDOWN_FENCE,
        4,
    ),
    ("only the fence's end", '{"a": 1}\n```', A, RecoveryPath.BRACE_WALKER, 0),
    ("prose", 'The result is {"a": 1}, as asked.', A, RecoveryPath.BRACE_WALKER, 14),
    ("brackets in a string", 'Here: {"a": "}]{[\\""} Bye', {"a": '}]{["'}, RecoveryPath.BRACE_WALKER, 6),
    ("byte-order mark", '\ufeff{"a": 1}', A, RecoveryPath.BRACE_WALKER, 3),
    ("function call", 'callback({"a": 1});', A, RecoveryPath.BRACE_WALKER, 9),
    ("tag", '<answer>{"a": 1}</answer>', A, RecoveryPath.BRACE_WALKER, 8),
    ("one bracket too many", '{"a": 1}}', A, RecoveryPath.BRACE_WALKER, 0),
    ("beside a citation", 'As shown in [1], {"a": 1} holds [2, 3].', A, RecoveryPath.BRACE_WALKER, 17),
    ("beside a placeholder", 'For {name} it is {"a": 1}', A, RecoveryPath.BRACE_WALKER, 17),
    ("beside a type", 'Of {a: int}: {"a": 1}', A, RecoveryPath.BRACE_WALKER, 13),
    ("beside a subscript", 'From rows["a"]: {"a": 1}', A, RecoveryPath.BRACE_WALKER, 16),
    ("array of strings", '["x", "y"] is the output.', ["x", "y"], RecoveryPath.BRACE_WALKER, 0),
    ("numbers on their own line", "The numbers:\n[1, 2]\nThat is all.", [1, 2], RecoveryPath.BRACE_WALKER, 13),
    ("empty in a call", "/* v1 */ callback({});", {}, RecoveryPath.BRACE_WALKER, 18),
    ("trailing comma in a fence", '```json\n{"a": 1,}\n```', A, RecoveryPath.JSONREPAIR, 8),
    ("twice", '{"a": 1}{"a": 1}', A, RecoveryPath.CUSTOM, 0),
    ("twice, in another order", '{"a": 1, "b": 2}\n{"b": 2, "a": 1}', {"a": 1, "b": 2}, RecoveryPath.CUSTOM, 0),
    ("twice, once broken", '{"a": 1}\nor\n{a: 1,}', A, RecoveryPath.CUSTOM, 0),
    ("two equal fences", '```\n{"a": 1}\n```\n```\n{"a":1}\n```', A, RecoveryPath.CUSTOM, 4),
    ("in a string", '"{\\"a\\": 1}"', A, RecoveryPath.CUSTOM, 0),
    ("in a string in a string", '"\\"[1]\\""', [1], RecoveryPath.CUSTOM, 0),
    ("escaped without quotes", '{\\"a\\": \\"x\\"}', {"a": "x"}, RecoveryPath.CUSTOM, 0),
]


@pytest.mark.parametrize(("text", "value", "path", "offset"), [row[1:] for row in STEPS], ids=[row[0] for row in STEPS])
def test_step(text: str, value: object, path: RecoveryPath, offset: int) -> None:
    """The value, the name of the step and the UTF-8 offset of the document."""
    found = recover(text)
    assert isinstance(found, Recovered)
    assert (found.value, found.path, found.byte_offset) == (value, path, offset)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param('{"a": 1}{"a": 2}', 2, id="side by side"),
        pytest.param('{"a": 1}\n{"a": true}', 2, id="1 is not true"),
        pytest.param('{"a": 1}\n{"a": 1.0}', 2, id="1 is not 1.0"),
        pytest.param('{"a": 1}, {"a": 2}, {"a": 1}', 2, id="two of three are equal"),
        pytest.param('Like {"a": 1}, but right:\n{"a": 2}', 2, id="an example and an answer"),
        pytest.param('```\n{"a": 1}\n```\nor\n```\n{"a": 2}\n```', 2, id="two fences"),
        pytest.param('As in {"a": 1}:\n```\n{"a": 2}\n```', 2, id="prose and fence"),
        pytest.param('{"a": 1}{}', 2, id="an empty one that touches"),
        pytest.param('{"a": 1}\n\n[]\n', 2, id="an empty one on its own line"),
        pytest.param('[{"a": 1}]\n[{"a": 1}, {"a": 1}]', 2, id="nested ones are not counted"),
    ],
)
def test_several(text: str, count: int) -> None:
    """Documents that differ are no answer, and are counted."""
    assert parse_answer(text) == Ambiguous(count)
    assert recover(text) is None


def test_values_are_frozen() -> None:
    """What recovery hands back cannot be changed under the caller's feet."""
    found = recover("1")
    assert found is not None
    with pytest.raises(FrozenInstanceError):
        found.path = RecoveryPath.CUSTOM  # type: ignore[misc]


def test_path_ids() -> None:
    """The ids are OpenWOP's closed list, as strings."""
    assert [path.value for path in RecoveryPath] == ["direct", "markdown-fence", "brace-walker", "jsonrepair", "custom"]


def test_json_repair_is_loaded_late() -> None:
    """Reading answers that need no guess never imports json-repair."""
    code = "import sys, emitter.recover as r; r.recover('x {\"a\": 1,}'); sys.exit('json_repair' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
