"""The host over HTTP: discovery, schemas, and the table of scenarios."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.openwop import running
from tests.openwop.accepting import EVERYTHING
from tests.openwop.asking import envelope
from tests.openwop.host import Host
from tests.openwop.scenarios import HELD, NOT_HELD, held_by, slug
from tests.openwop.serving import BASE_URL, advertised

if TYPE_CHECKING:
    from tests.openwop.serving import Served

    Serving = tuple[Served, Any]

ROOT = Path(__file__).parents[2]


def test_the_capability_document_is_served_where_the_suite_looks(serving: Serving) -> None:
    """With what the host is, and the fixtures that it runs."""
    served, client = serving
    response = client.get(f"{served.url}/.well-known/openwop")

    assert response.status_code == 200
    assert response.json() == advertised()
    assert response.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize("name", EVERYTHING)
def test_each_kinds_schema_is_served_at_its_canonical_address(serving: Serving, name: str) -> None:
    """Dots kept, with the headers that the specification names."""
    served, client = serving
    response = client.get(f"{served.url}/schemas/envelopes/{name}.schema.json")

    assert response.json()["$id"] == f"{BASE_URL}/schemas/envelopes/{name}.schema.json"
    assert response.headers["content-type"].startswith("application/schema+json")
    assert response.headers["cache-control"] == "public, max-age=300"


def test_a_body_that_is_no_json_is_refused(serving: Serving) -> None:
    """In the one form of HTTP errors."""
    served, client = serving
    response = client.post(f"{served.url}/v1/host/sample/envelope/accept", content=b"{")

    assert (response.status_code, response.json()["error"]) == (400, "invalid_argument")


def test_it_is_served_by_a_command() -> None:
    """It writes its address first, and answers there until it is ended."""
    command = [sys.executable, "-m", "tests.openwop"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with httpx2.Client(timeout=120) as client:
            reported = client.get(f"{url}/.well-known/openwop").json()
        process.terminate()  # an interrupt is not heard by what was begun in the background

    assert reported == advertised()
    assert process.returncode in {0, -signal.SIGTERM}


def test_a_fixture_whose_definition_is_not_at_hand_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The host serves what it defines itself, advertises nothing else, and says what is absent and why."""
    monkeypatch.setattr(running, "FOLDER", tmp_path / "none")
    status, body = Host().call("POST", "/v1/runs", {}, {"workflowId": "conformance-envelope-refusal"})

    assert advertised()["fixtures"] == sorted(running.OWN)
    assert running.absent() == running.FOLDER_FIXTURES
    assert status == 404
    assert "conformance-envelope-refusal is not at hand" in body["message"]


@running.needs_fixtures
def test_every_fixture_of_the_folder_is_served() -> None:
    """None that this host could run is left out."""
    assert running.absent() == ()
    assert set(running.fixtures()) == {*running.OWN, *running.FOLDER_FIXTURES}


def test_a_run_that_does_nothing_completes(serving: Serving) -> None:
    """The cheapest run there is: it begins, its node is done, and it ends."""
    served, client = serving
    made = client.post(f"{served.url}/v1/runs", json={"workflowId": "conformance-noop"})
    reported = client.get(f"{served.url}/v1/runs/{made.json()['runId']}/events").json()["events"]

    assert (made.status_code, made.json()["status"]) == (201, "completed")
    assert [each["type"] for each in reported] == ["run.started", "node.started", "node.completed", "run.completed"]


def test_many_at_once_are_answered_once_each(serving: Serving) -> None:
    """Of one correlation id there is one outcome, whoever asks first."""
    served, client = serving
    served.host.reset()
    body = {"envelope": envelope(), "projectTo": {"runId": "crowd", "nodeId": "n"}}

    def ask(_: int) -> Any:
        return client.post(f"{served.url}/v1/host/sample/envelope/accept", json=body).json()

    with ThreadPoolExecutor(8) as pool:
        reported = list(pool.map(ask, range(24)))

    assert len({tuple(each["recordedEventIds"]) for each in reported}) == 1
    assert len(served.host.store.events("crowd")) == 2


def test_every_scenario_has_a_test_or_a_reason() -> None:
    """None is in both, and none that is held has no test."""
    assert not set(HELD) & set(NOT_HELD)
    assert [each for each, names in held_by().items() if not names] == []
    assert len({slug(each) for each in HELD}) == len(HELD)
