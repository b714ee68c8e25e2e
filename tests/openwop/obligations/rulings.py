"""Where the specification, its schemas and its suite disagree, or are silent."""

from __future__ import annotations

from tests.openwop.obligations.form import Ruling, rows
from tests.traced.form import of

RULINGS = (
    Ruling(
        1,
        "The text lets a vendor add members to `meta`; the schema closes it.",
        "`meta` is closed. Vendor data goes into the payload.",
        of("openwop/test_obligations", "test_what_a_vendor_adds_stands_in_the_payload"),
    ),
    Ruling(
        2,
        "`partial` is a boolean in the text, an object in the schema.",
        "It is the object `{isPartial, index, total}`.",
        (
            *of("host/test_partial", "test_fragments_are_joined"),
            *of("openwop/test_obligations", "test_a_surface_does_nothing_before_it_is_whole"),
        ),
    ),
    Ruling(
        3,
        "An unknown kind is invalid in the text, gated in the suite.",
        "It is gated, and the reason begins with `unknown_envelope_kind`.",
        of("openwop/test_permission", "test_ai_envelope_contract_refusal__the_hosts_gate_comes_before_the_nodes"),
    ),
    Ruling(
        4,
        "A gated outcome lists the allowed kinds in `gate`, or in `allowedKinds`.",
        "In both.",
        of("openwop/test_shape", "test_ai_envelope_shape__a_kind_that_is_not_advertised_is_gated"),
    ),
    Ruling(
        5,
        "Deduplication comes last before the handler in the text, right after the shape in the reference host.",
        "It comes last: an invalid repetition is refused like any other envelope.",
        (
            *of("host/test_order", "test_of_two_defects_the_earlier_is_reported"),
            *of("host/test_dedup", "test_what_comes_before_dedup_is_looked_at_again"),
        ),
    ),
    Ruling(
        6,
        "`maxRetryAttempts` may count all calls, or those after the first.",
        "It counts all answered calls, including the first: the lesser of `Policy.max_attempts` and "
        "`limits.schemaRounds` + 1, as the latter counts retries. `cap.breached` contains the allowed "
        "retries.",
        (
            *of(
                "core/test_emission",
                "test_laws_hold_for_any_script",
                "test_one_attempt_means_one_call",
                "test_a_breach_tells_how_many_retries_were_allowed",
            ),
            *of("host/test_emissions_kept", "test_schema_rounds_are_the_lesser_of_policy_and_host"),
            *of(
                "host/test_capabilities",
                "test_the_calls_of_an_emission_are_the_lesser_of_policy_and_rounds",
            ),
        ),
    ),
    Ruling(
        7,
        "The form is requested in two steps when that number is used up.",
        "The steps have their own limit of two calls, reported as `fallbackCalls`. The event of exhaustion "
        "counts only the attempts at the form.",
        of(
            "core/test_fallback",
            "test_the_form_is_sought_in_two_steps",
            "test_failure_counts_only_the_attempts_at_the_form_as_exhausted",
        ),
    ),
    Ruling(
        8,
        "Google's id is `gemini` in the list of ids, `google` in a schema and in the reference host.",
        'The host chooses it for every event: `gemini` with `provider_ids={"google": "gemini"}`, otherwise '
        "`google`, the library's own id.",
        (
            *of("openwop/test_obligations", "test_a_vendor_is_reported_as_the_host_calls_it"),
            *of("core/capability_gate/test_functions", "test_events_call_a_vendor_as_the_host_does"),
        ),
    ),
    Ruling(
        9,
        "A document in a string has its own recovery path in an RFC, and none in the list of paths.",
        "It is reported as `custom`.",
        of("recover/test_laws", "test_double_encoding"),
    ),
    Ruling(
        10,
        "Schema requests are logged as `debug` in the text, as `info` by the reference host.",
        "As `debug`.",
        of("openwop/test_kinds", "test_ai_envelope_universal_kinds__what_is_said_of_schemas_is_logged"),
    ),
    Ruling(
        11,
        "Every payload shall have `reasoning`; the schemas of media and `schema.response` have none.",
        "The schemas decide.",
        (
            *of("openwop/test_schemas", "test_envelope_reasoning_shape__an_acknowledgement_has_none"),
            *of("host/kinds/test_published", "test_each_schema_accepts_and_refuses_what_openwops_does"),
        ),
    ),
    Ruling(
        12,
        "The specification's own example of variants leaves `reasoning` optional, which the strict subset forbids.",
        "The strict subset applies if a host asks for it; a schema for a vendor is compiled to what the "
        "vendor accepts.",
        (
            *of("host/kinds/test_posture", "test_outside_the_subset_is_reported_on_the_kind"),
            *of("host/kinds/test_published", "test_it_compiles_for_every_vendor"),
        ),
    ),
    Ruling(
        13,
        "The vendors' limits in the table of the subset are out of date.",
        "Each vendor's limits are data of its profile, with source and date; the table is a profile of its "
        "own, `tier1`.",
        (
            *of("profiles/test_loading", "test_every_fact_has_a_source_and_a_date"),
            *of("schema/test_tier1", "test_every_vector_is_met_exactly"),
        ),
    ),
    Ruling(
        14,
        "The subset wants closed objects, and the universal kinds have open ones.",
        "A host validates with the open ones. For a model they become lists of entries, or JSON in a string, "
        "and are converted back.",
        (
            *of("schema/compile/test_objects", "test_a_map", "test_an_open_object_with_names"),
            *of("host/kinds/test_published", "test_it_compiles_for_every_vendor"),
        ),
    ),
    Ruling(
        15,
        "Reporting a retry is a SHOULD in one RFC, a MUST in the next.",
        "Every retry is reported before it is made.",
        of("openwop/test_fixtures", "test_a_fixture_tells_exactly_this"),
    ),
    Ruling(
        16,
        "`refusal` is among the reasons of a retry, and a refusal is never retried.",
        "It is never the reason of a retry or of an exhaustion.",
        rows("refused", "cut-violating-refused"),
    ),
    Ruling(
        17,
        "The text does not say whether a refusal is reported as exhausted, too.",
        "It is not: `envelope.refusal`, then `node.failed`.",
        (*rows("refused"), *of("openwop/test_fixtures", "test_a_fixture_tells_exactly_this")),
    ),
    Ruling(
        18,
        "The example of RFC 0055 has a string as its version, and a `meta` without source and time.",
        "The version is a number and the time is required; a missing source is read as `ai-generation`.",
        (
            *of("openwop/test_obligations", "test_a_version_is_a_number_and_meta_is_whole"),
            *of("host/test_route", "test_what_is_amiss_and_taken_is_warned_of"),
        ),
    ),
    Ruling(
        19,
        'A correlation id that was "seen" with another kind is a conflict in the table of outcomes; the text '
        "on replay speaks of the stored outcome.",
        "Only an envelope that was accepted, or stored without being rendered, fixes the kind of its id. "
        "After a refusal, another kind may have the same id: the model is asked again, and may answer with "
        "`error`.",
        of("host/test_dedup", "test_a_refused_envelope_reserves_no_correlation_id"),
    ),
    Ruling(
        20,
        "`cap.breached` has an optional `nodeId`. The prose wants it for the kinds that count by node, and "
        "not for `envelopes`, which counts by turn; the text of the envelope does not say.",
        "The payload has `nodeId` for every kind but `envelopes`. The event itself names the node in each case.",
        of("openwop/test_permission", "test_ai_envelope_cap_breached__is_reported_once_and_fails_the_node"),
    ),
    Ruling(
        21,
        "Media have a `url` or `base64`; the schema allows both, and neither.",
        "The kind's schema decides: both or neither are accepted with a warning. Each source must be valid: a "
        "web address, or base64 of the stated size, within the limit.",
        of("host/kinds/test_media", "test_an_asset_that_is_taken", "test_an_asset_should_have_one_source"),
    ),
    Ruling(
        22,
        "A consumer ignores an unknown `rendering.display`; the schema of the envelope closes the list, and "
        "the suite wants another value rejected.",
        "The envelope is refused, like any with an invalid shape: a host checks the shape first, and a "
        "renderer ignores the hint.",
        (
            *of("openwop/test_payloads", "test_envelope_rendering_hint__is_closed"),
            *of("host/test_never_raises", "test_the_shape_is_taken_exactly_where_openwop_s_schema_takes_it"),
        ),
    ),
)
