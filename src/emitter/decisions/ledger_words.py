"""Keep the principal's words: free texts, objections and topics of detail requests.

``KeepWords`` sets how long a ledger keeps them and whether they are encrypted. They are stored apart from everything
else so that they can be deleted. Events and receipts never contain them.

Source: RFC 7516 (JWE) and RFC 7518 (``dir`` and ``ECDH-ES`` with ``A256GCM``).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, cast

from emitter.decisions import ledger_arguments
from emitter.errors import InputError, MissingExtra, StoreAltered
from emitter.files import check_path
from emitter.messages import as_mapping
from emitter.stores import Entry

if TYPE_CHECKING:
    import os

    from emitter.decisions.ledger_log import LedgerLog
    from emitter.messages import Json

WORDS_ENTRY_TYPE: Final = "emitter.decision.words"
ONE_WEEK: Final = 7 * 24 * 60 * 60.0
_CONTENT_ENCRYPTION: Final = "A256GCM"
_DIRECT_ENCRYPTION: Final = "dir"
_KEY_AGREEMENT: Final = "ECDH-ES"
_KEY_BYTES: Final = 32
_CURVES: Final = frozenset({"X25519", "P-256"})
_MAX_CACHED_WORDS: Final = 1024
"""The number of latest answers whose words this process keeps in memory."""
_KEY_HINT: Final = "Pass a JWK (kty oct with 32 bytes, or an X25519 or P-256 key), 32 bytes, or the text of a PEM file."


@dataclass(frozen=True, slots=True)
class KeepWords:
    """Settings for keeping the principal's words, so that an agent in another process can read them.

    Attributes:
        seconds: How long the words are kept before they are deleted. ``None`` keeps them as long as the store.
        key: Encrypts the words. ``None`` keeps them as plain text. With a symmetric key (32 bytes, or a JWK of ``kty``
            ``oct``), everybody who has it can write and read. With an X25519 or P-256 key pair, a ledger with the
            public key can only write, and a ledger with the private key can read. Needs the extra ``signing``.

    Raises:
        InputError: ``seconds`` is not a number above 0, or ``key`` is another kind of key.
    """

    seconds: float | None = ONE_WEEK
    key: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        ledger_arguments.check_seconds(self.seconds, "seconds")
        if self.key is not None:
            object.__setattr__(self, "key", _import_key(self.key))

    @classmethod
    def with_key_file(cls, path: str | os.PathLike[str], *, seconds: float | None = ONE_WEEK) -> KeepWords:
        """Return settings with the key from a file in JWK or PEM format.

        Raises:
            InputError: The file cannot be read, or has no key that can encrypt words.
        """
        place = check_path("path", path)
        try:
            text = place.read_bytes()
        except OSError as error:
            raise InputError(f"{place} cannot be read: {error.strerror}.") from None
        try:
            jwk: object = json.loads(text)
        except (ValueError, RecursionError):
            jwk = text
        try:
            return cls(seconds, jwk)
        except InputError as error:
            if isinstance(error, MissingExtra):
                raise
            raise InputError(f"{place} has no key that can encrypt words.", hint=_KEY_HINT) from None

    def expires_at(self, written_at: float) -> float | None:
        """Return when words written at a time are deleted, in seconds since 1970, or ``None``."""
        return None if self.seconds is None else written_at + self.seconds

    @property
    def summary(self) -> str:
        """A sentence for the principal about how their words are kept, and for how long."""
        form = "as plain text" if self.key is None else "encrypted"
        span = "as long as the store" if self.seconds is None else f"for at most {format_duration(self.seconds)}"
        return f"Your words are kept for the agent to read, {form}, {span}."

    def make_entry(self, name: str, words: str, written_at: float) -> Entry:
        """Return the store entry for words."""
        form = {"words": words} if self.key is None else {"jwe": _encrypt(self.key, name, words)}
        return Entry(WORDS_ENTRY_TYPE, {"keptUntil": self.expires_at(written_at)}, form)


def format_duration(seconds: float) -> str:
    """Format a duration in the largest unit that divides it."""
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size and seconds % size == 0:
            count = int(seconds // size)
            return f"{count:,} {name}{'' if count == 1 else 's'}"
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


class MissingWordsReason(str, Enum):
    """The reason why a ledger cannot return the principal's words."""

    NOT_KEPT = "not_kept"
    """The ledger that took the answer was opened with ``words=None``."""
    DELETED = "deleted"
    """They have expired, or ``Ledger.delete_words`` deleted them."""
    ENCRYPTED = "encrypted"
    """They are encrypted, and this ledger has no key that decrypts them."""


def read_words(entry: Entry, name: str, key: Any, now: float) -> str | MissingWordsReason:
    """Return the words of an entry, or why they cannot be read. Raises ``StoreAltered``."""
    kept_until: Json = entry.outcome.get("keptUntil")
    if entry.type != WORDS_ENTRY_TYPE or not (kept_until is None or isinstance(kept_until, int | float)):
        raise _altered_error()
    if kept_until is not None and now >= kept_until:
        return MissingWordsReason.DELETED
    match entry.envelope:
        case {"words": str(words)}:
            return words
        case {"jwe": str(token)}:
            return MissingWordsReason.ENCRYPTED if key is None else _decrypt(key, name, token)
        case _:
            raise _altered_error()


