"""The OpenAPI document, made from the route table: every row, its role, its docstring; schemas where a row has one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru import __version__
from naru.messages import JsonObject
from naru.web.admin import wire
from naru.web.admin.approvals import AnswerBody
from naru.web.admin.keys import KeyBody
from naru.web.jsonrpc.servers import AddBody, RemoveBody
from naru.web.routes import ROLE_NAMES, Access, Endpoint

_ONE = "/api/mcp/servers/{name}"
BODIES: dict[tuple[str, str], type[BaseModel]] = {
    ("POST", "/api/mcp/servers"): wire.ServerBody,
    ("PUT", _ONE): wire.ServerChange,
    ("PATCH", _ONE): wire.ServerChange,
    ("POST", _ONE + "/approve"): wire.ToolNames,
    ("POST", "/mcp/add"): AddBody,
    ("DELETE", "/mcp/remove"): RemoveBody,
    ("POST", "/mcp/remove"): RemoveBody,
    ("POST", "/api/keys"): KeyBody,
    ("POST", "/api/approvals/{id}"): AnswerBody,
}
ANSWERS: dict[tuple[str, str], type[BaseModel]] = {
    ("POST", "/api/mcp/servers"): wire.ServerDetail,
    ("GET", _ONE): wire.ServerDetail,
    ("PUT", _ONE): wire.ServerDetail,
    ("PATCH", _ONE): wire.ServerDetail,
    ("POST", _ONE + "/connect"): wire.ServerDetail,
    ("POST", _ONE + "/disconnect"): wire.ServerDetail,
    ("POST", _ONE + "/refresh"): wire.ServerDetail,
    ("POST", _ONE + "/approve"): wire.ServerDetail,
    ("GET", _ONE + "/explanation"): wire.ServerExplanation,
}
LISTS: dict[tuple[str, str], type[BaseModel]] = {("GET", "/api/mcp/servers"): wire.ServerSummary}
CREATED = frozenset({("POST", "/api/mcp/servers"), ("POST", "/api/keys")})
EMPTY = frozenset(
    {
        ("DELETE", _ONE),
        ("DELETE", "/api/keys/{id}"),
        ("DELETE", "/api/approvals/standing/{id}"),
        ("DELETE", "/api/session"),
    }
)
PROBLEM: JsonObject = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "remedy": {"type": "string"},
    },
}
_REFERENCE = "#/components/schemas/{model}"


def endpoints(rows: Callable[[], Sequence[Endpoint]]) -> list[Endpoint]:
    """Return the row of the document; `rows` gives the whole route table when it is asked for."""

    async def openapi(request: Request) -> Response:
        """Describe every endpoint, in OpenAPI 3.1."""
        described = document([*(row for row in rows() if row.path != own.path), own])
        if root := request.scope.get("root_path"):
            described["servers"] = [{"url": root}]
        return JSONResponse(described)

    own = Endpoint("/openapi.json", ("GET",), openapi, Access.READ)
    return [own]


def document(rows: Sequence[Endpoint]) -> JsonObject:
    """Return the OpenAPI document of these rows."""
    models = sorted({*BODIES.values(), *ANSWERS.values(), *LISTS.values()}, key=lambda model: model.__name__)
    _, schemas = models_json_schema([(model, "validation") for model in models], ref_template=_REFERENCE)
    paths: dict[str, JsonObject] = {}
    for row in rows:
        path, parameters = _path(row.path)
        for method in row.methods:
            paths.setdefault(path, {})[method.lower()] = _operation(row, method, parameters)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Naru", "version": __version__, "license": {"name": "Apache-2.0"}},
        "paths": paths,
        "components": {
            "schemas": {**schemas.get("$defs", {}), "Problem": PROBLEM},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


def _path(path: str) -> tuple[str, list[JsonObject]]:
    names = re.findall(r"{(\w+)(?::\w+)?}", path)
    plain = re.sub(r"{(\w+):\w+}", r"{\1}", path)
    return plain, [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _operation(row: Endpoint, method: str, parameters: list[JsonObject]) -> JsonObject:
    place = (method, row.path)
    text = inspect.getdoc(row.handler) or row.path
    operation: JsonObject = {
        "summary": text.splitlines()[0].rstrip("."),
        "operationId": f"{method.lower()}_{re.sub(r'[^a-z0-9]+', '_', row.path.lower()).strip('_')}",
        "parameters": [*parameters, *_conditions(place)],
        "responses": _responses(place),
        "security": [] if row.access is Access.PUBLIC else [{"bearer": []}, {"key": []}],
        "x-role": ROLE_NAMES[row.access],
    }
    if place in BODIES:
        operation["requestBody"] = {
            "required": place[1] != _ONE + "/approve",
            "content": {"application/json": {"schema": _schema(BODIES[place])}},
        }
    return operation


def _conditions(place: tuple[str, str]) -> list[JsonObject]:
    if place[1] == _ONE and place[0] in ("PUT", "PATCH", "DELETE"):
        return [{"name": "If-Match", "in": "header", "required": False, "schema": {"type": "string"}}]
    return []


def _responses(place: tuple[str, str]) -> JsonObject:
    trouble = {"content": {"application/problem+json": {"schema": {"$ref": _REFERENCE.format(model="Problem")}}}}
    if place in EMPTY:
        return {"204": {"description": "Done"}, "default": {"description": "What went wrong", **trouble}}
    answered: JsonObject = {"description": "Done"}
    if place in ANSWERS:
        answered["content"] = {"application/json": {"schema": _schema(ANSWERS[place])}}
    elif place in LISTS:
        answered["content"] = {"application/json": {"schema": {"type": "array", "items": _schema(LISTS[place])}}}
    status = "201" if place in CREATED else "200"
    return {status: answered, "default": {"description": "What went wrong", **trouble}}


def _schema(model: type[BaseModel]) -> JsonObject:
    return {"$ref": _REFERENCE.format(model=model.__name__)}
