"""`naru serve`: the model with its tools, over HTTP."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated

import typer

from naru.cli.options import BaseUrl, Config, Model, Transport, settings_from
from naru.cli.serve.hub import serve_on
from naru.cli.serve.listening import address_of, listen, listen_beside, run_until_interrupted
from naru.cli.serve.mcp import serve_own_tools, serve_servers_on_stdio
from naru.config import Settings, settings_path
from naru.stores.open import store_url
from naru.stores.serving_lock import folder_in_use, serving_lock
from naru.stores.shared.open import open_commons
from naru.web.gate.security import check_bind


def command(
    what: Annotated[str, typer.Argument(help="hr or data: those tools alone, without a model.")] = "",
    model: Model = "",
    base_url: BaseUrl = "",
    host: Annotated[str, typer.Option(help="Address to bind.")] = "",
    port: Annotated[int | None, typer.Option(help="Port to bind; 0 takes a free one.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Register the HR server with its demo data.")] = False,
    config: Config = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes that serve; one core each.")] = None,
    store: Annotated[str, typer.Option(help="memory:, file:mcp.json, sqlite:PATH or postgresql://…")] = "",
    tools: Annotated[
        list[str] | None,
        typer.Option(help="Your own functions: company.py, or a module; read anew when it changes. May be repeated."),
    ] = None,
    transport: Annotated[
        Transport, typer.Option(help="How MCP clients come: http serves /mcp and /sse; stdio needs no model.")
    ] = Transport.HTTP,
    stdio: Annotated[bool, typer.Option("--stdio", help="The same as --transport stdio.")] = False,
) -> None:
    """Serve until Ctrl-C."""
    settings = settings_from(
        config,
        is_service=True,
        server__host=host,
        server__port=port,
        model__model=model,
        model__base_url=base_url,
        hub__demo=demo or None,
        hub__store=store,
        server__workers=workers,
        tools__modules=tools or None,
    )
    if what:
        run_until_interrupted(serve_own_tools(what, settings, Transport.STDIO if stdio else transport))
    elif stdio or transport is Transport.STDIO:
        run_until_interrupted(serve_servers_on_stdio(settings, config or settings_path()))
    elif settings.server.workers > 1:
        importlib.import_module("naru.cli.serve.workers").serve_with_workers(settings, config)
    else:
        run_until_interrupted(_serve(settings, config))


async def _serve(settings: Settings, config: Path | None) -> None:
    check_bind(settings.server)
    with listen(settings.server.host, settings.server.port) as bound, listen_beside(settings.server) as also:
        async with open_commons(settings.hub, bound.getsockname()[1]) as commons:
            hub, address = settings.hub, address_of(bound, settings.server)
            with serving_lock(store_url(hub), address), folder_in_use(hub.data_dir, address):
                await serve_on(settings, config, bound, [also] if also else [], commons)
