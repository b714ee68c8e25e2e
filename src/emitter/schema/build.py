"""One compilation, from the schema's JSON to what is compiled."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from emitter.errors import Uncompilable
from emitter.schema.compiled import Compiled, Loss, Why
from emitter.schema.drafts import DRAFT201909, draft_of
from emitter.schema.fit import exceeded, measure, unrolled
from emitter.schema.fit.allot import Allotment, Budget
from emitter.schema.fit.enums import unlisted
from emitter.schema.fit.optionals import flips
from emitter.schema.fit.shorten import shortened
from emitter.schema.prune import pruned
from emitter.schema.read.inside import dangling, everything
from emitter.schema.read.reader import Reader
from emitter.schema.read.scope import Scope
from emitter.schema.read.weight import weigh
from emitter.schema.shape import Document, Rule
from emitter.schema.validate import DANGLING, Validator
from emitter.schema.write.around import unions_around
from emitter.schema.write.ledger import TOLD, Ledger, shown
from emitter.schema.write.writer import Writer, Written
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.profile.subset import Subset
    from emitter.schema.drafts import Draft
    from emitter.wire import Json

_SHARES = (1, 1, 1, 1, 1, 1, 0.7, 0.5, 0.5)
"""How much of what was left after one try is allotted in the next."""

_UNREPEATED = frozenset({"depth", "levels", "optional", "optional_of_one_object"})
"""Limits that repeating constants does not come near to."""

MAX_GROWTH = 2
"""A schema that is cut down becomes no larger than so many times what it was, and ``SPARE``."""

SPARE = 4_000
"""How many characters more it may have: the forms of a small schema say more than it does."""


def build(given: Any, subset: Subset, *, degrade: bool, close: bool, typed: bool = False) -> Compiled:
    """Compile a schema that is JSON; see ``compile_schema``."""
    if not isinstance(given, dict | bool):
        raise Uncompilable("", f"a JSON Schema is an object or a boolean, not a value of type {type(given).__name__}")
    schema = cast("dict[str, Json] | bool", given)
    draft, validate = _validated(schema, typed=typed)
    scope = Scope(schema, draft)
    if not subset.enforced:
        weigh(scope)
        return _plain(schema, validate, (scope, draft), Why.OPEN)
    reader = Reader(scope, draft, close=close)
    read = reader.document()
    if read.definitions:
        weigh(scope)
    document = unrolled(pruned(read), subset)
    made = _Making(document, subset, reader)
    written = made.written()
    if written is None and degrade:
        written = made.degraded()
    if written is None and not degrade:
        raise Uncompilable("", f"the schema is too large for this vendor: {made.told}")
    if written is None:
        return _plain(schema, validate, (scope, draft), Why.DEGRADED)
    return Compiled(
        schema=written.wire,
        losses=made.losses(),
        encode=lambda value: written.codec.encode(value, ""),
        decode=written.codec.decode,
        validate=validate,
        original=schema,
        appendix=made.appendix,
    )


def _validated(schema: Json, *, typed: bool) -> tuple[Draft, Validator]:
    """Return the schema's draft and its validator; an older draft's words may stand in a schema that names none."""
    draft = draft_of(schema)
    try:
        return draft, _validator(schema, draft, typed=typed)
    except Uncompilable:
        if "$schema" in mapping(schema):
            raise
        with suppress(Uncompilable):
            return DRAFT201909, _validator(schema, DRAFT201909, typed=typed)
        raise


def _validator(schema: Any, draft: Draft, *, typed: bool) -> Validator:
    try:
        return Validator(schema, draft, typed=typed)
    except Uncompilable as error:
        # The validator does not say where the reference stands.
        found = dangling(Scope(schema, draft), draft) if error.reason == DANGLING else None
        raise found or error from error


def _plain(schema: Any, validate: Validator, reading: tuple[Scope, Draft], why: Why) -> Compiled:
    """Return the schema as it is, for the prompt: nothing of it is enforced."""
    scope, draft = reading
    rules = {(rule.where, rule.keyword): rule for rule in reversed(everything([scope.root], scope, draft))}
    losses = tuple(
        Loss(rule.where, rule.keyword, shown(rule.value), Why.OPEN if rule.where else why)
        for rule in reversed(rules.values())
    )
    return Compiled(schema, losses, _as_it_is, _as_it_is, validate, schema, enforced=False)


def _as_it_is(value: Any) -> Any:
    return value


def _length(schema: Json) -> int:
    return len(json.dumps(schema, ensure_ascii=False))


class _Making:
    """One document on its way to a vendor, with the losses of the last try."""

    def __init__(self, document: Document, subset: Subset, reader: Reader) -> None:
        self._document = document
        self._subset = subset
        self._reader = reader
        self._ledger = Ledger(reader.scope, reader.draft)
        self._over: dict[str, tuple[int, int]] = {}
        self._unions = 0

    @property
    def told(self) -> str:
        """What is over which limit."""
        return ", ".join(
            f"{name.replace('_', ' ')} {count} of at most {most}" for name, (count, most) in self._over.items()
        )

    def written(
        self, document: Document | None = None, flipped: frozenset[int] = frozenset(), *, bounded: bool = False
    ) -> Written | None:
        """Return the document as written, or None where it is over a limit, or grows too much where it is ``bounded``.

        Short lists of constants are repeated only where there is room for that.
        """
        self._document = self._document if document is None else document
        written = self._within(flipped, lean=bounded)
        if written is None and not bounded and self._over.keys() - _UNREPEATED:
            written = self._within(flipped, lean=True)
        if written is not None and bounded and (size := _length(written.wire)) > (most := self._most):
            self._over = {"size": (size, most)}
            return None
        if written is not None and flipped:
            self._ledger.note(Rule("", "required", len(flipped)), Why.DEGRADED)
        return written

    def _within(self, flipped: frozenset[int], *, lean: bool) -> Written | None:
        written, limits = self._write(flipped, lean=lean), self._subset.limits
        crowded = self._ledger.appendix.crowded(TOLD + self._given // 2)
        written = self._write(flipped, crowded, lean=lean) if crowded else written
        size = measure(written.wire, limits)
        self._over, self._unions = exceeded(size, limits), size.counts["unions"]
        if self._over.keys() == {"text"} and limits.text is not None:
            self._ledger.note(Rule("", "description", limits.text), Why.DEGRADED)
            return Written(shortened(written.wire, limits.text), written.codec)
        return None if self._over else written

    def _write(self, flipped: frozenset[int], apart: frozenset[str] = frozenset(), *, lean: bool = False) -> Written:
        self._ledger = Ledger(self._reader.scope, self._reader.draft, apart)
        return Writer(self._document, self._subset, self._ledger, flipped, lean=lean).root()

    @property
    def appendix(self) -> dict[str, Json]:
        """The pieces of the schema that the prompt must carry."""
        return self._ledger.appendix.entries()

    @cached_property
    def _given(self) -> int:
        return _length(self._reader.scope.root.schema)

    @property
    def _most(self) -> int:
        """How large a schema may become that is cut down."""
        return MAX_GROWTH * self._given + SPARE

    def degraded(self) -> Written | None:
        """Return the document cut down until it fits; None where only the prompt is left."""
        over, room = self._over, max((self._subset.limits.unions or 0) - self._unions, 0)
        flipped = flips(self._document, self._subset, over, self._unions)
        written = self.written(flipped=flipped, bounded=True) if flipped else None
        if written is not None:
            return written
        whole = self._document
        if over.keys() & {"enum_values", "characters", "long_enum_characters"}:
            whole = unlisted(self._document, self._subset.limits)
            written = self.written(whole, bounded=True)
        budget = Budget(self._subset.limits, room)
        for share in _SHARES:
            if written is not None:
                break
            budget.shrink(share)
            allotted = Allotment(whole, self._subset, budget).document()
            written = self.written(allotted, bounded=True)
            flipped = flips(allotted, self._subset, self._over, self._unions) if written is None else frozenset[int]()
            written = self.written(allotted, flipped, bounded=True) if flipped else written
            budget.tighten(self._over)
        return written

    def losses(self) -> tuple[Loss, ...]:
        """Return the losses: those of the forms, of the unions around them, and of what was closed."""
        for origin in unions_around(self._document, self._ledger.at):
            self._ledger.note(origin, Why.INSIDE)
        for rule in self._reader.closings:
            self._ledger.note(rule, Why.CLOSED)
        return self._ledger.losses
