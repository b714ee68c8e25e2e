"""The programs of the mock-model fixtures, and all that must be reported each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.openwop.asking import Seam
NODE = "structured-call"
INVALID = {"content": "no document, but quillious words"}
VALID = {"content": '{"valid":true}'}
CUT = {"stopReason": "max_tokens", "content": '{"valid":'}
HALF = {"stopReason": "max_tokens", "content": '{"partial'}
PROSE = [
    {"content": "It went well, I should say."},
    {"content": "As I said: well, on the whole."},
    {"content": "Rather well than badly, then."},
]
COERCED = {"content": '{"result":"coerced-ok"}'}
FENCED = {"stopReason": "end_turn", "content": '```json\n{"result":"ok"}\n```'}
REFUSED = {"stopReason": "safety", "refusalText": "No: these are quillious matters."}
CALL = ("log.appended", "provider.usage")
"""What is reported every call: that it is made, and what it cost."""
RETRY = "envelope.retry.attempted"
COMPLETED = "node.completed"
EXHAUSTED = ("envelope.retry.exhausted", "cap.breached", "node.failed")
ENGAGED = "envelope.nlToFormat.engaged"


@dataclass(frozen=True)
class Row:
    """A fixture's program, all that is reported its run, the terminal code, and the budgets' growth."""

    program: list[Any]
    reported: tuple[str, ...]
    code: str | None = None
    growth: tuple[int, ...] = (1,)
    in_words: bool = True


ROWS: dict[str, Row] = {
    "retry-attempted": Row([INVALID, VALID], (*CALL, RETRY, *CALL, COMPLETED), growth=(1, 1)),
    "retry-exhausted": Row(
        [INVALID] * 4, (*CALL, RETRY, *CALL, RETRY, *CALL, *EXHAUSTED), "envelope_invalid", (1, 1, 1), in_words=False
    ),
    "truncated": Row([CUT, VALID], (*CALL, "envelope.truncated", RETRY, *CALL, COMPLETED), growth=(1, 2)),
    "truncation-cap-exhaustion": Row(
        [HALF] * 16,
        (
            *(*CALL, "envelope.truncated", RETRY),
            *(*CALL, "envelope.truncated", RETRY),
            *(*CALL, "envelope.truncated", *EXHAUSTED),
        ),
        "envelope_truncation_unrecoverable",
        (1, 2, 4),
    ),
    "refusal": Row([REFUSED], (*CALL, "envelope.refusal", "node.failed"), "envelope_refusal"),
    "recovery-applied": Row([FENCED], (*CALL, "envelope.recovery.applied", COMPLETED)),
    "nl-to-format-engaged": Row(
        [*PROSE, COERCED], (*CALL, RETRY, *CALL, RETRY, *CALL, ENGAGED, *CALL, COMPLETED), growth=(1, 1, 1, 1)
    ),
}
"""The seven fixtures; ``in_words`` says whether the host may seek the form in two steps."""


def ran(seam: Seam, name: str, program: list[Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Program the mock model, run a fixture, and return how it stands and what was reported."""
    assert seam.post("mock-ai/program", {"nodeId": NODE, "program": program}).status == 200
    created = seam.post("/v1/runs", {"workflowId": f"conformance-envelope-{name}"})
    assert created.status == 201
    path = f"/v1/runs/{created.body['runId']}"
    return seam.get(path).body, seam.get(f"{path}/events").body["events"]


def of(reported: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the payloads of a type."""
    return [each["payload"] for each in reported if each["type"] == kind]
