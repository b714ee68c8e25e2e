"""Let OpenAI write a long answer in the background, and wait for it by its id.

The answer does not depend on an open connection. With a store, its id outlives the process: if the same emission runs
again under the same key, in any process, it waits for the earlier answer instead of requesting another.

Source: developers.openai.com/docs/guides/background; openai 3.52.0, ``types/responses/response_status.py``.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote

from emitter.adapters import ADAPTERS, openai_responses
from emitter.adapters.clients import limit_client
from emitter.adapters.http_response import read_object
from emitter.adapters.transport import HttpRequest, HttpTransfer, ResponseRejected, send_request
from emitter.client.transport import CallInterrupted, VendorCall, call_in_time
from emitter.clock import sleep_step
from emitter.errors import InputError, StoreFailed
from emitter.interpreter import BlockingStep
from emitter.messages import Fault, as_mapping
from emitter.problems import warn_of_problem
from emitter.stores import Entry, NewEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.client.prepared import PreparedEmission
    from emitter.client.transport import CallFactory
    from emitter.deadline import Deadline
    from emitter.interpreter import CallStep, Steps
    from emitter.messages import CallResult, Json, ModelRequest, Usage
    from emitter.stores import Store

_MIN_POLL_SECONDS: Final = 0.1
_MAX_POLL_SECONDS: Final = 3600.0
_NOT_FOUND: Final = 404
_ENTRY_TYPE: Final = "background-response"
_ID_MEMBER: Final = "responseId"
_UNSTORED_MESSAGE: Final = "The id {} could not be stored. If this process ends, its answer is lost. {}"
_TIMEOUT_MESSAGE: Final = "The answer was not finished in time. The vendor still writes it."


@dataclass(frozen=True, slots=True)
class Background:
    """Settings for an answer that the vendor writes in the background.

    Args:
        store: Keeps the ids of the vendor's responses, for example a ``SqliteStore``. Without a store, an answer is
            lost if the waiting process ends.
        key: Your name for this emission, such as ``"report-7"``. Required with a store.
        poll_seconds: The seconds between two polls, from 0.1 to 3,600.

    Raises:
        InputError: An argument is invalid.
    """

    store: Store | None = None
    key: str | None = None
    poll_seconds: float = 2.0

    def __post_init__(self) -> None:
        if (self.store is None) is not (self.key is None):
            raise InputError("Background takes a store and a key together.", hint="Pass both, or neither.")
        if self.key is not None and not (isinstance(cast("object", self.key), str) and self.key):
            raise InputError("Background key must be a non-empty string.")
        poll = cast("object", self.poll_seconds)
        if not isinstance(poll, int | float) or not _MIN_POLL_SECONDS <= poll <= _MAX_POLL_SECONDS:
            raise InputError(f"poll_seconds is {poll!r}; it must be a number from 0.1 to 3,600.")


def make_background_calls(prepared: PreparedEmission, background: Background) -> CallFactory:
    """Return the factory of an emission's calls. A fallback without background mode gets ordinary calls.

    Raises:
        InputError: The first model has no background mode.
    """
    profile, wire, model = prepared.target
    if profile.wires[wire].background is None:
        raise InputError(
            f"{profile.name}/{model} has no background mode over {wire.value}.", hint="Leave out background=."
        )
    if background.key is not None:
        prepared.settings.host.config.secrets.check_name("Background.key", background.key)
    finished = Counter[str]()

    def make_call(prepared: PreparedEmission, client: object, request: ModelRequest, deadline: Deadline) -> VendorCall:
        profile, wire, _ = prepared.target
        if profile.wires[wire].background is None:
            return VendorCall(prepared, client, request, deadline)
        return _BackgroundCall(background, finished, (prepared, client, request, deadline))

    return make_call


class _BackgroundCall(VendorCall):
    """A request whose answer is polled by its id until it is finished.

    The id is stored under the digest of the request and the number of its answers that were ``finished`` before in this
    emission, so that an emission that is run again gets the same answers in the same order.
    """

    def __init__(
        self,
        background: Background,
        finished: Counter[str],
        arguments: tuple[PreparedEmission, object, ModelRequest, Deadline],
    ) -> None:
        super().__init__(*arguments)
        self._transfer.may_repeat = False  # the server may have begun to write an answer
        self._background, self._finished = background, finished
        self._created: HttpTransfer | None = None
        """The transfer of the request that creates the response, unless a later call will get the answer."""
        profile, wire, _ = self.prepared.target
        facts = profile.wires[wire]
        overlay = {} if facts.background is None else facts.background.body
        self._body = {**ADAPTERS[wire].encode(self.request, facts), **overlay}
        self._digest = hashlib.sha256(json.dumps(self._body, sort_keys=True).encode()).hexdigest()

    def send(self) -> Steps[CallResult]:
        """Send the request unless it was sent before, and wait for the answer."""
        deadline = self.deadline.narrow(self.prepared.settings.policy.timeout)
        try:
            response_id: str | None = yield BlockingStep(self._find_id)
            response = yield call_in_time(partial(self._send_or_fetch, response_id), deadline)
            if response_id is None:
                response_id = yield BlockingStep(partial(self._keep_id, response), must_finish=True)
            while (pending := self._pending_id(response)) is not None:
                yield self._wait(deadline)
                response = yield call_in_time(partial(self._fetch, response_id or pending), deadline)
            return self._finish(response)
        except Exception as error:  # noqa: BLE001  whatever a call raises is a fault
            answer = self._with_usage(self._answer_from_error(error))
        except GeneratorExit:
            raise
        except BaseException as error:
            raise CallInterrupted(self._estimate_sent()) from error
        if isinstance(answer, Fault) and answer.status == _NOT_FOUND:
            yield BlockingStep(self._forget_id)
        return answer

    def _send_or_fetch(self, response_id: str | None, seconds: float) -> Any:
        if response_id is not None:
            return self._fetch(response_id, seconds)
        self._created = self._transfer
        client = limit_client(self._client, self._transfer)
        return openai_responses.send(client, self._body, seconds, self.request.headers)

    def _fetch(self, response_id: str, seconds: float) -> Any:
        self._transfer = HttpTransfer(self.prepared.settings.policy.max_response_bytes, may_repeat=True)
        self._expected = replace(self._expected, response_id=response_id)
        path = f"{openai_responses.PATH}/{quote(response_id, safe='')}"
        request = HttpRequest("get", path, headers=self.request.headers)
        return send_request(limit_client(self._client, self._transfer), request, seconds)

    def _wait(self, deadline: Deadline) -> CallStep:
        """Return the wait until the next poll. Raises ``TimeoutError`` if the deadline passes before."""
        seconds, clock = self._background.poll_seconds, self.prepared.settings.clock
        if deadline.remaining() <= seconds:
            raise TimeoutError(_TIMEOUT_MESSAGE)
        return sleep_step(clock, seconds)

    def _pending_id(self, response: object) -> str | None:
        """Return the id of a response that is not finished, or None if it is finished or another one."""
        body = _read_body(response)
        is_pending = body.get("status") in openai_responses.PENDING_STATUSES
        return _response_id(body) if is_pending and self._expected.is_own_id(body.get("id")) else None

    def _finish(self, response: object) -> CallResult:
        """Return the answer. After another response than the one that was polled, the next call polls again."""
        answer = self._parse(response)
        if self._expected.is_own_id(_read_body(response).get("id")):
            self._finished[self._digest] += 1
        return answer

    def _forget_id(self) -> None:
        """Forget an id that the vendor no longer knows, so that the next call sends again."""
        if self._background.store is not None:
            with suppress(StoreFailed):  # the next call finds the id again and repeats this
                self._background.store.forget(*self._entry_names())

    def _entry_names(self) -> tuple[str, str]:
        return f"background:{self._background.key}", f"{self._digest}:{self._finished[self._digest]}"

    def _find_id(self) -> str | None:
        """Return the stored id of the response, if the request was sent before."""
        store = self._background.store
        entry = None if store is None else store.find(*self._entry_names())
        return None if entry is None else _stored_id(entry)

    def _keep_id(self, response: object) -> str | None:
        """Store the id of the response, and return the stored id. It is another one if another process was faster.

        If the store fails, a warning is issued and the answer is still awaited, because it is paid for.
        """
        store, response_id = self._background.store, _response_id(_read_body(response))
        if store is None or response_id is None:
            return response_id
        entry = Entry(_ENTRY_TYPE, {_ID_MEMBER: response_id}, {})
        try:
            kept = _stored_id(store.get_or_create(*self._entry_names(), partial(NewEntry, entry)).entry)
        except StoreFailed as error:
            warn_of_problem(_UNSTORED_MESSAGE.format(response_id, error))
            return response_id
        self._created = None
        return kept

    def _estimate_sent(self) -> Usage | None:
        """Return an estimate for a response that no later call will get, and whose answer is lost."""
        created = self._created
        return None if created is None or created.is_error or not created.is_sent else self._estimate_usage(None, "")


def _stored_id(entry: Entry) -> str | None:
    value = entry.outcome.get(_ID_MEMBER)
    return value if isinstance(value, str) and value else None


def _response_id(body: Mapping[str, Json]) -> str | None:
    value = body.get("id")
    return value if isinstance(value, str) and value else None


def _read_body(response: object) -> Mapping[str, Json]:
    """Return the response's object, or an empty one for anything else, which is then parsed as an answer."""
    try:
        return read_object(response)
    except ResponseRejected:
        return as_mapping(None)
