"""The debug bundle: what a host can say of a run, all of it and no secret."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import EmitterError, InputError
from emitter.events import Level, LogAppended, NodeCompleted
from emitter.host import Acceptor, EnvelopeContext, HostConfig, Secrets, build_debug_bundle
from emitter.host.kinds import EnvelopeKind, media_kinds
from emitter.stores import MemoryStore, SqliteStore
from tests.host.envelopes import CATALOGUE, CONTEXT, NOTE, acceptor, envelope

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "sk-live-0123456789"
SECRETS = Secrets.of({"stripe": SECRET})
WITH_MEDIA = HostConfig(CATALOGUE.with_kinds(*media_kinds()))


def test_a_bundle_holds_the_run_and_what_the_host_takes() -> None:
    """Every event, of acceptances and refusals, in order; the kinds with their versions."""
    host = acceptor()
    found = [host.accept(each, CONTEXT) for each in (envelope(), envelope(), envelope(payload={}), envelope("error"))]
    bundle = build_debug_bundle(host, "run-1")

    assert bundle == {
        "runId": "run-1",
        "events": [event.to_json() for each in found for event in each.events],
        "assets": [],
        "supportedEnvelopes": list(CATALOGUE.ids),
        "schemaVersions": dict(CATALOGUE.versions),
    }
    assert [each["sequence"] for each in bundle["events"]] == [0, 1, 2]
    assert json.loads(json.dumps(bundle)) == bundle


def test_a_bundle_is_of_one_run() -> None:
    """Of a run that nobody knows it holds no event."""
    host = acceptor()
    host.accept(envelope(), EnvelopeContext("run-2", "node-1"))

    assert build_debug_bundle(host, "run-1")["events"] == []
    assert len(build_debug_bundle(host, "run-2")["events"]) == 1


def test_a_kind_without_a_version_is_named_without_one() -> None:
    """As the capability document has it."""
    kinds = CATALOGUE.with_kinds(EnvelopeKind("vendor.acme.draft", None, {"type": "object"}))
    bundle = build_debug_bundle(acceptor(HostConfig(kinds)), "run-1")

    assert "vendor.acme.draft" in bundle["supportedEnvelopes"]
    assert bundle["schemaVersions"].keys() == set(CATALOGUE.ids)


def test_a_bundle_outlives_its_process(tmp_path: Path) -> None:
    """It is made of the store, whoever opens it."""
    with SqliteStore(tmp_path / "log.db") as store:
        host = acceptor(store=store)
        host.accept(envelope(), CONTEXT)
        reported = build_debug_bundle(host, "run-1")
    with SqliteStore(tmp_path / "log.db") as store:
        assert build_debug_bundle(acceptor(store=store), "run-1") == reported


def test_a_host_without_a_log_says_so() -> None:
    """And what to do."""
    with pytest.raises(InputError, match=r"has no log\. Give the Acceptor a store"):
        build_debug_bundle(Acceptor(store=None), "run-1")


def test_a_store_that_is_closed_is_reported(tmp_path: Path) -> None:
    """Not as an empty run."""
    store = SqliteStore(tmp_path / "log.db")
    store.close()

    with pytest.raises(EmitterError, match="closed"):
        build_debug_bundle(acceptor(store=store), "run-1")


ASSET = "https://host.example/v1/assets/4f9c"
ASSETS: dict[str, tuple[HostConfig, dict[str, Any], list[str]]] = {
    "by address": (WITH_MEDIA, {"url": ASSET, "bytes": 9}, [ASSET]),
    "by address, with a handler of the host": (
        replace(WITH_MEDIA, handlers={"media.image": lambda *_: [NodeCompleted({"shown": True})]}),
        {"url": ASSET, "bytes": 9},
        [ASSET],
    ),
    "by address, of a kind that the host stores without rendering it": (
        HostConfig(CATALOGUE),
        {"url": ASSET, "bytes": 9},
        [ASSET],
    ),
    "no address, of a kind whose payload is not checked": (
        HostConfig(CATALOGUE),
        {"url": "javascript:alert(1)", "bytes": 9},
        [],
    ),
    "no text, of a kind whose payload is not checked": (HostConfig(CATALOGUE), {"url": ["x"], "bytes": 9}, []),
    "inline": (WITH_MEDIA, {"base64": "AAAA", "bytes": 3}, []),
    "an address with a secret": (
        replace(WITH_MEDIA, secrets=SECRETS),
        {"url": f"{ASSET}?key={SECRET}", "bytes": 9},
        [f"{ASSET}?key=[REDACTED:stripe]"],
    ),
}


@pytest.mark.parametrize(("config", "payload", "assets"), ASSETS.values(), ids=ASSETS)
def test_a_bundle_refers_to_assets(config: HostConfig, payload: dict[str, Any], assets: list[str]) -> None:
    """By address, each once and whatever handles them, and contains no bytes of one (RFC 0055 §C)."""
    host = acceptor(config)
    for _ in range(2):
        host.accept(envelope("media.image", payload=payload), CONTEXT)
    bundle = build_debug_bundle(host, "run-1")

    assert bundle["assets"] == assets
    assert "AAAA" not in json.dumps(bundle)


def leaky(*_: object) -> list[Any]:
    """Tell a secret wherever an event may hold one."""
    reported = {"key": f"Bearer {SECRET}", SECRET: [{"deep": {"er": SECRET}}]}
    return [LogAppended(Level.INFO, f"used {SECRET}", reported), NodeCompleted(reported)]


def test_a_bundle_holds_no_secret() -> None:
    """Neither what a handler reported, nor what came before the secret was registered, nor the run's own name."""
    store, run = MemoryStore(), EnvelopeContext(f"run-{SECRET}", "node-1")
    acceptor(HostConfig(CATALOGUE, handlers={NOTE: leaky}), store=store).accept(envelope(), run)
    careless = build_debug_bundle(acceptor(store=store), run.run_id)
    bundle = build_debug_bundle(acceptor(HostConfig(CATALOGUE, secrets=SECRETS), store=store), run.run_id)

    assert SECRET in json.dumps(careless)
    assert SECRET not in json.dumps(bundle)
    assert bundle["runId"] == "run-[REDACTED:stripe]"
    assert bundle["events"][0]["payload"]["message"] == "used [REDACTED:stripe]"
    assert len(bundle["events"]) == len(careless["events"]) == 2


def test_a_bundle_does_not_change_the_log() -> None:
    """Whoever changes the bundle, or strikes it through, leaves the run as it was."""
    store = MemoryStore()
    host = acceptor(HostConfig(CATALOGUE, handlers={NOTE: leaky}), store=store)
    host.accept(envelope(), CONTEXT)
    before = store.events("run-1")
    build_debug_bundle(host, "run-1")["events"][0].clear()
    build_debug_bundle(acceptor(HostConfig(CATALOGUE, secrets=SECRETS), store=store), "run-1")

    assert store.events("run-1") == before
