"""Build and read the proposal of a call, with the text a person is shown.

`propose` replaces large and sensitive parameters by digest objects, writes the Markdown that displays the call and
serializes the document once. Its bytes are hashed, stored and served unchanged.

Source: draft-hardt-aauth-r3-02, sections 7 and 10.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from emitter.authority.proposals.document import (
    VOCABULARY_MCP,
    DigestedParameter,
    check_json_or_bytes,
    get_operation_details,
    get_operation_name,
    is_digest_object,
    is_same_hash,
    make_digest_object,
    parse_document,
    parse_operation,
    r3_s256,
    serialize_content,
    validate_content,
)
from emitter.errors import InputError, NotCanonical, Tampered
from emitter.messages import as_list, as_mapping
from emitter.render.safe_text import sanitize_clusters, to_single_line
from emitter.render.text_formats import escape_markdown
from emitter.schema.json_data import escape_pointer_token, parse_pointer
from emitter.visible_text import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.messages import Json

_URI_PATTERN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]{1,2000}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal's document as served, its ``r3_s256``, and its ``r3_uri`` or an empty string.

    Each property is a copy, so that nothing can change what was approved.

    Raises:
        Tampered: The hash is not that of the document.
        InputError: The document is not a proposal.
    """

    document: bytes = field(repr=False)
    s256: str
    uri: str = ""
    _content: dict[str, Json] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_content", _parse_checked(self.document, self.s256, self.uri))

    @property
    def content(self) -> dict[str, Json]:
        """The members of the document."""
        content: dict[str, Json] = _copy_json(self._content)
        return content

    @property
    def vocabulary(self) -> str:
        """The URI of the vocabulary."""
        return str(self._content["vocabulary"])

    @property
    def operation(self) -> Mapping[str, Json]:
        """The operation, as an object of its vocabulary."""
        (operation,) = self.content["operations"]
        return dict(operation)

    @property
    def parameters(self) -> Mapping[str, Json]:
        """The parameters in the document. An object with ``s256`` is a digest object."""
        return dict(self.content["parameters"])

    @property
    def shown(self) -> Mapping[str, str]:
        """By JSON pointer into the parameters, what a person reads of a value besides its JSON."""
        return dict(self._content.get("shown", {}))

    @property
    def account(self) -> str | None:
        """The account at the resource, if any."""
        return self._content.get("account")

    @property
    def display(self) -> Display | None:
        """The text shown to a person, if any."""
        return Display.from_json(self._content.get("display"))


def _copy_json(value: Json) -> Json:
    match value:
        case dict():
            members = cast("dict[str, Json]", value).items()
            return {name: each if type(each) is str else _copy_json(each) for name, each in members}
        case list():
            return [each if type(each) is str else _copy_json(each) for each in cast("list[Json]", value)]
        case _:
            return value


def propose(  # noqa: PLR0913  all but the first two have defaults
    operation: Mapping[str, Json] | str,
    parameters: dict[str, Json],
    *,
    vocabulary: str = VOCABULARY_MCP,
    account: str | None = None,
    display: Display | None = None,
    digested: Iterable[str | DigestedParameter] = (),
    longest: int | None = None,
    shown: Mapping[str, str] | None = None,
    uri: str = "",
) -> Proposal:
    """Build the proposal of a call.

    Args:
        operation: An object of the vocabulary, or a string for the member that names it.
        parameters: The arguments as JSON, possibly with bytes.
        vocabulary: The URI of the vocabulary. Defaults to MCP tools.
        account: The account at the resource.
        display: The text shown to a person. Missing parts are generated, showing every parameter not in ``digested``.
        digested: Parameters to show only as a digest: names, JSON pointers, or ``DigestedParameter``. Names that the
            call lacks are ignored.
        longest: Longer strings become a digest with an excerpt, and so do lists and objects over sixteen times as long.
            A person then approves what they cannot read. Defaults to None: the proposal has each value whole.
        shown: By JSON pointer into the parameters, what a person reads of a value besides its JSON.
        uri: The ``r3_uri``; see ``new_proposal_uri``.

    Raises:
        InputError: An argument has no place in a proposal.
    """
    checked, texts = digest_parameters(check_parameters(parameters), digested, longest, shown or {})
    parsed = parse_operation(operation, vocabulary)
    call = ProposedOperation(operation=parsed, vocabulary=vocabulary, parameters=checked, account=account, shown=texts)
    content = validate_content(_make_content(call))
    document = serialize_content({**content, "display": _make_display(call, display)})
    return Proposal(document, r3_s256(document), uri)


