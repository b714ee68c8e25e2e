"""Envelope kinds: a kind's id, version, payload schema and payload rules, and the registry that holds them.

``KindRegistry()`` holds OpenWOP's four universal kinds. ``media_kinds()`` and ``A2UI_KIND`` are optional.

Source: ai-envelope.md, "Schema discipline", "Schema version advertisement" and "Universal kinds".
"""

from __future__ import annotations

import binascii
import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias
from urllib.parse import SplitResult, urlsplit

from emitter.errors import InputError
from emitter.findings import Violation
from emitter.messages import as_list, as_mapping
from emitter.models.standard_kinds import (
    A2UI_SCHEMA,
    A2UI_SURFACE,
    AUTHORIZATION,
    BINDING_MOMENT,
    CATALOG_VERSION,
    CLARIFICATION_REQUEST,
    DELIBERATION,
    DOCUMENT,
    MAX_INLINE_BYTES,
    MEDIA_SCHEMAS,
    UNIVERSAL_SCHEMAS,
)
from emitter.schema.validator import Validator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emitter.messages import Json
    from emitter.schema import Tier1Finding

_SCHEMES = frozenset({"http", "https"})
_BASE_URL_HINT = "Write it like https://host.example, without credentials, query and fragment."


def is_web_url(url: str) -> bool:
    """Return whether a URI is http or https, has a host, and contains no credentials."""
    return _split_url(url) is not None


def normalize_base_url(base_url: object) -> str:
    """Return a host's base URL without a trailing slash; raise ``InputError`` if it is not one."""
    plain = isinstance(base_url, str) and base_url.isascii() and base_url.isprintable() and " " not in base_url
    parts = _split_url(base_url) if isinstance(base_url, str) and plain else None
    if parts is None or parts.query or parts.fragment:
        raise InputError("base_url must be the http or https URL of a host.", hint=_BASE_URL_HINT)
    return parts.geturl().rstrip("/")


