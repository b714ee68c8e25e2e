"""Bind the arguments of a call to a tool's parameters, and give the tool what was approved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.authority.guard.encoding import EncodedArguments, decode_arguments, encode_arguments
from emitter.authority.proposals.document import is_digest_object
from emitter.errors import InputError
from emitter.messages import as_list, as_mapping

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Collection, Mapping

    from emitter.messages import Json


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A call's arguments, encoded, and those that are not content as they were passed."""

    encoded: EncodedArguments
    bound: inspect.BoundArguments = field(repr=False)
    """The arguments by parameter. Those that are content are None."""
    spread: str | None = None
    """The parameter ``**arguments``, if each name in it is content of its own."""

    @property
    def parameters(self) -> dict[str, Json]:
        """The arguments as JSON (with bytes)."""
        return self.encoded.parameters

    def apply_to(self, tool: Callable[..., Any], approved: Mapping[str, Json]) -> Any:
        """Call a tool with the approved parameters of a proposal, which were compared with these arguments.

        What the proposal has only as a digest comes from these arguments.
        """
        encoded = self.encoded
        parameters = {name: _fill_digests(value, encoded.parameters[name]) for name, value in approved.items()}
        content = decode_arguments(parameters, encoded.classes, encoded.table)
        values = {**self.bound.arguments, **(content if self.spread is None else {self.spread: content})}
        bound = type(self.bound)(self.bound.signature, values)
        return tool(*bound.args, **bound.kwargs)


def _fill_digests(approved: Json, presented: Json) -> Json:
    """Return an approved value with the presented value of each digest object."""
    if is_digest_object(approved):
        return presented
    match approved:
        case dict():
            members = as_mapping(presented)
            return {name: _fill_digests(value, members[name]) for name, value in as_mapping(approved).items()}
        case list():
            return list(map(_fill_digests, as_list(approved), as_list(presented)))
        case _:
            return approved


def bind_arguments(
    signature: inspect.Signature,
    call: tuple[tuple[Any, ...], Mapping[str, Any]],
    exclude: Collection[str],
    parameters: Collection[str] | None = None,
) -> CallArguments:
    """Bind a call's arguments with their defaults and encode them, or raise ``InputError``.

    ``exclude`` names the arguments that are not content, and ``parameters`` those of a tool with ``**arguments``.
    """
    bound = signature.bind(*call[0], **call[1])
    bound.apply_defaults()
    content = {name: value for name, value in bound.arguments.items() if name not in exclude}
    for name in content:
        bound.arguments[name] = None
    if parameters is None:
        return CallArguments(encode_arguments(content), bound)
    (spread,) = content
    _check_names(call[1], parameters)
    return CallArguments(encode_arguments(as_mapping(content[spread])), bound, spread)


def _check_names(arguments: Mapping[str, Any], parameters: Collection[str]) -> None:
    unknown = sorted(arguments.keys() - set(parameters))
    if unknown:
        raise InputError(f"The tool has no parameter {unknown[0]!r}.", hint=f"It has {', '.join(sorted(parameters))}.")