def read_proposal(document: bytes, s256: str, *, uri: str = "") -> Proposal:
    """Read the proposal in a document.

    Raises:
        Tampered: The hash is not that of the document.
        InputError: The document is not a proposal.
    """
    return Proposal(document, s256, uri)


def _make_content(call: ProposedOperation) -> dict[str, Json]:
    return {
        "vocabulary": call.vocabulary,
        "operations": [call.operation],
        **({} if call.account is None else {"account": call.account}),
        "parameters": to_document_value(call.parameters),
        **({"shown": dict(call.shown)} if call.shown else {}),
    }


def _make_display(call: ProposedOperation, display: Display | None) -> dict[str, Json]:
    effective = Display(summarize_operation(call.operation, call.vocabulary)) if display is None else display
    members = effective.to_json()
    return (
        members
        if effective.detail is not None
        else {**members, "detail": make_detail(call, members.get("irreversible"))}
    )


def _parse_checked(document: object, s256: object, uri: object) -> dict[str, Json]:
    if not isinstance(document, bytes) or not isinstance(s256, str) or not isinstance(uri, str):
        raise InputError("A proposal needs a document as bytes, its hash as a string, and a URI or an empty string.")
    if uri and not _URI_PATTERN.fullmatch(uri):
        raise InputError("The URI of a proposal must be absolute and ASCII.", hint="See new_proposal_uri().")
    if not is_same_hash(r3_s256(document), s256):
        raise Tampered("The document does not match its hash.", place=uri or "the document")
    return parse_document(document)


_DISPLAY_FIELDS: Final = ("summary", "implications", "data_accessed", "irreversible", "detail")
_TAB_WIDTH: Final = 4


@dataclass(frozen=True, slots=True)
class Display:
    """A resource's description of a call.

    ``summary`` is one line for a consent screen. ``implications``, ``data_accessed`` and ``irreversible`` are plain
    text. ``detail`` is Markdown: None generates it from the call, and an empty string leaves it out. Escape text from
    others with ``emitter.render.text_formats.escape_markdown``.
    """

    summary: str
    implications: str | None = None
    data_accessed: str | None = None
    irreversible: str | None = None
    detail: str | None = None

    @classmethod
    def from_json(cls, document: Json) -> Display | None:
        """Return the ``display`` of a document, or None."""
        members = as_mapping(document)
        texts = {name: members.get(name) for name in _DISPLAY_FIELDS[1:]}
        return cls(members["summary"], **texts) if members else None

    def to_json(self) -> dict[str, Json]:
        """Return the document's ``display`` without control, bidirectional or invisible characters.

        Raises:
            InputError: A member is not a string, or the summary is blank.
        """
        texts = {
            name: _clean_text(text) for name in _DISPLAY_FIELDS[1:] if (text := getattr(self, name)) not in {None, ""}
        }
        return {"summary": _clean_summary(self.summary), **texts}


def _clean_summary(value: object) -> str:
    if not isinstance(value, str) or is_blank(value):
        raise InputError("A display needs a summary.", hint="Describe the call in one line.")
    return to_single_line(value)


def _clean_text(value: object) -> str:
    """Return the text with unsafe characters replaced in each line."""
    if not isinstance(value, str):
        raise InputError("The members of a Display must be strings.")
    return "\n".join("".join(sanitize_clusters(row.expandtabs(_TAB_WIDTH))) for row in value.splitlines())


_MAX_ROW_LENGTH: Final = 2_000
"""A list or object whose JSON has more characters is shown with a row for each entry."""
_MAX_SHOWN_NAME: Final = 100
_RECIPIENT_NAMES: Final = frozenset({"to", "recipient", "recipients", "cc", "bcc"})


@dataclass(frozen=True, slots=True)
class ProposedOperation:
    """A proposed call; ``parameters`` contain a ``DigestedValue`` for each value that becomes a digest."""

    operation: Mapping[str, Json]
    vocabulary: str
    parameters: dict[str, Json]
    account: str | None
    shown: Mapping[str, str]


def summarize_operation(operation: Mapping[str, Json], vocabulary: str) -> str:
    """Return a summary that only names the operation."""
    return to_single_line(f"Call {get_operation_name(operation, vocabulary)}")


