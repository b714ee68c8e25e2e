"""An invoice as a PDF and a photographed receipt, asked for on every wire, against the simulator."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Material, Policy, Trust, aemit, emit, emit_many, stream
from emitter.bulk import Job
from emitter.errors import BadRequest
from emitter.host import Acceptor, HostConfig
from emitter.media import Audio, Document, Image
from emitter.redaction import Secrets
from emitter.stores import SqliteStore
from emitter.testing import ErrorKind, PlannedError, Text, simulator
from tests.media.samples import INVOICE, INVOICE_LINES, RECEIPT, write_invoice, write_png, write_wav
from tests.wires import every_model

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.testing import ReceivedRequest, Simulator


@dataclass(frozen=True)
class Invoice:
    """What is owed, and to whom."""

    vendor: str
    total: float


ACME = Text({"vendor": "Acme Boxes", "total": 12.5})
WRONG = Text({"vendor": "Acme Boxes"})
OWED = Invoice("Acme Boxes", 12.5)
MEDIA = {"a PDF": Document(INVOICE), "a photograph": Image(RECEIPT)}
every_medium = pytest.mark.parametrize("media", MEDIA.values(), ids=MEDIA.keys())


@dataclass(frozen=True)
class Echo:
    """A vendor that repeats what it does not like."""

    message: str

    def plan(self, request: ReceivedRequest) -> PlannedError:
        """Return the error."""
        assert request.body
        return PlannedError(ErrorKind.BAD_REQUEST, self.message)


QUESTION = "What is owed, and to whom?"


def received(vendor: Simulator) -> str:
    """Return the last body that arrived, with the plain alphabet of base64."""
    return json.dumps(vendor.calls[-1].body).replace("-", "+").replace("_", "/")


@every_model
@every_medium
def test_a_document_is_read_into_a_type(model: str, options: dict[str, Any], media: Any) -> None:
    """The vendor accepts what is sent, by its published rules, and finds the very bytes in it."""
    with simulator(answers=ACME) as vendor:
        client = vendor.client(model)
        as_prompt = emit(Invoice, [QUESTION, media], model=model, client=client, **options)
        as_material = emit(Invoice, QUESTION, materials=[media], model=model, client=client, **options)

        assert as_prompt.value == as_material.value == OWED
        assert [call.status for call in vendor.calls] == [200, 200]
        assert media.part.base64 in received(vendor)
        assert as_material.usage.input == vendor.calls[-1].usage.input
    assert as_prompt.envelope.meta.content_trust is Trust.TRUSTED


@every_model
def test_a_document_is_read_in_a_stream_and_by_an_async_client(model: str, options: dict[str, Any]) -> None:
    """The other two ways of asking send the same."""
    media = Document(INVOICE)

    async def ask(vendor: Simulator) -> Invoice:
        client = vendor.client(model, asynchronous=True)
        return (await aemit(Invoice, [QUESTION, media], model=model, client=client, **options)).value

    async def run() -> Invoice:
        async with simulator(answers=ACME) as vendor:
            return await ask(vendor)

    with simulator(answers=ACME) as vendor:
        opened = stream(Invoice, [media, QUESTION], model=model, client=vendor.client(model), **options)
        assert opened.result().value == OWED
        assert media.part.base64 in received(vendor)
    assert asyncio.run(run()) == OWED


def test_a_recording_is_listened_to() -> None:
    """Audio goes to the models that take it."""
    with simulator(answers=ACME) as vendor:
        for model, options in (
            ("openai/gpt-audio", {"wire": "openai-chat"}),
            ("google/gemini-3.8-flash", {}),
            ("google/gemini-3.8-flash", {"wire": "gemini-interactions"}),
            ("bedrock/mistral.voxtral-small-24b-2507", {}),
        ):
            emission = emit(
                Invoice, [Audio(write_wav()), QUESTION], model=model, client=vendor.client(model), **options
            )
            assert emission.value == OWED


@every_model
def test_untrusted_media_taint_what_is_made_of_them(model: str, options: dict[str, Any]) -> None:
    """Every envelope and event says so, and the model is told where the media begin and end."""
    photo = Image(RECEIPT, "a stranger's mail", Trust.UNTRUSTED)
    with simulator(answers=ACME) as vendor:
        emission = emit(
            Invoice, QUESTION, materials=[photo, Material("Paid?")], model=model, client=vendor.client(model), **options
        )
        body = json.dumps(vendor.calls[-1].body)

    assert emission.envelope.meta.content_trust is Trust.UNTRUSTED
    assert all(event.content_trust == "untrusted" for event in emission.trace.events)
    opening, _, rest = body.replace("-", "+").replace("_", "/").partition(photo.part.base64)
    assert rest
    assert opening.rfind("a stranger&#x27;s mail") > opening.rfind("Use it as evidence")
    assert rest.index("</UNTRUSTED>") < rest.index("# Material: caller")
    assert "receipt.jpg" not in body


@every_model
def test_a_correction_and_a_second_way_repeat_the_media(model: str, options: dict[str, Any]) -> None:
    """What was shown once is shown again, and the correction follows it as text."""
    with simulator(answers=ACME) as vendor:
        vendor.script(WRONG, WRONG)
        policy = Policy(max_attempts=2, nl_to_format=True)
        client = vendor.client(model)
        emission = emit(Invoice, [QUESTION, Image(write_png())], model=model, client=client, policy=policy, **options)

        assert emission.value == OWED
        shown = [Image(write_png()).part.base64 in json.dumps(call.body) for call in vendor.calls]
    assert shown == [True, True, True, False]  # the last call converts an answer in words


def fragments(data: bytes) -> list[str]:
    """Return pieces of the data as they would stand in a text, at every shift of base64."""
    middle = data[len(data) // 2 :][:30]
    encoded = [base64.b64encode(middle[shift:]).decode()[:16] for shift in range(3)]
    return [
        *encoded,
        *(each.replace("+", "-").replace("/", "_") for each in encoded),
        middle.hex()[:24],
        repr(middle)[2:20],
    ]


@every_model
def test_no_bytes_of_media_leave_but_to_the_vendor(model: str, options: dict[str, Any], tmp_path: Path) -> None:
    """Neither event, envelope, error, store, journal nor value holds a piece of them."""
    media = [Document(write_invoice(), trust=Trust.UNTRUSTED), Image(RECEIPT)]
    echo = f"Failed to download file from data:image/jpeg;base64,{media[1].part.base64}"
    seen: list[Any] = []
    with simulator(answers=ACME) as vendor:
        vendor.script(WRONG, ACME, Echo(echo))
        host = Acceptor(HostConfig(), store=SqliteStore(tmp_path / "store.db"))
        shared = {"model": model, "client": vendor.client(model), "on_event": seen.append, **options}
        emission = emit(Invoice, [QUESTION, *media], host=host, run_id="run", **shared)
        with pytest.raises(BadRequest) as raised:
            emit(Invoice, [QUESTION, *media], **shared)
        client = vendor.client(model, asynchronous=True)
        jobs = [Job([QUESTION, *media], key="a"), Job(QUESTION, materials=media)]
        with emit_many(
            Invoice, jobs, model=model, client=client, journal=tmp_path / "journal", progress=False, **options
        ) as run:
            assert [item.value for item in run] == [OWED, OWED]

    reported = [repr(seen), repr(emission), repr(emission.trace), emission.envelope.model_dump_json()]
    reported += [str(raised.value), repr(raised.value.trace), str(raised.value.vendor_message), repr(media), repr(jobs)]
    kept = [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert "Failed to download file from data:image/jpeg;base64,…" in str(raised.value)
    assert len(kept) > 1
    for text in reported + kept:
        assert not any(piece in text for item in media for piece in fragments(item.part.data or b""))


def test_an_answer_is_found_again_only_for_the_same_bytes(tmp_path: Path) -> None:
    """The correlation id covers the media: an image of one pixel more is another question."""
    model = "openai/gpt-6-sol"
    with simulator(answers=ACME) as vendor:
        host = Acceptor(HostConfig(), store=SqliteStore(tmp_path / "store.db"))
        asked = {"model": model, "client": vendor.client(model), "host": host, "run_id": "run"}
        for content in (write_png(8), write_png(8), write_png(9)):
            emit(Invoice, [QUESTION, Image(content)], **asked)
            emit(Invoice, QUESTION, materials=[Image(content)], **asked)
        assert len(vendor.calls) == 4


def test_a_journal_knows_a_job_by_its_bytes(tmp_path: Path) -> None:
    """A finished job is not asked again; with other bytes it is another job."""
    model = "openai/gpt-6-sol"
    with simulator(answers=ACME) as vendor:
        for content, calls in ((write_png(8), 1), (write_png(8), 1), (write_png(9), 2)):
            client = vendor.client(model, asynchronous=True)
            jobs = [Job(QUESTION, materials=[Image(content)])]
            with emit_many(Invoice, jobs, model=model, client=client, journal=tmp_path / "j", progress=False) as run:
                assert [item.value for item in run] == [OWED]
            assert len(vendor.calls) == calls


def test_an_image_counts_before_it_is_sent() -> None:
    """What it takes at most is set aside: a limit on all tokens leaves less for the answer."""
    policy, model = Policy(max_total_tokens=2200, output_tokens=1500), "openai/gpt-6-sol"
    with simulator(answers=ACME) as vendor:
        for prompt in (QUESTION, [QUESTION, Image(write_png(1000, 1000))]):
            emit(Invoice, prompt, model=model, client=vendor.client(model), policy=policy)
        plain, shown = (call.body["max_output_tokens"] for call in vendor.calls)

    assert plain == 1500
    assert shown <= 2200 - 1229  # 32 by 32 patches of 1.2 tokens


def test_the_example_is_the_one_that_is_written_here() -> None:
    """The committed invoice is what the code makes, and small enough to read."""
    assert INVOICE.read_bytes() == write_invoice()
    assert INVOICE_LINES[-1].encode() in write_invoice()
    assert RECEIPT.stat().st_size < 10_000


@every_model
def test_registered_secrets_are_removed_from_captions(model: str, options: dict[str, Any]) -> None:
    """Sources and file names are captions; both reach the vendor without a secret, wherever the media stand."""
    secret = "sk-caption-0123456789"
    host = Acceptor(HostConfig(secrets=Secrets.of({"key": secret})), store=None)
    named = {"type": "file", "file": {"filename": f"{secret}.pdf", "file_data": Document(INVOICE).part.data_url}}
    fenced = Image(RECEIPT, f"mail with {secret}", Trust.UNTRUSTED)
    with simulator(answers=ACME) as vendor:
        shared = {"model": model, "client": vendor.client(model), "host": host, **options}
        emit(Invoice, [{"role": "user", "content": [QUESTION, named, fenced]}], materials=[fenced], **shared)
        body = json.dumps(vendor.calls[-1].body)

    assert secret not in body
    assert body.count("mail with ") == 2
