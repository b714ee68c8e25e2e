"""Media: one source, of the size that is said, at an address on the web (RFC 0055 §C)."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.errors import InputError
from emitter.host.kinds import KindRegistry, media_kinds
from tests.host.kinds.near import near, often

CAP = 64
KINDS = KindRegistry(media_kinds(CAP))
IMAGE = KINDS["media.image"]
URL = "https://host.example/v1/assets/4f9c"


def inline(data: bytes, size: int | None = None) -> dict[str, Any]:
    """Return a payload with the asset in it."""
    return {"base64": base64.b64encode(data).decode(), "bytes": len(data) if size is None else size, "alt": "x"}


def at(url: str) -> dict[str, Any]:
    """Return a payload that names an address."""
    return {"url": url, "bytes": 184_320, "alt": "x"}


GOOD: dict[str, tuple[str, Any]] = {
    "by address": ("media.image", {"url": URL, "bytes": 184_320}),
    "by address, with all": (
        "media.file",
        {"url": URL, "bytes": 1, "mimeType": "text/csv", "name": "q3.csv", "alt": "figures"},
    ),
    "inline": ("media.audio", {"base64": "AAAA", "bytes": 3, "durationSeconds": 1.2}),
    "inline, as large as may be": ("media.image", inline(bytes(CAP))),
    "inline, empty": ("media.file", inline(b"")),
    "a size with a fraction of none": ("media.image", {"base64": "AAAA", "bytes": 3.0}),
    "plain http": ("media.image", at("http://localhost:8080/x")),
    "an address of IPv6": ("media.image", at("https://[::1]/x")),
    "an address with a query": ("media.image", at(f"{URL}?token=abc#top")),
    "capitals": ("media.image", at("HTTPS://HOST.EXAMPLE/x")),
    "neither source": ("media.image", {"bytes": 3}),
    "both sources": ("media.image", {**inline(b"abc"), "url": URL}),
}
BAD: dict[str, tuple[Any, str, str]] = {
    "no bytes": ({"url": URL}, "", "required"),
    "an unknown property": ({**at(URL), "wat": True}, "", "additionalProperties"),
    "another kind's property": ({**at(URL), "name": "x"}, "", "additionalProperties"),
    "both sources, one too large": ({**inline(bytes(CAP + 1)), "url": URL}, "/base64", "maxInlineMediaBytes"),
    "both sources, one no address": ({**inline(b"abc"), "url": "data:text/plain,x"}, "/url", "address"),
    "one byte too many": (inline(bytes(CAP + 1)), "/base64", "maxInlineMediaBytes"),
    "far too many": (inline(bytes(CAP * 100)), "/base64", "maxInlineMediaBytes"),
    "far too many, and no base64": ({"base64": "!" * 10_000, "bytes": 3}, "/base64", "maxInlineMediaBytes"),
    "a smaller size": (inline(b"abc", 2), "/bytes", "size"),
    "a larger size": (inline(b"abc", 4), "/bytes", "size"),
    "no padding": ({"base64": "AA", "bytes": 1}, "/base64", "encoding"),
    "a line break": ({"base64": "AAAA\nAAAA", "bytes": 6}, "/base64", "encoding"),
    "the URL's alphabet": ({"base64": "__--", "bytes": 3}, "/base64", "encoding"),
    "more after the padding": ({"base64": "AA==AAAA", "bytes": 4}, "/base64", "encoding"),
    "no ASCII": ({"base64": "ÄÄÄÄ", "bytes": 3}, "/base64", "encoding"),
    "a script": (at("javascript:alert(1)"), "/url", "address"),
    "data": (at("data:image/png;base64,AAAA"), "/url", "address"),
    "a file": (at("file:///etc/passwd"), "/url", "address"),
    "a relative address": (at("/v1/assets/1"), "/url", "format"),
    "no host": (at("https:///x"), "/url", "address"),
    "only a scheme": (at("https:"), "/url", "address"),
    "credentials": (at("https://user:pw@host.example/x"), "/url", "address"),
    "another host before the @": (at("https://host.example@evil.example/x"), "/url", "address"),
    "a port beyond all": (at("https://host.example:99999/x"), "/url", "address"),
    "a blank": (at("https://host.example/a b"), "/url", "format"),
    "an empty address": (at(""), "/url", "format"),
}


@pytest.mark.parametrize(("kind_id", "payload"), GOOD.values(), ids=GOOD.keys())
def test_an_asset_that_is_taken(kind_id: str, payload: Any) -> None:
    """It is what it says; the protocol's schema admits both sources, and neither."""
    assert KINDS[kind_id].find_violations(payload) == ()


@pytest.mark.parametrize(("payload", "pointer", "rule"), BAD.values(), ids=BAD.keys())
def test_an_asset_that_is_not(payload: Any, pointer: str, rule: str) -> None:
    """The first thing wrong with it is reported, without a word of it."""
    found = IMAGE.find_violations(payload)

    assert [(each.pointer, each.rule) for each in found] == [(pointer, rule)]
    assert "passwd" not in str(found)


def test_what_is_too_large_is_told_how_to_come() -> None:
    """By address."""
    assert IMAGE.find_violations(inline(bytes(CAP + 1)))[0].expected == "at most 64 bytes; use url for larger assets"


@pytest.mark.parametrize(
    ("payload", "warned"),
    [({"bytes": 3}, True), ({**inline(b"abc"), "url": URL}, True), (at(URL), False), (inline(b"abc"), False)],
    ids=["neither", "both", "url", "base64"],
)
def test_an_asset_should_have_one_source(payload: Any, warned: bool) -> None:
    """Another number of them is a warning: the schema of the kind decides what is valid."""
    assert IMAGE.find_violations(payload) == ()
    assert ("source" in [each.rule for each in IMAGE.find_warnings(payload)]) is warned


@pytest.mark.parametrize(("payload", "count"), [({**at(URL), "alt": ""}, 1), (at(URL), 0)], ids=["empty", "there"])
def test_a_text_for_it_should_be_there(payload: Any, count: int) -> None:
    """Where it is not, that is a warning: it is a SHOULD."""
    assert IMAGE.find_violations(payload) == ()
    assert [each.rule for each in IMAGE.find_warnings(payload)] == ["alt"] * count


@often
@given(st.binary(max_size=2 * CAP))
def test_any_bytes_are_taken_up_to_the_cap(data: bytes) -> None:
    """The cap is of the asset's bytes, not of its base64's characters."""
    assert (not IMAGE.find_violations(inline(data))) == (len(data) <= CAP)


@often
@given(near(IMAGE.schema))
def test_any_payload_gets_a_verdict(payload: Any) -> None:
    """Whatever is near to an asset, the rules judge it and raise nothing."""
    assert isinstance(IMAGE.find_violations(payload), tuple)


@pytest.mark.parametrize("most", [-1, 1.5, True, "262144", None], ids=repr)
def test_a_cap_that_is_none(most: Any) -> None:
    """It is a number of bytes."""
    with pytest.raises(InputError, match="max_inline_bytes"):
        media_kinds(most)


def test_the_cap_is_256_kib_unless_said() -> None:
    """As OpenWOP has it."""
    image = media_kinds()[0]

    assert image.find_violations(inline(bytes(262_144))) == ()
    assert image.find_violations(inline(bytes(262_145))) != ()
    assert media_kinds(0)[0].find_violations(inline(b"")) == ()
