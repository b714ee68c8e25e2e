"""The pages of the inbox: the lists of open and closed decisions, and the record of each one.

Pages work without scripts. A script of a few lines loads the parts marked ``data-live`` again when the ledger changes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlencode

from emitter.authority.rules import describe_stop
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, pending_of
from emitter.errors import StoreAltered, UnsignedAnswer
from emitter.models.envelope import MAX_ID_LENGTH
from emitter.outside_values import parse_int
from emitter.render.html_page import (
    SAME_ORIGIN_POLICY,
    Form,
    Markup,
    build_document,
    build_html_page,
    detail_section,
    element,
    time_element,
    untrusted_element,
)
from emitter.render.layout import build_layout
from emitter.render.outcomes import format_state
from emitter.render.safe_text import to_single_line
from emitter.web.answering import local_time
from emitter.web.pages import answer_elements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from emitter.authority import ApprovalState, Authority
    from emitter.authority.records import Intent, Receipt, Stop
    from emitter.decisions.ledger_details import DetailRequest
    from emitter.decisions.ledger_entries import Approval, Assignment
    from emitter.decisions.principals import Principal

_SCRIPT: Final = Markup(files("emitter.web").joinpath("live.js").read_text(encoding="utf-8"))
_SCRIPT_HASH: Final = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
INBOX_POLICY: Final = f"{SAME_ORIGIN_POLICY}; script-src 'sha256-{_SCRIPT_HASH}'; connect-src 'self'"
"""The Content-Security-Policy of the inbox: one script, known by its hash, and connections to the own origin."""
ASSIGNEE_FIELD: Final = "assignee"
"""The form field that names who should answer."""
PAGE_SIZE: Final = 50
_MAX_SCANNED: Final = 500
"""Maximum number of closed decisions that are read for one page. If a filter matches few, the page links to more."""
KINDS: Final[Mapping[str, str]] = {"approval": "Approval", "question": "Question"}
"""The kinds of decisions: an approval has an option that does something."""


def kind_of(pending: PendingDecision) -> str:
    """Return the kind of a decision."""
    return "approval" if any(pending.actions) else "question"


@dataclass(frozen=True, slots=True)
class Frame:
    """The parts that all pages of a principal share: the inbox's mount path, the navigation and the script."""

    prefix: str
    principal: Principal
    sequence: int

    def path_of(self, pending: PendingDecision) -> str:
        """Return the path of a decision."""
        return f"{self.prefix}/decisions/{pending.reference}"

    def navigation(self, current: str = "") -> tuple[Markup, ...]:
        """Return the links to the lists, and who is signed in."""
        pages = {"Open": f"{self.prefix}/", "Closed": f"{self.prefix}/closed"}
        links = (
            element("a", name, href=path, aria_current="page" if name == current else "")
            for name, path in pages.items()
        )
        name = to_single_line(self.principal.name or self.principal.id)
        who = element("span", "Signed in as ", untrusted_element("strong", name))
        return (element("nav", *links, who, aria_label="Inbox", class_="inbox"),)

    def script(self) -> Markup:
        """Return the script that follows changes."""
        events = f"{self.prefix}/events?{urlencode({'after': self.sequence})}"
        return element("script", _SCRIPT, data_events=events)


Row: TypeAlias = PendingDecision | ResolvedDecision | str
"""A decision in a list, or the reference of one whose record cannot be read."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list.

    Attributes:
        title: Its name in the navigation.
        count: A sentence about how many decisions there are.
        rows: The decisions.
        states: What closed decisions have come to, by their references.
        agents: The agents to choose from, in the list of open decisions.
        chosen: The filter's values: agent, kind and assigned.
        pages: Links to other pages, by their names.
    """

    title: str
    count: str
    rows: Sequence[Row]
    agents: Sequence[str]
    chosen: Mapping[str, str]
    pages: Mapping[str, str]
    states: Mapping[str, ApprovalState] = field(default_factory=dict[str, "ApprovalState"])


