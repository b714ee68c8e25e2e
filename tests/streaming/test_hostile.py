"""What is no valid document is reported as far as it is true, and nothing is raised."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.attempts import Verdict
from emitter.core.verdicts import ClassifiedAnswer, DocumentContract, classify
from emitter.messages import ModelResponse, StopReason
from emitter.schema import compile_schema
from emitter.schema.python_types import resolve_schema
from tests.streaming.forms import FORMS, PROFILES, VALUES, closed, every_form
from tests.streaming.reading import at, reader, reported, slots, texts
from tests.streaming.writing import cut, written
from tests.work import FULL, examples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from hypothesis.strategies import DataObject

often = settings(max_examples=examples(60))
every_profile = pytest.mark.parametrize("profile", PROFILES)
STYLES = st.randoms(use_true_random=False)
DEEP = 100_000 if FULL else 20_000

INTEGERS = closed({"a": {"type": "integer"}, "b": {"type": "integer"}}, ())


def judged(schema: Any, profile: str, text: str) -> ClassifiedAnswer:
    """Return what the judge says of a text that was ended cleanly."""
    return classify(
        ModelResponse(StopReason.COMPLETE, "stop", text=text), DocumentContract(compile_schema(schema, profile))
    )


def merged(found: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return what a consumer is left with: what is reported again replaces what stood there and below."""
    left: dict[str, Any] = {}
    for pointer, value in found:
        left = {each: kept for each, kept in left.items() if each != pointer and not each.startswith(f"{pointer}/")}
        left[pointer] = value
    return left


@st.composite
def spoilt(draw: st.DrawFn, text: str) -> str:
    """Draw a text that was changed in a few places."""
    for _ in range(draw(st.integers(1, 3))):
        place, length = draw(st.integers(0, len(text))), draw(st.integers(0, 3))
        put = draw(st.sampled_from(('"', "\\", "{", "}", "[", "]", ",", ":", "0", "null", "NaN", "\\ud800", "'", "")))
        text = text[:place] + put + text[place + length :]
    return draw(st.sampled_from(("", "", "", "{}", "[0] ", '"', "{'a': 1} ", '{"a": 0} '))) + text


@every_form(3)
@given(data=st.data(), style=STYLES, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4))
@often
def test_garbage_is_reported_truly(name: str, profile: str, data: DataObject, style: Random, sizes: list[int]) -> None:
    """Nothing is raised, any cut tells the same, and of a document that is accepted nothing was told that it is not."""
    form = FORMS[name]
    compiled = compile_schema(form.schema, profile)
    text = data.draw(spoilt(written(compiled.encode(data.draw(form.documents)), style)))

    found = [
        slots(reported(reader(form.schema, profile, form.into), each)) for each in ([text], cut(text, sizes), text)
    ]
    verdict = judged(form.schema, profile, text)

    assert len({json.dumps(each) for each in found}) == 1
    if verdict.verdict is Verdict.COMPLETE:
        for pointer, value in merged(found[0]).items():
            assert at(verdict.document, pointer) == value


def laid_down(schema: Any, step: str) -> Iterator[Any]:
    """Yield every schema that may hold for a member of what ``schema`` describes."""
    whole = [schema]
    for node in whole:
        if "$ref" in node:
            whole.append(at(schema, node["$ref"].removeprefix("#")))
        whole.extend(each for key in ("anyOf", "oneOf") for each in node.get(key, ()))
        first = node.get("prefixItems", [])
        if step.isdecimal() and node.get("type") == "array":
            yield first[int(step)] if int(step) < len(first) else node.get("items", True)
        elif node.get("type") == "object":
            yield node.get("properties", {}).get(step, node.get("additionalProperties", True))


@every_form(4)
@given(data=st.data(), style=STYLES)
@often
def test_no_invalid_member_is_reported(name: str, profile: str, data: DataObject, style: Random) -> None:
    """Whatever has become of the document, each member that is reported holds to what the schema says of it alone."""
    form = FORMS[name]
    schema: Any = resolve_schema(form.schema).schema
    wire = json.loads(json.dumps(compile_schema(form.schema, profile).encode(data.draw(form.documents))))
    places = [(wire, key) for key in (wire if isinstance(wire, dict) else range(len(wire)))]
    for table, key in places:
        inside = table[key]
        keys = inside if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()
        places.extend((inside, each) for each in keys)
    if places:
        table, key = data.draw(st.sampled_from(places))
        table[key] = data.draw(VALUES)
    if isinstance(wire, dict):
        wire |= data.draw(st.dictionaries(st.sampled_from(("extra", "kind", "n", "value")), VALUES, max_size=1))

    for pointer, value in slots(reported(reader(form.schema, profile), written(wire, style))):
        if pointer == "":
            assert not list(compile_schema(form.schema, profile).validate(value))
            continue
        step = pointer[1:].replace("~1", "/").replace("~0", "~")
        allowed = list(laid_down(schema, step))
        defs = {"$defs": schema.get("$defs", {})}
        whole = "#" if "$defs" not in schema else None
        assert any(_valid(each, value, schema if whole else defs) for each in allowed), (pointer, value)


def _valid(schema: Any, value: Any, beside: Any) -> bool:
    if isinstance(schema, bool):
        return schema
    if "$defs" in beside:
        return jsonschema_rs.is_valid({**beside, **schema}, value)
    rooted = {**beside, "$id": "urn:test:whole"}
    moved = json.loads(json.dumps(schema).replace('"#"', '"urn:test:whole"'))
    return jsonschema_rs.is_valid({"allOf": [moved], "$defs": {"whole": rooted}}, value)


