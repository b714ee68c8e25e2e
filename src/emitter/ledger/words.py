"""How long, and in which form, a ledger keeps what the principal wrote: free texts, objections, topics of detail.

The words stand in the ledger's store, apart from everything else, so that they can be deleted. Events and receipts
never carry them.

Source: RFC 7516 (JWE) and RFC 7518 (``dir`` and ``ECDH-ES`` with ``A256GCM``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from emitter.errors import InputError, MissingExtra, StoreAltered
from emitter.ledger import taking
from emitter.store import Entry
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.wire import Json

KEPT: Final = "emitter.decision.words"
WEEK: Final = 7 * 24 * 60 * 60.0
_CONTENT: Final = "A256GCM"
_DIRECT: Final = "dir"
_AGREED: Final = "ECDH-ES"
_BYTES: Final = 32
_CURVES: Final = frozenset({"X25519", "P-256"})
_FORMS: Final = "Give a JWK (kty oct with 32 bytes, or an X25519 or P-256 key), 32 bytes, or the text of a PEM file."


@dataclass(frozen=True, slots=True)
class KeepWords:
    """How a ledger keeps the principal's words, so that an agent in another process can read them.

    Attributes:
        seconds: How long the words are kept after they were written. Then they are deleted. ``None`` keeps them as
            long as the store.
        key: Encrypts the words; ``None`` keeps them as plain text. A symmetric key (32 bytes, or a JWK of ``kty``
            ``oct``) lets everybody who has it write and read. With an X25519 or P-256 key pair, a ledger that has the
            public key can only write, and a ledger that has the private key can read. Needs the extra ``signing``.

    Raises:
        InputError: ``seconds`` is not a number above 0, or ``key`` is not such a key.
    """

    seconds: float | None = WEEK
    key: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        taking.span(self.seconds, "seconds")
        if self.key is not None:
            object.__setattr__(self, "key", _key(self.key))

    @classmethod
    def with_key_file(cls, path: str | os.PathLike[str], *, seconds: float | None = WEEK) -> KeepWords:
        """Return the setting with the key in a file: a JWK, or PEM.

        Raises:
            InputError: The file cannot be read, or holds no key that words can be encrypted with.
        """
        try:
            text = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"{os.fspath(path)} cannot be read: {error.strerror}.") from None
        try:
            jwk: object = json.loads(text)
        except ValueError:
            jwk = text
        try:
            return cls(seconds, jwk)
        except InputError as error:
            if isinstance(error, MissingExtra):
                raise
            raise InputError(f"{os.fspath(path)} holds no key that words can be encrypted with.", hint=_FORMS) from None

    def until(self, at: float) -> float | None:
        """Return when words that are written at a time are deleted, in seconds since 1970; ``None`` for never."""
        return None if self.seconds is None else at + self.seconds

    @property
    def summary(self) -> str:
        """A sentence for the principal: how their words are kept, and for how long."""
        form = "as plain text" if self.key is None else "encrypted"
        span = "as long as the store" if self.seconds is None else f"for at most {_spelled(self.seconds)}"
        return f"Your words are kept for the agent to read, {form}, {span}."

    def entry(self, name: str, words: str, at: float) -> Entry:
        """Return what a store keeps of words under a name."""
        form = {"words": words} if self.key is None else {"jwe": _encrypted(self.key, name, words)}
        return Entry(KEPT, {"keptUntil": self.until(at)}, form)


def _spelled(seconds: float) -> str:
    """Return a time in the largest unit that it is a whole number of."""
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size and seconds % size == 0:
            count = int(seconds // size)
            return f"{count:,} {name}{'' if count == 1 else 's'}"
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


class Unkept(str, Enum):
    """Why a ledger cannot say which words the principal wrote."""

    NOT_KEPT = "not_kept"
    """The ledger that took the answer was opened with ``words=None``."""
    DELETED = "deleted"
    """Their time is over, or ``Ledger.forget_words`` deleted them."""
    ENCRYPTED = "encrypted"
    """They are encrypted, and this ledger has no key that opens them."""


def words_in(entry: Entry, name: str, key: Any, at: float) -> str | Unkept:
    """Return the words of an entry, or why they cannot be read; raises ``StoreAltered``."""
    until: Json = entry.outcome.get("keptUntil")
    if entry.type != KEPT or not (until is None or isinstance(until, int | float)):
        raise _altered()
    if until is not None and at >= until:
        return Unkept.DELETED
    match entry.envelope:
        case {"words": str(words)}:
            return words
        case {"jwe": str(token)}:
            return Unkept.ENCRYPTED if key is None else _decrypted(key, name, token)
        case _:
            raise _altered()


def _altered() -> StoreAltered:
    return StoreAltered("What the store keeps of a principal's words is not what was written.")


def _key(given: object) -> Any:
    """Return joserfc's own form of a key; raises ``InputError`` and ``MissingExtra``."""
    try:
        found = _imported(given)
        fits = len(found.raw_value) == _BYTES if found.key_type == "oct" else found.curve_name in _CURVES
    except ImportError as error:
        raise MissingExtra("Encrypting words needs joserfc.", hint="Run: pip install 'emitter[signing]'") from error
    except Exception:  # noqa: BLE001  the words of joserfc and cryptography may hold some of the key
        raise InputError("key is not a key that words can be encrypted with.", hint=_FORMS) from None
    if not fits:
        raise InputError("key is not a key that words can be encrypted with.", hint=_FORMS)
    return found


def _imported(given: object) -> Any:
    from joserfc.jwk import ECKey, OctKey, OKPKey, import_key  # noqa: PLC0415  joserfc is an extra

    match given:
        case bytes() if len(given) == _BYTES:
            return OctKey.import_key(given)
        case str() | bytes():
            return _of_pem(given)
        case Mapping():
            return import_key(dict(cast("Mapping[str, Any]", given)))
        case _:
            return given if isinstance(given, OctKey | ECKey | OKPKey) else None


def _of_pem(text: str | bytes) -> Any:
    from joserfc.jwk import ECKey, OKPKey  # noqa: PLC0415  joserfc is an extra

    try:
        return OKPKey.import_key(text)
    except Exception:  # noqa: BLE001  it may be of the other kind
        return ECKey.import_key(text)


def _algorithm(key: Any) -> str:
    return _DIRECT if key.key_type == "oct" else _AGREED


def _encrypted(key: Any, name: str, words: str) -> str:
    """Return words as a compact JWE, with the name that they are kept under, so that none passes for another's."""
    from joserfc import jwe  # noqa: PLC0415  joserfc is an extra

    header = {"alg": _algorithm(key), "enc": _CONTENT}
    text = json.dumps({"name": name, "words": words}).encode()
    return jwe.encrypt_compact(header, text, key, algorithms=list(header.values()))


def _decrypted(key: Any, name: str, token: str) -> str | Unkept:
    from joserfc import jwe  # noqa: PLC0415  joserfc is an extra

    try:
        found = jwe.decrypt_compact(token, key, algorithms=[_algorithm(key), _CONTENT]).plaintext
        told = mapping(json.loads(found or b""))
    except Exception:  # noqa: BLE001  joserfc and cryptography raise many kinds for a wrong key
        return Unkept.ENCRYPTED
    if told.get("name") != name or not isinstance(told.get("words"), str):
        raise _altered()
    return str(told["words"])
