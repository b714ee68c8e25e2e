"""AAuth R3: per-call proposals, resource-side; the names are those of draft-hardt-aauth-r3-02."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, Passage, of

_MATCHING = "authority/proposals/test_matching"
_SHELF = "authority/proposals/test_shelf"

PROPOSAL = (
    Passage(
        Obligation(
            "P.1",
            Level.MUST,
            "When a call is retried, its arguments must match the proposal in the resource's store. A value "
            "that is stored as a digest is compared by its bytes.",
            ("emitter.authority.proposals:find_mismatch", "emitter.authority.proposals:ProposalStore.get"),
            (
                *of(_MATCHING, "test_only_the_same_parameters_match", "test_text_object_and_bytes_never_collide"),
                *of("authority/guard/test_swapped", "test_another_call_under_the_same_id_is_refused"),
            ),
        ),
        ("445c002b",),
    ),
    Passage(
        Obligation(
            "P.2",
            Level.MUST,
            "An approval is bound to exactly the proposed call.",
            ("emitter.authority.guard.calls:run_guarded_call", "emitter.authority.records:BoundCall"),
            (
                *of("authority/guard/test_apart", "test_a_call_is_the_same_exactly_if_its_arguments_are"),
                *of(_MATCHING, "test_the_operation_is_part_of_the_call", "test_the_account_is_part_of_the_call"),
            ),
        ),
        ("468ac789",),
    ),
    Passage(
        Obligation(
            "P.3",
            Level.MUST,
            "The document is serialised once, hashed as its bytes are served, kept, and served verbatim (7.2).",
            (
                "emitter.authority.proposals:propose",
                "emitter.authority.proposals:r3_s256",
                "emitter.authority.proposals:ProposalStore.serve",
            ),
            (
                *of("authority/proposals/test_building", "test_the_hash_is_of_the_bytes"),
                *of(_SHELF, "test_what_is_put_is_served_verbatim", "test_what_was_edited_in_the_store_is_found"),
            ),
        ),
    ),
    Passage(
        Obligation(
            "P.4",
            Level.MAY,
            "A large or sensitive value is replaced by a digest, with or without an excerpt (10.1, 10.3).",
            ("emitter.authority.proposals:make_digest_object", "emitter.authority.proposals:DigestedParameter"),
            (
                *of(
                    "authority/proposals/test_building",
                    "test_sensitive_values_are_nowhere_in_the_document",
                    "test_long_texts_stand_as_digests_with_an_excerpt",
                    "test_large_values_stand_as_digests_whatever_they_are",
                ),
                *of(_MATCHING, "test_a_parameter_that_looks_like_a_digest_is_no_digest"),
            ),
            note="Ours: an object that looks like a digest is replaced by a digest, so neither can pass for the other.",
            beyond="As the draft specifies, a digest has no salt, so a short secret can be guessed from it.",
        ),
    ),
    Passage(
        Obligation(
            "P.5",
            Level.SHOULD,
            "The person reads the call in the recommended sections.",
            ("emitter.authority.proposals:Display",),
            of(
                "authority/proposals/test_display",
                "test_a_call_is_shown_in_the_recommended_sections",
                "test_no_text_of_a_call_is_markup",
            ),
        ),
    ),
    Passage(
        Obligation(
            "P.6",
            Level.MUST,
            "A grant is used once. If it is presented again, the retained result is returned.",
            ("emitter.authority.rules:check_may_begin", "emitter.authority.execution:load_retained_result"),
            (
                *of("authority/guard/test_results", "test_the_same_call_is_answered_with_what_it_returned"),
                *of("authority/execution/test_model", "test_in_memory"),
            ),
        ),
    ),
    Passage(
        Obligation(
            "P.7",
            Level.MUST,
            "r3_granted is matched before r3_per_call, and an operation in neither is rejected. "
            "r3_conditional is read as the older name (9.1).",
            ("emitter.authority.proposals:decide_access", "emitter.authority.proposals:per_call_operations"),
            of("authority/proposals/test_claims", "test_the_draft_s_order", "test_granted_comes_first"),
        ),
    ),
    Passage(
        Obligation(
            "P.8",
            Level.MUST,
            "Only the authorization server and the person server fetch the document (11.1).",
            ("emitter.authority.proposals:ProposalStore.serve",),
            of(_SHELF, "test_what_is_put_is_served_verbatim"),
            beyond=(
                "The library speaks no HTTP and checks no signature here: the host decides to whom it serves the bytes."
            ),
        ),
    ),
)
