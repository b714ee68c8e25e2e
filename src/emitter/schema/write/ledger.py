"""Keeping the losses of one compilation, and saying them to the model where they stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from emitter.schema.compiled import Loss, Why
from emitter.schema.read.inside import below_rule, everything, schema_of
from emitter.schema.read.scope import Part
from emitter.schema.shape import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.schema.drafts import Draft
    from emitter.schema.read.scope import Scope
    from emitter.schema.shape import Node

SHOWN = 200
"""The most characters of a rule's value that a loss repeats."""

TOLD = 2_000
"""The most characters of a schema that a description repeats."""

TOLD_IN_ALL = 40_000
"""The most characters of schemas that all descriptions repeat together."""


class Ledger:
    """The losses so far, each once, and the nodes that they stand at."""

    def __init__(self, scope: Scope, draft: Draft) -> None:
        self.at: set[int] = set()
        self._scope = scope
        self._draft = draft
        self._left = TOLD_IN_ALL
        self._met: set[int] = set()
        self._texts: dict[tuple[int, ...], str] = {}
        self._losses: dict[tuple[str, str], Loss] = {}

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses by their place."""
        return tuple(self._losses.values())

    def lose(self, node: Node, rules: Iterable[Rule], why: Why = Why.UNSUPPORTED, *, inside: bool = True) -> list[str]:
        """Write the rules down, with all that stands ``inside`` them; return what to tell the model."""
        told: list[str] = []
        for rule in rules:
            self.at.add(id(node))
            told.append(f"{rule.keyword} {shown(self._resolved(rule.value))}")
            self._write(rule, why)
            if inside:
                self._write_inside(below_rule(rule, self._scope, node.parts))
        return told

    def lose_whole(self, node: Node, *, degraded: bool = False) -> None:
        """Write down every keyword of a value that goes as JSON text."""
        self.at.add(id(node))
        self._write_inside(node.parts)
        for part in node.parts if degraded else ():
            for keyword in part.schema.keys() & self._draft.keywords:
                self._write(Rule(part.where, keyword, part.schema[keyword]), Why.DEGRADED)

    def schema_text(self, node: Node) -> str:
        """Return the JSON text of what ``node`` was read from, cut where it is long."""
        key = tuple(id(part.schema) for part in node.parts)
        if key not in self._texts:
            self._texts[key] = shown(schema_of(node.parts, self._scope), min(TOLD, self._left))
        self._left = max(self._left - len(self._texts[key]), 0)
        return self._texts[key][: self._left] or "…"

    def text_of(self, part: Part) -> str:
        """Return the JSON text of a schema with the definitions that it refers to, cut where it is long."""
        text = shown(schema_of((part,), self._scope), min(TOLD, self._left))
        self._left = max(self._left - len(text), 0)
        return text

    def _resolved(self, value: Any) -> Any:
        """Return the value of a rule, with what it refers to if it is a schema."""
        return (
            schema_of((Part(value, "", self._scope.root.resolver),), self._scope) if isinstance(value, dict) else value
        )

    def _write_inside(self, parts: Iterable[Part]) -> None:
        for rule in everything(parts, self._scope, self._draft, self._met):
            self._write(rule, Why.OPEN)

    def note(self, rule: Rule, why: Why) -> None:
        """Write one rule down that is not told at its place."""
        self._write(rule, why)

    def _write(self, rule: Rule, why: Why) -> None:
        key = (rule.where, rule.keyword)
        if key not in self._losses or (why is not Why.OPEN and self._losses[key].why is Why.OPEN):
            self._losses[key] = Loss(rule.where, rule.keyword, shown(rule.value), why)


def shown(value: Any, limit: int = SHOWN) -> str:
    """Return a value of the schema as JSON text, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}…"


def untitled(wire: dict[str, Any], name: str) -> dict[str, Any]:
    """Return ``wire`` without a title that only repeats the name it stands under."""
    title = wire.get("title")
    repeats = isinstance(title, str) and _letters(title) == _letters(name)
    return {key: each for key, each in wire.items() if key != "title"} if repeats else wire


def _letters(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalnum())


def described(wire: dict[str, Any], *sentences: str) -> dict[str, Any]:
    """Return ``wire`` with these sentences added to its description."""
    said = [each for each in (wire.get("description"), *sentences) if each]
    return {**wire, "description": " ".join(said)} if said else wire