class Catalog:
    """The decisions of an authority's ledger in the order in which people read them."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority
        self._ledger = authority.ledger
        self._open: dict[tuple[str, int], PendingDecision] = {}

    def open_page(
        self, query: Mapping[str, str], may_see: Callable[[PendingDecision], bool], principal: Principal
    ) -> Listing:
        """Return a page of open decisions: those with a deadline first, by deadline, and then the newest."""
        visible = tuple(pending for pending in self._load_open() if may_see(pending))
        chosen = {name: query[name] for name in ("agent", "kind", "assigned") if query.get(name)}
        assignees = {"me": principal.id, "nobody": ""}
        assignee = assignees.get(chosen.get("assigned", ""))
        rows = [pending for pending in visible if _is_chosen(pending, chosen) and assignee in (None, pending.assignee)]
        last = max(1, math.ceil(len(rows) / PAGE_SIZE))
        number = min(parse_int(query.get("page")) or 1, last)
        first = (number - 1) * PAGE_SIZE
        page_rows = rows[first : first + PAGE_SIZE]
        neighbours = {"Previous": number - 1, "Next": number + 1}
        pages = {
            name: f"?{urlencode({**chosen, 'page': page})}" for name, page in neighbours.items() if 1 <= page <= last
        }
        agents = sorted({pending.agent for pending in visible})
        return Listing("Open", _count_open(len(rows), first, len(page_rows)), page_rows, agents, chosen, pages)

    def closed_page(self, query: Mapping[str, str], may_see: Callable[[PendingDecision], bool]) -> Listing:
        """Return a page of closed decisions, latest first."""
        chosen = {name: query[name] for name in ("agent", "kind") if query.get(name)}
        references = self._ledger.closed_references()
        before = query.get("before", "")
        start = references.index(before) + 1 if before in references else 0
        scanned, rows = start, list[Row]()
        for decision in self._load(references[start : start + _MAX_SCANNED]):
            scanned += 1
            pending = None if isinstance(decision, str) else pending_of(decision)
            if pending is None or (_is_chosen(pending, chosen) and may_see(pending)):
                rows.append(decision)
            if len(rows) == PAGE_SIZE:
                break
        is_more = 0 < scanned < len(references)
        pages = {"Earlier": f"?{urlencode({**chosen, 'before': references[scanned - 1]})}"} if is_more else {}
        decisions = (*self._load_open(), *(pending_of(row) for row in rows if not isinstance(row, str)))
        agents = sorted({each.agent for each in decisions if may_see(each)})
        count = f"{len(rows):,} closed decisions are shown, the latest first."
        decided = (row for row in rows if not isinstance(row, str))
        states = {pending_of(row).reference: self._authority.find_state(row) for row in decided}
        return Listing("Closed", count, rows, agents, chosen, pages, states)

    def _load_open(self) -> list[PendingDecision]:
        """Return the open decisions. Only decisions that are new or were reassigned are read from the store."""
        known, opened = self._open, dict[tuple[str, int], PendingDecision]()
        assigned = self._ledger.assignment_counts()
        for reference in self._ledger.open_references():
            version = reference, assigned.get(reference, 0)
            decision = known.get(version) or next(self._load((reference,)))
            if isinstance(decision, PendingDecision):  # otherwise it was altered, or answered just now
                opened[version] = decision
        self._open = opened
        return sorted(opened.values(), key=_urgency)

    def _load(self, references: tuple[str, ...]) -> Iterator[Row]:
        for reference in references:
            try:
                yield self._ledger.find_by_reference(reference)
            except (StoreAltered, UnsignedAnswer):
                yield reference


def _urgency(pending: PendingDecision) -> tuple[float, float]:
    return math.inf if pending.expires_at is None else pending.expires_at, -pending.opened_at


def _is_chosen(pending: PendingDecision, chosen: Mapping[str, str]) -> bool:
    kind = chosen.get("kind", "")
    return chosen.get("agent", pending.agent) == pending.agent and (kind not in KINDS or kind_of(pending) == kind)


def _count_open(count: int, first: int, on_page: int) -> str:
    if not count:
        return "No decision waits for an answer."
    noun = "decision waits" if count == 1 else "decisions wait"
    return f"{count:,} {noun} for an answer. Numbers {first + 1:,} to {first + on_page:,} are shown."


def list_page(frame: Frame, listing: Listing) -> str:
    """Return a page of the list of open or closed decisions."""
    rows = element("ul", *(_row(frame, row, listing.states) for row in listing.rows), class_="inbox")
    links = (element("a", name, href=path, id=f"page-{name.lower()}") for name, path in listing.pages.items())
    pager = (element("nav", *links, aria_label="Pages", class_="inbox"),) if listing.pages else ()
    return build_document(
        f"{listing.title} decisions",
        *frame.navigation(listing.title),
        element("h1", f"{listing.title} decisions"),
        _filter_form(listing),
        element("p", listing.count, id="count", role="status", data_live=True, class_="how"),
        element("div", rows, *pager, id="decisions", data_live=True),
        frame.script(),
        security=INBOX_POLICY,
    )


def _filter_form(listing: Listing) -> Markup:
    agents = {agent: to_single_line(agent) for agent in listing.agents}
    kinds = {kind: f"{name}s" for kind, name in KINDS.items()}
    values = {"": "Anybody", "me": "Me", "nobody": "Nobody"}
    assignees = _select("assigned", "Assigned to", values, listing.chosen.get("assigned", ""))
    return element(
        "form",
        _select("agent", "Agent", {"": "All agents", **agents}, listing.chosen.get("agent", "")),
        _select("kind", "Kind", {"": "All kinds", **kinds}, listing.chosen.get("kind", "")),
        *((assignees,) if listing.title == "Open" else ()),
        element("button", "Show", type="submit", class_="quiet"),
        method="get",
        class_="filter",
    )


def _select(name: str, label: str, values: Mapping[str, str], chosen: str) -> Markup:
    options = (
        Markup(f'<option value="">{text}</option>')
        if not value
        else element("option", text, value=value, selected=value == chosen)
        for value, text in values.items()
    )
    return element("label", label, " ", element("select", *options, name=name))


def _row(frame: Frame, decision: Row, states: Mapping[str, ApprovalState]) -> Markup:
    if isinstance(decision, str):
        return element("li", element("p", f"The record {decision} cannot be read.", class_="caution"))
    pending = pending_of(decision)
    link = untrusted_element(
        "a", to_single_line(pending.moment.question.stem), href=frame.path_of(pending), id=f"d-{pending.reference}"
    )
    facts = element("p", *_joined(_facts(decision, states.get(pending.reference))), class_="how")
    texts = (to_single_line(pending.moment.synopsis), *_call_gist(pending))
    return element("li", element("p", link, class_="label"), *(untrusted_element("p", text) for text in texts), facts)


_MAX_GIST_LENGTH: Final = 120


def _call_gist(pending: PendingDecision) -> tuple[str, ...]:
    """Return the beginning of a guarded call's first argument, since the calls of one tool look alike otherwise."""
    if not pending.subject:
        return ()
    line = to_single_line(pending.moment.findings[0])
    return (f"{line[: _MAX_GIST_LENGTH - 1]}\u2026" if len(line) > _MAX_GIST_LENGTH else line,)


