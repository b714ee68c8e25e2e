"""The canonical form and the digest, held to the vectors of the draft's author and of the EMILIA Protocol."""

from __future__ import annotations

import hashlib

import pytest

from emitter.decisions.canonical_json import CanonicalProfile, canonicalize, digest, digest_of, parse_strict_json
from emitter.errors import NotCanonical
from emitter.models import BindingMoment
from tests.decisions.canonical_json.vectors import Vector, cases, vectors

ALTER = "alter_canonical-jcs-v1.json"
EMILIA = "emilia_canonicalization.v1.json"
RESOLUTION = "emilia_resolution.v1.json"

_EMILIA = vectors(EMILIA)
TAKEN = [each for each in _EMILIA if each["expect"]["valid"]]
REFUSED = [each for each in _EMILIA if not each["expect"]["valid"]]


@pytest.mark.parametrize("vector", cases(vectors(ALTER, "accept"), ALTER))
def test_alter_takes_it(vector: Vector) -> None:
    """The bytes and their hash are the vector's, on the wire profile that the suite is of."""
    value = parse_strict_json(vector["json"], CanonicalProfile.WIRE)

    assert canonicalize(value, CanonicalProfile.WIRE) == vector["canonical"].encode()
    assert digest_of(value, CanonicalProfile.WIRE) == f"sha256:{vector['sha256']}"


@pytest.mark.parametrize("vector", cases(vectors(ALTER, "refuse"), ALTER))
@pytest.mark.parametrize("profile", CanonicalProfile)
def test_alter_refuses_it(vector: Vector, profile: CanonicalProfile) -> None:
    """Neither profile takes what the suite refuses."""
    with pytest.raises(NotCanonical):
        parse_strict_json(vector["json"], profile)


@pytest.mark.parametrize("vector", cases(TAKEN, EMILIA))
def test_emilia_takes_it(vector: Vector) -> None:
    """The digest is the vector's, from text and from bytes."""
    text = vector["canonicalization"]["input_json"]

    assert digest_of(parse_strict_json(text)) == f"sha256:{vector['canonicalization']['expected_digest']}"
    assert digest_of(parse_strict_json(text.encode())) == digest_of(parse_strict_json(text))


@pytest.mark.parametrize("vector", cases(REFUSED, EMILIA))
def test_emilia_refuses_it(vector: Vector) -> None:
    """The envelope's profile is EMILIA's."""
    with pytest.raises(NotCanonical):
        parse_strict_json(vector["canonicalization"]["input_json"])


@pytest.mark.parametrize(
    "vector", cases([each for each in vectors(RESOLUTION) if each["id"].startswith("accept_")], RESOLUTION)
)
def test_an_envelope_has_the_hash_that_its_receipt_is_bound_to(vector: Vector) -> None:
    """The digest is over the value of the field, without the name around it."""
    document = vector["binding_moment"]
    signed = vector["resolution_receipt"]["signoff"]["context"]["envelope_hash"]

    assert digest(BindingMoment.model_validate(document)) == signed
    assert f"sha256:{hashlib.sha256(canonicalize(document)).hexdigest()}" == signed
    assert digest_of({"binding_moment": document}) != signed


@pytest.mark.skipif(not _EMILIA, reason=f"{EMILIA} is absent")
def test_no_vector_was_missed() -> None:
    """The suites have as many vectors as they had when this was written."""
    counts = (len(vectors(ALTER, "accept")), len(vectors(ALTER, "refuse")), len(_EMILIA), len(vectors(RESOLUTION)))

    assert counts == (16, 5, 35, 33)
