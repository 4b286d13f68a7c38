"""What a server offers: lists read page by page within caps, tools checked one by one so that a bad one goes alone."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from naru.connections.rules.guard import Guard
from naru.connections.session.options import RequestOptions
from naru.connections.session.session import Session
from naru.connections.state.settings import ConnectionSettings
from naru.connections.wire.protocol import Era, parameter_headers
from naru.connections.wire.soundness import is_sound, sound_item, sound_schema
from naru.errors import NaruError
from naru.messages import Json, JsonObject, ToolDefinition
from naru.records import ServerRecord

LIST_METHODS = {
    "tools": ("tools/list", "tools", "tools"),
    "prompts": ("prompts/list", "prompts", "prompts"),
    "resources": ("resources/list", "resources", "resources"),
    "templates": ("resources/templates/list", "resourceTemplates", "resources"),
}
"""Kind → method, key of the result, capability that must be declared."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One list as the server sent it."""

    items: Sequence[JsonObject] = ()
    warning: str = ""
    """Why it is not the whole list; empty when it is (R-20)."""


@dataclass(frozen=True, slots=True)
class ToolCatalogue:
    """A server's tools: as sent, and as Naru offers them."""

    raw: Sequence[JsonObject] = ()
    """As sent, unknown keys kept, unusable ones left out."""
    definitions: Sequence[ToolDefinition] = ()
    headers: Mapping[str, Mapping[tuple[str, ...], str]] = field(default_factory=dict)
    """Tool → parameters that a modern HTTP server wants repeated as headers."""
    tasks: frozenset[str] = frozenset()
    """Tools that run as tasks alone."""
    warnings: Sequence[str] = ()
    """Tools set aside and why, and cut lists (N6)."""

    def __contains__(self, name: object) -> bool:
        return any(definition.name == name for definition in self.definitions)


async def read_list(session: Session, kind: str, settings: ConnectionSettings) -> Listing:
    """Read one list to its end, its cap or its circle; nothing when the server does not declare it (a06).

    Raises:
        RpcError: the server refused the first page.
        LinkError: it did not answer.
    """
    method, key, capability = LIST_METHODS[kind]
    if capability not in session.capabilities:
        return Listing((), "It does not declare tools, so it is not asked for any.") if kind == "tools" else Listing()
    options = RequestOptions(timeout_seconds=settings.list_timeout_seconds)
    items: list[JsonObject] = []
    seen: set[str | int] = set()  # some servers count pages instead of naming them
    cursor: Json = None
    for _ in range(settings.max_pages):
        page = await session.request(method, None if cursor is None else {"cursor": cursor}, options)
        found = page.get(key)
        if not isinstance(found, list):
            return Listing(items, f"It lists no {key}: {method} gave something else.")
        given = [item for item in found if isinstance(item, dict)]
        # Tools are looked at one by one.
        items += given if kind == "tools" else [sound_item(kind, item) for item in given if is_sound(kind, item)]
        if len(items) > settings.max_items:
            return Listing(items[: settings.max_items], f"{method} was cut at {settings.max_items} items.")
        cursor = page.get("nextCursor")
        if not cursor or not isinstance(cursor, str | int):
            return Listing(items)
        if cursor in seen:
            return Listing(items, f"{method} goes in circles: the cursor {str(cursor)[:80]!r} came twice.")
        seen.add(cursor)
    return Listing(items, f"{method} was cut after {settings.max_pages} pages.")


def read_tools(listing: Listing, server: str, era: Era) -> ToolCatalogue:
    """Check tools one by one."""
    raw: list[JsonObject] = []
    definitions: list[ToolDefinition] = []
    headers: dict[str, Mapping[tuple[str, ...], str]] = {}
    warnings = [listing.warning] if listing.warning else []
    names: set[str] = set()
    for tool in listing.items:
        name = tool.get("name")
        problem = _problem(tool, names)
        wanted: Mapping[tuple[str, ...], str] = {}
        if not problem and era == "modern":
            wanted, problem = parameter_headers(tool.get("inputSchema") or {})
        if problem:
            warnings.append(f"tool {str(name)[:80]!r} is left out: {problem}.")
            continue
        assert isinstance(name, str)
        names.add(name)
        sound = sound_item("tools", tool)
        if sound is not tool:
            warnings.append(f"tool {name[:80]!r} is offered with what the protocol wants and its definition lacks.")
            tool = sound
        raw.append(tool)
        definitions.append(define(tool, server))
        if wanted:
            headers[name] = wanted
    tasks = frozenset(tool["name"] for tool in raw if era == "legacy" and _runs_as_task_alone(tool))
    return ToolCatalogue(raw, definitions, headers, tasks, warnings)


async def noted(listing: Listing, record: ServerRecord, era: Era, guard: Guard) -> ToolCatalogue:
    """Check tools one by one, and have what is new of them written down before anybody can ask for them."""
    tools = read_tools(listing, record.name, era)
    with contextlib.suppress(NaruError):  # whoever asks for them is told
        await guard.note(record, tools.definitions)
    return tools


def _runs_as_task_alone(tool: JsonObject) -> bool:
    execution = tool.get("execution")
    return isinstance(execution, dict) and execution.get("taskSupport") == "required"


def _problem(tool: JsonObject, names: set[str]) -> str:
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        return "it has no name"
    if name in names:
        return "another tool of this server has the same name"
    if not isinstance(tool.get("inputSchema", {}), dict | type(None)):
        return "its inputSchema is not an object"
    return ""


def define(tool: JsonObject, server: str) -> ToolDefinition:
    """Return a raw tool as Naru offers it."""
    annotations = tool.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    meta, output = tool.get("_meta"), tool.get("outputSchema")
    return ToolDefinition(
        name=tool["name"],
        description=str(tool.get("description") or ""),
        input_schema=sound_schema(tool.get("inputSchema")),
        output_schema=output if isinstance(output, dict) else None,
        title=str(tool.get("title") or annotations.get("title") or ""),
        annotations=annotations,
        meta=meta if isinstance(meta, dict) else {},
        server=server,
    )