def _facts(decision: PendingDecision | ResolvedDecision, state: ApprovalState | None = None) -> Iterator[Markup]:
    """Yield what a list says about a decision. ``state`` is what a closed one has come to."""
    pending = pending_of(decision)
    yield untrusted_element("span", to_single_line(pending.agent))
    yield element("span", KINDS[kind_of(pending)])
    if pending.moment.meta is not None and pending.moment.meta.decision_class:
        yield untrusted_element("span", to_single_line(pending.moment.meta.decision_class))
    yield element("span", "asked ", _time(pending.opened_at))
    if state is not None:
        yield element("strong", state.label)
    if isinstance(decision, ResolvedDecision):
        yield element("span", *_answered(decision))
    elif pending.expires_at is not None and not pending.expiry_recorded:
        yield element("span", "open until ", _time(pending.expires_at))
    if pending.four_eyes:
        yield element("span", "needs two people")
    if pending.assignee:
        yield element("span", "assigned to ", untrusted_element("strong", to_single_line(pending.assignee)))


def _answered(decision: ResolvedDecision) -> Iterator[str]:
    yield "answered "
    if decision.principal:
        yield "by "
        yield untrusted_element("strong", to_single_line(decision.principal))
        yield " "
    yield _time(decision.resolved_at)


def _joined(parts: Iterable[Markup]) -> Iterator[str]:
    for number, part in enumerate(parts):
        if number:
            yield " · "
        yield part


def _time(seconds: float) -> Markup:
    time = local_time(seconds)
    return element("span", "at an unknown time") if time is None else time_element(time)


def status_elements(
    frame: Frame, pending: PendingDecision, approvals: Sequence[Approval], stop: Stop | None
) -> tuple[Markup, ...]:
    """Return the state of an open decision, which changes while the page is open."""
    stopped = () if stop is None else (untrusted_element("p", describe_stop(stop), class_="caution"),)
    facts = element("p", *_joined(_facts(pending)), class_="how")
    status = element("p", format_state(pending, approvals), id="status", role="status", data_live=True, class_="status")
    return facts, *stopped, status, frame.script()


