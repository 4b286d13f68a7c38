"""Typed content that a tool may return beside text: images, audio, files (H6)."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path

from naru.errors import ToolError
from naru.messages import AudioPart, ImagePart, ResourcePart

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "",  # WebP or WAV: told apart below
    b"ID3": "audio/mpeg",
    b"OggS": "audio/ogg",
    b"fLaC": "audio/flac",
}


def image(source: bytes | Path, *, mime_type: str = "") -> ImagePart:
    """Return an image as content; its type is seen from the bytes or the file's name when it is not given.

    Raises:
        ToolError: the file cannot be read, or it is no image that is known.
    """
    data, found = _read(source, mime_type)
    if not found.startswith("image/"):
        raise ToolError(f"image content of type {found or 'unknown'} is no image.", remedy="Give mime_type.")
    return ImagePart(found, base64.b64encode(data).decode())


def audio(source: bytes | Path, *, mime_type: str = "") -> AudioPart:
    """Return audio as content; its type is seen from the bytes or the file's name when it is not given.

    Raises:
        ToolError: the file cannot be read, or it is no audio that is known.
    """
    data, found = _read(source, mime_type)
    if not found.startswith("audio/"):
        raise ToolError(f"audio content of type {found or 'unknown'} is no audio.", remedy="Give mime_type.")
    return AudioPart(found, base64.b64encode(data).decode())


def file(path: Path, *, mime_type: str = "") -> ResourcePart:
    """Return a file as content: text where it is UTF-8 and says so, else base64.

    Raises:
        ToolError: it cannot be read.
    """
    data, found = _read(path, mime_type)
    uri = path.resolve().as_uri()
    if found.startswith("text/") or found in ("application/json", "application/xml", ""):
        try:
            return ResourcePart(uri, found or "text/plain", text=data.decode("utf-8"))
        except UnicodeDecodeError:
            found = found or "application/octet-stream"
    return ResourcePart(uri, found, blob=base64.b64encode(data).decode())


def _read(source: bytes | Path, mime_type: str) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        return source, mime_type or _seen(source)
    try:
        data = source.read_bytes()
    except OSError as error:
        raise ToolError(f"reading {source.name} failed: {error.strerror or error}.") from error
    return data, mime_type or mimetypes.guess_type(source.name)[0] or _seen(data)


def _seen(data: bytes) -> str:
    for signature, mime_type in _SIGNATURES.items():
        if data.startswith(signature):
            return mime_type or {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(data[8:12], "")
    return ""
