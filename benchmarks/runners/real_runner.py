"""Ask a real model for each task with one library, and print a line of JSON for each: ``real_runner.py LIBRARY URL``.

The requests are counted where they leave, in the HTTP client that every library is given.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import openai
from tests.real.tasks import MODEL_TASKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MODEL, BUDGET = "smollm2", 256
SETTINGS: tuple[Mapping[str, Any], ...] = (
    {"temperature": 0},
    *({"temperature": 0.7, "seed": seed} for seed in (1, 2, 3)),
)


class Counter:
    """The calls and output tokens of one task."""

    def __init__(self) -> None:
        self.calls = self.tokens = 0

    def __call__(self, response: Any) -> None:
        """Count a response."""
        self.calls += 1
        response.read()
        try:
            self.tokens += response.json()["usage"]["completion_tokens"]
        except (ValueError, KeyError, TypeError):
            return


def _client(url: str, counter: Counter) -> openai.OpenAI:
    http = openai.DefaultHttpxClient(event_hooks={"response": [counter]}, timeout=120)
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", http_client=http, max_retries=0)


def _emitter(client: Any) -> Callable[..., Any]:
    from emitter import Policy, emit  # noqa: PLC0415  each runner is in an environment of its own

    policy = Policy(output_tokens=BUDGET, timeout=120)

    def ask(form: type, text: str, **settings: Any) -> Any:
        return emit(form, text, model=f"llama-cpp/{MODEL}", client=client, policy=policy, **settings).value

    return ask


def _sdk(client: Any) -> Callable[..., Any]:
    def ask(form: type, text: str, **settings: Any) -> Any:
        messages = [{"role": "user", "content": text}]
        answer = client.chat.completions.parse(
            model=MODEL, messages=messages, response_format=form, max_tokens=BUDGET, **settings
        )
        return answer.choices[0].message.parsed

    return ask


def _instructor(client: Any) -> Callable[..., Any]:
    import instructor  # noqa: PLC0415  as above

    patched: Any = instructor.from_openai(client, mode=instructor.Mode.JSON_SCHEMA)

    def ask(form: type, text: str, **settings: Any) -> Any:
        messages = [{"role": "user", "content": text}]
        return patched.create(model=MODEL, messages=messages, response_model=form, max_tokens=BUDGET, **settings)

    return ask


def _pydantic_ai(client: Any) -> Callable[..., Any]:
    from pydantic_ai import Agent, NativeOutput  # noqa: PLC0415  as above
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    asynchronous = openai.AsyncOpenAI(
        base_url=client.base_url,
        api_key="none",
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_acount(client)]}, timeout=120),
    )
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=asynchronous))

    def ask(form: type, text: str, **settings: Any) -> Any:
        made: Any = {"max_tokens": BUDGET, **settings}
        return Agent(model, output_type=NativeOutput(form)).run_sync(text, model_settings=made).output

    return ask


def _acount(client: Any) -> Callable[[Any], Any]:
    """Return the async version of the counter of a client."""
    (counter,) = client._client.event_hooks["response"]  # noqa: SLF001  the SDK keeps the client that it was given

    async def count(response: Any) -> None:
        await response.aread()
        counter(_Read(response))

    return count


class _Read:
    """A response that was read."""

    def __init__(self, response: Any) -> None:
        self.json = response.json

    def read(self) -> None:
        """Do nothing."""


LIBRARIES = {"emitter": _emitter, "sdk": _sdk, "instructor": _instructor, "pydantic-ai": _pydantic_ai}


def main() -> None:
    """Ask for everything."""
    library, url = sys.argv[1:3]
    counter = Counter()
    ask = LIBRARIES[library](_client(url, counter))
    for settings in SETTINGS:
        for task in MODEL_TASKS:
            counter.calls = counter.tokens = 0
            started, error = time.monotonic(), ""
            try:
                value = ask(task.form, task.text, **settings)
            except Exception as raised:  # noqa: BLE001  each library has errors of its own
                value, error = None, f"{type(raised).__name__}: {str(raised).splitlines()[0] if str(raised) else ''}"
            row = {
                "task": task.name,
                "right": not error and value.model_dump() == task.truth.model_dump(),
                "error": error[:200],
            }
            row |= {"calls": counter.calls, "tokens": counter.tokens, "seconds": time.monotonic() - started}
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
