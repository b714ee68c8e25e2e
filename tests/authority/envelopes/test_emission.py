"""``emit_authorization``: the machine of every emission, and only what holds comes out of it."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Emission, Invalid, Material, Policy
from emitter.authority.envelopes import (
    DEFAULT_NARRATIVE,
    OracleReading,
    UnverifiedClaim,
    aemit_authorization,
    dump_authorization,
    emit_authorization,
    enforce_workflow,
    read_authorization,
)
from emitter.authority.envelopes.drafts import build_draft_schema
from emitter.authority.envelopes.emission import build_authorization_form
from emitter.errors import InputError, Refused
from emitter.host import Acceptor, HostConfig
from emitter.models import AUTHORIZATION, AIEnvelope, Trust
from emitter.models.authorization import Narrative
from emitter.profiles import find_profile
from emitter.redaction import Secrets
from emitter.schema import compile_schema
from emitter.stores import MemoryStore, SqliteStore
from emitter.testing import Malformed, Simulator, Text, simulator
from emitter.testing import Refused as Refusing
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.authority.envelopes.parts import (
    ASYNC,
    CLAIM,
    CLAIMS,
    DOCUMENTS,
    DOSED,
    EHR,
    ENVELOPES,
    INLINE,
    LAB,
    LOOSE,
    POTASSIUM,
    READINGS,
    RUMOUR,
    SAID,
    SCRUBBING,
    STAMP,
    STATUS,
    STRICT,
    TERMS,
    WITHOUT,
    document,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WIRES = tuple(SCENARIO_MODELS)
SITUATION = "What may be said of this patient?"
TERMED: dict[str, Any] = {
    "workflow": INLINE,
    "oracles": READINGS,
    "narrative": LOOSE,
    "actions": ["notify", "escalate"],
}
TWICE = Policy(max_attempts=2, max_faults=0)
ONCE = Policy(max_attempts=1, max_faults=0)


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    """Run one vendor for all tests."""
    with simulator() as vendor:
        yield vendor


@pytest.fixture
def vendor(running: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """Return the vendor, having forgotten everything, with the environment leading there."""
    running.reset()
    for name, value in running.environment().items():
        monkeypatch.setenv(name, value)
    return running


def answer(written: dict[str, Any], wire: str = "openai-responses") -> Text:
    """Return a document as the model of a wire writes it: open parameters are spelled out there."""
    profile, _ = find_profile(SCENARIO_MODELS[wire])
    return Text(compile_schema(build_draft_schema(TERMS), profile).encode(written))


def emitted(world: str = "sync", wire: str = "openai-responses", **more: Any) -> Emission[Any]:
    """Return what is emitted in a world, over a wire."""
    given = {"model": SCENARIO_MODELS[wire], "wire": wire, **TERMED, **more}
    if world == "sync":
        return emit_authorization(SITUATION, **given)
    return asyncio.run(aemit_authorization(SITUATION, **given))


def without_ids(envelope: Any) -> Any:
    """Return an envelope's wire form without what is new each time, having seen that it is there."""
    written = dump_authorization(envelope)
    for part, names in {"provenance": ("envelope_id", "generated_at"), "reason": ("audit_id",)}.items():
        for name in names if part in written else ():
            assert written[part].pop(name)
    return written


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_kind_is_emitted_over_every_wire(vendor: Simulator, kind: str, wire: str) -> None:
    """The value is the envelope, and the payload around it carries the same."""
    vendor.script(answer(document(kind), wire))
    found = emitted(wire=wire)

    assert without_ids(found.value) == without_ids(ENVELOPES[kind])
    assert found.envelope.type == AUTHORIZATION
    assert found.envelope.payload.get("reasoning") == (None if kind == "refusal" else "The laboratory says so.")
    assert read_authorization(found.envelope.payload["authorization"]) == found.value
    assert len(found.attempts) == 1
    assert found.events[-1].type == "node.completed"


@pytest.mark.parametrize("wire", WIRES)
def test_the_awaited_call_does_the_same(vendor: Simulator, wire: str) -> None:
    """With the richest of the kinds, which is verified in either world."""
    asked: list[Any] = []
    vendor.script(answer(document("action"), wire))
    found = emitted("async", wire, verify=lambda given: asked.append(given) is None)

    assert without_ids(found.value) == without_ids(ENVELOPES["action"])
    assert read_authorization(found.envelope.payload["authorization"]) == found.value
    assert asked == [LAB, EHR]


