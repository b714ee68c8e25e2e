"""The types of the public names, as a user's code sees them. Checked by mypy and pyright, never run."""

from __future__ import annotations

from typing import assert_type

from emitter import (
    AIEnvelope,
    BindingMoment,
    ClarificationRequest,
    Deliberation,
    Emission,
    EmissionError,
    ErrorReport,
    Material,
    Policy,
    RunEvent,
    Trust,
    Usage,
    Withheld,
    aemit_binding_moment,
    emit_binding_moment,
)


def sync() -> None:
    """See the types of the blocking call."""
    decision = emit_binding_moment(
        "?", model="openai/m", materials=["a", Material("b", "c", Trust.UNTRUSTED)], policy=Policy(max_attempts=2)
    )
    assert_type(decision, Emission[BindingMoment] | Withheld)
    assert_type(decision.envelope, AIEnvelope)
    assert_type(decision.usage, Usage)
    assert_type(decision.events, tuple[RunEvent, ...])
    match decision:
        case Emission(value=moment):
            assert_type(moment, BindingMoment)
            assert_type(moment.question.recommended_idx, int)
        case Withheld(reason=reason):
            assert_type(reason, Deliberation | ClarificationRequest | ErrorReport)


async def asynchronous(seen: list[RunEvent]) -> None:
    """See the types of the awaited call."""
    messages = [{"role": "user", "content": "?"}]
    decision = await aemit_binding_moment(messages, model="google/m", sink=seen.append, run_id="r", wire="google")
    assert_type(decision, Emission[BindingMoment] | Withheld)


def failing() -> None:
    """See what an error carries."""
    try:
        sync()
    except EmissionError as error:
        assert_type(error.code, str)
        _ = error.trace.attempts
