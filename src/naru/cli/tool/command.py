"""`naru tool`: run, list and describe tools from the command line (V10, SECURITY S-44).

Exit codes are those of `exit_codes`: 1 is a tool that ran and failed. Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, TextIO

import orjson
import typer

from naru.cli.options import settings_from
from naru.cli.terminal.called import as_called
from naru.cli.terminal.exit_codes import Exit, exit_code
from naru.cli.terminal.output import group, plain
from naru.cli.tool import serve as tool_serve
from naru.cli.tool.arguments import check_known, read_arguments
from naru.cli.tool.sources import Sources
from naru.cli.tool.ticket import inline_call, run_ticket
from naru.encoding import encode
from naru.errors import InvalidArgumentsError, NaruError, UserError
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.stores.secrets.redact import REDACTOR
from naru.tools.combined import CombinedToolset
from naru.tools.provider_schemas.forms import provider_form
from naru.tools.provider_schemas.plain_text import plain_text
from naru.tools.results import to_value
from naru.tools.toolset import CallContext

app = group("Run, list and describe tools.")

app.command("serve")(tool_serve.command)
Modules = Annotated[
    list[str] | None, typer.Option("--module", "-m", help="Python module, package or file whose functions are tools.")
]
Store = Annotated[str, typer.Option("--store", help="Store or mcp.json of the servers; the hub's own by default.")]
Local = Annotated[bool, typer.Option("--local", help="Leave the hub's servers out.")]


@app.command(context_settings={"ignore_unknown_options": True})
def run(  # noqa: PLR0913  # each parameter is an option of the command
    name: Annotated[
        str, typer.Argument(help="The tool; `server.tool` or `server__tool` where the bare name is not enough.")
    ] = "",
    arguments: Annotated[list[str] | None, typer.Argument(help="A JSON object, `-` for stdin, or key=value.")] = None,
    args_file: Annotated[Path | None, typer.Option("--args-file", help="File with the JSON object.")] = None,
    module: Modules = None,
    store: Store = "",
    local: Local = False,
    timeout: Annotated[float, typer.Option("--timeout", min=0.001, help="Seconds that it may take.")] = 30.0,
    as_json: Annotated[bool, typer.Option("--json", help='Print {"success": …, "result" or "error": …}.')] = False,
    ticket: Annotated[str, typer.Option("--ticket", help="Run the call that the hub keeps under this ticket.")] = "",
    inline: Annotated[str, typer.Option("--inline", help="Run the call in this signed text.")] = "",
) -> None:
    """Run NAME once and print its result."""
    sources = Sources(modules=tuple(module or ()), store=store, local=local)
    try:
        if ticket:
            result = run_ticket(ticket, settings_from())
        else:
            given = read_arguments(arguments or [], args_file)
            if inline:
                call = inline_call(inline, settings_from())
                name, given = call.name, call.arguments
            result = asyncio.run(_run(sources, name, given, timeout, is_typed=not inline))
    except NaruError as error:
        if as_json:
            _write(sys.stdout, encode({"success": False, "error": REDACTOR.clean(str(error))}).decode())
        else:
            if isinstance(error, InvalidArgumentsError) and not error.remedy:
                error.remedy = f"See: naru tool schema {sources.again}{name}"
            _write(sys.stderr, as_called(f"naru tool run: {REDACTOR.clean(str(error))}"))
        raise typer.Exit(exit_code(error)) from error
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None
    if as_json:
        told = (
            {"success": False, "error": result.text}
            if result.is_error
            else {"success": True, "result": to_value(result)}
        )
        _write(sys.stdout, encode(told).decode())
    else:
        _write(sys.stderr if result.is_error else sys.stdout, result.text)
    raise typer.Exit(Exit.NOT_WELL if result.is_error else Exit.DONE)


@app.command("list")
def list_tools(
    module: Modules = None,
    store: Store = "",
    local: Local = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print name, description and schema of each.")] = False,
) -> None:
    """List the tools that can be run, one a line."""
    found = asyncio.run(_list(Sources(modules=tuple(module or ()), store=store, local=local)))
    if as_json:
        rows = [_described(tool) for tool in found]
        _write(sys.stdout, encode(rows, option=orjson.OPT_INDENT_2).decode())
        return
    width = max((len(tool.name) for tool in found), default=0)
    for tool in found:
        first = tool.description.strip().splitlines()[0] if tool.description.strip() else ""
        _write(sys.stdout, f"{tool.name:{width}}  {first}".rstrip())


@app.command()
def schema(
    name: Annotated[str, typer.Argument(help="The tool; all when left out.")] = "",
    provider: Annotated[
        str, typer.Option("--for", help="openai, openai-strict, anthropic, gemini, ollama, llama.cpp, mcp or text.")
    ] = "openai",
    module: Modules = None,
    store: Store = "",
    local: Local = False,
) -> None:
    """Print how a tool is described to a model of a provider."""
    sources = Sources(modules=tuple(module or ()), store=store, local=local)
    found = asyncio.run(_list(sources, name))
    if provider == "text":
        _write(sys.stdout, plain_text(found))
        return
    declarations, aside = _declarations(found, provider)
    for tool, reason in aside.items():
        _write(sys.stderr, f"naru tool schema: {tool} is set aside: {reason}.")
    shown = declarations[0] if name and declarations else declarations
    if shown:
        _write(sys.stdout, encode(shown, option=orjson.OPT_INDENT_2).decode())
    if not declarations:
        raise typer.Exit(Exit.NOT_WELL)


async def _run(sources: Sources, name: str, arguments: JsonObject, timeout: float, *, is_typed: bool) -> ToolResult:
    if not name:
        raise UserError("no tool was named.", remedy="Say: naru tool run NAME 'JSON'; names are in: naru tool list")
    async with sources.toolset(name) as toolset:
        for tool in await _named(toolset, name) if is_typed else ():
            check_known(arguments, tool)
        return await toolset.call(name, arguments, CallContext(caller="local", timeout_seconds=timeout))


async def _list(sources: Sources, name: str = "") -> list[ToolDefinition]:
    async with sources.toolset(name) as toolset:
        found = list(await toolset.tools())
        if name:
            chosen = await _named(toolset, name)
            if not chosen:
                error = toolset.unknown(name)
                error.remedy = f"See: naru tool list {sources.again}".rstrip()
                raise error
            return chosen
        for problem in toolset.set_aside:
            where = ".".join(filter(None, (problem.server, problem.tool)))
            _write(sys.stderr, f"naru tool: {where} is set aside: {problem.reason}")
        return found


async def _named(toolset: CombinedToolset, name: str) -> list[ToolDefinition]:
    """Return the tool that a name stands for, if there is one. Raises UnknownToolError where it is several servers'."""
    wanted = toolset.locate(name)
    listed = await toolset.tools()
    return [tool for tool in listed if wanted is not None and toolset.identity(tool.name) == wanted]


def _declarations(found: list[ToolDefinition], provider: str) -> tuple[list[JsonObject], dict[str, str]]:
    if provider == "mcp":
        return [_described(tool) for tool in found], {}
    form = provider_form(found, provider)
    return form.tools, form.set_aside


def _described(tool: ToolDefinition) -> JsonObject:
    shown: JsonObject = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    return {**shown, "outputSchema": tool.output_schema} if tool.output_schema else shown


def _write(stream: TextIO, text: str) -> None:
    """Write foreign text: a result to a program as it is, anything else without what steers a terminal."""
    is_for_programs = stream is sys.stdout and not stream.isatty()
    stream.write((text if is_for_programs else plain(text)).rstrip("\n") + "\n")
