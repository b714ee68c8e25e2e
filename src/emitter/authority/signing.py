"""Signing a chain's lines and a principal's answers, and checking it: JWS with ``Ed25519``. Needs ``signing``.

Source: RFC 7515 (JWS; its payload detached as in appendix F), RFC 8037 and RFC 9864 (``Ed25519``), RFC 7638 (the
thumbprint that names a key). That a line is signed by its hash, and so by all that stands before it, is ours.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from emitter.decide.strict import parse
from emitter.errors import InputError, MissingExtra, NotCanonical, Tampered
from emitter.wire import mapping

try:
    from joserfc import jws
    from joserfc.errors import JoseError
    from joserfc.jwk import OKPKey
except ImportError as error:
    raise MissingExtra("Signing needs joserfc.", hint="Run: pip install 'emitter[signing]'") from error

if TYPE_CHECKING:
    from emitter.authority.records import Line
    from emitter.wire import Json

Key: TypeAlias = OKPKey | Mapping[str, Any] | str | bytes
"""An Ed25519 key: joserfc's own, a JWK, or the text of a PEM file."""

ALGORITHM: Final = "Ed25519"
_NAMES: Final = (None, ALGORITHM, "EdDSA")
"""What a JWK may say that it is for; the last is what RFC 8037 called it, before RFC 9864."""
_DETACHED: Final = re.compile(r"([A-Za-z0-9_-]{1,512})\.\.[A-Za-z0-9_-]{85}[AQgw]")
"""A header, no payload, and 64 bytes, which base64url without padding spells in one way only."""
_FORMS: Final = "Give a JWK, the text of a PEM file, or a joserfc OKPKey."
_BAD: Final = (JoseError, ValueError, TypeError, KeyError, AttributeError)
"""What joserfc and cryptography raise for what is no key. Their words may hold some of it, and go no further."""


def new_key() -> OKPKey:
    """Return a new private key."""
    return OKPKey.generate_key(ALGORITHM)


def public(key: Key) -> dict[str, Json]:
    """Return the public part of a key as a JWK, with the ``kid`` that signatures name it by; raises ``InputError``."""
    plain = _plain(key)
    return {**plain.as_dict(private=False), "kid": plain.thumbprint(), "alg": ALGORITHM, "use": "sig"}


def save_key(key: Key, path: str | os.PathLike[str]) -> None:
    """Write a private key into a new file, as a JWK that only its owner may read.

    Raises ``InputError`` for a key that is not private, and for a file that is there or cannot be written.
    """
    text = json.dumps({**public(key), **_private(key).as_dict(private=True)}, indent=2)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise InputError(f"{os.fspath(path)} cannot be written: {error.strerror}.", hint="Name a new file.") from None


def load_key(path: str | os.PathLike[str]) -> OKPKey:
    """Return the key, private or public, in a file of a JWK or of PEM; raises ``InputError``."""
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{os.fspath(path)} cannot be read: {error.strerror}.") from None
    try:
        return _plain(_jwk_or_text(text))
    except InputError:
        raise InputError(f"{os.fspath(path)} holds no Ed25519 key for signatures.", hint=_FORMS) from None


def signer(key: Key) -> Callable[[str], str]:
    """Return what signs, for ``Authority(sign=)``: of a line's hash it makes a compact JWS without its payload.

    Raises ``InputError`` for a key that is not private.
    """
    plain = _private(key)
    header = {"alg": ALGORITHM, "kid": plain.thumbprint()}

    def sign(hashed: str) -> str:
        return jws.detach_content(jws.serialize_compact(header, hashed, plain, algorithms=[ALGORITHM]))

    return sign


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks signatures by the public keys that were named, each by its thumbprint."""

    keys: Mapping[str, OKPKey]

    def __call__(self, line: Line) -> None:
        """Raise ``Tampered`` where a line's signature is missing, by another key, or of something else."""
        self._checked(line.hash, line.signature, f"line {line.seq}")

    def answered_by(self, statement: str, signature: str | None) -> str:
        """Return the thumbprint of the key that signed an answer; raises ``Tampered`` where none of these did."""
        return self._checked(statement, signature, "The answer")

    def _checked(self, hashed: str, signature: str | None, place: str) -> str:
        if signature is None:
            raise Tampered(f"{place} is not signed.", place=place)
        named = _signed_by(signature, place)
        if named not in self.keys:
            raise Tampered(f"{place} is signed by a key that was not named.", place=place)
        _verify(signature, hashed, self.keys[named], place)
        return named


def checker(*public_keys: Key) -> Checker:
    """Return what checks the signatures of lines and, by its method ``answered_by``, of answers.

    Pass it as ``Authority(check=)`` or to ``emitter.authority.chain.verify``. It raises ``Tampered`` for a signature
    that is missing, that none of these keys made, or that is of something else. Raises ``InputError`` for no key, or
    for what is none.
    """
    keys = {plain.thumbprint(): plain for plain in map(_plain, public_keys)}
    if not keys:
        raise InputError("No key was given, so that every signature would be foreign.", hint="Give a public key.")
    return Checker(keys)


def _signed_by(signature: str, place: str) -> str:
    """Return the thumbprint that a signature names; raises ``Tampered`` for any other form than ``signer`` gives it."""
    found = _DETACHED.fullmatch(signature)
    header = _header("" if found is None else found[1])
    kid: Json = header.get("kid")
    if header != {"alg": ALGORITHM, "kid": kid} or not isinstance(kid, str):
        raise Tampered(f"{place} has a signature of another form than a detached JWS with {ALGORITHM}.", place=place)
    return kid


def _header(text: str) -> Mapping[str, Json]:
    try:
        return mapping(parse(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))))
    except (NotCanonical, ValueError):
        return {}


def _verify(signature: str, hashed: str, key: OKPKey, place: str) -> None:
    try:
        jws.deserialize_compact(signature, key, algorithms=[ALGORITHM], payload=hashed)
    except (JoseError, ValueError):
        raise Tampered(f"{place} has a signature that is not of its hash.", place=place) from None


def _private(key: Key) -> OKPKey:
    plain = _plain(key)
    if not plain.is_private:
        raise InputError("A public key was given, which cannot sign.", hint="Give the private one.")
    return plain


def _plain(key: object) -> OKPKey:
    """Return a key as it is by itself: all that others say of it, as a JWK's ``x`` beside its ``d``, is made anew."""
    with suppress(*_BAD):
        given = key if isinstance(key, OKPKey) else OKPKey.import_key(_given(key))
        given.check_use("sig")
        if given.curve_name == ALGORITHM and given.alg in _NAMES:
            return OKPKey.import_key(given.raw_value)
    raise InputError("That is no Ed25519 key for signatures.", hint=_FORMS)


def _given(key: object) -> dict[str, Any] | str | bytes:
    if isinstance(key, (str, bytes)):
        return key
    jwk = dict(cast("Mapping[str, Any]", key))
    if jwk["kty"] != OKPKey.key_type:  # joserfc itself does not look at it
        raise TypeError
    return jwk


def _jwk_or_text(text: bytes) -> Key:
    try:
        return mapping(parse(text))
    except NotCanonical:
        return text
