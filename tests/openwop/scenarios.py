"""The conformance scenarios that concern envelopes, and where each is held.

A test is named after its scenario: ``envelope-refusal-shape`` is held by the functions whose names begin with
``test_envelope_refusal_shape__``.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

FOLDER = Path(__file__).parent

HELD: Final = (
    "ai-envelope-shape",
    "aiEnvelope.universalKinds",
    "aiEnvelope.schemaDrift",
    "aiEnvelope.correlationReplay",
    "aiEnvelope.contractRefusal",
    "aiEnvelope.trustBoundaryPropagation",
    "aiEnvelope.redaction",
    "aiEnvelope.capBreached",
    "envelope-reasoning-secret-redaction",
    "envelope-reasoning-shape",
    "envelope-tier-one-subset-static",
    "envelope-variant-discriminator-static",
    "envelope-retry-attempted",
    "envelope-retry-exhausted",
    "envelope-truncated",
    "envelope-truncation-cap-exhaustion",
    "envelope-completion-distinguishes-truncation",
    "envelope-refusal-shape",
    "envelope-recovery-applied",
    "envelope-nl-to-format-engaged",
    "envelope-rendering-hint",
    "media-url-inline-cap",
    "a2ui-surface-shape",
    "a2ui-surface-degrades",
    "a2ui-surface-replay",
    "a2ui-surface-version-refusal",
    "a2ui-untrusted-blocks-approval",
    "model-capability-substituted",
    "model-capability-insufficient",
    "node-module-required-capabilities-shape",
    "provider-usage",
    "replay-divergence-at-refusal",
    "error-envelope-canonical-shape",
    "redaction",
    "redactionAdversarial",
    "secret-leakage-otel-attribute",
    "interrupt-clarification",
    "cap-breach",
    "spec-corpus-validity",
)
"""The scenarios of which every assertion that a library or its test host can be asked is a test here."""

NOT_HELD: Final[dict[str, str]] = {
    "a2ui-surface-delta-transport": (
        "RFC 0114 is a projection of a host's event stream (?a2uiDelta=1). The library serves no stream and "
        "does not advertise a2uiSurface.deltaTransport; it records the full surface, which the scenario wants "
        "as well."
    ),
    "prompt-composed-secret-redaction": (
        "The library reports nothing about a composed prompt: it has no prompt.composed event and does not "
        "advertise capabilities.prompts. Its events contain no word of a prompt."
    ),
    "prompt-composed-trust-marker": (
        "As above: no prompt.composed event. Tests of aiEnvelope.trustBoundaryPropagation check that "
        "untrusted material is fenced in the prompt and cannot close its fence."
    ),
    "prompt-prefix-cache": (
        "RFC 0116 is a host's prompt cache by tenant; the library takes no cachePrefixId and advertises none."
    ),
    "replay-llm-cache-key": (
        "The library has no cache of answers across runs. A run is repeated from a cassette, whose requests "
        "are matched by their content."
    ),
    "replay-llm-cache-key-portable": "As replay-llm-cache-key.",
    "agent-live-structured-output": (
        "The scenario starts a live agent of a host's runtime. Tests of envelope-retry-exhausted check that "
        "an invalid result is reported as a failure and never returned."
    ),
    "v2-envelope-tier-one-subset-static": (
        "The scenario reads the schemas of version 2, which the library does not implement. Tests of "
        "envelope-tier-one-subset-static check the same lint and a strict host's refusals."
    ),
    "v2-envelope-tier-one-universal-static": "As v2-envelope-tier-one-subset-static, for the four universal kinds.",
    "v2-envelope-variant-discriminator-static": (
        "The scenario reads the schemas of version 2. Tests of envelope-variant-discriminator-static check "
        "the rule of both versions."
    ),
    "otel-collector-canary-inspection": (
        "The scenario looks into a collector that a host exports to over OTLP; exporting is up to the host. "
        "Tests of secret-leakage-otel-attribute check that no span contains a secret."
    ),
}
"""The scenarios without a test, and why."""


def slug(scenario: str) -> str:
    """Return a scenario as it begins the names of its tests."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", scenario)
    return re.sub(r"[^A-Za-z0-9]+", "_", apart).lower()


def held_by() -> dict[str, tuple[str, ...]]:
    """Return the tests of each scenario, as ``file::function``, in alphabetical order."""
    found: dict[str, list[str]] = {each: [] for each in HELD}
    by_slug = {slug(each): each for each in HELD}
    for path in sorted(FOLDER.glob("test_*.py")):
        for name in _functions(path):
            scenario = by_slug.get(name.removeprefix("test_").partition("__")[0])
            if scenario is not None:
                found[scenario].append(f"tests/openwop/{path.name}::{name}")
    return {scenario: tuple(sorted(names)) for scenario, names in found.items()}


def _functions(path: Path) -> list[str]:
    module = ast.parse(path.read_text("utf-8"))
    return [each.name for each in module.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
