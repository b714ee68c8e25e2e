"""Guarded tools: a tool that runs only the call its principal approved, once, with a receipt."""

from emitter.authority.guard.briefing import ApprovalRequest as ApprovalRequest
from emitter.authority.guard.briefing import BriefWriter as BriefWriter
from emitter.authority.guard.briefing import abrief_with_model as abrief_with_model
from emitter.authority.guard.briefing import brief_from_template as brief_from_template
from emitter.authority.guard.briefing import brief_with_model as brief_with_model
from emitter.authority.guard.calls import GuardedTool as GuardedTool
from emitter.authority.guard.options import GuardConfig as GuardConfig
from emitter.authority.guard.options import GuardOptions as GuardOptions