def test_the_usual_policy_takes_what_the_prompt_asks_for(vendor: Simulator) -> None:
    """Attributive and general, where the caller says nothing."""
    vendor.script(Text(document("narrative")))
    found = emit_authorization(SITUATION, model=SCENARIO_MODELS["openai-responses"], workflow=WITHOUT)

    assert found.value == Narrative(text=SAID, policy=DEFAULT_NARRATIVE)


def test_it_is_the_call_of_every_door() -> None:
    """Both worlds have the same parameters, in the same order."""
    assert inspect.signature(emit_authorization) == inspect.signature(aemit_authorization)


def test_reasoning_that_is_left_out_is_no_mistake(vendor: Simulator) -> None:
    """OpenWOP's RFC 0030: no host may refuse an envelope for that."""
    vendor.script(Text({"proposal": DOCUMENTS["narrative"]}))
    found = emitted(policy=ONCE)

    assert found.envelope.payload.keys() == {"authorization"}


def test_its_own_kind_may_be_named(vendor: Simulator) -> None:
    """It is what is made anyway."""
    vendor.script(answer(document()))

    assert emitted(kind=AUTHORIZATION).value.kind == "measurement"


def test_the_ids_and_the_time_are_the_hosts(vendor: Simulator) -> None:
    """Minted and stamped by whoever takes the envelope; each id is another."""
    numbers = iter(range(9))
    host = Acceptor(store=None, new_id=lambda: f"id-{next(numbers)}", now=lambda: "2026-01-01T00:00:00.000Z")
    vendor.script(answer(document()), answer(document("refusal")))
    made, refused = emitted(host=host), emitted(host=host)

    assert made.value.provenance.generated_at == "2026-01-01T00:00:00.000Z"
    ids = [made.value.provenance.envelope_id, made.envelope.envelope_id, refused.value.reason.audit_id]
    assert len(set(ids)) == 3
    assert all(each.startswith("id-") for each in ids)


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another value": (document(value=4.3), {}, "/proposal/value: value"),
    "another label": (document("classification", label="quixotic"), {}, "/proposal/label: label"),
    "another action": (document("action", action="quixotic"), {}, "/proposal/action: one of "),
    "an unknown oracle": (document(cites=["quixotic"]), {}, "/proposal/cites/0: exactly "),
    "a disputed axis": (document(axis="sodium", value=140), {}, "/proposal/axis: exactly "),
    "an order": (
        document("narrative", text="You must stop the quixotic pump now."),
        {},
        "/proposal/text: imperative",
    ),
    "a verdict of a source that is none of the call's": (
        document("narrative", text="According to the quixotic test, he is HIV positive."),
        {"materials": [Material("The device is old.", "package leaflet")]},
        "/proposal/text: classification",
    ),
    "a forbidden marker": (
        document("narrative", text="According to the manual, it is a quixotic miracle."),
        {"narrative": STRICT},
        "/proposal/text: forbidden",
    ),
    "a leak": (document("refusal", user_message="Only lab-7 would say, quixotic."), {}, "/proposal/user_message: "),
    "a claim without authority": (document(reasoning="quixotic"), {"workflow": WITHOUT}, "/proposal/proposes: one of "),
    "a claim without readings": (document(), {"oracles": ()}, "/proposal/proposes: one of "),
}


@pytest.mark.parametrize(("wrong", "more", "reported"), WRONG.values(), ids=WRONG.keys())
def test_what_does_not_hold_is_sent_back_without_its_words(
    vendor: Simulator, wrong: Any, more: Any, reported: str
) -> None:
    """One correction with place and rule, and then the answer that holds."""
    vendor.script(Text(wrong), answer(document("refusal")))
    found = emitted(policy=TWICE, **more)

    assert found.value.kind == "refusal"
    assert [each.verdict.value for each in found.attempts] == ["violated", "complete"]
    assert any(str(each).startswith(reported) for each in found.attempts[0].violations), found.attempts[0].violations
    assert found.attempts[1].corrected
    said = json.dumps(vendor.calls[1].body) + json.dumps([each.to_json() for each in found.events])
    assert "quixotic" not in said


SOURCED: dict[str, tuple[str, dict[str, Any]]] = {
    "a material": ("According to the leaflet, the device is safe.", {"materials": [Material("Safe.", "leaflet.pdf")]}),
    "a material that is an instruction": (
        "According to the leaflet, patients must fast.",
        {"materials": [Material("Patients must fast.", "package leaflet", Trust.UNTRUSTED)]},
    ),
    "an oracle": ("Lab-7 states that the sample is contaminated.", {}),
    "a reading": ("According to the potassium reading, the sample is contaminated.", {}),
}


