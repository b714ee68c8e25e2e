"""Hold a replay of a run against the run: what was told again, and what was told otherwise.

Source: ai-envelope.md, "Envelope-reliability events" (replay determinism); RFC 0027 §F (``divergencePoint``);
RFC 0041 §B (refusals).
"""

from emitter.accept.replay.compare import Divergence as Divergence
from emitter.accept.replay.compare import DivergenceKind as DivergenceKind
from emitter.accept.replay.compare import diverged as diverged
from emitter.accept.replay.compare import divergences as divergences
from emitter.accept.replay.fields import REPLAY_DIVERGED_AT_REFUSAL as REPLAY_DIVERGED_AT_REFUSAL
