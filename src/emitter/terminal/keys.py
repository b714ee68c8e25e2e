"""What each key does in the picker. No key both highlights an option and chooses it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys

from emitter.decide import Unanswered, Unresolved
from emitter.render.layout import HATCHES, OFFER, HatchKind
from emitter.terminal.plain import More
from emitter.terminal.view import Says, down, highlighted, released, scrolled, up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.key_binding import KeyPressEvent

    from emitter.render.layout import Hatch
    from emitter.terminal.sitting import Sitting
    from emitter.terminal.view import View

_CLOSED = {HatchKind.FREE_TEXT: Says.NO_ANSWER, HatchKind.DIALOGUE: Says.NO_OBJECTION}
_SCROLLS: Mapping[str, Callable[[View], View]] = {
    "pagedown": lambda view: scrolled(view, max(1, view.height - 1)),
    "pageup": lambda view: scrolled(view, -max(1, view.height - 1)),
}
_READS: Mapping[str, Callable[[View], View]] = {
    "down": down,
    "j": down,
    "tab": down,
    "up": up,
    "k": up,
    "s-tab": up,
    "home": lambda view: scrolled(view, -view.top),
    "end": lambda view: scrolled(view, view.last_top),
    " ": _SCROLLS["pagedown"],
}


def bindings(sitting: Sitting, words: Buffer) -> KeyBindings:
    """Return the keys; ``words`` is where a veto is written."""
    keys = KeyBindings()
    choosing = Condition(lambda: sitting.hatch is None)
    for key, way in _READS.items():
        keys.add(key, filter=choosing)(_moving(sitting, way))
    for key, way in _SCROLLS.items():
        keys.add(key)(_moving(sitting, way))
    for each in sitting.layout.choices:
        keys.add(each.key, filter=choosing)(_moving(sitting, _to(each.index)))
    if sitting.details is not None:
        for key in (OFFER.key, OFFER.key.upper()):
            keys.add(key, filter=choosing)(_asking)
    _vetoes(keys, sitting, words, choosing)
    _ends(keys, sitting, words, choosing)
    return keys


def _vetoes(keys: KeyBindings, sitting: Sitting, words: Buffer, choosing: Condition) -> None:
    """Bind each veto's key, also where it is closed: words that are typed to it must not press other keys."""
    for kind, hatch in HATCHES.items():
        closed = partial(released, says=_CLOSED[kind])
        handler = _opening(sitting, words, hatch) if hatch in sitting.layout.hatches else _moving(sitting, closed)
        for key in (hatch.key, hatch.key.upper()):
            keys.add(key, filter=choosing)(handler)

    @keys.add(Keys.Any, filter=choosing)
    def _(event: KeyPressEvent) -> None:
        if event.data.isprintable():
            sitting.move(partial(released, says=Says.NOTHING))


def _ends(keys: KeyBindings, sitting: Sitting, words: Buffer, choosing: Condition) -> None:
    leaving = _leaving(sitting)
    for key in ("q", "Q", "c-d"):
        keys.add(key, filter=choosing)(leaving)
    for key in ("c-c", "<sigint>"):
        keys.add(key)(leaving)

    for key in ("enter", "c-j"):
        keys.add(key)(_entering(sitting, words))

    @keys.add("escape", eager=True)
    def _(event: KeyPressEvent) -> None:
        if sitting.hatch is None:
            sitting.move(released)
        else:
            sitting.leave(words.text)
            event.app.layout.focus_last()

    @keys.add(Keys.BracketedPaste, filter=choosing)
    def _(_event: KeyPressEvent) -> None:
        sitting.say(Says.PASTED)


def _entering(sitting: Sitting, words: Buffer) -> Callable[[KeyPressEvent], None]:
    def handle(event: KeyPressEvent) -> None:
        resolution = sitting.confirm() if sitting.hatch is None else sitting.send(words.text)
        if resolution is not None:
            event.app.exit(result=resolution)

    return handle


def _leaving(sitting: Sitting) -> Callable[[KeyPressEvent], None]:
    def handle(event: KeyPressEvent) -> None:
        event.app.exit(result=Unresolved(sitting.layout.digest, Unanswered.CANCELLED))

    return handle


def _asking(event: KeyPressEvent) -> None:
    event.app.exit(result=More())


def _moving(sitting: Sitting, way: Callable[[View], View]) -> Callable[[KeyPressEvent], None]:
    def handle(_event: KeyPressEvent) -> None:
        sitting.move(way)

    return handle


def _to(index: int) -> Callable[[View], View]:
    return lambda view: highlighted(view, index)


def _opening(sitting: Sitting, words: Buffer, hatch: Hatch) -> Callable[[KeyPressEvent], None]:
    def handle(event: KeyPressEvent) -> None:
        words.text = sitting.write(hatch)
        words.cursor_position = len(words.text)
        event.app.layout.focus(words)

    return handle
