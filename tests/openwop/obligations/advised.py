"""S1 to S12 and M1 to M5: what a host should do, and what it may."""

from __future__ import annotations

from tests.openwop.obligations.form import rows
from tests.traced.form import Level, Obligation, of

SHOULD = (
    Obligation(
        "S1",
        Level.SHOULD,
        "Payload schemas stay inside the portable subset.",
        ("emitter.schema.tier1:lint_tier1", "emitter.host.registry:Posture"),
        (
            *of("host/kinds/test_published", "test_it_is_inside_the_portable_floor"),
            *of(
                "host/kinds/test_posture",
                "test_outside_the_subset_is_reported_on_the_kind",
                "test_a_strict_host_refuses_what_is_outside",
            ),
            *of("openwop/test_schemas", "test_envelope_tier_one_subset_static__finds_what_the_suite_finds"),
        ),
        note=(
            "Every served schema keeps the part that all vendors need. The strict part matters for schemas "
            "that are sent to a model: each is compiled to what the vendor accepts."
        ),
    ),
    Obligation(
        "S2",
        Level.SHOULD,
        "`reasoning` is the first property, and the model is asked to fill it.",
        ("emitter.models.binding_moment:TURN_SCHEMA", "emitter.prompts:binding_moment_prompt"),
        (
            *of("schema/test_turn", "test_reasoning_comes_first"),
            *of("host/test_capabilities", "test_our_prompts_ask_for_reasoning_firmly"),
            *of("openwop/test_schemas", "test_envelope_reasoning_shape__it_is_an_optional_text"),
            *of("forms/document/test_emit", "test_nothing_is_put_into_a_form_of_the_callers"),
        ),
        beyond="A caller's own form (`emit`) is used as it is, without an added `reasoning`.",
    ),
    Obligation(
        "S3",
        Level.SHOULD,
        "Retries and truncated answers are reported.",
        ("emitter.core.failures:retry_event", "emitter.core.emission:call_events"),
        (
            *of("openwop/test_fixtures", "test_a_fixture_tells_exactly_this"),
            *rows("cut-then-whole", "violating-then-whole"),
        ),
    ),
    Obligation(
        "S4",
        Level.SHOULD,
        "The budget after a truncation is larger, twice by default.",
        ("emitter.core.verdicts:next_request", "emitter.policy:Policy"),
        (
            *of("core/test_emission", "test_a_cut_raises_the_budget_by_the_multiplier_up_to_the_ceiling"),
            *of("faults/test_requests", "test_a_multiplier_of_the_callers"),
        ),
        note="`Policy.truncation_multiplier`; at the limit of the model or the policy there is no further retry.",
    ),
    Obligation(
        "S5",
        Level.SHOULD,
        "The model receives the validator's findings.",
        ("emitter.prompts:render_correction", "emitter.host.model_text:build_follow_up"),
        (
            *of("faults/test_requests", "test_the_fragment_is_written_from_the_validator_alone"),
            *of("openwop/test_obligations", "test_what_was_wrong_goes_back_to_the_model"),
            *of("host/test_follow_up", "test_what_is_to_be_mended"),
        ),
    ),
    Obligation(
        "S6",
        Level.SHOULD,
        "A model that asks for a schema receives it.",
        ("emitter.host.model_text:build_follow_up", "emitter.prompts:render_schema_reply"),
        of(
            "host/test_follow_up",
            "test_the_schema_that_was_asked_for",
            "test_every_kind_has_a_schema_to_show",
            "test_a_replay_shows_the_schema_too",
        ),
    ),
    Obligation(
        "S7",
        Level.SHOULD,
        "Events are exported to OpenTelemetry under the names of the specification.",
        (
            "emitter.telemetry.attributes:EVENT_ATTRIBUTES",
            "emitter.telemetry:to_otel",
            "emitter.host.observability:observe_acceptances",
        ),
        (
            *of("telemetry/test_attributes", "test_an_event_says_what_the_table_names", "test_the_table_is_total"),
            *of("host/test_telemetry", "test_what_is_said_of_an_acceptance"),
        ),
        note="With the extra `otel`. The words of a refusal are left out.",
    ),
    Obligation(
        "S8",
        Level.SHOULD,
        "Media have a text for people who cannot see or hear them.",
        ("emitter.host.kinds:check_alt_text",),
        of("host/kinds/test_media", "test_a_text_for_it_should_be_there"),
        note="A missing one is a warning.",
    ),
    Obligation(
        "S9",
        Level.SHOULD,
        "Discarding with a warning is not for production.",
        ("emitter.host.config:EnvelopeContract",),
        of("host/test_route", "test_what_is_refused_is_reported"),
        note="A node fails unless its contract says otherwise.",
    ),
    Obligation(
        "S10",
        Level.SHOULD,
        "Kinds have a namespace, including those from before there were any.",
        ("emitter.host.registry:LEGACY_IDS",),
        of("host/kinds/test_naming", "test_a_name_from_before_namespaces_needs_a_word"),
    ),
    Obligation(
        "S11",
        Level.SHOULD,
        "The emitter fills `meta` and the correlation id.",
        ("emitter.models.envelope:make_correlation_id", "emitter.client.prepared:PreparedEmission"),
        of("forms/binding_moment/test_emission", "test_the_envelope_is_what_was_asked_for"),
    ),
    Obligation(
        "S12",
        Level.SHOULD,
        "The error of an exhausted emission has its node and its attempts in its details.",
        ("emitter.core.failures:end_with_verdict", "emitter.events:build_payload"),
        of(
            "openwop/test_runs",
            "test_envelope_retry_exhausted__once_and_before_the_failure",
            "test_envelope_truncation_cap_exhaustion__ends_with_its_own_code",
        ),
        note="A host that receives envelopes does not know attempts; its rounds are in `cap.breached`.",
    ),
)

