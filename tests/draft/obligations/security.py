"""Sections 9, 11 and 12: records, security and privacy."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, Passage, of

SECURITY = (
    Passage(
        Obligation(
            "9.1",
            Level.MAY,
            "A decision and its resolution may be recorded as events.",
            ("emitter.decisions.ledger:Ledger",),
            (*of("decisions/ledger/test_privacy", "test_what_is_reported_a_decision"),),
        ),
        ("ee48bc2c",),
    ),
    Passage(
        Obligation(
            "11.1",
            Level.SHOULD,
            "The tool surface is authenticated.",
            (),
            (*of("mcp/test_transports", "test_another_name_for_this_machine_is_refused"),),
            beyond=(
                "Over standard input and output the client started the server; over HTTP the server listens on "
                "this machine only. Authenticating remote clients is up to the SDK and the host."
            ),
        ),
        ("266feeef",),
    ),
    Passage(
        Obligation(
            "11.2",
            Level.SHOULD,
            "The rate of refused questions is monitored, for each agent and class of decision.",
            (
                "emitter.decisions.decision_rates:DecisionRates",
                "emitter.decisions.decision_rates:RateThresholds",
            ),
            (
                *of(
                    "decisions/ledger/test_rates",
                    "test_each_agent_and_class_has_rates_of_its_own",
                    "test_a_rate_that_comes_to_its_threshold_is_reported",
                    "test_nobody_hides_behind_many_classes",
                ),
            ),
        ),
        ("6fe0afdf",),
    ),
    Passage(
        Obligation(
            "11.3",
            Level.SHOULD,
            "A closed hatch is an event.",
            (
                "emitter.forms.binding_moment:HATCH_SUPPRESSED",
                "emitter.decisions.ledger:Ledger",
            ),
            (
                *of("forms/binding_moment/test_content", "test_a_suppressed_hatch_is_always_told"),
                *of("decisions/ledger/test_privacy", "test_a_closed_hatch_is_always_an_event"),
            ),
        ),
        ("cc7f332d",),
    ),
    Passage(
        Obligation(
            "11.4",
            Level.SHOULD,
            "A consequential decision is drawn on the principal's own surface.",
            ("emitter.web.server:serve", "emitter.mcp.asker:Surface"),
            (
                *of(
                    "mcp/test_page",
                    "test_the_principal_is_sent_to_a_page_of_their_own",
                    "test_nobody_answers_for_a_principal_with_a_page",
                ),
                *of("web/test_refused", "test_no_forgery_answers"),
                *of("web/test_kept", "test_it_is_served_on_loopback_alone"),
            ),
        ),
        ("568bc6bf",),
    ),
    Passage(
        Obligation(
            "12.1",
            Level.SHOULD,
            "Findings contain what the decision needs, and no more.",
            ("emitter.prompts:binding_moment_prompt",),
            (*of("test_prompts", "test_what_no_rule_can_find_is_asked_of_the_model"),),
            beyond="The prompt asks for it. No check can tell what a decision does not need.",
        ),
        ("5c87cef6",),
    ),
    Passage(
        Obligation(
            "12.2",
            Level.MUST,
            "An answer in the principal's own words is kept for a limited time or not at all, and is in no event.",
            ("emitter.decisions.ledger:Ledger", "emitter.decisions.ledger_words:KeepWords"),
            (
                *of("decisions/ledger/test_privacy", "test_no_word_of_the_principal_is_on_the_disk_or_reported"),
                *of(
                    "decisions/ledger/test_words",
                    "test_words_are_deleted_when_their_time_is_over",
                    "test_encrypted_words_are_for_those_with_the_key",
                ),
            ),
            beyond=(
                "The words are kept for a week by default, so that an agent in another process can read them; "
                "`Ledger(words=None)` keeps none."
            ),
        ),
        ("7eb75ae4",),
    ),
)
