"""Ours: the guarded call, from a tool's arguments to its receipt, and the stores."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, Passage, of

GUARD = (
    Passage(
        Obligation(
            "G.1",
            Level.MUST,
            "What runs is what was approved, under concurrency, retries, restarts and clocks that differ.",
            ("emitter.authority.guard.calls:run_guarded_call",),
            (
                *of(
                    "authority/guard/test_changed",
                    "test_arguments_that_another_thread_changes_while_the_approval_waits",
                    "test_arguments_that_are_changed_on_the_way",
                ),
                *of(
                    "authority/guard/test_races",
                    "test_of_many_threads_one_makes_the_call",
                    "test_of_many_processes_one_makes_the_call",
                    "test_of_two_calls_under_one_id_one_is_made",
                ),
                *of(
                    "authority/guard/test_time",
                    "test_a_call_goes_on_where_it_was_after_a_restart",
                    "test_clocks_that_differ",
                ),
                *of(
                    "authority/guard/test_functions",
                    "test_two_functions_never_share_an_approval_or_a_result",
                    "test_functions_of_one_name_in_two_modules",
                ),
            ),
        ),
    ),
    Passage(
        Obligation(
            "G.2",
            Level.MUST,
            "If the process is killed at any point, nothing runs twice and nothing is lost.",
            ("emitter.authority.guard.calls:run_guarded_call", "emitter.authority.execution:execute_confirmed"),
            of("authority/guard/test_killed", "test_killed_at_every_point", "test_killed_again_and_again"),
        ),
    ),
    Passage(
        Obligation(
            "G.3",
            Level.MUST,
            "The person reads the call itself; a model may say why it should be made, and cannot say what it is.",
            ("emitter.authority.guard.briefing:add_call_findings", "emitter.authority.guard.briefing:brief_with_model"),
            (
                *of("authority/guard/test_brief", "test_each_argument_is_reported_whole_on_one_line"),
                *of("authority/guard/test_emitted", "test_what_the_model_recommends_is_not_what_is_approved"),
            ),
        ),
    ),
    Passage(
        Obligation(
            "G.4",
            Level.MUST,
            "An edited record authorizes nothing.",
            (
                "emitter.authority.chain:parse_line",
                "emitter.authority.proposals:ProposalStore.get",
                "emitter.decisions.ledger:Ledger.find",
            ),
            (
                *of(
                    "authority/test_signed_answers",
                    "test_a_forged_answer_authorizes_nothing",
                    "test_a_forged_row_authorizes_nothing_in_any_store",
                    "test_a_forged_confirm_authorizes_nothing",
                ),
                *of("authority/guard/test_tampered", "test_an_edited_record_authorizes_nothing"),
                *of("authority/guard/test_opened_before", "test_a_decision_that_does_not_tell_the_call_is_not_its_own"),
            ),
            beyond=(
                "Only signatures keep out somebody who can write to the store and recomputes the hashes: "
                "`Authority(sign=, check=, principals=)`."
            ),
        ),
    ),
    Passage(
        Obligation(
            "G.5",
            Level.MUST,
            "Memory, SQLite and PostgreSQL implement the same protocol. The schemas of all records are published.",
            ("emitter.stores:Store", "emitter.authority.schemas:SCHEMAS"),
            (
                *of("authority/guard/test_races", "test_of_many_processes_one_makes_the_call_on_postgres"),
                *of("authority/test_schemas", "test_the_files_are_what_is_generated"),
            ),
        ),
    ),
)
