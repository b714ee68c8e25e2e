"""The delegation invariants: CONFIRM, STOP / TAKEOVER, RECEIPT, and the hooks."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, Passage, of

_CONFIRMING = "authority/execution/test_confirming"

CONFIRM = (
    Passage(
        Obligation(
            "C.1",
            Level.MUST,
            "A confirm is an authority to act, with a scope, limits and an expiry, and can be revoked.",
            ("emitter.authority.records:Confirm", "emitter.authority.grants:grant_confirm"),
            (
                *of(_CONFIRMING, "test_a_confirm_is_what_was_approved"),
                *of("authority/execution/test_model", "test_in_memory", "test_in_a_file"),
            ),
        ),
        ("699e92d2",),
    ),
    Passage(
        Obligation(
            "C.2",
            Level.MUST,
            "CONFIRM, STOP and RECEIPT have at least their required members.",
            (
                "emitter.authority.records:Confirm",
                "emitter.authority.records:Stop",
                "emitter.authority.records:Receipt",
            ),
            (
                *of(
                    "authority/test_examples_of_the_seed",
                    "test_an_example_holds_with_our_members",
                    "test_the_examples_are_read_as_records_of_somebody_elses",
                    "test_a_foreign_record_authorizes_nothing",
                ),
                *of("authority/test_schemas", "test_model_and_schema_agree", "test_each_member_agrees"),
            ),
            note=(
                "Ours: CONFIRM has `granted_by` and `call`, RECEIPT `intent_ref` and `retained`. Records without them "
                "are read by `read_foreign`, and authorize nothing."
            ),
        ),
        ("5599d99f", "1518defd"),
    ),
    Passage(
        Obligation(
            "C.3",
            Level.MUST,
            "Ours: only a resolution whose chosen option has the request's digest leads to a confirm.",
            ("emitter.authority.grants:grant_confirm", "emitter.authority.records:ConfirmRequest.digest"),
            of(
                _CONFIRMING,
                "test_nothing_else_is_consent",
                "test_what_differs_in_a_member_was_not_approved",
                "test_one_choice_is_one_confirm",
                "test_raced_it_is_one_confirm",
            ),
        ),
    ),
    Passage(
        Obligation(
            "C.4",
            Level.MUST,
            "Ours: each use checks that the confirm is live, covers the act, and has enough left of each "
            "limit, across processes.",
            ("emitter.authority.rules:check_may_begin", "emitter.authority.journal:Journal.append"),
            (
                *of("authority/execution/test_model", "test_in_memory", "test_in_a_file"),
                *of("authority/execution/test_processes", "test_what_was_done_is_what_was_granted"),
            ),
        ),
    ),
    Passage(
        Obligation(
            "C.5",
            Level.MUST,
            "Ours: a limit that nobody can enforce grants nothing. Money is exact, in the currency that the "
            "limit names.",
            ("emitter.authority.rules:check_enforceable_limits", "emitter.authority.rules:check_remaining"),
            of(
                _CONFIRMING,
                "test_an_unknown_limit_grants_nothing",
                "test_an_amount_is_exact",
                "test_money_adds_up_to_the_cent",
            ),
        ),
    ),
    Passage(
        Obligation(
            "C.6",
            Level.MUST,
            "Ours: the time begins when the principal chose. A recorded expiry stays, whatever a clock says later.",
            ("emitter.authority.rules:has_expired", "emitter.authority.records:Expire"),
            (
                *of(_CONFIRMING, "test_an_approval_is_of_its_time"),
                *of(
                    "authority/guard/test_time",
                    "test_a_clock_that_goes_back_brings_nothing_back",
                    "test_an_approval_that_was_too_old_stays_so",
                    "test_a_question_that_was_found_to_be_over_stays_so",
                    "test_a_confirm_that_was_found_to_be_over_stays_so",
                ),
            ),
        ),
    ),
    Passage(
        Obligation(
            "C.7",
            Level.MUST,
            "Ours: REVOKE is a record. After it, the confirm authorizes no further act.",
            ("emitter.authority.grants:revoke_confirm", "emitter.authority.context:RunningAction.check"),
            (
                *of("authority/execution/test_model", "test_in_memory"),
                *of("authority/guard/test_ended", "test_what_is_ended_between_approval_and_run_does_not_begin"),
            ),
        ),
    ),
)

STOP = (
    Passage(
        Obligation(
            "S.1",
            Level.MUST,
            "A stop is deterministic, applies to a step or to a whole workflow, and says who takes over.",
            ("emitter.authority.grants:stop_workflow", "emitter.authority.rules:WorkflowState.find_stop"),
            (
                *of("authority/execution/test_model", "test_in_memory", "test_in_a_file"),
                *of("authority/guard/test_ended", "test_what_is_ended_between_approval_and_run_does_not_begin"),
            ),
        ),
        ("df4475b9",),
    ),
    Passage(
        Obligation(
            "S.2",
            Level.MUST,
            "A stop of a step names the step.",
            ("emitter.authority.records:Stop",),
            of("authority/test_schemas", "test_model_and_schema_agree"),
        ),
        ("0ff9c357",),
    ),
    Passage(
        Obligation(
            "S.3",
            Level.MUST,
            "Ours: the confirms of a stopped workflow are void, and so are calls that were approved before the stop.",
            ("emitter.authority.rules:WorkflowState.apply",),
            (
                *of(_CONFIRMING, "test_what_was_approved_before_a_stop_is_dead"),
                *of("authority/guard/test_ended", "test_a_pause_that_is_lifted_needs_a_new_approval"),
            ),
        ),
    ),
    Passage(
        Obligation(
            "S.4",
            Level.MUST,
            "Ours: a running act is notified of a stop: at once in this process, and in others when it checks.",
            ("emitter.authority.context:ActiveActions.notify_stop", "emitter.authority.context:current_action"),
            of("authority/guard/test_ended", "test_an_act_that_runs_finds_out_that_it_is_to_end"),
            beyond="A tool that never checks is not halted, because a function cannot be halted from outside.",
        ),
    ),
)

RECEIPT = (
    Passage(
        Obligation(
            "R.1",
            Level.MUST,
            "There is a record before an irreversible commit.",
            ("emitter.authority.execution:write_intent", "emitter.authority.execution:write_receipt"),
            (
                *of("authority/execution/test_killed", "test_killed_at_each_statement", "test_killed_at_any_time"),
                *of("authority/guard/test_killed", "test_killed_at_every_point"),
            ),
            note=(
                "The RECEIPT of the document has a result, which is known only afterwards. So INTENT (ours) "
                "is written before the act and RECEIPT after it, linked by an id and by the confirm."
            ),
        ),
        ("66d1bac3",),
    ),
    Passage(
        Obligation(
            "R.2",
            Level.MUST,
            "Ours: an act that began and has no receipt is listed, and never repeated automatically.",
            (
                "emitter.authority.authority:Authority.unfinished_actions",
                "emitter.authority.authority:Authority.resolve_unfinished",
            ),
            (
                *of("authority/execution/test_killed", "test_killed_inside_its_tool"),
                *of("authority/guard/test_killed", "test_killed_again_and_again"),
            ),
        ),
    ),
    Passage(
        Obligation(
            "R.3",
            Level.MUST,
            "Ours: records are chained by hashes, and can be signed and verified.",
            (
                "emitter.authority.chain:verify_chain",
                "emitter.authority.signing:make_signer",
                "emitter.authority.audit:report_chain",
            ),
            (
                *of("authority/test_chain", "test_an_edit_is_refused", "test_a_signed_chain_cannot_be_written_anew"),
                *of("authority/test_places", "test_a_forged_chain_is_refused"),
                *of("authority/test_edited_store", "test_an_edited_store_authorizes_nothing"),
                *of("authority/test_signing", "test_nothing_else_passes_for_a_signature"),
            ),
            beyond=(
                "An unsigned chain does not show that its end was cut off, unless the hash of its last record "
                "is kept elsewhere."
            ),
        ),
    ),
)

HOOKS = (
    Passage(
        Obligation(
            "H.1",
            Level.SHOULD,
            "There are seven hooks for policies and audits, with the names of the document.",
            (
                "emitter.authority.configuration:HOOK_NAMES",
                "emitter.authority.context:run_hooks_before",
                "emitter.authority.context:run_hooks_after",
            ),
            (
                *of("authority/guard/test_settings", "test_a_hook_that_raises_before_the_act_stops_it"),
                *of("authority/guard/test_receipts", "test_a_hook_that_raises_after_the_act_costs_no_receipt"),
            ),
        ),
    ),
)