@pytest.mark.parametrize(("text", "more"), SOURCED.values(), ids=SOURCED)
@pytest.mark.parametrize("world", ["sync", "async"])
def test_a_narrative_passes_on_what_a_source_of_the_call_says(
    vendor: Simulator, text: str, more: dict[str, Any], world: str
) -> None:
    """And another envelope with it is taken by a workflow that names the same sources."""
    vendor.script(Text(document("narrative", text=text)))
    client: Any = vendor.client("openai/gpt-6-sol", asynchronous=world == "async")
    found = emitted(world, client=client, **more)
    names = [material.source for material in more.get("materials", ())]

    assert (found.value.kind, len(found.attempts), found.findings) == ("narrative", 1, ())
    assert enforce_workflow(found.value, WITHOUT, oracles=READINGS, materials=names) == found.value
    assert enforce_workflow(found.value, WITHOUT).kind == "refusal"


DOUBTED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a source that is none of the call's": (document("narrative"), ["unknown-source"]),
    "a refusal in a language that nobody reads": (
        document("refusal", user_message="Dazu kann ich Ihnen an dieser Stelle leider gar nichts sagen."),
        ["language-unchecked"],
    ),
    "a refusal in English": (document("refusal"), []),
}


@pytest.mark.parametrize(("written", "rules"), DOUBTED.values(), ids=DOUBTED)
def test_what_may_be_wrong_is_a_warning(vendor: Simulator, written: Any, rules: list[str]) -> None:
    """It is accepted at once."""
    vendor.script(Text(written))
    found = emitted()

    assert [finding.rule for finding in found.findings] == rules
    assert len(found.attempts) == 1


def test_other_materials_are_another_emission(vendor: Simulator) -> None:
    """A kept narrative is not returned where its source is gone."""
    host = Acceptor(store=MemoryStore())
    vendor.script(Text(document("narrative", text=SOURCED["a material"][0])), Text(document("refusal")))
    first = emitted(host=host, run_id="run-1", **SOURCED["a material"][1])
    second = emitted(host=host, run_id="run-1")

    assert (first.value.kind, second.value.kind) == ("narrative", "refusal")


def test_what_never_holds_is_invalid(vendor: Simulator) -> None:
    """No refusal is made up in its place."""
    vendor.script(Text(document(value=4.3)), Text(document(value=4.1)))

    with pytest.raises(Invalid):
        emitted(policy=TWICE)


@pytest.mark.parametrize("wrong", [Malformed(), Refusing()], ids=["malformed", "refused"])
def test_a_model_that_does_not_answer_is_no_refusal_of_authority(vendor: Simulator, wrong: Any) -> None:
    """The emission ends as every other does."""
    vendor.script(wrong)

    with pytest.raises((Invalid, Refused)):
        emitted(policy=ONCE)


def asked(vendor: Simulator) -> str:
    """Return the only request, as text."""
    (call,) = vendor.calls
    return json.dumps(call.body)


def test_the_model_is_shown_the_readings(vendor: Simulator) -> None:
    """What oracles said, and which; how it was asked, and what is not theirs, is the host's."""
    vendor.script(answer(document()))
    emitted(oracles=(POTASSIUM, STATUS), narrative=STRICT)
    said = asked(vendor)

    for shown in ("Central Laboratory", "potassium", "4.2", "lab-7", "stable", "- miracle", SITUATION):
        assert shown in said
    assert "photometry" not in said
    assert "UNTRUSTED" not in said


def test_hearsay_is_shown_in_a_fence_and_taints(vendor: Simulator) -> None:
    """An oracle of tier ``unverified`` is a source that nobody vouches for."""
    vendor.script(answer(document()), answer(document()))
    plain, tainted = emitted(oracles=(POTASSIUM,)), emitted(oracles=(POTASSIUM, RUMOUR))

    assert plain.envelope.meta.content_trust is Trust.TRUSTED
    assert tainted.envelope.meta.content_trust is Trust.UNTRUSTED
    assert "UNTRUSTED" in json.dumps(vendor.calls[1].body)


@pytest.mark.parametrize("more", [{"workflow": WITHOUT}, {"oracles": ()}], ids=["without authority", "no readings"])
def test_a_model_that_may_claim_nothing_is_not_shown_how(vendor: Simulator, more: Any) -> None:
    """The kinds with authority stand neither in the form nor in the prompt."""
    vendor.script(Text(document("narrative")))
    found = emitted(**more)
    said = asked(vendor)

    assert found.value.kind == "narrative"
    for kind in CLAIMS:
        assert f'"{kind}"' not in said
        assert f"# `{kind}`" not in said


