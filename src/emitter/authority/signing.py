"""Sign chain lines and principals' answers with Ed25519, and verify the signatures. Requires the `signing` extra.

Source: RFC 7515 (JWS, with detached payloads as in appendix F), RFC 8037 and RFC 9864 (`Ed25519`), RFC 7638 (key
thumbprints). A line is signed by its hash, which covers everything before it; that is
emitter's own.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from emitter.decisions.canonical_json import parse_strict_json
from emitter.errors import InputError, MissingExtra, NotCanonical, Tampered
from emitter.files import check_path
from emitter.messages import as_mapping

if TYPE_CHECKING:
    from emitter.authority.records import Line
    from emitter.messages import Json

try:
    from joserfc import jws
    from joserfc.errors import JoseError
    from joserfc.jwk import OKPKey
except ImportError as error:
    raise MissingExtra("Signing needs joserfc.", extra="signing") from error
Key: TypeAlias = OKPKey | Mapping[str, Any] | str | bytes
"""An Ed25519 key: a joserfc key, a JWK, or the text of a PEM file."""
SIGNATURE_ALGORITHM: Final = "Ed25519"
_ACCEPTED_ALGORITHMS: Final = (None, SIGNATURE_ALGORITHM, "EdDSA")
"""Accepted ``alg`` values of a JWK; ``EdDSA`` is RFC 8037's name, before RFC 9864."""
_DETACHED_JWS: Final = re.compile(r"([A-Za-z0-9_-]{1,512})\.\.[A-Za-z0-9_-]{85}[AQgw]")
"""A header, no payload, and 64 bytes, for which unpadded base64url has only one spelling."""
_KEY_FORMATS_HINT: Final = "Pass a JWK, the text of a PEM file, or a joserfc OKPKey."
_UNKNOWN_KEY_HINT: Final = "If it is a key of yours, let check= know it too: make_verifier(old_key, new_key)."
_KEY_ERRORS: Final = (JoseError, ValueError, TypeError, KeyError, AttributeError)
"""Errors for invalid keys. Their messages may contain key material, so they are never passed on."""


def new_key() -> OKPKey:
    """Generate a private key."""
    return OKPKey.generate_key(SIGNATURE_ALGORITHM)


def public_jwk(key: Key) -> dict[str, Json]:
    """Return a key's public part as a JWK, with the ``kid`` that signatures contain."""
    normalized = _normalize_key(key)
    return {
        **normalized.as_dict(private=False),
        "kid": normalized.thumbprint(),
        "alg": SIGNATURE_ALGORITHM,
        "use": "sig",
    }


def save_key(key: Key, path: str | os.PathLike[str]) -> None:
    """Write a private key as a JWK to a new file that only its owner may read.

    Raises:
        InputError: The key is not private, or the file exists or cannot be written.
    """
    place = check_path("path", path)
    text = json.dumps({**public_jwk(key), **_private_key(key).as_dict(private=True)}, indent=2)
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}.", hint="Name a new file.") from None


def load_key(path: str | os.PathLike[str]) -> OKPKey:
    """Read a private or public key from a JWK or PEM file, or raise ``InputError``."""
    place = check_path("path", path)
    try:
        text = place.read_bytes()
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror}.") from None
    try:
        return _normalize_key(_jwk_or_text(text))
    except InputError:
        raise InputError(f"{place} does not contain an Ed25519 signing key.", hint=_KEY_FORMATS_HINT) from None


def make_signer(key: Key) -> Callable[[str], str]:
    """Return the ``sign=`` function of an authority or ledger: it signs text as a detached JWS.

    Raises:
        InputError: The key is not private.
    """
    private_key = _private_key(key)
    header = {"alg": SIGNATURE_ALGORITHM, "kid": private_key.thumbprint()}

    def sign(hashed: str) -> str:
        return jws.detach_content(jws.serialize_compact(header, hashed, private_key, algorithms=[SIGNATURE_ALGORITHM]))

    return sign


