"""This library: ``emit`` with the common task, ``emit_binding_moment`` with its own form, and ``stream``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.runners.sdk_clients import client
from benchmarks.runners.talk import talk
from benchmarks.runners.task import BUDGET, MODELS, PROMPT, Moment, Report
from emitter import Policy, emit, emit_binding_moment, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def _asked(job: Mapping[str, Any]) -> dict[str, Any]:
    wire = job["wire"]
    vendor = wire.partition("-")[0]
    return {"model": f"{vendor}/{MODELS[wire]}", "wire": wire, "client": client(wire, job["url"])}


class Document:
    """A form of the caller's own."""

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one emission."""
        asked, policy = _asked(job), Policy(output_tokens=BUDGET)
        return lambda: emit(Moment, PROMPT, policy=policy, **asked).value

    def streamer(self, job: Mapping[str, Any]) -> Callable[[], Iterable[object]]:
        """Return one streamed emission: every slot as it becomes whole, then the value."""
        asked = _asked(job)

        def streamed() -> Iterable[object]:
            with stream(Report, PROMPT, **asked) as running:
                yield from running
                yield running.result().value

        return streamed


class BindingMoment:
    """The library's own form."""

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one emission of a binding moment."""
        asked = _asked(job)
        return lambda: emit_binding_moment(PROMPT, **asked).value


if __name__ == "__main__":
    talk({"emit": Document(), "emit_binding_moment": BindingMoment()})
