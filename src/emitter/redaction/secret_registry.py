"""Register secrets and redact them in texts, JSON values, events and exceptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast, final

from emitter.errors import InputError
from emitter.redaction.matcher import (
    MARKER_PREFIX,
    Redacted,
    SecretMatcher,
    exclude_markers,
    find_marker_bounds,
    format_marker,
    iter_decodings,
    merge_overlaps,
    replace_spans,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.messages import Json
    from emitter.redaction.matcher import SecretSpan

_MAX_PASSES = 8
"""The maximum number of passes over a text, because the rest of a text may form another secret next to a marker."""
_EMPTY_MATCHER = SecretMatcher(())


@final
@dataclass(frozen=True, slots=True)
class Secrets:
    """A registry of values that must never be shown, each under an id. Create it with ``Secrets.of``.

    Threads may share a registry. Its repr shows ids and never a value, a copy shares its values, and it cannot be
    pickled.
    """

    ids: tuple[str, ...] = field(default=(), init=False)
    _matcher: SecretMatcher = field(default=_EMPTY_MATCHER, init=False, repr=False)

    @staticmethod
    def of(registry: Mapping[str, str | Iterable[str]]) -> Secrets:
        """Return the registry of a mapping from ids to one or several values.

        White space around a value is ignored, because a trailing line break would hide the secret from the search.

        Raises:
            InputError: An id is invalid or its marker would show a value; or a value is not a string, has fewer than 4
                characters or is part of every marker. The message never shows a value.
        """
        ids = check_ids(registry)
        values = list(iter_values(registry))
        secrets = Secrets()
        object.__setattr__(secrets, "ids", ids)
        valid = [(index, value) for index, value in values if isinstance(value, str) and not find_value_problem(value)]
        object.__setattr__(secrets, "_matcher", SecretMatcher(valid))
        for number, name in enumerate(ids, 1):
            if secrets._matcher.has_match(format_marker(name).encode()):
                raise InputError(
                    f"The marker of secret number {number} would show the value of a secret.",
                    hint="Choose an id that names the secret's purpose.",
                )
        for index, value in values:
            if (problem := find_value_problem(value)) is not None:
                raise InputError(f"A value of secret number {index + 1} {problem}.", hint=VALUE_HINT)
        return secrets

    def __bool__(self) -> bool:
        return bool(self.ids)

    def found_in(self, text: str) -> bool:
        """Return whether a text contains a secret in any form."""
        data = _encode(text)
        return not self._matcher.is_clean(data) and bool(self._find_spans(data))

    def check_name(self, name: str, value: str) -> None:
        """Raise ``InputError`` if the value of an argument, which is stored as it is, contains a secret."""
        if self and self.found_in(value):
            raise InputError(
                f"{name} contains a registered secret, and it is stored as it is.", hint="Use one without the secret."
            )

    def redact_text(self, text: str) -> Redacted[str]:
        """Return a text with ``[REDACTED:<id>]`` in place of each secret.

        Overlapping secrets become one marker: that of the first one, or of the longest if they begin together. Existing
        markers of this registry are kept.
        """
        data = _encode(text)
        if self._matcher.is_clean(data):
            return Redacted(text, 0)
        count = 0
        for _ in range(_MAX_PASSES):
            spans = self._find_spans(data)
            if not spans:
                return Redacted(_decode(data) if count else text, count)
            data = replace_spans(data, spans, self.ids)
            count += len(spans)
        return Redacted(format_marker(self.ids[0]), count)

    def redact_json(self, value: Json) -> Redacted[Json]:
        """Return a JSON value with every string redacted, including keys, or the value itself if it contains no secret.

        The value is not modified. If two keys become equal, the second ends in ``~2``. Tuples count as arrays and stay
        tuples, any mapping counts as an object, and numbers are left unchanged.

        Raises:
            InputError: The value is not JSON.
        """
        if not self:
            return Redacted(value, 0)
        # One search in all strings together is faster than one for each, and most values contain no secret.
        text, containers = join_strings(value)
        if not self._matcher.has_match(_encode(text)):
            return Redacted(value, 0)
        redacted = rewrite_strings(value, self.redact_text, containers)
        return redacted if redacted.count else Redacted(value, 0)

    def redact_error(self, error: BaseException) -> str:
        """Return the redacted messages and notes of an exception and its causes, one per line."""
        from emitter.redaction.exceptions import describe_exception  # noqa: PLC0415  few calls fail

        return self.redact_text(describe_exception(error)).value

    def is_shown_by(self, error: BaseException) -> bool:
        """Return whether a secret can be read from an exception, its attributes, causes, contexts or HTTP response."""
        from emitter.redaction.exceptions import find_texts  # noqa: PLC0415  few calls fail

        texts = find_texts(error)
        return texts is None or self.found_in("\0".join(texts))

    def _find_spans(self, data: bytes) -> list[SecretSpan]:
        """Return the spans to replace with markers, in order."""
        spans = self._matcher.find_spans(data)
        return merge_overlaps(exclude_markers(spans, find_marker_bounds(data, self.ids))) if spans else spans


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


_SCALAR_TYPES = frozenset({int, float, bool, NoneType})
StringRewriter: TypeAlias = Callable[[str], Redacted[str]]
_Container: TypeAlias = "list[Json] | dict[Json, Json]"


def join_strings(value: Json) -> tuple[str, int]:
    """Return the strings and keys of a value in one text, and its number of containers.

    Raises:
        InputError: The value is not JSON.
    """
    strings: list[Json] = []
    visited: set[int] = set()
    pending: list[Json] = [value]
    for item in pending:  # grows during the loop
        item_type = item.__class__
        if item_type is str:
            strings.append(item)
        elif item_type in _SCALAR_TYPES:
            continue
        elif (identity := id(item)) not in visited:
            visited.add(identity)
            keys, items = (item, item.values()) if item_type is dict else _keys_and_items(item)
            strings += keys
            pending += items
    return _join(strings), len(visited)


def _keys_and_items(value: Json) -> tuple[Iterable[Json], Iterable[Json]]:
    """Return the keys and items of anything but a plain dict."""
    if isinstance(value, str):
        return (value,), ()
    if isinstance(value, (list, tuple)):
        return (), cast("list[Json]", value)
    if isinstance(value, (int, float)):
        return (), ()
    if isinstance(value, Mapping):
        mapping = cast("Mapping[Json, Json]", value)
        return mapping, mapping.values()
    raise _not_json_error(value)


def _join(strings: list[Json]) -> str:
    try:
        return "\0".join(strings)
    except TypeError:  # keys that are not strings
        return "\0".join(key if isinstance(key, str) else _check_key(key) for key in strings)


def _check_key(key: Json) -> str:
    if key is None or isinstance(key, (int, float)):
        return ""
    raise _not_json_error(key)


def _not_json_error(value: Json) -> InputError:
    return InputError(f"A value of type {type(value).__name__} is not JSON, so it cannot be searched for secrets.")


def rewrite_strings(value: Json, rewrite: StringRewriter, max_depth: int) -> Redacted[Json]:
    """Return a copy with every string rewritten; raise ``InputError`` if containers nest deeper than ``max_depth``."""
    top = [value]
    count = 0
    pending: list[tuple[_Container, int]] = [(top, 0)]
    tuples: list[tuple[_Container, Json]] = []
    while pending:
        container, depth = pending.pop()
        if depth > max_depth:
            raise InputError("A value contains itself, so it is not JSON.")
        for key, item in container.items() if isinstance(container, dict) else enumerate(container):
            rewritten = _rewrite_item(item, rewrite)
            value = container[key] = rewritten.value
            count += rewritten.count
            if isinstance(value, (list, dict)):
                pending.append((cast("_Container", value), depth + 1))
            if isinstance(item, tuple):
                tuples.append((container, key))
    for container, key in reversed(tuples):  # innermost first
        container[key] = tuple(container[key])
    return Redacted(top[0], count)


def _rewrite_item(item: Json, rewrite: StringRewriter) -> Redacted[Json]:
    """Return a string rewritten, an object with its keys rewritten, a copy of an array, or anything else unchanged."""
    if isinstance(item, str):
        return rewrite(item)
    if isinstance(item, (list, tuple)):
        return Redacted(list(cast("list[Json]", item)), 0)
    if isinstance(item, (dict, Mapping)):
        return _rewrite_object(cast("Mapping[Json, Json]", item), rewrite)
    return Redacted(item, 0)


def _rewrite_object(source: Mapping[Json, Json], rewrite: StringRewriter) -> Redacted[Json]:
    """Return an object with its keys rewritten and kept distinct."""
    rewritten = {key: rewrite(key) for key in source if isinstance(key, str)}
    count = sum(result.count for result in rewritten.values())
    names = _UniqueKeys({key for key in source if key not in rewritten or not rewritten[key].count}, rewrite)
    members = {
        names.reserve(rewritten[key].value) if key in rewritten and rewritten[key].count else key: source[key]
        for key in source
    }
    return Redacted(members, count)


@dataclass(slots=True)
class _UniqueKeys:
    """The keys of one object; equal rewritten keys are numbered from ``~2``."""

    used: set[Json]
    rewrite: StringRewriter
    last_number: dict[str, int] = field(default_factory=dict[str, int])

    def reserve(self, name: str) -> str:
        """Return an unused key."""
        key = name
        while key in self.used:
            self.last_number[name] = self.last_number.get(name, 1) + 1
            key = self.rewrite(f"{name}~{self.last_number[name]}").value
        self.used.add(key)
        return key


NO_SECRETS = Secrets()
"""An empty registry, which changes nothing."""
EventT = TypeVar("EventT")


def redact_event(event: EventT, secrets: Secrets) -> EventT:
    """Return the event with every secret removed from its fields, or the same event if it contains none."""
    if not secrets:
        return event
    raw: Any = event
    values = {item.name: getattr(raw, item.name) for item in fields(raw)}
    redacted = {name: secrets.redact_json(value) for name, value in values.items() if not isinstance(value, Enum)}
    changes = {name: result.value for name, result in redacted.items() if result.count}
    return replace(raw, **changes) if changes else event


MIN_SECRET_LENGTH = 4
"""The minimum length of a value. A shorter one occurs in any text by chance."""
_MAX_ID_LENGTH = 128
_FORBIDDEN_IN_ID = re.compile(r"""[]["'\\%&<>]""")
_SURROGATE = re.compile("[\ud800-\udfff]")
VALUE_HINT = "Pass each value as one complete string, and leave out values that are too short to be found safely."
_REGISTRY_HINT = 'Pass a mapping from ids to values: {"stripe-key": "the value"}, or to lists of values.'


