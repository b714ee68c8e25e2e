"""`emitter emit` as a process, against the simulated vendor: inputs, options, output and exit status."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emitter.cli import BAD_USAGE, FAILED, SUCCESS
from tests.cli.jobs import MODEL, command, prompt_of, spawn, write_files

if TYPE_CHECKING:
    from emitter.testing import Simulator
    from tests.cli.conftest import Run

MEDIA = Path(__file__).parents[2] / "examples" / "media"
EMIT = ("emit", "--model", MODEL)
TYPE = ("--type", "invoices:Invoice")
SCHEMA = ("--schema", "invoice.json")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a type, a schema and a few files."""
    write_files(tmp_path)
    (tmp_path / "mail.txt").write_text("Acme asks for 12.50 euros.")
    (tmp_path / "note.txt").write_text("Paid twice?")
    for name in ("receipt.jpg", "invoice.pdf"):
        shutil.copy(MEDIA / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_standard_input_and_a_type(vendor: Simulator, folder: Path) -> None:
    """The value is printed as JSON, by the type's own names, and nothing else."""
    done = spawn(vendor, folder, *EMIT, *TYPE, stdin="Acme asks for 12.50 euros.")

    assert (done.returncode, done.stderr) == (SUCCESS, "")
    assert json.loads(done.stdout) == {"vendor": "Acme", "total": 12.5, "dueBy": "2027-01-31"}
    assert "Acme asks for 12.50 euros." in prompt_of(vendor.calls[0])


def test_a_prompt_and_files_of_every_kind(vendor: Simulator, folder: Path) -> None:
    """Texts, images and documents are materials of the one prompt."""
    files = ("receipt.jpg", "invoice.pdf", "mail.txt", "--untrusted", "note.txt", "--temperature", "0.5")
    model = "openai/gpt-4o"
    done = command(vendor, folder, "emit", "--model", model, *SCHEMA, "--prompt", "Owed?", *files, "--json", "-v")
    found, asked = json.loads(done.stdout), prompt_of(vendor.calls[0])

    assert done.returncode == SUCCESS
    assert found["value"] == found["envelope"]["payload"]["document"] == {"vendor": "Acme", "total": 12.5}
    assert found["envelope"]["meta"]["contentTrust"] == "untrusted"
    assert found["usage"]["input"] == vendor.billed.input
    assert found["cost"] > 0
    assert [each["verdict"] for each in found["attempts"]] == ["complete"]
    assert {each["type"] for each in found["events"]} >= {"provider.usage", "node.completed"}
    assert all(part in asked for part in ("Owed?", "input_image", "input_file", "12.50 euros", "Paid twice?"))
    assert vendor.calls[0].body["temperature"] == 0.5
    assert "accepted" in done.stderr


def test_a_refusal_is_a_failure(vendor: Simulator, folder: Path) -> None:
    """It exits with 1; --json prints what it took."""
    done = command(vendor, folder, *EMIT, *SCHEMA, "--json", "--prompt", "The secret recipe?")
    found = json.loads(done.stdout)

    assert done.returncode == FAILED
    assert found["error"]["code"] == "envelope_refusal"
    assert found["usage"]["input"] > 0
    assert done.stderr.startswith("emitter: ")
    assert done.stderr.count("\n") == 1


def test_a_fallback_answers(vendor: Simulator, folder: Path) -> None:
    """The options are those of the function: another model, limits and prices."""
    limits = ("--max-attempts", "2", "--max-cost", "0.5", "--prices", "1", "4", "--timeout", "9", "--deadline", "20")
    models = ("--model", "openai/gpt-4o-mini", "--fallback", MODEL, "--service-tier", "flex")
    done = command(vendor, folder, "emit", *models, *SCHEMA, *limits, "mail.txt")

    assert done.returncode == SUCCESS, done.stderr
    assert vendor.calls[-1].model == "gpt-6-sol"
    assert vendor.calls[-1].body["service_tier"] == "flex"


def test_messages_come_first(vendor: Simulator, folder: Path) -> None:
    """The first file may hold an agent's messages; the others stay materials."""
    messages = [{"role": "user", "content": "First?"}, {"role": "assistant", "content": "Go on."}]
    (folder / "chat.json").write_text(json.dumps([*messages, {"role": "user", "content": "Second?"}]))
    done = command(vendor, folder, *EMIT, *SCHEMA, "chat.json", "-", stdin="piped")
    asked = prompt_of(vendor.calls[0])

    assert done.returncode == SUCCESS
    assert asked.index("First?") < asked.index("Go on.") < asked.index("Second?")
    assert "piped" in asked


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "type without a name": (("--type", "invoices"), "not of the form MODULE:NAME. Write the module"),
    "no such module": (("--type", "absent:X"), "absent cannot be imported (ModuleNotFoundError"),
    "module that raises": (("--type", "broken:X"), "broken cannot be imported (ZeroDivisionError"),
    "no such type": (("--type", "invoices:Bill"), "invoices.py) has no Bill"),
    "no type": (("--type", "json:JSONDecoder", "mail.txt"), "pydantic can make no JSON Schema"),
    "schema that is none": (("--schema", "mail.txt"), "mail.txt is not JSON"),
    "binary": ((*SCHEMA, "binary"), "binary is neither UTF-8 text nor an image"),
    "UTF-16": ((*SCHEMA, "utf-16"), "utf-16 is not UTF-8 text but UTF-16. Save it as UTF-8"),
    "empty image": ((*SCHEMA, "--prompt", "Owed?", "empty.png"), "empty.png is empty. Pass a file whose content"),
    "text as an image": ((*SCHEMA, "--prompt", "Owed?", "--material", "text.PNG"), "text.PNG is text, not an image"),
    "image as a PDF": ((*SCHEMA, "receipt.pdf"), "receipt.pdf is image/jpeg, not a PDF document. Pass a file whose"),
    "empty prompt": ((*SCHEMA, "empty.txt"), "The prompt is empty (empty.txt). Describe the task"),
    "missing file": ((*SCHEMA, "absent"), "absent cannot be read: No such file"),
    "standard input twice": ((*SCHEMA, "-", "--untrusted", "-"), "named more than once"),
    "setting that the model does not take": (
        (*SCHEMA, "--temperature", "0.5", "mail.txt"),
        "takes temperature=1 only while it thinks. Pass --reasoning-effort none, or leave out temperature.",
    ),
    "no time": ((*SCHEMA, "--timeout", "0", "mail.txt"), "--timeout is 0.0; it must be above 0"),
    "no known fallback": ((*SCHEMA, "--fallback", "nobody/x", "mail.txt"), "the vendors are"),
}