def test_the_callers_own_materials_stay(vendor: Simulator) -> None:
    """The readings come after them; a single text is refused as everywhere."""
    vendor.script(answer(document()))
    found = emitted(materials=["A note.", Material("Another.", "web", Trust.UNTRUSTED)], instructions="Be brief.")

    assert found.envelope.meta.content_trust is Trust.UNTRUSTED
    assert "A note." in asked(vendor)
    assert "Be brief." in asked(vendor)
    with pytest.raises(InputError, match="materials must be a list"):
        emitted(materials="A note.")


def test_measurements_are_scrubbed_and_nobody_is_asked_again(vendor: Simulator) -> None:
    """Where the policy says so; the payload holds what was left."""
    vendor.script(Text(document("narrative", text=DOSED)))
    found = emitted(narrative=SCRUBBING)

    assert "5 mg" not in found.value.text
    assert "5 mg" not in json.dumps(found.envelope.payload["authorization"])


def test_an_inline_workflow_verifies_before_anything_is_recorded(vendor: Simulator) -> None:
    """A record that does not hold leaves a refusal: in the value, in the payload, in the store."""
    store = MemoryStore()
    vendor.script(answer(document("action")), answer(document("action")))
    held = emitted(verify=lambda _: True)
    refused = emitted(verify=lambda given: given != EHR, host=Acceptor(store=store), run_id="run-1")

    assert held.value.kind == "action"
    assert refused.value.reason.code.value == "UNRESOLVABLE"
    assert read_authorization(refused.envelope.payload["authorization"]) == refused.value
    assert refused.envelope.payload.keys() == {"authorization"}
    assert CLAIM not in json.dumps(store.events("run-1"), default=lambda each: each.to_json())
    assert len(refused.attempts) == 1


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_an_async_workflow_hands_out_claims_that_are_not_verified(vendor: Simulator, kind: str) -> None:
    """The payload holds the claim, for the record; the value is one that nobody can show before it is settled."""
    vendor.script(answer(document(kind)))
    found = emitted(workflow=ASYNC)

    assert isinstance(found.value, UnverifiedClaim) is (kind in CLAIMS)
    settled = found.value.verify(lambda _: True) if isinstance(found.value, UnverifiedClaim) else found.value
    assert without_ids(settled) == without_ids(ENVELOPES[kind])
    assert read_authorization(found.envelope.payload["authorization"]) == settled


STORES = {"memory": lambda _: MemoryStore(), "sqlite": lambda place: SqliteStore(place / "runs.db")}


@pytest.mark.parametrize("make", STORES.values(), ids=STORES.keys())
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_what_was_accepted_is_returned_and_nobody_is_asked(
    vendor: Simulator, tmp_path: Path, kind: str, make: Any
) -> None:
    """With a store: the envelope that was recorded, with its ids."""
    host = Acceptor(store=make(tmp_path))
    vendor.script(answer(document(kind)))
    first, again = (emitted(host=host, run_id="run-1") for _ in range(2))

    assert (again.value, again.envelope) == (first.value, first.envelope)
    assert (again.attempts, again.events) == ((), ())
    assert len(vendor.calls) == 1


OTHER: dict[str, dict[str, Any]] = {
    "another reading": {"oracles": (*READINGS, OracleReading(LAB, "flag", 1))},
    "another record": {"oracles": (OracleReading(EHR, "potassium", 4.2), *READINGS[1:])},
    "another policy": {"narrative": STRICT},
    "other actions": {"actions": ["notify"]},
    "another workflow": {"workflow": INLINE.model_copy(update={"workflow_id": "other"})},
    "another mode": {"workflow": ASYNC},
}


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER.keys())
def test_under_other_terms_the_model_is_asked_anew(vendor: Simulator, change: dict[str, Any]) -> None:
    """What was authorized under one declaration, by one reading, is not authorized under another."""
    host = Acceptor(store=MemoryStore())
    vendor.script(answer(document("refusal")), Text(document("refusal")))
    first, other = emitted(host=host, run_id="run-1"), emitted(host=host, run_id="run-1", **change)

    assert len(vendor.calls) == 2
    assert other.envelope.correlation_id != first.envelope.correlation_id


@pytest.mark.parametrize("kind", CLAIMS)
def test_a_recorded_claim_is_verified_again(vendor: Simulator, kind: str) -> None:
    """An oracle may have taken back what it said: the record stands, and is handed out as a refusal."""
    host = Acceptor(store=MemoryStore())
    vendor.script(answer(document(kind)))
    says = [True]
    given: dict[str, Any] = {"host": host, "run_id": "run-1", "verify": lambda _: says[0]}
    first = emitted(**given)
    says[0] = False
    again = emitted(**given)

    assert first.value.kind == kind
    assert again.envelope == first.envelope
    assert again.value.reason.code.value == "UNRESOLVABLE"
    assert again.value.reason.audit_id == first.value.provenance.envelope_id


