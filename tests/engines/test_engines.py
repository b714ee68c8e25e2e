"""What is compiled for a server, the engine behind it takes, and lets every valid document through."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from emitter.profiles import load_profile, profile_names
from emitter.schema import compile_schema
from emitter.schema.nodes import Rule
from emitter.schema.wire_types import is_enforced
from tests.engines.client import ROOT, running, versions
from tests.engines.corpus import Tally, compiled_for, lost_though_enforced, probe_cases, try_case
from tests.engines.exceptions import NARROWER, is_unsent
from tests.engines.facts import Fact, facts
from tests.engines.probes import PROBES
from tests.engines.report import engine_profiles
from tests.engines.stored import FOLDER, stored_facts
from tests.engines.worker import ENGINES
from tests.schema.compile.forms import closed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.engines.client import Engines


def _list(**rules: Any) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "integer"}, **rules}


PAIRS = [(profile, engine) for profile in engine_profiles() for engine in load_profile(profile).subset.engines]


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    """Start the process with the engines."""
    with running() as process:
        yield process


def needs(engine: str) -> None:
    """Skip by name where an engine is missing."""
    if engine not in versions():
        pytest.skip(f"{engine} is not installed: make engines")


@pytest.mark.parametrize(("profile", "engine"), PAIRS, ids=map("-".join, PAIRS))
def test_what_is_compiled_for_a_server_its_engine_holds(profile: str, engine: str, engines: Engines) -> None:
    """No schema is refused, no valid document is excluded, and what an engine lets through is found out here."""
    needs(engine)
    tally = Tally()
    for case in probe_cases():
        compiled = compiled_for(case[1], profile)
        assert compiled is not None
        try_case(engines, engine, case, compiled, tally)
    narrower = {probe for name, probe in NARROWER if name == engine}

    assert tally.refused == []
    assert "*" in narrower or {each.partition(": ")[0] for each in tally.valid_refused} <= narrower
    assert tally.invalid_uncaught == []
    assert tally.valid > len(PROBES)


@pytest.mark.parametrize("profile", engine_profiles())
def test_what_all_engines_of_a_server_enforce_is_sent(profile: str) -> None:
    """No keyword is only told where the engines would hold it."""
    subset = load_profile(profile).subset
    known = [dict(stored_facts(engine)) for engine in subset.engines]
    lost = [
        each
        for name, schema, *_ in probe_cases()
        if (compiled := compiled_for(schema, profile)) is not None
        for each in lost_though_enforced(name, schema, compiled, known, subset.max_count)
    ]

    assert [each for each in lost if not is_unsent(profile, each)] == []


@pytest.mark.parametrize("profile", engine_profiles())
def test_what_an_engine_of_a_server_gets_wrong_is_not_sent(profile: str) -> None:
    """What one of them ignores is sent and told."""
    subset = load_profile(profile).subset
    for name, probe in PROBES.items():
        facts_of_rule = {engine: stored_facts(engine)[name] for engine in subset.engines}
        narrower = {engine for engine, probe_name in NARROWER if probe_name in {name, "*"}}
        if not any(
            fact in {Fact.WRONG, Fact.REFUSED} for engine, fact in facts_of_rule.items() if engine not in narrower
        ):
            continue
        compiled = compiled_for(
            {"type": "object", "properties": {"v": probe.schema}, "$defs": probe.definitions or {}}, profile
        )
        assert compiled is not None
        sent = json.dumps(compiled.schema)
        rules = probe.schema.keys() - {
            "type",
            "items",
            "properties",
            "required",
            "additionalProperties",
            "$ref",
            "enum",
        }
        is_sent = [f'"{rule}": {json.dumps(probe.schema[rule])}' in sent for rule in rules]
        assert not rules or not all(is_sent), (name, facts_of_rule)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_stored_facts_are_those_of_the_engine(engine: str, engines: Engines) -> None:
    """``python -m tests.engines.report --write`` stores them again."""
    needs(engine)

    assert dict(stored_facts(engine)) == facts(engines, engine)


def test_each_engine_of_a_profile_has_facts() -> None:
    """And each file is of an engine that is known."""
    named = {engine for name in profile_names() for engine in load_profile(name).subset.engines}

    assert {file.stem for file in FOLDER.iterdir()} == set(ENGINES) >= named


def _text(**rules: Any) -> dict[str, Any]:
    return {"type": "string", **rules}


AT_LEAST_3 = {"type": "integer", "minimum": 3}
WIRES: dict[str, tuple[str, dict[str, Any], dict[str, Any], set[str]]] = {
    "integer-bounds": ("llama-cpp", AT_LEAST_3, AT_LEAST_3, set()),
    "number-bounds": ("llama-cpp", {"type": "number", "minimum": 3}, {"type": "number"}, {"minimum"}),
    "bounds-of-both": ("llama-cpp", {"type": ["integer", "number"], "minimum": 3}, {"type": "number"}, {"minimum"}),
    "uncertain": (
        "openai-compatible",
        {"type": "integer", "minimum": 3},
        {"type": "integer", "minimum": 3},
        {"minimum"},
    ),
    "uncertain-format": ("openai-compatible", _text(format="date"), _text(format="date"), {"format"}),
    "count": ("openai-compatible", _list(minItems=2, maxItems=9), _list(minItems=2, maxItems=9), set()),
    "large-count": (
        "openai-compatible",
        _list(minItems=200, maxItems=900),
        _list(minItems=100),
        {"minItems", "maxItems"},
    ),
    "length": ("llama-cpp", _text(minLength=2, maxLength=9), _text(minLength=2, maxLength=9), set()),
    "large-length": ("llama-cpp", _text(minLength=3000), _text(), {"minLength"}),
    "length-of-a-pattern": ("llama-cpp", _text(minLength=2, pattern="^a+$"), _text(pattern="^a+$"), {"minLength"}),
    "length-of-a-format": ("llama-cpp", _text(format="date", maxLength=20), _text(format="date"), {"maxLength"}),
    "length-without-its-pattern": (
        "llama-cpp",
        _text(minLength=2, pattern="a"),
        _text(minLength=2),
        {"pattern"},
    ),
    "pattern": ("vllm", _text(pattern="^[a-c]+$"), _text(pattern="^[a-c]+$"), set()),
    "pattern-that-is-wrong": ("vllm", _text(pattern="b"), _text(), {"pattern"}),
    "length-that-is-wrong": ("vllm", _text(maxLength=9), _text(), {"maxLength"}),
    "multiple": ("sglang", {"type": "integer", "multipleOf": 5}, {"type": "integer", "multipleOf": 5}, set()),
    "multiple-of-a-fraction": ("sglang", {"type": "number", "multipleOf": 0.5}, {"type": "number"}, {"multipleOf"}),
    "hosted": ("groq", _list(minItems=2), _list(), {"minItems"}),
}


@pytest.mark.parametrize(("profile", "schema", "wire", "lost"), WIRES.values(), ids=WIRES)
def test_what_is_sent_and_what_is_told(profile: str, schema: Any, wire: Any, lost: set[str]) -> None:
    """What an engine enforces is sent alone, what only some do is sent and told, and the rest is told."""
    compiled = compile_schema(closed(v=schema), profile)
    sent = dict(compiled.schema["properties"]["v"])
    description = sent.pop("description", "")

    assert sent == wire
    assert {loss.keyword for loss in compiled.losses} == lost
    assert bool(description) == bool(lost)


_STATED = {"type": "object", "properties": {"ab": {"type": "integer"}}, "required": ["ab"]}
OPEN: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "open object": (_STATED, [{"ab": 1}, {"ab": 1, "x": "y"}, {"ab": 1, "x": {"y": [None]}}], [{}, {"x": 1}]),
    "open object, said so": ({**_STATED, "additionalProperties": True}, [{"ab": 1}, {"ab": 1, "x": 2}], [{"ab": "x"}]),
    "open object, beginning of a name": (_STATED, [{"ab": 1, "a": 2}, {"ab": 1, "abc": 2}], [{"a": 2}]),
    "open object in a list": (
        closed(v={"type": "array", "items": _STATED}),
        [{"v": []}, {"v": [{"ab": 1}, {"ab": 2, "x": True}]}],
        [{"v": [{"x": True}]}],
    ),
    "open object, optional names": (
        {"type": "object", "properties": {"ab": {"type": "integer"}, "c": {"type": "string"}}},
        [{}, {"ab": 1}, {"c": "x", "d": 1}],
        [{"ab": "x"}],
    ),
}
OPENED = [pair for pair in PAIRS if load_profile(pair[0]).subset.open_objects]


@pytest.mark.parametrize(("profile", "engine"), OPENED, ids=map("-".join, OPENED))
@pytest.mark.parametrize("name", OPEN)
def test_an_open_object_is_sent_open(name: str, profile: str, engine: str, engines: Engines) -> None:
    """A small model fails at JSON text in a property. A map stays a list of entries, which has an upper bound."""
    schema, valid, invalid = OPEN[name]
    compiled, tally = compile_schema(schema, profile), Tally()
    assert "additional_properties" not in json.dumps(compiled.schema)
    assert '"additionalProperties": {}' in json.dumps(compiled.schema)
    needs(engine)
    try_case(engines, engine, (name, schema, valid, invalid), compiled, tally)

    assert (tally.refused, tally.invalid_uncaught, tally.valid) == ([], [], len(valid))
    assert bool(tally.valid_refused) is ((engine, name) in NARROWER)


PIECES = (
    "a",
    "Z9",
    "-",
    r"\.",
    r"\+",
    "[a-c]",
    "[^x]",
    ".",
    r"\d",
    r"\w",
    r"\s",
    "(ab|c)",
    "(?:d|e)",
    "ä",
    r"[\d.]",
    "/",
)
QUANTIFIERS = ("", "", "", "+", "*", "?", "{2}", "{1,3}", "+?")


def patterns(count: int) -> list[str]:
    """Return patterns that are made by chance, which can be repeated."""
    chance = Random(7)  # noqa: S311  chance that can be repeated
    made = [
        "".join(chance.choice(PIECES) + chance.choice(QUANTIFIERS) for _ in range(chance.randint(1, 4)))
        for _ in range(count)
    ]
    return [f"{chance.choice(('^', '^', '^', ''))}{each}{chance.choice(('$', '$', '$', ''))}" for each in made]


TEXTS = (
    "a",
    "aa",
    "Z9",
    "a-",
    "b",
    "ab",
    "abab",
    "c",
    "d",
    "äa",
    "a.b",
    "1",
    "a1",
    "a b",
    'a"',
    "a/b",
    "Z9-ab",
    "ac+",
    "x",
    "",
)


@pytest.mark.parametrize(("profile", "engine"), PAIRS, ids=map("-".join, PAIRS))
def test_the_patterns_that_are_sent_mean_the_same_to_the_engine(profile: str, engine: str, engines: Engines) -> None:
    """The others are told and checked."""
    needs(engine)
    subset = load_profile(profile).subset
    sent = [each for each in patterns(400) if is_enforced(Rule("", "pattern", each), subset)]
    texts = [each for each in TEXTS if each.isascii() or engine != "lm-format-enforcer"]
    for pattern in sent[:80]:
        schema = {
            "type": "object",
            "properties": {"v": {"type": "string", "pattern": pattern}},
            "required": ["v"],
            "additionalProperties": False,
        }
        answer = engines.ask(engine, schema, [json.dumps({"v": each}, ensure_ascii=False) for each in texts])
        assert answer.refused is None, pattern
        assert answer.accepts == tuple(re.search(pattern, each, re.ASCII) is not None for each in texts), pattern

    assert ("pattern" in subset.keywords) == bool(sent)


def test_make_engines_is_named_where_engines_are_missing() -> None:
    """A reader of a skipped test knows what to do."""
    assert re.search(r"(?m)^engines: .*## ", (ROOT / "Makefile").read_text())
