"""The body of a request before any API's form: its JSON, its flags and numbers, the hub's servers that it asks for."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from naru import encoding
from naru.facts import fact
from naru.messages import JsonObject
from naru.models.transport.json_text import mended
from naru.web.face.errors import BadRequestError
from naru.web.face.names import HUB_TOOLS_SUFFIX

_REFUSED = frozenset("api_base base_url api_key extra_headers user_config custom_llm_provider".split())
"""Where the request goes and with which key is Naru's own matter (SECURITY S-65)."""


@fact()
class Wanted:
    """Which model a request asks for, and which servers' tools with it."""

    model: str
    shown: str
    """As the client wrote it."""
    servers: tuple[str, ...] | None
    """Servers whose tools Naru shall run; empty means all of them, None none."""


def decode_body(body: bytes) -> JsonObject:
    """Decode the request's body.

    Raises:
        BadRequestError: it is not a JSON object.
    """
    try:
        value = encoding.decode(body)
    except orjson.JSONDecodeError:
        value = _decode_leniently(body)
    if not isinstance(value, dict):
        raise BadRequestError(f"The body must be a JSON object, not {type(value).__name__}.")
    return value


def _decode_leniently(body: bytes) -> Any:
    """Take what orjson refuses and clients write: lone surrogates (they become U+FFFD)."""
    if body.startswith(b"\x1f\x8b"):
        raise BadRequestError("The body is compressed (gzip), which is not read here; send the JSON as it is.")
    try:
        return mended(json.loads(body, parse_constant=_refuse_constant, parse_float=_finite))
    except RecursionError:
        raise BadRequestError("The body is nested too deeply.") from None
    except ValueError as error:
        raise BadRequestError(f"The body is not JSON: {error}.") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:20]} is too large")
    return value


def read_wanted(body: JsonObject, headers: Mapping[bytes, bytes]) -> Wanted:
    """Read the model's name with its suffix, and `mcp_servers` or its header.

    Raises:
        BadRequestError: one of them is in no form, or the body says where the request shall go (S-65).
    """
    check_routing(body)
    shown = body.get("model")
    if shown is None:
        shown = ""
    if not isinstance(shown, str):
        raise BadRequestError("model must be a string.", param="model")
    servers = _servers(body, headers)
    model = shown
    if model.endswith(HUB_TOOLS_SUFFIX):
        model = model.removesuffix(HUB_TOOLS_SUFFIX)
        servers = () if servers is None else servers
    return Wanted(model, shown, servers)


def check_routing(body: JsonObject) -> None:
    """Refuse a body that says where the request shall go, or with which key (S-65).

    Raises:
        BadRequestError: it does; the message names the field.
    """
    for key in _REFUSED & body.keys():
        raise BadRequestError(f"{key} cannot be set by a request; it is a setting of this server.", param=key)


def _servers(body: JsonObject, headers: Mapping[bytes, bytes]) -> tuple[str, ...] | None:
    asked: Any = body.get("mcp_servers")
    if asked is None:
        line = headers.get(b"x-mcp-servers", b"").decode("latin-1")
        asked = [name.strip() for name in line.split(",") if name.strip()] or None
    if asked is None or asked is False:
        return None
    if asked is True or asked == "all" or asked == ["all"]:
        return ()
    if isinstance(asked, str):
        asked = [asked]
    if not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise BadRequestError('mcp_servers must be "all" or a list of server names.', param="mcp_servers")
    return tuple(asked) if asked else None


_SAID: Mapping[type, str] = {bool: "true or false", float: "a number", str: "text", list: "a list", dict: "an object"}
_SAY_NOTHING: Sequence[Any] = (None, False, "", [], {})
Kinds = Mapping[str, tuple[type, ...]]
"""Fields and what each may be: of `_SAID`."""


def check_kinds(body: JsonObject, kinds: Kinds, within: str = "") -> None:
    """Refuse a field that is of no kind that its API gives it: read as nothing, it would be lost without a word.

    Raises:
        BadRequestError: names the first one.
    """
    for name in kinds.keys() & body.keys():
        value, allowed = body[name], kinds[name]
        if value is not None and _kind(value) not in allowed:
            wanted = " or ".join(_SAID[kind] for kind in allowed)
            raise BadRequestError(f"{within}{name} must be {wanted}.", param=within + name)


def check_word(body: JsonObject, name: str, words: Sequence[str], within: str = "") -> None:
    """Refuse a field that says something else than its API's words.

    Raises:
        BadRequestError: names it, and them.
    """
    if (value := body.get(name)) is not None and value not in words:
        raise BadRequestError(f"{within}{name} must be one of {', '.join(words)}.", param=within + name)


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def unread(body: JsonObject, read: Collection[str]) -> tuple[str, ...]:
    """Say which fields of a request are not read: a 200 shall not look as if they had been kept."""
    left = sorted(name for name, value in body.items() if name not in read and value not in _SAY_NOTHING)
    return (f"{', '.join(left)}: not read here, and left out",) if left else ()


def check_form(form: Any, where: str, *, inner: str = "") -> None:
    """Refuse a form of the answer that says `json_schema` and has none; `inner` is where the API puts it.

    Raises:
        BadRequestError: names the place.
    """
    if form is None:
        return
    if not isinstance(form, dict) or not isinstance(form.get("type"), str):
        raise BadRequestError(f"{where} must be an object with a type.", param=where)
    held, named = (form.get(inner), f"{where}.{inner}") if inner else (form, where)
    if form["type"] == "json_schema" and not (isinstance(held, dict) and isinstance(held.get("schema"), dict)):
        raise BadRequestError(f"{named}.schema must be a JSON Schema.", param=f"{named}.schema")


def flag(body: JsonObject, key: str) -> bool:
    """Return a switch; false where there is none."""
    value = body.get(key)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise BadRequestError(f"{key} must be true or false.", param=key)


def number(body: JsonObject, key: str) -> float | None:
    """Return a number, if there is one."""
    value = body.get(key)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise BadRequestError(f"{key} must be a number.", param=key)


def most_tokens(body: JsonObject, key: str, *, least: int = 1, endless: int | None = None) -> int | None:
    """Return a limit of tokens, if there is one; `endless` is the number that means none in this API."""
    value = number(body, key)
    if value is None or value == endless:
        return None
    if value != int(value):
        raise BadRequestError(f"{key} must be a whole number.", param=key)
    if value < least:
        raise BadRequestError(f"{key} must be at least {least}, not {int(value)}.", param=key)
    return int(value)


def stop_texts(body: JsonObject, key: str = "stop") -> Sequence[str]:
    """Return the texts that end an answer."""
    stop = body.get(key)
    if stop is None:
        return ()
    stops = [stop] if isinstance(stop, str) else stop
    if isinstance(stops, list) and all(isinstance(item, str | None) for item in stops):
        return tuple(filter(None, stops))  # Engines stop at once where an empty text is.
    raise BadRequestError(f"{key} must be a string or a list of strings.", param=key)
