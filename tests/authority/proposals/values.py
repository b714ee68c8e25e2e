"""Parameters of calls for laws, and others that are nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rfc8785
from hypothesis import strategies as st

from emitter.authority.proposals import make_digest_object

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATION = {"tool": "send_email"}
NAMES = st.sampled_from(["s256", "media_type", "excerpt", "to", "/", "~1", "0", "", "é", "e\u0301"]) | st.text(
    max_size=4
)
TEXTS = (
    st.sampled_from(["", "1", "true", "null", "{}", "[]", '{"s256":"x"}', "é", "e\u0301", "\u0430", "a"]) | st.text()
)
NUMBERS = (
    st.integers(-3, 3)
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.0, -0.0, 1.0, 0.5])
)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS | st.binary(max_size=4)


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)


VALUES = st.recursive(LEAVES, _deeper, max_leaves=6)
PARAMETERS = st.dictionaries(NAMES, VALUES, max_size=4)
SMALL = st.sampled_from([1, 3, 1024])


def alike(one: Any, other: Any) -> bool:
    """Tell whether two values are one as JSON values, where bytes are only ever bytes: said without the library."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def places(value: Any, at: str = "") -> list[str]:
    """Return the JSON pointers of all values within a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: list[str] = []
    for name, each in pairs:
        below = f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"
        found += [below, *places(each, below)]
    return found


def _json(value: Any) -> Any:
    return rfc8785.dumps(value).decode()


def indexed(given: list[Any]) -> dict[str, Any]:
    """Return an object with the indexes of a list as its names."""
    return {str(index): each for index, each in enumerate(given)}


def backwards(given: dict[str, Any]) -> dict[str, Any]:
    """Return the same object with its members in another order."""
    return dict(reversed(given.items()))


_OTHERWISE: dict[type, list[Callable[[Any], Any]]] = {
    bool: [int, str, lambda given: not given],
    int: [float, str, bool, lambda given: given - 1 if given > 0 else given + 1, lambda given: [given]],
    float: [
        lambda given: int(given) if abs(given) < 2**53 else given,
        str,
        bool,
        lambda given: given / 2,
        lambda given: [given],
    ],
    str: [str.encode, str.upper, make_digest_object, lambda given: f"{given} ", lambda given: {"s256": given}],
    bytes: [make_digest_object, lambda given: given.decode("latin-1"), list, lambda given: given + b"\0"],
    list: [make_digest_object, _json, lambda given: given[::-1], lambda given: [*given, None], indexed],
    dict: [make_digest_object, _json, backwards, lambda given: {**given, "s256": None}, lambda given: [given]],
    type(None): [lambda _: "null", lambda _: False, lambda _: {}, lambda _: ""],
}
"""What makes another value, or another spelling, that a careless reader takes for this one."""


@st.composite
def nearly(draw: st.DrawFn, value: Any) -> Any:
    """Return a value that differs in one place, or in nothing but its spelling."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        name = draw(st.sampled_from(sorted(value)))
        if not draw(st.integers(0, 6)):
            return {each: value[each] for each in value if each != name}
        return {**value, name: draw(nearly(value[name]))}
    if isinstance(value, list) and value and draw(st.booleans()):
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], draw(nearly(value[index])), *value[index + 1 :]]
    try:
        return draw(st.sampled_from(_OTHERWISE[type(value)]))(value)
    except (ValueError, TypeError):  # what has bytes in it has no canonical JSON
        return value


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of two calls, which are the same, nearly the same, or not."""
    one = draw(PARAMETERS)
    other = draw(PARAMETERS | nearly(one).filter(lambda each: isinstance(each, dict)) | st.just(backwards(one)))
    return one, other
