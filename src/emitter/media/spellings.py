"""Read images, documents and audio in the vendors' own part formats.

Sources: openai 3.52.0 types/responses/response_input_image_param.py, response_input_file_param.py and
types/chat/chat_completion_content_part_param.py; anthropic 2.11.0 types/image_block_param.py and
document_block_param.py; google-genai 3.4.0 types.py, Blob and FileData, and _gaos/types/interactions/imagecontent.py,
documentcontent.py and audiocontent.py; botocore 1.44.5 bedrock-runtime, ImageBlock, DocumentBlock and AudioBlock.

To support the parts of another API, add a reader here. They are then accepted for every model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.errors import InputError
from emitter.media.parts import (
    CLASS_NAMES,
    decode_base64,
    is_data_url,
    is_url,
    make_part,
    make_url_part,
    medium_of,
    normalize_media_type,
)
from emitter.messages import MediaPart, Medium, as_list, as_mapping

if TYPE_CHECKING:
    from collections.abc import Callable

Members: TypeAlias = Mapping[str, Any]
Content: TypeAlias = "tuple[str | MediaPart, ...]"


def read_media_part(kind: str, members: Members) -> Content:
    """Return the media of a part, and the texts that come with it.

    Raises:
        InputError: The part cannot be read.
    """
    return _READERS[kind](members)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _optional(value: object) -> str | None:
    return _text(value) or None


def _read_image_url(part: Members) -> Content:
    """Read ``image_url`` of Chat Completions, an object, or of Responses, a text."""
    value = part.get("image_url")
    image = as_mapping(value) or {"url": value, "detail": part.get("detail")}
    detail = _optional(image.get("detail"))
    if _text(part.get("file_id")):
        return (MediaPart(Medium.IMAGE, file_id=part["file_id"], detail=detail),)
    return (_url_part(Medium.IMAGE, image.get("url"), detail=detail),)


def _url_part(medium: Medium, url: object, media_type: str = "", *, detail: str | None = None) -> MediaPart:
    if not isinstance(url, str) or not is_url(url):
        raise InputError("The part has no URL.", hint=_class_hint(medium))
    return make_url_part(medium, url, media_type, detail=detail)


def _class_hint(medium: Medium) -> str:
    return f"Put {CLASS_NAMES[medium]}(...) of emitter.media in its place."


def _read_file(part: Members) -> Content:
    """Read ``file`` of Chat Completions, which is an object, or ``input_file`` of Responses, which is not nested."""
    file = as_mapping(part.get("file")) or part
    name, data = _optional(file.get("filename")), file.get("file_data")
    if _text(file.get("file_id")):
        return (MediaPart(Medium.DOCUMENT, file_id=file["file_id"], name=name),)
    if _text(file.get("file_url")):
        return (_url_part(Medium.DOCUMENT, file["file_url"]),)
    if not isinstance(data, str) or not data:
        raise InputError("The part has neither file_data, file_url nor file_id.", hint=_class_hint(Medium.DOCUMENT))
    if is_data_url(data) or is_url(data):
        return (make_url_part(Medium.DOCUMENT, data, name=name),)
    return (make_part(Medium.DOCUMENT, decode_base64(data), name=name),)


def _read_input_audio(part: Members) -> Content:
    audio = as_mapping(part.get("input_audio"))
    data, form = audio.get("data"), _text(audio.get("format"))
    if not isinstance(data, str):
        raise InputError("The part has no audio data.", hint=_class_hint(Medium.AUDIO))
    return (make_part(Medium.AUDIO, decode_base64(data), f"audio/{form}" if form else ""),)


def _read_image(part: Members) -> Content:
    """Read ``image`` of Anthropic, Converse or Interactions."""
    return _read_other(Medium.IMAGE, part) or (_read_source(Medium.IMAGE, as_mapping(part.get("source"))),)


def _read_audio(part: Members) -> Content:
    """Read ``audio`` of Converse or of Interactions."""
    audio = _read_other(Medium.AUDIO, part)
    if audio is None:
        raise InputError("The part has neither data, a URI nor a source.", hint=_class_hint(Medium.AUDIO))
    return audio


def _read_other(medium: Medium, part: Members) -> Content | None:
    """Read a part of Converse or of Interactions. Returns None for a part of another API."""
    if "source" in part:
        return None if "type" in part else _read_converse(medium, part)
    media_type, data, uri = _text(part.get("mime_type")), part.get("data"), part.get("uri")
    if isinstance(data, str) and data:
        return (make_part(medium, decode_base64(data), media_type),)
    return None if uri is None else (_url_part(medium, uri, media_type),)


_FAMILIES = {Medium.IMAGE: "image/", Medium.DOCUMENT: "application/", Medium.AUDIO: "audio/"}
_TEXT_FORMATS = frozenset({"csv", "html", "md", "txt"})
"""The formats of Converse for documents whose bytes are text."""


def _read_converse(medium: Medium, part: Members) -> Content:
    """Read a part of Converse, whose document may be text."""
    source, form, name = as_mapping(part.get("source")), _text(part.get("format")), _optional(part.get("name"))
    data, address, context = source.get("bytes"), as_mapping(source.get("s3Location")), _text(part.get("context"))
    content = decode_base64(data) if isinstance(data, str) else data
    if isinstance(content, bytes) and form in _TEXT_FORMATS:
        source = {"text": content.decode("utf-8", "replace")}
    texts = [source.get("text"), *(as_mapping(block).get("text") for block in as_list(source.get("content")))]
    if any(texts):
        return tuple(text for text in (name, context, *map(_text, texts)) if text)
    media_type = normalize_media_type(_FAMILIES[medium] + form) if form else ""
    if isinstance(content, bytes):
        read = make_part(medium, content, media_type, name=name)
    elif _text(address.get("uri")):
        read = MediaPart(medium, media_type, file_id=address["uri"], name=name)
    else:
        raise InputError("The part has no source of bytes, text or s3Location.")
    return (read, context) if context else (read,)


def _read_source(medium: Medium, source: Members, name: str | None = None) -> MediaPart:
    """Read the source of an image or document of Anthropic."""
    match source.get("type"):
        case "base64" if isinstance(source.get("data"), str):
            return make_part(medium, decode_base64(source["data"]), _text(source.get("media_type")), name=name)
        case "url":
            return _url_part(medium, source.get("url"))
        case "file" if _text(source.get("file_id")):
            return MediaPart(medium, file_id=source["file_id"], name=name)
        case _:
            raise InputError("The part has no source of type base64, url or file.", hint=_class_hint(medium))


def _read_document(part: Members) -> Content:
    """Read ``document`` of Anthropic, Converse or Interactions. At the first two it may be text."""
    other = _read_other(Medium.DOCUMENT, part)
    if other is not None:
        return other
    source, title, context = as_mapping(part.get("source")), _optional(part.get("title")), _text(part.get("context"))
    texts = tuple(text for text in (title, context) if text)
    if source.get("type") == "text":
        return (*texts, _text(source.get("data")))
    if source.get("type") == "content":
        blocks = source.get("content")
        return (*texts, *(_read_blocks(blocks) if not isinstance(blocks, str) else (blocks,)))
    document = _read_source(Medium.DOCUMENT, source, title)
    return (document, context) if context else (document,)


def _read_blocks(blocks: object) -> Content:
    parts: list[str | MediaPart] = []
    for block in map(as_mapping, as_list(blocks)):
        if block.get("type") == "text":
            parts.append(_text(block.get("text")))
        elif block.get("type") == "image":
            parts.extend(_read_image(block))
        else:
            raise InputError(f"The document contains a part of type {block.get('type')!r}.")
    return tuple(parts)


def _member(members: Members, name: str) -> Any:
    """Return a member by its JSON name or its protobuf name."""
    first, *others = name.split("_")
    return members.get(name, members.get(first + "".join(map(str.capitalize, others))))


def _read_inline_data(blob: Members) -> Content:
    media_type, data = normalize_media_type(_text(_member(blob, "mime_type"))), blob.get("data")
    if not isinstance(data, str | bytes) or not data:
        raise InputError("The part has no data.")
    content = decode_base64(data) if isinstance(data, str) else data
    return (make_part(_medium(media_type), content, media_type, name=_optional(_member(blob, "display_name"))),)


def _read_file_data(file: Members) -> Content:
    """Read a file by its URI, either uploaded to Google or anywhere on the web."""
    media_type, uri = normalize_media_type(_text(_member(file, "mime_type"))), _text(_member(file, "file_uri"))
    if not uri:
        raise InputError("The part has no file_uri.")
    return (_url_part(_medium(media_type), uri, media_type),)


def _medium(media_type: str) -> Medium:
    medium = medium_of(media_type)
    if medium is None:
        raise InputError(
            f"The part has the media type {media_type!r}.", hint="Images, PDF documents and audio can be sent."
        )
    return medium


_READERS: Mapping[str, Callable[[Members], Content]] = {
    "image_url": _read_image_url,
    "input_image": _read_image_url,
    "file": _read_file,
    "input_file": _read_file,
    "input_audio": _read_input_audio,
    "audio": _read_audio,
    "image": _read_image,
    "document": _read_document,
    "inline_data": _read_inline_data,
    "file_data": _read_file_data,
}
MEDIA_KINDS = frozenset(_READERS)
"""The kinds of parts that ``read_media_part`` reads."""
