"""The security invariants of the protocol that concern envelopes."""

from __future__ import annotations

from tests.openwop.obligations.form import Invariant
from tests.traced.form import of

_OUT = of("host/test_no_secret_leaves", "test_no_secret_comes_out", "test_no_place_and_no_way_of_writing_is_overlooked")
_NO_PROMPT = "The library has no `prompt.composed` event and reports nothing about a composed prompt."

INVARIANTS = (
    Invariant("envelope-redaction-sr-1-carry-forward", "No secret in anything made from an envelope.", _OUT),
    Invariant(
        "envelope-reasoning-secret-redaction",
        "No secret in its reasoning.",
        of(
            "openwop/test_redaction",
            "test_envelope_reasoning_secret_redaction__reasoning_is_struck_like_any_text",
            "test_envelope_reasoning_secret_redaction__it_reaches_no_span_and_no_bundle",
        ),
    ),
    Invariant(
        "envelope-refusal-no-prompt-leak",
        "The words of a refusal repeat neither a secret nor the prompt.",
        (
            *of("openwop/test_events", "test_envelope_refusal_shape__a_refusals_words_are_not_recorded"),
            *of(
                "openwop/test_adversarial",
                "test_redaction__without_a_registry_no_refused_and_no_broken_answer_is_quoted",
                "test_secret_leakage_otel_attribute__no_words_of_a_refusal_stand_on_a_span",
            ),
        ),
    ),
    Invariant(
        "envelope-recovery-no-content-leak",
        "The event of a recovered document contains no word of it.",
        (
            *of("openwop/test_runs", "test_envelope_recovery_applied__a_fence_is_no_reason_to_ask_again"),
            *of("openwop/test_events", "test_envelope_recovery_applied__no_content_is_taken"),
        ),
    ),
    Invariant(
        "model-capability-substituted-no-credential-disclosure",
        "The event of a substituted model contains no credentials.",
        (
            *of("core/capability_gate/test_required", "test_model_capability_substituted_no_credential_disclosure"),
            *of("core/capability_gate/test_gate", "test_no_event_says_whether_there_are_credentials"),
        ),
    ),
    Invariant(
        "provider-usage-no-credential-leak",
        "The event of a call's usage contains no credentials.",
        (
            *of("test_events", "test_every_event_is_openwops"),
            *of("openwop/test_events", "test_provider_usage__a_credential_is_refused"),
        ),
    ),
    Invariant("prompt-composed-secret-redaction", "No secret in events about a prompt.", beyond=_NO_PROMPT),
    Invariant("prompt-composed-trust-marker", "Events about a prompt mark its untrusted parts.", beyond=_NO_PROMPT),
    Invariant(
        "media-asset-url-tenant-scoped",
        "An asset's address belongs to its tenant.",
        beyond="The library serves no assets; their addresses are the host's.",
    ),
    Invariant(
        "prompt-prefix-cache-cross-tenant-isolation",
        "No tenant finds another's prompts in a cache.",
        beyond="The library has no prompt cache, takes no `cachePrefixId` and advertises none.",
    ),
    Invariant(
        "prompt-injection-envelope-typecheck",
        "Only kinds that the host lists are accepted.",
        of("openwop/test_shape", "test_ai_envelope_shape__a_kind_that_is_not_advertised_is_gated"),
    ),
    Invariant(
        "prompt-injection-no-llm-approval",
        "Content from untrusted sources approves nothing.",
        of("openwop/test_trust", "test_ai_envelope_trust_boundary_propagation__an_approval_does_not_advance_on_it"),
    ),
    Invariant(
        "tool-result-trust-monotone",
        "A tool's result is untrusted, and nothing changes that.",
        (
            *of("test_conversation", "test_what_a_tool_returned_is_fenced_and_taints"),
            *of("host/test_route", "test_every_event_has_the_trust_of_its_envelope"),
            *of("host/test_dedup", "test_a_recorded_envelope_keeps_its_trust"),
        ),
    ),
    Invariant(
        "artifact-schema-compile-bounded",
        "Registering or compiling a schema takes bounded work.",
        (
            *of("host/kinds/test_bounds", "test_a_bomb_is_refused_at_once"),
            *of("schema/compile/test_bounded", "test_a_schema_that_multiplies_is_compiled_in_bounded_work"),
        ),
    ),
    Invariant(
        "secret-leakage-eventlog-payload",
        "No secret in the log.",
        (*_OUT, *of("host/test_route", "test_what_a_handler_tells_is_struck_through")),
    ),
    Invariant(
        "secret-leakage-otel-exception",
        "No secret in the error of a span.",
        of("telemetry/test_attributes", "test_no_free_text_is_reported_anywhere", "test_a_sentence_is_no_word"),
    ),
    Invariant(
        "secret-leakage-otel-attribute",
        "No secret in an attribute.",
        (
            *of("openwop/test_adversarial", "test_secret_leakage_otel_attribute__no_span_of_a_run_holds_a_secret"),
            *of("host/test_telemetry", "test_through_an_acceptor"),
        ),
    ),
    Invariant(
        "secret-leakage-error-envelope",
        "No secret in a refusal or an error.",
        (
            *of("host/test_no_secret_leaves", "test_no_secret_comes_out_of_a_refusal"),
            *of("openwop/test_redaction", "test_ai_envelope_redaction__a_refusal_repeats_no_secret"),
            *of("host/test_emissions", "test_no_secret_comes_out_of_what_a_check_finds"),
            *of("host/test_asgi", "test_what_is_not_there_is_reported_in_openwops_form"),
        ),
    ),
    Invariant(
        "secret-leakage-debug-bundle",
        "No secret in a debug bundle.",
        of("host/test_bundle", "test_a_bundle_holds_no_secret"),
    ),
    Invariant(
        "secret-leakage-stream-chunk",
        "No secret in the chunks of a stream.",
        (
            *of("openwop/test_obligations", "test_a_stream_tells_no_secret"),
            *of("host/test_emissions", "test_no_secret_comes_out_of_the_place_of_a_slot"),
            *of("host/test_no_secret_leaves", "test_no_secret_comes_out_of_chunks"),
        ),
    ),
    Invariant(
        "secret-leakage-stream-error",
        "No secret in the error that ends a stream.",
        of("openwop/test_obligations", "test_a_stream_tells_no_secret"),
    ),
    Invariant(
        "cost-attribution-allowlist-redaction",
        "Only listed attributes of a call's cost are exported.",
        of("telemetry/test_attributes", "test_an_event_says_what_the_table_names", "test_the_table_is_total"),
    ),
    Invariant(
        "a2ui-action-confinement",
        "An action leads only to `resume` or `exchange`.",
        of("openwop/test_payloads", "test_a2ui_surface_shape__the_catalogue_is_closed"),
    ),
    Invariant(
        "a2ui-untrusted-blocks-approval",
        "An untrusted surface approves nothing.",
        of(
            "openwop/test_trust",
            "test_a2ui_untrusted_blocks_approval__an_untrusted_surface_drives_no_approval",
            "test_a2ui_untrusted_blocks_approval__it_holds_of_what_the_node_had_read",
        ),
    ),
    Invariant("a2ui-surface-no-secret-rendering", "No secret in a surface.", _OUT),
    Invariant(
        "a2ui-surface-no-code-exec",
        "A surface runs no code.",
        of("openwop/test_payloads", "test_a2ui_surface_shape__the_catalogue_is_closed"),
        beyond="A surface cannot contain code; its renderer must still render its texts as text.",
    ),
    Invariant(
        "a2ui-surface-no-network-egress",
        "A surface reaches no network.",
        (
            *of("openwop/test_payloads", "test_a2ui_surface_shape__the_catalogue_is_closed"),
            *of("host/kinds/test_published", "test_it_refers_to_nothing_outside"),
        ),
        beyond="A surface cannot contain an address; rendering it is up to others.",
    ),
)
