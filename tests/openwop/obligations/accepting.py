"""N22 to N32: what becomes of an envelope, in which order, and what is reported it."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, of

ACCEPTING = (
    Obligation(
        "N22",
        Level.MUST,
        "The order of checks is shape, kind, payload, contract, limits, redaction, deduplication, handler.",
        ("emitter.host.pipeline:STEPS",),
        of(
            "host/test_order",
            "test_the_steps_stand_in_the_normative_order",
            "test_of_two_defects_the_earlier_is_reported",
            "test_a_defect_is_reported_with_its_code",
        ),
    ),
    Obligation(
        "N23",
        Level.MUST,
        "Every event of an envelope has its correlation id as its cause.",
        ("emitter.host.pipeline:record_envelope", "emitter.host.pipeline:get_event_origin"),
        (
            *of("host/test_route", "test_an_event_is_a_whole_document", "test_a_refusal_has_a_cause"),
            *of(
                "openwop/test_correlation_replay",
                "test_ai_envelope_correlation_replay__every_event_is_caused_by_its_envelope",
            ),
        ),
        note="If the shape is invalid there is no trustworthy id; the cause is then the run and the node.",
    ),
    Obligation(
        "N24",
        Level.MUST,
        "An envelope that was accepted before has its first outcome: no handler, no event, in any process.",
        ("emitter.host.validation:deduplicate", "emitter.stores:SqliteStore", "emitter.stores:SqlStore"),
        (
            *of(
                "host/test_dedup",
                "test_a_repetition_is_the_first_again",
                "test_of_many_threads_one_handles",
                "test_of_two_processes_one_handles",
            ),
            *of("stores/test_killed", "test_killed_at_each_statement"),
            *of(
                "openwop/test_correlation_replay",
                "test_ai_envelope_correlation_replay__a_persisted_outcome_is_known_to_another_process",
            ),
        ),
        note="Across processes and restarts with `SqliteStore` or `SqlStore`; a `MemoryStore` ends with its process.",
    ),
    Obligation(
        "N25",
        Level.MUST,
        "Another kind under an accepted correlation id is a conflict.",
        ("emitter.host.validation:reuse_outcome",),
        (
            *of(
                "host/test_dedup",
                "test_another_kind_under_the_same_id_conflicts",
                "test_of_two_kinds_at_once_one_is_accepted",
            ),
            *of("openwop/test_correlation_replay", "test_ai_envelope_correlation_replay__another_type_is_a_conflict"),
        ),
    ),
    Obligation(
        "N26",
        Level.MUST,
        "An envelope from untrusted content is untrusted, and so is every event of it.",
        ("emitter.host.validation:get_effective_trust", "emitter.conversation:combine_trust"),
        (
            *of("host/test_route", "test_every_event_has_the_trust_of_its_envelope"),
            *of("host/test_dedup", "test_a_recorded_envelope_keeps_its_trust"),
            *of("forms/binding_moment/test_emission", "test_one_untrusted_material_taints"),
            *of(
                "openwop/test_trust",
                "test_ai_envelope_trust_boundary_propagation__is_stated_and_reaches_every_event",
                "test_ai_envelope_trust_boundary_propagation__the_fence_cannot_be_closed_from_inside",
            ),
        ),
    ),
    Obligation(
        "N27",
        Level.MUST,
        "No approval advances on an untrusted envelope.",
        ("emitter.host.validation:apply_trust", "emitter.host.validation:reuse_outcome"),
        (
            *of(
                "openwop/test_trust",
                "test_ai_envelope_trust_boundary_propagation__an_approval_does_not_advance_on_it",
                "test_ai_envelope_trust_boundary_propagation__an_approval_does_not_advance_on_what_was_recorded",
                "test_a2ui_untrusted_blocks_approval__it_holds_of_what_the_node_had_read",
            ),
            *of("host/test_dedup", "test_an_approval_does_not_advance_on_what_was_recorded_as_untrusted"),
        ),
        note="The gate belongs to the engine: it sets `EnvelopeContext.approving` and obeys the outcome.",
    ),
    Obligation(
        "N28",
        Level.MUST,
        "Secrets are removed at any depth, including open objects, before anything is recorded.",
        ("emitter.host.validation:redact_secrets", "emitter.redaction:Secrets"),
        (
            *of("redaction/test_json", "test_value", "test_keys", "test_deep"),
            *of("redaction/test_laws", "test_never_reported"),
            *of(
                "host/test_no_secret_leaves",
                "test_no_secret_comes_out",
                "test_no_secret_comes_out_of_a_refusal",
                "test_an_id_that_holds_a_secret_is_refused",
                "test_what_was_recorded_before_a_secret_was_known_is_struck_out_now",
            ),
            *of("openwop/test_adversarial", "test_redaction_adversarial__in_every_place_and_form"),
        ),
        note=(
            "This applies to registered secrets. Earlier records stay in the store as they are; their "
            "envelopes are redacted when they are read. An envelope whose ids contain a secret is refused."
        ),
    ),
    Obligation(
        "N29",
        Level.MUST,
        "A model's error report is not an HTTP error, and neither replaces the other.",
        ("emitter.models.standard_kinds:ERROR", "emitter.host.outcomes:HttpError"),
        (
            *of(
                "openwop/test_shape",
                "test_spec_corpus_validity__outcomes_never_stand_in_for_an_error_of_http",
                "test_error_envelope_canonical_shape__is_flat_and_closed",
            ),
            *of("openwop/test_kinds", "test_ai_envelope_universal_kinds__an_error_is_logged_and_fails_no_node"),
        ),
    ),
    Obligation(
        "N30",
        Level.MUST,
        "Kinds add no event types.",
        ("emitter.events:Event",),
        of("openwop/test_obligations", "test_no_event_is_named_after_a_kind"),
    ),
    Obligation(
        "N31",
        Level.MUST,
        "A kind outside the node's contract fails the node, and the error names it and the allowed kinds.",
        ("emitter.host.validation:check_contract", "emitter.host.pipeline:build_refusal_events"),
        (
            *of("host/test_route", "test_what_is_refused_is_reported"),
            *of("host/test_emissions", "test_a_kind_outside_the_nodes_contract_fails_the_node"),
            *of(
                "openwop/test_permission",
                "test_ai_envelope_contract_refusal__fails_the_node_with_what_was_refused",
            ),
        ),
    ),
    Obligation(
        "N32",
        Level.MUST,
        "A replay has the same attempts, tokens and recovery paths; a difference is reported.",
        ("emitter.host.replay:find_divergences",),
        (
            *of("host/test_replay", "test_what_must_be_reported_again", "test_any_single_mutation_is_reported"),
            *of("openwop/test_runs", "test_replay_divergence_at_refusal__the_same_answers_diverge_nowhere"),
        ),
    ),
)
