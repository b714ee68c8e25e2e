"""The public names: pinned, lazily loaded, and light."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

import emitter
from emitter.recover import Recovered, recover
from emitter.schema import Uncompilable, compile_schema

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {
    "AIEnvelope",
    "Acceptor",
    "Act",
    "AsyncEmitter",
    "AsyncRun",
    "AsyncStream",
    "AuthenticationError",
    "Authority",
    "AuthorityError",
    "BadCassette",
    "BadJournal",
    "BadProfile",
    "BadPrompt",
    "BadRequest",
    "BadTraffic",
    "Batch",
    "BindingMoment",
    "CapabilityNotProvided",
    "CheckFailed",
    "ClarificationRequest",
    "Clock",
    "ConfirmRequest",
    "Continuation",
    "CostLimitReached",
    "DeadlineReached",
    "Deliberation",
    "Dialogue",
    "Emission",
    "EmissionError",
    "Emitter",
    "EmitterError",
    "ErrorReport",
    "FieldComplete",
    "FreeText",
    "Hatches",
    "Hold",
    "HostConfig",
    "Incorporate",
    "InputError",
    "Invalid",
    "Job",
    "JobResult",
    "JournalFailed",
    "Ledger",
    "LimitReached",
    "LintConfig",
    "Material",
    "MissingExtra",
    "MissingKey",
    "NotFound",
    "PendingDecision",
    "Policy",
    "Prices",
    "PromptTooLong",
    "QuotaExhausted",
    "RateLimited",
    "RecordingTransport",
    "Refused",
    "Reopen",
    "ReplayTransport",
    "Resolution",
    "ResolutionError",
    "ResolvedDecision",
    "Restart",
    "Run",
    "RunEvent",
    "RunProgress",
    "Scope",
    "Secrets",
    "Selected",
    "StoreFailed",
    "Stream",
    "Tampered",
    "TextDelta",
    "TokenLimitReached",
    "TooLong",
    "Trace",
    "Truncated",
    "Trust",
    "Uncompilable",
    "UnexpectedRequest",
    "UnknownModel",
    "UnknownModelWarning",
    "Unreachable",
    "Unresolved",
    "UnresolvedReason",
    "Usage",
    "Violation",
    "Withheld",
    "aemit",
    "aemit_authorization",
    "aemit_binding_moment",
    "aemit_binding_moments",
    "aemit_many",
    "answer_in_words",
    "astream",
    "astream_binding_moment",
    "continue_after",
    "digest",
    "emit",
    "emit_authorization",
    "emit_binding_moment",
    "emit_binding_moments",
    "emit_many",
    "open_dialogue",
    "select_option",
    "stream",
    "stream_binding_moment",
    "to_all",
    "to_jsonl",
    "to_logging",
}


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_names_are_pinned() -> None:
    """A name that comes or goes is a decision, made here."""
    assert set(emitter._MODULES) == NAMES
    assert set(dir(emitter)) >= NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_loads(name: str) -> None:
    """Each public name exists and has a docstring, or is a type."""
    assert getattr(emitter, name).__doc__


def test_a_star_import_has_every_name_and_the_version_is_the_packages() -> None:
    """``__all__`` lists what is public, and ``__version__`` needs no look at the package's metadata."""
    names: dict[str, object] = {}
    exec("from emitter import *", names)  # noqa: S102  there is no other way to import so inside a function

    assert set(names) >= NAMES
    assert emitter.__version__ == version("emitter")


def test_a_misspelt_name_is_an_error_of_the_type_checker(tmp_path: Path) -> None:
    """What the package loads when it is first used does not make every name an existing one."""
    program = tmp_path / "program.py"
    program.write_text("from emitter import emit, emti\n")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(program)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert 'Module "emitter" has no attribute "emti"' in checked.stdout
    assert "Found 1 error" in checked.stdout


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as it does in any module."""
    with pytest.raises(AttributeError, match="has no attribute 'emit_binding_momentum'"):
        _ = emitter.emit_binding_momentum  # type: ignore[attr-defined]


def test_importing_loads_no_vendor_sdk_and_nothing_heavy() -> None:
    """Not the package, and not its main function either."""
    heavy = {"openai", "anthropic", "google.genai", "httpx2", "httpx", "tiktoken", "json_repair", "pydantic"}

    assert not heavy & loaded_by("import emitter")
    assert not {"openai", "anthropic", "google.genai", "tiktoken", "json_repair"} & loaded_by(
        "from emitter import emit, emit_binding_moment"
    )


def test_the_fixed_paths_hold() -> None:
    """The paths that the design fixes can be imported."""
    assert callable(recover)
    assert callable(compile_schema)
    assert Recovered.__slots__ == ("value", "path", "byte_offset", "doubtful")
    assert issubclass(Uncompilable, emitter.EmitterError)
