"""LangChain: a chat model's ``with_structured_output``, in the method that it takes by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_anthropic import ChatAnthropic
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

from benchmarks.runners.sdk_clients import KEY
from benchmarks.runners.talk import talk
from benchmarks.runners.task import BUDGET, MODELS, PROMPT, Moment, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def _chat(wire: str, url: str, budget: int) -> Any:
    name = MODELS[wire]
    match wire:
        case "anthropic":
            return ChatAnthropic(model=name, anthropic_api_url=url, api_key=KEY, max_tokens=budget)
        case "google":
            return ChatGoogleGenerativeAI(model=name, base_url=url, api_key=KEY, max_output_tokens=budget)
        case _:
            return ChatOpenAI(
                model=name,
                base_url=f"{url}/v1",
                api_key=KEY,
                max_tokens=budget,
                use_responses_api=wire == "openai-responses",
            )


class Structured:
    """A model that answers in a form."""

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one call."""
        structured = _chat(job["wire"], job["url"], BUDGET).with_structured_output(Moment)
        if job["retries"] is not None:
            structured = structured.with_retry(stop_after_attempt=job["retries"] + 1)
        return lambda: structured.invoke(PROMPT)

    def streamer(self, job: Mapping[str, Any]) -> Callable[[], Iterable[object]]:
        """Return one streamed call."""
        structured = _chat(job["wire"], job["url"], job["budget"]).with_structured_output(Report)
        return lambda: structured.stream(PROMPT)


if __name__ == "__main__":
    talk({"langchain": Structured()})
