"""Envelopes, and what nobody would call one: whatever a host may be handed."""

from __future__ import annotations

import copy
import json
import math
from collections import OrderedDict
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from emitter.host import (
    Counters,
    EnvelopeContext,
    EnvelopeContract,
    HostConfig,
    HostLimits,
    RefusalMode,
    Strictness,
    Trust,
)
from emitter.host.kinds import A2UI_KIND, media_kinds
from emitter.host.registry import register_kind
from emitter.models import BindingMoment, Option, Question, binding_moment
from tests.host.envelopes import CATALOGUE, NOTE, PAYLOADS, envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPEN = "vendor.acme.open"
"""A kind that takes any object, and advertises a version."""

FULL = register_kind(OPEN, {"type": "object"}, version=1, registry=CATALOGUE.with_kinds(*media_kinds(), A2UI_KIND))
MOMENT = BindingMoment(
    synopsis="Ship now: all is green.",
    findings=("The tests pass.",),
    recommendations=("Publish 2.0.",),
    offer="Ask for the report.",
    question=Question.ask(
        "When?", [Option(label="Now", reasoning="Green."), Option(label="Later", reasoning="Late.")], 0
    ),
)
VALID: dict[str, dict[str, Any]] = {
    **PAYLOADS,
    OPEN: {"a": {"b": ["c", 1, None]}},
    "media.image": {"url": "https://example.com/a.png", "mimeType": "image/png", "bytes": 3},
    "media.file": {"base64": "YWJj", "mimeType": "text/plain", "bytes": 3, "alt": "abc"},
    "ui.a2ui-surface": {
        "catalogVersion": "0.9.1",
        "surface": {"title": "Kick-off", "components": [{"component": "field.text", "id": "t", "label": "Name"}]},
    },
    "vendor.emitter.document": {"name": "Invoice", "document": {"total": 12}},
    "vendor.emitter.deliberation": {"state": "It may do.", "missing": ["the date"], "permission": "May I ask?"},
    "vendor.emitter.binding-moment": binding_moment.turn_payload(MOMENT, "All is green."),
    "vendor.emitter.authorization": {
        "authorization": {
            "kind": "refusal",
            "reason": {"code": "BLOCKED", "user_message": "This cannot be shown.", "audit_id": "a-1"},
        },
    },
}
"""A payload that holds, for each kind."""


class Bag(dict[Any, Any]):
    """A mapping of somebody's own."""


class Text(str):
    """A text of somebody's own."""

    __slots__ = ()


@dataclass
class Thing:
    """No JSON at all, and it will not be printed."""

    def __repr__(self) -> str:
        raise RuntimeError

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        raise RuntimeError


def deep(levels: int = 200) -> list[Any]:
    """Return a list in a list, and so on; by default only so deep that Hypothesis can still print it."""
    made: list[Any] = []
    for _ in range(levels):
        made = [made]
    return made


def cyclic() -> list[Any]:
    """Return a list that holds itself."""
    made: list[Any] = []
    made.append(made)
    return made


def cyclic_bag() -> dict[str, Any]:
    """Return an object that holds itself."""
    made: dict[str, Any] = {}
    made["a"] = [made]
    return made


ODD: tuple[Callable[[], Any], ...] = (
    deep,
    cyclic,
    cyclic_bag,
    Thing,
    lambda: Thing,
    lambda: math.nan,
    lambda: -math.inf,
    lambda: 10**5000,
    lambda: b"\xff",
    lambda: bytearray(b"a"),
    lambda: {1, 2},
    lambda: ("a", 1),
    lambda: "\ud800",
    lambda: Text("text"),
    lambda: Bag(a=1),
    lambda: OrderedDict(source="user"),
    lambda: MappingProxyType({"a": 1}),
    lambda: {1: 2, None: 3, ("a",): 4},
    lambda: {"\udfff": 1},
    lambda: range(3),
    lambda: ...,
    lambda: 1 + 2j,
    lambda: Trust.TRUSTED,
)
"""Makers of what is no JSON, or none that can be read."""

