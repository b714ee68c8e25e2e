"""A type and a schema for the commands ``emit`` and ``batch``, and the commands in this process or one of their own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from emitter.cli import main
from emitter.testing import Malformed, Refused, Text
from tests.launching import launch

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.testing import Behaviour, ReceivedRequest, Simulator

MODULE = """
from datetime import date
from pydantic import BaseModel, Field

class Invoice(BaseModel):
    vendor: str
    total: float
    due: date | None = Field(None, alias="dueBy")
"""
SCHEMA = {
    "title": "Invoice",
    "type": "object",
    "properties": {"vendor": {"type": "string"}, "total": {"type": "number"}},
    "required": ["vendor", "total"],
    "additionalProperties": False,
}
MODEL = "openai/gpt-6-sol"


def answer(asked: ReceivedRequest) -> Behaviour:
    """Refuse what is marked, answer with an invoice, and from one model with no JSON."""
    if asked.model == "gpt-4o-mini":
        return Malformed()
    if "secret recipe" in json.dumps(asked.body):
        return Refused()
    typed = "dueBy" in json.dumps(asked.body)
    return Text({"vendor": "Acme", "total": 12.5, **({"dueBy": "2027-01-31"} if typed else {})})


def write_files(folder: Path) -> None:
    """Write the type's module and the schema."""
    (folder / "invoices.py").write_text(MODULE)
    (folder / "broken.py").write_text("1 / 0")
    (folder / "invoice.json").write_text(json.dumps(SCHEMA))


def environment(vendor: Simulator) -> dict[str, str]:
    """Return the variables of a process that reaches the vendor."""
    return {**os.environ, **vendor.environment(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def spawn(vendor: Simulator, folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    done = subprocess.run(
        launch("emitter", *arguments),
        input=stdin.encode(),
        capture_output=True,
        cwd=folder,
        env=environment(vendor),
        check=False,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def command(vendor: Simulator, folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in this process, with streams of its own: the same at a tenth of the time."""
    streams = [io.TextIOWrapper(io.BytesIO(given), encoding="utf-8") for given in (stdin.encode(), b"", b"")]
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        for name, value in vendor.environment().items():
            patch.setenv(name, value)
        patch.chdir(folder)
        patch.setattr(sys, "path", [*sys.path])
        try:
            status = main(arguments)
        finally:
            sys.modules.pop("invoices", None)
    _, out, err = (stream.seek(0) or stream.read() for stream in streams)
    return subprocess.CompletedProcess(arguments, status, out, err)


def prompt_of(call: Any) -> str:
    """Return what a call asked, as text."""
    return json.dumps(call.body["input"], ensure_ascii=False)
