"""A load on one inbox: ``python -m tests.web.load``, or ``make inbox-load``. Prints what it counted.

Agents in a few processes guard a tool that inserts a row, principals in others answer in inboxes that further processes
serve, all over one PostgreSQL server; any of them is killed at random and started again. At the end every decision is
resolved once, every act has one row and one receipt, and every answer that an inbox confirmed is in the ledger.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import random
import re
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import psycopg

from emitter.authority import Authority, Effects, Result
from emitter.authority.chain import verify_chain
from emitter.authority.signing import load_key, make_signer, make_verifier, new_key, save_key
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import ApprovalPending, NotApproved, StoreFailed, Unfinished
from emitter.stores import SqlStore
from emitter.web import Address, Principal, inbox
from emitter.web.server import create_uvicorn_server, listen
from tests.stores.postgres import running
from tests.web.running import FORM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TABLES = "CREATE TABLE outbox (call text); CREATE TABLE taken (call text); CREATE TABLE settled (call text)"
WINDOW = 10
"""How many calls of an agent wait at once."""
RUN = "emitter.ledger"


@dataclass(frozen=True)
class Plan:
    """What is run, and where."""

    address: str
    folder: Path
    agents: int
    principals: int
    decisions: int
    ports: tuple[int, ...]
    workers: int = 2

    @property
    def calls(self) -> int:
        """How many calls each agent makes."""
        return self.decisions // self.agents

    def is_over(self, what: str) -> bool:
        """Return whether there is a file that says so."""
        return (self.folder / what).exists()

    def ledger(self, store: SqlStore, *, signs: bool = False) -> Ledger:
        """Return a ledger that takes signed answers only; the inbox alone has the key."""
        key = load_key(self.folder / "inbox.jwk")
        return Ledger(store, sign=make_signer(key) if signs else None, check=make_verifier(key).verify_answer)

    def authority(self, ledger: Ledger, actor: str) -> Authority:
        """Return an authority over a ledger."""
        key = load_key(self.folder / "inbox.jwk").as_dict(private=False)
        return Authority(ledger.store, actor=actor, ledger=ledger, principals=[key])


def work(plan: Plan, worker: int) -> None:
    """Run every so manieth agent until all their calls are settled."""
    agents = range(worker, plan.agents, plan.workers)
    with SqlStore(plan.address, timeout=60) as store, psycopg.connect(plan.address, autocommit=True) as rows:
        ledger = plan.ledger(store)  # with one index of the log for all of them
        loads = [_Agent(plan, number, plan.authority(ledger, f"agent-{number}"), rows) for number in agents]
        while any(load.is_busy for load in loads):
            for load in loads:
                load.go_on()
            time.sleep(0.05)


class _Agent:
    """One agent: it makes its calls again and again until each is made, or refused. Its queue is a table."""

    def __init__(self, plan: Plan, number: int, authority: Authority, rows: psycopg.Connection) -> None:
        self.plan, self.authority, self.rows, self.workflow = plan, authority, rows, f"agent-{number}"
        own = [f"{number}-{each}" for each in range(plan.calls)]
        taken = {call for (call,) in rows.execute("SELECT call FROM taken").fetchall()}
        settled = {call for (call,) in rows.execute("SELECT call FROM settled").fetchall()}
        self.queue = [call for call in reversed(own) if call not in taken]
        self.open_calls = {call: "" for call in own if call in taken - settled}
        self.plain = authority.guard(self.send, workflow_id=self.workflow, account=self.workflow, ttl_seconds=86_400)
        self.double = authority.guard(
            self.send, workflow_id=self.workflow, account=self.workflow, ttl_seconds=86_400, four_eyes=True
        )

    def send(self, call: str) -> str:
        """Insert a row."""
        self.rows.execute("INSERT INTO outbox VALUES (%s)", (call,))
        return call

    @property
    def is_busy(self) -> bool:
        """Whether a call waits, or is still to be made."""
        return bool(self.open_calls or (self.queue and not self.plan.is_over("enough")))

    def go_on(self) -> None:
        """Make as many new calls as may wait at once, and each whose decision is closed by now."""
        while self.queue and len(self.open_calls) < WINDOW and not self.plan.is_over("enough"):
            self.rows.execute("INSERT INTO taken VALUES (%s)", (call := self.queue.pop(),))
            self.open_calls[call] = ""
        closed = set(self.authority.ledger.closed_references())
        for call, reference in tuple(self.open_calls.items()):
            if not reference or reference in closed:
                self.make(call)

    def make(self, call: str) -> None:
        """Make a call; settle one that a killed process left behind by what is in the table."""
        guard = self.double if call.endswith("7") else self.plain
        try:
            guard.call(call, call)
        except ApprovalPending as waiting:
            decision = self.authority.ledger.find(waiting.decision_id)
            self.open_calls[call] = decision.reference if isinstance(decision, PendingDecision) else ""
            return
        except Unfinished:
            found = self.rows.execute("SELECT count(*) FROM outbox WHERE call = %s", (call,)).fetchone()
            result = Result.SUCCESS if found is not None and found[0] else Result.FAILURE
            self.authority.resolve_unfinished(self.workflow, call, Effects(result))
        except NotApproved:
            pass
        self.rows.execute("INSERT INTO settled VALUES (%s)", (call,))
        del self.open_calls[call]


def serve(plan: Plan, number: int) -> None:
    """Serve the inbox on a port."""
    with SqlStore(plan.address, timeout=60) as store, closing(listen(Address(port=plan.ports[number]))) as listener:
        app = inbox(plan.ledger(store, signs=True), authenticate=_authenticate)
        asyncio.run(create_uvicorn_server(app).serve(sockets=[listener]))


def _authenticate(request: Any) -> Principal | None:
    name = request.headers.get("x-user")
    return Principal(name) if name else None


def answer(plan: Plan, worker: int) -> None:
    """Let every so manieth principal answer what is open, until there is a file that says it is over."""
    people = range(worker, plan.principals, plan.workers)
    with ThreadPoolExecutor(len(people)) as pool, (plan.folder / f"confirmed-{worker}.jsonl").open("a") as journal:
        list(pool.map(lambda number: _Person(plan, f"p{number}", journal.fileno()).answer_all(), people))


class _Person:
    """One principal with a browser: reads the list, opens a decision, and sends its form."""

    def __init__(self, plan: Plan, name: str, journal: int) -> None:
        self.plan, self.name, self.journal = plan, name, journal
        self.draw = random.Random(f"{name}{os.getpid()}")  # noqa: S311  it only chooses what is answered

    def answer_all(self) -> None:
        """Answer until it is over, whatever happens to the servers."""
        while not self.plan.is_over("over"):
            with suppress(OSError, http.client.HTTPException):
                self.answer_one()

    def answer_one(self) -> None:
        """Answer one decision of a page of the list."""
        listed = self.ask("GET", f"/?page={self.draw.randint(1, 1 + self.plan.decisions // 100)}")[1]
        paths = re.findall(r'href="(/decisions/[0-9a-f]{64})"', listed)
        if not paths:
            time.sleep(0.5)
            return
        path = self.draw.choice(paths)
        page = self.ask("GET", path)[1]
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)"', page))
        if "token" in fields:
            choice = "option:1" if self.draw.random() < 0.2 else "option:0"
            status, _ = self.ask("POST", path, urlencode({**fields, "choice": choice}))
            line = json.dumps({"decision": path[-64:], "principal": self.name, "choice": choice, "status": status})
            os.write(self.journal, line.encode() + b"\n")

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        """Send a request to any of the servers, and return the status and the page."""
        port = self.draw.choice(self.plan.ports)
        headers = {"x-user": self.name, "origin": f"http://127.0.0.1:{port}", "content-type": FORM}
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read().decode()


@dataclass
class Crew:
    """The processes that run, what each does, and how many were killed."""

    plan: Plan
    jobs: dict[int, tuple[Callable[[Plan, int], None], int]] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)

    def start(self, job: Callable[[Plan, int], None], number: int) -> None:
        """Start a process."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                job(self.plan, number)
                status = 0
            except StoreFailed as error:  # it is started again
                sys.stderr.write(f"{job.__name__}: {error}\n")
            finally:
                os._exit(status)
        self.jobs[child] = (job, number)

    def reap(self) -> None:
        """Start again what ended before its time."""
        for child in tuple(self.jobs):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                job, number = self.jobs.pop(child)
                if status:
                    self.start(job, number)

    def kill(self, draw: random.Random) -> None:
        """Kill one of them."""
        child = draw.choice(tuple(self.jobs))
        self.killed[self.jobs[child][0].__name__] += 1
        os.kill(child, signal.SIGKILL)

    @property
    def works(self) -> bool:
        """Whether an agent still has something to do."""
        return any(job is work for job, _ in self.jobs.values())

    def end(self) -> None:
        """End the rest."""
        (self.plan.folder / "over").touch()
        for child in self.jobs:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def run(plan: Plan, draw: random.Random, seconds: float) -> Counter[str]:
    """Run the load until every call is settled, or every open one after so many seconds; return what was killed."""
    crew, end = Crew(plan), time.monotonic() + seconds
    try:
        for job in (serve, work, answer):
            for number in range(plan.workers):
                crew.start(job, number)
        killing = time.monotonic() + 5
        while crew.works:
            time.sleep(0.1)
            crew.reap()
            if time.monotonic() > end:
                (plan.folder / "enough").touch()
            if time.monotonic() > killing and crew.works:
                crew.kill(draw)
                killing = time.monotonic() + draw.uniform(2, 20)
    finally:
        crew.end()
    return crew.killed


