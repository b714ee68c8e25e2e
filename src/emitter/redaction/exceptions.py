"""Read the texts of an exception: those of its report, and all that its attributes show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, cast

from emitter.messages import as_list

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_PARTS = 100_000
_MAX_LENGTH = 1 << 20
"""The most characters that are searched. SDKs repeat the body of an error several times, escaped in several ways."""
_REQUESTS = frozenset({"request", "_request"})
"""Attributes with the caller's own request, whose headers always have its credentials. They are not searched."""


def describe_exception(error: BaseException) -> str:
    """Return the type, message and notes of an exception and its causes, one per line, newest first."""
    return "\n".join(line for exception in _iter_exceptions(error) for line in _description_lines(exception))


def _iter_exceptions(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception, the members of a group and the causes that a traceback shows, each once."""
    pending, visited = [error], set[int]()
    while pending:
        exception = pending.pop()
        if id(exception) in visited:
            continue
        visited.add(id(exception))
        yield exception
        cause = exception.__cause__ or (None if exception.__suppress_context__ else exception.__context__)
        pending.extend([cause] if cause is not None else [])
        if isinstance(exception, BaseExceptionGroup):
            pending.extend(reversed(cast("BaseExceptionGroup[BaseException]", exception).exceptions))


def _description_lines(error: BaseException) -> Iterator[str]:
    message = _safe_message(error)
    yield f"{type(error).__name__}: {message}" if message else type(error).__name__
    yield from map(str, as_list(getattr(error, "__notes__", ())))


def _safe_message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  a broken __str__ leaves only the type
        return ""


def find_texts(error: BaseException) -> list[str] | None:
    """Return every text in an exception, in its attributes, and in the exceptions and responses that it refers to.

    The result is None if there are too many to search, or if they are too long.
    """
    pending: list[object] = [error]
    visited: dict[int, object] = {}  # it holds the objects, because the id of one that is gone is used again
    texts: list[str] = []
    length = 0
    while pending:
        part = pending.pop()
        if isinstance(part, str | bytes | bytearray):
            texts.append(part if isinstance(part, str) else part.decode("utf-8", "replace"))
            length += len(texts[-1])
        elif id(part) not in visited:
            visited[id(part)] = part
            pending.extend(_list_parts(part))
        if len(visited) > _MAX_PARTS or length > _MAX_LENGTH:
            return None
    return texts


def _list_parts(part: object) -> Iterable[object]:
    if isinstance(part, BaseException):
        return _exception_parts(part)
    if isinstance(part, Mapping):
        mapping = cast("Mapping[object, object]", part)
        return (*mapping, *mapping.values())
    if isinstance(part, list | tuple | AbstractSet):
        return cast("Iterable[object]", part)
    return _response_parts(part)


def _exception_parts(error: BaseException) -> Iterator[object]:
    yield from (_safe_message(error), error.args, error.__cause__, error.__context__)
    yield from (value for name, value in vars(error).items() if name not in _REQUESTS)
    if isinstance(error, BaseExceptionGroup):
        yield from cast("BaseExceptionGroup[BaseException]", error).exceptions


def _response_parts(response: Any) -> Iterator[object]:
    """Yield the headers of an HTTP response, and its body if it was read. Reading it now could wait for the network."""
    members: Mapping[str, object] = getattr(response, "__dict__", None) or {}
    yield from (members.get(name) for name in ("headers", "_headers", "body", "message", "reason"))
    content = members.get("_content")
    if isinstance(content, bytes):
        yield content
        try:
            yield response.text
        except Exception:  # noqa: BLE001  an encoding that does not exist, for example
            return
