"""Measure compiling: ``python -m benchmarks.compiling``.

The same schema goes to ``compile_schema`` for each vendor, to openai's helper (``_ensure_strict_json_schema``, the part
of ``to_strict_json_schema`` that works on a schema) and to anthropic's ``transform_schema``. Each call gets a copy of
its own, made before the clock starts; ours also gets a title of its own, so that nothing comes from its cache.
Figures are milliseconds of processor time, the median of rounds in which all take turns, with the garbage collector
off; a ratio above 1 means that ours is slower. The helpers do less than ours: they build no validator, and no way back.

The last table compares the whole way from a pydantic model, ``to_strict_json_schema`` beside ``compile_schema``.
"""

from __future__ import annotations

import argparse
import json
import sys
from copy import deepcopy
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from pydantic import create_model

from benchmarks.page import NONE, markdown, note, number, peer, released, say
from benchmarks.sizes import SHAPES, flat
from benchmarks.timing import Contestant, calls, loops
from emitter.errors import Uncompilable
from emitter.schema import compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VENDORS = ("openai", "anthropic", "google")
TARGET_SIZE, TARGET = 1_000, 10.0
"""Properties, and the milliseconds that compiling them may take."""
SMALL, LARGE = 500, 5_000
"""The sizes between which growth is reported."""
MILLI, MICRO = 1e3, 1e6

_titles = count()


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    return {**deepcopy(schema), "title": f"Run {next(_titles)}"}


def _ours(vendor: str, schema: Any) -> object:
    """Compile; a vendor's limits may be too small for the schema, and saying so is the result then."""
    try:
        return compile_schema(schema, vendor)
    except Uncompilable as error:
        return error


def helpers() -> dict[str, Callable[[Any], object]]:
    """Return the peers' functions of a schema that are installed."""
    found: dict[str, Callable[[Any], object]] = {}
    openai, anthropic = peer("openai.lib._pydantic", "openai"), peer("anthropic", "anthropic")
    if openai:
        found[released("openai")] = lambda schema: openai._ensure_strict_json_schema(schema, path=(), root=schema)  # noqa: SLF001  the fair part of its helper
    if anthropic:
        found[released("anthropic")] = anthropic.transform_schema
    return found


def measured(schema: dict[str, Any], rounds: int) -> dict[str, float]:
    """Return the seconds that each takes for one schema."""
    prepare = partial(_untitled, schema)
    contestants = {f"emitter, {each}": Contestant(partial(_ours, each), prepare) for each in VENDORS}
    return calls(contestants | {name: Contestant(each, prepare) for name, each in helpers().items()}, rounds)


def schemas(sizes: Sequence[int], rounds: int) -> dict[str, dict[int, dict[str, float]]]:
    """Return the seconds by shape, size and contestant."""
    return {
        name: {size: measured(shape(size), rounds) for size in sorted({*sizes, SMALL, LARGE})}
        for name, shape in SHAPES.items()
    }


def models(sizes: Sequence[int], rounds: int) -> dict[int, dict[str, float]]:
    """Return the seconds that the way from a pydantic model takes, where the compiler takes models."""
    helper = peer("openai.lib._pydantic", "openai")
    found: dict[int, dict[str, float]] = {}
    for size in sizes:
        fields: Any = {f"p{index}": ((str, int, list[str], bool, float)[index % 5], ...) for index in range(size)}
        model = create_model("Model", **fields)
        contestants = {f"emitter, {each}": Contestant(partial(_ours, each), partial(_again, model)) for each in VENDORS}
        if helper:
            contestants[released("openai")] = Contestant(helper.to_strict_json_schema, partial(_again, model))
        found[size] = calls(contestants, rounds)
    return found


def _again(model: type[Any]) -> type[Any]:
    """Return a class that no cache has seen, nor its schema: the name is the schema's title."""
    return type(f"Model{next(_titles)}", (model,), {"__module__": __name__})


def cached(size: int, rounds: int) -> dict[str, float]:
    """Return the seconds of compiling a schema for the second time."""
    schema = flat(size)
    return loops({each: partial(compile_schema, schema, each) for each in VENDORS}, rounds)


def _took_models() -> bool:
    model: Any = create_model("Model", p=(str, ...))
    try:
        compile_schema(model, VENDORS[0])
    except Exception:  # noqa: BLE001  a compiler that takes none says so in any way
        return False
    return True


def _page(result: dict[str, Any]) -> None:
    for name, by_size in result["schemas"].items():
        say(f"\nms to compile, {name}:\n")
        _table(by_size)
        growth = {who: by_size[LARGE][who] / by_size[SMALL][who] for who in by_size[LARGE]}
        reported = ", ".join(f"{who} {value:.1f}" for who, value in growth.items())
        say(f"\nGrowth from {SMALL:,} to {LARGE:,} properties ({LARGE / SMALL:g} is linear): {reported}.")
    if result["models"]:
        say("\nms from a pydantic model:\n")
        _table(result["models"])
    reported = ", ".join(f"{name} {number(spent * MICRO)} µs" for name, spent in result["cached"].items())
    say(f"\nCompiled before, {TARGET_SIZE:,} properties: {reported}.")
    _verdict(result["schemas"])


def _table(by_size: dict[int, dict[str, float]]) -> None:
    names = list(next(iter(by_size.values())))
    peers = [each for each in names if not each.startswith("emitter")]
    head = ("properties", *names, *(f"openai's / {each}" for each in peers))
    rows = []
    for size, times in by_size.items():
        ratios = [number(times[f"emitter, {VENDORS[0]}"] / times[each], 2) if times[each] else NONE for each in peers]
        rows.append((f"{size:,}", *(number(times[each] * MILLI, 2) for each in names), *ratios))
    for line in markdown(tuple(each.replace("openai's /", "emitter, openai /") for each in head), rows):
        say(line)


def _verdict(by_shape: dict[str, Any]) -> None:
    say()
    for name, by_size in by_shape.items():
        times = by_size.get(TARGET_SIZE, {})
        for who in (each for each in times if each.startswith("emitter")):
            spent = times[who] * MILLI
            word = "within" if spent <= TARGET else "beyond"
            say(f"{who}, {name}, {TARGET_SIZE:,} properties: {spent:.1f} ms, {word} the target of {TARGET:g} ms.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiling", description=__doc__)
    add = parser.add_argument
    add("--sizes", metavar="N", type=int, nargs="+", default=[10, 100, 1_000, 5_000], help="numbers of properties")
    add("--rounds", metavar="N", type=int, default=7, help="rounds of which the median counts (default: %(default)s)")
    add("--json", action="store_true", help="write JSON, in seconds, instead of tables")
    options = parser.parse_args(arguments)
    if min(*options.sizes, options.rounds, 10**9) < 1:
        parser.error("--sizes and --rounds must be more than 0")
    from_models = (
        models([each for each in options.sizes if each <= TARGET_SIZE], options.rounds) if _took_models() else {}
    )
    if not from_models:
        note("left out: models, because the compiler does not take them yet")
    result = {
        "schemas": schemas(options.sizes, options.rounds),
        "models": from_models,
        "cached": cached(TARGET_SIZE, options.rounds),
    }
    if options.json:
        say(json.dumps(result, indent=1))
    else:
        _page(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
