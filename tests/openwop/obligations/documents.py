"""N1 to N11: the envelope, its kinds and their schemas."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, of

DOCUMENTS = (
    Obligation(
        "N1",
        Level.MUST,
        "The envelope has a closed set of members; vendor data goes into its payload.",
        ("emitter.models.envelope:AIEnvelope", "emitter.host.validation:check_shape"),
        (
            *of("openwop/test_shape", "test_ai_envelope_shape__both_schemas_refuse_what_is_closed_or_required"),
            *of("host/test_never_raises", "test_the_shape_is_taken_exactly_where_openwop_s_schema_takes_it"),
            *of(
                "openwop/test_obligations",
                "test_what_a_vendor_adds_stands_in_the_payload",
                "test_an_envelope_speaks_for_no_other_node",
            ),
        ),
        note="`nodeId` is absent or the node that emitted the envelope. An envelope that names another node "
        "is refused.",
    ),
    Obligation(
        "N2",
        Level.MUST,
        "`meta` names the source and the time of the envelope.",
        ("emitter.models.envelope:EnvelopeMeta", "emitter.host.validation:check_shape"),
        (
            *of("openwop/test_obligations", "test_an_envelope_says_when_it_was_made"),
            *of("openwop/test_shape", "test_ai_envelope_shape__a_time_that_is_none_is_invalid"),
            *of("host/test_route", "test_what_is_amiss_and_taken_is_warned_of"),
        ),
        note="As v1 allows, a missing `meta.source` is read as `ai-generation`, with a warning.",
    ),
    Obligation(
        "N3",
        Level.MUST,
        "Ids have at most 128 characters.",
        ("emitter.models.envelope:MAX_ID_LENGTH",),
        of("openwop/test_obligations", "test_an_id_has_1_to_128_characters"),
    ),
    Obligation(
        "N4",
        Level.MUST,
        "Every host knows the four universal kinds, allows them in every contract, and lists them with the others.",
        (
            "emitter.models.standard_kinds:UNIVERSAL_SCHEMAS",
            "emitter.host.validation:check_contract",
            "emitter.host.capabilities:build_capabilities",
        ),
        (
            *of(
                "openwop/test_kinds",
                "test_ai_envelope_universal_kinds__each_is_accepted",
                "test_ai_envelope_universal_kinds__each_is_advertised",
            ),
            *of("openwop/test_permission", "test_ai_envelope_contract_refusal__a_universal_kind_passes_every_contract"),
            *of("host/test_capabilities", "test_the_universal_four_are_listed_with_any_other"),
        ),
    ),
    Obligation(
        "N5",
        Level.MUST,
        "Domain kinds have a vendor namespace.",
        ("emitter.host.registry:validate_kind_id",),
        (
            *of(
                "host/kinds/test_naming",
                "test_a_name_without_namespace_is_refused",
                "test_a_reserved_name_is_refused",
            ),
            *of("openwop/test_schemas", "test_spec_corpus_validity__our_own_kinds_are_namespaced"),
        ),
    ),
    Obligation(
        "N6",
        Level.MUST,
        "Each kind has a JSON Schema (2020-12) at its canonical address.",
        ("emitter.host.kinds:EnvelopeKind.build_document", "emitter.host.asgi:create_discovery_app"),
        (
            *of("host/kinds/test_published", "test_it_is_a_canonical_document"),
            *of("host/test_asgi", "test_each_schema_is_served_at_its_canonical_path"),
            *of("openwop/test_serving", "test_each_kinds_schema_is_served_at_its_canonical_address"),
        ),
        note="The application of the extra `asgi` serves it, or your own with `EnvelopeKind.build_document`.",
    ),
    Obligation(
        "N7",
        Level.MUST,
        "The host advertises a version for each kind, and refuses a higher one.",
        ("emitter.host.kinds:KindRegistry.versions", "emitter.host.validation:check_kind"),
        (
            *of("host/kinds/test_standard", "test_versions_are_those_advertised"),
            *of("openwop/test_kinds", "test_ai_envelope_schema_drift__a_higher_version_is_refused"),
        ),
        note="A kind registered with `version=None` advertises none, so N7 and N8 do not apply to it.",
    ),
    Obligation(
        "N8",
        Level.MUST,
        "A lower version is marked as drift, or refused by a strict host.",
        ("emitter.host.validation:check_kind", "emitter.host.config:Strictness"),
        of(
            "openwop/test_kinds",
            "test_ai_envelope_schema_drift__a_lower_version_is_accepted_and_marked",
            "test_ai_envelope_schema_drift__a_strict_host_refuses_a_lower_version",
        ),
    ),
    Obligation(
        "N9",
        Level.MUST,
        "Variants are an `anyOf` whose branches differ in one required field with one fixed string, never a `oneOf`.",
        ("emitter.host.registry:find_ambiguous_variants", "emitter.schema.tier1:lint_variants"),
        (
            *of("host/kinds/test_variants", "test_variants_that_no_field_tells_apart_are_refused"),
            *of("openwop/test_schemas", "test_envelope_variant_discriminator_static__every_served_schema_has_tags"),
        ),
    ),
    Obligation(
        "N10",
        Level.MUST,
        "A missing `reasoning` never refuses an envelope, nothing is routed by it, and secrets are removed from it.",
        (
            "emitter.host.kinds:EnvelopeKind.find_violations",
            "emitter.models.binding_moment:add_reasoning",
            "emitter.host.pipeline:call_handler",
        ),
        (
            *of("openwop/test_schemas", "test_envelope_reasoning_shape__it_is_an_optional_text"),
            *of(
                "host/kinds/test_register",
                "test_no_payload_is_refused_for_want_of_reasoning",
                "test_what_else_is_wrong_is_reported_without_the_reasoning",
                "test_null_is_no_reasoning_in_the_kinds_that_come_with_the_library",
            ),
            *of("models/test_turn", "test_reasoning_may_be_missing"),
            *of(
                "openwop/test_redaction",
                "test_envelope_reasoning_secret_redaction__nothing_is_routed_by_it",
                "test_envelope_reasoning_secret_redaction__reasoning_is_struck_like_any_text",
            ),
        ),
    ),
    Obligation(
        "N11",
        Level.MUST,
        "A reader of a payload treats null as absent.",
        ("emitter.schema.results:Compiled.decode",),
        (
            *of("core/test_judge", "test_a_null_optional_is_absent"),
            *of("schema/test_turn", "test_nulls_for_optionals_are_read_as_absent"),
            *of("openwop/test_obligations", "test_null_is_taken_as_absence_is"),
        ),
        beyond=(
            "This is true of the model's answer, and of `reasoning` in every envelope. For other members of a "
            "payload, the kind's schema decides whether null is allowed, and a handler what it means. The "
            "universal kinds do not allow it, as in the protocol's own schemas. An envelope is recorded and "
            "passed on as it arrived."
        ),
    ),
)
