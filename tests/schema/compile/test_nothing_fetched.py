"""Compiling and checking never leave the document, whatever it names."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import Uncompilable
from emitter.schema import compile_schema
from tests import loopback
from tests.schema.compile.forms import TEXT, closed
from tests.schema.compile.lens import ALL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def answering() -> Iterator[tuple[str, list[str]]]:
    """Serve a schema at every path; yield the address and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class names it so
            """Say nothing."""

        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(TEXT).encode())

    with loopback._running(Handler) as url:
        yield url, asked


NAMING = {
    "ref": lambda url: closed(a={"$ref": f"{url}/a.json"}),
    "schema": lambda url: {"$schema": f"{url}/meta.json", **closed(a=TEXT)},
    "id": lambda url: {"$id": f"{url}/root.json", **closed(a={"$ref": "other.json"})},
    "dynamic": lambda url: closed(a={"$dynamicRef": f"{url}/a.json#a"}),
    "schema-of-a-part": lambda url: closed(a={"$id": f"{url}/a", "$schema": f"{url}/meta.json", **TEXT}),
    "vocabulary": lambda url: {"$vocabulary": {f"{url}/v": True}, **closed(a=TEXT)},
}


@pytest.mark.parametrize("vendor", ALL)
@pytest.mark.parametrize("naming", NAMING.values(), ids=NAMING)
def test_no_request_is_made(naming: Any, vendor: str) -> None:
    """A server that would answer is never asked, neither by compiling nor by checking."""
    with answering() as (url, asked):
        with suppress(Uncompilable):
            compiled = compile_schema(naming(url), vendor)
            compiled.validate({"a": "x"})
            compiled.validate({"a": 1})

        assert asked == []


def test_no_file_is_read(tmp_path: Path) -> None:
    """A file that is there is outside the document all the same."""
    file = tmp_path / "a.json"
    file.write_text(json.dumps(TEXT), "utf-8")

    with pytest.raises(Uncompilable, match="outside this document"):
        compile_schema(closed(a={"$ref": file.as_uri()}), "openai")