def test_a_recorded_claim_of_an_async_workflow_is_unverified_again(vendor: Simulator) -> None:
    """Nobody remembers that it was settled."""
    host = Acceptor(store=MemoryStore())
    vendor.script(answer(document()))
    first, again = (emitted(host=host, run_id="run-1", workflow=ASYNC) for _ in range(2))

    assert isinstance(again.value, UnverifiedClaim)
    assert again.value.verify(lambda _: True) == first.value.verify(lambda _: True)


RECORDED = {"authorization": dump_authorization(ENVELOPES["measurement"])}
OTHERS: dict[str, tuple[str, Any]] = {
    "another kind": ("vendor.acme.authorization", RECORDED),
    "no authorization": (AUTHORIZATION, {"reasoning": "Because."}),
    "a kind that nobody knows": (AUTHORIZATION, {"authorization": {"kind": "decree"}}),
    "no object": (AUTHORIZATION, ["measurement"]),
}


@pytest.mark.parametrize(("kind", "payload"), OTHERS.values(), ids=OTHERS.keys())
def test_what_somebody_else_recorded_is_not_taken(kind: str, payload: Any) -> None:
    """A recorded envelope that is none of these is no answer; one that is, is."""
    enclosing = build_authorization_form(TERMS, lambda: STAMP, None).codec
    meta = {"source": "ai-generation", "ts": "2026-01-01T00:00:00Z"}
    base = {"schemaVersion": 1, "envelopeId": "e", "correlationId": "c", "meta": meta}
    contract: Any = None

    recorded = AIEnvelope.model_validate({**base, "type": kind, "payload": payload})
    assert enclosing.from_envelope(contract, recorded) is None
    recorded = AIEnvelope.model_validate({**base, "type": AUTHORIZATION, "payload": RECORDED})
    assert enclosing.from_envelope(contract, recorded) == (ENVELOPES["measurement"], RECORDED)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no declaration": ({"workflow": None}, "workflow is of type NoneType; it must be of type WorkflowDeclaration"),
    "records for readings": ({"oracles": [LAB]}, r"oracles\[0\]"),
    "one action": ({"actions": "notify"}, "actions must be a list"),
    "verify in an async workflow": ({"workflow": ASYNC, "verify": bool}, "no effect in an ASYNC workflow. Call verify"),
    "no function to verify": ({"verify": True}, "verify must be a function of an oracle.s record, not bool"),
    "another kind": ({"kind": "vendor.emitter.document"}, "this function emits vendor.emitter.authorization"),
    "a policy as JSON": ({"narrative": {}}, "narrative is of type dict; it must be of type NarrativePolicy"),
    "a host that does not take it": ({"host": Acceptor(HostConfig(accepts_envelopes=False))}, "does not accept"),
    "a secret in a reading": (
        {
            "host": Acceptor(HostConfig(secrets=Secrets.of({"key": "hunter2-hunter2"}))),
            "oracles": [OracleReading(LAB, "a", "hunter2-hunter2")],
        },
        "A reading contains a secret",
    ),
}


@pytest.mark.parametrize(("more", "reported"), BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("world", ["sync", "async"])
def test_what_cannot_be_asked_is_refused_before_anything_is_sent(
    vendor: Simulator, more: Any, reported: str, world: str
) -> None:
    """In both worlds; nothing was paid for."""
    with pytest.raises(InputError, match=reported) as raised:
        emitted(world, **more)

    assert vendor.calls == ()
    assert "hunter2" not in str(raised.value)


def test_a_secret_in_the_answer_is_struck_out(vendor: Simulator) -> None:
    """Of the text, and of the reasoning beside it: value and payload are the same without it."""
    host = Acceptor(HostConfig(secrets=Secrets.of({"key": "hunter2-hunter2"})), store=None)
    text = "According to the manual, the code is hunter2-hunter2."
    vendor.script(Text({"reasoning": "It is hunter2-hunter2.", "proposal": {"proposes": "narrative", "text": text}}))
    found = emitted(host=host)

    assert "hunter2" not in json.dumps(found.envelope.to_json())
    assert "[REDACTED:key]" in found.value.text
    assert read_authorization(found.envelope.payload["authorization"]) == found.value


def test_what_it_returns_shows_no_claim_by_accident(vendor: Simulator) -> None:
    """The emission's value cannot be printed; its repr names kind and ids."""
    vendor.script(answer(document("classification")))
    found = emitted()

    with pytest.raises(TypeError):
        str(found.value)
    assert "Classification(kind='classification', envelope_id=" in repr(found)
