"""A guarded tool: called as the tool is, and the tool runs once its principal has approved exactly this call."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

from emitter.authority.guard.arguments import taken
from emitter.authority.guard.flow import guarded
from emitter.authority.guard.proposing import Call
from emitter.authority.guard.tools import Function, is_async, signature_of
from emitter.authority.steps import arun, run
from emitter.decide.canonical import HALF_PAIR
from emitter.errors import InputError
from emitter.sinks import new_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority.guard.how import How
    from emitter.authority.parts import Parts
    from emitter.authority.proposal import Shelf
    from emitter.authority.steps import Steps

P = ParamSpec("P")
R = TypeVar("R")


class Guarded(Generic[P, R]):
    """A tool that asks before it acts; an async tool is called and awaited as before.

    Each call is a new one. ``call`` makes one under an id of the caller's: the same id again is the same call, made
    once, whose retained result is returned from then on, as JSON.
    """

    def __init__(self, tool: Callable[P, R], how: How, parts: Parts, shelf: Shelf) -> None:
        functools.update_wrapper(self, tool)
        self.__dict__.pop("call", None)  # the tool's own attributes are kept, unless one stood before ours
        self._function = Function.of(tool)
        self._how = how
        self._parts = parts
        self._shelf = shelf
        self._signature = signature_of(tool)
        self._take: Callable[[Steps[Any]], Any] = arun if is_async(tool) else run

    @property
    def workflow_id(self) -> str:
        """The workflow of its calls: stop it, and none of them begins.

        Without ``workflow_id=`` it is this object's own, and a call that another process began goes on in that one's.
        """
        return self._how.workflow_id

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Ask for this call, and make it.

        Raises ``NotApproved``, ``ApprovalPending`` where nobody has answered yet, and any other ``AuthorityError``.
        """
        return self.call(new_id(), *args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Guarded[..., R]:
        """Return the tool as a method of an object, as a function of a class would."""
        bind = getattr(self._function.tool, "__get__", None)
        if instance is None or bind is None:
            return self
        bound = bind(instance, owner)
        how = self._how.of_object(instance) if inspect.ismethod(bound) else self._how
        return Guarded(bound, how, self._parts, self._shelf)

    def call(self, call_id: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Ask for this call under an id, or go on with it: whatever was asked, answered or done under it stands.

        Raises ``OtherCall`` where another call was proposed under the id, and ``Unfinished`` where it was begun and
        nobody knows how it ended.
        """
        if not isinstance(call_id, str) or not 0 < len(call_id) <= _LONGEST or HALF_PAIR.search(call_id):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"call_id is a text of 1 to {_LONGEST} characters, each a whole one.")
        arguments = taken(self._signature, (args, kwargs), frozenset(self._how.exclude))
        call = Call(call_id, arguments, self._function, self._how, self._parts, self._shelf)
        return cast("R", self._take(guarded(call)))


_LONGEST = 256
