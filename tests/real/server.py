"""Start and stop a real server with a real model in an environment of its own, which ``make real`` installs."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anthropic
import openai

if TYPE_CHECKING:
    from collections.abc import Generator

_ENVIRONMENT = Path(__file__).parents[2] / ".venv" / "real"
WIRES = ("chat", "responses", "messages")
"""The APIs that the server speaks and that return a model's text."""


def is_installed() -> bool:
    """Return whether the server and the model are installed."""
    return _ENVIRONMENT.joinpath("installed").exists()


@contextmanager
def real_server() -> Generator[str]:
    """Yield the address of a llama.cpp server with SmolLM2-135M. It is stopped at the end of the block."""
    program = Path(__file__).with_name("model_server.py")
    with subprocess.Popen(
        [_ENVIRONMENT / "bin" / "python", program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address.startswith("http"):
                raise RuntimeError("The model's server did not start.")
            yield address
        finally:
            process.kill()


@contextmanager
def connect(wire: str, url: str) -> Generator[dict[str, Any]]:
    """Yield the arguments of ``emit`` for the model over one of the server's APIs."""
    if wire == "chat":
        yield {"model": "llama-cpp/smollm2", "base_url": f"{url}/v1"}
    elif wire == "responses":
        with openai.OpenAI(base_url=f"{url}/v1", api_key="none") as client:
            yield {"model": "openai/smollm2", "client": client}
    else:
        with anthropic.Anthropic(base_url=url, api_key="none") as messages:
            yield {"model": "anthropic/smollm2", "client": messages}
