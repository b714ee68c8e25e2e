"""``redaction``, ``redactionAdversarial`` and ``secret-leakage-*``: secrets that hide, and all that leaves."""

from __future__ import annotations

import base64
import json
import traceback
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from emitter import EmissionError, Policy, emit
from emitter.events import Level, LogAppended
from emitter.host import Acceptor, EnvelopeContext, HostConfig, Secrets
from emitter.stores import MemoryStore
from emitter.testing import Refused, Text, Violating, simulator
from tests.openwop.asking import META, to_run
from tests.openwop.running import MODEL, WIRE
from tests.openwop.secrets import CANARIES, MARK, SECRET, VALUE, error
from tests.openwop.serving import advertised

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.testing import Behaviour
    from tests.openwop.asking import Seam

HIDDEN: dict[str, str] = {
    "plain": VALUE,
    "url": quote(VALUE, safe="").replace("-", "%2D"),
    "base64": base64.b64encode(VALUE.encode()).decode(),
    "inside-base64": base64.b64encode(f"token={VALUE};".encode()).decode(),
    "escaped": "".join(f"\\u{ord(each):04x}" for each in VALUE),
    "html": VALUE.replace("-", "&#45;"),
    "unseen-between": "\u200b".join(VALUE),
}
PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "value": lambda text: error(f"a {text} z"),
    "key": lambda text: error("x", details={f"k{text}": 1}),
    "deep": lambda text: error("x", details={"a": [{"b": [[{"c": text}]]}]}),
    "label": lambda text: {**error("x"), "meta": {**META, "label": text}},
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("form", HIDDEN.values(), ids=HIDDEN)
def test_redaction_adversarial__in_every_place_and_form(form: str, place: Callable[[str], dict[str, Any]]) -> None:
    """Encoded, escaped, or with characters between that nobody sees; keys of open bags, too."""
    store = MemoryStore()
    host = Acceptor(HostConfig(secrets=Secrets.of({SECRET: VALUE})), store)

    found = host.accept(place(form), EnvelopeContext("r", "n"))

    kept = store.find("r", found.envelope.correlation_id) if found.envelope else None
    shown = json.dumps([found.outcome.to_json(), store.events("r"), kept and [kept.outcome, kept.envelope]])
    assert form not in shown
    assert form not in repr(found)
    assert found.redactions == 1 or found.status == "invalid"


def test_redaction_adversarial__a_handler_of_the_hosts_own_tells_none() -> None:
    """It may have looked a credential up; what it tells is reported, kept and handed out all the same."""

    def handle(*_: Any) -> tuple[LogAppended]:
        return (LogAppended(Level.INFO, f"used {VALUE}", {VALUE: VALUE}),)

    store, reported = MemoryStore(), list[Any]()
    rules = HostConfig(secrets=Secrets.of({SECRET: VALUE}), handlers={"error": handle})

    found = Acceptor(rules, store, on_event=reported.append).accept(error("x"), EnvelopeContext("r", "n"))

    assert VALUE not in repr((found, reported, store.events("r")))


@pytest.mark.parametrize("path", ["/v1/runs", "emit-envelope-reliability", "/v1/host/sample/envelope/accept"])
def test_redaction_adversarial__an_error_of_http_echoes_nothing(seam: Seam, path: str) -> None:
    """What was asked for is not repeated, a secret or not."""
    body = {"workflowId": VALUE, "type": VALUE, "runId": VALUE, "payload": {}, "hostSupportedEnvelopes": [VALUE]}

    answer = seam.post(path, body)

    assert answer.status in {400, 404}
    assert VALUE not in json.dumps(answer.body)


FORM = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
ANSWERS: dict[str, Behaviour] = {
    "value": Text({"result": f"it is {VALUE}"}),
    "refusal": Refused(f"I will not use {VALUE}."),
    "violating": Violating({"result": 1, VALUE: VALUE}),
    "prose": Text(f"The secret is {VALUE}."),
}


