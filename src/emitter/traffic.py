"""Recorded exchanges with vendors, and what the library makes of each.

An exchange is one JSON object ``{"vendor", "endpoint", "request": {"path", …}, "response": {"status",
"headers", "body"}}``. It takes the same road as a live response. The verdict judges the stop alone; what the
answer holds is told beside it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter import profile
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
    from emitter.wire import Answer, Json

UNSUPPORTED = "unsupported"

_WIRES: tuple[tuple[re.Pattern[str], WireName], ...] = (
    (re.compile(r"chat[./]completions|/models/[^/]*/completions"), WireName.OPENAI_CHAT),
    (re.compile(r"(^|/)responses\b"), WireName.OPENAI_RESPONSES),
    (re.compile(r"(^|/)messages\b|^anthropic-on-|:(stream)?rawPredict", re.IGNORECASE), WireName.ANTHROPIC),
    (re.compile(r"(^|:)(stream)?generateContent\b", re.IGNORECASE), WireName.GOOGLE),
)
"""How an endpoint's name or path tells its wire."""

_PROFILES = {
    WireName.OPENAI_CHAT: "openai-compatible",
    WireName.OPENAI_RESPONSES: "openai",
    WireName.ANTHROPIC: "anthropic",
    WireName.GOOGLE: "google",
}
"""Whose facts are used where the exchange's vendor has no profile with that wire."""


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
    vendor, endpoint = (str(exchange.get(key) or "") for key in ("vendor", "endpoint"))
    wire = wire_of(exchange)
    if wire is None:
        return Classified(file, vendor, endpoint, UNSUPPORTED, "none")
    answer = _answer(_profile(vendor, wire), wire, exchange["response"], file)
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


def wire_of(exchange: Mapping[str, Json]) -> WireName | None:
    """Return the wire of an exchange, from its endpoint's name or else its path; None: none of ours."""
    path = str(mapping(exchange.get("request")).get("path") or "")
    named = exchange.get("endpoint")
    return _wire_named(str(named)) if named else _wire_named(path.partition("?")[0])


def _wire_named(name: str) -> WireName | None:
    return next((wire for pattern, wire in _WIRES if pattern.search(name)), None)


def _profile(vendor: str, wire: WireName) -> Profile:
    if vendor in profile.names() and wire in profile.load(vendor).wires:
        return profile.load(vendor)
    return profile.load(_PROFILES[wire])


def _answer(facts: Profile, wire: WireName, response: Any, file: str) -> Answer:
    status, headers, body = response.get("status"), response.get("headers"), response.get("body")
    if not isinstance(status, int):
        raise BadTraffic(f"{file} is not an exchange: its response has no status.")
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body, ensure_ascii=False)
    return read_response(facts, wire, status, dict(_headers(headers)), text)


def _headers(headers: Any) -> Iterator[tuple[str, str]]:
    """Yield header lines, which recorders keep as a text or as a list of texts."""
    for name, value in mapping(headers).items():
        yield name, str(next(iter(sequence(value)), value))


def _document(reply: Reply) -> str:
    if reply.arguments:
        return "tool"
    if not reply.text.strip():
        return "none"
    found = read(reply.text)
    direct = isinstance(found, Recovered) and found.path is RecoveryPath.DIRECT
    if direct or BY_STOP[reply.stop] is not Verdict.COMPLETE:
        return "json" if direct else "text"
    return "several" if isinstance(found, Several) else "text" if found is None else "recovered"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