FINE: tuple[Any, ...] = (-(2**63) - 1, 1e308, "a\x00b", "a" * 100_000, True, 10**4000)
"""What is JSON all the same."""

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ODDITIES: st.SearchStrategy[Any] = st.sampled_from(ODD).map(lambda make: make()) | st.sampled_from(FINE)
MEMBERS = ("type", "schemaVersion", "envelopeId", "correlationId", "nodeId", "payload", "meta", "partial")
NAMES = st.sampled_from((*MEMBERS, "source", "ts", "contentTrust", "label", "rendering", "isPartial", "index", "total"))
LIKELY = st.sampled_from(
    (*VALID, "user", "trusted", "untrusted", "2026-05-18T10:00:00Z", "", 0, 1, 2, 1.0, -1, [], {}, "a" * 129, "a" * 257)
).map(copy.deepcopy)
VALUES = JSON | ODDITIES | LIKELY
PARTIALS = st.fixed_dictionaries({"isPartial": st.booleans(), "index": st.integers(-1, 3), "total": st.integers(-1, 3)})

_MOMENT = {"source": "ai-generation", "ts": "2026-05-18T10:00:00Z"}


def whole() -> st.SearchStrategy[dict[str, Any]]:
    """Return envelopes that hold, or nearly: of every kind."""
    meta = st.fixed_dictionaries(
        _MOMENT_OF,
        optional={"contentTrust": st.sampled_from(["trusted", "untrusted"]), "label": st.text(max_size=8)},
    )
    kinds = st.sampled_from(sorted(VALID))
    ids = st.sampled_from(["run-1:node-1:0:a", "run-1:node-1:0:b", "c"])
    made = st.builds(lambda kind, ident, said: envelope(kind, correlationId=ident, meta=said), kinds, ids, meta)
    return made.map(lambda each: {**each, "payload": copy.deepcopy(VALID[each["type"]])})


_MOMENT_OF: dict[str, st.SearchStrategy[Any]] = {name: st.just(value) for name, value in _MOMENT.items()}


@st.composite
def mutated(draw: st.DrawFn, values: st.SearchStrategy[Any] = VALUES) -> Any:
    """Return an envelope in which members were taken away, put in, or given another value, at any depth."""
    made: Any = draw(whole())
    if draw(st.integers(0, 4)) == 0:
        made["partial"] = draw(PARTIALS)
    for _ in range(draw(st.integers(0, 3))):
        holder, key = draw(st.sampled_from(list(_places(made))))
        change = draw(st.sampled_from(["take", "put", "give"]))
        if change == "give":
            holder[key] = draw(values)
        elif change == "take":
            del holder[key]
        elif isinstance(holder, dict):
            holder[draw(NAMES | st.text(max_size=6))] = draw(values)
        else:
            holder.append(draw(values))
        if not made:
            break
    return made


def _places(value: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Yield each holder and key, to such a depth."""
    if depth > 6 or not isinstance(value, (dict, list)):
        return
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        yield from _places(value[key], depth + 1)


ANYTHING: st.SearchStrategy[Any] = mutated() | VALUES | whole()

CONTEXTS = st.builds(
    EnvelopeContext,
    run_id=st.just("run-1"),
    node_id=st.sampled_from(["node-1", "node-2"]),
    contract=st.builds(
        EnvelopeContract,
        st.none() | st.frozensets(st.sampled_from([NOTE, OPEN, "media.image", "error"]), max_size=2),
        st.sampled_from(RefusalMode),
    ),
    inputs=st.sampled_from(Trust),
    boundary=st.sampled_from(Trust),
    approving=st.booleans(),
    counters=st.builds(Counters, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)),
)
RULES = st.builds(
    HostConfig,
    registry=st.just(FULL),
    limits=st.builds(HostLimits, st.integers(1, 4), st.integers(0, 3), st.integers(0, 3)),
    strictness=st.sampled_from(Strictness),
    accepts_envelopes=st.sampled_from([True, True, True, False]),
    allows_clarifications=st.booleans(),
)


def fenced(value: Any) -> str:
    """Return a text with a value in a fence."""
    return f"So:\n```json\n{json.dumps(value)}\n```\n"
