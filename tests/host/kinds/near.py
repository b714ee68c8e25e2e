"""Payloads that hold to a schema, and payloads that are off by a little."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st

from tests.work import examples

URLS = ("https://host.example/a", "http://h", "javascript:alert(1)")
NO_URLS = ("a b", "/x", "")
JUNK = st.sampled_from([None, True, 0, -1, 1.0, 0.5, "", "x", [], {}, {"x": 1}, ["x"], [{}]])

often = settings(max_examples=examples(200))


class Way(NamedTuple):
    """Where references lead, and whether to go wrong here and there."""

    root: Any
    wrong: bool


def near(schema: Any) -> st.SearchStrategy[Any]:
    """Return values that hold to ``schema``, and as many that may not."""
    return _value(schema, Way(schema, wrong=False)) | _value(schema, Way(schema, wrong=True))


def _value(schema: Any, way: Way) -> st.SearchStrategy[Any]:
    good = _good(schema, way)
    return st.integers(0, 9).flatmap(lambda dice: good if dice else JUNK) if way.wrong else good


def _good(schema: Any, way: Way) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return st.deferred(lambda: _value(way.root["$defs"][name], way))
    if "anyOf" in schema:
        return st.one_of([_value(each, way) for each in schema["anyOf"]])
    if "const" in schema or "enum" in schema:
        listed = schema.get("enum", [schema.get("const")])
        return st.sampled_from([*listed, *(["9.9.9"] if way.wrong else [])])
    return _OF_TYPE.get(schema.get("type"), _anything)(schema, way)


def _object(schema: Any, way: Way) -> st.SearchStrategy[Any]:
    known = {name: _value(each, way) for name, each in schema.get("properties", {}).items()}
    required = sorted(schema.get("required", ()))
    rest = {name: each for name, each in known.items() if name not in required}

    def built(dropped: int) -> st.SearchStrategy[Any]:
        kept = {name: known[name] for index, name in enumerate(required) if index != dropped}
        extra = {"onClick": JUNK} if dropped == len(required) else {}
        return st.fixed_dictionaries({**kept, **extra}, optional=rest)

    return st.integers(0, 20).flatmap(built) if way.wrong else built(-1)


def _array(schema: Any, way: Way) -> st.SearchStrategy[Any]:
    least = 0 if way.wrong else schema.get("minItems", 0)
    return st.lists(
        _value(schema.get("items", {}), way), min_size=least, max_size=schema.get("maxItems", 3) + way.wrong
    )


def _string(schema: Any, way: Way) -> st.SearchStrategy[Any]:
    if schema.get("format") == "uri":
        return st.sampled_from([*URLS, *(NO_URLS if way.wrong else ())])
    least, most = schema.get("minLength", 0), schema.get("maxLength", 4)
    sizes = [least, most, *([max(least - 1, 0), most + 1] if way.wrong else [])]
    return st.text(min_size=least, max_size=least + 3) | st.sampled_from(sizes).map("é".__mul__)


def _number(schema: Any, way: Way) -> st.SearchStrategy[Any]:
    fitting = st.integers(schema.get("minimum", -2), schema.get("maximum", 8)) | st.just(1.0)
    return fitting | st.sampled_from([-1, 99, 0.5, 1e300]) if way.wrong else fitting


def _boolean(_schema: Any, _way: Way) -> st.SearchStrategy[Any]:
    return st.booleans()


def _anything(_schema: Any, _way: Way) -> st.SearchStrategy[Any]:
    return JUNK


_OF_TYPE = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
}
