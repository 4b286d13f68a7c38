"""MCP's words as the gateway speaks them: versions, eras, error codes, `_meta` keys. No I/O and no state."""

from __future__ import annotations

from typing import Any, Final

from naru.messages import Json, JsonObject

LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions with an `initialize` handshake and sessions, oldest first."""
MODERN_VERSIONS: Final = ("2026-07-28",)
"""Stateless versions: every request says who asks in its `_meta`."""
BATCH_VERSIONS: Final = ("2024-11-05", "2025-03-26")
"""Versions in which a message may be a JSON-RPC batch; 2025-06-18 took it away."""
SINCE: Final = {
    "audio": "2025-03-26",
    "resumption": "2025-03-26",
    "resource_link": "2025-06-18",
    "priming": "2025-11-25",
    "url elicitation": "2025-11-25",
    "sampling tools": "2025-11-25",
}
"""What clients of older versions do not know, and some break over; later eras know all of it."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
RESOURCE_NOT_FOUND_LEGACY: Final = -32002
OVERLOADED: Final = -32000
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022
URL_ELICITATION: Final = -32042
"""How servers of 2025-11-25 say that a page must be visited first; retired in 2026-07-28."""

HTTP_STATUS: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    METHOD_NOT_FOUND: 404,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
}
"""HTTP status of an error in the modern era; anything else is 200, -32000 too, which servers use for what they like."""

PREFIX: Final = "io.modelcontextprotocol/"
META_VERSION: Final = PREFIX + "protocolVersion"
META_CAPABILITIES: Final = PREFIX + "clientCapabilities"
META_CLIENT: Final = PREFIX + "clientInfo"
META_SERVER: Final = PREFIX + "serverInfo"
META_LOG_LEVEL: Final = PREFIX + "logLevel"
META_SUBSCRIPTION: Final = PREFIX + "subscriptionId"
TASKS_EXTENSION: Final = PREFIX + "tasks"

NAME_KEYS: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""Method → the parameter that the `Mcp-Name` header repeats."""

LOG_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

ASK_CAPABILITY: Final = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
"""What a server may ask of a client, and the capability that the client must have declared for it."""


class RpcError(Exception):
    """A JSON-RPC error, as it goes over the wire; made and read at the gateway's edges only."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def to_json(self) -> JsonObject:
        """Return the `error` member."""
        error: JsonObject = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


def has(version: str, feature: str) -> bool:
    """Tell whether a version knows a feature; what is in no table it does."""
    return version >= SINCE.get(feature, "")


def negotiate(requested: Any) -> str:
    """Return the version to answer `initialize` with: the client's when known, else our newest with a handshake."""
    return requested if requested in LEGACY_VERSIONS else LEGACY_VERSIONS[-1]


def meta_of(message: JsonObject) -> JsonObject:
    """Return the `_meta` of a request, or an empty object."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def is_modern(message: JsonObject) -> bool:
    """Tell whether a message speaks the stateless era: its `_meta` names a version."""
    return META_VERSION in meta_of(message)


def log_passes(level: Any, least: str) -> bool:
    """Tell whether a log message of `level` is at least as severe as `least`; unknown levels pass."""
    if level not in LOG_LEVELS or least not in LOG_LEVELS:
        return True
    return LOG_LEVELS.index(level) >= LOG_LEVELS.index(least)
