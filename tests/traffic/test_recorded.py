"""Every recorded exchange is understood, and understood alike by a second reader."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from functools import cache
from typing import Any

import pytest

from emitter.cli import main
from emitter.cli.model_answers import ClassifiedExchange, classify_exchange
from tests.traffic.disagreements import DISAGREEMENTS
from tests.traffic.guess import guess
from tests.traffic.reading import look
from tests.traffic.recorded import FOLDER, exchanges, needed

pytestmark = needed

_LINE = {
    "file", "vendor", "endpoint", "verdict", "document", "stop", "refusal", "text_sha256", "usage", "fault"
}  # fmt: skip
_VERDICTS = {"complete", "truncated", "overflowed", "refused", "paused", "unknown", "faulted", "unsupported"}
_DOCUMENTS = {"json", "recovered", "text", "tool", "several", "none"}


@cache
def _classified() -> dict[str, ClassifiedExchange]:
    return {file: classify_exchange(exchange, file) for file, exchange in exchanges().items()}


def _raw(exchange: dict[str, Any]) -> str:
    body = exchange["response"]["body"]
    return body if isinstance(body, str) else json.dumps(body)


def test_every_exchange_is_classified(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints one line for each, in the vocabulary of the page, and nothing crashes."""
    assert main(["classify", str(FOLDER)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    with (FOLDER / "INDEX.csv").open(encoding="utf-8") as index:
        assert len(lines) == len(list(csv.DictReader(index))) == len(exchanges())
    assert all(line.keys() == _LINE for line in lines)
    assert {line["verdict"] for line in lines} <= _VERDICTS
    assert {line["document"] for line in lines} <= _DOCUMENTS
    assert all(line["refusal"] == (line["verdict"] == "refused") for line in lines)
    assert all((line["fault"] is not None) == (line["verdict"] == "faulted") for line in lines)


def test_a_second_reader_agrees() -> None:
    """Verdict, text and usage are what a reader without our tables sees in the body."""
    differing = {}
    for file, exchange in exchanges().items():
        seen, ours = look(exchange), _classified()[file]
        digest = hashlib.sha256(seen.text.encode()).hexdigest() if seen.text else None
        usage = ours.usage and (ours.usage.input, ours.usage.output)
        if (seen.verdict, digest, seen.usage) != (ours.verdict, ours.text_sha256, usage):
            differing[file] = (seen, ours)
    assert differing == {}


def test_every_disagreement_with_the_catalogue_is_explained() -> None:
    """A disagreement that is not listed fails, and so does a listed one that is none any more."""
    found = {
        file: _classified()[file].verdict
        for file, exchange in exchanges().items()
        if guess(exchange) != _classified()[file].verdict
    }
    assert found == {file: verdict for file, (verdict, _) in DISAGREEMENTS.items()}


BAD_SIGNS = {
    "cut": r'"finish_reason": ?"length"|"(stop_reason|type)": ?"max_tokens"|"finishReason": ?("MAX_TOKENS"|2)\b',
    "cut-response": r'"status": ?"incomplete", ?"(background|incomplete_details|error)"|"reason": ?"max_output_tokens"',
    "refused": r'"refusal": ?"[^"]|"type": ?"refusal"|"stop_reason": ?"refusal"|"finish_reason": ?"content_filter"',
    "blocked": r'"blockReason": ?"|"finishReason": ?"(SAFETY|RECITATION|MODEL_ARMOR|PROHIBITED_CONTENT|BLOCKLIST)',
    "made-up-reason": r'"finishReason": ?"[A-Z_]*FAKE',
    "error-event": r'^event: ?error|^data: ?\{"type": ?"error"|^data: ?\{"error": ?\{',
}


@pytest.mark.parametrize("sign", BAD_SIGNS)
def test_no_bad_sign_reads_as_complete(sign: str) -> None:
    """Where the raw body bears the mark of a cut, a refusal or an error, the answer is not complete."""
    pattern = re.compile(BAD_SIGNS[sign], re.MULTILINE)
    bearing = [file for file, exchange in exchanges().items() if pattern.search(_raw(exchange))]
    assert bearing
    assert [file for file in bearing if _classified()[file].verdict == "complete"] == []


def test_no_error_status_reads_as_complete() -> None:
    """An HTTP error is a fault, an overflow or a blocked prompt."""
    failed = [file for file, each in exchanges().items() if each["response"]["status"] >= 400]
    ours = {_classified()[file].verdict for file in failed}
    assert ours == {"faulted", "overflowed", "refused"}


def test_answers_of_several_documents() -> None:
    """Different documents one after the other are several; a strict answer of one document is never so."""
    several = [file for file, ours in _classified().items() if ours.document == "several"]
    assert several == ["openai/chat-completions_stop_json-schema-strict_json_53ab665f.json"]
