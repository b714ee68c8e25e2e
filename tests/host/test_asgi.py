"""What a host says of itself, over HTTP: each kind's schema and the capability document."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from emitter.errors import InputError
from emitter.host.asgi import DISCOVERY_PATH, create_discovery_app
from emitter.host.kinds import A2UI_KIND, media_kinds
from emitter.host.registry import STANDARD, register_kind
from emitter.testing.uvicorn_server import SimulatorServer
from tests.models import openwop

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = "https://host.example"
CATALOGUE = register_kind("vendor.acme.prd.create", {"type": "object"}, 2).with_kinds(*media_kinds(), A2UI_KIND)
CAPABILITIES: dict[str, Any] = {
    "protocolVersion": "1.1",
    "supportedEnvelopes": list(CATALOGUE.ids),
    "schemaVersions": dict(CATALOGUE.versions),
    "limits": {"clarificationRounds": 5, "schemaRounds": 3, "envelopesPerTurn": 32},
    "implementation": {"name": "höst"},
}
ERROR = "/schemas/envelopes/error.schema.json"


@pytest.fixture(scope="module")
def host() -> Iterator[httpx2.Client]:
    """Serve the documents on loopback, and below a mount, and yield a client."""
    app = create_discovery_app(CATALOGUE, CAPABILITIES, base_url=BASE)
    server = SimulatorServer(Starlette(routes=[Mount("/mounted", app), Mount("/", app)]), "127.0.0.1", 0)  # type: ignore[arg-type]
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{server.port}") as client:
            yield client
    finally:
        server.stop()


@pytest.mark.parametrize("kind_id", CATALOGUE)
@pytest.mark.parametrize("below", ["", "/mounted"], ids=["at the root", "mounted"])
def test_each_schema_is_served_at_its_canonical_path(host: httpx2.Client, kind_id: str, below: str) -> None:
    """With its dots, its media type and its cache; it names itself by the host's address, whoever asks."""
    answer = host.get(f"{below}/schemas/envelopes/{kind_id}.schema.json", headers={"Host": "evil.example"})

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/schema+json"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json() == CATALOGUE[kind_id].build_document(BASE)
    assert answer.json()["$id"] == f"{BASE}/schemas/envelopes/{kind_id}.schema.json"


def test_the_capability_document_is_served(host: httpx2.Client) -> None:
    """As JSON, at the well-known path, with a validator for its bytes and one for what is negotiated by it."""
    answer = host.get(DISCOVERY_PATH)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["capabilities-etag"] == answer.headers["etag"]
    assert answer.json() == CAPABILITIES


@openwop.needs_schemas
def test_what_is_served_holds_to_openwops_schemas(host: httpx2.Client) -> None:
    """The capability document, and the error document of HTTP."""
    assert openwop.errors(host.get(DISCOVERY_PATH).json(), "capabilities.schema.json") == []
    assert openwop.errors(host.get("/nothing").json(), "error-envelope.schema.json") == []


@pytest.mark.parametrize("path", [ERROR, DISCOVERY_PATH])
def test_head_is_get_without_the_body(host: httpx2.Client, path: str) -> None:
    """All headers are the same, the length included."""
    whole, head = host.get(path), host.head(path)

    assert head.status_code == 200
    assert head.content == b""
    same = ("content-type", "content-length", "etag", "cache-control", "access-control-allow-origin")
    assert {name: head.headers[name] for name in same} == {name: whole.headers[name] for name in same}
    assert int(head.headers["content-length"]) == len(whole.content)


@pytest.mark.parametrize("path", [ERROR, DISCOVERY_PATH])
@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', '"other" ,W/{} , "x"', "*"])
def test_who_has_it_is_not_sent_it_again(host: httpx2.Client, path: str, form: str) -> None:
    """``If-None-Match`` names the bytes, strongly or weakly, alone or among others."""
    etag = host.get(path).headers["etag"]

    answer = host.get(path, headers={"If-None-Match": form.format(etag)})

    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == etag
    assert answer.headers["cache-control"] == "public, max-age=300"


