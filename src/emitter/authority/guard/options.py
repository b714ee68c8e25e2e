"""The options of `Authority.guard`, with their defaults and validation."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict, cast

from pydantic import ValidationError

from emitter.arguments import is_async
from emitter.authority.guard.briefing import brief_from_template
from emitter.authority.guard.inspection import get_signature, get_tool_name
from emitter.authority.proposals.document import VOCABULARY_MCP, DigestedParameter
from emitter.authority.records import BoundCall, ConfirmRequest, RiskLevel, Scope
from emitter.authority.rules import compute_spending
from emitter.decisions import ledger_arguments
from emitter.errors import InputError
from emitter.render.safe_text import to_single_line
from emitter.schema.json_data import parse_pointer
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from types import UnionType

    from emitter.authority.execution import Effects
    from emitter.authority.guard.briefing import BriefWriter
    from emitter.authority.proposals.proposal import Display
    from emitter.authority.records import Amount
    from emitter.decisions import Resolution, Unresolved
    from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
    from emitter.messages import Json

PrincipalAnswer: TypeAlias = "Resolution | Unresolved | ResolvedDecision"
AskPrincipal: TypeAlias = Callable[["PendingDecision"], "PrincipalAnswer | Awaitable[PrincipalAnswer]"]
"""Puts a decision to its principal and returns the answer."""


class GuardOptions(TypedDict, total=False):
    """The options of ``Authority.guard``.

    Args:
        ask: Puts the decision to the principal and returns the answer. Without it, the call raises ``ApprovalPending``;
            repeat the call once the decision is resolved. If nobody answers, a call with an id stays pending, and the
            question of a call without one is withdrawn (``NotApproved``).
        brief: Writes the envelope. Defaults to a template; see ``brief_with_model`` for a model.
        name: The tool's name.
        target: What the call acts on, or a function of its parameters. Defaults to the name.
        capability: The kind of tool. Defaults to the name.
        step_id: The step of the calls.
        workflow_id: The workflow of the calls. Defaults to a new one for each guarded tool.
        spends: A function of the parameters that returns the amount used of each limit. ``budget_usd`` is in dollars,
            an integer or a ``Decimal``.
        risk_level: The risk shown to the principal. Defaults to high.
        ttl_seconds: How long an approval lasts. Defaults to 900.
        revocable: Whether the confirm can be revoked. Defaults to True.
        digested: Parameters that nobody reads, shown only as a digest: names, JSON pointers or ``DigestedParameter``.
        exclude: Parameters that are not content, such as a context. They are not approved and must not affect the call.
        parameters: The names that a tool with ``**arguments`` takes. Each is then a parameter of its own.
        vocabulary: The vocabulary of the proposal.
        operation: The operation of the proposal. Defaults to the name.
        account: The account of the proposal.
        account_of: A function of the object that returns its account. Required for a method guarded in its class,
            because the object is not an argument that anyone approves.
        display: A function of the parameters that returns the proposal's display.
        describe: A function of the return value that returns the effects for the receipt.
        retain: Whether to store the return value, to answer a repeated call. Defaults to True.
        expires_in: Seconds for which the question stays open. It does not interrupt ``ask``.
        ask_timeout: Seconds that an async ``ask`` may take; then nobody has answered. The call is not interrupted.
        channel: The channel by which ``ask`` gets its answers.
        four_eyes: Whether two principals must approve a call, by ``Ledger.approve`` or in the inbox: for each call, or
            a function of its parameters. Not with ``ask``.

    Functions of the parameters receive them as JSON: a ``Decimal`` or a date is a string. They must return the same
    for the same call.
    """

    ask: AskPrincipal | None
    brief: BriefWriter
    name: str
    target: str | Callable[[Mapping[str, Json]], str]
    capability: str
    step_id: str
    workflow_id: str
    spends: Callable[[Mapping[str, Json]], Mapping[str, Amount]]
    risk_level: RiskLevel | str
    ttl_seconds: int
    revocable: bool
    digested: Iterable[str | DigestedParameter]
    exclude: Iterable[str]
    parameters: Iterable[str]
    vocabulary: str
    operation: Mapping[str, Json] | str
    account: str | None
    account_of: Callable[[Any], str]
    display: Callable[[Mapping[str, Json]], Display]
    describe: Callable[[Any], Effects]
    retain: bool
    expires_in: float | None
    ask_timeout: float | None
    channel: str
    four_eyes: bool | Callable[[Mapping[str, Json]], bool]


@dataclass(frozen=True, slots=True)
class GuardConfig:
    """The validated options of a guarded tool, with defaults."""

    name: str
    workflow_id: str
    operation: Mapping[str, Json] | str
    vocabulary: str = VOCABULARY_MCP
    ask: AskPrincipal | None = None
    brief: BriefWriter = brief_from_template
    target: str | Callable[[Mapping[str, Json]], str] | None = None
    capability: str | None = None
    step_id: str | None = None
    spends: Callable[[Mapping[str, Json]], Mapping[str, Amount]] | None = None
    risk_level: RiskLevel | str = RiskLevel.HIGH
    ttl_seconds: int = 900
    revocable: bool = True
    digested: Iterable[str | DigestedParameter] = ()
    exclude: Iterable[str] = ()
    parameters: frozenset[str] | None = None
    account: str | None = None
    account_of: Callable[[Any], str] | None = None
    has_explicit_workflow: bool = False
    display: Callable[[Mapping[str, Json]], Display] | None = None
    describe: Callable[[Any], Effects] | None = None
    retain: bool = True
    expires_in: float | None = None
    ask_timeout: float | None = None
    channel: str = ""
    four_eyes: bool | Callable[[Mapping[str, Json]], bool] = False

    @classmethod
    def from_options(cls, tool: Callable[..., Any], options: GuardOptions) -> GuardConfig:
        """Validate the options of a tool, or raise ``InputError``."""
        known = {option_field.name for option_field in fields(cls)} - {"has_explicit_workflow"}
        unknown = sorted(options.keys() - known)
        if unknown:
            raise InputError(
                f"guard() has no option {unknown[0]}=.", hint=f"The options are {', '.join(sorted(known))}."
            )
        name = options.get("name") or get_tool_name(tool)
        defaults = {"name": name, "operation": name, "workflow_id": f"{name}:{generate_id()}"}
        lists = {
            "digested": _as_tuple("digested", options, str | DigestedParameter),
            "exclude": frozenset(_as_tuple("exclude", options)),
            "parameters": frozenset(_as_tuple("parameters", options)) if "parameters" in options else None,
        }
        settings: dict[str, Any] = {**defaults, **options, **lists, "has_explicit_workflow": "workflow_id" in options}
        config = cls(**settings)
        _check_config(config)
        _check_parameter_names(tool, config)
        return config

    def make_confirm_request(
        self, call: BoundCall, spends: Mapping[str, Amount], workflow_id: str, *, target: str
    ) -> ConfirmRequest:
        """Return the authority that a call needs, for itself only, or raise ``InputError``."""
        try:
            return ConfirmRequest.from_members(
                scope=Scope.from_members(
                    workflow_id=workflow_id,
                    step_ids=None if self.step_id is None else (self.step_id,),
                    targets=(target,),
                    capabilities=(self.capability or self.name,),
                ),
                limits=compute_spending(spends, is_pure=False),
                ttl_seconds=self.ttl_seconds,
                revocable=self.revocable,
                risk_level=self.risk_level,
                call=call,
            )
        except ValidationError as error:
            first_error = error.errors()[0]
            place = _OPTION_NAMES.get(str(first_error["loc"][0])) or ".".join(map(str, first_error["loc"]))
            raise InputError(f"No authority can be requested with this {place}: {first_error['msg']}.") from None

    def for_instance(self, instance: object) -> GuardConfig:
        """Return the configuration of a method bound to an object, with that object's account."""
        if self.account_of is None:
            raise InputError(
                f"{self.name} is a method without account_of=: approving it for one object would approve all.",
                hint="Pass account_of=, a function of the object that returns its account.",
            )
        account = cast("object", self.account_of(instance))
        if not isinstance(account, str) or not account:
            raise InputError("account_of= must return a string that is not empty.", hint="Return the object's account.")
        return replace(self, account=account)

    def spending_of(self, parameters: Mapping[str, Json]) -> Mapping[str, Amount]:
        """Return what a call uses of each limit."""
        spent = cast("object", {} if self.spends is None else self.spends(parameters))
        if not isinstance(spent, Mapping):
            raise InputError("spends= must return amounts.", hint="Return a dict by limit, {} for none.")
        return dict(cast("Mapping[str, Amount]", spent))

    def needs_four_eyes(self, parameters: Mapping[str, Json]) -> bool:
        """Return whether two principals must approve a call."""
        needed = cast("object", self.four_eyes if isinstance(self.four_eyes, bool) else self.four_eyes(parameters))
        if not isinstance(needed, bool):
            raise InputError(
                f"four_eyes= of {self.name} returned a value of type {type(needed).__name__}, not a bool.",
                hint="Return True if two principals must approve the call.",
            )
        return needed

    def target_of(self, parameters: Mapping[str, Json]) -> str:
        """Return what a call acts on."""
        if self.target is None or isinstance(self.target, str):
            return self.target or self.name
        target = cast("object", self.target(parameters))
        if not isinstance(target, str):
            raise InputError(
                f"target= of {self.name} returned a value of type {type(target).__name__}, not a string.",
                hint="Return the name of what the call acts on, such as str(call['account']).",
            )
        return target


