"""Reads the content of a turn: text, the parts of a chat completion, and blocks that clients of other APIs hold."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from naru.messages import AudioPart, ContentPart, ForeignPart, ImagePart, JsonObject, MediaPart, ResourcePart, TextPart
from naru.models.transport.json_text import encode
from naru.web.face.errors import BadRequestError

Item = Mapping[str, Any]
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/yaml")


def text_of(value: Any) -> str:
    """Return a value as text; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else str(value)


def content_of(value: Any, where: str, *, is_result: bool = False) -> str | tuple[ContentPart, ...]:
    """Read content; data that is no content, as tools give it, becomes its JSON. A person says no bare number.

    Raises:
        BadRequestError: a part cannot be read; the message names it.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    items = value if isinstance(value, list) else [value]
    if not is_result and any(isinstance(item, int | float) for item in items):
        raise BadRequestError(f"{where}.content must be text or a list of parts.", param=where)
    known = str | None if is_result else object  # rows of a result may have a `text` and a `type` of their own
    if not all(isinstance(item, str) or (isinstance(item, dict) and _is_part(item, known)) for item in items):
        return encode(value).decode()
    parts = [_part(item, f"{where}.content[{position}]") for position, item in enumerate(items)]
    if all(isinstance(part, TextPart) and part.cache is None for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, TextPart))
    return tuple(parts)


def _is_part(item: Item, text: Any) -> bool:
    kind = item.get("type")
    is_known = isinstance(item.get("text", ""), text) and isinstance(kind, text)
    return is_known and (isinstance(kind, str) or "text" in item)


def _part(item: Any, where: str) -> ContentPart:
    if isinstance(item, str):
        return TextPart(item)
    kind = item.get("type", "text")
    read = _READERS.get(kind) if isinstance(kind, str) else None
    part = read(item, where) if read is not None else _foreign(item, kind, where)
    if part is None:
        raise BadRequestError(f"{where} of type {kind!r} cannot be read.", param=where)
    if (cache := cache_of(item)) is not None and not isinstance(part, AudioPart | ForeignPart):
        return replace(part, cache=cache)
    return part


def cache_of(item: Item) -> JsonObject | None:
    """Return what an item says of caching all up to it, if anything."""
    cache = item.get("cache_control")
    return cache if isinstance(cache, dict) and isinstance(cache.get("type"), str) else None


def _text(item: Item, where: str) -> TextPart:
    if not isinstance(item.get("text"), str | None):
        raise BadRequestError(f"{where}.text must be text.", param=where)
    return TextPart(text_of(item.get("text")))


def _refusal(item: Item, where: str) -> TextPart:
    return TextPart(text_of(item.get("refusal")))


def _image_url(item: Item, where: str) -> ImagePart:
    _check_held(item, where)
    return _image(item.get("image_url"), item.get("detail"), where)


def _audio(item: Item, where: str) -> AudioPart | None:
    audio = item.get("input_audio")
    if isinstance(audio, dict) and isinstance(audio.get("data"), str):
        return AudioPart(f"audio/{audio.get('format', 'wav')}", audio["data"], where)
    return None


def _foreign(item: Item, kind: Any, where: str) -> ForeignPart | None:
    """Take a part that has its content under its own name, as all of this API have: `video_url`, `audio_url`."""
    if isinstance(kind, str) and isinstance(item.get(kind), dict):
        return ForeignPart(kind, dict(item), where)
    return None


def _file_part(item: Item, where: str) -> MediaPart | None:
    """Take a file: with its data, or as the endpoint knows it (by id, by URL)."""
    file = item.get("file", item)
    if not isinstance(file, dict):
        return None
    data = text_of(file.get("file_data"))
    if ";base64," in data:
        return _file(text_of(file.get("filename")) or "file", data, where)
    name = text_of(file.get("filename"))
    if data and (kind := mimetypes.guess_type(name)[0]):  # As bare base64, whose kind the name tells.
        return _file(name, f"data:{kind};base64,{data}", where)
    known = {name: file[name] for name in ("file_id", "file_data", "file_url", "filename") if file.get(name)}
    is_known = any(name != "filename" for name in known)
    return ForeignPart("file", {"type": "file", "file": known}, where) if is_known else None


def _resource(item: Item, where: str) -> ResourcePart | None:
    resource = item.get("resource")
    if not isinstance(resource, dict):
        return None
    text, blob = resource.get("text"), resource.get("blob")
    kind = text_of(resource.get("mimeType"))
    return ResourcePart(
        text_of(resource.get("uri")), kind, text_of(text) if text else None, text_of(blob) if blob else None, where
    )


def _image(value: Any, detail: Any, where: str) -> ImagePart:
    if isinstance(value, dict):
        value, detail = value.get("url"), value.get("detail", detail)
    url, looked = value, detail if isinstance(detail, str) else ""
    if not isinstance(url, str) or not url:
        raise BadRequestError(f"{where}.image_url has no url.", param=where)
    if url.startswith("data:") and ";base64," in url:
        head, data = url.split(";base64,", 1)
        return ImagePart(head.removeprefix("data:"), data=data, detail=looked, where=where)
    return ImagePart("", url=url, detail=looked, where=where)


def _image_block(item: Item, where: str) -> ImagePart:
    """Read Anthropic's block, MCP's, or the AI SDK's."""
    source = item.get("source")
    found = source if isinstance(source, dict) else item
    _check_held(found, where)
    kind = text_of(found.get("media_type") or found.get("mimeType") or found.get("mediaType"))
    if isinstance(data := found.get("data"), str) and data:
        return ImagePart(kind or "image/png", data=data, where=where)
    return _image(found.get("url") or found.get("image"), None, where)


