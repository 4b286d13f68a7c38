"""Gives a server's result the form that the client's protocol version knows; unknown keys pass untouched."""

from __future__ import annotations

from naru.gateway.sessions.exchange import Exchange
from naru.gateway.wire.protocol import LEGACY_VERSIONS, META_SERVER, has
from naru.messages import JsonObject


def finish(result: JsonObject, exchange: Exchange, method: str) -> JsonObject:
    """Return a result as this client expects it."""
    return _modern(result, exchange.server_info, method) if exchange.modern else _legacy(result, exchange.version)


def _modern(result: JsonObject, server_info: JsonObject, method: str) -> JsonObject:
    finished = {"resultType": "complete", **result}
    meta = result.get("_meta")
    finished["_meta"] = {**(meta if isinstance(meta, dict) else {}), META_SERVER: server_info}
    if method == "resources/read" and finished["resultType"] == "complete":
        finished.setdefault("ttlMs", 0)
        # A shared cache must not hold what was read with one caller's rights (S-18).
        finished["cacheScope"] = finished.get("cacheScope") if finished.get("cacheScope") == "public" else "private"
    return finished


def _legacy(result: JsonObject, version: str) -> JsonObject:
    finished, said = result, result.get("_meta")
    said = said if isinstance(said, dict) else {}
    if "resultType" in result or META_SERVER in said:
        finished = {key: value for key, value in result.items() if key not in ("resultType", "ttlMs", "cacheScope")}
        meta = {key: value for key, value in said.items() if key != META_SERVER}
        finished.pop("_meta", None)
        if meta:
            finished["_meta"] = meta
    if not isinstance(finished.get("structuredContent", {}), dict):  # any value only since 2026-07-28
        finished = {key: value for key, value in finished.items() if key != "structuredContent"}
    content = finished.get("content")
    if isinstance(content, list) and version != LEGACY_VERSIONS[-1]:
        finished = {**finished, "content": [_downgraded(part, version) for part in content]}
    return finished


def _downgraded(part: object, version: str) -> object:
    """Replace a part that the version does not know by its placeholder (H6)."""
    if not isinstance(part, dict) or has(version, str(part.get("type"))):
        return part
    label = f"[Audio: {part.get('mimeType')}]" if part["type"] == "audio" else f"[Resource: {part.get('uri')}]"
    return {"type": "text", "text": label}
