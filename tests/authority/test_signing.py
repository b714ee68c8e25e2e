"""Signatures: who has the key makes them, anybody checks them, and nothing else passes for one."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc import jws
from joserfc.jwk import OctKey, OKPKey

from emitter.authority import Authority, Line
from emitter.authority.chain import verify_chain
from emitter.authority.signing import load_key, make_signer, make_verifier, new_key, public_jwk, save_key
from emitter.errors import InputError, Tampered
from emitter.stores import MemoryStore
from tests.authority.execution.making import granted, work
from tests.authority.lived import KEY, PUBLIC, chain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINE = Line.model_validate(chain(signed=True)[0])
HASH, SIGNATURE = LINE.hash, str(LINE.signature)
SECRET = str(KEY.as_dict(private=True)["d"])
ALG = ["Ed25519"]


def line(signature: str | None) -> Line:
    """Return the line with another signature."""
    return LINE.model_copy(update={"signature": signature})


def segment(text: bytes) -> str:
    """Return a segment of a JWS."""
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def made(header: dict[str, Any], key: Any = KEY, algorithms: list[str] | None = None, payload: str = HASH) -> str:
    """Return a detached JWS by joserfc, with any header."""
    return jws.detach_content(jws.serialize_compact(header, payload, key, algorithms=algorithms or ALG))


def by_hand(header: bytes) -> str:
    """Return a detached JWS whose header is any text at all, rightly signed."""
    given = f"{segment(header)}.{segment(HASH.encode())}".encode()
    return f"{segment(header)}..{segment(KEY.raw_value.sign(given))}"


KID = PUBLIC["kid"]
SHARED = OctKey.import_key(PUBLIC["x"])
REFUSED: dict[str, tuple[Callable[[], str | None], str]] = {
    "none": (lambda: None, "is not signed"),
    "empty": (lambda: "", "not a detached JWS"),
    "no JWS": (lambda: "signed, the agent", "not a detached JWS"),
    "two segments": (lambda: SIGNATURE.replace("..", "."), "not a detached JWS"),
    "of a line feed": (lambda: f"{SIGNATURE}\n", "not a detached JWS"),
    "padded": (lambda: f"{SIGNATURE}==", "not a detached JWS"),
    "payload attached": (lambda: SIGNATURE.replace("..", f".{segment(HASH.encode())}."), "not a detached JWS"),
    "alg none": (lambda: f"{segment(json.dumps({'alg': 'none', 'kid': KID}).encode())}..", "not a detached JWS"),
    "alg none with bytes": (lambda: by_hand(json.dumps({"alg": "none", "kid": KID}).encode()), "not a detached JWS"),
    "alg HS256 with the public key for its secret": (
        lambda: made({"alg": "HS256", "kid": KID}, SHARED, ["HS256"]),
        "not a detached JWS",
    ),
    "alg EdDSA": (lambda: by_hand(json.dumps({"alg": "EdDSA", "kid": KID}).encode()), "not a detached JWS"),
    "alg Ed448": (
        lambda: made({"alg": "Ed448", "kid": KID}, OKPKey.generate_key("Ed448"), ["Ed448"]),
        "not a detached JWS",
    ),
    "crit": (
        lambda: by_hand(json.dumps({"alg": "Ed25519", "kid": KID, "crit": ["kid"]}).encode()),
        "not a detached JWS",
    ),
    "unencoded payload": (
        lambda: made({"alg": "Ed25519", "kid": KID, "b64": False, "crit": ["b64"]}),
        "not a detached JWS",
    ),
    "its own key in it": (lambda: made({"alg": "Ed25519", "kid": KID, "jwk": PUBLIC}), "not a detached JWS"),
    "no kid": (lambda: made({"alg": "Ed25519"}), "not a detached JWS"),
    "kid is no text": (lambda: by_hand(b'{"alg":"Ed25519","kid":1}'), "not a detached JWS"),
    "kid twice": (lambda: by_hand(f'{{"alg":"Ed25519","kid":"x","kid":"{KID}"}}'.encode()), "not a detached JWS"),
    "header is no JSON": (lambda: by_hand(b"{"), "not a detached JWS"),
    "header is an array": (lambda: by_hand(b"[]"), "not a detached JWS"),
    "header is no base64": (lambda: f"a..{SIGNATURE.rpartition('.')[2]}", "not a detached JWS"),
    "kid of nobody": (lambda: made({"alg": "Ed25519", "kid": "x"}), "by an unknown key"),
    "by another key": (lambda: make_signer(new_key())(HASH), "by an unknown key"),
    "by another key under this kid": (
        lambda: made({"alg": "Ed25519", "kid": KID}, new_key()),
        "does not match its hash",
    ),
    "of another hash": (lambda: make_signer(KEY)("0" + HASH[:-1]), "does not match its hash"),
    "of nothing": (lambda: made({"alg": "Ed25519", "kid": KID}, payload=""), "does not match its hash"),
    "bytes of nothing": (lambda: f"{SIGNATURE.rpartition('.')[0]}.{'A' * 86}", "does not match its hash"),
    "cut off": (lambda: SIGNATURE[:-1], "not a detached JWS"),
    "last bits set": (lambda: SIGNATURE[:-1] + chr(ord(SIGNATURE[-1]) + 1), "not a detached JWS"),
}


@pytest.mark.parametrize(("signature", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_nothing_else_passes_for_a_signature(signature: Callable[[], str | None], reason: str) -> None:
    """Neither another algorithm, another key, another spelling, nor a header that says more than it may."""
    with pytest.raises(Tampered, match=reason) as refused:
        make_verifier(PUBLIC)(line(signature()))

    assert refused.value.place == "line 0"


def test_a_signature_is_a_detached_jws() -> None:
    """Any library of JOSE can check it: the payload is the line's hash, as text."""
    header, payload, _ = SIGNATURE.split(".")
    found = jws.deserialize_compact(SIGNATURE, OKPKey.import_key(PUBLIC), algorithms=ALG, payload=HASH)

    assert payload == ""
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "Ed25519", "kid": KID}
    assert found.payload == HASH.encode()
    make_verifier(PUBLIC)(LINE)


