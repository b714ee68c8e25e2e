"""How a tool is guarded: what its users set, and what is refused before anything is called."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, cast

from pydantic import ValidationError

from emitter.authority.guard.briefing import template
from emitter.authority.guard.tools import is_async, name_of, signature_of
from emitter.authority.proposal import VOCABULARY_MCP, Digested
from emitter.authority.proposal.proposal import LONGEST_INLINE
from emitter.authority.records import BoundCall, ConfirmRequest, RiskLevel, Scope
from emitter.authority.rules.limits import taken
from emitter.errors import InputError
from emitter.ledger import taking
from emitter.render.line import line
from emitter.sinks import new_id

if TYPE_CHECKING:
    from types import UnionType

    from emitter.authority.guard.briefing import Brief
    from emitter.authority.proposal import Display
    from emitter.authority.records.form import Amount
    from emitter.authority.writing import Effects
    from emitter.decide import Resolution, Unresolved
    from emitter.ledger import Pending, Resolved
    from emitter.wire import Json

Answer: TypeAlias = "Resolution | Unresolved | Resolved"
Ask: TypeAlias = Callable[["Pending"], "Answer | Awaitable[Answer]"]
"""Puts a decision to its principal, and returns what they answered."""


class Guarding(TypedDict, total=False):
    """How a tool is guarded.

    ``ask`` puts the decision to the principal and returns their answer; without it the call raises
    ``ApprovalPending``, and is made again once the decision is resolved. ``brief`` writes the envelope (a template of
    ours where absent; ``emitted(...)`` has a model write it).

    ``name`` is what the tool is called. ``target`` is what it acts on, or a function of its parameters that returns it
    (the tool's name where absent). ``capability`` is the kind of tool (its name where absent), ``step_id`` its step,
    ``workflow_id`` its workflow (one of its own for each guarded tool where absent). ``spends`` is a function of the
    parameters that returns how much the call takes of each limit: ``budget_usd`` is in dollars, an integer or a
    ``Decimal``. ``risk_level``,
    ``ttl_seconds`` and ``revocable`` are those of the confirm: high, 900 and True.

    ``digested`` are parameters that the proposal tells by their digest only: names, JSON pointers, or ``Digested``.
    ``exclude`` names parameters that are no content, such as a context: they are not approved, and must decide
    nothing. A text of more than ``longest`` characters (1,024), and a list or an object of sixteen times as many
    as JSON, is told by a digest and its beginning.
    ``vocabulary``, ``operation``, ``account`` and ``display`` are those of the proposal. A method that is guarded in
    its class needs ``account_of``, a function of its object that returns whose it is: the object is no argument, so
    nobody would have approved it.

    ``describe`` is a function of what the tool returned, to what its receipt tells of it. ``retain`` says whether what
    it returned is kept, to answer the same call again. ``expires_in`` is for how many seconds the question stands
    open, ``channel`` by which way ``ask`` gets its answers.
    """

    ask: Ask | None
    brief: Brief
    name: str
    target: str | Callable[[Mapping[str, Json]], str]
    capability: str
    step_id: str
    workflow_id: str
    spends: Callable[[Mapping[str, Json]], Mapping[str, Amount]]
    risk_level: RiskLevel | str
    ttl_seconds: int
    revocable: bool
    digested: Iterable[str | Digested]
    exclude: Iterable[str]
    vocabulary: str
    operation: Mapping[str, Json] | str
    account: str | None
    account_of: Callable[[Any], str]
    longest: int
    display: Callable[[Mapping[str, Json]], Display]
    describe: Callable[[Any], Effects]
    retain: bool
    expires_in: float | None
    channel: str


@dataclass(frozen=True, slots=True)
class How:
    """The same, with what is usual where nothing was said."""

    name: str
    workflow_id: str
    operation: Mapping[str, Json] | str
    vocabulary: str = VOCABULARY_MCP
    ask: Ask | None = None
    brief: Brief = template
    target: str | Callable[[Mapping[str, Json]], str] | None = None
    capability: str | None = None
    step_id: str | None = None
    spends: Callable[[Mapping[str, Json]], Mapping[str, Amount]] | None = None
    risk_level: RiskLevel | str = RiskLevel.HIGH
    ttl_seconds: int = 900
    revocable: bool = True
    digested: Iterable[str | Digested] = ()
    exclude: Iterable[str] = ()
    account: str | None = None
    account_of: Callable[[Any], str] | None = None
    longest: int = LONGEST_INLINE
    workflow_named: bool = False
    display: Callable[[Mapping[str, Json]], Display] | None = None
    describe: Callable[[Any], Effects] | None = None
    retain: bool = True
    expires_in: float | None = None
    channel: str = ""

    @classmethod
    def of(cls, tool: Callable[..., Any], given: Guarding) -> How:
        """Return how a tool is guarded; raises ``InputError`` for a setting that there is not, or that cannot be."""
        known = {each.name for each in fields(cls)} - {"workflow_named"}
        unknown = sorted(given.keys() - known)
        if unknown:
            raise InputError(f"guard() takes no {unknown[0]}=.", hint=f"It takes {', '.join(sorted(known))}.")
        name = given.get("name") or name_of(tool)
        usual = {"name": name, "operation": name, "workflow_id": f"{name}:{new_id()}"}
        listed = {
            "digested": _listed("digested", given, str | Digested),
            "exclude": frozenset(_listed("exclude", given)),
        }
        settings: dict[str, Any] = {**usual, **given, **listed, "workflow_named": "workflow_id" in given}
        how = cls(**settings)
        _check(how)
        _check_named(tool, how)
        return how

    def request(
        self, call: BoundCall, spends: Mapping[str, Amount], workflow_id: str, *, target: str
    ) -> ConfirmRequest:
        """Return the authority that a call needs: itself, once; raises ``InputError`` for what none can be made of."""
        try:
            return ConfirmRequest.of(
                scope=Scope.of(
                    workflow_id=workflow_id,
                    step_ids=None if self.step_id is None else (self.step_id,),
                    targets=(target,),
                    capabilities=(self.capability or self.name,),
                ),
                limits=taken(spends, is_pure=False),
                ttl_seconds=self.ttl_seconds,
                revocable=self.revocable,
                risk_level=self.risk_level,
                call=call,
            )
        except ValidationError as error:
            found = error.errors()[0]
            place = ".".join(str(each) for each in found["loc"])
            raise InputError(f"No authority can be asked for with this {place}: {found['msg']}.") from None

    def of_object(self, instance: object) -> How:
        """Return how a method of an object is guarded: its account is that object's."""
        if self.account_of is None:
            raise InputError(
                f"{self.name} is a method, and nothing tells whose: what is approved for one would run for another.",
                hint="Give account_of=, a function of the object that returns whose it is.",
            )
        account = cast("object", self.account_of(instance))
        if not isinstance(account, str) or not account:
            raise InputError("account_of= returned no text.", hint="It returns whose the object is.")
        return replace(self, account=account)

    def spent(self, parameters: Mapping[str, Json]) -> Mapping[str, Amount]:
        """Return how much a call takes of each limit."""
        spent = cast("object", {} if self.spends is None else self.spends(parameters))
        if not isinstance(spent, Mapping):
            raise InputError("spends= returned no amounts.", hint="It returns a dict of limits, {} for none.")
        return dict(cast("Mapping[str, Amount]", spent))

    def aimed(self, parameters: Mapping[str, Json]) -> str:
        """Return what a call acts on."""
        if self.target is None or isinstance(self.target, str):
            return self.target or self.name
        return self.target(parameters)


def _listed(name: str, given: Guarding, kind: type | UnionType = str) -> tuple[Any, ...]:
    named = given.get(name, ())
    if isinstance(named, str):
        raise InputError(f"{name}= is a list of names.", hint=f"Write {name}=[{named!r}].")
    found: tuple[Any, ...] = tuple(cast("Iterable[Any]", named)) if isinstance(named, Iterable) else (named,)
    if not all(isinstance(each, kind) for each in found):
        raise InputError(f"{name}= is a list of names.", hint=f"Write {name}=[...].")
    return found


def _check(how: How) -> None:
    """Raise ``InputError`` for settings that a call would fail by, before anybody is asked about one."""
    if not isinstance(how.name, str) or not how.name or line(how.name) != how.name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("The tool has no name that is shown as it is written.", hint="Give name=.")
    if type(how.longest) is not int or how.longest < 1:
        raise InputError("longest= is a number of characters, 1 or more.")
    for name in ("ask", "brief", "spends", "display", "describe", "account_of"):
        given = getattr(how, name)
        if not callable(given) and (given is not None or name == "brief"):
            raise InputError(f"{name}= is a function.")
        if name not in {"ask", "brief"} and is_async(given):
            raise InputError(f"{name}= is a function that is not async: nobody waits for it.")
    if not isinstance(how.target, str | None) and not callable(how.target):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("target= is a text, or a function.")
    taking.named("vocabulary", how.vocabulary)
    taking.named("channel", how.channel, least=0)
    taking.span(how.expires_in)
    how.request(BoundCall(r3_s256="A" * 43, call_id="0"), {}, how.workflow_id, target=_a_target(how))


def _a_target(how: How) -> str:
    return "t" if callable(how.target) else (how.target or how.name)


def _check_named(tool: Callable[..., Any], how: How) -> None:
    """Refuse a parameter that there is not: what was meant to be kept back would be told."""
    parameters = signature_of(tool).parameters.values()
    if inspect.isgeneratorfunction(tool) or inspect.isasyncgenfunction(tool):
        raise InputError(
            "The tool is a generator: it would run after its receipt was written.", hint="Guard what acts, each time."
        )
    known = {each.name for each in parameters}
    for setting, named in {"exclude": how.exclude, "digested": map(_first, how.digested)}.items():
        unknown = sorted(set(named) - known)
        if unknown:
            raise InputError(f"{how.name} has no parameter {unknown[0]}, which {setting}= names.")


def _first(digested: str | Digested) -> str:
    """Return the parameter that a place is in: a name is one whole, and only a pointer has parts."""
    place = digested if isinstance(digested, str) else digested.place
    return place.split("/")[1].replace("~1", "/").replace("~0", "~") if place.startswith("/") else place
