"""What an exception says, and those that it came of."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Iterator


def told(error: BaseException) -> str:
    """Return one line or more for each exception: its type, its message, its notes. The newest comes first."""
    return "\n".join(line for each in _chain(error) for line in _lines(each))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception, the members of a group, and what a traceback would show as its causes, each once."""
    pending, seen = [error], set[int]()
    while pending:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        behind = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
        pending.extend([behind] if behind is not None else [])
        if isinstance(each, BaseExceptionGroup):
            pending.extend(reversed(cast("BaseExceptionGroup[BaseException]", each).exceptions))


def _lines(error: BaseException) -> Iterator[str]:
    message = _message(error)
    yield f"{type(error).__name__}: {message}" if message else type(error).__name__
    yield from map(str, sequence(getattr(error, "__notes__", ())))


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  an exception whose message cannot be made is told by its type
        return ""