_OPTION_NAMES: Final = {"targets": "target=", "capabilities": "capability=", "step_ids": "step_id="}
"""The options from which the members of a scope come."""


def _as_tuple(name: str, options: GuardOptions, kind: type | UnionType = str) -> tuple[Any, ...]:
    value = options.get(name, ())
    if isinstance(value, str):
        raise InputError(f"{name}= must be a list of names.", hint=f"Write {name}=[{value!r}].")
    items: tuple[Any, ...] = tuple(cast("Iterable[Any]", value)) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(item, kind) for item in items):
        raise InputError(f"{name}= must be a list of names.", hint=f"Write {name}=[...].")
    return items


def _check_config(config: GuardConfig) -> None:
    """Raise ``InputError`` for options with which every call would fail."""
    if not isinstance(config.name, str) or not config.name or to_single_line(config.name) != config.name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("The tool has no printable name.", hint="Pass name=.")
    for name in ("ask", "brief", "spends", "display", "describe", "account_of"):
        value = getattr(config, name)
        if not callable(value) and (value is not None or name == "brief"):
            raise InputError(f"{name}= must be a function.")
        if name not in {"ask", "brief"} and is_async(value):
            raise InputError(f"{name}= must not be async, because it is not awaited.")
    if not isinstance(config.target, str | None) and not callable(config.target):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("target= must be a string or a function.")
    _check_four_eyes(config)
    ledger_arguments.check_short_text("vocabulary", config.vocabulary)
    ledger_arguments.check_short_text("channel", config.channel, min_length=0)
    ledger_arguments.check_seconds(config.expires_in)
    _check_ask_timeout(config)
    target = "t" if callable(config.target) else config.target or config.name
    config.make_confirm_request(BoundCall(r3_s256="A" * 43, call_id="0"), {}, config.workflow_id, target=target)


