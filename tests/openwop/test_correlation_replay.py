"""``aiEnvelope.correlationReplay``: what was accepted before is returned, by whichever process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from emitter.host import Acceptor, EnvelopeContext
from emitter.stores import SqliteStore
from tests.openwop.asking import UNIVERSAL, envelope, to_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.openwop.asking import Seam


def test_ai_envelope_correlation_replay__a_repetition_has_the_outcome_of_the_first(seam: Seam) -> None:
    """And the first one's envelope id, whatever its own is; nothing is reported it."""
    to, first = to_run("again"), envelope()
    one = seam.accept(first, projectTo=to)
    reported = seam.events(to["runId"])

    other = seam.accept({**first, "envelopeId": "env-another"}, projectTo=to)

    assert (other["status"], other["envelopeId"]) == ("accepted", first["envelopeId"])
    assert other["recordedEventIds"] == one["recordedEventIds"]
    assert seam.events(to["runId"]) == reported


def test_ai_envelope_correlation_replay__what_the_caller_remembers_is_what_is_returned(seam: Seam) -> None:
    """The outcome that is handed over is handed back."""
    first = envelope()
    one = seam.accept(first)
    seam.post("reset", {})
    prior = {"correlationId": first["correlationId"], "outcome": one, "envelopeType": first["type"]}

    other = seam.accept({**first, "envelopeId": "env-another"}, priorCorrelations=[prior])

    assert (other["status"], other["envelopeId"]) == ("accepted", first["envelopeId"])


@pytest.mark.parametrize("where", ["priorCorrelations", "persistedDedup", "projectTo"])
def test_ai_envelope_correlation_replay__another_type_is_a_conflict(seam: Seam, where: str) -> None:
    """Wherever the first is remembered."""
    first, run = envelope(), to_run("conflict")
    named = {"correlationId": first["correlationId"], "outcome": {"status": "accepted", "envelopeId": "env-prior"}}
    options: dict[str, Any] = {
        "priorCorrelations": {"priorCorrelations": [{**named, "envelopeType": first["type"]}]},
        "persistedDedup": {"persistedDedup": {"runId": run["runId"]}},
        "projectTo": {"projectTo": run},
    }[where]
    if where != "priorCorrelations":
        assert seam.accept(first, **options)["status"] == "accepted"

    reported = seam.accept(envelope("error", correlationId=first["correlationId"]), **options)

    assert reported["status"] == "invalid"
    assert "envelope_correlation_conflict" in reported["reason"]


CACHED: dict[str, dict[str, Any]] = {
    "gated": {
        "status": "gated",
        "reason": "unknown_envelope_kind: the host accepts error",
        "gate": {"refusedType": "vendor.acme.draft", "acceptedTypes": ["error"], "refusalMode": "fail-node"},
        "allowedKinds": ["error"],
    },
    "invalid": {
        "status": "invalid",
        "reason": "envelope_invalid: /payload: required",
        "details": [{"instancePath": "/payload", "keyword": "required", "message": "a title"}],
    },
    "breached": {
        "status": "breached",
        "reason": "cap_breached: envelopes: 33 where the limit is 32",
        "capKind": "envelopes",
        "limit": 32,
        "observed": 33,
    },
}


@pytest.mark.parametrize("cached", CACHED.values(), ids=CACHED)
def test_ai_envelope_correlation_replay__every_status_is_returned_as_it_was(seam: Seam, cached: dict[str, Any]) -> None:
    """Though the host would accept the envelope today."""
    given = envelope("vendor.acme.draft")
    prior = {"correlationId": given["correlationId"], "outcome": cached, "envelopeType": "vendor.acme.draft"}

    reported = seam.accept(given, hostSupportedEnvelopes=["vendor.acme.draft"], priorCorrelations=[prior])

    assert reported == cached


