"""How a check tells that a surface breaks the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.errors import ResolutionError
from emitter.testing.surfaces.subject import NotOffered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.testing.surfaces.subject import Subject
    from emitter.wire import Json


class Broken(AssertionError):
    """A surface breaks the contract: the message names section and rule, and what was found."""


def require(found: bool, message: str) -> None:  # noqa: FBT001  reads as: require this
    """Raise ``Broken`` where this does not hold."""
    if not found:
        raise Broken(message)


def shows(shown: str, what: str, wanted: Iterable[str]) -> None:
    """Require that each text is shown, however it was wrapped: white space does not count."""
    found = _solid(shown)
    for each in wanted:
        require(_solid(each) in found, f"{what} must be shown: {each[:80]!r} is not in {shown[:400]!r}")


def returns(subject: Subject[Any], moment: BindingMoment, reply: Json, wanted: Resolution) -> None:
    """Require that the surface reads a reply as this resolution."""
    found = subject.read(moment, reply)
    require(found == wanted, f"{wanted} was given, and {found} came back")


def refuses(
    subject: Subject[Any], moment: BindingMoment, give: Callable[[], Json], error: type[ResolutionError]
) -> None:
    """Require that a reply cannot be given, or is refused with this error."""
    try:
        found = subject.read(moment, give())
    except (error, NotOffered):
        return
    except ResolutionError as other:
        require(found=False, message=f"{error.__name__} was due, and {type(other).__name__} was raised")
    else:
        require(found=False, message=f"{error.__name__} was due, and it was taken for {found}")


def _solid(text: str) -> str:
    return "".join(text.split())
