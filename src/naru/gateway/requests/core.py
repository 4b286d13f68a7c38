"""What all requests share: settings, lists, seals, sessions and what is parked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from naru import __version__
from naru.gateway.catalog import Catalog, CatalogSettings
from naru.gateway.sessions.exchange import Exchange
from naru.gateway.sessions.parked import Parking
from naru.gateway.sessions.session import Session
from naru.gateway.sessions.subscriptions import Subscriptions
from naru.gateway.upstreams.upstream import Envelope, Upstream, Upstreams
from naru.gateway.wire.frames import Limits
from naru.gateway.wire.seal import Sealer
from naru.gateway.wire.streams import StreamLimits
from naru.gateway.wire.tasks import TaskIds
from naru.messages import JsonObject

if TYPE_CHECKING:
    from naru.gateway.sessions.owners import Owners


def _usual_body_bytes() -> int:
    return 4 * 1024 * 1024


_OF_TOOLS: JsonObject = {"tools": {"listChanged": True}, "logging": {}}
"""What a set of tools has; it knows no prompts and no resources."""


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """Limits and habits of the MCP face."""

    server_info: JsonObject = field(default_factory=lambda: {"name": "naru", "title": "Naru"})
    """Whom clients are told that they talk to."""
    offered: JsonObject = field(
        default_factory=lambda: {
            **_OF_TOOLS,
            "prompts": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "completions": {},
        }
    )
    """The capabilities that clients are told."""
    catalog: CatalogSettings = field(default_factory=CatalogSettings)
    limits: Limits = field(default_factory=Limits)
    body_bytes: Callable[[], int] = _usual_body_bytes
    """Returns how long a message may be now (S-08)."""
    stream: StreamLimits = field(default_factory=StreamLimits)
    keep_alive_seconds: float = 15.0
    stream_after_seconds: float = 3.0
    """A POST that is not answered by then is answered as a stream, with comments that keep the line open."""
    session_idle_seconds: float = 1800.0
    max_sessions: int = 10_000
    max_inflight: int = 1000
    """Requests under way; one more is refused at once with 503 (R-36)."""
    drain_seconds: float = 30.0
    """What requests under way get to finish in after a stop was asked for (R-29)."""
    seal_key: bytes | None = None
    """What seals are made with; None makes a key for this process alone."""
    meta_tools: bool = False
    """List three stable meta-tools (search, describe, call) instead of all tools."""

    @classmethod
    def alone(cls, name: str) -> GatewaySettings:
        """Return those of one set of tools that is served by itself: under its own name, and the tools under theirs."""
        return cls(server_info={"name": name}, offered=_OF_TOOLS, catalog=CatalogSettings(flat=True))


class MetaTools(Protocol):
    """A few stable tools that stand for all others."""

    definitions: list[JsonObject]

    def has(self, name: str) -> bool:
        """Tell whether it is one of them."""
        ...

    async def call(self, core: Core, exchange: Exchange, params: JsonObject) -> JsonObject:
        """Answer a call of one of them."""
        ...


class Core:
    """See the module."""

    def __init__(
        self,
        upstreams: Upstreams,
        settings: GatewaySettings,
        meta_tools: MetaTools | None,
        owners: Owners | None = None,
    ) -> None:
        self.settings = settings
        self.server_info: JsonObject = {**settings.server_info, "version": __version__}
        self.upstreams = upstreams
        self.catalog = Catalog(upstreams, settings.catalog)
        self.owners = owners
        """Knows what other hubs hold; None where there are none."""
        self.sealer = Sealer(settings.seal_key)
        self.tasks = TaskIds(self.sealer)
        self.parking = Parking(owners)
        self.meta_tools = meta_tools
        self.sessions: dict[str, Session] = {}
        self.subscriptions = Subscriptions(lambda: self.sessions.values())

    def envelope(self, exchange: Exchange, upstream: Upstream) -> Envelope | None:
        """Return what a stateless server is told about the client; a server of sessions is told nothing per request."""
        return exchange.envelope if upstream.modern else None