def test_the_kid_is_the_thumbprint() -> None:
    """RFC 8037, appendix A.3: the key there has this one (RFC 7638)."""
    key = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}

    assert public_jwk(key)["kid"] == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
    assert public_jwk({**key, "kid": "mine"})["kid"] == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


PEM: Any = KEY.as_pem
FORMS: dict[str, Callable[[], Any]] = {
    "joserfc's": lambda: KEY,
    "private JWK": lambda: KEY.as_dict(private=True),
    "JWK of EdDSA": lambda: {**KEY.as_dict(private=True), "alg": "EdDSA"},
    "PEM": lambda: PEM(private=True),
    "text of PEM": lambda: PEM(private=True).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_key_may_be_given_in_any_form(form: Callable[[], Any], tmp_path: Path) -> None:
    """It signs alike, and is checked alike; kept in a file, it comes back."""
    key = form()
    save_key(key, tmp_path / "key")

    assert make_signer(key)(HASH) == make_signer(load_key(tmp_path / "key"))(HASH) == SIGNATURE
    make_verifier(key)(LINE)
    assert public_jwk(key) == PUBLIC


@pytest.mark.parametrize("data", [PEM(), json.dumps(PUBLIC).encode()], ids=["PEM", "JWK"])
def test_a_public_key_is_loaded_and_cannot_sign(data: bytes, tmp_path: Path) -> None:
    """It is for who checks."""
    (tmp_path / "key").write_bytes(data)
    key = load_key(tmp_path / "key")

    make_verifier(key)(LINE)
    with pytest.raises(InputError, match="cannot sign"):
        make_signer(key)
    with pytest.raises(InputError, match="cannot sign"):
        save_key(key, tmp_path / "other")
    assert not (tmp_path / "other").exists()


OWN: Any = KEY.raw_value
RSA = rsa.generate_private_key(65537, 2048).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
)
LOCKED = OWN.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"s3cret")
)
NO_KEYS: dict[str, Any] = {
    "nothing": None,
    "a number": 5,
    "an empty text": "",
    "a text": f"{SECRET}",
    "an empty JWK": {},
    "another curve": OKPKey.generate_key("X25519"),
    "another signature's curve": OKPKey.generate_key("Ed448").as_dict(private=True),
    "another type": {**PUBLIC, "kty": "RSA"},
    "another use": {**KEY.as_dict(private=True), "use": "enc"},
    "another algorithm": {**KEY.as_dict(private=True), "alg": "HS256"},
    "no public part": {"kty": "OKP", "crv": "Ed25519", "d": SECRET},
    "a short secret": {**KEY.as_dict(private=True), "d": SECRET[:20]},
    "a secret of another type": {**KEY.as_dict(private=True), "d": [SECRET]},
    "a shared secret": OctKey.import_key(SECRET),
    "an RSA key": RSA,
    "a locked key": LOCKED,
}


