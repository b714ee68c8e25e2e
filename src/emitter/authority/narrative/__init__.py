"""Rules for narratives: text without authority, as RFC-0010's `NarrativePolicy` allows it.

`scan_narrative` reports what a policy forbids in a text, `scrub_measurements` removes measurements, and `find_leaks`
finds control-plane details in a refusal. The rules cover English only and are heuristics.

Source: RFC-0010, NarrativePolicy; RFC-0011.
"""

from emitter.authority.narrative.scanner import NarrativeMarker as NarrativeMarker
from emitter.authority.narrative.scanner import NarrativePolicyLike as NarrativePolicyLike
from emitter.authority.narrative.scanner import NarrativeRule as NarrativeRule
from emitter.authority.narrative.scanner import find_leaks as find_leaks
from emitter.authority.narrative.scanner import names_unknown_source as names_unknown_source
from emitter.authority.narrative.scanner import scan_narrative as scan_narrative
from emitter.authority.narrative.text import MEASUREMENT_PLACEHOLDER as MEASUREMENT_PLACEHOLDER
from emitter.authority.narrative.text import scrub_measurements as scrub_measurements
