"""What is told on the way, and of answers, without a secret.

A secret may stand across two pieces of a text. So where there are secrets, a text that is followed is told in one
piece, when it is whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from emitter.adapters.credentials import searched
from emitter.errors import InputError
from emitter.progress import Slot, TextDelta
from emitter.redact.registry import NO_SECRETS, Secrets
from emitter.wire import Fault, Reply, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.progress import Progress
    from emitter.wire import Answer


@dataclass(slots=True)
class Hushed:
    """Strikes ``secrets`` out of what is told of one emission."""

    secrets: Secrets
    _held: dict[str, str] = field(init=False, default_factory=dict[str, str])

    def __call__(self, told: Progress) -> Iterator[Progress]:
        """Yield what may be told now."""
        if not self.secrets:
            yield told
        elif isinstance(told, TextDelta):
            self._held[told.pointer] = self._held.get(told.pointer, "") + told.text
        elif isinstance(told, Slot):
            whole = self._held.pop(told.pointer, "")
            if whole:
                yield TextDelta(self.secrets.text(told.pointer).value, self.secrets.text(whole).value)
            pointer = self.secrets.text(told.pointer).value
            yield replace(told, pointer=pointer, value=self._clean(told.value))
        else:
            self._held.clear()
            yield told

    def _clean(self, value: Any) -> Any:
        if not isinstance(value, BaseModel):
            return self.secrets.json(value).value
        clean = self.secrets.json(value.model_dump(mode="json"))
        return type(value).model_validate(clean.value) if clean.count else value


def hushing(secrets: Secrets, keys: Callable[[], tuple[str, ...]] = tuple) -> Callable[[Answer], Answer]:
    """Return what strikes secrets out of the vendor's own words for an answer: all of it that is ever told.

    ``keys`` returns the credentials that the client holds by now: a vendor may repeat them. It is called only for
    what failed.
    """

    def hush(answer: Answer) -> Answer:
        answer = _without(answer, secrets) if secrets else answer
        failed = isinstance(answer, Fault) or answer.report is not None or answer.refused_as is not None
        return without_credentials(answer, keys()) if failed else answer

    return hush


def without_credentials(answer: Answer, values: tuple[str, ...]) -> Answer:
    """Return an answer whose words of the vendor's show none of a request's credentials."""
    secrets = _registered(values)
    return _without(answer, secrets) if secrets else answer


@lru_cache(maxsize=32)
def _registered(values: tuple[str, ...]) -> Secrets:
    found = searched(values)
    try:
        return _credentials(found)
    except InputError:  # one of them is no text that can be looked for; the others are
        return _credentials(tuple(filter(_is_searchable, found)))


def _credentials(found: tuple[str, ...]) -> Secrets:
    return Secrets.of({"credential": found}) if found else NO_SECRETS


def _is_searchable(text: str) -> bool:
    try:
        return bool(_credentials((text,)))
    except InputError:
        return False


def _without(answer: Answer, secrets: Secrets) -> Answer:
    """Return an answer whose words of the vendor's show none of ``secrets``."""

    def clean(said: str | None) -> str | None:
        return None if said is None else secrets.text(said).value

    answer = replace(answer, request_id=clean(answer.request_id), report=_redact_report(answer.report, secrets))
    if isinstance(answer, Reply):
        return replace(answer, raw_stop=clean(answer.raw_stop) or "", refused_as=clean(answer.refused_as))
    return replace(answer, message=clean(answer.message) or "", code=clean(answer.code))


def _redact_report(report: Report | None, secrets: Secrets) -> Report | None:
    """Strike secrets out of a vendor's words; an exception that shows one is left out, for its words are its own."""
    if report is None:
        return None
    message, code, param = (
        None if each is None else secrets.text(each).value for each in (report.message, report.code, report.param)
    )
    shown = report.cause is not None and secrets.error(report.cause) != NO_SECRETS.error(report.cause)
    return Report(message or "", code, param, None if shown else report.cause)
