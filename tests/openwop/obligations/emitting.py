"""N12 to N21: when an answer is an envelope, and what is done when it is none."""

from __future__ import annotations

from tests.openwop.obligations.form import rows
from tests.traced.form import Level, Obligation, of

EMITTING = (
    Obligation(
        "N12",
        Level.MUST,
        "An answer is an envelope only after a clean stop and if it is valid; being cut comes first.",
        ("emitter.judge:judge", "emitter.judge:BY_STOP"),
        (
            *of("core/test_judge", "test_verdict", "test_no_text_makes_an_unclean_stop_complete"),
            *rows("cut-but-valid"),
            *of(
                "openwop/test_runs",
                "test_envelope_completion_distinguishes_truncation__a_cut_answer_that_holds_is_cut",
            ),
            *of("profile/test_stops", "test_a_stop_table_holds_the_sdks_literals_and_no_others"),
        ),
    ),
    Obligation(
        "N13",
        Level.MUST,
        "A cut answer is told as cut; each retry of it is told, and says nothing of a schema.",
        ("emitter.emission.told:happened", "emitter.remedy:following"),
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
            "The fragment of an earlier answer is left out as well, and does not come back: a later violation has its "
            "own. See [why](why.md#why-a-retry-after-a-cut-has-no-corrective-fragment)."
        ),
    ),
    Obligation(
        "N14",
        Level.MUST,
        "Cut to the end, it is told as exhausted and as a breach, and fails with a code of its own.",
        ("emitter.emission.ending:on_verdict", "emitter.remedy:REMEDIES"),
        (
            *rows("cut-to-the-end", "cut-to-the-ceiling"),
            *of("openwop/test_runs", "test_envelope_truncation_cap_exhaustion__ends_with_its_own_code"),
        ),
    ),
    Obligation(
        "N15",
        Level.MUST,
        "A retry of a broken form has the budget it had, a fragment without a word of the model's, and is told.",
        ("emitter.remedy:following", "emitter.prompt:corrective"),
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
        "A form that is broken to the end is told as exhausted and as a breach, and fails as `envelope_invalid`.",
        ("emitter.emission.ending:on_verdict", "emitter.remedy:REMEDIES"),
        (
            *rows("violating-to-the-end", "malformed-to-the-end"),
            *of("openwop/test_runs", "test_envelope_retry_exhausted__once_and_before_the_failure"),
            *of("core/test_emission", "test_every_end_is_told_in_order"),
        ),
    ),
    Obligation(
        "N17",
        Level.MUST,
        "A refusal is told, never retried, and fails as `envelope_refusal`.",
        ("emitter.remedy:REMEDIES", "emitter.emission.ending:on_verdict"),
        (
            *rows("refused", "refused-with-a-valid-text", "filtered", "prompt-blocked"),
            *of("openwop/test_runs", "test_envelope_refusal_shape__a_refusal_is_told_once_and_never_retried"),
            *of("core/test_emission", "test_laws_hold_for_any_script"),
        ),
    ),
    Obligation(
        "N18",
        Level.MUST,
        "Reading a document out of an untidy answer costs no retry, and tells the way and the place, no content.",
        ("emitter.recover:read", "emitter.events:RecoveryApplied"),
        (
            *rows("fenced"),
            *of("openwop/test_runs", "test_envelope_recovery_applied__a_fence_is_no_reason_to_ask_again"),
            *of("core/test_judge", "test_recovery_is_told"),
        ),
    ),
    Obligation(
        "N19",
        Level.MUST,
        "Being cut and breaking the form are told apart in what is done and in what is told, as advertised.",
        ("emitter.judge:Verdict", "emitter.remedy:REMEDIES", "emitter.accept.capabilities:capabilities"),
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
        "Secrets are struck out of a refusal's words and of all diagnostic texts.",
        ("emitter.events:EnvelopeRefusal", "emitter.redact.event:struck", "emitter.redact:Secrets"),
        (
            *of(
                "openwop/test_adversarial",
                "test_redaction__an_emission_hands_out_and_tells_none",
                "test_redaction__without_a_registry_no_refused_and_no_broken_answer_is_quoted",
            ),
            *of("openwop/test_events", "test_envelope_refusal_shape__a_refusals_words_are_not_recorded"),
        ),
        note="A refusal's words are recorded nowhere, so that they can repeat neither a secret nor the prompt.",
    ),
    Obligation(
        "N21",
        Level.MUST,
        "Who advertises the reliability events lists those of exhaustion and refusal.",
        ("emitter.accept.capabilities:told_of",),
        (
            *of("accept/test_capabilities", "test_the_reliability_events_are_listed_truthfully"),
            *of("openwop/test_events", "test_envelope_refusal_shape__the_two_that_must_be_told_are_advertised"),
        ),
    ),
)
