"""The validators that are measured, each behind one function: a schema in, a test of an instance out.

All assert formats. ``jsonschema`` knows only those formats whose helper packages are installed; ``fastjsonschema``
knows the drafts 4, 6 and 7. Left alone, each of them fetches what a schema's ``$ref`` names over the network: here each
is told what there is, and finds nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import jsonschema_rs
from jsonschema_specifications import REGISTRY
from referencing import Resource
from referencing.jsonschema import DRAFT7, DRAFT201909, DRAFT202012

from benchmarks.page import peer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Check: TypeAlias = "Callable[[Any], bool]"

_SPECIFICATIONS = {"draft7": DRAFT7, "draft2019-09": DRAFT201909, "draft2020-12": DRAFT202012}
LATEST = "draft2020-12"


@dataclass(frozen=True, slots=True)
class Validator:
    """A package that validates: ``build`` takes a schema, its draft and the schemas it may refer to."""

    package: str
    drafts: frozenset[str]
    build: Callable[[Any, str, Mapping[str, Any]], Check]


def validators() -> Iterator[Validator]:
    """Yield those that are installed."""
    everything = frozenset(_SPECIFICATIONS)
    yield Validator("jsonschema-rs", everything, _jsonschema_rs)
    if peer("jsonschema", "jsonschema"):
        yield Validator("jsonschema", everything, _jsonschema)
    if peer("fastjsonschema", "fastjsonschema"):
        yield Validator("fastjsonschema", frozenset({"draft7"}), _fastjsonschema)


def _jsonschema_rs(schema: Any, draft: str, remotes: Mapping[str, Any]) -> Check:
    made = _jsonschema_rs_class(schema, draft)
    numbers = {"draft7": 7, "draft2019-09": 201909, "draft2020-12": 202012}
    number = getattr(jsonschema_rs, f"Draft{numbers[draft]}")  # of those remotes that do not say so themselves
    registry = jsonschema_rs.Registry([*remotes.items()], draft=number, retriever=_refuse) if remotes else None
    check: Check = made(schema, validate_formats=True, registry=registry, retriever=_refuse).is_valid
    return check


def _jsonschema_rs_class(schema: Any, draft: str) -> Any:
    named = schema.get("$schema", "") if isinstance(schema, dict) else ""
    by_uri = {"draft-07": "draft7", "2019-09": "draft2019-09", "2020-12": "draft2020-12"}
    by_draft = {
        "draft4": jsonschema_rs.Draft4Validator,
        "draft6": jsonschema_rs.Draft6Validator,
        "draft7": jsonschema_rs.Draft7Validator,
        "draft2019-09": jsonschema_rs.Draft201909Validator,
        "draft2020-12": jsonschema_rs.Draft202012Validator,
    }
    older = {"draft-04": "draft4", "draft-06": "draft6"}
    known = (name for part, name in (by_uri | older).items() if f"{part}/schema" in str(named))
    return by_draft[next(known, draft)]


def _refuse(uri: str) -> Any:
    raise LookupError(f"nothing is fetched here, {uri} neither")


def _jsonschema(schema: Any, draft: str, remotes: Mapping[str, Any]) -> Check:
    import jsonschema  # noqa: PLC0415  a peer, which may be absent

    by_draft = {
        "draft7": jsonschema.Draft7Validator,
        "draft2019-09": jsonschema.Draft201909Validator,
        "draft2020-12": jsonschema.Draft202012Validator,
    }
    known = jsonschema.validators.validator_for(schema, default=by_draft[draft])
    default = _SPECIFICATIONS[draft]
    found = [(uri, Resource.from_contents(each, default)) for uri, each in remotes.items()]
    registry = REGISTRY.with_resources(found).crawl()  # given a registry, it asks nobody else
    check: Check = known(schema, format_checker=known.FORMAT_CHECKER, registry=registry).is_valid
    return check


def _fastjsonschema(schema: Any, _draft: str, remotes: Mapping[str, Any]) -> Check:
    import fastjsonschema  # noqa: PLC0415  a peer, which may be absent

    handlers = dict.fromkeys(("http", "https"), lambda uri: remotes[uri.partition("#")[0]])
    validate = fastjsonschema.compile(schema, handlers=handlers, use_default=False)

    def check(instance: Any) -> bool:
        try:
            validate(instance)
        except fastjsonschema.JsonSchemaValueException:
            return False
        return True

    return check
