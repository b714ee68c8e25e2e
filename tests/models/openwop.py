"""OpenWOP's own schemas, from the folder beside the repository."""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

FOLDER = Path(__file__).parents[2] / ".." / "shared" / "schemas" / "openwop"

needs_schemas = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/schemas/openwop is absent")

_FORMATS = FormatChecker()
_SHAPE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


@_FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    """Tell whether a text is a date and time of RFC 3339."""
    return not isinstance(value, str) or bool(_SHAPE.fullmatch(value) and datetime.fromisoformat(value))


@cache
def _registry() -> Registry[Any]:
    documents = (json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.rglob("*.json")))
    return Registry().with_resources((each["$id"], Resource.from_contents(each)) for each in documents)


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = {"$ref": f"https://openwop.dev/spec/v1/{name}"}
    return Draft202012Validator(schema, registry=_registry(), format_checker=_FORMATS)


def errors(document: Any, name: str) -> list[str]:
    """Return what the schema ``name`` (with a fragment, if wanted) finds in ``document``."""
    return [error.message for error in _validator(name).iter_errors(document)]
