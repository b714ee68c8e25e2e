"""pydantic-ai: an ``Agent`` with an output type, in the mode that it takes by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from benchmarks.runners.sdk_clients import KEY
from benchmarks.runners.talk import talk
from benchmarks.runners.task import BUDGET, MODELS, PROMPT, Moment, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def _model(wire: str, url: str) -> Any:
    name = MODELS[wire]
    match wire:
        case "openai-responses":
            return OpenAIResponsesModel(name, provider=OpenAIProvider(base_url=f"{url}/v1", api_key=KEY))
        case "openai-chat":
            return OpenAIChatModel(name, provider=OpenAIProvider(base_url=f"{url}/v1", api_key=KEY))
        case "anthropic":
            return AnthropicModel(name, provider=AnthropicProvider(base_url=url, api_key=KEY))
        case _:
            return GoogleModel(name, provider=GoogleProvider(base_url=url, api_key=KEY))


class Run:
    """An agent that has nothing to do but to answer."""

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one run."""
        retries = {} if job["retries"] is None else {"retries": job["retries"]}
        agent = Agent(_model(job["wire"], job["url"]), output_type=Moment, **retries)
        settings: Any = {"max_tokens": BUDGET}
        return lambda: agent.run_sync(PROMPT, model_settings=settings).output

    def streamer(self, job: Mapping[str, Any]) -> Callable[[], Iterable[object]]:
        """Return one streamed run, with the debouncing that it has by itself."""
        agent = Agent(_model(job["wire"], job["url"]), output_type=Report)
        settings: Any = {"max_tokens": job["budget"]}
        return lambda: agent.run_stream_sync(PROMPT, model_settings=settings).stream_output()


if __name__ == "__main__":
    talk({"pydantic-ai": Run()})
