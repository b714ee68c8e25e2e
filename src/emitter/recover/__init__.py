"""Recover the JSON document in an answer that is not strict JSON.

A repair changes syntax, never a value, and a document that was cut off is never completed. Whenever there is a doubt,
``recover`` returns ``None``: asking again costs one call, a wrong value costs a wrong decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.recover.answer import Ambiguous as Ambiguous
    from emitter.recover.answer import Recovered as Recovered
    from emitter.recover.answer import RecoveryPath as RecoveryPath
    from emitter.recover.answer import Retracted as Retracted
    from emitter.recover.retraction import Stance as Stance
    from emitter.recover.retraction import classify_prose as classify_prose
    from emitter.recover.strategies import parse_answer as parse_answer
    from emitter.recover.strategies import recover as recover
    from emitter.recover.thinking_blocks import strip_thinking as strip_thinking
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "retraction": "Stance classify_prose",
            "answer": "Ambiguous Recovered RecoveryPath Retracted",
            "strategies": "parse_answer recover",
            "thinking_blocks": "strip_thinking",
        },
    )
