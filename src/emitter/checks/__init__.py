"""Content checks for binding moments: lint rules for the eight slots (section 5 of the draft)."""

from emitter.checks.rules import DEFAULT_LINT_CONFIG as DEFAULT_LINT_CONFIG
from emitter.checks.rules import LintConfig as LintConfig
from emitter.checks.rules import LintFinding as LintFinding
from emitter.checks.rules import LintRule as LintRule
from emitter.checks.rules import LintSeverity as LintSeverity
from emitter.checks.rules import lint as lint
