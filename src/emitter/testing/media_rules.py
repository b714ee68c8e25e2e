"""The rules of OpenAI, Azure OpenAI, Anthropic, Google and Bedrock for images, documents and audio in a request.

They come from the vendors' documentation and from recorded rejections. They are independent of ``providers/*.toml``, so
that each can be tested against the other.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from emitter.media.parts import count_pages, detect_media_type, measure_image, measure_seconds
from emitter.messages import as_list, as_mapping
from emitter.profiles.model import WireFormat
from emitter.testing.plans import ErrorKind, PlannedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from emitter.messages import Json
    from emitter.testing.plans import ReceivedRequest

_IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_DATA_URL = re.compile(r"data:([^;,]*)(?:;[^,;]*)*;base64,", re.IGNORECASE)


class ContentPart(NamedTuple):
    """A part of a message, and its location as the vendor writes it."""

    place: str
    role: str
    members: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """The ``type`` of the part."""
        return str(self.members.get("type"))


class MediaError(Exception):
    """The request breaks a rule."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.planned = PlannedError(ErrorKind.BAD_REQUEST, message, status=status, param=param, code=code)


def find_media_error(request: ReceivedRequest) -> PlannedError | None:
    """Return the vendor's error for the media of a request, or None."""
    try:
        _CHECKS[request.wire](request)
    except MediaError as error:
        return error.planned
    return None


_MEDIA_KEYS = frozenset(
    {"data", "file_data", "image_url", "inline_data", "inlineData", "input_audio", "source", "file", "uri"}
)
"""The members of a part that are media and not text of the prompt."""
_PAGE_TOKENS, _SECOND_TOKENS, _MAX_IMAGE_TOKENS, _PATCH = 1_500, 10, 1_400, 32
"""A rough price of media in tokens; an image costs one for each patch of 32 by 32 pixels. No vendor counts like it."""


def strip_media(value: Json) -> tuple[Json, int]:
    """Return messages without their media, and the tokens of the media."""
    tokens = 0

    def strip(node: Json) -> Json:
        nonlocal tokens
        if isinstance(node, list):
            return [strip(item) for item in as_list(node)]
        if not isinstance(node, dict):
            return node
        members = as_mapping(node)
        media = _MEDIA_KEYS & members.keys()
        tokens += sum(_count_tokens(members[name]) for name in media)
        return {name: strip(item) for name, item in members.items() if name not in media}

    return strip(value), tokens


