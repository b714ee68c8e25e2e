"""What may be done next, by whom and to what, as it is drawn."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from emitter.authority import BoundCall, Result
from tests.authority.core.making import S256
from tests.authority.core.world import FLOWS

_CALL = BoundCall(r3_s256=S256, call_id="call")
_NUMBERS, _WHO = st.integers(0, 20), st.integers(0, 2)
_STEPS = st.sampled_from([1, 2, 3, 9, 9, 9])
"""How many steps are taken at once of what is begun; nine are all."""
_SCOPE = {"step_ids": [None, None, ("s1",), ()], "targets": [None, None, ("mom",)], "capabilities": [None, ("send",)]}
_TERMS = st.fixed_dictionaries(
    {
        "scope": st.fixed_dictionaries({name: st.sampled_from(each) for name, each in _SCOPE.items()}),
        "limits": st.sampled_from([{}, {"max_side_effects": 1}, {"max_side_effects": 3, "budget_usd": 100}]),
        "ttl_seconds": st.sampled_from([20, 60, 600]),
        "revocable": st.sampled_from([True, True, False]),
        "risk_level": st.sampled_from(["low", "high"]),
        "call": st.sampled_from([None, None, _CALL]),
    }
)
FIRST: Final[list[dict[str, Any]]] = [
    {"scope": {"targets": ("mom",)}, "limits": {"max_side_effects": 3, "budget_usd": 200}},
    {"scope": {"step_ids": ("s1",), "capabilities": ("send",)}, "call": _CALL},
]
"""What is approved in each workflow before anything else."""
_OTHER: dict[str, Any] = {"step_id": "s2", "target": "ceo", "action": "pay", "risk_level": "high"}
_OTHER |= {"spends": {"budget_usd": 90}, "call": BoundCall(r3_s256=S256, call_id="other")}
_CHANGES = st.sampled_from([{}] * 6 + [{name: each} for name, each in _OTHER.items()])
_MODES: list[dict[str, Any]] = [{"takeover_mode": "pause"}, {"takeover_mode": "human"}, {}]
_MODES += [{"takeover_mode": "delegate_to_other_agent", "delegate_to": name} for name in ("north", "agent")]
_STOPPED = st.builds(
    lambda mode, step: {**mode, "step_id": step}, st.sampled_from(_MODES), st.sampled_from(["s1", "s1", "s2", None])
)


def _doing(how: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    return st.tuples(st.just(how), st.fixed_dictionaries(arguments))


_BEGIN = _doing(
    "begin",
    who=_WHO,
    which=_NUMBERS,
    members=st.builds(
        lambda step, is_pure, changed: {"step_id": step, "is_pure": is_pure, **changed},
        st.sampled_from(["s1", "s1", None]),
        st.sampled_from([False, False, True]),
        _CHANGES,
    ),
    ends=st.sampled_from(["returns", "returns", "raises", "dies"]),
    steps=_STEPS,
)
_GO_ON = _doing("go_on", which=_NUMBERS, steps=_STEPS)
DONE: Final = st.one_of(
    _BEGIN,
    _BEGIN,
    _BEGIN,
    _GO_ON,
    _GO_ON,
    _doing("again", who=_WHO, which=_NUMBERS, steps=_STEPS),
    _doing("approve", who=_WHO, flow=st.sampled_from(FLOWS), terms=_TERMS, steps=_STEPS),
    _doing("wait", who=_WHO, by=st.sampled_from([0.0, 0.0, 0.125, 1.0, 7.0, 30.0]), which=_NUMBERS),
    _doing("stop", who=_WHO, flow=st.sampled_from(FLOWS), stopped=_STOPPED),
    _doing("resume", who=_WHO, which=_NUMBERS),
    st.one_of(
        _doing("revoke", who=_WHO, which=_NUMBERS),
        _doing("settle", who=_WHO, which=_NUMBERS, result=st.sampled_from(Result)),
        _doing("crash", who=_WHO),
    ),
)
"""What is done, by the name of a method, and with what."""