@pytest.mark.parametrize("given", ['"other"', "", "W/", '"*"', "nonsense"])
def test_who_has_something_else_is_sent_it(host: httpx2.Client, given: str) -> None:
    """Only the very bytes count."""
    assert host.get(ERROR, headers={"If-None-Match": given}).status_code == 200


def test_every_document_has_a_validator_of_its_own(host: httpx2.Client) -> None:
    """Another document, another one; the same, the same."""
    paths = [f"/schemas/envelopes/{name}.schema.json" for name in CATALOGUE]

    tags = [host.get(path).headers["etag"] for path in paths]
    assert len(set(tags)) == len(paths)
    assert tags == [host.get(path).headers["etag"] for path in paths]


ABSENT = {
    "a kind that is not there": "/schemas/envelopes/vendor.acme.gone.schema.json",
    "a kind without its ending": "/schemas/envelopes/error",
    "the folder": "/schemas/envelopes/",
    "the root": "/",
    "a slash more": f"{DISCOVERY_PATH}/",
    "a step up": "/schemas/envelopes/..%2f..%2fetc%2fpasswd",
    "another document of the well-known": "/.well-known/openid-configuration",
}


@pytest.mark.parametrize("path", ABSENT.values(), ids=ABSENT.keys())
def test_what_is_not_there_is_reported_in_openwops_form(host: httpx2.Client, path: str) -> None:
    """As the error document of HTTP, which is not the kind ``error``, and repeats nothing."""
    answer = host.get(path)

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {"error": "not_found", "message": "Nothing is served here."}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", [ERROR, DISCOVERY_PATH])
def test_nothing_is_taken(host: httpx2.Client, path: str, method: str) -> None:
    """What can be done is said in ``Allow``."""
    answer = host.request(method, path, content=b"{}")

    assert answer.status_code == 405
    assert set(answer.headers["allow"].replace(" ", "").split(",")) == {"GET", "HEAD"}
    assert answer.json() == {"error": "method_not_allowed", "message": "Use GET."}


def test_a_host_may_have_another_path() -> None:
    """The path is a parameter; the routes are those of the kinds, and that one."""
    app = create_discovery_app(STANDARD, {}, base_url=BASE, path="/v1/capabilities")

    paths = {getattr(each, "path", None) for each in app.routes}
    assert paths == {"/v1/capabilities", *(f"/schemas/envelopes/{name}.schema.json" for name in STANDARD)}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no base": ({"base_url": "host.example"}, "base_url must be the http or https URL"),
    "no path": ({"path": "capabilities"}, "must start with /"),
    "a path with a hole": ({"path": "/{x}"}, "contain no braces"),
    "no JSON": ({"capabilities": {"x": object()}}, "The document capabilities is not JSON"),
    "no number": ({"capabilities": {"x": float("inf")}}, "The document capabilities is not JSON"),
}


@pytest.mark.parametrize(("given", "reported"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_served(given: dict[str, Any], reported: str) -> None:
    """It is said when the application is built, and not to a client."""
    with pytest.raises(InputError, match=reported):
        create_discovery_app(**{"registry": STANDARD, "capabilities": {}, "base_url": BASE, **given})


def test_it_is_what_it_was_when_it_was_built(host: httpx2.Client) -> None:
    """What the caller does to its document afterwards is not served."""
    given = json.loads(json.dumps(CAPABILITIES))
    try:
        CAPABILITIES["limits"] = {}
        assert host.get(DISCOVERY_PATH).json() == given
    finally:
        CAPABILITIES["limits"] = given["limits"]


def test_without_the_extra_it_says_what_to_install() -> None:
    """And not that some module is missing."""
    code = "import sys; sys.modules['starlette'] = None\nimport emitter.host.asgi"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (
        "emitter.errors.MissingExtra: Starlette is not installed. Run: pip install 'llm-emitter[asgi]'" in ended.stderr
    )