def test_ai_envelope_correlation_replay__a_reason_in_other_words_is_returned_as_it_was(seam: Seam) -> None:
    """Another host wrote it, in its own words; the suite's own cached outcome is such a one."""
    given = envelope("vendor.acme.draft")
    cached = {
        "status": "gated",
        "reason": "envelope type 'vendor.acme.draft' not advertised",
        "allowedKinds": ["error"],
    }
    prior = {"correlationId": given["correlationId"], "outcome": cached, "envelopeType": "vendor.acme.draft"}

    reported = seam.accept(given, hostSupportedEnvelopes=["vendor.acme.draft"], priorCorrelations=[prior])

    assert (reported["status"], reported["reason"]) == ("gated", cached["reason"])


@pytest.mark.parametrize("kind", UNIVERSAL)
def test_ai_envelope_correlation_replay__every_event_is_caused_by_its_envelope(seam: Seam, kind: str) -> None:
    """``causationId`` is the envelope's correlation id."""
    to, given = to_run("caused"), envelope(kind)
    seam.accept(given, projectTo=to)

    reported = seam.events(to["runId"])
    assert reported
    assert {each["causationId"] for each in reported} == {given["correlationId"]}
    assert {each["nodeId"] for each in reported} == {"n"}
    assert seam.events(to["runId"], correlationId=given["correlationId"]) == reported


def test_ai_envelope_correlation_replay__a_persisted_outcome_outlives_the_acceptor(tmp_path: Path) -> None:
    """Another acceptor on the same file knows what became of the envelope, and handles nothing."""
    first, where = envelope(), EnvelopeContext("r", "n")
    with SqliteStore(tmp_path / "log.db") as store:
        one = Acceptor(store=store).accept(first, where)
    with SqliteStore(tmp_path / "log.db") as store:
        log = store.events("r")
        other = Acceptor(store=store).accept({**first, "envelopeId": "env-another"}, where)
        conflict = Acceptor(store=store).accept(envelope("error", correlationId=first["correlationId"]), where)

        assert (other.cached, other.events, other.outcome) == (True, (), one.outcome)
        assert other.envelope == one.envelope
        assert "envelope_correlation_conflict" in conflict.outcome.to_json()["reason"]
        assert store.events("r")[: len(log)] == log


_ELSEWHERE = """
import json, sys
from emitter.host import Acceptor, EnvelopeContext
from emitter.stores import SqliteStore
with SqliteStore(sys.argv[1]) as store:
    found = Acceptor(store=store).accept(json.loads(sys.argv[2]), EnvelopeContext("r", "n"))
    print(json.dumps([found.cached, found.outcome.to_json(), len(found.events)]))
"""


def test_ai_envelope_correlation_replay__a_persisted_outcome_is_known_to_another_process(tmp_path: Path) -> None:
    """Of two processes the second returns what the first recorded."""
    first, file = envelope(), str(tmp_path / "log.db")
    reported = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", _ELSEWHERE, file, json.dumps({**first, "envelopeId": name})],
                capture_output=True,
                check=True,
                text=True,
            ).stdout
        )
        for name in ("env-one", "env-two")
    ]

    assert [each[0] for each in reported] == [False, True]
    assert reported[0][1] == reported[1][1]
    assert reported[1][1]["envelopeId"] == "env-one"
    assert [each[2] > 0 for each in reported] == [True, False]


def test_a2ui_surface_replay__a_surface_is_never_made_anew(seam: Seam) -> None:
    """The recorded payload comes back, whatever the repetition holds."""
    to, first = to_run("surface"), _surface("Name")
    seam.accept(first, projectTo=to)

    again = seam.accept({**_surface("Other"), "correlationId": first["correlationId"]}, projectTo=to)

    assert again["redactedPayload"] == first["payload"]


def test_a2ui_surface_replay__another_kind_under_its_id_is_a_conflict(seam: Seam) -> None:
    """Also where the caller names no run: the correlation id does."""
    kinds, first = ["ui.a2ui-surface", "clarification.request"], _surface("Name")
    seam.accept(first, hostSupportedEnvelopes=kinds)

    reported = seam.accept(envelope(correlationId=first["correlationId"]), hostSupportedEnvelopes=kinds)

    assert "envelope_correlation_conflict" in reported["reason"]


def _surface(label: str) -> dict[str, Any]:
    components = [{"component": "field.text", "id": "name", "label": label}]
    return envelope("ui.a2ui-surface", payload={"catalogVersion": "0.9.1", "surface": {"components": components}})
