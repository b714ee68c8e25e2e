"""N12 to N21: when an answer is an envelope, and what is done when it is none."""

from __future__ import annotations

from tests.openwop.obligations.form import rows
from tests.traced.form import Level, Obligation, of

EMITTING = (
    Obligation(
        "N12",
        Level.MUST,
        "An answer becomes an envelope only after a clean stop and if it is valid; truncation is checked first.",
        ("emitter.core.verdicts:classify", "emitter.core.verdicts:VERDICT_BY_STOP"),
        (
            *of("core/test_judge", "test_verdict", "test_no_text_makes_an_unclean_stop_complete"),
            *rows("cut-but-valid"),
            *of(
                "openwop/test_runs",
                "test_envelope_completion_distinguishes_truncation__a_cut_answer_that_holds_is_cut",
            ),
            *of("profiles/test_stops", "test_a_stop_table_holds_the_sdks_literals_and_no_others"),
        ),
    ),
    Obligation(
        "N13",
        Level.MUST,
        "A truncated answer is reported as truncated; each retry is reported, and does not mention the schema.",
        ("emitter.core.emission:call_events", "emitter.core.verdicts:next_request"),
        (
            *rows("cut-then-whole", "cut-to-the-end", "thinking-eats-the-budget"),
            *rows("violating-cut-whole"),
            *of(
                "core/test_emission",
                "test_a_retry_after_a_cut_has_no_correction",
                "test_a_violation_after_a_cut_is_corrected_anew",
            ),
            *of("openwop/test_fixtures", "test_a_fixture_tells_exactly_this"),
        ),
        note=(
            "The retry also omits an earlier corrective fragment, which does not return: a later violation "
            "has its own. See [why](why.md#why-a-retry-after-a-cut-has-no-corrective-fragment)."
        ),
    ),
    Obligation(
        "N14",
        Level.MUST,
        "If every attempt is truncated, exhaustion and a breach are reported, and the node fails with its own code.",
        ("emitter.core.failures:end_with_verdict", "emitter.core.verdicts:REMEDIES"),
        (
            *rows("cut-to-the-end", "cut-to-the-ceiling"),
            *of("openwop/test_runs", "test_envelope_truncation_cap_exhaustion__ends_with_its_own_code"),
        ),
    ),
    Obligation(
        "N15",
        Level.MUST,
        "A retry after a violation keeps its budget, contains a fragment without the model's text, and is reported.",
        ("emitter.core.verdicts:next_request", "emitter.core.verdicts:REMEDIES"),
        (
            *rows("violating-then-whole", "type-mismatch"),
            *of("faults/test_requests", "test_the_fragment_is_written_from_the_validator_alone"),
            *of("core/test_emission", "test_a_retry_tells_its_reason_without_the_answer"),
            *of("openwop/test_runs", "test_envelope_completion_distinguishes_truncation__of_a_broken_one"),
        ),
    ),
    Obligation(
        "N16",
        Level.MUST,
        "If every attempt is invalid, exhaustion and a breach are reported, and the node fails as `envelope_invalid`.",
        ("emitter.core.failures:end_with_verdict", "emitter.core.verdicts:REMEDIES"),
        (
            *rows("violating-to-the-end", "malformed-to-the-end"),
            *of("openwop/test_runs", "test_envelope_retry_exhausted__once_and_before_the_failure"),
            *of("core/test_emission", "test_every_end_is_reported_in_order"),
        ),
    ),
    Obligation(
        "N17",
        Level.MUST,
        "A refusal is reported, never retried, and fails as `envelope_refusal`.",
        ("emitter.core.verdicts:REMEDIES", "emitter.core.failures:end_with_verdict"),
        (
            *rows("refused", "refused-with-a-valid-text", "filtered", "prompt-blocked"),
            *of("openwop/test_runs", "test_envelope_refusal_shape__a_refusal_is_reported_once_and_never_retried"),
            *of("core/test_emission", "test_laws_hold_for_any_script"),
        ),
    ),
    Obligation(
        "N18",
        Level.MUST,
        "Recovering a document from an untidy answer costs no retry; the event has the path and the offset, "
        "no content.",
        ("emitter.recover:parse_answer", "emitter.events:RecoveryApplied"),
        (
            *rows("fenced"),
            *of("openwop/test_runs", "test_envelope_recovery_applied__a_fence_is_no_reason_to_ask_again"),
            *of("core/test_judge", "test_recovery_is_reported"),
        ),
    ),
    Obligation(
        "N19",
        Level.MUST,
        "Truncation and violation have different remedies and different events, as advertised.",
        (
            "emitter.attempts:Verdict",
            "emitter.core.verdicts:REMEDIES",
            "emitter.host.capabilities:build_capabilities",
        ),
        (
            *of(
                "openwop/test_runs",
                "test_envelope_completion_distinguishes_truncation__of_a_cut_answer",
                "test_envelope_completion_distinguishes_truncation__of_a_broken_one",
                "test_envelope_completion_distinguishes_truncation__is_advertised_with_its_multiplier",
            ),
            *rows("cut-then-violating"),
        ),
    ),
    Obligation(
        "N20",
        Level.MUST,
        "Secrets are removed from refusals and from all diagnostic texts.",
        (
            "emitter.events:EnvelopeRefusal",
            "emitter.redaction.secret_registry:redact_event",
            "emitter.redaction:Secrets",
        ),
        (
            *of(
                "openwop/test_adversarial",
                "test_redaction__an_emission_hands_out_and_tells_none",
                "test_redaction__without_a_registry_no_refused_and_no_broken_answer_is_quoted",
            ),
            *of("openwop/test_events", "test_envelope_refusal_shape__a_refusals_words_are_not_recorded"),
        ),
        note="The words of a refusal are recorded nowhere, so they can repeat neither a secret nor the prompt.",
    ),
    Obligation(
        "N21",
        Level.MUST,
        "A host that advertises the reliability events lists those for exhaustion and refusal.",
        ("emitter.host.capabilities:list_reliability_events",),
        (
            *of("host/test_capabilities", "test_the_reliability_events_are_listed_truthfully"),
            *of("openwop/test_events", "test_envelope_refusal_shape__the_two_that_must_be_reported_are_advertised"),
        ),
    ),
)
