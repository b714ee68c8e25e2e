"""Whether small arrays are worth a slot for each item, on vendors that take no ``maxItems``.

``python -m benchmarks.slots`` compiles the binding moment's form twice for each such vendor: with its options
as an array, whose bound is only reported, and as a tuple of two to four, whose slots make the bound structural.
It prints the size on the wire, what is counted against the vendor's limits, and how many documents drawn by
a constrained decoder (which knows nothing of what the model was told) have more options than allowed.
"""

from __future__ import annotations

import copy
import json
import sys
from random import Random
from typing import Any

from emitter import profiles as profile
from emitter.models import binding_moment
from emitter.schema import Compiled, compile_schema
from emitter.schema.size_limits import measure_schema
from emitter.testing.constrained_decoding import Sampler, parse_document

DRAWN = 200
_COUNTED = ("properties", "optional", "unions", "depth")


def main() -> int:
    """Measure and print."""
    sys.stdout.write("| vendor | options as | bytes | " + " | ".join(_COUNTED) + " | too many or too few of |\n")
    sys.stdout.write("|---|---|--:|" + "--:|" * (len(_COUNTED) + 1) + "\n")
    for name in ("anthropic", "azure-openai", "openai-compatible"):
        for reported, schema in (("array", binding_moment.TURN_SCHEMA), ("slots", _as_slots())):
            compiled = compile_schema(schema, name)
            counts = measure_schema(dict(compiled.schema), profile.load_profile(name).subset.limits).counts
            size = len(json.dumps(compiled.schema))
            cells = " | ".join(str(counts[each]) for each in _COUNTED)
            wrong, moments = _wrong(compiled)
            sys.stdout.write(f"| {name} | {reported} | {size:,} | {cells} | {wrong} of {moments} |\n")
    return 0


def _as_slots() -> dict[str, Any]:
    """Return the form with its options as a tuple, the last two of which may be missing."""
    schema: dict[str, Any] = copy.deepcopy(dict(binding_moment.TURN_SCHEMA))
    question = schema["properties"]["turn"]["anyOf"][0]["properties"]["question"]
    options = question["properties"]["options"]
    least, most = options["minItems"], options["maxItems"]
    question["properties"]["options"] = {
        "type": "array",
        "prefixItems": [options["items"]] * most,
        "items": False,
        "minItems": least,
    }
    return schema


def _wrong(compiled: Compiled) -> tuple[int, int]:
    """Return how many drawn binding moments have a number of options that the form forbids, and how many there were."""
    sampler = Sampler(compiled.schema, ())
    wrong = moments = 0
    for seed in range(DRAWN):
        drawn = sampler.draw(Random(seed))  # noqa: S311  chance that can be repeated
        document = None if drawn is None else compiled.decode(parse_document(drawn))
        if document is None or "question" not in document["turn"]:
            continue
        moments += 1
        wrong += any(found.rule in {"minItems", "maxItems"} for found in compiled.validate(document))
    return wrong, moments


if __name__ == "__main__":
    sys.exit(main())
