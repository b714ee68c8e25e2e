"""Bind the arguments of a call to a tool's parameters, and give the tool what was approved."""

from __future__ import annotations

import base64
import inspect
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from emitter.authority.guard.encoding import EncodedArguments, decode_arguments, encode_arguments, find_classes
from emitter.authority.proposals.document import holds_bytes, is_digest_object
from emitter.authority.proposals.proposal import list_entries
from emitter.errors import InputError
from emitter.messages import as_list, as_mapping
from emitter.schema.json_data import escape_pointer_token

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from emitter.authority.proposals.proposal import Proposal
    from emitter.messages import Json


_MAX_KEPT_BYTES: Final = 1_000_000
"""Bytes in the arguments of a call that are stored with it. Of more, the store has the hashes."""


@dataclass(frozen=True, slots=True)
class KeptArguments:
    """The data stored with a call besides its proposal: classes, and values of which the proposal has only a hash.

    Values of parameters in ``digested=`` are not among them.
    """

    classes: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    values: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    @classmethod
    def from_text(cls, text: str) -> KeptArguments:
        """Read what ``to_text`` wrote, or raise ``ValueError``."""
        document = as_mapping(json.loads(text))
        values = {
            at: base64.b64decode(each, validate=True) if isinstance(each, str) else as_list(each)[0]
            for at, each in as_mapping(document.get("values")).items()
        }
        return cls(as_mapping(document.get("classes")), values)

    def to_text(self) -> str:
        """Return it as a JSON text."""
        values = {
            at: base64.b64encode(each).decode() if isinstance(each, bytes) else [each]
            for at, each in self.values.items()
        }
        return json.dumps({"classes": dict(self.classes), "values": values})


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

    def keep(self, proposal: Proposal) -> KeptArguments:
        """Return what must be stored with the call, so that it can run without its arguments being passed again."""
        values = dict(_list_shown(proposal.parameters, self.encoded.parameters, proposal.shown.keys(), ""))
        size = sum(len(each) for each in values.values() if isinstance(each, bytes))
        return KeptArguments(self.encoded.classes, values if size <= _MAX_KEPT_BYTES else {})

    def decode(self, approved: Mapping[str, Json]) -> inspect.BoundArguments:
        """Return the tool's arguments from the approved parameters of a proposal, which were compared with these.

        What the proposal has only as a digest comes from these arguments. ``InputError`` means that a class cannot be
        decoded, because what was registered for it has changed.
        """
        encoded = self.encoded
        parameters = {name: _fill_digests(value, encoded.parameters[name]) for name, value in approved.items()}
        try:
            content = decode_arguments(parameters, encoded.classes, encoded.table)
        except Exception as error:
            raise InputError("An approved argument cannot be rebuilt from what is stored.") from error
        values = {**self.bound.arguments, **(content if self.spread is None else {self.spread: content})}
        return inspect.BoundArguments(self.bound.signature, OrderedDict(values))


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


def _list_shown(proposed: Json, presented: Json, shown: Collection[str], pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield the values that a person reads and of which a proposal has a digest only, by JSON pointer."""
    if is_digest_object(proposed):
        if pointer in shown and (isinstance(presented, bytes) or not holds_bytes(presented)):
            yield pointer, presented
        return
    entries = dict(list_entries(presented))
    for name, value in list_entries(proposed):
        yield from _list_shown(value, entries[name], shown, f"{pointer}/{escape_pointer_token(name)}")


def restore_arguments(
    signature: inspect.Signature, proposal: Proposal, kept: KeptArguments, exclude: Mapping[str, Any], *, spread: bool
) -> CallArguments:
    """Return the arguments that were stored with a call.

    ``exclude`` has the arguments that are not content, by their names. Those that were not passed are the empty marker
    of ``inspect``, and have their defaults. With ``spread``, the others are those of ``**arguments``.

    Raises:
        InputError: The store has only the hash of an argument, or a class is not known here.
    """
    parameters = {
        name: _restore_value(value, kept.values, f"/{escape_pointer_token(name)}")
        for name, value in proposal.parameters.items()
    }
    encoded = EncodedArguments(parameters, dict(kept.classes), find_classes(kept.classes, signature))
    bound = inspect.BoundArguments(signature, OrderedDict())
    for name, parameter in signature.parameters.items():
        value = exclude.get(name)
        if value is inspect.Parameter.empty:
            value = parameter.default
        if value is inspect.Parameter.empty:
            raise InputError(
                f"The argument {name} is not stored, because exclude= names it.", hint=f"Pass {name}= to .resume()."
            )
        bound.arguments[name] = value
    content = [name for name in signature.parameters if name not in exclude]
    return CallArguments(encoded, bound, content[0] if spread else None)


def _restore_value(value: Json, values: Mapping[str, Json], pointer: str) -> Json:
    if is_digest_object(value):
        if pointer not in values:
            raise InputError(f"The store has only a hash of the argument at {pointer}.", hint=_REPEAT_HINT)
        return values[pointer]
    match value:
        case dict():
            return {
                name: _restore_value(each, values, f"{pointer}/{escape_pointer_token(name)}")
                for name, each in as_mapping(value).items()
            }
        case list():
            return [_restore_value(each, values, f"{pointer}/{index}") for index, each in enumerate(as_list(value))]
        case _:
            return value


_REPEAT_HINT: Final = "Repeat the call with its arguments, by .call(call_id, ...)."


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
