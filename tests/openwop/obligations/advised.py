"""S1 to S12 and M1 to M5: what a host should do, and what it may."""

from __future__ import annotations

from tests.openwop.obligations.form import rows
from tests.traced.form import Level, Obligation, of

SHOULD = (
    Obligation(
        "S1",
        Level.SHOULD,
        "Schemas of payloads stay inside the portable subset.",
        ("emitter.schema.lint.tier1:lint_tier1", "emitter.accept.catalogue.register:Posture"),
        (
            *of("accept/catalogue/test_published", "test_it_is_inside_the_portable_floor"),
            *of(
                "accept/catalogue/test_posture",
                "test_outside_the_subset_is_told_on_the_kind",
                "test_a_strict_host_refuses_what_is_outside",
            ),
            *of("openwop/test_schemas", "test_envelope_tier_one_subset_static__finds_what_the_suite_finds"),
        ),
        note=(
            "Every schema that is served holds what all vendors need. Its strict part is for what is sent to a model: "
            "for that each schema is compiled to what the vendor takes."
        ),
    ),
    Obligation(
        "S2",
        Level.SHOULD,
        "`reasoning` is the first property, and the model is told to fill it.",
        ("emitter.kinds.turn:SCHEMA", "emitter.prompt:ask"),
        (
            *of("schema/test_turn", "test_reasoning_comes_first"),
            *of("accept/test_capabilities", "test_our_prompts_ask_for_reasoning_firmly"),
            *of("openwop/test_schemas", "test_envelope_reasoning_shape__it_is_an_optional_text"),
            *of("document/test_emit", "test_nothing_is_put_into_a_form_of_the_callers"),
        ),
        beyond="A form of the caller's own (`emit`) is asked for as it is: no `reasoning` is put into it.",
    ),
    Obligation(
        "S3",
        Level.SHOULD,
        "Retries and cut answers are told.",
        ("emitter.emission.told:retried", "emitter.emission.told:happened"),
        (
            *of("openwop/test_fixtures", "test_a_fixture_tells_exactly_this"),
            *rows("cut-then-whole", "violating-then-whole"),
        ),
    ),
    Obligation(
        "S4",
        Level.SHOULD,
        "The budget after a cut is larger, twice what it was.",
        ("emitter.remedy:following", "emitter.policy:Policy"),
        (
            *of("core/test_emission", "test_a_cut_raises_the_budget_by_the_multiplier_up_to_the_ceiling"),
            *of("faults/test_requests", "test_a_multiplier_of_the_callers"),
        ),
        note="`Policy.truncation_multiplier`; at the ceiling of model or policy there is no further retry.",
    ),
    Obligation(
        "S5",
        Level.SHOULD,
        "The model is told what the validator found.",
        ("emitter.prompt:corrective", "emitter.accept.follow_up:follow_up"),
        (
            *of("faults/test_requests", "test_the_fragment_is_written_from_the_validator_alone"),
            *of("openwop/test_obligations", "test_what_was_wrong_goes_back_to_the_model"),
            *of("accept/test_follow_up", "test_what_is_to_be_mended"),
        ),
    ),
    Obligation(
        "S6",
        Level.SHOULD,
        "Who asks for a schema is given it.",
        ("emitter.accept.follow_up:follow_up", "emitter.prompt:schema_reply"),
        of(
            "accept/test_follow_up",
            "test_the_schema_that_was_asked_for",
            "test_every_kind_has_a_schema_to_show",
            "test_a_replay_shows_the_schema_too",
        ),
    ),
    Obligation(
        "S7",
        Level.SHOULD,
        "Events stand in OpenTelemetry under the names of the specification.",
        ("emitter.otel.attributes:TABLE", "emitter.otel:to_otel", "emitter.accept.telemetry:observe_acceptances"),
        (
            *of("otel/test_attributes", "test_an_event_says_what_the_table_names", "test_the_table_is_total"),
            *of("accept/test_telemetry", "test_what_is_said_of_an_acceptance"),
        ),
        note="With the extra `otel`. A refusal's words are left out.",
    ),
    Obligation(
        "S8",
        Level.SHOULD,
        "Media have a text for those who cannot see or hear them.",
        ("emitter.accept.catalogue.rules:alt_is_there",),
        of("accept/catalogue/test_media", "test_a_text_for_it_should_be_there"),
        note="Where it is not there, that is a warning.",
    ),
    Obligation(
        "S9",
        Level.SHOULD,
        "Discarding with a warning is not for production.",
        ("emitter.accept.context:EnvelopeContract",),
        of("accept/test_route", "test_what_is_refused_is_told"),
        note="A node fails unless its contract asks for the other.",
    ),
    Obligation(
        "S10",
        Level.SHOULD,
        "Kinds are named with a namespace, also those from before there were any.",
        ("emitter.accept.catalogue.naming:LEGACY",),
        of("accept/catalogue/test_naming", "test_a_name_from_before_namespaces_needs_a_word"),
    ),
    Obligation(
        "S11",
        Level.SHOULD,
        "Who emits fills `meta` and the correlation id.",
        ("emitter.kinds.envelope:correlation_id", "emitter.door.taking:Taking"),
        of("moment/test_door", "test_the_envelope_is_what_was_asked_for"),
    ),
    Obligation(
        "S12",
        Level.SHOULD,
        "The details of an exhausted emission's error have its node and its attempts.",
        ("emitter.emission.ending:on_verdict", "emitter.events:payload"),
        of(
            "openwop/test_runs",
            "test_envelope_retry_exhausted__once_and_before_the_failure",
            "test_envelope_truncation_cap_exhaustion__ends_with_its_own_code",
        ),
        note="A host that is handed envelopes knows no attempts; its rounds stand in the `cap.breached`.",
    ),
)

