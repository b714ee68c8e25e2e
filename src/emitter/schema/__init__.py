"""Compile JSON Schemas for model providers.

``compile_schema`` turns a JSON Schema or a Python type into the strict subset that a provider enforces. The result
encodes and decodes between the two forms, lists every keyword that the provider cannot enforce, and validates answers
against the original schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.errors import Uncompilable as Uncompilable
    from emitter.errors import Unencodable as Unencodable
    from emitter.findings import Violation as Violation
    from emitter.schema.compiler import UndeclaredProperties as UndeclaredProperties
    from emitter.schema.compiler import compile_schema as compile_schema
    from emitter.schema.results import Compiled as Compiled
    from emitter.schema.results import Loss as Loss
    from emitter.schema.results import LossReason as LossReason
    from emitter.schema.tier1 import Tier1Finding as Tier1Finding
    from emitter.schema.tier1 import Tier1Mode as Tier1Mode
    from emitter.schema.tier1 import VariantEdition as VariantEdition
    from emitter.schema.tier1 import lint_tier1 as lint_tier1
    from emitter.schema.tier1 import lint_variants as lint_variants
    from emitter.schema.validator import Validator as Validator
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            ".errors": "Uncompilable Unencodable",
            "compiler": "UndeclaredProperties compile_schema",
            "results": "Compiled Loss LossReason",
            "tier1": "Tier1Finding Tier1Mode VariantEdition lint_tier1 lint_variants",
            ".findings": "Violation",
            "validator": "Validator",
        },
    )
