"""What bad input gets: one sentence on standard error, status 2, and never a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from emitter.profiles import load_profile, profile_names

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

MOMENT = ["moment", "--model", "openai/gpt-6-sol"]
SAY = b"Shall we ship?"

BAD: dict[str, tuple[list[str], bytes, str]] = {
    "demo, unknown scenario": (["demo", "nope"], b"", "no scenario 'nope'. There are bound, deliberation"),
    "demo, unknown vendor": (["demo", "--vendor", "x"], b"", "no wire 'x'. There are openai-responses"),
    "providers, unknown name": (["providers", "x"], b"", "no profile 'x'. Choose one of anthropic"),
    "recover, missing file": (["recover", "absent"], b"", "absent cannot be read: No such file"),
    "recover, folder": (["recover", "."], b"", ". cannot be read: Is a directory"),
    "recover, binary": (["recover", "binary"], b"", "binary is not UTF-8 text"),
    "recover, binary on stdin": (["recover"], b"\xff\xfe{}", "standard input is not UTF-8 text"),
    "classify, missing file": (["classify", "absent"], b"", "absent does not exist"),
    "classify, empty folder": (["classify", "folder"], b"", "folder holds no *.json file"),
    "classify, one empty folder of two": (["classify", "prompts", "folder"], b"", "holds no *.json file"),
    "classify, empty file": (["classify", "empty"], b"", "empty is not a JSON file"),
    "classify, binary": (["classify", "binary"], b"", "binary is not a JSON file"),
    "classify, no JSON": (["classify", "text"], b"", "text is not a JSON file"),
    "classify, no exchange": (["classify", "list"], b"", "list is not an exchange"),
    "classify, no status": (["classify", "half"], b"", "half is not an exchange"),
    "moment, no key": (MOMENT, SAY, "No key for OpenAI was found. Set OPENAI_API_KEY"),
    "moment, unknown vendor": (["moment", "--model", "x/y"], SAY, "Write vendor/model; the vendors are anthropic"),
    "moment, no vendor": (["moment", "--model", "gpt"], SAY, "Write vendor/model"),
    "moment, no model": (["moment", "--model", "openai/"], SAY, "Write vendor/model"),
    "moment, unknown wire": ([*MOMENT, "--wire", "x"], SAY, "OpenAI has no wire 'x'. It has openai-"),
    "moment, empty": (MOMENT, b"", "The prompt is empty (standard input). Describe the task."),
    "moment, blank": (MOMENT, b" \n\t\n", "The prompt is empty"),
    "moment, only a byte order mark": (MOMENT, b"\xef\xbb\xbf", "The prompt is empty"),
    "moment, empty file": ([*MOMENT, "empty"], b"", "The prompt is empty (empty). Describe the task"),
    "a setting with a flag": (
        [*MOMENT, "--seed", "1"],
        SAY,
        "--extra-body adds the vendor's own fields.",
    ),
    "a wire with a flag": (["moment", "--model", "openai/gpt-4o", "--seed", "1"], SAY, "Or pass --wire openai-chat."),
    "a limit with a flag": ([*MOMENT, "--deadline", "0"], SAY, "emitter: --deadline is 0.0; it must be above 0"),
    "prices with a flag": (
        ["moment", "--model", "groq/x", "--max-cost", "1"],
        SAY,
        "--max-cost is set, but no price is known: ",
    ),
    "moment, no messages": (MOMENT, b"[]", "messages is an empty list"),
    "moment, messages after a mark": (MOMENT, b'\xef\xbb\xbf[{"role": "x"}]', "messages[0].role is 'x'"),
    "moment, picture": (MOMENT, b'[{"role": "user", "content": [{"type": "image"}]}]', "The part has no source"),
    "moment, missing file": ([*MOMENT, "absent"], b"", "absent cannot be read: No such file"),
    "moment, binary": ([*MOMENT, "binary"], b"", "binary is not UTF-8 text"),
    "moment, missing material": ([*MOMENT, "--material", "absent"], SAY, "absent cannot be read"),
    "moment, binary untrusted": ([*MOMENT, "--untrusted", "binary"], SAY, "binary is not UTF-8 text"),
    "moment, no budget": ([*MOMENT, "--output-tokens", "0"], SAY, "--output-tokens is 0; it must be 1 or more"),
    "moment, too many attempts": ([*MOMENT, "--max-attempts", "99"], SAY, "--max-attempts is 99; it must be 1 to 16"),
    "moment, no attempt": ([*MOMENT, "--max-attempts", "0"], SAY, "--max-attempts is 0; it must be 1 to 16"),
    "moment, no time": ([*MOMENT, "--deadline", "0"], SAY, "--deadline is 0.0; it must be above 0"),
    "moment, no prompts": ([*MOMENT, "--prompts", "absent"], SAY, "--prompts absent is not a folder"),
    "moment, empty prompts": ([*MOMENT, "--prompts", "folder"], SAY, "The prompts folder has no templates"),
    "moment, prompt without its name": ([*MOMENT, "--prompts", "prompts"], SAY, "losses.md leaves out $losses"),
    "moment, events nowhere": (
        [*MOMENT, "--events", "absent/e"],
        SAY,
        "absent/e cannot be opened for events: No such file",
    ),
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of bad files, without any key."""
    monkeypatch.chdir(tmp_path)
    for variable in {each for name in profile_names() for each in load_profile(name).client.key_env}:
        monkeypatch.delenv(variable, raising=False)
    files = {
        "binary": b"\xff\xfe\x00\x01",
        "empty": b"",
        "text": b"hello",
        "list": b"[1]",
        "half": json.dumps({"endpoint": "messages", "response": {"body": {}}}).encode(),
        "folder/keep": b"",
        "prompts/losses.md": b"Mind the rules.",
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)


@pytest.mark.parametrize(("arguments", "stdin", "reported"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence(run: Run, arguments: list[str], stdin: bytes, reported: str) -> None:
    """Status 2, nothing on standard output, and what to do on one line of standard error."""
    ran = run(arguments, stdin)

    assert reported in ran.err
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("emitter: ")
    assert ran.err.count("\n") == 1


NOTHING: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no complete JSON document"),
    "prose": (b"I would ship it.", "no complete JSON document"),
    "cut": (b'{"a": [1, 2', "no complete JSON document"),
    "two documents": (b'{"a": 1}\n{"a": 2}', "2 different documents"),
}


@pytest.mark.parametrize(("stdin", "reported"), NOTHING.values(), ids=NOTHING.keys())
def test_nothing_to_recover_is_a_failure(run: Run, stdin: bytes, reported: str) -> None:
    """A text without its one document ends with 1: the usage was right, the answer was not."""
    ran = run(["recover", "-"], stdin)

    assert (ran.status, ran.out) == (1, "")
    assert reported in ran.err