def make_detail(call: ProposedOperation, irreversible: str | None) -> str:
    """Return the Markdown of a call; ``irreversible`` describes in plain text what cannot be undone."""
    parameters = call.parameters.items()
    recipients = [row for row in parameters if row[0].casefold() in _RECIPIENT_NAMES]
    others = [row for row in parameters if row[0].casefold() not in _RECIPIENT_NAMES]
    sections = {
        "Action": _action_rows(call),
        "Account": [] if call.account is None else [_format_text(call.account)],
        "To": [_format_row(*row) for row in _iter_rows(recipients)],
        "Details": [_format_row(path, row) for path, row in _iter_rows(others) if not isinstance(row, DigestedValue)],
        "Content": [_format_row(path, row) for path, row in _iter_rows(others) if isinstance(row, DigestedValue)],
        "Irreversible": [escape_markdown(to_single_line(irreversible))] if irreversible else [],
    }
    return "\n\n".join("\n".join((f"## {title}", *rows)) for title, rows in sections.items() if rows)


def _action_rows(call: ProposedOperation) -> list[str]:
    call_row = f"Call {_format_text(get_operation_name(call.operation, call.vocabulary))}"
    return [
        call_row,
        *(_format_row(*row) for row in _iter_rows(get_operation_details(call.operation, call.vocabulary).items())),
    ]


def _iter_rows(members: Iterable[tuple[str, Json]], prefix: str = "") -> Iterator[tuple[str, Json]]:
    """Yield the values to show in rows of their own, with their paths: digests, and short values without any."""
    for name, value in members:
        path = f"{prefix}{escape_pointer_token(name)}"
        visible = value.visible_parts if isinstance(value, DigestedValue) and value.visible_parts is not None else value
        if contains_digest(visible) or (list_entries(visible) and len(_to_json_text(visible)) > _MAX_ROW_LENGTH):
            yield from _iter_rows(list_entries(visible), f"{path}/")
        else:
            yield path, visible


def _format_row(path: str, value: Json) -> str:
    name = escape_markdown(to_single_line(f"{path[:_MAX_SHOWN_NAME]}…" if len(path) > _MAX_SHOWN_NAME else path))
    return f"- {f'**{name}:**' if name else '*(no name)*'} {_format_value(value)}"


def _format_value(value: Json) -> str:
    if isinstance(value, DigestedValue):
        excerpt = value.digest.get("excerpt")
        return (
            f"*({value.description}; not shown)*"
            if excerpt is None
            else f"{escape_markdown(excerpt)} *(excerpt; {value.description})*"
        )
    return _format_text(value if isinstance(value, str) else _to_json_text(value))


def _to_json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _format_text(text: str) -> str:
    """Return text as one line of Markdown."""
    return escape_markdown(to_single_line(text)) or "*(blank)*"


ParameterPath: TypeAlias = "tuple[str, ...]"
"""The names and indexes that lead to a value."""
_CONTAINER_FACTOR: Final = 16
"""The JSON of a list or object may be this many times as long as a string without becoming a digest."""
_POINTER_PATTERN: Final = re.compile(r"(/([^~/]|~[01])*)+")
_DIGESTED_MESSAGE: Final = "digested= must be a list of names, JSON pointers and DigestedParameter."
_SEND_AS_TEXT_HINT: Final = "Use JSON and bytes; send a number that is larger, or must be exact, as text."


@dataclass(frozen=True, slots=True)
class DigestedValue:
    """A value that the proposal represents by a digest.

    ``description`` describes it to a person. ``visible_parts`` are shown anyway: the members of an object that became a
    digest only because it would look like one.
    """

    digest: dict[str, Json]
    description: str
    visible_parts: Json = None


def check_parameters(parameters: object) -> dict[str, Json]:
    """Return the parameters if they are a JSON object, possibly with bytes, or raise ``InputError``."""
    if not isinstance(parameters, dict):
        raise InputError("The parameters of a call must be an object.", hint="Pass a dict with a value for each name.")
    try:
        check_json_or_bytes(cast("Json", parameters))
    except NotCanonical as error:
        raise InputError(f"Parameters, at {error.pointer or '#'}: {error.reason}", hint=_SEND_AS_TEXT_HINT) from None
    return cast("dict[str, Json]", parameters)


def digest_parameters(
    parameters: dict[str, Json],
    digested: Iterable[str | DigestedParameter],
    max_length: int | None,
    shown: Mapping[str, str],
) -> tuple[dict[str, Json], Mapping[str, str]]:
    """Replace values that become digests by a ``DigestedValue``, or raise ``InputError``.

    Returns:
        The parameters, and the texts of ``shown`` and of values that are digests but not hidden, by JSON pointer.
    """
    if max_length is not None and (type(max_length) is not int or max_length < 1):
        raise InputError("longest= must be None or an integer of at least 1.")
    digester = _ParameterDigester(_parse_digested(digested), max_length)
    digester.shown.update({at: text for at, text in shown.items() if not digester.hides(parse_pointer(at))})
    return digester.digest_members(parameters, ()), digester.shown


