"""Ctrl-C at any call of the library's: the act is done once, or is listed, and the chain is what it was."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import emitter
from emitter.authority import Authority, Effects, StopRequest
from emitter.errors import AlreadyUsed, Unfinished
from tests.authority.execution.making import granted, types, work

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

_OURS = str(Path(emitter.__file__).parent / "authority")


class Interrupted(BaseException):
    """Somebody pressed Ctrl-C."""


class Countdown:
    """Interrupts at the call of the library's that is so many calls away."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Count a call."""
        if event == "call" and frame.f_code.co_filename.startswith(_OURS):
            self.left -= 1
            if self.left == 0:
                raise Interrupted

    @property
    def is_over(self) -> bool:
        """Whether it interrupted."""
        return self.left <= 0


@contextmanager
def interrupting(left: int) -> Generator[Countdown]:
    """Interrupt what is done meanwhile, if it takes so many calls."""
    count, before = Countdown(left), sys.getprofile()
    sys.setprofile(count)
    try:
        yield count
    except Interrupted:
        pass
    finally:
        sys.setprofile(before)


def interrupted(prepare: Callable[[Authority], Callable[[], object]], see: Callable[[Authority], None]) -> int:
    """Interrupt something at each of its calls; see what became of each, and return how many there were."""
    left = 0
    while True:
        left += 1
        authority = Authority()
        act = prepare(authority)
        with interrupting(left) as count:
            act()
        see(authority)
        if not count.is_over:
            return left - 1


def test_an_act_that_is_interrupted_is_done_once_or_listed() -> None:
    """In this process, which goes on, and in every other."""
    done: dict[Authority, list[int]] = {}
    confirms: dict[Authority, str] = {}

    def prepare(authority: Authority) -> Callable[[], object]:
        confirms[authority] = granted(authority).confirm_id
        done[authority] = []
        return lambda: authority.execute(confirms[authority], work(tool=lambda: done[authority].append(1)))

    def see(authority: Authority) -> None:
        try:
            authority.execute(confirms[authority], work(tool=lambda: done[authority].append(1)))
        except Unfinished:
            assert [each.intent_id for each in authority.unfinished_actions()] == ["i"]
            authority.resolve_unfinished("w", "i", Effects())
        except AlreadyUsed:
            assert done[authority] == []
        assert len(done[authority]) <= 1
        assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT"]
        assert len(Authority(authority._context.journal._store).receipts("w")) == 1

    assert interrupted(prepare, see) > 50


def test_a_stop_that_is_interrupted_is_made_again() -> None:
    """It is the same one under its id."""
    confirms: dict[Authority, str] = {}
    request = StopRequest("w", request_id="r")

    def prepare(authority: Authority) -> Callable[[], object]:
        confirms[authority] = granted(authority).confirm_id
        return lambda: authority.stop(request)

    def see(authority: Authority) -> None:
        assert authority.stop(request).stop.request_id == "r"
        assert types(authority) == ["CONFIRM", "STOP"]
        assert authority.get_grant(confirms[authority]).end == "stopped"

    assert interrupted(prepare, see) > 20