def words_key(decision: str, number: int | None = None) -> str:
    """Return the store key of the words of a resolution or of a detail request."""
    return f"words:{decision}" if number is None else f"words:{decision}:{number}"


def deleted_words_key(name: str) -> str:
    """Return the store key of the marker for deleted words."""
    return f"deleted:{name}"


class PrincipalWords:
    """Keep free texts, objections and topics as ``keep`` says, or in this process's memory if it is None."""

    __slots__ = ("_cached", "_log", "keep")

    def __init__(self, log: LedgerLog, keep: KeepWords | None) -> None:
        self.keep = keep
        self._log = log
        self._cached: OrderedDict[str, tuple[str, float | None]] = OrderedDict()

    def write(self, name: str, words: str, written_at: float) -> float | None:
        """Store words and return when they are deleted, or None."""
        if self.keep is None:
            return None
        self._log.write_words(name, self.keep.make_entry(name, words, written_at))
        return self.keep.expires_at(written_at)

    def cache(self, name: str, words: str, written_at: float) -> None:
        """Keep words in memory."""
        self._cached[name] = words, None if self.keep is None else self.keep.expires_at(written_at)
        while len(self._cached) > _MAX_CACHED_WORDS:
            self._cached.popitem(last=False)

    def read(self, name: str) -> str | MissingWordsReason:
        """Return the words under a name, or why they cannot be read."""
        now = self._log.now()
        words, kept_until = self._cached.get(name, (None, None))
        if words is not None and (kept_until is None or now < kept_until):
            return words
        self._cached.pop(name, None)
        entry = self._log.find(name)
        if entry is not None:
            return read_words(entry, name, None if self.keep is None else self.keep.key, now)
        is_deleted = self._log.find(deleted_words_key(name)) is not None
        return MissingWordsReason.DELETED if is_deleted else MissingWordsReason.NOT_KEPT

    def delete(self, name: str, decision: str) -> int:
        """Delete words, and return how many texts were stored under the name: 0 or 1."""
        is_stored = self._log.find(name) is not None
        self._cached.pop(name, None)
        self._log.delete_words(name, decision)
        return int(is_stored)


def _altered_error() -> StoreAltered:
    return StoreAltered("The stored words of a principal are not what was written.")


def _import_key(value: object) -> Any:
    """Return a key as a joserfc key. Raises ``InputError`` and ``MissingExtra``."""
    try:
        key = _import_jwk(value)
        is_suitable = len(key.raw_value) == _KEY_BYTES if key.key_type == "oct" else key.curve_name in _CURVES
    except ImportError as error:
        raise MissingExtra("Encrypting words needs joserfc.", extra="signing") from error
    except Exception:  # noqa: BLE001  messages of joserfc and cryptography may contain parts of the key
        raise InputError("key cannot encrypt words.", hint=_KEY_HINT) from None
    if not is_suitable:
        raise InputError("key cannot encrypt words.", hint=_KEY_HINT)
    return key


def _import_jwk(value: object) -> Any:
    from joserfc.jwk import ECKey, OctKey, OKPKey, import_key  # noqa: PLC0415  joserfc is an extra

    match value:
        case bytes() if len(value) == _KEY_BYTES:
            return OctKey.import_key(value)
        case str() | bytes():
            return _import_pem(value)
        case Mapping():
            return import_key(dict(cast("Mapping[str, Any]", value)))
        case _:
            return value if isinstance(value, OctKey | ECKey | OKPKey) else None


def _import_pem(text: str | bytes) -> Any:
    from joserfc.jwk import ECKey, OKPKey  # noqa: PLC0415  joserfc is an extra

    try:
        return OKPKey.import_key(text)
    except Exception:  # noqa: BLE001  it may be an EC key
        return ECKey.import_key(text)


def _algorithm(key: Any) -> str:
    return _DIRECT_ENCRYPTION if key.key_type == "oct" else _KEY_AGREEMENT


def _encrypt(key: Any, name: str, words: str) -> str:
    """Return words as a compact JWE. It includes their store key, so that no entry can stand in for another."""
    from joserfc import jwe  # noqa: PLC0415  joserfc is an extra

    header = {"alg": _algorithm(key), "enc": _CONTENT_ENCRYPTION}
    text = json.dumps({"name": name, "words": words}).encode()
    return jwe.encrypt_compact(header, text, key, algorithms=list(header.values()))


def _decrypt(key: Any, name: str, token: str) -> str | MissingWordsReason:
    from joserfc import jwe  # noqa: PLC0415  joserfc is an extra

    try:
        plaintext = jwe.decrypt_compact(token, key, algorithms=[_algorithm(key), _CONTENT_ENCRYPTION]).plaintext
        members = as_mapping(json.loads(plaintext or b""))
    except Exception:  # noqa: BLE001  a wrong key raises many types
        return MissingWordsReason.ENCRYPTED
    if members.get("name") != name or not isinstance(members.get("words"), str):
        raise _altered_error()
    return str(members["words"])
