"""The table of the MCP faces over HTTP: the web layer mounts each row behind its gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from naru.gateway.engine import Engine
from naru.gateway.faces.legacy_sse import LegacySse
from naru.gateway.faces.streamable_http import StreamableHttp
from naru.gateway.sessions.owners import Shared

if TYPE_CHECKING:
    from starlette.types import ASGIApp


@dataclass(frozen=True, slots=True)
class Face:
    """One path; `{name}` in it is a server's, which the gate puts into `scope["path_params"]`."""

    path: str
    methods: tuple[str, ...]
    app: ASGIApp


def http_faces(engine: Engine) -> list[Face]:
    """Return all paths under which the engine is served. A path with a slash at its end is the same face (a17)."""
    http = StreamableHttp(engine)
    sse = LegacySse(engine, http)
    owners, most = engine.owners, engine.settings.body_bytes
    stream: ASGIApp = http if owners is None else Shared(http, owners, most)
    events: ASGIApp = sse if owners is None else Shared(sse, owners, most)
    faces = []
    for prefix in ("", "/servers/{name}"):
        faces += [
            Face(f"{prefix}/mcp", ("GET", "POST", "DELETE"), stream),
            Face(f"{prefix}/sse", ("GET", "POST", "DELETE"), events),
            Face(f"{prefix}/sse/message", ("POST",), events),
        ]
    return faces