def _count_tokens(value: Json) -> int:
    """Return the tokens of a medium. Its data is the longest text in it; without any it counts as a large image."""
    if isinstance(value, dict):
        return max(map(_count_tokens, as_mapping(value).values()), default=0)
    if not isinstance(value, str):
        return 0
    data = try_decode_base64(value[match.end() :] if (match := _DATA_URL.match(value)) else value)
    kind = "" if data is None else detect_media_type(data)
    if data is None or kind.startswith("image/"):
        size = None if data is None else measure_image(data)
        patches = _MAX_IMAGE_TOKENS if size is None else -(-size.width // _PATCH) * -(-size.height // _PATCH)
        return min(_MAX_IMAGE_TOKENS, patches) if data is not None or "://" in value else 0
    if kind == "application/pdf":
        return _PAGE_TOKENS * (count_pages(data) or 1)
    return int(_SECOND_TOKENS * measure_seconds(data)) if kind.startswith("audio/") else 0


def try_decode_base64(text: object) -> bytes | None:
    """Return the bytes of a base64 text in either alphabet, or None."""
    if not isinstance(text, str):
        return None
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None


def _iter_parts(messages: Json, name: str, content_key: str, place: str) -> Iterator[ContentPart]:
    """Yield the parts of messages. ``place`` formats the index of the message and of the part."""
    for index, message in enumerate(map(as_mapping, as_list(messages))):
        for number, part in enumerate(map(as_mapping, as_list(message.get(content_key)))):
            yield ContentPart(place.format(name, index, content_key, number), str(message.get("role")), part)


_OPENAI_PLACE = "{}[{}].{}[{}]"
_OPENAI_MAX_IMAGES = 500
_OPENAI_MAX_FILE_BYTES = 50_000_000
_OPENAI_TEXT_MODELS = re.compile(r"gpt-3\.5|gpt-4$|gpt-4-0|gpt-4-1106|o1-mini|o1-preview|o3-mini")
_OPENAI_FORMATS = "['png', 'jpeg', 'gif', 'webp']"
_RESPONSES_TYPES = ("input_text", "input_image", "output_text", "refusal", "input_file")
_RESPONSES_SUPPORTED = (
    "'input_text', 'input_image', 'output_text', 'refusal', 'input_file', 'computer_screenshot', and 'summary_text'"
)
_CHAT_TYPES = ("text", "image_url", "input_audio", "file", "refusal")


def _check_responses(request: ReceivedRequest) -> None:
    images = 0
    for part in _iter_parts(request.body.get("input"), "input", "content", _OPENAI_PLACE):
        if part.kind not in _RESPONSES_TYPES:
            raise MediaError(
                f"Invalid value: '{part.kind}'. Supported values are: {_RESPONSES_SUPPORTED}.",
                param=f"{part.place}.type",
                code="invalid_value",
            )
        if part.kind == "input_image":
            images += 1
            _check_openai_image(part, part.members.get("image_url"), request)
        elif part.kind == "input_file":
            _check_openai_file(part, part.members)
    _check_openai_count(images)


def _check_chat(request: ReceivedRequest) -> None:
    images = 0
    for part in _iter_parts(request.body.get("messages"), "messages", "content", _OPENAI_PLACE):
        place = part.place.partition(".")[0]
        if request.is_azure and part.kind not in ("text", "image_url"):
            raise MediaError(
                f"Invalid '{place}'. Content blocks are expected to be either text or image_url type.",
                param=place,
                code="invalid_value",
            )
        if part.kind not in _CHAT_TYPES:
            supported = "'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'"
            raise MediaError(
                f"Invalid value: '{part.kind}'. Supported values are: {supported}.", param=place, code="invalid_value"
            )
        if part.kind == "image_url":
            images += 1
            _check_chat_image(part, request)
        elif part.kind == "file":
            _check_openai_file(part, as_mapping(part.members.get("file")))
        elif part.kind == "input_audio":
            _check_chat_audio(part, request)
    _check_openai_count(images)


def _check_chat_image(part: ContentPart, request: ReceivedRequest) -> None:
    place = part.place.partition(".")[0]
    if part.role != "user":
        raise MediaError(
            f"Invalid '{place}'. Image URLs are only allowed for messages with role 'user', "
            f"but this message with role '{part.role}' contains an image URL.",
            param=place,
            code="invalid_value",
        )
    _check_openai_image(part, as_mapping(part.members.get("image_url")).get("url"), request)


def _check_openai_count(images: int) -> None:
    if images > _OPENAI_MAX_IMAGES:
        raise MediaError(f"Too many images in request. Expected at most {_OPENAI_MAX_IMAGES}, but got {images}.")


def _check_openai_image(part: ContentPart, url: object, request: ReceivedRequest) -> None:
    if _OPENAI_TEXT_MODELS.match(request.model):
        raise MediaError(f"Invalid content type. {part.kind} is only supported by certain models.", param=part.place)
    if isinstance(part.members.get("file_id"), str):
        return
    if not isinstance(url, str) or not url.startswith(("https://", "http://", "data:")):
        raise MediaError(
            f"Invalid '{part.place}.image_url'. Expected a valid URL, but got a value with an invalid format.",
            param=f"{part.place}.image_url",
            code="invalid_value",
        )
    if url.startswith("data:"):
        data = _decode_data_url(url, part, "image_url", "an image", "data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=")
        if detect_media_type(data) not in _IMAGE_TYPES:
            raise MediaError(
                "You uploaded an unsupported image. Please make sure your image has of one the following formats: "
                f"{_OPENAI_FORMATS}.",
                code="invalid_image_format",
            )


def _decode_data_url(url: str, part: ContentPart, name: str, expected: str, example: str) -> bytes:
    header = _DATA_URL.match(url)
    data = None if header is None else try_decode_base64(url[header.end() :])
    if not data:
        raise MediaError(
            f"Invalid '{part.place}.{name}'. Expected a base64-encoded data URL with {expected} MIME type "
            f"(e.g. '{example}'), but got an invalid base64-encoded value.",
            param=f"{part.place}.{name}",
            code="invalid_value",
        )
    return data


def _check_openai_file(part: ContentPart, file: Mapping[str, Any]) -> None:
    if isinstance(file.get("file_id"), str) or (part.kind == "input_file" and isinstance(file.get("file_url"), str)):
        return
    if not isinstance(file.get("filename"), str):
        param = f"{part.place}.filename" if part.kind == "input_file" else f"{part.place}.file.filename"
        raise MediaError(f"Missing required parameter: '{param}'.", param=param, code="missing_required_parameter")
    url = str(file.get("file_data"))
    data = _decode_data_url(url, part, "file_data", "a valid file", "data:text/plain;base64,SGVsbG8sIFdvcmxkIQ==")
    declared = url[5:].partition(";")[0]
    if declared != "application/pdf" or detect_media_type(data) != "application/pdf":
        raise MediaError(
            f"Invalid file data: '{part.place}.file_data'. Expected a base64-encoded data URL with a valid file MIME "
            f"type, but got unsupported MIME type '{declared}'.",
            param=part.place,
            code="invalid_value",
        )
    if len(data) > _OPENAI_MAX_FILE_BYTES:
        raise MediaError("The file is too large. The maximum size is 50 MB.", code="file_too_large", status=413)


def _check_chat_audio(part: ContentPart, request: ReceivedRequest) -> None:
    audio = as_mapping(part.members.get("input_audio"))
    if "audio" not in request.model:
        raise MediaError("Invalid content type. input_audio is only supported by certain models.", param=part.place)
    if audio.get("format") not in ("wav", "mp3"):
        raise MediaError(
            f"Invalid value: '{audio.get('format')}'. Supported values are: 'wav' and 'mp3'.",
            param=f"{part.place}.input_audio.format",
            code="invalid_value",
        )
    expected = "audio/wav" if audio["format"] == "wav" else "audio/mpeg"
    data = try_decode_base64(audio.get("data"))
    if not data or detect_media_type(data) != expected:
        raise MediaError(
            f"The data provided for 'input_audio' is not of valid {audio['format']} format.",
            param=f"{part.place}.input_audio.data",
            code="invalid_value",
        )


_ANTHROPIC_PLACE = "{}.{}.{}.{}"
_ANTHROPIC_MAX_REQUEST = 32_000_000
_ANTHROPIC_MAX_BASE64 = 10 * 1024 * 1024
_ANTHROPIC_SIDE, _ANTHROPIC_MANY, _ANTHROPIC_MANY_SIDE = 8_000, 20, 2_000
_ANTHROPIC_LARGE_WINDOW = re.compile(r"claude-(fable|mythos|(sonnet|opus|haiku)-5|(sonnet|opus)-4-[678])")
_ANTHROPIC_TYPES = ("document", "image", "search_result", "text", "thinking", "tool_result", "tool_use")


@dataclass(slots=True)
class _AnthropicCounts:
    images: int = 0
    pages: int = 0


def _check_anthropic(request: ReceivedRequest) -> None:
    parts = list(_iter_parts(request.body["messages"], "messages", "content", _ANTHROPIC_PLACE))
    size = sum(len(str(as_mapping(part.members.get("source")).get("data", ""))) for part in parts)
    if size > _ANTHROPIC_MAX_REQUEST:
        raise MediaError("Request exceeds the maximum size", status=413)
    counts = _AnthropicCounts(sum(part.kind == "image" for part in parts))
    for part in parts:
        if part.kind not in _ANTHROPIC_TYPES:
            raise MediaError(_unexpected_tag(part.place, part.kind, _ANTHROPIC_TYPES))
        if part.kind in ("image", "document"):
            _check_anthropic_source(part, counts)
    limit = 600 if _ANTHROPIC_LARGE_WINDOW.match(request.model) else 100
    if counts.images + counts.pages > limit:
        raise MediaError(f"Too much media: {counts.pages} document pages + {counts.images} images > {limit}")


def _unexpected_tag(place: str, tag: object, expected: tuple[str, ...]) -> str:
    tags = ", ".join(f"'{each}'" for each in expected)
    return f"{place}: Input tag '{tag}' found using 'type' does not match any of the expected tags: {tags}"


def _check_anthropic_source(part: ContentPart, counts: _AnthropicCounts) -> None:
    if part.role != "user":
        raise MediaError(f"{part.place}: {part.kind} blocks are not permitted in {part.role} messages")
    source, place = as_mapping(part.members.get("source")), f"{part.place}.{part.kind}.source"
    match source.get("type"):
        case "base64":
            _check_anthropic_data(f"{place}.base64", part.kind, source, counts)
        case "url" if str(source.get("url")).startswith("https://"):
            return
        case "url":
            raise MediaError(f"{place}.url.url: Only HTTPS URLs are supported.")
        case "file" if isinstance(source.get("file_id"), str):
            return
        case other:
            raise MediaError(_unexpected_tag(place, other, ("base64", "url", "file")))


def _check_anthropic_data(place: str, kind: str, source: Mapping[str, Any], counts: _AnthropicCounts) -> None:
    data = try_decode_base64(source.get("data"))
    if not data:
        raise MediaError(f"{place}: invalid base64 data")
    if kind == "image":
        _check_anthropic_image(place, source, data, counts)
    else:
        _check_anthropic_pdf(place, source, data, counts)


def _check_anthropic_image(place: str, source: Mapping[str, Any], data: bytes, counts: _AnthropicCounts) -> None:
    declared, found, size = source.get("media_type"), detect_media_type(data), measure_image(data)
    if declared not in _IMAGE_TYPES:
        raise MediaError(f"{place}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'")
    encoded = len(source["data"])
    if encoded > _ANTHROPIC_MAX_BASE64:
        raise MediaError(f"{place}: image exceeds 10 MB maximum: {encoded} bytes > {_ANTHROPIC_MAX_BASE64} bytes")
    if found not in _IMAGE_TYPES:
        raise MediaError(f"{place}.data: The file format is invalid or unsupported")
    if found != declared:
        raise MediaError(f"{place}.data: Image does not match the provided media type {declared}")
    is_many = counts.images > _ANTHROPIC_MANY
    limit = _ANTHROPIC_MANY_SIDE if is_many else _ANTHROPIC_SIDE
    if size is not None and max(size) > limit:
        requests = " for many-image requests" if is_many else ""
        raise MediaError(
            f"{place}.data: At least one of the image dimensions exceed max allowed size{requests}: {limit} pixels"
        )


def _check_anthropic_pdf(place: str, source: Mapping[str, Any], data: bytes, counts: _AnthropicCounts) -> None:
    if source.get("media_type") != "application/pdf":
        raise MediaError(f"{place}.media_type: Input should be 'application/pdf'")
    if detect_media_type(data) != "application/pdf":
        raise MediaError(f"{place}.data: The PDF specified was not valid.")
    counts.pages += count_pages(data) or 1


_GOOGLE_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
_GOOGLE_AUDIO = ("audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac")
_GOOGLE_TYPES = (*_GOOGLE_IMAGES, *_GOOGLE_AUDIO, "application/pdf")
_GOOGLE_MAX_REQUEST = 100_000_000


def _check_google(request: ReceivedRequest) -> None:
    total = 0
    for part in _iter_parts(request.body.get("contents"), "contents", "parts", _OPENAI_PLACE):
        blob = as_mapping(part.members.get("inlineData", part.members.get("inline_data")))
        file = as_mapping(part.members.get("fileData", part.members.get("file_data")))
        if blob:
            total += len(str(blob.get("data")))
            _check_google_data(f"{part.place}.inline_data", _google_type(blob), blob)
        if file and not _google_type(file):
            raise MediaError(f"Invalid value at '{part.place}.file_data': mime_type is required.")
        if file and _google_type(file) not in _GOOGLE_TYPES:
            raise MediaError(f"Unsupported MIME type: {_google_type(file)}")
    if total > _GOOGLE_MAX_REQUEST:
        raise MediaError("Request payload size exceeds the limit: 104857600 bytes.")


def _google_type(members: Mapping[str, Any]) -> str:
    return str(members.get("mimeType", members.get("mime_type", "")))


def _check_google_data(place: str, declared: str, members: Mapping[str, Any]) -> None:
    data = try_decode_base64(members.get("data"))
    if declared not in _GOOGLE_TYPES:
        raise MediaError(f"Unsupported MIME type: {declared}")
    if not data:
        raise MediaError(f"Invalid value at '{place}.data' (TYPE_BYTES), Base64 decoding failed")
    found = detect_media_type(data)
    if declared == "application/pdf" and found != "application/pdf":
        raise MediaError("The document has no pages.")
    if declared in _GOOGLE_IMAGES and not found.startswith("image/"):
        raise MediaError(
            "Unable to process input image. Please retry or report in https://developers.generativeai.google"
        )


_INTERACTION_TYPES = ("audio", "document", "image", "text", "video")


def _check_interactions(request: ReceivedRequest) -> None:
    """Check the rules of generateContent, because Google publishes none for Interactions."""
    total = 0
    for part in _iter_parts(request.body.get("input"), "input", "content", _OPENAI_PLACE):
        if part.kind not in _INTERACTION_TYPES:
            raise MediaError(f"Invalid value at '{part.place}.type': '{part.kind}' is not a type of content.")
        if part.kind == "text":
            continue
        declared = str(part.members.get("mime_type", ""))
        if "data" in part.members:
            total += len(str(part.members["data"]))
            _check_google_data(part.place, declared, part.members)
        elif not isinstance(part.members.get("uri"), str):
            raise MediaError(f"Invalid value at '{part.place}': data or uri is required.")
        elif declared and declared not in _GOOGLE_TYPES:
            raise MediaError(f"Unsupported MIME type: {declared}")
    if total > _GOOGLE_MAX_REQUEST:
        raise MediaError("Request payload size exceeds the limit: 104857600 bytes.")


_BEDROCK_PLACE = "messages.{1}.content.{3}"
_BEDROCK_FORMATS = {
    "image": ("png", "jpeg", "gif", "webp"),
    "document": ("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"),
    "audio": (*("mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "mka"), "x-aac", "m4a", "webm"),
}
_BEDROCK_MAX_IMAGE, _BEDROCK_MAX_DOCUMENT, _BEDROCK_DOCUMENTS, _BEDROCK_SIDE = 5 * 1024 * 1024, 4_500_000, 5, 8_000
_BEDROCK_S3_MODELS = re.compile(r"amazon\.nova-(?!micro)")
_BEDROCK_AUDIO_MODELS = re.compile(r"mistral\.voxtral-")
_BEDROCK_TEXT_MODELS = re.compile(r"amazon\.nova-micro|anthropic\.claude-(v|instant)")
_BEDROCK_LARGE_PDFS = re.compile(r"amazon\.nova|anthropic\.claude-(?![23]|instant|v)")
_BEDROCK_NAME = re.compile(r"[A-Za-z0-9()\[\]-]+( [A-Za-z0-9()\[\]-]+)*")
_BEDROCK_LONGEST_NAME = 200


def _check_bedrock(request: ReceivedRequest) -> None:
    """Check the rules of botocore's model of Converse. The messages are recorded ones, as far as there are any."""
    names: list[str] = []
    for part in _iter_parts(request.body.get("messages"), "messages", "content", _BEDROCK_PLACE):
        for kind in _BEDROCK_FORMATS.keys() & part.members.keys():
            block = as_mapping(part.members[kind])
            _check_bedrock_block(part, kind, block, request.model)
            names += [_check_bedrock_name(block)] if kind == "document" else []
    if len({name.lower() for name in names}) < len(names):
        message = "Messages can't contain duplicate document names. Rename the document and retry your request."
        raise MediaError(message)
    if len(names) > _BEDROCK_DOCUMENTS and not _BEDROCK_S3_MODELS.search(request.model):
        raise MediaError(f"You can't include more than {_BEDROCK_DOCUMENTS} documents in a request.")
    for turn in map(as_mapping, as_list(request.body.get("messages"))):
        kinds = {kind for block in as_list(turn.get("content")) for kind in as_mapping(block)}
        if "document" in kinds and "text" not in kinds:
            raise MediaError("Add a text block to the message that contains a document.")


def _check_bedrock_name(block: Mapping[str, Any]) -> str:
    name = str(block.get("name", ""))
    if not _BEDROCK_NAME.fullmatch(name) or len(name) > _BEDROCK_LONGEST_NAME:
        raise MediaError(
            "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, "
            "parentheses, and square brackets. The name can't contain more than one consecutive whitespace character."
        )
    return name


def _check_bedrock_block(part: ContentPart, kind: str, block: Mapping[str, Any], model: str) -> None:
    source, form = as_mapping(block.get("source")), block.get("format")
    if part.role != "user":
        raise MediaError("You can only include images and documents if the role is user.")
    takes_audio = _BEDROCK_AUDIO_MODELS.search(model) is not None
    if takes_audio is not (kind == "audio") or _BEDROCK_TEXT_MODELS.search(model):
        raise MediaError(f"This model doesn't support the {kind} content block that you provided.")
    if form not in _BEDROCK_FORMATS[kind]:
        member = re.sub(r"\.(\d+)", lambda index: f".{int(index[1]) + 1}.member", part.place)
        raise MediaError(
            f"1 validation error detected: Value '{form}' at '{member}.{kind}.format' failed to satisfy constraint: "
            f"Member must satisfy enum value set: [{', '.join(_BEDROCK_FORMATS[kind])}]"
        )
    if "s3Location" not in source:
        _check_bedrock_data(f"{part.place}.{kind}", kind, block, model)
    elif not _BEDROCK_S3_MODELS.search(model):
        raise MediaError("This model doesn't support an S3 location as the source of a content block.")


def _check_bedrock_data(place: str, kind: str, block: Mapping[str, Any], model: str) -> None:
    data = try_decode_base64(as_mapping(block.get("source")).get("bytes"))
    if not data:
        raise MediaError(f"{place}.source: bytes or s3Location is required.")
    found = f"The model returned the following errors: {place}.source.bytes"
    if kind == "image":
        _check_bedrock_image(found, data, is_claude="anthropic." in model)
    if block["format"] == "pdf" and detect_media_type(data) != "application/pdf":
        raise MediaError(f"{found}: The PDF specified was not valid.")
    if kind == "document" and len(data) > _BEDROCK_MAX_DOCUMENT and not _BEDROCK_LARGE_PDFS.search(model):
        raise MediaError(f"The document exceeds the maximum size of {_BEDROCK_MAX_DOCUMENT} bytes.")


def _check_bedrock_image(place: str, data: bytes, *, is_claude: bool) -> None:
    size, encoded = measure_image(data), -(-len(data) // 3) * 4
    if is_claude and encoded > _BEDROCK_MAX_IMAGE:
        raise MediaError(f"{place}: image exceeds 5 MB maximum: {encoded} bytes > {_BEDROCK_MAX_IMAGE} bytes")
    if detect_media_type(data) not in _IMAGE_TYPES:
        raise MediaError(f"{place}: Could not process image")
    if size is not None and max(size) > _BEDROCK_SIDE:
        pixels = f"{_BEDROCK_SIDE} pixels"
        raise MediaError(f"{place}: At least one of the image dimensions exceed max allowed size: {pixels}")


_CHECKS: Mapping[WireFormat, Callable[[ReceivedRequest], None]] = {
    WireFormat.OPENAI_RESPONSES: _check_responses,
    WireFormat.OPENAI_CHAT: _check_chat,
    WireFormat.ANTHROPIC: _check_anthropic,
    WireFormat.GOOGLE: _check_google,
    WireFormat.GEMINI_INTERACTIONS: _check_interactions,
    WireFormat.BEDROCK_CONVERSE: _check_bedrock,
}
