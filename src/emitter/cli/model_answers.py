"""The commands ``classify`` and ``recover``, which work on recorded model answers.

An exchange is a JSON object ``{"vendor", "endpoint", "request": {"path", …}, "response": {"status", "headers",
"body"}}``. It is classified in the same way as a live response.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from emitter import profiles as profile
from emitter.adapters import detect_wire, detect_wire_of_body
from emitter.adapters.http_response import ResponseHead, parse_body, parse_response
from emitter.attempts import Verdict
from emitter.cli.arguments import add_file_argument, add_json_argument
from emitter.cli.input_output import ProgressCounter, print_json, read_text
from emitter.core.verdicts import VERDICT_BY_STOP
from emitter.errors import BadTraffic
from emitter.messages import Fault, ModelResponse, Usage, as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.recover import Ambiguous, Recovered, RecoveryPath, Retracted, parse_answer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.messages import Json
    from emitter.profiles import Profile


def add_classify_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder of *.json files")
    add_json_argument(parser, "print one JSON document per line (always on)")
    parser.epilog = f"verdicts: {', '.join(verdict.value for verdict in VERDICT_BY_STOP.values())}, {UNSUPPORTED}"


def run_classify(args: argparse.Namespace) -> int:
    """Classify recorded exchanges with vendors, and print one JSON line for each.

    An exchange is a JSON object {"vendor", "endpoint", "request", "response"}. Folders are searched recursively. The
    verdict depends on the stop reason alone; it is "unsupported" for an endpoint that emitter does not know. "document"
    is the content of the answer: json, recovered, text, tool, several or none.
    """
    files = [file for path in args.paths for file in _find_files(path)]
    progress, bad = ProgressCounter(len(files), "exchanges"), 0
    for path in files:
        try:
            line = classify_exchange(load_exchange(path), str(path)).to_json()
        except BadTraffic as error:
            bad += 1
            progress.write_message(str(error))
        else:
            print_json(line, indent=None)
        progress.step()
    progress.end()
    return 2 if bad else 0


def _find_files(path: Path) -> list[Path]:
    files = find_exchange_files([path])
    if not files:
        raise BadTraffic(f"{path} holds no *.json file.")
    return files


def add_recover_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_file_argument(parser, "the model's text")
    add_json_argument(parser, "print one JSON document (always on)")


def run_recover(args: argparse.Namespace) -> int:
    """Read the one JSON document out of a text that a model wrote.

    Prints {"value", "path", "byteOffset"}, and a warning on standard error if there are other words around the document
    than a lead-in or a sign-off. Exits with 1 if the text holds no complete document, holds several, or retracts its
    document. Documents in a thinking block do not count.
    """
    answer = parse_answer(read_text(args.file))
    match answer:
        case None:
            problem = "the text holds no complete JSON document"
        case Retracted():
            problem = "the text retracts its document"
        case Ambiguous(count=count):
            problem = f"the text holds {count} different documents, and emitter does not choose one"
        case _:
            print_json(
                {"value": answer.value, "path": answer.path.value, "byteOffset": answer.byte_offset}, indent=None
            )
            if answer.doubtful:
                sys.stderr.write("emitter: the words around the document may mean that it is not the answer.\n")
            return 0
    sys.stderr.write(f"emitter: {problem}.\n")
    return 1


UNSUPPORTED = "unsupported"
_FIRST_ERROR = 400
_PAIR_LENGTH = 2
_FALLBACK_PROFILES = {
    WireFormat.OPENAI_CHAT: "openai-compatible",
    WireFormat.OPENAI_RESPONSES: "openai",
    WireFormat.ANTHROPIC: "anthropic",
    WireFormat.GOOGLE: "google",
    WireFormat.BEDROCK_CONVERSE: "bedrock",
    WireFormat.GEMINI_INTERACTIONS: "google",
}
"""The profile for vendors that have no profile with this API."""


class ExchangeResponse(NamedTuple):
    """A recorded response, as it came over the network."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class ClassifiedExchange:
    """The classification of one exchange. ``stop`` is the vendor's own stop reason."""

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
        """Return the JSON object that ``emitter classify`` prints."""
        usage = None if self.usage is None else {"input": self.usage.input, "output": self.usage.output}
        fault = self.fault
        fault_fields = fault and {"kind": fault.kind.value, "status": fault.status, "code": fault.code}
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
            "fault": fault_fields,
        }


