"""200 jobs against a vendor with limits of a minute, in virtual time: with ``RateLimit`` and without.

``make limits`` prints what they came to.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter import Policy, RateLimit, aemit_many
from emitter.testing import RateLimited, Text
from tests.bulk.virtual import LATENCY, VirtualLoop, VirtualVendor, run_virtual
from tests.core.capability_gate.functions import DOCUMENT, SCHEMA, SITUATION

if TYPE_CHECKING:
    from emitter.bulk import RunProgress

JOBS = 200


@dataclass(frozen=True)
class Run:
    """What 200 jobs came to."""

    refused: int
    seconds: float
    failed: int
    tokens: int
    waiting: int


def run_jobs(vendor_limits: dict[str, int], limit: RateLimit | None, deadline: float | None = None) -> Run:
    """Run 200 jobs against a vendor with limits, in virtual time."""
    loop = VirtualLoop()
    vendor = VirtualVendor(RateLimited(**vendor_limits, answer=Text(DOCUMENT), clock=loop.time))
    most = 0

    def progress(seen: RunProgress) -> None:
        nonlocal most
        most = max(most, seen.waiting)

    async def main() -> Any:
        more: Any = {"client": vendor.client(), "clock": loop.clock(), "in_flight": 32, "progress": progress}
        policy = Policy(max_faults=16, max_retry_after=120, deadline=deadline)
        options: Any = {"model": "vllm/m", "rate_limit": limit, "policy": policy, **more}
        return await aemit_many(SCHEMA, [f"{SITUATION} {n}" for n in range(JOBS)], **options).results()

    results = run_virtual(loop, main())
    failed = sum(result.error is not None for result in results)
    return Run(vendor.refused, loop.now, failed, vendor.log.billed.total, most)


LIMITS: dict[str, dict[str, int]] = {
    "60 requests": {"requests": 60},
    "20,000 tokens": {"tokens": 20_000},
    "60 requests and 10,000 tokens": {"requests": 60, "tokens": 10_000},
}


def optimum(limits: dict[str, int], tokens: float) -> float:
    """Return the seconds that the limits allow at best, for calls of this many tokens."""
    by_tokens = limits["tokens"] // tokens if "tokens" in limits else JOBS
    per_minute = min(limits.get("requests", JOBS), by_tokens)
    return 60 * (math.ceil(JOBS / per_minute) - 1) + LATENCY


def report() -> str:
    """Return a table of all limits, as Markdown."""
    header = f"| limits of a minute | {JOBS} jobs | 429s | failed | time | least possible | longer by |"
    rows = [header, "|---" * 7 + "|"]
    for name, limits in LIMITS.items():
        limit = RateLimit(limits.get("requests"), limits.get("tokens"))
        for way, kept in (("with `RateLimit`", limit), ("without", None)):
            run = run_jobs(limits, kept)
            best = optimum(limits, run.tokens / JOBS)
            spent = f"{run.seconds:.1f} s | {best:.1f} s | {run.seconds / best - 1:.1%}"
            rows.append(f"| {name} | {way} | {run.refused} | {run.failed} | {spent} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.stdout.write(f"{report()}\n")