def _document(item: Item, where: str) -> MediaPart | None:
    source, title = item.get("source"), text_of(item.get("title")) or "document"
    if not isinstance(source, dict):
        return None
    _check_held(source, where)
    kind, data = text_of(source.get("media_type")), text_of(source.get("data"))
    if source.get("type") == "text":
        return ResourcePart(title, kind or "text/plain", text=data)
    if "content" in source:
        return _written(title, source["content"], where)
    if data:
        return _file(title, f"data:{kind};base64,{data}", where)
    url = text_of(source.get("url"))
    return ForeignPart("file", {"type": "file", "file": {"filename": title, "file_data": url}}, where) if url else None


def _check_held(source: Item, where: str) -> None:
    """Refuse what is kept at the servers of one API, under an id."""
    if source.get("file_id"):
        said = f"{where} names a file by its id, which is kept at that API's own servers: send its data, or its URL."
        raise BadRequestError(said, param=where)


def _search_result(item: Item, where: str) -> ResourcePart | None:
    found = _written(text_of(item.get("source")), item.get("content"), where)
    return replace(found, text=f"{text_of(item['title'])}\n{found.text}") if found and item.get("title") else found


def _tool_reference(item: Item, where: str) -> TextPart:
    """Read what a client's own search of tools found: here a model is offered all of them, so their names will do."""
    return TextPart(f"[Tool: {text_of(item.get('tool_name'))}]")


def _written(name: str, content: Any, where: str) -> ResourcePart | None:
    """Return a document that stands in blocks of its own; only text can."""
    words = content_of(content, where)
    return ResourcePart(name, "text/plain", text=words) if isinstance(words, str) else None


def _file(name: str, data: str, where: str) -> ResourcePart:
    """Return a file: with its text, if it is one."""
    head, _, coded = data.rpartition(";base64,")
    kind = head.removeprefix("data:")
    if kind.startswith(_TEXT_TYPES):
        try:
            return ResourcePart(name, kind, text=base64.b64decode(coded, validate=True).decode())
        except ValueError:  # no base64, or bytes that are no text
            pass
    return ResourcePart(name, kind, blob=coded, where=where)


_READERS: Mapping[str, Callable[[Item, str], ContentPart | None]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "refusal": _refusal,
    "image_url": _image_url,
    "input_image": _image_url,
    "image": _image_block,
    "input_audio": _audio,
    "file": _file_part,
    "input_file": _file_part,
    "document": _document,
    "search_result": _search_result,
    "tool_reference": _tool_reference,
    "resource": _resource,
}
