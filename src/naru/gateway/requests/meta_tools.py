"""Three stable tools instead of hundreds: search, describe, call. The same list for every session."""

from __future__ import annotations

import orjson

from naru.encoding import encode
from naru.gateway.requests import calls
from naru.gateway.requests.core import Core
from naru.gateway.requests.results import finish
from naru.gateway.sessions.exchange import Exchange
from naru.gateway.view import View
from naru.gateway.wire.protocol import INVALID_PARAMS, RpcError
from naru.messages import JsonObject

SEARCH, DESCRIBE, CALL = "search_tools", "describe_tool", "call_tool"
MAX_FOUND = 20
MAX_QUERY = 500
"""Characters of a query that are looked at: a few words are asked for, and each is looked for in every tool."""


def _schema(properties: JsonObject, required: list[str]) -> JsonObject:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


DEFINITIONS: list[JsonObject] = [
    {
        "name": SEARCH,
        "description": "Find tools by what they do. Returns names with a line each; then describe one, then call it.",
        "inputSchema": _schema(
            {
                "query": {"type": "string", "description": "What is to be done, in a few words"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_FOUND, "default": 8},
            },
            ["query"],
        ),
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": DESCRIBE,
        "description": "Show a tool's full description and the JSON Schema of its arguments.",
        "inputSchema": _schema({"name": {"type": "string", "description": "Name as search_tools gave it"}}, ["name"]),
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": CALL,
        "description": "Call a tool found with search_tools.",
        "inputSchema": _schema(
            {
                "name": {"type": "string", "description": "Name as search_tools gave it"},
                "arguments": {"type": "object", "description": "Arguments that fit the tool's schema"},
            },
            ["name"],
        ),
    },
]


class SearchTools:
    """Search, describe and call over a view's tools."""

    definitions = DEFINITIONS

    def has(self, name: str) -> bool:
        """Tell whether it is a meta-tool."""
        return name in (SEARCH, DESCRIBE, CALL)

    async def call(self, core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
        """Answer a call of a meta-tool."""
        arguments = params.get("arguments") or {}
        if params["name"] == CALL:
            inner = arguments.get("arguments") or {}
            exchange.headers = None  # they repeat the arguments of this tool, and are none of the other's
            return await calls.call_tool(core, exchange, {**params, "name": arguments.get("name"), "arguments": inner})
        view = await core.catalog.view(exchange.view, ("tools",))
        result = self._search(view, arguments) if params["name"] == SEARCH else self._describe(view, arguments)
        return finish(result, exchange, "tools/call")

    @staticmethod
    def _search(view: View, arguments: JsonObject) -> JsonObject:
        query, limit = arguments.get("query"), arguments.get("limit", 8)
        if not isinstance(query, str) or not isinstance(limit, int):
            raise RpcError(INVALID_PARAMS, "search_tools needs a query.")
        wanted = set(query[:MAX_QUERY].lower().replace("_", " ").split())

        def score(item: JsonObject) -> int:
            text = f"{item['name']} {item.get('title', '')} {item.get('description', '')}".lower().replace("_", " ")
            return sum(word in text for word in wanted)

        scored = [(score(item), item) for item in view.lists["tools"]]
        best = sorted((each for each in scored if each[0]), key=lambda each: each[0], reverse=True)
        found = [item for _, item in best[: max(1, min(limit, MAX_FOUND))]]
        lines = [f"{item['name']}: {str(item.get('description', '')).split(chr(10))[0][:200]}" for item in found]
        text = "\n".join(lines) or f"No tool fits {query[:MAX_QUERY]!r}. Try other words."
        return {"content": [{"type": "text", "text": text}], "structuredContent": {"tools": [i["name"] for i in found]}}

    @staticmethod
    def _describe(view: View, arguments: JsonObject) -> JsonObject:
        name = arguments.get("name")
        for item in view.lists["tools"]:
            if item["name"] == name:
                text = encode(item, option=orjson.OPT_INDENT_2).decode()
                return {"content": [{"type": "text", "text": text}]}
        unknown = f"There is no tool {name!r}. Find names with {SEARCH}."
        return {"content": [{"type": "text", "text": unknown}], "isError": True}
