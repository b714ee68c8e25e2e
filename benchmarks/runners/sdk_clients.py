"""The vendors' own clients, made as their documentation says and pointed at a server on this machine."""

from __future__ import annotations

from typing import Any

KEY = "no-key-needed"


def client(wire: str, url: str) -> Any:
    """Return the client of a wire's SDK, with its default retries."""
    if wire == "anthropic":
        import anthropic  # noqa: PLC0415  only the SDK that is measured is loaded

        return anthropic.Anthropic(base_url=url, api_key=KEY)
    if wire == "google":
        from google import genai  # noqa: PLC0415  as above

        return genai.Client(api_key=KEY, http_options={"base_url": url})
    import openai  # noqa: PLC0415  as above

    return openai.OpenAI(base_url=f"{url}/v1", api_key=KEY)
