"""What one warm call costs, in processor time; the server is another process.

``python -m benchmarks.overhead`` prints this library beside the SDK's lowest call and ``httpx2`` with the same body,
where the time goes, what an emission enters, imports, and many emissions at once. ``measured`` has the peers, too.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import sys
import sysconfig
import time
import warnings
from collections import Counter
from contextlib import ExitStack
from enum import Enum
from itertools import chain
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import importing, load
from benchmarks.canned import serving
from benchmarks.libraries import EMITTER, ROOT, SDK, WIRES, Runners, present
from benchmarks.runners import emitter_runner, sdk_runner
from benchmarks.runners.task import WHOLE
from benchmarks.turns import DOCUMENT
from emitter.testing import Text, simulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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


_FUNCTIONS: dict[str, Any] = {OWN_FORM: emitter_runner.Document(), MOMENT: emitter_runner.BindingMoment()}
_DOCUMENTS = {OWN_FORM: WHOLE, MOMENT: DOCUMENT}
_WARM_CALLS = 20


class Case(NamedTuple):
    """One function of this library on one wire: its calls, and those of the others with the same body."""

    wire: str
    function: str
    calls: dict[str, Callable[[], Any]]


def cases(stack: ExitStack) -> list[Case]:
    """Return warm calls of both functions on every wire, to servers of another process that end with ``stack``."""
    jobs = [_job(wire, function) for wire in WIRES for function in _FUNCTIONS]
    urls = stack.enter_context(serving([answer for _, _, answer, _ in jobs]))
    return [
        _case(wire, function, {"wire": wire, "url": url, **sent})
        for (wire, function, _, sent), url in zip(jobs, urls, strict=True)
    ]


def _job(wire: str, function: str) -> tuple[str, str, bytes, dict[str, Any]]:
    """Return what ``function`` sends, and the vendor's answer to it."""
    with simulator(answers=Text(_DOCUMENTS[function]), keep=1) as vendor:
        job = {"wire": wire, "url": vendor.url}
        _FUNCTIONS[function].caller(job)()
        if len(vendor.calls) != 1:
            raise RuntimeError(f"{function} made {len(vendor.calls)} calls")
        call = vendor.calls[-1]
        sent = {"body": call.body, "path": call.path}
        content = sdk_runner.Floor().raw(job | sent)
    return wire, function, content, sent


def _case(wire: str, function: str, job: Mapping[str, Any]) -> Case:
    contenders = {FLOOR: sdk_runner.Floor(), LOW_LEVEL: sdk_runner.LowLevel(), function: _FUNCTIONS[function]}
    calls = {name: contender.caller(job) for name, contender in contenders.items()}
    for call in chain.from_iterable([call] * _WARM_CALLS for call in calls.values()):
        call()
    return Case(wire, function, calls)


class Time(NamedTuple):
    """The medians of one call in milliseconds: of the processor, and by the clock."""

    cpu: float
    wall: float


def times(case: Case, rounds: int) -> dict[str, Time]:
    """Return the times of each contender; they take turns, one call each."""
    taken: dict[str, list[Time]] = {name: [] for name in case.calls}
    gc.collect()
    for _ in range(rounds):
        for name, call in case.calls.items():
            wall, cpu = time.perf_counter(), time.thread_time()
            call()
            taken[name].append(Time((time.thread_time() - cpu) * _MILLI, (time.perf_counter() - wall) * _MILLI))
    return {name: Time(*(median(kind) for kind in zip(*spent, strict=True))) for name, spent in taken.items()}


_PURELIB = Path(sysconfig.get_path("purelib"))
_STDLIB = Path(sysconfig.get_path("stdlib"))
_SOURCE = ROOT / "src" / "emitter"
_WAITING = ("recv", "poll", "select", "send", "acquire")
"""Built-in functions in which a call waits for the server."""


