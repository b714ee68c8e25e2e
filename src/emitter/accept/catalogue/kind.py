"""A kind of envelope: its id, its version, what its payload must be, and where its schema is served.

Source: ai-envelope.md, "Schema discipline" and "Schema version advertisement".
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.accept.catalogue.address import based
from emitter.schema import Finding, Validator, Violation
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emitter.wire import Json

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_REASONING: Final = "reasoning"
_UNSAID: Final = (None, "", "none")
"""What stands for a reasoning that is not there: the last for a schema that wants a text of some length."""

Rule: TypeAlias = "Callable[[Json], Iterable[Violation]]"
"""What the schema cannot say of a payload that is valid against it."""


def path_of(kind_id: str) -> str:
    """Return the path under which a host serves the kind's schema."""
    return f"/schemas/envelopes/{kind_id}.schema.json"


def canonical(kind_id: str, schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema as the kind's canonical document; its ``$id`` is the path alone, for a host has many names."""
    rest = {name: each for name, each in schema.items() if name not in {"$schema", "$id"}}
    return {"$schema": DIALECT, "$id": path_of(kind_id), **rest}


@dataclass(frozen=True)
class Kind:
    """One kind of envelope, as a host takes it.

    ``version`` is what the host advertises; None where it advertises none, which makes the check of a payload a
    warning in OpenWOP v1. ``schema`` is the canonical document (``canonical``). ``rules`` are asked of a payload
    that holds to it; ``advice`` alike, for what had better be otherwise and is taken all the same. ``pin`` names
    the payload's property that says for which version of an outside standard it was made. ``findings`` are what
    the linter of the portable subset has to say of the schema.
    """

    id: str
    version: int | None
    schema: Mapping[str, Json] = field(repr=False, hash=False)
    rules: tuple[Rule, ...] = field(default=(), repr=False)
    advice: tuple[Rule, ...] = field(default=(), repr=False)
    pin: str | None = None
    findings: tuple[Finding, ...] = field(default=(), repr=False)

    @cached_property
    def _validator(self) -> Validator:
        return Validator(self.schema)

    @cached_property
    def _reasons(self) -> bool:
        """Whether the schema permits ``reasoning`` anywhere."""
        return f'"{_REASONING}"' in json.dumps(dict(self.schema))

    def violations(self, payload: Json) -> tuple[Violation, ...]:
        """Return what is wrong with a payload, which must be JSON; pointers start at the payload.

        No payload is refused for want of ``reasoning``: where a schema or a type requires one, or does not admit null,
        an absent or null one is taken as any of the others would be (ai-envelope.md, "Reasoning field").
        """
        found = self._violations(payload)
        if (
            not found
            or not self._reasons
            or not isinstance(payload, dict)
            or mapping(payload).get(_REASONING) is not None
        ):
            return found
        bare = {name: each for name, each in mapping(payload).items() if name != _REASONING}
        stated = ({**bare, _REASONING: each} for each in _UNSAID)
        return min((found, *map(self._violations, (bare, *stated))), key=len)

    def _violations(self, payload: Json) -> tuple[Violation, ...]:
        return self._validator(payload) or _found(self.rules, payload)

    def warnings(self, payload: Json) -> tuple[Violation, ...]:
        """Return what had better be otherwise in a payload that has no violations."""
        return _found(self.advice, payload)

    def unknown_version(self, payload: Json) -> Violation | None:
        """Return what is wrong where the payload is pinned to a version that the kind does not know.

        It comes before ``violations``: what another version allows cannot be judged, and the refusal is
        ``unknown_schema_version``.
        """
        named = mapping(payload).get(self.pin) if self.pin else None
        if self.pin is None or not isinstance(named, str):
            return None
        known: list[str] = self.schema["properties"][self.pin]["enum"]
        return None if named in known else Violation(f"/{self.pin}", "version", f"one of {json.dumps(known)}")

    def document(self, base_url: str) -> dict[str, Json]:
        """Return the schema as a host at ``base_url`` serves it, with its canonical URL for ``$id``.

        Raises ``InputError`` for what is no http or https address.
        """
        return {**copy.deepcopy(dict(self.schema)), "$id": based(base_url) + path_of(self.id)}


def _found(rules: tuple[Rule, ...], payload: Json) -> tuple[Violation, ...]:
    return tuple(each for rule in rules for each in rule(payload)) if rules else ()
