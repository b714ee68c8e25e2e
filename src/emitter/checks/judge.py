"""Let a model judge the wording of a binding moment, in any language, in the lexicon's place.

``ModelJudge`` is the configuration; the emission asks the model (``emitter.core.judging``) and reads its answer
(``emitter.checks.review``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.checks.lexicon import EnglishLexicon
from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.findings import Checker, Finding
    from emitter.models import BindingMoment
    from emitter.policy import PriceTable

_LEXICON: Final = EnglishLexicon()


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Asks a model whether an envelope defers, leads or gives no answer.

    The call is part of the emission: its tokens, calls and events are on the trace, and limits and deadlines include
    it. What the model finds may ask for one correction and is then a warning. If the model cannot be asked or gives no
    usable answer, ``fallback`` decides, and an event reports it.

    Args:
        model: The provider and model name. A small, cheap model is enough.
        client: An SDK client for it. By default one is created from the vendor's environment variables.
        fallback: The checker that decides if the model does not.
        prices: The prices for ``Policy.max_cost``. Defaults to the listed ones.
    """

    model: str
    client: object = None
    fallback: Checker[BindingMoment] = _LEXICON
    prices: PriceTable | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, str):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
            raise InputError(f"ModelJudge needs a model's name, not a {type(self.model).__name__}.")

    def __call__(self, value: BindingMoment, /) -> Iterable[Finding]:
        """Return the fallback's findings. Only an emission asks the model."""
        return self.fallback(value)
