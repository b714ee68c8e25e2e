"""What schemas cannot say of the kinds that come with the library; each rule is asked of a payload that is valid."""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.accept.catalogue.address import on_the_web
from emitter.schema import Violation
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json

_NO_SUCH_OPTION = Violation(
    "/binding_moment/question/recommended_idx", "range", "the position of an option that exists, counted from 0"
)
_ONE_SOURCE = Violation("", "source", "either url or base64, and not both")
_NO_ADDRESS = Violation("/url", "address", "an http or https address with a host, and without credentials")
_NO_BASE64 = Violation("/base64", "encoding", "base64 as of RFC 4648, with its padding and without line breaks")
_OTHER_SIZE = Violation("/bytes", "size", "the number of bytes that base64 holds")
_NO_ALT = Violation("/alt", "alt", "what to say to people who cannot see or hear the asset")


def option_in_range(payload: Json) -> Iterator[Violation]:
    """Yield what is wrong where no option is recommended (draft-morrison-binding-moment-envelope-00, section 5.7)."""
    question: Json = payload["binding_moment"]["question"]
    if question["recommended_idx"] >= len(question["options"]):
        yield _NO_SUCH_OPTION


@dataclass(frozen=True, slots=True)
class IdsDiffer:
    """The members of a list that is found by ``way`` should have ids of their own: answers are matched by them."""

    way: tuple[str, ...]

    def __call__(self, payload: Json) -> Iterator[Violation]:
        """Yield each place whose id stands before it."""
        for step in self.way:
            payload = payload[step]
        met: set[Json] = set()
        for index, each in enumerate(sequence(payload)):
            name = mapping(each).get("id")
            if name in met:
                yield Violation(f"/{'/'.join(self.way)}/{index}/id", "unique", "an id that no other has")
            if name is not None:
                met.add(name)


@dataclass(frozen=True, slots=True)
class Sourced:
    """A media payload's sources must be what they say: a web address, or base64 of its size, within a cap.

    That an address is served to its tenant only and cannot be guessed is for the host that mints it (RFC 0055 §C).
    """

    max_inline_bytes: int

    def __call__(self, payload: Json) -> Iterator[Violation]:
        """Yield what is wrong with the source."""
        url, inline = payload.get("url"), payload.get("base64")
        if inline is not None:
            yield from self._inline(inline, payload["bytes"])
        if url is not None and not on_the_web(url):
            yield _NO_ADDRESS

    def _inline(self, inline: str, size: float) -> Iterator[Violation]:
        if len(inline) // 4 * 3 > self.max_inline_bytes + 2:  # not worth decoding, whatever it is
            yield self._too_large()
            return
        try:
            held = len(binascii.a2b_base64(inline, strict_mode=True))
        except ValueError:
            yield _NO_BASE64
            return
        if held > self.max_inline_bytes:
            yield self._too_large()
        if held != size:
            yield _OTHER_SIZE

    def _too_large(self) -> Violation:
        expected = f"at most {self.max_inline_bytes} bytes; what is larger goes by url"
        return Violation("/base64", "maxInlineMediaBytes", expected)


def one_source(payload: Json) -> Iterator[Violation]:
    """Yield the wish for exactly one of ``url`` and ``base64``: the protocol's schema admits both, and neither."""
    if (payload.get("url") is None) is (payload.get("base64") is None):
        yield _ONE_SOURCE


def alt_is_there(payload: Json) -> Iterator[Violation]:
    """Yield the wish for a text that stands for the asset (RFC 0055 §B)."""
    if not payload.get("alt"):
        yield _NO_ALT