def _check_ask_timeout(config: GuardConfig) -> None:
    ledger_arguments.check_seconds(config.ask_timeout, "ask_timeout")
    if config.ask_timeout is not None and not is_async(config.ask):
        raise InputError(
            "ask_timeout= needs an async ask=, because nothing else can be interrupted.",
            hint="Let a blocking function stop by itself: emitter.terminal.ask(pending.moment, timeout=60).",
        )


def _check_four_eyes(config: GuardConfig) -> None:
    if not isinstance(config.four_eyes, bool) and (not callable(config.four_eyes) or is_async(config.four_eyes)):
        raise InputError("four_eyes= must be True, False or a function that is not async.")
    if config.four_eyes and config.ask is not None:
        raise InputError(
            "four_eyes= needs two principals, and ask= asks one.", hint="Leave ask= out, and use an inbox."
        )


def _check_parameter_names(tool: Callable[..., Any], config: GuardConfig) -> None:
    """Reject unknown parameter names, so that a typo cannot expose a value meant to be hidden."""
    parameters = tuple(get_signature(tool).parameters.values())
    if inspect.isgeneratorfunction(tool) or inspect.isasyncgenfunction(tool):
        raise InputError(
            "The tool is a generator, which would run after its receipt is written.",
            hint="Guard the function that acts instead.",
        )
    known = {parameter.name for parameter in parameters}
    content = known if config.parameters is None else _check_open(parameters, config)
    for setting, names, allowed in (
        ("exclude", config.exclude, known),
        ("digested", map(_first_segment, config.digested), content),
    ):
        unknown = sorted(set(names) - allowed)
        if unknown:
            raise InputError(f"{setting}= names {unknown[0]}, but {config.name} has no such parameter.")


def _check_open(signature: Iterable[inspect.Parameter], config: GuardConfig) -> frozenset[str]:
    """Return the ``parameters`` of a tool whose other parameters than ``**arguments`` are positional and excluded."""
    kinds = {parameter.kind for parameter in signature if parameter.name not in config.exclude}
    excluded = {parameter.kind for parameter in signature if parameter.name in config.exclude}
    if kinds != {inspect.Parameter.VAR_KEYWORD} or excluded - {inspect.Parameter.POSITIONAL_ONLY}:
        raise InputError("parameters= is for a tool that takes **arguments, and else only what exclude= names.")
    return config.parameters or frozenset()


def _first_segment(digested: str | DigestedParameter) -> str:
    """Return the parameter that a name or JSON pointer refers to."""
    place = digested if isinstance(digested, str) else digested.place
    return parse_pointer(place)[0] if place.startswith("/") else place
