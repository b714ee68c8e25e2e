"""A cassette holds digests, and a folder beside it the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter import emit
from emitter.adapters.clients import create_client
from emitter.errors import UnexpectedRequest
from emitter.media import Document, Image
from emitter.profiles import find_profile
from emitter.testing import RecordingTransport, ReplayTransport, simulator
from emitter.testing.cassettes import extract_media, load_cassette, save_cassette
from tests.media.samples import RECEIPT, write_invoice, write_png
from tests.media.test_emissions import ACME, QUESTION, Invoice, fragments
from tests.wires import every_model

if TYPE_CHECKING:
    from pathlib import Path


@every_model
def test_media_are_recorded_by_digest(model: str, options: dict[str, Any], tmp_path: Path) -> None:
    """The recording replays, holds no bytes, and other bytes are another request."""
    facts, _ = find_profile(model)
    media = [Image(RECEIPT), Document(write_invoice())]

    def ask(transport: Any, base_url: str, *shown: Any) -> Any:
        with httpx2.Client(transport=transport) as http:
            client = create_client(facts, asynchronous=False, base_url=base_url, api_key="a-key", http_client=http)
            return emit(Invoice, [QUESTION, *shown], model=model, client=client, **options).value

    tape = RecordingTransport()
    with simulator(answers=ACME) as vendor:
        value = ask(tape, vendor.base_url(model), *media)
    file = tmp_path / "receipt.json"
    save_cassette(tape.to_cassette(), file)

    written = file.read_text("utf-8")
    assert not any(piece in written for item in media for piece in fragments(item.part.data or b""))
    assert all(item.part.digest in written for item in media)
    kept = {path.name: path.read_bytes() for path in (tmp_path / "receipt.media").iterdir()}
    assert kept == {
        f"{media[0].part.digest[7:]}.jpg": RECEIPT.read_bytes(),
        f"{media[1].part.digest[7:]}.pdf": write_invoice(),
    }
    where = f"https://replay.invalid{'/v1' if facts.name == 'openai' else ''}"
    assert ask(ReplayTransport(load_cassette(file)), where, *media) == value
    with pytest.raises(UnexpectedRequest) as raised:
        ask(ReplayTransport(load_cassette(file)), where, Image(write_png()), media[1])
    assert not any(piece in str(raised.value) for piece in fragments(RECEIPT.read_bytes()))


def test_a_text_that_looks_like_data_stays() -> None:
    """Only what is an image, a document or a recording is taken out."""
    body = {"data": "aGVsbG8=", "note": "data:image/png;base64,aGVsbG8=", "text": "x", "n": [1, None]}
    assert extract_media(body) == (body, {})
