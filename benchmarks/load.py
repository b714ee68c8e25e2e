"""Thousands of emissions with a bounded number in flight, beside ``httpx2`` alone on the same server."""

from __future__ import annotations

from typing import Any

import httpx2

from benchmarks.canned import Canned
from benchmarks.libraries import Library, Runner
from benchmarks.runners.task import BUDGET, MODELS, PROMPT, WHOLE, Moment
from emitter import Policy, emit
from emitter.testing import Text, simulator

LATENCY = 0.02
"""Seconds that the server takes for each answer."""
CONTENDERS = ("httpx2", "aemit", "aemit_many")
_LIBRARY = Library("load", "load_runner", CONTENDERS[0], ("llm-emitter", "httpx2"))


def measured(total: int, flight: int, rounds: int) -> dict[str, Any]:
    """Return what each contender makes of ``total`` requests with ``flight`` under way: the fastest of some rounds.

    Each round has a process of its own, so that memory starts from nothing; they take turns.
    """
    body, answer = _exchange()
    best: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for name in CONTENDERS:
            reported = _round(name, answer, {"total": total, "flight": flight, "body": body})
            if name not in best or reported["per_second"] > best[name]["per_second"]:
                best[name] = reported
    ratio = best["aemit_many"]["per_second"] / best["httpx2"]["per_second"]
    return {"total": total, "in_flight": flight, "ratio": round(ratio, 3), **best}


def _round(name: str, answer: bytes, job: dict[str, Any]) -> dict[str, Any]:
    with Canned(answer, LATENCY) as server, Runner(_LIBRARY) as runner:
        reply = runner.ask("once", 1200, contender=name, url=server.url, **job)
        if "raised" in reply:
            raise RuntimeError(reply["raised"])
        reported, served = reply["value"], server.served
    return {
        "per_second": round(reported["answered"] / reported["seconds"], 1),
        "cpu_ms": round(reported["cpu"] / reported["answered"] * 1e3, 3),
        "right": reported["right"],
        "served": served,
        "memory_mb": reported["memory"],
    }


def _exchange() -> tuple[dict[str, Any], bytes]:
    """Return the body that this library sends, and the vendor's answer to it."""
    model = f"openai/{MODELS['openai-responses']}"
    with simulator(answers=Text(WHOLE)) as vendor:
        emit(Moment, PROMPT, model=model, client=vendor.client(model), policy=Policy(output_tokens=BUDGET))
        body: Any = vendor.calls[-1].body
        return body, httpx2.post(f"{vendor.url}/v1/responses", json=body).content
