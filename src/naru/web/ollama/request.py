"""Reads Ollama's requests for an answer: /api/chat and /api/generate."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from naru.facts import fact
from naru.messages import ChatRequest, Finish, JsonObject
from naru.models.asking.strategy import OF_OLLAMA
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.body import Kinds, check_kinds, flag, most_tokens, number, read_wanted, stop_texts, unread
from naru.web.face.reading.history import read_messages
from naru.web.face.reading.parts import content_of
from naru.web.face.reading.tools import read_tools
from naru.web.face.seam import Asked

LATEST = ":latest"
"""What Ollama's clients put after a name that has no tag."""
_SAMPLING = ("top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty")
_READ = frozenset({*_SAMPLING, "temperature", "num_predict", "stop"})
_TOP = frozenset(
    "model messages prompt system images suffix context raw template stream options keep_alive format think tools "
    "logprobs top_logprobs mcp_servers".split()
)
_NOT_KEPT = (0, "0", "0s", "0m")
"""Without turns or a prompt a request loads a model; to be kept so long it unloads it."""
_KINDS: Kinds = {
    **dict.fromkeys(("prompt", "system", "suffix", "template"), (str,)),
    **dict.fromkeys(("tools", "messages", "images", "context"), (list,)),
    "options": (dict,),
    "format": (str, dict),
    "raw": (bool,),
    "top_logprobs": (float,),
    "think": (bool, str),
    "keep_alive": (str, float),
}
_PICTURES = {"/9j/": "image/jpeg", "iVBOR": "image/png", "R0lG": "image/gif", "UklGR": "image/webp"}
"""How base64 of each kind begins."""


@fact(kw_only=True)
class OllamaCall(Asked):
    """A request as it was asked for."""

    generates: bool = False
    """It came by /api/generate."""
    thinks: bool = True
    """Thoughts are told."""


def read_call(body: JsonObject, headers: Mapping[bytes, bytes], *, generates: bool) -> OllamaCall:
    """Read a decoded request.

    Raises:
        BadRequestError: something in it cannot be taken; the message names it.
    """
    check_kinds(body, _KINDS)
    wanted = read_wanted(body, headers)
    if not wanted.shown:
        raise BadRequestError("model is required", param="model")
    options = body.get("options") or {}
    check_kinds(options, dict.fromkeys(_SAMPLING, (float,)), "options.")
    turns = _prompt(body) if generates else _turns(body.get("messages"))
    request = ChatRequest(
        model=wanted.model,
        messages=read_messages(turns) if turns else (),
        tools=() if generates else read_tools(body),
        temperature=number(options, "temperature"),
        max_tokens=_most_tokens(options),
        stop=stop_texts(options),
        extra=_extra(body, options),
        notes=unread(body, _TOP),
    )
    return OllamaCall(
        request=request,
        stream=body.get("stream") is None or flag(body, "stream"),
        servers=wanted.servers,
        model_shown=wanted.shown,
        answer=() if turns else (Finish("unload" if body.get("keep_alive") in _NOT_KEPT else "load"),),
        generates=generates,
        thinks=body.get("think") is not False,
    )


def _most_tokens(options: JsonObject) -> int | None:
    """Return a limit, if there is one; whatever is no number of tokens is none to Ollama."""
    return max(0, most_tokens(options, "num_predict", least=-sys.maxsize) or 0) or None


def _extra(body: JsonObject, options: JsonObject) -> JsonObject:
    """Return what the wires know by OpenAI's names."""
    extra: JsonObject = {name: options[name] for name in _SAMPLING if options.get(name) is not None}
    own = {name: value for name, value in options.items() if name not in _READ} | {"keep_alive": body.get("keep_alive")}
    if own := {name: value for name, value in own.items() if value is not None}:
        extra[OF_OLLAMA] = own
    form = body.get("format")
    if isinstance(form, dict):
        extra["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": form}}
    elif form == "json":
        extra["response_format"] = {"type": "json_object"}
    elif form:
        raise BadRequestError('format must be "json" or a JSON Schema.', param="format")
    if flag(body, "logprobs"):
        extra["logprobs"] = True
        if alternatives := number(body, "top_logprobs"):
            extra["top_logprobs"] = int(alternatives)
    if (think := body.get("think")) not in (None, ""):
        extra["reasoning_effort"] = {True: "medium", False: "none"}.get(think, think)
    return extra


def _prompt(body: JsonObject) -> list[JsonObject]:
    for name in ("suffix", "context", "raw", "template"):
        if body.get(name):
            raise BadRequestError(f"{name} is not possible here; use /api/chat with the turns.", param=name)
    if not body.get("prompt") and not body.get("images"):
        return []
    turns = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    return [
        *turns,
        _with_pictures({"role": "user", "content": body.get("prompt"), "images": body.get("images")}, "prompt"),
    ]


def _turns(raw: Any) -> list[Any]:
    if raw is None:
        return []
    if not isinstance(raw, list):
        raise BadRequestError("messages must be a list.", param="messages")
    turns: list[Any] = []
    for position, item in enumerate(raw):
        if not isinstance(item, dict):
            raise BadRequestError(f"messages[{position}] must be an object.", param=f"messages[{position}]")
        turn = _with_pictures(item, f"messages[{position}]")
        if item.get("thinking"):
            turn = {**turn, "reasoning_content": item["thinking"]}
        turns.append(turn)
    return turns


def _with_pictures(item: JsonObject, where: str) -> JsonObject:
    pictures = item.get("images")
    if not pictures:
        return {key: value for key, value in item.items() if key != "images"}
    if not isinstance(pictures, list) or not all(isinstance(one, str) for one in pictures):
        raise BadRequestError(f"{where}.images must be a list of base64 texts.", param=where)
    parts: list[JsonObject] = [{"type": "text", "text": item.get("content") or ""}]
    parts += [{"type": "image", **_picture(one)} for one in pictures]
    content_of(parts, where)
    return {**{key: value for key, value in item.items() if key != "images"}, "content": parts}


def _picture(sent: str) -> JsonObject:
    """Read a picture: its base64, or the whole URL that a browser makes of a file."""
    if sent.startswith("data:"):
        return {"url": sent}
    return {
        "data": sent,
        "mimeType": next((kind for at, kind in _PICTURES.items() if sent.startswith(at)), "image/png"),
    }