MAY = (
    Obligation(
        "M1",
        Level.MAY,
        "Envelopes are extracted from fenced JSON in a text.",
        ("emitter.host.model_text:extract_documents", "emitter.host:Turn.accept_text"),
        (
            *of("host/test_extract", "test_fences", "test_direct", "test_what_was_rendered_is_extracted"),
            *of("host/test_turn", "test_a_text_is_taken_apart"),
        ),
    ),
    Obligation(
        "M2",
        Level.MAY,
        "The form may be requested in two steps, which is reported, as is a recovered document.",
        ("emitter.core.emission:emit_in_two_steps", "emitter.events:RecoveryApplied"),
        (
            *of("core/test_fallback", "test_the_form_is_sought_in_two_steps"),
            *of("openwop/test_runs", "test_envelope_nl_to_format_engaged__once_after_the_attempts"),
            *rows("fenced"),
        ),
        note="Two steps only with `Policy(nl_to_format=True)`; both events are advertised accordingly.",
    ),
    Obligation(
        "M3",
        Level.MAY,
        "A `schema.response` may count as an envelope of the turn.",
        ("emitter.host:Turn",),
        (
            *of("host/test_turn", "test_what_comes_is_counted"),
            *of("openwop/test_kinds", "test_ai_envelope_universal_kinds__the_counter_policy_is_what_a_turn_does"),
        ),
        note="In a `Turn` it counts, and that is advertised.",
    ),
    Obligation(
        "M4",
        Level.MAY,
        "`reasoning` is kept and shown.",
        ("emitter.stores.protocol:Entry",),
        (
            *of("openwop/test_obligations", "test_reasoning_is_kept_and_reported_by_no_event"),
            *of(
                "openwop/test_redaction",
                "test_envelope_reasoning_secret_redaction__it_reaches_no_span_and_no_bundle",
            ),
        ),
        note="It is kept with the envelope. No event, span or bundle contains it.",
    ),
    Obligation(
        "M5",
        Level.MAY,
        "Outcomes are remembered in memory.",
        ("emitter.stores:MemoryStore",),
        of("host/test_dedup", "test_a_repetition_is_the_first_again"),
        note="The default of an `Acceptor`.",
    ),
)
