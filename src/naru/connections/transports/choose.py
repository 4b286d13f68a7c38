"""From a record to the transports to try, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from naru.connections.state.settings import ConnectionSettings
from naru.connections.transports.base import Transport
from naru.connections.transports.http.client import HttpClient
from naru.connections.transports.http.sse import SseTransport
from naru.connections.transports.http.streamable_http import StreamableHttpTransport
from naru.connections.transports.stdio import StdioTransport
from naru.records import TransportType
from naru.stores.secrets.values import SecretValues

MakeTransport = Callable[[], Transport]


def candidates(
    transport_type: TransportType | None,
    config: Mapping[str, Any],
    secrets: SecretValues,
    settings: ConnectionSettings,
    http: HttpClient,
) -> Sequence[tuple[TransportType, MakeTransport]]:
    """Return what to try: the declared transport, or Streamable HTTP and then SSE when none is declared (H2)."""
    makers: dict[TransportType, MakeTransport] = {
        TransportType.STDIO: lambda: StdioTransport(config, secrets, settings),
        TransportType.HTTP: lambda: StreamableHttpTransport(config, secrets, settings, http),
        TransportType.SSE: lambda: SseTransport(config, secrets, settings, http),
    }
    if transport_type is not None:
        return [(transport_type, makers[transport_type])]
    return [(TransportType.HTTP, makers[TransportType.HTTP]), (TransportType.SSE, makers[TransportType.SSE])]
