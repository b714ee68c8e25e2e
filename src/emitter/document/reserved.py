"""What no model writes: an authorization envelope, and the provenance that it rests on.

Source: RFC-0010, "Separate proposal generation from authority granting". A value of these types is taken for one that
was authorized, so that it comes from ``emit_authorization`` alone, and never from a document of a model's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast, get_args

from pydantic import TypeAdapter

from emitter.errors import InputError
from emitter.kinds import AUTHORIZATION, AuthorizationEnvelope
from emitter.kinds.authorization import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterable

_TYPES: Final[tuple[type, ...]] = (*get_args(AuthorizationEnvelope), Provenance)
_HINT: Final = "emit_authorization has a model propose, and makes the envelope of what your oracles said."


def refuse_reserved(schema: object, kind: str | None, *, typed: bool) -> None:
    """Raise ``InputError`` for a kind, or for a type that is a schema, by which a model would grant authority."""
    if kind == AUTHORIZATION or (typed and _made_by(schema)):
        raise InputError("A model writes no authorization envelope, and no part of one.", hint=_HINT)


def _made_by(schema: object) -> bool:
    """Tell whether values of the types are among what pydantic makes under a type."""
    adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", schema))
    return any(issubclass(each, _TYPES) for each in _classes(adapter.core_schema))


def _classes(core: object) -> Iterable[type]:
    match core:
        case dict():
            for name, each in cast("dict[str, object]", core).items():
                if name == "metadata":
                    continue
                if name == "cls" and isinstance(each, type):
                    yield each
                yield from _classes(each)
        case list() | tuple():
            for each in cast("list[object]", core):
                yield from _classes(each)
        case _:
            return
