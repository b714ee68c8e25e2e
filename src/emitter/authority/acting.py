"""An act: its intent is written, it is done, its receipt is written; and hooks are called before and after it.

Source: delegation-invariants, "Stable hook points". What a crash leaves between intent and receipt is listed, and never
repeated by itself.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from emitter.authority import taking, writing
from emitter.authority.hooks import ActionResult
from emitter.authority.parts import after, before, tell_failed, tell_settled
from emitter.authority.records import ActionRequest, Receipt, Result
from emitter.authority.running import CURRENT, Act
from emitter.authority.steps import Ours, Theirs
from emitter.authority.writing import Effects
from emitter.errors import InputError, PartiallyDone, Unfinished

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority.parts import Parts
    from emitter.authority.records import Intent
    from emitter.authority.steps import Steps

_RESULTS: Final = tuple(Result)
_NEVER_BEGAN: Final = "It was broken off before it began"


@dataclass(frozen=True, slots=True)
class Work:
    """An act: what is asked for, what does it, what is told of what it returned, and whether that is retained."""

    request: ActionRequest
    tool: Callable[[], Any]
    describe: Callable[[Any], Effects] | None = None
    retain: bool = True


def execute(parts: Parts, confirm_id: str, work: Work) -> Steps[Any]:
    """Do what a confirm authorizes, once; done before, return what was retained of it."""
    request = _asked(work)
    done: Receipt | None = yield Ours(partial(writing.done_before, parts, confirm_id, request))
    if done is not None:
        return (yield Ours(partial(writing.retained, parts, done)))
    yield from before(parts, "before_execute", request.model_copy(deep=True))
    intent: Intent | Receipt = yield Ours(partial(writing.begin, parts, confirm_id, request))
    if isinstance(intent, Receipt):
        return (yield Ours(partial(writing.retained, parts, intent)))
    return (yield from _run(parts, Act(intent, parts.journal, parts.now), work))


def _asked(work: Work) -> ActionRequest:
    """Return what is asked for, as nobody who has the caller's changes it; raises before anything is begun by it."""
    if not isinstance(work, Work):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
        raise InputError("What is done is told as Work.")
    taking.function("tool", work.tool)
    taking.optional("describe", work.describe)
    return taking.record(ActionRequest, work.request)


def _run(parts: Parts, act: Act, work: Work) -> Steps[Any]:
    """Call the tool, and write the receipt: until that stands, the act runs here."""
    parts.running.add(act)
    try:
        return (yield from _done(parts, act, work))
    finally:
        parts.running.remove(act)


def _done(parts: Parts, act: Act, work: Work) -> Steps[Any]:
    value = yield from _called(parts, act, work)
    kept = value if work.retain else writing.NOTHING
    effects, failed = _described(work, value)
    receipt: Receipt = yield Ours(partial(writing.finish, parts, act.intent, effects, kept), due=True)
    if receipt.result != effects.result:
        tell_settled(parts, receipt)
    if failed is not None:
        tell_failed(parts, "describe", failed)
    yield from _told(parts, ActionResult(work.request, receipt, value))
    return value


def settle(parts: Parts, workflow_id: str, intent_id: str, effects: Effects) -> Steps[Receipt]:
    """Write the receipt of an act that nobody saw end, once somebody has seen what became of it."""
    writing.check_effects(effects)
    taking.name("workflow_id", workflow_id)
    taking.name("intent_id", intent_id)
    intent: Intent = yield Ours(partial(writing.unfinished, parts, workflow_id, intent_id))
    if parts.running.has(intent):
        raise Unfinished("The act still runs here, and will have its receipt.", intent_id=intent_id)
    receipt: Receipt = yield Ours(partial(writing.finish, parts, intent, effects, writing.NOTHING))
    yield from after(parts, "emit_receipt", receipt)
    return receipt


def _called(parts: Parts, act: Act, work: Work) -> Steps[Any]:
    """Call the tool; what it raises is in the receipt, what breaks it off leaves the act unfinished."""
    step = Theirs(work.tool)
    mark = CURRENT.set(act)
    try:
        yield Ours(act.check)  # who stopped it before it was among those that run has told nobody
        return (yield step)
    except GeneratorExit:
        raise
    except BaseException as error:
        effects = _effects_of(step, error)
        if effects is not None:
            finish = partial(writing.finish, parts, act.intent, effects, writing.NOTHING)
            receipt: Receipt = yield Ours(finish, due=True)
            yield from _told(parts, ActionResult(work.request, receipt))
        raise
    finally:
        with suppress(ValueError):  # what is cleared away may be so in another context
            CURRENT.reset(mark)


def _effects_of(step: Theirs, error: BaseException) -> Effects | None:
    """Return what the receipt tells of it, or None where a call was broken off: nobody knows what that did."""
    name = type(error).__name__
    if not step.begun:
        return Effects(Result.FAILURE, error=f"{_NEVER_BEGAN}: {name}.")
    partly = _partly(error)
    if partly is not None:
        return _partial_effects(partly)
    return Effects(Result.FAILURE, error=name) if isinstance(error, Exception) else None


def _partly(error: BaseException) -> PartiallyDone | None:
    """Return what a tool says that it did before it failed, also where a group of tasks raised it with others."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return next(filter(None, map(_partly, group.exceptions)), None)
    return error if isinstance(error, PartiallyDone) else None


def _partial_effects(error: PartiallyDone) -> Effects:
    """Return the effects that a tool told; what fits no receipt is left out, and costs no receipt."""
    name = type(error if error.__cause__ is None else error.__cause__).__name__
    refs = error.evidence_refs
    try:
        named = () if isinstance(refs, str) else tuple(refs)
        effects = Effects(Result.PARTIAL, error.side_effects, named, error=name)
        if isinstance(refs, str):
            raise InputError("One text is no list of texts.")  # noqa: TRY301  it is told below
        writing.check_effects(effects)
    except Exception:  # noqa: BLE001  they are anybody's values
        told = "What PartiallyDone tells fits no receipt, and is left out: give a JSON object and a list of texts."
        warnings.warn(told, RuntimeWarning, stacklevel=2)
        return Effects(Result.PARTIAL, error=name)
    return effects


def _described(work: Work, value: object) -> tuple[Effects, Exception | None]:
    """Return what is told of the act, and why it cannot be told: who cannot tell it loses no receipt by it."""
    if work.describe is None:
        return Effects(), None
    effects = Effects()
    try:
        effects = work.describe(value)
        writing.check_effects(effects)
    except Exception as error:  # noqa: BLE001  the act was done, whatever cannot be told of it
        return _result_of(effects), error
    return effects, None


def _result_of(effects: object) -> Effects:
    """Return how the act ended, where that was told and the rest of it fits no receipt."""
    told = effects.result if isinstance(effects, Effects) else Result.SUCCESS
    return Effects(told if told in _RESULTS else Result.SUCCESS)


def _told(parts: Parts, result: ActionResult) -> Steps[None]:
    yield from after(parts, "after_execute", result)
    yield from after(parts, "emit_receipt", result.receipt)