BROKEN: dict[str, tuple[str, list[tuple[str, Any]]]] = {
    "nothing": ("", []),
    "prose": ("I would say 3.", []),
    "prose-before": ('The answer: {"a": 1, "b": 2}', [("/a", 1), ("/b", 2)]),
    "prose-after": ('{"a": 1, "b": 2} Is that all?', [("/a", 1), ("/b", 2)]),
    "fenced": ('```json\n{"a": 1, "b": 2}\n```', [("/a", 1), ("/b", 2)]),
    "twice": ('{"a": 1}{"b": 2}', [("/a", 1)]),
    "in-a-list": ('[{"a": 1}]', []),
    "in-a-text": ('"{"a": 1}"', []),
    "not-a-number": ('{"a": NaN, "b": 2}', []),
    "too-large-a-number": ('{"a": 1e999, "b": 2}', []),
    "endless-digits": ('{"a": ' + "9" * 5000 + ', "b": 2}', []),
    "half-a-character": ('{"\\ud800": 1, "b": 2}', [("/b", 2)]),
    "unknown-member": ('{"c": 1, "b": 2}', [("/b", 2)]),
    "wrong-type": ('{"a": "1", "b": 2}', [("/b", 2)]),
    "no-value": ('{"a": , "b": 2}', []),
    "no-colon": ('{"a" 1, "b": 2}', []),
    "no-comma": ('{"a": 1 "b": 2}', [("/a", 1)]),
    "bare-name": ('{a: 1, "b": 2}', []),
    "mismatched": ('{"a": [1}, "b": 2}', []),
    "written-again": ('{"a": 1, "a": 2}', [("/a", 1), ("/a", 2)]),
    "cut-in-a-number": ('{"a": 1', []),
    "cut-after-a-number": ('{"a": 1, "b": 2', [("/a", 1)]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_document(name: str) -> None:
    """Of each the true part is reported, whole or character by character; after what is no JSON nothing is."""
    text, expected = BROKEN[name]

    assert slots(reported(reader(INTEGERS, "openai"), [text])) == expected
    assert slots(reported(reader(INTEGERS, "openai"), text)) == expected


BOTTOMLESS: dict[str, str] = {
    "root": "[" * DEEP,
    "objects": '{"a":' * DEEP,
    "member": '{"a":' + "[" * DEEP + "]" * DEEP + ', "b": 2}',
    "mixed": '{"a":' + '[{"a":' * DEEP,
    "quotes": '{"a": [' + '"\\"' * DEEP,
    "backslashes": '{"a": "' + "\\" * DEEP,
    "keys": '{"' + "\\u" * DEEP,
}


@pytest.mark.parametrize("profile", ["openai", "plain"])
@pytest.mark.parametrize("schema", [INTEGERS, {}, {"type": "array"}], ids=["closed", "open", "list"])
@pytest.mark.parametrize("name", BOTTOMLESS)
def test_depth_is_survived(name: str, schema: Any, profile: str) -> None:
    """A hundred thousand brackets, quotes or backslashes raise nothing and are no slot."""
    assert slots(reported(reader(schema, profile), [BOTTOMLESS[name]])) == []


def test_a_member_as_deep_as_the_judge_allows() -> None:
    """What the judge takes is reported, and what is deeper is reported by neither."""
    for depth in (50, 200, 480, 600, 900, 5000):
        text = '{"a": ' + "[" * depth + "]" * depth + "}"
        accepted = judged({}, "plain", text).verdict is Verdict.COMPLETE
        assert [pointer for pointer, _ in slots(reported(reader({}, "plain"), [text]))] == ["/a"] * accepted


MAP = {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "integer"}}}}


@every_profile
def test_a_container_that_is_written_again_is_reported_whole(profile: str) -> None:
    """Members of the first are void by that: the later holds, as in the document."""
    compiled = compile_schema(MAP, profile)
    first, second = (json.dumps(compiled.encode({"m": each}))[1:-1] for each in ({"x": 1, "y": 2}, {"x": 3}))
    found = slots(reported(reader(MAP, profile, ["/m"]), [f"{{{first}, {second}}}"]))

    assert found == [("/m/x", 1), ("/m/y", 2), ("/m", {"x": 3})]


@every_profile
def test_a_text_that_is_written_again_is_not_followed_again(profile: str) -> None:
    """Its slot tells what became of it."""
    schema = closed({"a": {"type": "string"}})
    found = reported(reader(schema, profile, follow=["/a"]), '{"a": "one", "a": "two"}')

    assert texts(found) == {"/a": "one"}
    assert slots(found) == [("/a", "one"), ("/a", "two")]


@pytest.mark.parametrize("key", ["k" * 100_000, "/~" * 5000, "\u00e9" * 5000], ids=["long", "escaped", "foreign"])
@every_profile
def test_a_huge_name_is_reported_whole(key: str, profile: str) -> None:
    """A pointer is never cut: it would name another member."""
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    text = json.dumps(compile_schema(schema, profile).encode({key: 1}))

    assert slots(reported(reader(schema, profile), text)) == [("/" + key.replace("~", "~0").replace("/", "~1"), 1)]