def to_document_value(value: Json) -> Json:
    """Return a value with digest objects in place of ``DigestedValue``."""
    match value:
        case DigestedValue():
            return value.digest
        case dict():
            return {name: to_document_value(member) for name, member in cast("dict[str, Json]", value).items()}
        case list():
            return [to_document_value(member) for member in cast("list[Json]", value)]
        case _:
            return value


def list_entries(value: Json) -> list[tuple[str, Json]]:
    """Return the entries of a list or object with their names or indexes."""
    return [*as_mapping(value).items(), *((f"{index}", entry) for index, entry in enumerate(as_list(value)))]


def contains_digest(value: Json) -> bool:
    """Return True if a value contains a ``DigestedValue``."""
    return any(isinstance(entry, DigestedValue) or contains_digest(entry) for _, entry in list_entries(value))


@dataclass(frozen=True, slots=True)
class _ParameterDigester:
    """Replaces the values of one call's parameters by digests."""

    requested: Mapping[ParameterPath, DigestedParameter]
    max_length: int | None
    shown: dict[str, str] = field(default_factory=dict[str, str])

    def hides(self, path: ParameterPath) -> bool:
        """Return True if a value, or one around it, is to be shown only as a digest."""
        return any(path[:length] in self.requested for length in range(1, len(path) + 1))

    def digest_members(self, parameters: dict[str, Json], path: ParameterPath) -> dict[str, Json]:
        return {name: self.digest_value(value, (*path, name)) for name, value in parameters.items()}

    def digest_value(self, value: Json, path: ParameterPath) -> Json:
        options = self.requested.get(path)
        if options is not None:
            digest = make_digest_object(value, media_type=options.media_type, excerpt=options.excerpt)
            return DigestedValue(digest, "the rest is kept back" if "excerpt" in digest else "kept back")
        match value:
            case bytes():
                description = self.shown[_to_pointer(path)] = f"{len(value):,} byte{'' if len(value) == 1 else 's'}"
                return DigestedValue(make_digest_object(value), description)
            case str() if self.max_length is not None and len(value) > self.max_length:
                return DigestedValue(make_digest_object(value, excerpt=True), f"{len(value):,} characters")
            case list():
                entries = enumerate(cast("list[Json]", value))
                parts = [self.digest_value(entry, (*path, f"{index}")) for index, entry in entries]
                return self.digest_container(value, parts, path)
            case dict():
                return self.digest_container(value, self.digest_members(cast("dict[str, Json]", value), path), path)
            case _:
                return value

    def digest_container(self, value: Json, parts: Json, path: ParameterPath) -> Json:
        """Return a list or object, or its digest if it is too long or looks like a digest.

        A long one that contains digests gets no excerpt, which might reveal what they hide.
        """
        if self.max_length is not None:
            size = len(_to_json_text(to_document_value(parts)))
            if size > self.max_length * _CONTAINER_FACTOR:
                digest = make_digest_object(value, excerpt=not contains_digest(parts))
                return DigestedValue(digest, f"{size:,} characters of JSON")
        if not is_digest_object(value):
            return parts
        self.shown[_to_pointer(path)] = _to_json_text(to_document_value(parts))
        return DigestedValue(make_digest_object(value), "", parts)


def _to_pointer(path: ParameterPath) -> str:
    return "".join(f"/{escape_pointer_token(step)}" for step in path)


def _parse_digested(digested: object) -> dict[ParameterPath, DigestedParameter]:
    """Return the digested parameters by path; a single string is rejected."""
    if isinstance(digested, str | bytes) or not isinstance(digested, Iterable):
        raise InputError(_DIGESTED_MESSAGE)
    parameters = map(_as_digested_parameter, cast("Iterable[object]", digested))
    return {_parse_path(parameter.place): parameter for parameter in parameters}


def _as_digested_parameter(value: object) -> DigestedParameter:
    parameter = DigestedParameter(value) if isinstance(value, str) else value
    if not isinstance(parameter, DigestedParameter) or not isinstance(cast("object", parameter.place), str):
        raise InputError(_DIGESTED_MESSAGE)
    return parameter


def _parse_path(text: str) -> ParameterPath:
    """Return the path of a name or JSON pointer, or raise ``InputError``."""
    if not text.startswith("/"):
        return (text,)
    if not _POINTER_PATTERN.fullmatch(text):
        raise InputError("A place must be a name, or a JSON pointer with ~0 for ~ and ~1 for /.")
    return parse_pointer(text)