def confirmed(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the answers that an inbox confirmed to somebody; the last line may be half written."""
    for file in plan.folder.glob("confirmed-*.jsonl"):
        for line in file.read_text().splitlines():
            with suppress(ValueError):
                yield json.loads(line)


def check(plan: Plan) -> dict[str, object]:
    """Compare the ledger, the chains, the table and what people were reported; raise where they differ."""
    with SqlStore(plan.address, timeout=60) as store, psycopg.connect(plan.address, autocommit=True) as rows:
        ledger = plan.ledger(store)
        authority = plan.authority(ledger, "reader")
        ends = Counter(str(each["causationId"]) for each in store.events(RUN) if as_end(each))
        decisions = {each: ledger.find_by_reference(each) for each in ledger.closed_references()}
        resolved = [each for each in decisions.values() if isinstance(each, ResolvedDecision)]
        approved = [each for each in resolved if each.action is not None]
        double = [each for each in approved if each.pending.four_eyes]
        sent = Counter(call for (call,) in rows.execute("SELECT call FROM outbox").fetchall())
        receipts = Counter(each.intent_ref for each in authority.receipts())
        succeeded = sum(each.result is Result.SUCCESS for each in authority.receipts())
        reported = [each for each in confirmed(plan) if each["status"] == 200]
        lost = [each for each in reported if not _stands(decisions.get(each["decision"]), each)]
        opened = sum(each["payload"]["message"] == "decision.opened" for each in store.events(RUN))
        lines = sum(1 for name in authority.workflows() for _ in verify_chain(authority.lines(name)))
        statuses = Counter(str(each["status"]) for each in confirmed(plan))
        facts = {
            "decisions opened": opened,
            "closed": len(decisions),
            "still open": len(ledger.pending()),
            "resolved more than once": sum(number > 1 for number in ends.values()),
            "approved": len(approved),
            "refused": len(resolved) - len(approved),
            "approved by two": len(double),
            "of them by one person twice": sum(
                each.first_approval is None or each.first_approval.principal == each.principal for each in double
            ),
            "rows": sum(sent.values()),
            "rows more than once": sum(number > 1 for number in sent.values()),
            "receipts": sum(receipts.values()),
            "receipts of success": succeeded,
            "acts without a receipt": len(authority.unfinished_actions()),
            "lines of chains verified": lines,
            "answers by status": dict(sorted(statuses.items())),
            "confirmed answers that were lost": len(lost),
        }
    assert facts["decisions opened"] == facts["closed"]
    assert facts["rows"] == facts["receipts of success"]
    assert (facts["approved"], sum(receipts.values())) == (len(receipts), len(receipts))
    zeros = [name for name in facts if "more than once" in name or "without" in name or "lost" in name]
    assert all(facts[name] == 0 for name in (*zeros, "still open", "of them by one person twice"))
    return facts


def as_end(event: Any) -> bool:
    """Return whether an event of the log ends a decision."""
    payload = event["payload"]
    return payload["message"] == "decision.resolved" or bool(payload["fields"].get("expired"))


def _stands(decision: PendingDecision | ResolvedDecision | None, reported: dict[str, Any]) -> bool:
    """Return whether the ledger has the answer that somebody was told it had."""
    return (
        isinstance(decision, ResolvedDecision)
        and decision.principal == reported["principal"]
        and f"option:{getattr(decision.resolution, 'index', None)}" == reported["choice"]
    )


def free_ports(number: int) -> tuple[int, ...]:
    """Return ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = tuple(each.getsockname()[1] for each in sockets)
    for each in sockets:
        each.close()
    return ports


def main() -> int:
    """Run the load, and print what was counted."""
    parser = argparse.ArgumentParser(prog="python -m tests.web.load", description=__doc__)
    for name, default in {"agents": 50, "principals": 20, "decisions": 5000, "seed": 1, "minutes": 600}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    started = time.monotonic()
    with running() as server, tempfile.TemporaryDirectory() as folder:
        plan = Plan(server.empty(), Path(folder), given.agents, given.principals, given.decisions, free_ports(2))
        save_key(new_key(), plan.folder / "inbox.jwk")
        with psycopg.connect(plan.address, autocommit=True) as rows:
            rows.execute(TABLES)
        killed = run(plan, random.Random(given.seed), 60 * given.minutes)  # noqa: S311  it only chooses what is killed
        facts = check(plan)
    facts["processes killed"] = dict(sorted(killed.items()))
    facts["seconds"] = round(time.monotonic() - started)
    for name, value in {"agents": given.agents, "principals": given.principals, **facts}.items():
        sys.stdout.write(f"{name}: {value}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
