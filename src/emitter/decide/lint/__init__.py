"""The content discipline of section 5: what the eight slots must and should say, found by rules."""

from emitter.decide.lint.finding import DEFAULT_DISCIPLINE as DEFAULT_DISCIPLINE
from emitter.decide.lint.finding import Discipline as Discipline
from emitter.decide.lint.finding import Finding as Finding
from emitter.decide.lint.finding import Rule as Rule
from emitter.decide.lint.finding import Severity as Severity
from emitter.decide.lint.run import lint as lint