def _split_url(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        named = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if named and "@" not in parts.netloc else None


DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REASONING: Final = "reasoning"
_PLACEHOLDERS: Final = (None, "", "none")
"""Substitutes for an absent reasoning; the last is for a schema with a minimum length."""
PayloadRule: TypeAlias = "Callable[[Json], Iterable[Violation]]"
"""A check that a schema cannot express, for payloads that are valid against it."""


def get_schema_path(kind_id: str) -> str:
    """Return the path under which a host serves the kind's schema."""
    return f"/schemas/envelopes/{kind_id}.schema.json"


def canonicalize_schema(kind_id: str, schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema as the kind's canonical document. Its ``$id`` is a path, as a host may have many names."""
    keywords = {name: value for name, value in schema.items() if name not in {"$schema", "$id"}}
    return {"$schema": DIALECT, "$id": get_schema_path(kind_id), **keywords}


@dataclass(frozen=True)
class EnvelopeKind:
    """One kind of envelope.

    Attributes:
        id: The kind's name.
        version: The version that the host advertises. With None, OpenWOP v1 turns an invalid payload into a warning.
        schema: The canonical schema; see ``canonicalize_schema``.
        rules: Checks for payloads that match the schema.
        advisory_rules: Checks that only warn.
        version_property: The property that names the version of an outside standard.
        findings: Results of linting the schema against the portable subset.
    """

    is_own: ClassVar[bool] = False
    """True if the kind is this library's own, unchanged. The library's forms build only valid payloads for it."""
    id: str
    version: int | None
    schema: Mapping[str, Json] = field(repr=False, hash=False)
    rules: tuple[PayloadRule, ...] = field(default=(), repr=False)
    advisory_rules: tuple[PayloadRule, ...] = field(default=(), repr=False)
    version_property: str | None = None
    findings: tuple[Tier1Finding, ...] = field(default=(), repr=False)

    def with_version(self, version: int | None) -> EnvelopeKind:
        """Return the kind with another version to advertise."""
        if version == self.version:
            return self
        other = copy.copy(self)
        object.__setattr__(other, "version", version)
        return other

    @cached_property
    def _validator(self) -> Validator:
        return Validator(self.schema)

    @cached_property
    def _allows_reasoning(self) -> bool:
        """True if the schema permits ``reasoning`` anywhere."""
        return f'"{_REASONING}"' in json.dumps(dict(self.schema))

    def find_violations(self, payload: Json) -> tuple[Violation, ...]:
        """Return the violations of a JSON payload. Pointers start at the payload.

        A missing ``reasoning`` is no violation: if a schema or type requires one or forbids null, an absent or null
        value is checked as the placeholders would be (ai-envelope.md, "Reasoning field").
        """
        violations = self._find_violations(payload)
        if not violations or not self._allows_reasoning or not isinstance(payload, dict):
            return violations
        members = dict(as_mapping(payload))
        if members.pop(_REASONING, None) is not None:
            return violations
        variants = (members, *({**members, _REASONING: placeholder} for placeholder in _PLACEHOLDERS))
        return min((violations, *map(self._find_violations, variants)), key=len)

    def _find_violations(self, payload: Json) -> tuple[Violation, ...]:
        return self._validator(payload) or _apply_rules(self.rules, payload)

    def find_warnings(self, payload: Json) -> tuple[Violation, ...]:
        """Return the advice about a valid payload."""
        return _apply_rules(self.advisory_rules, payload)

    def check_version(self, payload: Json) -> Violation | None:
        """Return a violation if the payload names a version that the kind does not know.

        Call it before ``find_violations``: a payload of another version cannot be checked, and its refusal is
        ``unknown_schema_version``.
        """
        if self.version_property is None:
            return None
        version: Json = as_mapping(payload).get(self.version_property)
        known: list[str] = self.schema["properties"][self.version_property]["enum"]
        if not isinstance(version, str) or version in known:
            return None
        return Violation(f"/{self.version_property}", "version", f"one of {json.dumps(known)}")

    def build_document(self, base_url: str) -> dict[str, Json]:
        """Return the schema as a host at ``base_url`` serves it, with its URL as ``$id``.

        Raises:
            InputError: ``base_url`` is not an http or https URL.
        """
        return {**copy.deepcopy(dict(self.schema)), "$id": normalize_base_url(base_url) + get_schema_path(self.id)}


def _apply_rules(rules: tuple[PayloadRule, ...], payload: Json) -> tuple[Violation, ...]:
    return tuple(violation for rule in rules for violation in rule(payload)) if rules else ()


_NO_SUCH_OPTION = Violation(
    "/binding_moment/question/recommended_idx", "range", "the position of an option that exists, counted from 0"
)
_ONE_SOURCE = Violation("", "source", "either url or base64, not both")
_NOT_A_WEB_URL = Violation("/url", "address", "an http or https address with a host, and without credentials")
_NOT_BASE64 = Violation("/base64", "encoding", "base64 (RFC 4648) with padding and without line breaks")
_OTHER_SIZE = Violation("/bytes", "size", "the number of bytes in base64")
_NO_ALT = Violation("/alt", "alt", "a description for people who cannot see or hear the asset")


def check_option_range(payload: Json) -> Iterator[Violation]:
    """Check that the recommended option exists (draft-morrison-binding-moment-envelope-00, section 5.7)."""
    question: Json = payload["binding_moment"]["question"]
    if question["recommended_idx"] >= len(question["options"]):
        yield _NO_SUCH_OPTION


@dataclass(frozen=True, slots=True)
class UniqueIdsRule:
    """The items of the list at ``path`` should have unique ids, because answers are matched by them."""

    path: tuple[str, ...]

    def __call__(self, payload: Json) -> Iterator[Violation]:
        """Yield each item that repeats the id of an earlier one."""
        for step in self.path:
            payload = payload[step]
        ids: set[Json] = set()
        for index, item in enumerate(as_list(payload)):
            item_id = as_mapping(item).get("id")
            if item_id in ids:
                yield Violation(f"/{'/'.join(self.path)}/{index}/id", "unique", "an id that no other has")
            if item_id is not None:
                ids.add(item_id)


@dataclass(frozen=True, slots=True)
class MediaSourceRule:
    """A media payload has a web address, or base64 of the stated size within a limit.

    The host that creates an address must restrict it to its tenant and make it unguessable (RFC 0055 §C).
    """

    max_inline_bytes: int

    def __call__(self, payload: Json) -> Iterator[Violation]:
        """Yield the violations of the source."""
        url, inline = payload.get("url"), payload.get("base64")
        if inline is not None:
            yield from self._check_inline(inline, payload["bytes"])
        if url is not None and not is_web_url(url):
            yield _NOT_A_WEB_URL

    def _check_inline(self, inline: str, size: float) -> Iterator[Violation]:
        if len(inline) // 4 * 3 > self.max_inline_bytes + 2:  # too large to be worth decoding
            yield self._make_too_large()
            return
        try:
            decoded_size = len(binascii.a2b_base64(inline, strict_mode=True))
        except ValueError:
            yield _NOT_BASE64
            return
        if decoded_size > self.max_inline_bytes:
            yield self._make_too_large()
        if decoded_size != size:
            yield _OTHER_SIZE

    def _make_too_large(self) -> Violation:
        expected = f"at most {self.max_inline_bytes} bytes; use url for larger assets"
        return Violation("/base64", "maxInlineMediaBytes", expected)


def check_single_source(payload: Json) -> Iterator[Violation]:
    """Recommend exactly one of ``url`` and ``base64``; the protocol's schema allows both, and neither."""
    if (payload.get("url") is None) is (payload.get("base64") is None):
        yield _ONE_SOURCE


def check_alt_text(payload: Json) -> Iterator[Violation]:
    """Recommend a text that describes the asset (RFC 0055 §B)."""
    if not payload.get("alt"):
        yield _NO_ALT


_ADVISORY_RULES = {CLARIFICATION_REQUEST: (UniqueIdsRule(("questions",)),)}
UNIVERSAL_KINDS: Final = tuple(
    EnvelopeKind(kind_id, 1, canonicalize_schema(kind_id, schema), advisory_rules=_ADVISORY_RULES.get(kind_id, ()))
    for kind_id, schema in UNIVERSAL_SCHEMAS.items()
)
"""OpenWOP's universal kinds. All of them have version 1."""


class KindRegistry(Mapping[str, EnvelopeKind]):
    """The kinds of a host by id, immutable. The universal four always come first.

    ``KindRegistry()`` has only those (ai-envelope.md, "Universal kinds": an engine must know them).
    """

    __slots__ = ("_kinds", "ids", "versions")

    def __init__(self, kinds: Iterable[EnvelopeKind] = (), versions: Mapping[str, int] | None = None) -> None:
        """Create a registry of the universal kinds and ``kinds``.

        Args:
            kinds: Further kinds, in order.
            versions: Versions to advertise by kind, instead of the kinds' own.

        Raises:
            InputError: Two kinds have the same id.
        """
        by_id: dict[str, EnvelopeKind] = {}
        for kind in (*UNIVERSAL_KINDS, *kinds):
            if kind.id in by_id:
                raise InputError(f"The registry already has a kind {kind.id}.", hint="List each kind once.")
            by_id[kind.id] = kind.with_version((versions or {}).get(kind.id, kind.version))
        self._kinds: Final = by_id
        self.ids: Final = tuple(by_id)
        """The ids that a host advertises as ``supportedEnvelopes``."""
        self.versions: Final[Mapping[str, int]] = MappingProxyType(
            {kind.id: kind.version for kind in by_id.values() if kind.version is not None}
        )
        """The versions that a host advertises as ``schemaVersions``. Kinds without a version are left out."""

    def __getitem__(self, kind_id: str) -> EnvelopeKind:
        return self._kinds[kind_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"KindRegistry({', '.join(self.ids)})"

    def with_kinds(self, *kinds: EnvelopeKind) -> KindRegistry:
        """Return a registry with more kinds.

        Raises:
            InputError: An id is already in the registry.
        """
        added = tuple(self.values())[len(UNIVERSAL_KINDS) :]
        return KindRegistry((*added, *kinds), self.versions)


class _LibraryKind(EnvelopeKind):
    """A kind of this library. Its schema is made from the payload's model when it is first read."""

    def __init__(self, **members: Any) -> None:
        fields: Any = {"schema": {}, **members}
        super().__init__(**fields)
        if "schema" not in members:  # it was not replaced
            del self.__dict__["schema"]
            self.__dict__["is_own"] = True

    @cached_property
    def schema(self) -> dict[str, Json]:  # pyright: ignore[reportIncompatibleVariableOverride]  frozen, so never set
        """The canonical schema."""
        from emitter.host.payload_schemas import payload_schema  # noqa: PLC0415  pydantic models, of which most runs need none or one

        return canonicalize_schema(self.id, payload_schema(self.id))


def _check_authorization(payload: Json) -> Iterable[Violation]:
    from emitter.host.payload_schemas import check_authorization  # noqa: PLC0415  as above

    return check_authorization(payload)


OWN_KINDS: Final = (
    _LibraryKind(id=BINDING_MOMENT, version=1, rules=(check_option_range,)),
    _LibraryKind(id=DELIBERATION, version=1),
    _LibraryKind(id=DOCUMENT, version=1),
    _LibraryKind(id=AUTHORIZATION, version=1, rules=(_check_authorization,)),
)
"""``vendor.emitter.`` ``binding-moment``, ``deliberation``, ``document`` and ``authorization``."""
STANDARD: Final = KindRegistry(OWN_KINDS)
"""OpenWOP's universal four and this library's own kinds."""
A2UI_KIND: Final = EnvelopeKind(
    A2UI_SURFACE,
    1,
    canonicalize_schema(A2UI_SURFACE, A2UI_SCHEMA),
    advisory_rules=(UniqueIdsRule(("surface", "components")),),
    version_property=CATALOG_VERSION,
)
"""``ui.a2ui-surface``. Components that share an id cause a warning: only one of their answers can come back."""


def media_kinds(max_inline_bytes: int = MAX_INLINE_BYTES) -> tuple[EnvelopeKind, ...]:
    """Return ``media.image``, ``media.audio`` and ``media.file``.

    Args:
        max_inline_bytes: The limit to advertise as ``aiProviders.maxInlineMediaBytes``. Larger assets need a URL.

    Raises:
        InputError: ``max_inline_bytes`` is not a number of bytes.
    """
    limit: Any = max_inline_bytes
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InputError("max_inline_bytes must be a whole number of bytes, 0 or more.")
    rules, advisory_rules = (MediaSourceRule(max_inline_bytes),), (check_single_source, check_alt_text)
    return tuple(
        EnvelopeKind(kind_id, 1, canonicalize_schema(kind_id, schema), rules, advisory_rules)
        for kind_id, schema in MEDIA_SCHEMAS.items()
    )
