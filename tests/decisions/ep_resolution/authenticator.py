"""A principal's authenticator in software: what a security key and a browser do, with a key of the test's own."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from emitter.decisions.ep_resolution import WebAuthnAssertion

RP_ID = "principal.example"
ORIGIN = "https://principal.example"
PRESENT_AND_VERIFIED = 0x05


def base64url(data: bytes) -> str:
    """Return the unpadded base64url of bytes."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@dataclass
class Authenticator:
    """Signs whatever it is shown; ``flags``, ``kind`` and ``origin`` are what it says of the ceremony."""

    flags: int = PRESENT_AND_VERIFIED
    kind: str = "webauthn.get"
    origin: str = ORIGIN
    challenges: list[bytes] = field(default_factory=list)
    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    @property
    def public_key(self) -> str:
        """The key that a relying party pins."""
        return base64url(self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))

    def __call__(self, challenge: bytes) -> WebAuthnAssertion:
        """Return the assertion for a challenge."""
        self.challenges.append(challenge)
        client = {"type": self.kind, "challenge": base64url(challenge), "origin": self.origin, "crossOrigin": False}
        data = json.dumps(client).encode()
        about = hashlib.sha256(RP_ID.encode()).digest() + bytes([self.flags]) + (1).to_bytes(4, "big")
        signature = self._key.sign(about + hashlib.sha256(data).digest(), ec.ECDSA(hashes.SHA256()))
        return WebAuthnAssertion(about, data, signature)