MAY = (
    Obligation(
        "M1",
        Level.MAY,
        "Envelopes are taken out of fenced JSON in a text.",
        ("emitter.accept.extract:extract", "emitter.accept:Turn.accept_text"),
        (
            *of("accept/test_extract", "test_fences", "test_direct", "test_what_was_rendered_is_extracted"),
            *of("accept/test_turn", "test_a_text_is_taken_apart"),
        ),
    ),
    Obligation(
        "M2",
        Level.MAY,
        "The form is sought in two steps, and that is told, as is a document that was read out of an untidy answer.",
        ("emitter.emission.fallback:two_steps", "emitter.events:RecoveryApplied"),
        (
            *of("core/test_fallback", "test_the_form_is_sought_in_two_steps"),
            *of("openwop/test_runs", "test_envelope_nl_to_format_engaged__once_after_the_attempts"),
            *rows("fenced"),
        ),
        note="Two steps only with `Policy(nl_to_format=True)`; both events are advertised as they are told.",
    ),
    Obligation(
        "M3",
        Level.MAY,
        "A `schema.response` counts as an envelope of the turn, or does not.",
        ("emitter.accept:Turn",),
        (
            *of("accept/test_turn", "test_what_comes_is_counted"),
            *of("openwop/test_kinds", "test_ai_envelope_universal_kinds__the_counter_policy_is_what_a_turn_does"),
        ),
        note="In a `Turn` it counts, and that is advertised.",
    ),
    Obligation(
        "M4",
        Level.MAY,
        "`reasoning` is kept, and shown.",
        ("emitter.store.log:Entry",),
        (
            *of("openwop/test_obligations", "test_reasoning_is_kept_and_told_by_no_event"),
            *of(
                "openwop/test_redaction",
                "test_envelope_reasoning_secret_redaction__it_reaches_no_span_and_no_bundle",
            ),
        ),
        note="It is kept with the envelope. No event, span or bundle has it.",
    ),
    Obligation(
        "M5",
        Level.MAY,
        "Outcomes are remembered in memory.",
        ("emitter.store:MemoryStore",),
        of("accept/test_dedup", "test_a_repetition_is_the_first_again"),
        note="The default of an `Acceptor`.",
    ),
)
