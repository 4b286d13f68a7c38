"""`naru tools`: what the hub offers. The hub that runs is asked; where none does, its servers are connected."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from naru.agent.selection import ToolIndex
from naru.cli.options import Config, settings_from
from naru.cli.running_hub import SERVERS, RunningHub, server_path
from naru.cli.servers.stored import near, unregistered
from naru.cli.terminal.exit_codes import Exit
from naru.cli.terminal.output import AsJson, group, plain, print_json, print_note, print_table, print_warnings
from naru.cli.terminal.told_once import check_store, news_of, unreadable, unusable
from naru.cli.terminal.working import connected
from naru.config import Settings
from naru.errors import NotFoundError
from naru.messages import JsonObject, ToolDefinition

app = group("List, search and show the hub's tools.")

_FAILED = ("FAILED", "NEEDS_AUTH")
_AT_REST = ("PENDING", "DISCONNECTED", "DISABLED")


@app.command("list")
def list_tools(
    server: Annotated[str, typer.Option("--server", "-s", help="Only this server's.")] = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List all tools that can be called now. The names are those that models see."""
    offered = offered_tools(settings_from(config), server)
    _print(offered.tools, as_json=as_json)
    _end(offered)


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="What you want to do, in words of the tools.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 10,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Find tools by the words of what you want, best first. The hub goes by meaning as well."""
    offered = offered_tools(settings_from(config))
    ranked = ToolIndex(offered.tools).rank(question)
    found = [one.tool for one in ranked if one.score > 0][:limit]
    _print(found, as_json=as_json)
    if offered.tools and not found:
        print_note("No tool has to do with that. All of them: naru tools list")
    _end(offered)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="Its name, as `naru tools list` shows it.")],
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show a tool's description and parameters."""
    offered = offered_tools(settings_from(config))
    found = next((tool for tool in offered.tools if tool.name == name), None)
    of_that_name = [tool for tool in offered.tools if tool.name == f"{tool.server}__{name}"]
    if found is None and len(of_that_name) == 1:
        (found,) = of_that_name  # as `naru tool run` takes it
    if found is None:
        has_tools = {tool.server for tool in offered.tools}
        silent = [server for server in offered.servers if server not in has_tools and name.startswith(f"{server}__")]
        hint = f"Server {silent[0]} offers nothing now: naru servers explain {silent[0]}. " if silent else ""
        several = f"Say which: {', '.join(tool.name for tool in of_that_name)}. " if of_that_name else ""
        hint = hint or several or near(name, [tool.name for tool in offered.tools])
        raise NotFoundError(f"No tool named {name!r} is offered.", remedy=f"{hint}See: naru tools list")
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


def _end(offered: Offered) -> None:
    """Say why there is nothing; exit as unreachable when servers should offer something and none can be used."""
    if offered.tools:
        return
    if offered.unusable:
        print_note("No tool is offered: no server can be used. See: naru servers explain " + offered.unusable[0])
        raise typer.Exit(Exit.UNREACHABLE)
    if offered.is_unread and not offered.servers:
        print_note("No tool is offered: what is registered cannot be read. See: naru servers list")
        raise typer.Exit(Exit.NOT_WELL)
    if not offered.servers:
        print_note("No server is registered. Add one: naru servers add time -- uvx mcp-server-time")
        return
    why = f"not connected: {', '.join(offered.at_rest)}" if offered.at_rest else "no server has any"
    print_note(f"No tool is offered: {why}. See: naru servers list")


@dataclass(frozen=True, slots=True)
class Offered:
    """The tools that can be called now, of which servers, and those servers that cannot be used."""

    tools: Sequence[ToolDefinition]
    servers: Sequence[str]
    unusable: Sequence[str]
    at_rest: Sequence[str] = ()
    """Servers that nobody wants connected now."""
    is_unread: bool = False
    """Whether there are entries that cannot be read."""

    def only(self, server: str) -> Offered:
        """Return what there is of one server. Raises NotFoundError."""
        if server not in self.servers:
            raise unregistered(server, self.servers)
        tools = [tool for tool in self.tools if tool.server == server]
        unusable, at_rest = ([name for name in names if name == server] for names in (self.unusable, self.at_rest))
        return Offered(tools, [server], unusable, at_rest)


def offered_tools(settings: Settings, server: str = "") -> Offered:
    """Ask the hub that runs, or connect the servers; warn of each that cannot be used."""
    hub = RunningHub(settings)
    offered, problems = _of_hub(hub) if hub.answers() else asyncio.run(_connect(settings))
    shown = {name: what for name, what in problems.items() if name == server}
    shown = shown or ({} if server else news_of(problems, settings.hub.data_dir))
    print_warnings(f"{name}: {what}" for name, what in shown.items())
    return offered.only(server) if server else offered


def _of_hub(hub: RunningHub) -> tuple[Offered, dict[str, str]]:
    tools = [
        ToolDefinition(one["name"], one["description"], one["inputSchema"], server=one["server"])
        for one in hub.ask("/api/tools")["tools"]
    ]
    servers = hub.ask(SERVERS)
    failed = [one["name"] for one in servers if one["status"] in _FAILED]
    at_rest = [one["name"] for one in servers if one["status"] in _AT_REST]
    problems = {}
    for name in failed:
        told = hub.ask(server_path(name, "explanation"))
        problems[name] = f"{told['summary']} {told['remedy']}".strip()
    return Offered(tools, [one["name"] for one in servers], failed, at_rest), problems


async def _connect(settings: Settings) -> tuple[Offered, dict[str, str]]:
    """Connect the registered servers for this one question."""
    hub = importlib.import_module("naru.hub")  # heavy, and not needed beside a running hub
    async with hub.open_servers(settings) as manager:
        check_store(manager)
        await connected(manager)
        offered = hub.HubToolset(manager, manager.toolsets)
        tools: Sequence[ToolDefinition] = await offered.tools()
        problems, unread = unusable(manager), unreadable(manager)
        at_rest = [name for name, one in sorted(manager.connections.items()) if one.status in _AT_REST]
        return Offered(tools, sorted(manager.connections), list(problems), at_rest, bool(unread)), unread | problems


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
