"""Options that do something: the caller fixes their labels, and keeps beside the envelope what each would do.

The draft knows no actions, and an envelope holds none: these rules are ours. The model writes what is said of an
option, and neither sees nor says which digest it has. So whoever chooses a label chooses what the caller tied to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from emitter.arguments import check_kind, whole
from emitter.decide.lint import Rule, Severity
from emitter.decide.lint.options import hatch, twins
from emitter.decide.lint.sentences import shown
from emitter.decide.seen import seen
from emitter.errors import InputError
from emitter.kinds import BINDING_MOMENT
from emitter.kinds.binding_moment import MAX_OPTIONS
from emitter.ledger.taking import LONGEST_ACTION
from emitter.prompt import fenced, spelled
from emitter.render.alike import solid
from emitter.render.line import LONGEST_WORD, line
from emitter.schema import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.decide.lint import Discipline
    from emitter.kinds import BindingMoment
    from emitter.prompt import Prompts

Actions: TypeAlias = Mapping[str, str | None]
"""By the label of an option: the digest of what choosing it would do, or None where it would do nothing."""

NO_ACTIONS: Final[Actions] = MappingProxyType({})
LONGEST_LABEL: Final = 200

MISSING: Final = "action-missing"
TWICE: Final = "action-twice"
ALIKE: Final = "action-alike"

_OPTIONS: Final = "/turn/question/options"
_AS_WRITTEN: Final = (
    f"Write it on one line, without outer, double or invisible spaces, control characters, "
    f"or a word of more than {LONGEST_WORD} columns."
)
_HATCH: Final = "The principal always has both vetoes (section 5.8): name what the option does."


def labelled(given: object) -> dict[str, str | None]:
    """Return the actions in the order of their labels; raises ``InputError`` for what no envelope could offer."""
    check_kind("actions", given, Mapping)
    pairs = tuple(cast("Mapping[object, object]", given).items())
    if len(pairs) > MAX_OPTIONS:
        raise InputError(f"actions has {len(pairs)} labels.", hint=f"A question has at most {MAX_OPTIONS} options.")
    for number, (label, digest) in enumerate(pairs, start=1):
        _check_label(f"Label {number} of actions", label)
        _check_digest(f"The digest at label {number} of actions", digest)
    found = cast("tuple[tuple[str, str | None], ...]", pairs)
    if any(_alike(one, other) for (one, _), (other, _) in combinations(found, 2)):
        raise InputError("Two labels of actions pass for each other.", hint="Name them so that nobody mistakes them.")
    return dict(sorted(found))


def check_hatches(actions: Actions, discipline: Discipline) -> None:
    """Raise ``InputError`` for a label that the discipline would refuse in every envelope."""
    if discipline.severity(Rule.OPTION_HATCH) is Severity.ERROR and any(hatch(seen(each)) for each in actions):
        raise InputError("A label of actions only opens a veto, or puts the decision off.", hint=_HATCH)


def told(actions: Actions) -> tuple[str, ...]:
    """Return what tells these actions from others, digests and all; nothing where there are none."""
    return (json.dumps(sorted(actions.items())),) if actions else ()


def fixed(prompts: Prompts, actions: Actions) -> tuple[str, ...]:
    """Return what the model reads of the labels, in a fence: a text of others may stand in them."""
    lines = [f"{number}. {spelled(label)}" for number, label in enumerate(actions, start=1)]
    if not lines:
        return ()
    labels = fenced("\n".join(lines), "labels", "the caller")
    return (prompts.fill("actions", labels=labels, binding_moment=BINDING_MOMENT),)


def unkept(actions: Actions, moment: BindingMoment) -> Iterator[Violation]:
    """Yield where an envelope does not offer each label once and unmistakably; labels are told by their number."""
    labels = [each.label for each in moment.question.options]
    for number, label in enumerate(actions, start=1):
        yield from _places(number, [place for place, each in enumerate(labels) if each == label])
    for place, each in enumerate(labels):
        number = 0 if each in actions else _passes_for(each, tuple(actions))
        if number:
            expected = f"fixed label {number} exactly, or one that cannot be taken for it"
            yield Violation(f"{_OPTIONS}/{place}/label", ALIKE, expected)


def of_options(actions: Actions, moment: BindingMoment) -> tuple[str | None, ...]:
    """Return the digest of each option in order, None where it has none; empty where there are no actions."""
    return tuple(actions.get(each.label) for each in moment.question.options) if actions else ()


def _check_label(name: str, given: object) -> None:
    whole(name, given)
    label = cast("str", given)
    if not shown(label):
        raise InputError(f"{name} is blank.", hint="Name what the option does.")
    if len(label) > LONGEST_LABEL:
        raise InputError(f"{name} has {len(label)} characters.", hint=f"At most {LONGEST_LABEL} are allowed.")
    if line(label) != label:
        raise InputError(f"{name} would not be shown as it is written.", hint=_AS_WRITTEN)


def _check_digest(name: str, given: object) -> None:
    if given is None:
        return
    whole(name, given)
    if not 0 < len(cast("str", given)) <= LONGEST_ACTION:
        raise InputError(f"{name} must have 1 to {LONGEST_ACTION} characters.", hint="None stands for no action.")


def _places(number: int, places: Sequence[int]) -> Iterator[Violation]:
    if not places:
        yield Violation(_OPTIONS, MISSING, f"an option whose label is exactly fixed label {number}")
    for place in places[1:]:
        yield Violation(
            f"{_OPTIONS}/{place}/label", TWICE, f"another label, since fixed label {number} stands once only"
        )


def _passes_for(label: str, fixed: Sequence[str]) -> int:
    """Return the number of the fixed label that another one may be taken for, 0 where there is none."""
    return next((number for number, each in enumerate(fixed, start=1) if _alike(each, label)), 0)


def _alike(one: str, other: str) -> bool:
    """Tell whether two labels look the same where they are shown, or read the same but for case and punctuation."""
    return solid(line(one)) == solid(line(other)) or any(True for _ in twins((seen(one), seen(other))))
