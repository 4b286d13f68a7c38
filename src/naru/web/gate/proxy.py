"""What stands before us: the path that we are served below, and what a trusted proxy says of its client (S-17).

Whom a request lets in is decided on the path that is left, never on a forwarded header (S-05).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Scope, Send

from naru.config import ServerSettings
from naru.web.gate.incoming import EdgeHeaders
from naru.web.routes import Access, Endpoint

_PREFIX = re.compile(rb"(?:/[A-Za-z0-9._~-]+)+")
_SCHEMES = {b"http": "http", b"https": "https"}


class BehindProxy:
    """Made once for each gate that has something before it."""

    def __init__(self, settings: ServerSettings) -> None:
        self._root = settings.root_path
        self._proxies = tuple(ipaddress.ip_network(proxy) for proxy in settings.trusted_proxies)

    @staticmethod
    def of(settings: ServerSettings) -> BehindProxy | None:
        """Return it for these settings; None where nothing is set, so that nothing is paid."""
        return BehindProxy(settings) if settings.root_path or settings.trusted_proxies else None

    def take(self, scope: Scope, headers: EdgeHeaders, send: Send) -> Send:
        """Say in the scope whom, how and below which path the client asked; the path becomes that of our own rows.

        A proxy may cut the path off or pass it on: both are understood. Returns the `send` for the answer.
        """
        if self._proxies and self._trusts((scope.get("client") or ("", 0))[0]):
            self._listen(scope, headers)
        root = scope.get("root_path") or self._root
        if not root:
            return send
        path: str = scope["path"]
        if not scope.get("root_path") and path.startswith(f"{root}/"):
            scope["path"] = path[len(root) :]
            scope["raw_path"] = scope["path"].encode()
        scope["root_path"] = root
        return _leading_below(root, send)

    def _trusts(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._proxies)

    def _listen(self, scope: Scope, headers: EdgeHeaders) -> None:
        """Take over what the proxy says, each thing if it is well formed; `Prefix` is a path that it has cut off."""
        said: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name.startswith(b"x-forwarded-"):
                said[name] = b"%b,%b" % (said[name], value) if name in said else value
        if client := self._client(said.get(b"x-forwarded-for", b"").split(b",")):
            scope["client"] = (client, 0)
        scope["scheme"] = _SCHEMES.get(said.get(b"x-forwarded-proto", b"").strip(), scope.get("scheme", "http"))
        if host := said.get(b"x-forwarded-host", b"").strip():
            headers.host = host  # judged like any other; several, or garbage, are no host of ours
            scope["headers"] = [(name, host if name == b"host" else value) for name, value in scope["headers"]]
        prefix = said.get(b"x-forwarded-prefix", b"").strip().rstrip(b"/")
        if _PREFIX.fullmatch(prefix):
            scope["root_path"] = prefix.decode("ascii")

    def _client(self, hops: Iterable[bytes]) -> str:
        """Return the last address that is not a proxy of ours; what is before it anybody may have written."""
        for hop in reversed(list(hops)):
            address = hop.strip().decode("latin-1")
            try:
                ipaddress.ip_address(address)
            except ValueError:
                return ""
            if not self._trusts(address):
                return address
        return ""


def endpoints(settings: ServerSettings) -> list[Endpoint]:
    """Return the row that leads from `/naru` to `/naru/`, against which the console's links count."""

    async def to_the_page(request: Request) -> Response:
        """Lead to the console."""
        return Response(status_code=308, headers={"Location": "/"})

    return [Endpoint(settings.root_path, ("GET",), to_the_page, Access.PUBLIC)] if settings.root_path else []


def _leading_below(root: str, send: Send) -> Send:
    """Let what an answer leads to, a path of ours, lead there from outside."""

    def led(message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            headers = [
                (name, root.encode() + value if name == b"location" and value.startswith(b"/") else value)
                for name, value in message.get("headers", ())
            ]
            message = {**message, "headers": headers}
        return send(message)

    return led
