"""Recorded exchanges with vendors, and what the library makes of each.

An exchange is one JSON object ``{"vendor", "endpoint", "request": {"path", …}, "response": {"status",
"headers", "body"}}``. It takes the same road as a live response. The verdict judges the stop alone; what the
answer holds is told beside it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from emitter import profile
from emitter.adapters.endpoint import shape_of, wire_of
from emitter.adapters.response import loaded
from emitter.adapters.response import read as read_response
from emitter.errors import BadTraffic
from emitter.judge import BY_STOP, Verdict
from emitter.profile.model import WireName
from emitter.recover import Path as RecoveryPath
from emitter.recover import Recovered, Several, read
from emitter.wire import Fault, Reply, Usage, mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from emitter.profile import Profile
    from emitter.wire import Json

UNSUPPORTED = "unsupported"

_FIRST_ERROR = 400
_PAIR = 2

_PROFILES = {
    WireName.OPENAI_CHAT: "openai-compatible",
    WireName.OPENAI_RESPONSES: "openai",
    WireName.ANTHROPIC: "anthropic",
    WireName.GOOGLE: "google",
}
"""Whose facts are used where the exchange's vendor has no profile with that wire."""


class Response(NamedTuple):
    """A recorded response, as the live one would have come."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class Classified:
    """What one exchange was; ``stop`` is the vendor's own word, ``document`` what the answer holds."""

    file: str
    vendor: str
    endpoint: str
    verdict: str
    document: str
    stop: str | None = None
    refusal: bool = False
    text_sha256: str | None = None
    usage: Usage | None = None
    fault: Fault | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the line that ``emitter classify`` prints."""
        usage = None if self.usage is None else {"input": self.usage.input, "output": self.usage.output}
        fault = self.fault
        told = fault and {"kind": fault.kind.value, "status": fault.status, "code": fault.code}
        return {
            "file": self.file,
            "vendor": self.vendor,
            "endpoint": self.endpoint,
            "verdict": self.verdict,
            "document": self.document,
            "stop": self.stop,
            "refusal": self.refusal,
            "text_sha256": self.text_sha256,
            "usage": usage,
            "fault": told,
        }


def files(paths: Iterable[Path]) -> list[Path]:
    """Return the exchange files at ``paths``, folders searched to any depth, in order."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadTraffic(f"{path} does not exist.")
        found.extend(sorted(path.rglob("*.json")) if path.is_dir() else [path])
    return found


def load(path: Path) -> Mapping[str, Json]:
    """Return the exchange in a file; raises ``BadTraffic``."""
    try:
        exchange = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadTraffic(f"{path} is not a JSON file: {error}.") from error
    if not mapping(mapping(exchange).get("response")):
        raise BadTraffic(f"{path} is not an exchange: it has no object 'response'.")
    return mapping(exchange)


def classify(exchange: Mapping[str, Json], file: str) -> Classified:
    """Return what an exchange was; raises ``BadTraffic`` where its response has no status."""
    vendor, endpoint = (_named(exchange.get(key)) for key in ("vendor", "endpoint"))
    response = _response(exchange, file)
    wire = _wire(exchange, response)
    if wire is None:
        return Classified(file, vendor, endpoint, UNSUPPORTED, "none")
    answer = read_response(_profile(vendor, wire), wire, *response)
    if isinstance(answer, Fault):
        return Classified(file, vendor, endpoint, Verdict.FAULTED.value, "none", usage=answer.usage, fault=answer)
    return Classified(
        file=file,
        vendor=vendor,
        endpoint=endpoint,
        verdict=BY_STOP[answer.stop].value,
        document=_document(answer),
        stop=answer.raw_stop,
        refusal=BY_STOP[answer.stop] is Verdict.REFUSED,
        text_sha256=_sha256(answer.text) if answer.text else None,
        usage=answer.usage,
    )


def _named(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _wire(exchange: Mapping[str, Json], response: Response) -> WireName | None:
    """Return the wire of an exchange; an error of which nothing but the vendor is known is told by its default."""
    name, path = _named(exchange.get("endpoint")), _named(mapping(exchange.get("request")).get("path"))
    if name or path:
        return wire_of(name, path)
    found = shape_of(loaded(response.text))
    vendor = _named(exchange.get("vendor"))
    if found or response.status < _FIRST_ERROR or vendor not in profile.names():
        return found
    return profile.load(vendor).default_wire


def _profile(vendor: str, wire: WireName) -> Profile:
    if vendor in profile.names() and wire in profile.load(vendor).wires:
        return profile.load(vendor)
    return profile.load(_PROFILES[wire])


def _response(exchange: Mapping[str, Json], file: str) -> Response:
    response = mapping(exchange.get("response"))
    status, body = response.get("status"), response.get("body")
    if not isinstance(status, int):
        raise BadTraffic(f"{file} is not an exchange: its response has no status.")
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body, ensure_ascii=False)
    return Response(status, dict(_headers(response.get("headers"))), text)


def _headers(headers: Json) -> Iterator[tuple[str, str]]:
    """Yield header lines, which recorders keep as an object or as pairs, each with a text or a list of texts."""
    pairs = [each for each in map(sequence, sequence(headers)) if len(each) == _PAIR]
    for name, value in [*mapping(headers).items(), *pairs]:
        yield str(name), str(next(iter(sequence(value)), value))


def _document(reply: Reply) -> str:
    if reply.arguments:
        return "tool"
    if not reply.text.strip():
        return "none"
    found = read(reply.text)
    direct = isinstance(found, Recovered) and found.path is RecoveryPath.DIRECT
    if direct or BY_STOP[reply.stop] is not Verdict.COMPLETE:
        return "json" if direct else "text"
    return "several" if isinstance(found, Several) else "recovered" if isinstance(found, Recovered) else "text"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