def shares(call: Callable[[], Any], calls: int) -> dict[str, float]:
    """Return the share of each package in the profiled time of a call, without waiting."""
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(calls):
        call()
    profile.disable()
    spent = Counter[str]()
    for (file, _, name), (_, _, own, _, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        if file != "~":
            spent[_package(file)] += own
        elif not any(f"'{word}'" in name or f".{word}" in name for word in _WAITING):
            for (caller, _, _), (_, _, part, _) in callers.items():
                spent[_package(caller)] += part
    return {name: part / spent.total() for name, part in spent.most_common()}


def _package(file: str) -> str:
    """Return the package of a file: the top-level one, and one more level for this library."""
    path = Path(file)
    if path.is_relative_to(_SOURCE):
        return f"emitter.{path.relative_to(_SOURCE).parts[0].removesuffix('.py')}"
    for root in (_PURELIB, _STDLIB):
        if path.is_relative_to(root):
            return path.relative_to(root).parts[0].removesuffix(".py")
    return "other"


class Entered(NamedTuple):
    """What one call enters of this library: functions, by file and name, with how often, and the types it creates."""

    functions: Counter[tuple[str, str]]
    carriers: list[str]

    @property
    def files(self) -> set[str]:
        """The files of the functions."""
        return {file for file, _ in self.functions}


def entered(call: Callable[[], Any]) -> Entered:
    """Return what one call enters.

    A carrier is a type of this library, of which the call creates an object and passes it to a function or returns it
    from one. Objects that the next call meets again are kept by the library and do not count.
    """
    functions, first = _traced(call)
    _, second = _traced(call)
    kept = {id(each) for each in first} & {id(each) for each in second}
    created = {type(each).__qualname__ for each in second if id(each) not in kept}
    return Entered(functions, sorted(created))


def _traced(call: Callable[[], Any]) -> tuple[Counter[tuple[str, str]], list[object]]:
    """Return the functions that a call enters, and the objects of this library's types that they take or return."""
    functions, objects = Counter[tuple[str, str]](), dict[int, object]()

    def trace(frame: Any, event: str, returned: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(str(_SOURCE)):
            return
        if event == "call":
            functions[code.co_filename, code.co_qualname] += 1
        seen = list(frame.f_locals.values()) if event == "call" else [returned]
        objects.update((id(each), each) for each in seen if _is_carrier(type(each)))

    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return functions, list(objects.values())


def _is_carrier(kind: type) -> bool:
    return kind.__module__.startswith("emitter.") and not issubclass(kind, Enum)


def write(line: str = "", end: str = "\n") -> None:
    """Print."""
    sys.stdout.write(line + end)
    sys.stdout.flush()


def _print_times(found: Iterable[Case], rounds: int) -> None:
    write(f"{'milliseconds of one warm call':42}{'cpu':>8}{'wall':>8}{'cpu / sdk':>11}{'wall / sdk':>11}")
    for case in found:
        spent = times(case, rounds)
        sdk = spent[LOW_LEVEL]
        for name, each in spent.items():
            ratios = f"{each.cpu / sdk.cpu:>11.2f}{each.wall / sdk.wall:>11.2f}"
            write(f"{case.wire:17} {name:24}{each.cpu:>8.3f}{each.wall:>8.3f}{ratios}")


def _print_profile(case: Case, calls: int) -> None:
    found = entered(case.calls[case.function])
    write(
        f"\n{case.function} on {case.wire} enters {len(found.files)} files, {len(found.functions)} functions ", end=""
    )
    write(f"in {found.functions.total()} calls, with {len(found.carriers)} carrier types:")
    write(f"  {', '.join(found.carriers)}")
    for name, share in shares(case.calls[case.function], calls).items():
        if share >= 0.005:  # noqa: PLR2004  half a per cent
            write(f"  {name:28}{share:>7.1%}")


def _print_imports(rounds: int) -> None:
    write()
    for statement, each in importing.measured(rounds).items():
        write(f"{statement:42}{each['cpu_ms']:>8.1f} ms cpu{each['ms']:>8.1f} ms wall{each['modules']:>6} modules")


def _print_load(total: int) -> None:
    for flight in (200, 1000):
        found = load.measured(total, flight, 1)
        write(
            f"\n{total} emissions, {flight} in flight: a second, relative to httpx2, and milliseconds of cpu for each"
        )
        for name in load.CONTENDERS:
            speed, cpu = found[name]["per_second"], found[name]["cpu_ms"]
            write(f"  {name:24}{speed:>8.0f}{speed / found['httpx2']['per_second']:>8.2f}{cpu:>8.2f}")


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="calls of each contender (default: %(default)s)")
    parser.add_argument("--emissions", type=int, default=1000, help="emissions at once, 0 for none")
    parser.add_argument("--imports", type=int, default=5, help="rounds of imports, 0 for none")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    with ExitStack() as stack:
        found = cases(stack)
        _print_times(found, chosen.rounds)
        for case in found[: len(_FUNCTIONS)]:
            _print_profile(case, chosen.rounds)
    if chosen.imports:
        _print_imports(chosen.imports)
    if chosen.emissions:
        _print_load(chosen.emissions)


if __name__ == "__main__":
    main()
