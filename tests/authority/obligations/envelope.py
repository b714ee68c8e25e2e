"""RFC-0010: the authorization envelope."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, Passage, of

ENVELOPE = (
    Passage(
        Obligation(
            "E.1",
            Level.MUST,
            "Every workflow declares whether it may emit authority, and how that is enforced.",
            ("emitter.models.authorization:WorkflowDeclaration", "emitter.authority.envelopes:emit_authorization"),
            (
                *of("authority/envelopes/test_types", "test_a_declaration_does_not_contradict_itself"),
                *of(
                    "authority/envelopes/test_emission", "test_what_cannot_be_asked_is_refused_before_anything_is_sent"
                ),
            ),
        ),
        ("651b9182",),
    ),
    Passage(
        Obligation(
            "E.2",
            Level.MAY,
            "A workflow without authority may emit narratives without oracles.",
            ("emitter.authority.envelopes.enforcement:release_envelope",),
            of("authority/envelopes/test_authorize", "test_a_workflow_without_authority_may_tell"),
        ),
        ("4544aced",),
    ),
    Passage(
        Obligation(
            "E.3",
            Level.MUST,
            "A workflow with authority follows all requirements on oracles and envelopes, in its enforcement mode.",
            (
                "emitter.authority.envelopes.enforcement:authorize_draft",
                "emitter.authority.envelopes.oracles:is_supported",
            ),
            (
                *of(
                    "authority/envelopes/test_authorize",
                    "test_no_claim_goes_beyond_what_the_oracles_said",
                    "test_verify_is_asked_of_each_record_before_a_claim_is_handed_out",
                    "test_an_async_workflow_hands_out_no_claim_before_it_is_settled",
                ),
                *of(
                    "authority/envelopes/test_enforce",
                    "test_a_claim_for_which_the_oracles_do_not_vouch_is_refused",
                    "test_a_dispute_that_the_oracles_do_not_have_is_refused",
                    "test_what_was_kept_is_held_to_the_terms_as_what_is_new",
                ),
            ),
            note="The meaning of INLINE and ASYNC is our interpretation.",
            beyond="RFC-0002, which defines the modes, could not be read.",
        ),
        ("37cb5b7d",),
    ),
    Passage(
        Obligation(
            "E.4",
            Level.MUST,
            "A workflow without authority still enforces the forbidden markers.",
            ("emitter.authority.narrative:scan_narrative", "emitter.authority.envelopes:enforce_workflow"),
            of(
                "authority/envelopes/test_enforce",
                "test_a_narrative_is_scanned_in_every_workflow",
                "test_a_narrative_is_held_to_the_workflow_s_policy_too",
                "test_a_refusal_is_held_to_the_workflow_s_markers",
            ),
            note="The built-in markers are ours.",
            beyond='The RFC\'s own list ("Normative Definitions") could not be found.',
        ),
        ("ace8bf80",),
    ),
    Passage(
        Obligation(
            "E.5",
            Level.MUST,
            "The four supporting types are defined, at least as the RFC has them.",
            ("emitter.models.authorization:Provenance", "emitter.models.authorization:NarrativePolicy"),
            (
                *of("authority/envelopes/test_schemas", "test_every_kind_is_valid", "test_every_member_counts"),
                *of("authority/envelopes/test_wire", "test_members_that_the_rfc_does_not_name_are_left_out"),
            ),
            note="The members of OracleVerificationRecord are ours.",
            beyond=(
                "The RFC names that type and does not define it. Extra members are dropped when an envelope is read."
            ),
        ),
        ("c3a806bb",),
    ),
    Passage(
        Obligation(
            "E.6",
            Level.MUST,
            "An envelope with authority has at least one oracle record.",
            ("emitter.models.authorization:Provenance",),
            (
                *of("authority/envelopes/test_types", "test_what_is_malformed_cannot_be_made"),
                *of("authority/envelopes/test_handle", "test_what_came_around_the_checks_is_no_envelope"),
                *of("authority/envelopes/test_authorize", "test_provenance_is_that_of_the_cited_readings"),
            ),
        ),
        ("3c541834", "3a23393a"),
    ),
    Passage(
        Obligation(
            "E.7",
            Level.MUST,
            "A refusal reveals nothing about the control plane.",
            ("emitter.authority.narrative:find_leaks", "emitter.authority.envelopes.oracles:make_refusal"),
            (
                *of("authority/envelopes/test_authorize", "test_a_refusal_names_no_oracle"),
                *of("authority/envelopes/test_enforce", "test_a_refusal_that_tells_too_much_is_said_in_our_words"),
                *of("authority/narrative/test_leaks", "test_a_name_is_found_however_it_is_spelt"),
            ),
        ),
        ("1f6a05cc",),
    ),
    Passage(
        Obligation(
            "E.8",
            Level.MUST,
            "A client handles every kind explicitly.",
            ("emitter.authority.envelopes:handle_envelope",),
            of(
                "authority/envelopes/test_handle",
                "test_no_kind_can_be_left_out",
                "test_there_is_no_function_for_the_rest",
            ),
        ),
        ("96990c69",),
    ),
    Passage(
        Obligation(
            "E.9",
            Level.MUST,
            "An envelope is never converted to text by accident.",
            ("emitter.models.authorization:Measurement",),
            of("authority/envelopes/test_types", "test_an_envelope_never_becomes_text_by_accident"),
        ),
        ("fd5868f6",),
    ),
    Passage(
        Obligation(
            "E.10",
            Level.MUST,
            "An unknown kind is BLOCKED.",
            ("emitter.authority.envelopes:read_authorization",),
            of(
                "authority/envelopes/test_wire", "test_what_is_no_envelope_is_blocked", "test_no_content_makes_it_raise"
            ),
        ),
        ("e3d51431",),
    ),
    Passage(
        Obligation(
            "E.11",
            Level.MUST,
            "A proposal is never shown or stored as if it were an envelope.",
            ("emitter.authority.envelopes:AuthorizationDraft", "emitter.authority.envelopes:dump_authorization"),
            (
                *of("authority/envelopes/test_authorize", "test_neither_a_draft_nor_what_is_unverified_becomes_text"),
                *of(
                    "forms/document/test_bad_input",
                    "test_no_model_grants_authority",
                    "test_no_document_is_an_authorization",
                ),
                *of(
                    "authority/envelopes/test_wire",
                    "test_what_a_model_wrote_is_never_read_as_an_envelope",
                    "test_a_decision_is_never_read_as_an_envelope",
                ),
            ),
        ),
        ("aef09f5c",),
    ),
    Passage(
        Obligation(
            "E.12",
            Level.MUST,
            "A claim is shown only as an explicit kind of envelope.",
            ("emitter.authority.envelopes:handle_envelope", "emitter.authority.envelopes:UnverifiedClaim"),
            (
                *of("authority/envelopes/test_handle", "test_the_kinds_own_function_is_called"),
                *of("authority/envelopes/test_emission", "test_what_it_returns_shows_no_claim_by_accident"),
            ),
        ),
        ("081aad98",),
    ),
)
