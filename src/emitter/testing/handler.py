"""Answer one HTTP request: choose a behaviour, compose its response and log the call.

An error in the request itself comes first, then the script, then the default answers. Requests about batches and
background responses are answered without a behaviour, and cost nothing.

Source of background responses: developers.openai.com/docs/guides/background; openai 3.52.0,
``types/responses/response_status.py``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from emitter.messages import as_mapping
from emitter.testing.batches import BATCH_APIS, BatchStore
from emitter.testing.plans import Behaviour, ErrorKind, PlannedError, PlannedResponse
from emitter.testing.prompt_caches import NOTHING_CACHED
from emitter.testing.responses import (
    FIRST_ERROR,
    SimulatedCall,
    SimulatedResponse,
    compose_error,
    compose_response,
    make_free_call,
)
from emitter.testing.wires import (
    BAD_KEY,
    ParsedRequest,
    detect_wire,
    make_unknown_path_request,
    parse_raw_request,
    read_api_key,
)
from emitter.testing.wires.common import dump_compact

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from emitter.testing.plans import ReceivedRequest
    from emitter.testing.prompt_caches import PromptCaches
    from emitter.testing.responses import CallLog, RawRequest

AnswerSource: TypeAlias = "Behaviour | Mapping[Behaviour, float] | Callable[[ReceivedRequest], Behaviour]"
_CACHE_SIZE = 512
"""Number of cached requests and responses."""
_MAX_CACHED_BYTES = 1 << 16
"""Longer bodies and texts are not cached."""
_CachedT = TypeVar("_CachedT")


class _LruCache(OrderedDict["Hashable", _CachedT]):
    """Keeps the most recently used entries."""

    def get_or_make(self, key: Hashable, make: Callable[[], _CachedT]) -> _CachedT:
        """Return the cached value, or make and cache it."""
        if key in self:
            self.move_to_end(key)
            return self[key]
        value = self[key] = make()
        if len(self) > _CACHE_SIZE:
            self.popitem(last=False)
        return value


_BACKGROUND_PATH = re.compile(r"(?:/[^?]*)?/responses/(?P<id>[^/?]+)(?:\?.*)?")
_POLLS = 2
"""The polls after which a background response is finished."""
_UNFINISHED_FIELDS = {"output": list[object](), "usage": None, "incomplete_details": None, "error": None}


class BackgroundResponses:
    """The responses that a vendor writes in the background, by id."""

    def __init__(self) -> None:
        self._finished: dict[str, SimulatedResponse] = {}
        self._polls = Counter[str]()

    def start(self, response: SimulatedResponse) -> SimulatedResponse:
        """Keep a finished response, and return the response that confirms the request."""
        self._finished[str(json.loads(response.body)["id"])] = _update_body(response)
        return replace(_update_body(response, status="queued", **_UNFINISHED_FIELDS), text="")

    def poll(self, request: RawRequest) -> SimulatedResponse | None:
        """Return the current state of a response, or None if the request is not a poll."""
        match = _BACKGROUND_PATH.fullmatch(request.path) if request.method == "GET" else None
        finished = None if match is None else self._finished.get(match["id"])
        if match is None or finished is None:
            return None
        self._polls[match["id"]] += 1
        if self._polls[match["id"]] >= _POLLS:
            return finished
        return replace(_update_body(finished, status="in_progress", **_UNFINISHED_FIELDS), text="")

    def clear(self) -> None:
        """Forget all responses, as the vendor does after some time."""
        self._finished.clear()
        self._polls.clear()


def _update_body(response: SimulatedResponse, **fields: object) -> SimulatedResponse:
    body = {**as_mapping(json.loads(response.body)), "background": True, **fields}
    return replace(response, body=dump_compact(body).encode())


class SimulatorHandler:
    """Answers requests. ``seed`` determines everything that is random."""

    def __init__(
        self,
        answers: AnswerSource,
        call_log: CallLog,
        *,
        seed: int,
        check_schemas: bool,
        prompt_caches: PromptCaches | None = None,
    ) -> None:
        self._answers = answers
        self._call_log = call_log
        self._seed = seed
        self._check_schemas = check_schemas
        self._prompt_caches = prompt_caches
        self._parse_cache = _LruCache[ParsedRequest]()
        self._response_cache = _LruCache[SimulatedResponse]()
        self._repeat_counts = Counter[bytes]()
        self.script = deque[Behaviour]()
        self.batches = BatchStore(self._handle_call)
        self._background = BackgroundResponses()

    def reset(self) -> None:
        """Clear the script, the repetition counts, the batches and the background responses."""
        self.script.clear()
        self.batches.reset()
        self._background.clear()
        self._repeat_counts.clear()

    def handle(self, request: RawRequest) -> tuple[SimulatedResponse, SimulatedCall]:
        """Answer a request. Only calls of a model are logged."""
        api = BATCH_APIS.get(detect_wire(request.headers))
        response = api.handle(request, self.batches) if api else None
        if response is not None:
            self.batches.requests.append(f"{request.method} {request.path}")
        else:
            response = self._background.poll(request)
        if response is None:
            return self._handle_call(request)
        return response, make_free_call(request.path, response.status)

    def _handle_call(self, request: RawRequest) -> tuple[SimulatedResponse, SimulatedCall]:
        digest = hashlib.blake2b(request.path.encode() + b"\n" + request.body, digest_size=12).digest()
        repeat_count = self._repeat_counts[digest]
        self._repeat_counts[digest] += 1
        seed = f"{self._seed}:{digest.hex()}:{repeat_count}"
        parsed = self._parse(request, digest)
        behaviour, response = self._compose(parsed, digest, repeat_count, seed)
        response = response.with_id(hashlib.blake2b(seed.encode(), digest_size=12).hexdigest())
        if parsed.request.body.get("background") is True and parsed.error is None and response.status < FIRST_ERROR:
            response = self._background.start(response)
        delivered = response.delivered_bytes
        call = SimulatedCall(
            wire=parsed.wire if parsed.is_known_path else None,
            path=request.path,
            model=parsed.request.model,
            body=parsed.body,
            streamed=parsed.request.streamed,
            behaviour=behaviour,
            status=None if delivered is None else response.status,
            usage=response.compute_usage(delivered),
        )
        self._call_log.append(call)
        return response, call

    def _parse(self, request: RawRequest, digest: bytes) -> ParsedRequest:
        if request.method != "POST":
            return make_unknown_path_request(request.path, detect_wire(request.headers))
        parsed = self._parse_cached(request, digest)
        if not parsed.is_known_path:
            return make_unknown_path_request(request.path, detect_wire(request.headers))
        if read_api_key(request.headers) == BAD_KEY:
            return replace(parsed, error=PlannedError(ErrorKind.UNAUTHORIZED))
        return parsed

    def _parse_cached(self, request: RawRequest, digest: bytes) -> ParsedRequest:
        def read() -> ParsedRequest:
            return parse_raw_request(request.path, request.body, check_schemas=self._check_schemas)

        return read() if len(request.body) > _MAX_CACHED_BYTES else self._parse_cache.get_or_make(digest, read)

    def _compose(
        self, parsed: ParsedRequest, digest: bytes, repeat_count: int, seed: str
    ) -> tuple[Behaviour | None, SimulatedResponse]:
        if parsed.error is not None:
            return None, compose_error(parsed.error, parsed.request)
        request = replace(parsed.request, repeat_count=repeat_count, seed=seed)
        error = None if self._prompt_caches is None else self._prompt_caches.find_error(request)
        if error is not None:
            return None, compose_error(error, request)
        behaviour = self._choose_behaviour(request)
        plan = behaviour.plan(request)
        if not isinstance(plan, PlannedResponse):
            return behaviour, compose_response(plan, request)
        cached = NOTHING_CACHED if self._prompt_caches is None else self._prompt_caches.serve(request)

        def compose() -> SimulatedResponse:
            return compose_response(plan, request, cached)

        if len(plan.text) > _MAX_CACHED_BYTES:
            return behaviour, compose()
        return behaviour, self._response_cache.get_or_make((digest, plan, cached), compose)

    def _choose_behaviour(self, request: ReceivedRequest) -> Behaviour:
        """Return the next behaviour of the script, or the default one."""
        if self.script:
            return self.script.popleft()
        answers = self._answers
        if isinstance(answers, Mapping):
            mixture = cast("Mapping[Behaviour, float]", answers)
            rng = Random(f"{request.seed}:which")  # noqa: S311  not for secrets
            return rng.choices(list(mixture), list(mixture.values()))[0]
        return answers(request) if callable(answers) else answers
