"""The names that OpenTelemetry is told, pinned here: they change when we choose to, not when a package does.

Sources: observability.md of OpenWOP v1 for ``openwop.*``; for ``gen_ai.*`` the semantic conventions 1.37.0, in which
``gen_ai.provider.name`` took the place of ``gen_ai.system``. They are still marked as in development, unchanged up
to 1.44.0, and kept since then in a repository of their own. ``emitter.*`` is ours.
"""

from __future__ import annotations

import re
from typing import Final

SCOPE: Final = "emitter"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.37.0"

NODE_SPAN: Final = "openwop.node"
ACTIVITY_SPAN: Final = "openwop.activity"

RUN_ID: Final = "openwop.run_id"
NODE_ID: Final = "openwop.node_id"
NODE_TYPE: Final = "openwop.node_type"
EVENT_TYPE: Final = "openwop.event_type"
EVENT_SEQ: Final = "openwop.event_seq"
ENVELOPE_KIND: Final = "openwop.envelope_kind"
ENVELOPE_ID: Final = "openwop.envelope_id"
CAP_KIND: Final = "openwop.cap_kind"
CAP_LIMIT: Final = "openwop.cap_limit"
CAP_OBSERVED: Final = "openwop.cap_observed"
COST_INPUT: Final = "openwop.cost.tokens.input"
COST_OUTPUT: Final = "openwop.cost.tokens.output"
COST_TOTAL: Final = "openwop.cost.tokens.total"
COSTS: Final = (COST_INPUT, COST_OUTPUT, COST_TOTAL)
COST_PROVIDER: Final = "openwop.cost.provider"

ERROR_TYPE: Final = "error.type"
UNFINISHED: Final = "emitter.unfinished"
"""True on the span of an emission whose end was never told."""
REDACTIONS: Final = "emitter.redactions"
CACHED: Final = "emitter.cached"

TOKEN_USAGE: Final = "gen_ai.client.token.usage"  # noqa: S105  tokens of a model
OPERATION_DURATION: Final = "gen_ai.client.operation.duration"
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
MODEL: Final = "gen_ai.request.model"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105  tokens of a model
USAGE_INPUT: Final = "gen_ai.usage.input_tokens"
USAGE_OUTPUT: Final = "gen_ai.usage.output_tokens"

TOKEN_BUCKETS: Final = (
    *(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536),
    *(262144, 1048576, 4194304, 16777216, 67108864),
)
SECOND_BUCKETS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)

OTHER: Final = "_OTHER"
"""What stands for a word that is none, as the conventions have it."""

_PROVIDERS = {
    "google": "gcp.gen_ai",
    "gemini": "gcp.gen_ai",
    "azure-openai": "azure.ai.openai",
    "mistral": "mistral_ai",
}
"""Where the conventions have another id than ours. A Google client may be one of Vertex AI: the backend is unknown."""
_OPERATIONS = {"google": "generate_content", "gemini": "generate_content"}
_WORDS = re.compile(r"[\w.:/-]{1,64}(?: [\w.:/-]{1,64}){0,2}", re.ASCII)


def provider(ours: str) -> str:
    """Return the conventions' id of a provider."""
    return _PROVIDERS.get(ours, ours)


def operation(ours: str | None) -> str:
    """Return what a call to a provider is called."""
    return _OPERATIONS.get(ours or "", "chat")


def word(text: str) -> str:
    """Return up to three words of a vocabulary as they are; what may be a sentence of somebody's is ``OTHER``."""
    return text if _WORDS.fullmatch(text) else OTHER


def sendable(text: str) -> str:
    """Return an id as every exporter can write it: half a character would lose a whole batch of spans."""
    return text.encode(errors="replace").decode()
