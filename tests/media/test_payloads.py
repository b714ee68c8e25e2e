"""OpenWOP's media kinds, read and written with the same types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter import InputError, Trust
from emitter.host import Accepted, Acceptor, EnvelopeContext, HostConfig
from emitter.host.kinds import KindRegistry, media_kinds
from emitter.media import Audio, Document, Image, media_from_envelope, media_kind, media_payload
from emitter.models import AIEnvelope
from tests.media.samples import INVOICE, RECEIPT, write_mp3, write_wav

if TYPE_CHECKING:
    from emitter.media import Media


def envelope(kind: str, payload: Any, trust: str = "trusted") -> dict[str, Any]:
    """Return an envelope as it travels."""
    meta = {"source": "ai-generation", "ts": "2026-11-23T12:00:00Z", "contentTrust": trust}
    ids = {"envelopeId": "e", "correlationId": "c", "nodeId": "n"}
    return {"type": kind, "schemaVersion": 1, **ids, "payload": payload, "meta": meta}


MEDIA = {"image": Image(RECEIPT), "document": Document(INVOICE), "wav": Audio(write_wav()), "mp3": Audio(write_mp3())}


@pytest.mark.parametrize("media", MEDIA.values(), ids=MEDIA.keys())
@pytest.mark.parametrize("trust", ["trusted", "untrusted"])
def test_media_go_through_a_host_and_come_back(media: Media, trust: str) -> None:
    """A host whose registry has the kinds accepts them, and the same bytes come out, as trusted as the envelope."""
    host = Acceptor(HostConfig(registry=KindRegistry().with_kinds(*media_kinds())), store=None)
    sent = envelope(media_kind(media), media_payload(media), trust)
    acceptance = host.accept(sent, EnvelopeContext("run", "n"))

    assert isinstance(acceptance.outcome, Accepted), acceptance.outcome
    assert acceptance.envelope is not None
    found = media_from_envelope(acceptance.envelope)
    assert (type(found), found.part.data) == (type(media), media.part.data)
    assert found.trust is Trust(trust)


def test_a_large_asset_is_served_by_the_host() -> None:
    """Above the limit only an address may stand in the payload."""
    image = Image(RECEIPT, "the till")
    with pytest.raises(InputError, match=r"the till has 8,280 bytes, and a payload may hold 100\. Pass url="):
        media_payload(image, max_inline_bytes=100)

    payload = media_payload(image, url="https://host.example/a/1.jpg", max_inline_bytes=100)
    assert payload == {
        "bytes": 8280,
        "mimeType": "image/jpeg",
        "alt": "the till",
        "url": "https://host.example/a/1.jpg",
    }
    found = media_from_envelope(AIEnvelope.model_validate(envelope("media.image", payload)))
    assert (found.part.url, found.source) == (payload["url"], "the till")


@pytest.mark.parametrize(
    ("kind", "payload", "said"),
    [
        ("error", {"code": "a", "message": "b"}, "of the kind error has no media"),
        ("media.file", {"bytes": 3, "base64": "YWJj", "mimeType": "text/csv"}, "is text/csv, not a PDF document"),
        ("media.image", {"bytes": 0, "base64": ""}, "an image is empty"),
    ],
)
def test_an_envelope_that_holds_no_media_of_ours(kind: str, payload: Any, said: str) -> None:
    """The error says what it holds."""
    with pytest.raises(InputError, match=said):
        media_from_envelope(AIEnvelope.model_validate(envelope(kind, payload)))


def test_media_without_bytes_have_no_payload() -> None:
    """Their size, which a payload must state, is not known."""
    with pytest.raises(InputError, match="size of media without bytes"):
        media_payload(Image("https://a.example/b.png"))