def check_ids(registry: object) -> tuple[str, ...]:
    """Return the ids, or raise ``InputError`` with the number of an invalid one, which may be a misplaced value."""
    if not isinstance(registry, Mapping):
        raise InputError("The secrets are not a mapping from ids to values.", hint=_REGISTRY_HINT)
    ids = tuple(cast("Mapping[object, object]", registry))
    for number, name in enumerate(ids, 1):
        if not (
            isinstance(name, str) and 0 < len(name) <= _MAX_ID_LENGTH and name.isprintable()
        ) or _FORBIDDEN_IN_ID.search(name):
            raise InputError(
                f"The id of secret number {number} cannot be part of a marker.",
                hint=f"Use 1 to {_MAX_ID_LENGTH} printable characters without quotes, brackets, backslashes, percent "
                "signs and ampersands.",
            )
    return cast("tuple[str, ...]", ids)


def iter_values(registry: Mapping[str, object]) -> Iterator[tuple[int, object]]:
    """Yield the index of each id with each of its values; anything but strings is yielded unchanged."""
    for number, values in enumerate(registry.values()):
        for value in _as_values(values) or [None]:
            yield number, value.strip() if isinstance(value, str) else value


def _as_values(value: object) -> list[object]:
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return list(cast("Iterable[object]", value))
    return [value]


def find_value_problem(value: object) -> str | None:
    """Return why a value cannot be a secret, or None if it can."""
    if not isinstance(value, str):
        return "is not a string"
    if _SURROGATE.search(value):
        return "contains a lone surrogate"
    if (
        min(len(decoding.data.decode(errors="replace")) for decoding in iter_decodings(value.encode()))
        < MIN_SECRET_LENGTH
    ):
        return (
            f"has fewer than {MIN_SECRET_LENGTH} characters, not counting escapes, invisible characters and outer space"
        )
    if MARKER_PREFIX in value or value in MARKER_PREFIX:
        return "is part of every marker or contains one"
    return None
