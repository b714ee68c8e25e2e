"""Encode the arguments of a call as JSON, and make the arguments that the tool gets from it.

This is the only encoding of a guarded call. What a person reads, what is digested and what is stored are its JSON;
``classes`` has what JSON does not express; and the tool gets what ``decode_arguments`` makes of both.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from emitter.authority.guard.inspection import name_class
from emitter.authority.guard.value_classes import UnsupportedValue, explain_unsupported, find_value_class
from emitter.decisions.canonical_json import LONE_SURROGATE, MAX_DEPTH, CanonicalProfile, digest_of
from emitter.errors import InputError
from emitter.messages import as_list, as_mapping
from emitter.schema.json_data import escape_pointer_token
from emitter.visible_text import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.authority.guard.value_classes import ValueClass
    from emitter.messages import Json

_MAX_DEPTH: Final = MAX_DEPTH - 2
"""The document of a proposal has two objects around an argument."""
_MAX_VALUES: Final = 100_000
"""Limit on values within an argument; shared values count each time, as they do in JSON."""
_DISCLOSED_STEP: Final = re.compile(r"[A-Za-z_][\w-]{0,39}|[0-9]{1,6}", re.ASCII)
"""The steps of a path that an error shows. Other names of members are content."""
_CONVERT_HINT: Final = "Convert it to plain values."
_SPLIT_HINT: Final = "Pass less at once, or a reference to it."


@dataclass(frozen=True, slots=True)
class EncodedArguments:
    """A call's arguments as JSON (with bytes), and what JSON does not express.

    ``classes`` maps JSON pointers to the class of a value and its details. ``table`` has those classes by name.
    ``shown`` has the texts of classes that describe themselves.
    """

    parameters: dict[str, Json] = field(repr=False)
    classes: dict[str, Json] = field(default_factory=dict[str, "Json"], repr=False)
    table: dict[str, type] = field(default_factory=dict[str, type], repr=False)
    shown: dict[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def class_digest(self) -> str | None:
        """A digest of the classes that JSON cannot express, or None."""
        return digest_of(self.classes, CanonicalProfile.WIRE) if self.classes else None


def encode_arguments(content: Mapping[str, object]) -> EncodedArguments:
    """Encode arguments, or raise ``InputError``, which names the argument, the place in it and the conversion."""
    encoded = EncodedArguments({})
    for name, value in content.items():
        one = _encode_argument(name, value, encoded.table)
        if one.classes:
            _check_decodes(name, one)
        for merged, part in ((encoded.parameters, one.parameters), (encoded.classes, one.classes)):
            merged.update(part)
        encoded.shown.update(one.shown)
    return encoded


def _encode_argument(name: str, value: object, table: dict[str, type]) -> EncodedArguments:
    one = EncodedArguments({}, table=table)
    encoder = _Encoder(one, (name,))
    try:
        one.parameters[name] = encoder.encode(value, (name,))
    except UnsupportedValue as error:
        raise _unsupported(encoder.path, error.reason, error.hint) from None
    except Exception:  # noqa: BLE001  taking a value apart may run its class's code
        raise _unsupported(encoder.path, "cannot be read", _CONVERT_HINT) from None
    return one


def _check_decodes(name: str, one: EncodedArguments) -> None:
    """Raise ``InputError`` unless the decoded argument has the same encoding."""
    try:
        decoded = decode_arguments(one.parameters, one.classes, one.table)[name]
    except Exception:  # noqa: BLE001  putting a value together may run its class's code
        raise _unsupported((name,), "cannot be rebuilt from what it shows", _CONVERT_HINT) from None
    again = _encode_argument(name, decoded, one.table)
    if not _is_same_json(again.parameters, one.parameters) or again.classes != one.classes:
        raise _unsupported((name,), "is another value once it is rebuilt", _CONVERT_HINT)


def decode_arguments(
    parameters: Mapping[str, Json], classes: Mapping[str, Json], table: Mapping[str, type]
) -> dict[str, Any]:
    """Make the arguments of a call from their encoding.

    Raises:
        LookupError: ``table`` lacks one of the classes.
    """
    decoder = _Decoder(classes, table)
    return {name: decoder.decode(value, (name,)) for name, value in parameters.items()}


def find_classes(classes: Mapping[str, Json], signature: inspect.Signature) -> dict[str, type]:
    """Return the classes of stored arguments by name: of the tool's annotations, or of modules that are imported.

    Raises:
        InputError: One is not found, or guarded tools do not take it.
    """
    names = {str(as_list(entry)[0]) for entry in classes.values()}
    annotated = {name_class(each): each for each in _iterate_annotations(signature)}
    return {name: _find_class(name, annotated) for name in names}


def _iterate_annotations(signature: inspect.Signature) -> Iterator[type]:
    waiting = [parameter.annotation for parameter in signature.parameters.values()]
    while waiting:
        annotation = waiting.pop()
        waiting += get_args(annotation)
        if isinstance(annotation, type) and annotation is not inspect.Parameter.empty:
            yield annotation


def _find_class(name: str, annotated: Mapping[str, type]) -> type:
    module, _, qualname = name.partition(":")
    found: object = annotated.get(name)
    if found is None:
        found = sys.modules.get("__main__" if module.startswith("__main__") else module)
        for step in qualname.split("."):
            found = getattr(found, step, None)
    if not isinstance(found, type) or name_class(found) != name or find_value_class(found) is None:
        raise InputError(
            f"The class {name} of a stored argument is not known in this process.",
            hint="Import its module, or repeat the call with its arguments, by .call(call_id, ...).",
        )
    return found


def _unsupported(path: tuple[str, ...], reason: str, hint: str) -> InputError:
    name, *inner = path
    steps = "".join(f"/{step if _DISCLOSED_STEP.fullmatch(step) else '*'}" for step in inner)
    place = f" at {steps}" if steps else ""
    shown = name if name.isidentifier() else json.dumps(name)
    return InputError(
        f"The argument {shown}{place} {reason}, so nobody could approve exactly what it is.",
        hint=f"{hint} Or name {shown} in exclude= if it is not content.",
    )


@dataclass(slots=True)
class _Encoder:
    """Encodes one argument. ``path`` is where it is, or where it failed."""

    result: EncodedArguments
    path: tuple[str, ...]
    count: int = 0

    def encode(self, value: object, path: tuple[str, ...]) -> Json:
        self.path = path
        self.count += 1
        if self.count > _MAX_VALUES:
            raise UnsupportedValue(f"has more than {_MAX_VALUES:,} values", _SPLIT_HINT)
        if len(path) > _MAX_DEPTH + 1:
            raise UnsupportedValue(f"nests deeper than {_MAX_DEPTH} levels, or holds itself", _SPLIT_HINT)
        value_class = find_value_class(type(value))
        if value_class is None:
            raise explain_unsupported(value)
        part, details = value_class.take_apart(value)
        if details is not None:
            self._note_class(type(value), details, path)
        if value_class.show is not None:
            self._note_text(value_class, value, path)
        return self.encode(part, (*path, "value")) if value_class.is_nested else self._encode_part(part, path)

    def _encode_part(self, part: object, path: tuple[str, ...]) -> Json:
        match part:
            case str():
                if LONE_SURROGATE.search(part):
                    raise UnsupportedValue("contains a lone surrogate", _SURROGATE_HINT)
                return part
            case list():
                items = enumerate(list(cast("list[object]", part)))
                return [self.encode(each, (*path, f"{index}")) for index, each in items]
            case dict():
                return self._encode_members(dict(cast("dict[object, object]", part)), path)
            case _:
                return cast("Json", part)

    def _encode_members(self, part: dict[object, object], path: tuple[str, ...]) -> Json:
        members: dict[str, Json] = {}
        for key, value in part.items():
            name = self._encode_key(key, path)
            if name in members:
                raise UnsupportedValue("has two members of the same name", "Give each a name of its own.")
            members[name] = self.encode(value, (*path, name))
            self.path = path
        return members

    def _encode_key(self, key: object, path: tuple[str, ...]) -> str:
        name: object = key._value_ if isinstance(key, Enum) else key
        if type(name) is not str:
            reason = "of a subclass of str" if isinstance(name, str) else "not a text"
            raise UnsupportedValue(f"has a member whose name is {reason}", _KEY_HINT)
        if LONE_SURROGATE.search(name):
            raise UnsupportedValue("has a name with a lone surrogate", _SURROGATE_HINT)
        if isinstance(key, Enum):
            self._note_class(type(key), [], (*path, name), _KEY_MARK)
        return name

    def _note_class(self, cls: type, details: list[Json], path: tuple[str, ...], mark: str = "") -> None:
        name = name_class(cls)
        if self.result.table.setdefault(name, cls) is not cls:
            raise UnsupportedValue(f"has two classes with the name {name}", "Give each a name of its own.")
        self.result.classes[f"{_json_pointer(path)}{mark}"] = [name, *details]

    def _note_text(self, value_class: ValueClass, value: object, path: tuple[str, ...]) -> None:
        text: object = None if value_class.show is None else value_class.show(value)
        if type(text) is not str or is_blank(text) or LONE_SURROGATE.search(text):
            raise UnsupportedValue("is of a class whose show= returns no text", "Return a text that can be read.")
        self.result.shown[_json_pointer(path)] = text


@dataclass(frozen=True, slots=True)
class _Decoder:
    """Makes values from their encoding."""

    classes: Mapping[str, Json]
    table: Mapping[str, type]

    def decode(self, value: Json, path: tuple[str, ...]) -> object:
        entry = as_list(self.classes.get(_json_pointer(path))) if self.classes else []
        if not entry:
            return self._decode_members(value, path)
        name, *details = entry
        cls = self.table[str(name)]
        value_class = find_value_class(cls)
        if value_class is None:
            raise LookupError(name)
        part = self.decode(value, (*path, "value")) if value_class.is_nested else self._decode_members(value, path)
        return value_class.put_together(cls, details, part)

    def _decode_members(self, value: Json, path: tuple[str, ...]) -> object:
        match value:
            case list():
                return [self.decode(each, (*path, f"{index}")) for index, each in enumerate(as_list(value))]
            case dict():
                members = as_mapping(value).items()
                return {self._decode_key((*path, name)): self.decode(each, (*path, name)) for name, each in members}
            case _:
                return value

    def _decode_key(self, path: tuple[str, ...]) -> object:
        entry = as_list(self.classes.get(f"{_json_pointer(path)}{_KEY_MARK}")) if self.classes else []
        return cast("Any", self.table[str(entry[0])])(path[-1]) if entry else path[-1]


_KEY_MARK: Final = "~"
"""Ends the pointer of a member's name. No JSON pointer ends in it."""
_KEY_HINT: Final = "Use texts as names, or pass a list of pairs."
_SURROGATE_HINT: Final = "Replace it: text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')."


def _json_pointer(path: tuple[str, ...]) -> str:
    # Not child_pointer(), which cuts long names: two members with one pointer would share a class.
    return "".join(f"/{escape_pointer_token(step)}" for step in path)


def _is_same_json(one: Any, other: Any) -> bool:
    """Return True if two encoded values are equal, with the classes and the order of their members."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return _is_same_json(list(one), list(other)) and _is_same_json(list(one.values()), list(other.values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_is_same_json, one, other))  # pyright: ignore[reportUnknownArgumentType]
    return bool(one == other)
