"""Check that a model accepts the media of a request, and estimate their tokens. Source: ``providers/*.toml``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from emitter.errors import InputError
from emitter.media.parts import count_pages, default_source, is_url, measure_image, measure_seconds
from emitter.messages import Medium
from emitter.profiles.tables import AudioSupport, Capability, DocumentSupport, ImageSupport, MediaSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.messages import MediaPart
    from emitter.profiles import Profile, WireFormat
    from emitter.profiles.tables import MediumSupport

CAPABILITIES: Mapping[Medium, str] = {
    Medium.IMAGE: Capability.VISION_INPUT.value,
    Medium.DOCUMENT: Capability.DOCUMENT_INPUT.value,
    Medium.AUDIO: Capability.AUDIO_INPUT.value,
}
"""The capability that a medium requires (RFC 0031)."""
_PLURALS = {Medium.IMAGE: "images", Medium.DOCUMENT: "PDF documents", Medium.AUDIO: "audio"}
_SOURCE_NAMES = {MediaSource.DATA: "as bytes", MediaSource.URL: "by URL", MediaSource.FILE: "by file id"}
_SOURCE_HINTS = {
    MediaSource.URL: "Pass its bytes, or fetch=True.",
    MediaSource.FILE: "Pass its bytes.",
    MediaSource.DATA: "Upload it to the vendor.",
}
UNKNOWN_PAGES = 25
"""The number of pages assumed for a document without bytes, or whose pages cannot be counted."""
_BASE64_RATIO = 4 / 3


class MediaTarget(NamedTuple):
    """The model that media are sent to, and the wire."""

    profile: Profile
    wire: WireFormat
    model: str

    def __str__(self) -> str:
        return f"{self.profile.name}/{self.model}"

    def support(self, medium: Medium) -> MediumSupport | None:
        """Return the files of ``medium`` that the model accepts, or None."""
        row = self.profile.model_media(self.model)
        return None if row is None else row.support(medium)

    def sources(self, medium: Medium) -> frozenset[MediaSource]:
        """Return how ``medium`` can be sent."""
        return self.profile.media_sources(self.wire, self.model, medium)


def required_capabilities(parts: Sequence[MediaPart]) -> tuple[str, ...]:
    """Return the capabilities that a model needs for these parts."""
    return tuple(sorted({CAPABILITIES[part.medium] for part in parts}))


def check_media(parts: Sequence[MediaPart], target: MediaTarget) -> None:
    """Raise ``InputError`` for media that the model does not accept."""
    for part in parts:
        _check_medium(part, target)
        _check_source(part, target)
        _check_type(part, target)
        _check_size(part, target)
    for medium in Medium:
        _check_number([part for part in parts if part.medium is medium], target)
    _check_request_size(parts, target)


def _label(part: MediaPart) -> str:
    """Return the name of a part in an error."""
    return default_source(part) if part.name or part.url else f"the {part.medium.value}"


def _subject(part: MediaPart) -> str:
    """Return the name of a part at the start of a sentence."""
    label = _label(part)
    return f"The{label[3:]}" if label == f"the {part.medium.value}" else label


def _check_medium(part: MediaPart, target: MediaTarget) -> None:
    if target.sources(part.medium):
        return
    hint = "Choose a model that takes it, or name one in fallback=."
    if target.support(part.medium) is not None:
        others = [
            wire.value for wire in target.profile.wires if target.profile.media_sources(wire, target.model, part.medium)
        ]
        hint = f'Pass wire="{others[0]}".' if others else hint
    accepted = [_PLURALS[medium] for medium in Medium if target.sources(medium)]
    listed = f"{', '.join(['text', *accepted[:-1]])} and {accepted[-1]}" if accepted else "text only"
    named = f" ({_label(part)})" if part.name or part.url else ""
    raise InputError(
        f"{target} takes {listed} over {target.wire.value}, not {_PLURALS[part.medium]}{named}.", hint=hint
    )


def source_of(part: MediaPart) -> MediaSource:
    """Return how a part is passed."""
    if part.data is not None:
        return MediaSource.DATA
    return MediaSource.URL if part.url is not None else MediaSource.FILE


def _check_source(part: MediaPart, target: MediaTarget) -> None:
    source, allowed = source_of(part), target.sources(part.medium)
    sending = target.profile.wires[target.wire].media
    schemes = () if sending is None else sending.file_schemes
    scheme = part.file_id.partition(":")[0].lower() if part.file_id and is_url(part.file_id) else ""
    if source in allowed and (source is not MediaSource.FILE or scheme in (schemes or ("",))):
        return
    names = " or ".join(_source_name(each, schemes) for each in _SOURCE_NAMES if each in allowed)
    passed = _source_name(source, (scheme,) if scheme else ())
    raise InputError(
        f"{_subject(part)} is passed {passed}, and {target} takes {_PLURALS[part.medium]} "
        f"over {target.wire.value} only {names}.",
        hint=_SOURCE_HINTS[source] if MediaSource.DATA in allowed else _SOURCE_HINTS[MediaSource.DATA],
    )


def _source_name(source: MediaSource, schemes: tuple[str, ...]) -> str:
    """Return how a medium is passed. A file id that is a URI is named by its scheme."""
    if source is MediaSource.FILE and schemes:
        return f"by {' or '.join(schemes)} URI"
    return _SOURCE_NAMES[source]


def _check_type(part: MediaPart, target: MediaTarget) -> None:
    support, sending = target.support(part.medium), target.profile.wires[target.wire].media
    if support is None or sending is None:
        return
    if not part.media_type and sending.needs_type:
        raise InputError(
            f"The media type of {_label(part)} is not known, and {target} needs it.",
            hint=f'Pass media_type=, such as "{support.types[0]}".',
        )
    if part.media_type and part.media_type not in support.types:
        raise InputError(
            f"{_subject(part)} is {part.media_type}, and {target} takes {_PLURALS[part.medium]} as "
            f"{', '.join(support.types)}.",
            hint="Convert it.",
        )


def _check_size(part: MediaPart, target: MediaTarget) -> None:
    support = target.support(part.medium)
    if part.data is None or support is None or support.bytes is None or len(part.data) <= support.bytes:
        return
    raise InputError(
        f"{_subject(part)} has {len(part.data):,} bytes, and {target} takes {_PLURALS[part.medium]} of at most "
        f"{support.bytes:,} bytes.",
        hint="Make it smaller.",
    )


def _check_number(parts: Sequence[MediaPart], target: MediaTarget) -> None:
    """Check the limits on all parts of a medium together."""
    support = target.support(parts[0].medium) if parts else None
    if support is None:
        return
    if support.count is not None and len(parts) > support.count:
        raise InputError(
            f"There are {len(parts):,} {_PLURALS[parts[0].medium]}, and {target} takes at most {support.count:,} in a "
            "request.",
            hint="Send them in several requests.",
        )
    if isinstance(support, ImageSupport):
        _check_sides(parts, support, target)
    if isinstance(support, DocumentSupport) and support.pages is not None:
        pages = sum(_count_known_pages(part) or 0 for part in parts)
        if pages > support.pages:
            raise InputError(
                f"The documents have {pages:,} pages, and {target} takes at most {support.pages:,} in a request.",
                hint="Split them.",
            )


def _check_sides(parts: Sequence[MediaPart], support: ImageSupport, target: MediaTarget) -> None:
    is_many = support.many is not None and len(parts) > support.many
    limit = support.many_side if is_many else support.side
    if limit is None:
        return
    for part in parts:
        size = None if part.data is None else measure_image(part.data)
        if size is not None and max(size) > limit:
            among = f" when there are more than {support.many}" if is_many else ""
            raise InputError(
                f"{_subject(part)} has {size.width} by {size.height} pixels, and {target} takes images of at most "
                f"{limit} by {limit}{among}.",
                hint="Make it smaller.",
            )


def _check_request_size(parts: Sequence[MediaPart], target: MediaTarget) -> None:
    sending = target.profile.wires[target.wire].media
    size = sum(math.ceil(len(part.data or b"") * _BASE64_RATIO) for part in parts)
    if sending is not None and sending.request_bytes is not None and size > sending.request_bytes:
        raise InputError(
            f"The media take {size:,} bytes in base64, and a request to {target} may have {sending.request_bytes:,}.",
            hint="Upload them to the vendor and pass file_id=, or send them in several requests.",
        )


def _count_known_pages(part: MediaPart) -> int | None:
    return None if part.data is None else count_pages(part.data)


def estimate_media_tokens(parts: Sequence[MediaPart], profile: Profile, model: str) -> int:
    """Return an upper bound on the tokens of media, by the provider's published formulas.

    Media without bytes count as the largest image, as ``UNKNOWN_PAGES`` pages or, for audio, as nothing.
    """
    row = profile.model_media(model)
    return 0 if row is None else sum(_estimate_tokens(part, row.support(part.medium)) for part in parts)


def _estimate_tokens(part: MediaPart, support: MediumSupport | None) -> int:
    match support:
        case ImageSupport():
            size = None if part.data is None else measure_image(part.data)
            if size is None:
                return support.max_tokens
            patches = math.ceil(size.width / support.patch) * math.ceil(size.height / support.patch)
            return min(support.max_tokens, math.ceil(support.base_tokens + patches * support.patch_tokens))
        case DocumentSupport():
            return support.page_tokens * (_count_known_pages(part) or UNKNOWN_PAGES)
        case AudioSupport():
            return 0 if part.data is None else math.ceil(support.second_tokens * measure_seconds(part.data))
        case _:
            return 0
