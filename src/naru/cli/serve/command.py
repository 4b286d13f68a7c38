"""`naru serve`: the model with its tools, over HTTP."""

from __future__ import annotations

import importlib
import logging
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from naru.cli.options import BaseUrl, Config, JoinProgress, Model, Transport, settings_from
from naru.cli.serve.listening import address_of, listen, listen_beside, run_until_interrupted, serve, tls_of
from naru.cli.serve.mcp import serve_own_tools, serve_servers_on_stdio
from naru.cli.terminal.output import console, print_note
from naru.config import Settings, settings_path
from naru.errors import ModelError
from naru.hub import Hub, key_file, open_hub
from naru.stores.occupied import occupied
from naru.stores.open import store_url
from naru.stores.shared.commons import Commons
from naru.stores.shared.open import open_commons
from naru.web.app import open_app
from naru.web.gate.admission import auth_is_on, who_may_come
from naru.web.gate.security import check_bind

logger = logging.getLogger(__name__)

WHERE = """\
  console  {address}
  OpenAI   {address}/v1, where a model's name with +tools gets the tools of all servers
  MCP      {address}/mcp
Ctrl-C ends it."""


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
            with occupied(store_url(settings.hub), address_of(bound, settings.server)):
                await serve_on(settings, config, bound, [also] if also else [], commons)


async def serve_on(
    settings: Settings,
    config: Path | None,
    bound: socket.socket,
    also: Sequence[socket.socket],
    commons: Commons,
    *,
    is_first: bool = True,
) -> None:
    """Open everything and serve on these sockets until a stop is asked for; the first process says so."""
    out = console(stderr=True)
    tls = tls_of(settings.server)
    keys = key_file(settings)
    were_made = keys.were_made() or bool(commons.me)
    asks_for_keys = auth_is_on(settings.server, were_made=were_made)
    if asks_for_keys and (shown_in := keys.ensure_admin()):
        tell(settings, f"A first admin key was written to {shown_in}; read it there, then delete that file.")
    progress = JoinProgress(out)
    opened = open_hub(
        settings,
        progress=progress,
        settings_file=config or settings_path(),
        asks_for_keys=asks_for_keys,
        commons=commons,
    )
    address = address_of(bound, settings.server)
    async with opened as hub, open_app(hub) as app:
        if is_first:
            tell(settings, f"Naru serves {await _models(hub)} on {address}", WHERE.format(address=address))
            tell(settings, who_may_come(settings.server, were_made=were_made))
        await serve(app.asgi, bound, app.stopping, tls=tls, also=also)


def tell(settings: Settings, line: str, more: str = "") -> None:
    """Say something of the start: to people as it is, as a log line where a program reads them."""
    if settings.log_format == "json":
        logger.info(line)
        return
    print_note(f"{line}\n{more}".rstrip())


async def _models(hub: Hub) -> str:
    """Name the models; an endpoint that is away now may come later."""
    try:
        return ", ".join(await hub.backend.models())
    except ModelError as error:
        return f"no model yet ({error})"