@dataclass(frozen=True, slots=True)
class SignatureVerifier:
    """Verifies signatures by known public keys. Pass it as ``Authority(check=)`` or to ``verify_chain``."""

    keys: Mapping[str, OKPKey]

    def __call__(self, line: Line) -> None:
        """Raise ``Tampered`` unless a line has a valid signature by one of the keys."""
        self._verify_with_known_key(line.hash, line.signature, f"line {line.seq}")

    def verify_answer(self, statement: str, signature: str | None) -> str:
        """Return the thumbprint of the key that signed an answer, or raise ``Tampered``."""
        return self._verify_with_known_key(statement, signature, "The answer")

    def _verify_with_known_key(self, payload: str, signature: str | None, place: str) -> str:
        if signature is None:
            raise Tampered(f"{place} is not signed.", place=place)
        key_id = _key_id_of(signature, place)
        if key_id not in self.keys:
            raise Tampered(f"{place} is signed by an unknown key.", place=place, hint=_UNKNOWN_KEY_HINT)
        _verify_signature(signature, payload, self.keys[key_id], place)
        return key_id


def make_verifier(*public_keys: Key) -> SignatureVerifier:
    """Return the verifier of signatures by these public keys.

    It verifies lines when called, and answers by its method ``verify_answer``.

    Raises:
        InputError: No key was passed, or one is invalid.
    """
    keys = {normalized.thumbprint(): normalized for normalized in map(_normalize_key, public_keys)}
    if not keys:
        raise InputError("make_verifier() needs at least one key.", hint="Pass a public key.")
    return SignatureVerifier(keys)


def _key_id_of(signature: str, place: str) -> str:
    """Return the key thumbprint that a signature names, or raise ``Tampered`` for any other form."""
    match = _DETACHED_JWS.fullmatch(signature)
    header = _decode_header("" if match is None else match[1])
    kid: Json = header.get("kid")
    if header != {"alg": SIGNATURE_ALGORITHM, "kid": kid} or not isinstance(kid, str):
        raise Tampered(f"{place} has a signature that is not a detached JWS with {SIGNATURE_ALGORITHM}.", place=place)
    return kid


def _decode_header(text: str) -> Mapping[str, Json]:
    try:
        return as_mapping(parse_strict_json(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))))
    except (NotCanonical, ValueError):
        return {}


def _verify_signature(signature: str, payload: str, key: OKPKey, place: str) -> None:
    try:
        jws.deserialize_compact(signature, key, algorithms=[SIGNATURE_ALGORITHM], payload=payload)
    except (JoseError, ValueError):
        raise Tampered(f"{place} has a signature that does not match its hash.", place=place) from None


def _private_key(key: Key) -> OKPKey:
    normalized = _normalize_key(key)
    if not normalized.is_private:
        raise InputError("A public key cannot sign.", hint="Pass the private key.")
    return normalized


def _normalize_key(key: object) -> OKPKey:
    """Rebuild a key from its raw value, so that a JWK's other members cannot contradict it."""
    with suppress(*_KEY_ERRORS):
        imported = key if isinstance(key, OKPKey) else OKPKey.import_key(_key_material(key))
        imported.check_use("sig")
        if imported.curve_name == SIGNATURE_ALGORITHM and imported.alg in _ACCEPTED_ALGORITHMS:
            return OKPKey.import_key(imported.raw_value)
    raise InputError("This is not an Ed25519 signing key.", hint=_KEY_FORMATS_HINT)


def _key_material(key: object) -> dict[str, Any] | str | bytes:
    if isinstance(key, (str, bytes)):
        return key
    jwk = dict(cast("Mapping[str, Any]", key))
    if jwk["kty"] != OKPKey.key_type:  # joserfc does not check it
        raise TypeError
    return jwk


def _jwk_or_text(text: bytes) -> Key:
    try:
        return as_mapping(parse_strict_json(text))
    except NotCanonical:
        return text
