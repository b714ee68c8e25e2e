"""Narratives: what a text without authority may say, found by rules (RFC-0010, NarrativePolicy; RFC-0011).

``scan`` holds a text to a policy, ``scrub`` takes its measurements out, ``leaks`` reads what a refusal tells its user.
The three read English, and see through spellings that evade: look-alikes, invisible characters, spaced letters, leet.
They are rules of ours for words that the RFCs leave to Normative Definitions, which could not be found; they are a
net, not a proof: whoever sets out to write around them can.
"""

from emitter.authority.narrative.leaks import leaks as leaks
from emitter.authority.narrative.marker import Marker as Marker
from emitter.authority.narrative.marker import Policy as Policy
from emitter.authority.narrative.marker import Rule as Rule
from emitter.authority.narrative.measurement import WITHHELD as WITHHELD
from emitter.authority.narrative.measurement import scrub as scrub
from emitter.authority.narrative.scan import scan as scan
