"""A DBOS workflow that asks, waits for an answer from outside, and acts once.

    python examples/dbos_decision.py      # on a simulated vendor: no key, no network

A workflow that is killed and resumed pays for no emission again, and waits for the same decision. Needs ``dbos``.
"""

import asyncio
import os
import tempfile
from pathlib import Path

from dbos import DBOS, SetWorkflowID
from pydantic import BaseModel

from emitter.authority import Authority
from emitter.decisions import select_option
from emitter.integrations.dbos import act, aemit
from emitter.stores import SqliteStore
from emitter.testing import Text, simulator

FOLDER = Path(tempfile.mkdtemp())
AUTHORITY = Authority(STORE := SqliteStore(FOLDER / "store.db"), actor="bookkeeper")


class Invoice(BaseModel):  # noqa: D101
    vendor: str
    cents: int


def pay(to: str, cents: int) -> str:  # noqa: D103
    return f"paid {cents} cents to {to}"


@DBOS.workflow()
async def settle(text: str) -> str:
    """Read an invoice, and pay it if somebody approves."""
    emission = await aemit(Invoice, text, model="openai/gpt-6-sol", store=STORE)
    guarded = AUTHORITY.guard(pay, target=lambda call: call["to"], workflow_id="invoices")
    return str(await act(guarded, to=emission.value.vendor, cents=emission.value.cents, poll=0.1))


async def main() -> None:
    """Start the workflow, and answer as any other process could."""
    DBOS(config={"name": "invoices", "system_database_url": f"sqlite:///{FOLDER / 'dbos.db'}"})
    DBOS.launch()
    with SetWorkflowID("invoice-7"):
        handle = await DBOS.start_workflow_async(settle, "Acme, 12.50 euros.")
    while not (pending := await asyncio.to_thread(AUTHORITY.ledger.pending)):  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    AUTHORITY.ledger.resolve(pending[0].decision_id, select_option(pending[0].moment, 0))
    print("result:", await handle.get_result())
    print("receipts:", len(AUTHORITY.receipts()))
    DBOS.destroy()


if __name__ == "__main__":
    with simulator(answers=lambda _: Text({"vendor": "Acme", "cents": 1250})) as vendor:
        os.environ.update(vendor.environment())
        asyncio.run(main())