@pytest.mark.parametrize(("arguments", "reported"), BAD.values(), ids=BAD.keys())
def test_bad_usage_says_what_to_do(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], reported: str
) -> None:
    """Status 2, a sentence on standard error, and nothing on standard output."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (folder / "binary").write_bytes(b"\x00\x01\xff")
    (folder / "utf-16").write_text("Acme", encoding="utf-16")
    (folder / "empty.png").touch()
    (folder / "empty.txt").touch()
    (folder / "text.PNG").write_text("Acme")
    (folder / "receipt.jpg").rename(folder / "receipt.pdf")
    ran = run([*EMIT, *arguments])

    assert (ran.status, ran.out) == (BAD_USAGE, "")
    assert reported in ran.err


UNPARSED: dict[str, tuple[tuple[str, ...], str]] = {
    "no form": ((), "one of the arguments --type --schema is required"),
    "two forms": ((*TYPE, *SCHEMA), "not allowed with"),
    "no JSON body": ((*SCHEMA, "--extra-body", "{", "mail.txt"), "'{' is not JSON"),
    "one price": ((*SCHEMA, "--prices", "1"), "expected 2 arguments"),
}


@pytest.mark.parametrize(("arguments", "reported"), UNPARSED.values(), ids=UNPARSED.keys())
def test_a_bad_command_line_shows_the_usage(
    run: Run, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], reported: str
) -> None:
    """Status 2, as of every command."""
    with pytest.raises(SystemExit) as ended:
        run([*EMIT, *arguments])

    assert ended.value.code == BAD_USAGE
    assert reported in capsys.readouterr().err


def test_an_unknown_model_is_told_on_one_line(vendor: Simulator, folder: Path) -> None:
    """The warning is a sentence, without a line of source code."""
    done = spawn(vendor, folder, "emit", "--model", "openai/nova", *SCHEMA, "mail.txt")

    assert done.returncode == SUCCESS
    assert done.stderr.startswith("emitter: openai/nova is an unknown model.")
    assert done.stderr.count("\n") == 1


def test_a_server_is_described_by_a_file(vendor: Simulator, folder: Path) -> None:
    """``--profile`` names the file, which ``providers`` and ``compile`` read as well."""
    (folder / "server.toml").write_text(
        'name = "acme"\nextends = "openai-compatible"\n[[models]]\nmatch = "*"\nmax_output = 77\n'
    )
    address = vendor.base_url("vllm/m")
    server = ("--profile", "server.toml", "--base-url", address)
    done = command(vendor, folder, "emit", "--model", "m", *SCHEMA, *server, "--prompt", "Owed?", "--json")
    facts = command(vendor, folder, "providers", "server.toml")
    compiled = command(vendor, folder, "compile", "--profile", "server.toml", "invoice.json")

    assert (done.returncode, vendor.calls[0].body["max_tokens"]) == (SUCCESS, 77)
    assert json.loads(done.stdout)["attempts"][0]["model"] == "acme/m"
    assert json.loads(facts.stdout)["models"][0]["max_output"] == 77
    assert json.loads(compiled.stdout)["schema"]["type"] == "object"


@pytest.mark.parametrize(
    ("content", "reported"),
    [(None, "cannot be read"), ("modles = []", "Did you mean 'models'?"), ("x = = 1", "invalid TOML")],
    ids=["missing", "misspelt", "no TOML"],
)
def test_a_wrong_profile_is_bad_usage(content: str | None, reported: str, vendor: Simulator, folder: Path) -> None:
    """Nothing is sent."""
    if content is not None:
        (folder / "server.toml").write_text(content)
    done = command(vendor, folder, *EMIT, *SCHEMA, "--profile", "server.toml", "--prompt", "Owed?")

    assert (done.returncode, vendor.calls) == (BAD_USAGE, ())
    assert reported in done.stderr