def find_exchange_files(paths: Iterable[Path]) -> list[Path]:
    """Return the exchange files at ``paths`` in order. Folders are searched recursively."""
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadTraffic(f"{path} does not exist.")
        files.extend(sorted(path.rglob("*.json")) if path.is_dir() else [path])
    return files


def load_exchange(path: Path) -> Mapping[str, Json]:
    """Load an exchange. Raises ``BadTraffic``."""
    try:
        exchange = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadTraffic(f"{path} is not a JSON file: {error}.") from error
    if not as_mapping(as_mapping(exchange).get("response")):
        raise BadTraffic(f"{path} is not an exchange: it has no object 'response'.")
    return as_mapping(exchange)


def classify_exchange(exchange: Mapping[str, Json], file: str) -> ClassifiedExchange:
    """Classify an exchange. Raises ``BadTraffic`` if its response has no status."""
    vendor, endpoint = (_as_text(exchange.get(key)) for key in ("vendor", "endpoint"))
    response = _parse_recorded_response(exchange, file)
    wire = _detect_wire(exchange, response)
    if wire is None:
        return ClassifiedExchange(file, vendor, endpoint, UNSUPPORTED, "none")
    head = ResponseHead(response.status, response.headers)
    answer = parse_response(_load_profile(vendor, wire), wire, head, response.text, expected=None)
    if isinstance(answer, Fault):
        return ClassifiedExchange(
            file, vendor, endpoint, Verdict.FAULTED.value, "none", usage=answer.usage, fault=answer
        )
    return ClassifiedExchange(
        file=file,
        vendor=vendor,
        endpoint=endpoint,
        verdict=VERDICT_BY_STOP[answer.stop].value,
        document=_describe_document(answer),
        stop=answer.raw_stop,
        refusal=VERDICT_BY_STOP[answer.stop] is Verdict.REFUSED,
        text_sha256=hashlib.sha256(answer.text.encode(errors="surrogatepass")).hexdigest() if answer.text else None,
        usage=answer.usage,
    )


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _detect_wire(exchange: Mapping[str, Json], response: ExchangeResponse) -> WireFormat | None:
    """Return the API of an exchange. An error with no other evidence gets the vendor's default API."""
    name, path = _as_text(exchange.get("endpoint")), _as_text(as_mapping(exchange.get("request")).get("path"))
    if name or path:
        return detect_wire(name, path)
    wire = detect_wire_of_body(parse_body(response.text))
    vendor = _as_text(exchange.get("vendor"))
    if wire or response.status < _FIRST_ERROR or vendor not in profile.profile_names():
        return wire
    return profile.load_profile(vendor).default_wire


def _load_profile(vendor: str, wire: WireFormat) -> Profile:
    if vendor in profile.profile_names() and wire in profile.load_profile(vendor).wires:
        return profile.load_profile(vendor)
    return profile.load_profile(_FALLBACK_PROFILES[wire])


def _parse_recorded_response(exchange: Mapping[str, Json], file: str) -> ExchangeResponse:
    response = as_mapping(exchange.get("response"))
    status, body = response.get("status"), response.get("body")
    if not isinstance(status, int):
        raise BadTraffic(f"{file} is not an exchange: its response has no integer 'status'.")
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body, ensure_ascii=False)
    return ExchangeResponse(status, dict(_iter_headers(response.get("headers"))), text)


def _iter_headers(headers: Json) -> Iterator[tuple[str, str]]:
    """Yield headers, which recorders write as an object or as pairs, each with a string or a list of strings."""
    pairs = [pair for pair in map(as_list, as_list(headers)) if len(pair) == _PAIR_LENGTH]
    for name, value in [*as_mapping(headers).items(), *pairs]:
        yield str(name), str(next(iter(as_list(value)), value))


def _describe_document(reply: ModelResponse) -> str:
    if reply.arguments:
        return "tool"
    if not reply.text.strip():
        return "none"
    answer = parse_answer(reply.text)
    is_direct = isinstance(answer, Recovered) and answer.path is RecoveryPath.DIRECT
    if is_direct or VERDICT_BY_STOP[reply.stop] is not Verdict.COMPLETE:
        return "json" if is_direct else "text"
    return "several" if isinstance(answer, Ambiguous) else "recovered" if isinstance(answer, Recovered) else "text"