def assignment_form(path: str, hidden_fields: Mapping[str, str]) -> Markup:
    """Return the form that assigns the decision at a path to somebody else."""
    label = element("label", "Who should answer? ", element("input", name=ASSIGNEE_FIELD, maxlength=str(MAX_ID_LENGTH)))
    hidden = (element("input", type="hidden", name=name, value=value) for name, value in hidden_fields.items())
    button = element("button", "Assign", type="submit", class_="quiet")
    form = element("form", *hidden, label, button, method="post", action=f"{path}/assignee", class_="filter")
    hint = element("p", "Leave the name empty to let anybody answer.", class_="how")
    return element("details", element("summary", "Assign to somebody else"), form, hint)


def reading_page(frame: Frame, pending: PendingDecision, approvals: Sequence[Approval], stop: Stop | None) -> str:
    """Return the page of an open decision for a principal who may not answer it."""
    header = (*frame.navigation(), *status_elements(frame, pending, approvals, stop))
    hint = "You may read this decision; others answer it."
    return build_html_page(build_layout(pending.moment), hint, header=header, security=INBOX_POLICY)


@dataclass(frozen=True, slots=True)
class Record:
    """The record of a closed decision: what it has come to, the acts, the detail requests and the assignments."""

    decision: PendingDecision | ResolvedDecision
    state: ApprovalState
    actions: Sequence[tuple[Intent, Receipt | None]]
    details: Sequence[DetailRequest]
    assignments: Sequence[Assignment] = ()


def record_page(frame: Frame, record: Record) -> str:
    """Return the record of a closed decision, above the decision as it was put."""
    decision = record.decision
    pending = pending_of(decision)
    details = tuple(detail_section(Form("", details=record.details)))
    entries = [element("li", *_assignment(each)) for each in record.assignments]
    assignments = (element("ul", *entries),) if entries else ()
    header = (
        *frame.navigation(),
        element("p", *_joined(_facts(decision, record.state)), class_="how"),
        element(
            "p", format_state(decision), id="status", role="status", data_live=True, data_closed=True, class_="status"
        ),
        element("section", *_answer_section(decision), *assignments, aria_labelledby="answer"),
        element("section", *_actions_section(record), aria_labelledby="actions"),
        *((element("section", *details, class_="details", aria_labelledby="detail"),) if details else ()),
        frame.script(),
    )
    return build_html_page(
        build_layout(pending.moment), "This decision is closed.", header=header, security=INBOX_POLICY
    )


def _answer_section(decision: PendingDecision | ResolvedDecision) -> Iterator[Markup]:
    yield element("h2", "The answer", id="answer")
    if not isinstance(decision, ResolvedDecision):
        yield element("p", "None.")
        return
    yield from answer_elements(decision, is_yours=False)
    if decision.first_approval is not None:
        first = decision.first_approval
        name = untrusted_element("strong", to_single_line(first.principal))
        yield element("p", "Approved first by ", name, " ", _time(first.approved_at), ".")
    channel = (", through ", untrusted_element("span", to_single_line(decision.channel))) if decision.channel else ()
    signed = "It is signed." if decision.signature else "It is not signed."
    yield element("p", "It was ", *_answered(decision), *channel, ". ", signed, class_="how")


def _assignment(assignment: Assignment) -> Iterator[str]:
    yield untrusted_element("strong", to_single_line(assignment.principal))
    yield " assigned it to "
    yield untrusted_element("strong", to_single_line(assignment.assignee)) if assignment.assignee else "nobody"
    yield " "
    yield _time(assignment.assigned_at)
    yield "."


def _actions_section(record: Record) -> Iterator[Markup]:
    yield element("h2", "What was done", id="actions")
    yield element("p", record.state.deed)
    if record.actions:
        yield element("ul", *(element("li", *_action(*action)) for action in record.actions))


def _action(intent: Intent, receipt: Receipt | None) -> Iterator[Markup]:
    what = untrusted_element("strong", to_single_line(f"{intent.action} ({intent.target})"))
    if receipt is None:
        yield element("p", what, f" began at {intent.timestamp}, and has no receipt.")
        return
    yield element("p", what, f": {receipt.result.value} at {receipt.timestamp}.")
    effects = {"side effects": receipt.side_effects, "evidence": receipt.evidence_refs, "error": receipt.error}
    for name, value in effects.items():
        if value:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield element("p", f"{name.capitalize()}: ", untrusted_element("code", to_single_line(text)))
    yield element("p", "Receipt ", element("code", to_single_line(receipt.receipt_id)), class_="how")
