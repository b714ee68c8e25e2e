"""What one warm call costs its own process, in processor time; the server is another process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.libraries import EMITTER, SDK, WIRES, Runners, present
from benchmarks.runners.task import WHOLE
from benchmarks.turns import DOCUMENT
from emitter.testing import Text, simulator

if TYPE_CHECKING:
    from benchmarks.libraries import Library, Runner
    from emitter.testing import Behaviour, ReceivedRequest, Simulator

FLOOR, LOW_LEVEL, TYPED = "httpx2", "sdk low-level", "sdk typed"
MOMENT, OWN_FORM = "emit_binding_moment", "emit"
_OWN = {EMITTER.name: (MOMENT, OWN_FORM), SDK.name: (FLOOR, LOW_LEVEL, TYPED)}
_LIKE_MOMENT = (MOMENT, FLOOR, LOW_LEVEL)
"""Those that are sent the binding moment: the others are sent the common task."""
_MILLI = 1e3


def measured(rounds: int, calls: int) -> dict[str, dict[str, float]]:
    """Return, for each wire, the milliseconds of processor time that one call of each contender takes.

    All take turns in each of ``rounds``, with ``calls`` each; the fastest round counts, since a busy machine only
    adds. The body that ``httpx2`` and the SDK's lowest call send is the one that ``emit_binding_moment`` sends.
    """
    with Runners() as runners:
        return {wire: _on_wire(runners, wire, rounds, calls) for wire in WIRES}


class _Answers:
    """The answer that fits who asks."""

    def __init__(self) -> None:
        self.moment = False

    def __call__(self, _: ReceivedRequest) -> Behaviour:
        return Text(DOCUMENT if self.moment else WHOLE)


def _on_wire(runners: Runners, wire: str, rounds: int, calls: int) -> dict[str, float]:
    answers, best = _Answers(), dict[str, float]()
    contenders = [(runners.of(each), name) for each in present() for name in _names(each)]
    with simulator(answers=answers, keep=1) as vendor:
        job: dict[str, Any] = {"wire": wire, "url": vendor.url, **_body(runners.of(EMITTER), wire, vendor, answers)}
        for count in range(rounds + 1):
            for runner, name in contenders:
                answers.moment = name in _LIKE_MOMENT
                spent = runner.ask("cpu", contender=name, calls=calls, **job)["cpu"] * _MILLI
                if count:  # the first round warms up
                    best[name] = round(min(spent, best.get(name, spent)), 4)
    return best


def _names(library: Library) -> tuple[str, ...]:
    return _OWN.get(library.name, (library.contender,))


def _body(runner: Runner, wire: str, vendor: Simulator, answers: _Answers) -> dict[str, Any]:
    answers.moment = True
    runner.ask("once", contender=MOMENT, wire=wire, url=vendor.url)
    call = vendor.calls[-1]
    return {"body": call.body, "path": call.path}
