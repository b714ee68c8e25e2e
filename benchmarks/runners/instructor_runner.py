"""instructor: ``create(response_model=...)`` in the mode that it takes by itself for each client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import instructor

from benchmarks.runners.sdk_clients import client
from benchmarks.runners.talk import talk
from benchmarks.runners.task import BUDGET, MODELS, PROMPT, Moment, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def _patched(wire: str, url: str) -> Any:
    sdk = client(wire, url)
    match wire:
        case "openai-responses":
            return instructor.from_openai(sdk, mode=instructor.Mode.RESPONSES_TOOLS)
        case "openai-chat":
            return instructor.from_openai(sdk)
        case "anthropic":
            return instructor.from_anthropic(sdk)
        case _:
            return instructor.from_genai(sdk)


_BUDGETS: dict[str, Callable[[int], dict[str, Any]]] = {
    "openai-responses": lambda most: {"max_output_tokens": most},
    "openai-chat": lambda most: {"max_completion_tokens": most},
    "anthropic": lambda most: {"max_tokens": most},
    "google": lambda most: {"generation_config": {"max_tokens": most}},
}


class Create:
    """A patched client."""

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one call of ``create``."""
        wire = job["wire"]
        arguments = _arguments(wire, Moment, BUDGET)
        if job["retries"] is not None:
            arguments["max_retries"] = job["retries"]
        patched = _patched(wire, job["url"])
        return lambda: patched.create(**arguments)

    def streamer(self, job: Mapping[str, Any]) -> Callable[[], Iterable[object]]:
        """Return one run of ``create_partial``."""
        wire = job["wire"]
        patched, arguments = _patched(wire, job["url"]), _arguments(wire, Report, job["budget"])
        return lambda: patched.create_partial(**arguments)


def _arguments(wire: str, model: type, budget: int) -> dict[str, Any]:
    return {
        "model": MODELS[wire],
        "messages": [{"role": "user", "content": PROMPT}],
        "response_model": model,
        **_BUDGETS[wire](budget),
    }


if __name__ == "__main__":
    talk({"instructor": Create()})
