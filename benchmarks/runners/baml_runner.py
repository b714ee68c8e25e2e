"""BAML: the client that ``baml-cli generate`` makes from ``baml_src``, pointed at a server when it runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.runners.sdk_clients import KEY
from benchmarks.runners.talk import talk
from benchmarks.runners.task import BUDGET, MODELS, PROMPT

os.environ.setdefault("BAML_LOG", "off")
sys.path.insert(0, str(Path(sys.prefix) / "generated"))

from baml_client import b  # made by ``make peers``
from baml_py import ClientRegistry  # reads the variable above when it is loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_PROVIDERS = {
    "openai-responses": "openai-responses",
    "openai-chat": "openai",
    "anthropic": "anthropic",
    "google": "google-ai",
}


def _registry(job: Mapping[str, Any], budget: int) -> ClientRegistry:
    wire, url = job["wire"], job["url"]
    options: dict[str, Any] = {"model": MODELS[wire], "api_key": KEY}
    match wire:
        case "openai-responses":
            options |= {"base_url": f"{url}/v1", "max_output_tokens": budget}
        case "openai-chat":
            options |= {"base_url": f"{url}/v1", "max_completion_tokens": budget}
        case "anthropic":
            options |= {"base_url": url, "max_tokens": budget}
        case _:
            options |= {"base_url": f"{url}/v1beta", "generationConfig": {"maxOutputTokens": budget}}
    made = ClientRegistry()
    policy = None if job["retries"] is None else f"Retries{job['retries']}"
    made.add_llm_client("Here", _PROVIDERS[wire], options, policy)
    made.set_primary("Here")
    return made


class Function:
    """A function written in BAML."""

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one call of the function."""
        registry = _registry(job, BUDGET)
        return lambda: b.Decide(PROMPT, {"client_registry": registry})

    def streamer(self, job: Mapping[str, Any]) -> Callable[[], Iterable[object]]:
        """Return one streamed call: partial values, then the final one."""
        registry = _registry({**job, "retries": None}, job["budget"])

        def streamed() -> Iterable[object]:
            running = b.stream.Write(PROMPT, {"client_registry": registry})
            yield from running
            yield running.get_final_response()

        return streamed


if __name__ == "__main__":
    talk({"baml": Function()})
