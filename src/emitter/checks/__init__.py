"""Content checks for binding moments (section 5 of the draft).

``StructuralChecks`` checks rules that are certain. ``EnglishLexicon`` looks for English phrases and may be wrong.
``ModelJudge`` asks a model instead of the lexicon.
"""

from emitter.checks.judge import ModelJudge as ModelJudge
from emitter.checks.lexicon import EnglishLexicon as EnglishLexicon
from emitter.checks.structural import StructuralChecks as StructuralChecks
from emitter.findings import Checker as Checker
from emitter.findings import Finding as Finding
from emitter.findings import Severity as Severity

DEFAULT_CHECKS = (StructuralChecks(), EnglishLexicon())
"""The checks of a decision. Add your own with ``checks=(*DEFAULT_CHECKS, check)``."""
