"""`naru tools`: what the hub offers. The hub that runs is asked; where none does, its servers are connected."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from typing import Annotated

import typer

from naru.agent.selection import ToolIndex
from naru.cli.options import Config, settings_from
from naru.cli.running_hub import RunningHub
from naru.cli.terminal import AsJson, plain, print_json, print_note, print_table, print_warnings
from naru.config import Settings
from naru.errors import NotFoundError
from naru.messages import JsonObject, ToolDefinition

app = typer.Typer(
    add_completion=False, help="List, search and show the hub's tools.", no_args_is_help=True, rich_markup_mode=None
)

CONNECT_SECONDS = 30.0


@app.command("list")
def list_tools(
    server: Annotated[str, typer.Option("--server", "-s", help="Only this server's.")] = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List all tools that can be called now, under the names that models see."""
    found = [tool for tool in _tools(settings_from(config)) if not server or tool.server == server]
    _print(found, as_json=as_json)


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="What you want to do, in English or Korean.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 10,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Find tools by what they are for, best first; the hub chooses the same way for a small model."""
    ranked = ToolIndex(_tools(settings_from(config))).rank(question)
    _print([one.tool for one in ranked if one.score > 0][:limit], as_json=as_json)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="Its name, as `naru tools list` shows it.")],
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show a tool's description and parameters."""
    found = next((tool for tool in _tools(settings_from(config)) if tool.name == name), None)
    if found is None:
        raise NotFoundError(f"No tool named {name!r} is offered.", remedy="See: naru tools list")
    if as_json:
        print_json(_data(found))
        return
    print(f"{plain(found.name)}\n{plain(found.description)}".rstrip())
    required = found.input_schema.get("required") or []
    rows = [
        (
            f"  {key}{'' if key in required else '?'}",
            _type(schema),
            schema.get("description", "") if isinstance(schema, dict) else "",
        )
        for key, schema in (found.input_schema.get("properties") or {}).items()
    ]
    print_table(("  parameter", "type", "what it is"), rows)


def _print(tools: Sequence[ToolDefinition], *, as_json: bool) -> None:
    if as_json:
        print_json([_data(tool) for tool in tools])
        return
    print_table(("tool", "server", "what it does"), [(tool.name, tool.server, _first_line(tool)) for tool in tools])
    if not tools:
        print_note("No tool was found.")


def _tools(settings: Settings) -> Sequence[ToolDefinition]:
    hub = RunningHub(settings)
    if hub.answers():
        return [
            ToolDefinition(one["name"], one["description"], one["inputSchema"], server=one["server"])
            for one in hub.ask("/api/tools")["tools"]
        ]
    return asyncio.run(_connect(settings))


async def _connect(settings: Settings) -> Sequence[ToolDefinition]:
    """Connect the registered servers for this one question."""
    hub = importlib.import_module("naru.hub")  # heavy, and not needed beside a running hub
    async with hub.open_servers(settings) as manager:
        await manager.started(CONNECT_SECONDS)
        offered = hub.HubToolset(manager, manager.toolsets)
        tools: Sequence[ToolDefinition] = await offered.tools()
        print_warnings(offered.problems())
        return tools


def _data(tool: ToolDefinition) -> JsonObject:
    return {
        "name": tool.name,
        "server": tool.server,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    }


def _first_line(tool: ToolDefinition) -> str:
    lines = tool.description.strip().splitlines()
    return lines[0] if lines else ""


def _type(schema: object) -> str:
    if not isinstance(schema, dict):
        return "any"
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = schema.get("type", "any")
    return " | ".join(kind) if isinstance(kind, list) else str(kind)
