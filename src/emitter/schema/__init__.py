"""The schema compiler: from the caller's JSON Schema to a vendor's strict subset, and back.

``compile_schema`` is a lens: what it sends out it can read back (``decode``), and what the vendor cannot
enforce it names (``losses``) and checks itself (``validate``), always against the original schema.
"""

from emitter.errors import Uncompilable as Uncompilable
from emitter.errors import Unencodable as Unencodable
from emitter.schema.compile import Undeclared as Undeclared
from emitter.schema.compile import compile_schema as compile_schema
from emitter.schema.compiled import Compiled as Compiled
from emitter.schema.compiled import Loss as Loss
from emitter.schema.compiled import Why as Why
from emitter.schema.lint.tier1 import Edition as Edition
from emitter.schema.lint.tier1 import Finding as Finding
from emitter.schema.lint.tier1 import Mode as Mode
from emitter.schema.lint.tier1 import lint_tier1 as lint_tier1
from emitter.schema.lint.tier1 import lint_variants as lint_variants
from emitter.schema.validate import Validator as Validator
from emitter.schema.violation import Violation as Violation
