"""Which `Host` and `Origin` are answered (S-02): exact, own port only, against DNS rebinding and foreign pages."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

from naru.config import ServerSettings

_AUTHORITY = re.compile(r"(?P<host>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Tell whether an address to bind reaches this machine only; an empty or unknown name does not."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_name(authority: str) -> str:
    """Return the host of `host`, `host:port`, `host:*` or `[v6]:port`, in lower case."""
    lowered = authority.lower()
    name, _, port = lowered.rpartition(":")
    return name if name and (port == "*" or port.isdigit()) and (":" not in name or name.endswith("]")) else lowered


class HostRules:
    """Judges hosts and origins; answers are remembered, since they come with every request."""

    def __init__(self, settings: ServerSettings) -> None:
        self._port = settings.port
        self._scheme, self._default_port = ("https", 443) if settings.tls_certificate else ("http", 80)
        self._loopback = is_loopback(settings.host)
        self._bound = settings.host.strip("[]").lower()
        self._hosts = tuple(host.lower() for host in settings.allowed_hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in settings.allowed_origins)
        self.allows_host = lru_cache(1024)(self._allows_host)
        self.allows_origin = lru_cache(1024)(self._allows_origin)

    def is_foreign_page(self, origin: bytes) -> bool:
        """Tell whether an allowed origin is another site's, which needs CORS headers."""
        return "*" in self._origins or origin.decode("latin-1").lower() in self._origins

    def _allows_host(self, host: bytes, server: tuple[str, int] | None) -> bool:
        """Tell whether a `Host` header names us; `server` is the socket's own address and port."""
        found = _AUTHORITY.fullmatch(host.decode("latin-1").lower())
        if not found:
            return False
        name, port = found["host"], found["port"]
        if self._is_listed(name, port):
            return True
        own_port = self._port or (server[1] if server else 0)
        if int(port or self._default_port) != own_port:
            return False
        own_names = {"127.0.0.1", "localhost", "[::1]"}
        if self._bound not in ("", "0.0.0.0", "::"):  # noqa: S104  # compared, not bound
            own_names.add(f"[{self._bound}]" if ":" in self._bound else self._bound)
        if server and not self._loopback:
            own_names.add(f"[{server[0]}]" if ":" in server[0] else server[0])
        return name in own_names

    def _is_listed(self, name: str, port: str | None) -> bool:
        wanted = {f"{name}:{port}" if port else name, f"{name}:*"}
        return any(host in wanted for host in self._hosts)

    def _allows_origin(self, origin: bytes, server: tuple[str, int] | None) -> bool:
        """Tell whether a page of this origin may call us: our own pages and those listed."""
        text = origin.decode("latin-1").lower()
        if text in self._origins or "*" in self._origins:
            return True
        scheme, separator, authority = text.partition("://")
        if not separator or scheme not in ("http", "https"):
            return False
        found = _AUTHORITY.fullmatch(authority)
        if not found:
            return False
        if self._is_listed(found["host"], found["port"]):
            return True
        return scheme == self._scheme and self._allows_host(authority.encode("latin-1"), server)
