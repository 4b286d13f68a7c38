"""The hub as an MCP server: puts engine, servers and faces together, and ends them in order."""

from __future__ import annotations

from collections.abc import Sequence

from naru.config import Settings
from naru.connections.manager import Manager
from naru.gateway.catalog import CatalogSettings
from naru.gateway.engine import Engine
from naru.gateway.faces.table import Face, http_faces
from naru.gateway.requests.core import GatewaySettings
from naru.gateway.sessions.owners import Owners
from naru.gateway.upstreams.servers import ServerUpstreams
from naru.gateway.upstreams.upstream import Upstream
from naru.stores.shared.commons import ALONE, Commons


class Gateway:
    """Made over an open manager, inside a running loop; `close` before the manager is closed."""

    def __init__(
        self,
        manager: Manager,
        settings: GatewaySettings | None = None,
        *,
        own: Sequence[Upstream] = (),
        commons: Commons = ALONE,
    ) -> None:
        settings = settings or GatewaySettings()
        upstreams = ServerUpstreams(manager, own=own, show_origins=not settings.catalog.flat)
        self.owners = Owners(commons) if commons.me else None
        self.engine = Engine(upstreams, settings, self.owners)
        self.faces: list[Face] = http_faces(self.engine)

    def end_streams(self) -> None:
        """End all held streams and refuse new requests: call it when a stop was asked for, before waiting (R-29)."""
        self.engine.end_streams()

    async def close(self) -> None:
        """Let requests under way finish for a while, then end everything."""
        await self.engine.close()


def settings_of(settings: Settings, *, seal_key: bytes | None = None) -> GatewaySettings:
    """Return the engine's settings from those of the installation; a key that other hubs have, where there are some."""
    section = settings.gateway
    return GatewaySettings(
        body_bytes=lambda: settings.server.max_body_bytes,
        catalog=CatalogSettings(page_size=section.page_size, flat=section.flat_names),
        keep_alive_seconds=section.keep_alive_seconds,
        session_idle_seconds=section.session_idle_seconds,
        max_sessions=section.max_sessions,
        max_inflight=section.max_requests,
        meta_tools=section.meta_tools,
        seal_key=seal_key,
    )
