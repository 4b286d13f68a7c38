"""The hub on sockets that are bound: opened, told of, served until a stop is asked for."""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from pathlib import Path

from naru.cli.options import JoinProgress
from naru.cli.serve.listening import address_of, serve, tls_of
from naru.cli.terminal.output import console, print_note
from naru.config import Settings, settings_path
from naru.errors import ModelError
from naru.hub import Hub, key_file, open_hub
from naru.stores.secrets.keys import KeyFile
from naru.stores.shared.commons import Commons
from naru.web.app import open_app
from naru.web.gate.admission import FIRST_KEY, auth_is_on, who_may_come

logger = logging.getLogger(__name__)

WHERE = """\
  console  {address}
  OpenAI   {address}/v1, where a model's name with +tools gets the tools of all servers
  MCP      {address}/mcp
Ctrl-C ends it."""


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
    were_made = keys.were_made() or bool(settings.hub.replica_address)  # of several machines one may have made them
    asks_for_keys = keys_are_asked(settings, keys, were_made=were_made)
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


def keys_are_asked(settings: Settings, keys: KeyFile, *, were_made: bool) -> bool:
    """Tell whether a key is asked for; where there is none yet, the first is made, and it is said where."""
    is_on = auth_is_on(settings.server, were_made=were_made)
    if is_on and (shown_in := keys.ensure_admin()):
        tell(settings, FIRST_KEY.format(shown_in))
    return is_on


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
