"""What each surface takes: its schema from the folder beside the repository, or its SDK's own models."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema_rs
import pytest
from jsonschema import Draft6Validator, Draft202012Validator
from mcp_types import ElicitRequestFormParams
from mcp_types._v2025_11_25 import PrimitiveSchemaDefinition as Primitive2025
from mcp_types._v2026_07_28 import PrimitiveSchemaDefinition as Primitive2026
from pydantic import TypeAdapter
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from emitter.models.standard_kinds import A2UI_SCHEMA
from emitter.render.slack import BLOCK_COST, MAX_MESSAGE_COST, visible_texts
from tests.models import openwop

FOLDER = Path(__file__).parents[3] / ".." / "shared" / "schemas" / "renderers"

needs_schemas = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/schemas/renderers is absent")

_KIND = jsonschema_rs.Draft202012Validator(dict(A2UI_SCHEMA))
CARD = "adaptive-card-1.6.0.json"
_A2UI = "https://a2ui.org/specification/v0_9/"


Reader: TypeAlias = Callable[[str], Any]
"""Returns a validator of a format; there are two, each another's work, and both must agree."""


@cache
def quick(name: str) -> Any:
    """Return jsonschema-rs's validator, for many documents."""
    if name == CARD:
        return jsonschema_rs.Draft6Validator(_mended(_file(CARD)))
    registry = jsonschema_rs.Registry(_a2ui_resources())
    return jsonschema_rs.Draft202012Validator({"$ref": f"{_A2UI}{name}"}, registry=registry)


@cache
def thorough(name: str) -> Any:
    """Return jsonschema's validator with referencing's registry, for a few."""
    if name == CARD:
        return Draft6Validator(_file(CARD))
    found = ((at, DRAFT202012.create_resource(each)) for at, each in _a2ui_resources())
    return Draft202012Validator({"$ref": f"{_A2UI}{name}"}, registry=Registry().with_resources(found))


def _mended(schema: Any) -> Any:
    """Return the schema of cards without its one flaw: it says ``required: false``, and no draft knows that."""
    if isinstance(schema, list):
        return [_mended(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _mended(each) for name, each in schema.items() if (name, each) != ("required", False)}


def _folder() -> Path:
    if not FOLDER.is_dir():
        pytest.skip("../shared/schemas/renderers is absent")
    return FOLDER


def _file(name: str) -> Any:
    return json.loads((_folder() / name).read_text("utf-8"))


def _a2ui_resources() -> list[tuple[str, Any]]:
    """Return A2UI's schemas at the places they name each other by."""
    files = {path.stem: _file(f"a2ui-0.9.1/{path.name}") for path in (_folder() / "a2ui-0.9.1").glob("*.json")}
    catalog = files.pop("basic_catalog")
    named = [(f"{_A2UI}{stem}.json", {**each, "$id": f"{_A2UI}{stem}.json"}) for stem, each in files.items()]
    return [*named, (f"{_A2UI}catalog.json", {**catalog, "$id": f"{_A2UI}catalog.json"})]


def _found(validator: Any, document: Any) -> list[str]:
    return [error.message[:200] for error in validator.iter_errors(document)]


def adaptive_card(document: Any, reader: Reader = quick) -> list[str]:
    """Return what the schema of Adaptive Cards 1.6 finds."""
    return _found(reader(CARD), document)


def a2ui(document: Any, reader: Reader = quick) -> list[str]:
    """Return what A2UI's schema of messages to a client finds in any of them."""
    return [error for each in document for error in _found(reader("server_to_client.json"), each)]


def a2ui_reply(document: Any, reader: Reader = quick) -> list[str]:
    """Return what A2UI's schema of messages to a server finds."""
    return _found(reader("client_to_server.json"), document)


def openwop_surface(document: Any) -> list[str]:
    """Return what our schema of the kind finds, and OpenWOP's where it is at hand."""
    ours = _found(_KIND, document)
    theirs = openwop.errors(document, "envelopes/ui.a2ui-surface.schema.json") if openwop.FOLDER.is_dir() else []
    return [*ours, *theirs]


def elicitation(document: Any) -> list[str]:
    """Raise what the SDK's models of both revisions find."""
    params = ElicitRequestFormParams.model_validate(document, by_alias=True, by_name=False)
    assert params.model_dump(mode="json", by_alias=True, exclude_none=True) == document
    for name, each in document["requestedSchema"]["properties"].items():
        for primitive in (Primitive2025, Primitive2026):
            read = TypeAdapter[Any](primitive).validate_python(each, by_alias=True, by_name=False)
            assert read.model_dump(mode="json", by_alias=True, exclude_none=True) == each, name
    Draft202012Validator.check_schema(document["requestedSchema"])
    return []


def slack(document: Any) -> list[str]:
    """Return what Slack's limits forbid; the SDK's models raise for theirs."""
    for each in document["blocks"]:
        block = Block.parse(each)
        assert block is not None
        block.validate_json()
        assert block.to_dict() == each
    reported = [each for block in document["blocks"] for each in visible_texts(block)]
    weight = sum(map(len, reported)) + BLOCK_COST * len(document["blocks"])
    return [
        *(["too many blocks"] if len(document["blocks"]) > 50 else []),
        *(["too many characters"] if weight > MAX_MESSAGE_COST else []),
        *(["too long a fallback"] if len(document["text"].encode()) > 4000 else []),
        *(["a text without a character"] if not all(reported) else []),
    ]


def slack_view(view: Any) -> None:
    """Raise where the SDK's models refuse a modal."""
    made = View(**view)
    made.validate_json()
    for each in made.blocks or []:
        each.validate_json()
    assert made.to_dict() == view
