"""`naru tool serve` and `serve`: one's own functions as an MCP server over stdio, HTTP or SSE, in one line."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from naru.cli.options import Config, Transport, settings_from
from naru.cli.running_hub import hub_url
from naru.cli.terminal.output import print_note, print_warnings
from naru.config import Settings, load_settings
from naru.errors import ConfigError
from naru.messages import JsonObject
from naru.tools.functions.modules import is_file, module_toolset, short_name
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import Toolset
from naru.tools.wrappers import FilteredToolset


def command(  # noqa: PLR0913  # each parameter is an option of the command
    module: Annotated[
        list[str] | None,
        typer.Option("--module", "-m", help="Python module, package or file whose functions are tools."),
    ] = None,
    name: Annotated[str, typer.Option(help="What the server is called; the first module's name when left out.")] = "",
    allow: Annotated[list[str] | None, typer.Option(help="Serve only these tools; patterns such as `get_*`.")] = None,
    deny: Annotated[list[str] | None, typer.Option(help="Serve none of these; beats --allow.")] = None,
    transport: Annotated[Transport, typer.Option(help="How MCP clients come; http serves /mcp and /sse.")] = (
        Transport.HTTP
    ),
    stdio: Annotated[bool, typer.Option("--stdio", help="The same as --transport stdio.")] = False,
    host: Annotated[str, typer.Option(help="Address to bind.")] = "",
    port: Annotated[int | None, typer.Option(help="Port to bind; 0 takes a free one.")] = None,
    config: Config = None,
) -> None:
    """Serve modules' functions to MCP clients. Approvals and the audit log stand before them; until Ctrl-C."""
    if not module:
        raise ConfigError("No module was named.", remedy="Say: naru tool serve --module MODULE")
    settings = settings_from(config, is_service=True, server__host=host, server__port=port)
    server = name or short_name(module[0])
    chosen = Transport.STDIO if stdio else transport
    words = [word for each in module for word in ("--module", str(Path(each).absolute()) if is_file(each) else each)]
    words += [
        word
        for option, given in (("--allow", allow), ("--deny", deny))
        for each in given or ()
        for word in (option, each)
    ]

    def announce(port: int) -> None:
        print_note(f"In a client's mcp.json:\n{entry(server, words, settings, chosen, port)}")

    toolset = module_toolset(tuple(module))
    _until_interrupted(_serve(toolset, server, settings, chosen, (allow or (), deny or ()), announce))


def serve(
    tools: Toolset | Iterable[Callable[..., Any]],
    *,
    name: str = "tools",
    transport: str = "stdio",
    settings: Settings | None = None,
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
) -> None:
    """Serve functions, or any Toolset, to MCP clients until they leave or Ctrl-C.

    Args:
        tools: The functions, registered or not, or a Toolset, which is opened and closed here.
        name: What the server is called: in the audit log, and in rules of approval.
        transport: `stdio`, `http` (`/mcp` and `/sse`) or `sse`.
        settings: Where to listen, what needs approval, what is audited; those of files and environment when None.
        allow: Serve only these tools; patterns such as `get_*`.
        deny: Serve none of these; beats `allow`.

    Raises:
        ConfigError: there is no such transport, or this configuration would serve an open port.
    """
    if transport not in tuple(Transport):
        known = ", ".join(Transport)
        raise ConfigError(f"There is no transport {transport!r} to serve over.", remedy=f"Use one of {known}.")
    toolset: Toolset = FunctionToolset(tools) if isinstance(tools, Iterable) else tools
    _until_interrupted(
        _serve(toolset, name, settings or load_settings(), Transport(transport), (tuple(allow), tuple(deny)))
    )


async def _serve(
    toolset: Toolset,
    name: str,
    settings: Settings,
    transport: Transport,
    chosen: tuple[Sequence[str], Sequence[str]],
    announce: Callable[[int], None] = lambda _: None,
) -> None:
    await toolset.tools()
    print_warnings(f"{tool} is set aside: {reason}" for tool, reason in getattr(toolset, "set_aside", {}).items())
    allow, deny = chosen
    if allow or deny:
        toolset = FilteredToolset.by_name(toolset, allowed=allow, denied=deny)
    await importlib.import_module("naru.cli.serve.mcp").serve_toolset(toolset, name, settings, transport, announce)


def _until_interrupted(work: Coroutine[Any, Any, None]) -> None:
    # The gateway is heavy to import, and `naru tool run` has no need of it.
    importlib.import_module("naru.cli.serve.listening").run_until_interrupted(work)


def entry(name: str, words: Sequence[str], settings: Settings, transport: Transport, port: int) -> str:
    """Return what a client's mcp.json says of this server; the port is the one that it got."""
    if transport is Transport.STDIO:
        command = shutil.which("naru") or str(Path(sys.argv[0]).absolute())
        server: JsonObject = {
            "command": command,
            "args": ["tool", "serve", *words, "--stdio"],
            "env": {"PYTHONPATH": str(Path.cwd())},
        }
    else:
        server_settings = settings.server.model_copy(update={"port": port})
        address = hub_url(settings.model_copy(update={"server": server_settings}))
        server = {"url": f"{address}/{'sse' if transport is Transport.SSE else 'mcp'}"}
    return json.dumps({"mcpServers": {name: server}}, indent=2, ensure_ascii=False)