def _emitted(answer: Behaviour, secrets: Secrets) -> tuple[Any, MemoryStore, list[Any]]:
    store, reported = MemoryStore(), list[Any]()
    with simulator(answers=answer) as vendor:
        try:
            found: Any = emit(
                FORM,
                "Say it.",
                model=MODEL,
                wire=WIRE,
                client=vendor.client(MODEL, verify=False),
                policy=Policy(max_attempts=2),
                host=Acceptor(HostConfig(secrets=secrets), store),
                on_event=reported.append,
                run_id="r",
            )
        except EmissionError as error:
            found = error
    return found, store, reported


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_redaction__an_emission_hands_out_and_tells_none(answer: Behaviour) -> None:
    """Whatever the model answers: value, envelope, error, events and log are clean."""
    found, store, reported = _emitted(answer, Secrets.of({SECRET: VALUE}))

    failed = isinstance(found, EmissionError)
    handed = "".join(traceback.format_exception(found)) if failed else [found.value, found.envelope.to_json()]
    shown = json.dumps([handed, [each.to_json() for each in reported], store.events("r")])
    assert VALUE not in shown
    assert VALUE not in repr(found)
    assert reported


def test_redaction__the_value_that_is_handed_out_has_the_mark() -> None:
    """It is read anew from what is left."""
    found, _, _ = _emitted(ANSWERS["value"], Secrets.of({SECRET: VALUE}))

    assert found.value == {"result": f"it is {MARK}"}
    assert found.envelope.payload["document"] == {"result": f"it is {MARK}"}


@pytest.mark.parametrize("name", ["refusal", "violating", "prose"])
def test_redaction__without_a_registry_no_refused_and_no_broken_answer_is_quoted(name: str) -> None:
    """Its words are told to nobody, secrets or not."""
    found, store, reported = _emitted(ANSWERS[name], Secrets.of({}))

    assert isinstance(found, EmissionError)
    shown = ["".join(traceback.format_exception(found)), [each.to_json() for each in reported], store.events("r")]
    assert VALUE not in json.dumps(shown)


def test_secret_leakage_otel_attribute__no_span_of_a_run_holds_a_secret(seam: Seam) -> None:
    """Neither that of an acceptance nor those of an emission; the ids that stand on spans are clean."""
    to = to_run("spans")
    given = {**error(VALUE, details={VALUE: [VALUE]}), "nodeId": f"n-{VALUE}"}
    seam.accept(given, byokCanaries=CANARIES, projectTo=to)

    spans = seam.spans(to["runId"])
    assert spans
    assert VALUE not in json.dumps(spans)


def test_secret_leakage_otel_attribute__no_resolved_secret_stands_on_a_span_or_in_a_bundle(seam: Seam) -> None:
    """A node resolves a secret and its model repeats it: its digest and length are all that anybody can look at."""
    seam.host.canary = VALUE
    seam.host.reset()
    try:
        made = seam.post("/v1/runs", {"workflowId": "openwop-smoke-byok-roundtrip"})
        run_id = made.body["runId"]
        run, reported = (seam.get(f"/v1/runs/{run_id}{each}").body for each in ("", "/events"))
        seen = [seam.spans(run_id), seam.bundle(run_id), run, reported]
    finally:
        seam.host.canary = None

    assert (made.status, run["status"]) == (201, "completed")
    assert run["variables"] == {"secretSha256": sha256(VALUE.encode()).hexdigest(), "secretLength": len(VALUE)}
    assert seen[0]
    assert VALUE not in json.dumps(seen)


def test_secret_leakage_otel_attribute__what_looks_for_it_is_advertised() -> None:
    """A host with a canary says that it resolves secrets, and where its spans and bundles can be looked at."""
    reported = advertised("canary")

    assert reported["secrets"]["supported"] is True
    assert reported["observability"]["testSeams"] == {"otelScrape": True, "debugBundleExport": True}
    assert "observability" not in advertised()


def test_secret_leakage_otel_attribute__no_words_of_a_refusal_stand_on_a_span(seam: Seam) -> None:
    """The category does; what the model said does not."""
    said = "Nothing can be said of quillious matters."
    seam.post("mock-ai/program", {"nodeId": "structured-call", "program": [_refusal(said)]})
    answer = seam.post("/v1/runs", {"workflowId": "conformance-envelope-refusal"})
    if answer.status == 404:
        pytest.skip("../shared/vectors/openwop-fixtures is absent")

    run_id = answer.body["runId"]
    spans = seam.spans(run_id)
    assert any(each["name"].startswith("openwop.node") for each in spans)
    assert "quillious" not in json.dumps([spans, seam.bundle(run_id)])


def _refusal(said: str) -> dict[str, str]:
    return {"stopReason": "safety", "refusalText": said}