@pytest.mark.parametrize("key", NO_KEYS.values(), ids=NO_KEYS.keys())
def test_what_is_no_key_is_refused(key: Any) -> None:
    """By one sentence, in which there is nothing of it, neither in what it was raised from."""
    for use in (make_signer, make_verifier, public_jwk):
        with pytest.raises(InputError, match="not an Ed25519 signing key") as refused:
            use(key)
        reported = repr(refused.value) + str(refused.value) + repr(refused.value.__context__)
        assert SECRET[:16] not in reported


def test_somebody_must_be_named() -> None:
    """To check against no key at all is a mistake, and no way to have everything pass."""
    with pytest.raises(InputError, match="needs at least one key"):
        make_verifier()


def test_a_private_key_is_its_owners(tmp_path: Path) -> None:
    """The file is new, and nobody else may read it, whatever the process usually lets others do."""
    kept = os.umask(0)
    try:
        save_key(KEY, tmp_path / "key")
    finally:
        os.umask(kept)

    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="cannot be written: File exists"):
        save_key(new_key(), tmp_path / "key")
    assert public_jwk(load_key(tmp_path / "key")) == PUBLIC


def test_no_secret_shows() -> None:
    """Neither in a key nor in what signs; the public part has none."""
    assert SECRET not in repr(KEY) + repr(make_signer(KEY)) + repr(make_signer(KEY.as_dict(private=True))) + repr(
        PUBLIC
    )
    assert "d" not in PUBLIC


@pytest.mark.parametrize(
    ("data", "reported"),
    [
        (None, "cannot be read: No such file"),
        (b"\xff\x00", "does not contain an Ed25519"),
        (b"[1]", "does not contain an Ed25519"),
    ],
    ids=["absent", "binary", "an array"],
)
def test_a_file_without_a_key_is_reported(data: bytes | None, reported: str, tmp_path: Path) -> None:
    """By its name."""
    if data is not None:
        (tmp_path / "key").write_bytes(data)

    with pytest.raises(InputError, match=f"key {reported}"):
        load_key(tmp_path / "key")


def test_without_the_extra_it_is_said_which() -> None:
    """And all that needs no signature works without it."""
    code = (
        "import sys; sys.modules['joserfc'] = None\n"
        "import emitter.authority, emitter.authority.audit\n"
        "from emitter.errors import MissingExtra\n"
        "try: import emitter.authority.signing\n"
        "except MissingExtra as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "Signing needs joserfc. Run: pip install 'llm-emitter[signing]'\n"


def test_nobody_adds_an_unsigned_line_to_a_signed_chain() -> None:
    """By whoever forgot to sign, the chain would hold for nobody any more; nothing is written, and no act begins."""
    store = MemoryStore()
    signed = Authority(store, sign=make_signer(KEY))
    confirm_id = granted(signed).confirm_id
    forgetful = Authority(store)
    for forgotten in (lambda: forgetful.execute(confirm_id, work(tool=pytest.fail)), lambda: forgetful.stop("w")):
        with pytest.raises(InputError, match="is signed"):
            forgotten()
    assert signed.execute(confirm_id, work()) == "done"
    assert len(list(verify_chain(signed.lines("w"), make_verifier(PUBLIC)))) == 3


def test_an_authority_whose_check_would_refuse_its_own_lines_is_refused() -> None:
    """Its first line would make the chain unreadable for every process, so nothing may be written by it."""
    old, new = new_key(), new_key()
    with pytest.raises(InputError, match="make_verifier"):
        Authority(MemoryStore(), sign=make_signer(new), check=make_verifier(public_jwk(old)))
    store = MemoryStore()
    Authority(store, sign=make_signer(old)).stop("w")
    rotated = Authority(store, sign=make_signer(new), check=make_verifier(public_jwk(old), public_jwk(new)))
    rotated.stop("w")

    with pytest.raises(Tampered, match=r"Workflow w: line 1 .*make_verifier\(old_key, new_key\)"):
        Authority(store, check=make_verifier(public_jwk(old))).stop("w")
