"""`naru serve`: the model with its tools, over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from naru.cli.options import BaseUrl, JoinProgress, Model, settings_from
from naru.cli.serving import address_of, listen, run, serve
from naru.config import Settings
from naru.hub import open_hub
from naru.web.app import create_app


def command(
    model: Model = "",
    base_url: BaseUrl = "",
    host: Annotated[str, typer.Option(help="Address to bind.")] = "",
    port: Annotated[int | None, typer.Option(help="Port to bind; 0 takes a free one.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Register the HR server with its demo data.")] = False,
    store: Annotated[str, typer.Option(help="memory:, file:mcp.json, sqlite:PATH or postgresql://…")] = "",
) -> None:
    """Serve until Ctrl-C."""
    settings = settings_from(
        server__host=host,
        server__port=port,
        model__model=model,
        model__base_url=base_url,
        hub__demo=demo or None,
        hub__store=store,
    )
    run(_serve(settings))


async def _serve(settings: Settings) -> None:
    console = Console(stderr=True, highlight=False)
    bound = listen(settings.server.host, settings.server.port)
    with bound:
        async with open_hub(settings, progress=JoinProgress(console)) as hub:
            app = create_app(hub)
            console.print(f"Naru serves {', '.join(await hub.backend.models())} on {address_of(bound)}", soft_wrap=True)
            await serve(app, bound)
