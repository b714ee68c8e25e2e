"""The libraries that are measured, and the conversation with the process that each runs in."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

ROOT = Path(__file__).parents[1]
WIRES = ("openai-responses", "openai-chat", "anthropic", "google")
ONLY = "BENCHMARK_ONLY"
"""The variable that may name, with commas, the only libraries to be measured."""


@dataclass(frozen=True, slots=True)
class Library:
    """One library: ``module`` is its runner, ``contender`` what the runner calls it.

    ``environment`` is a folder of ``.venv``, empty for the project's own. ``retries`` are the settings that are
    tried, None being what it does by itself; ``packages`` are those whose versions are reported.
    """

    name: str
    module: str
    contender: str
    packages: tuple[str, ...]
    environment: str = ""
    retries: tuple[int | None, ...] = (None,)

    @property
    def python(self) -> Path:
        """The interpreter that has it."""
        if not self.environment:
            return Path(sys.executable)
        return ROOT / ".venv" / self.environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def absent(self) -> str:
        """Why it cannot be measured here; empty where it can."""
        only = os.environ.get(ONLY)
        if only is not None and self.name not in only.split(","):
            return f"left out by {ONLY}"
        here = not self.environment or self.python.parents[1].joinpath("installed").exists()
        return "" if here else "not installed: make peers"


SDKS = ("openai", "anthropic", "google-genai", "httpx2")
_TWICE = (None, 2)

EMITTER = Library("emitter", "emitter_runner", "emit", ("llm-emitter", "pydantic"))
SDK = Library("SDK parse helpers", "sdk_runner", "sdk typed", SDKS)
PEERS = (
    Library(
        *("instructor", "instructor_runner", "instructor"),
        ("instructor", *SDKS[:3]),
        environment="peer-instructor",
        retries=_TWICE,
    ),
    Library(
        *("pydantic-ai", "pydantic_ai_runner", "pydantic-ai"),
        ("pydantic-ai-slim", *SDKS[:3]),
        environment="peer-pydantic-ai",
        retries=_TWICE,
    ),
    Library(
        *("LangChain", "langchain_runner", "langchain"),
        ("langchain-core", "langchain-openai", "langchain-anthropic", "langchain-google-genai", *SDKS[:3]),
        environment="peer-langchain",
        retries=_TWICE,
    ),
    Library("BAML", "baml_runner", "baml", ("baml-py",), environment="peer-baml", retries=_TWICE),
)
ALL = (EMITTER, SDK, *PEERS)


def present() -> list[Library]:
    """Return the libraries that can be measured here."""
    return [each for each in ALL if not each.absent]


def missing() -> dict[str, str]:
    """Return why each of the others is left out."""
    return {each.name: each.absent for each in ALL if each.absent}


class Lost(Exception):
    """A runner died, or took longer than it was given; its process is gone."""


class Runner:
    """A process that has a library, to be used in a ``with`` block; one that hangs is replaced when asked again."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._process: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  as long as the runner

    def ask(self, do: str, patience: float = 120.0, **job: Any) -> dict[str, Any]:
        """Return what a job comes to; raises ``Lost`` after so many seconds, ``RuntimeError`` when it broke."""
        process = self._running()
        assert process.stdin is not None  # noqa: S101  it is a pipe
        line = json.dumps({"do": do, "contender": self.library.contender, "retries": None, **job})
        with suppress(BrokenPipeError):  # it died: reading tells
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        answer = json.loads(self._line(process, patience))
        if "broken" in answer:
            raise RuntimeError(f"{self.library.name}: {answer['broken']}")
        return answer

    def versions(self) -> dict[str, str]:
        """Return the versions of the library's packages."""
        return self.ask("about", packages=self.library.packages)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603  our own module
                [self.library.python, "-m", f"benchmarks.runners.{self.library.module}"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
            )
        return self._process

    def _line(self, process: subprocess.Popen[bytes], patience: float) -> bytes:
        assert process.stdout is not None  # noqa: S101  it is a pipe
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            heard = selector.select(patience)
        line = process.stdout.readline() if heard else b""
        if not line:
            self.close()
            raise Lost(f"{self.library.name} {f'died: {self._last()}' if heard else f'took over {patience:g} s'}")
        return line

    def _last(self) -> str:
        """Return the last line of what the process complained of."""
        self._said.seek(0)
        return self._said.read().decode(errors="replace").strip().rpartition("\n")[2]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with suppress(BrokenPipeError):  # what was not sent to it is let go of
                self._process.communicate()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._said.close()


class Runners(ExitStack):
    """The processes of several libraries, each begun when it is first asked; to be used in a ``with`` block."""

    def __init__(self) -> None:
        super().__init__()
        self._runners: dict[Library, Runner] = {}

    def of(self, library: Library) -> Runner:
        """Return the one process of a library."""
        if library not in self._runners:
            self._runners[library] = self.enter_context(Runner(library))
        return self._runners[library]


def rows() -> Iterator[tuple[Library, int | None]]:
    """Yield every library that is present with every setting of its retries."""
    for each in present():
        for retries in each.retries:
            yield each, retries
