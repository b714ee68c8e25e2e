"""What the vendors' own SDKs raise is what they raise for the real vendor."""

from __future__ import annotations

import anthropic
import openai
import pytest
from google.genai import errors as google_errors

from emitter.testing import Dropped, ErrorEvent, Forbidden, Overloaded, Quota, Simulator, Text
from tests.testing.asking import DOCUMENT
from tests.testing.test_clients import CHAT, CONTENT, MESSAGES, RESPONSES


def test_errors(vendor: Simulator) -> None:
    """Each SDK raises the exception that it raises for the real vendor."""
    vendor.script(Overloaded(retry_after=7), Quota(), Overloaded(529), Overloaded(503), Dropped(answer=Text(DOCUMENT)))
    of_openai, of_anthropic = vendor.client("openai/gpt-6-sol"), vendor.client("anthropic/claude-sonnet-5-5")

    with pytest.raises(openai.RateLimitError) as limited:
        of_openai.responses.create(**RESPONSES)
    with pytest.raises(openai.RateLimitError) as dry:
        of_openai.chat.completions.create(**CHAT)
    with pytest.raises(anthropic.APIStatusError) as overloaded:
        of_anthropic.messages.create(**MESSAGES)
    with pytest.raises(google_errors.ServerError) as unavailable:
        vendor.client("google/gemini-3.8-flash").models.generate_content(**CONTENT)
    with pytest.raises(openai.APIConnectionError):
        of_openai.responses.create(**RESPONSES)

    assert limited.value.response.headers["retry-after"] == "7"
    assert dry.value.code == "insufficient_quota"
    assert (overloaded.value.status_code, overloaded.value.type) == (529, "overloaded_error")
    assert unavailable.value.status == "UNAVAILABLE"


def test_what_a_key_may_not_do(vendor: Simulator) -> None:
    """Each vendor has its own words for a key that is good and may not do this."""
    vendor.script(*[Forbidden()] * 4)

    with pytest.raises(openai.PermissionDeniedError) as of_openai:
        vendor.client("openai/gpt-6-sol").responses.create(**RESPONSES)
    with pytest.raises(openai.PermissionDeniedError) as of_azure:
        vendor.client("azure-openai/gpt-6-sol").chat.completions.create(**CHAT)
    with pytest.raises(anthropic.PermissionDeniedError) as of_anthropic:
        vendor.client("anthropic/claude-sonnet-5-5").messages.create(**MESSAGES)
    with pytest.raises(google_errors.ClientError) as of_google:
        list(vendor.client("google/gemini-3.8-flash").models.generate_content_stream(**CONTENT))

    assert of_openai.value.code == "unsupported_country_region_territory"
    assert of_azure.value.code == "403"
    assert of_anthropic.value.type == "permission_error"
    assert (of_google.value.code, of_google.value.status) == (403, "PERMISSION_DENIED")
    assert "StreamGenerateContent" in str(of_google.value.message)


def test_an_error_in_a_stream(vendor: Simulator) -> None:
    """What an SDK raises in the middle of a stream, it raises here."""
    vendor.script(*[ErrorEvent(answer=Text(DOCUMENT))] * 3)

    with pytest.raises(openai.APIError):
        list(vendor.client("openai/gpt-6-sol").chat.completions.create(**CHAT, stream=True))
    with (
        pytest.raises(anthropic.APIStatusError) as overloaded,
        vendor.client("anthropic/claude-sonnet-5-5").messages.stream(**MESSAGES) as events,
    ):
        events.get_final_message()
    with pytest.raises(google_errors.APIError):
        list(vendor.client("google/gemini-3.8-flash").models.generate_content_stream(**CONTENT))

    assert overloaded.value.type == "overloaded_error"
