"""Ask the hub that runs on this machine for what only its process knows: states, logs, live tools.

What is registered is in the store, and commands read and change it there, whether a hub runs or not.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
from typing import Any
from urllib.parse import quote, urlsplit

from naru.config import Settings
from naru.errors import ConfigError, ConnectionFailedError, NaruError, NotFoundError, UserError

SERVERS = "/api/mcp/servers"
_PATIENCE_SECONDS = 10.0
"""How long a hub may be silent before it is told; where none listens that is known at once."""
_ALIVE = (200, {"status": "ok"})
"""What a hub answers at `/healthz`; another program that has the port may answer anything there."""


def hub_url(settings: Settings) -> str:
    """Return where this machine's hub listens."""
    host = settings.server.host
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - an address to reach, not one to bind
        host = "127.0.0.1"
    scheme = "https" if settings.server.tls_certificate else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.server.port}"


def server_path(name: str, what: str = "") -> str:
    """Return the path of a server in the admin API, or of something below it."""
    return f"{SERVERS}/{quote(name, safe='')}{f'/{what}' if what else ''}"


class HubStream:
    """An answer that comes in events, read in a thread; closing it ends a wait for the next one."""

    def __init__(self, connection: http.client.HTTPConnection, reply: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._socket = connection.sock
        self._reply = reply

    def next(self) -> Any:
        """Return the next event's data, None at the end. Raises ConnectionFailedError when it breaks off."""
        try:
            while line := self._reply.readline():
                if line.startswith(b"data: ") and line.strip() != b"data: [DONE]":
                    return json.loads(line[6:])
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ConnectionFailedError(
                f"The hub's answer broke off: {_why(error)}.", remedy="See its log; ask again when it runs."
            ) from error
        return None

    def close(self) -> None:
        """Leave, which ends the hub's work too; safe to call twice."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._connection.close()


class RunningHub:
    """A hub's REST API, one request at a time."""

    def __init__(self, settings: Settings, *, timeout_seconds: float = 60.0) -> None:
        self.url = hub_url(settings)
        self._key = settings.server.api_key.get_secret_value()
        self._certificate = settings.server.tls_certificate
        self._timeout_seconds = timeout_seconds
        self._is_known = False

    def answers(self) -> bool:
        """Tell whether a hub listens there.

        Raises:
            ConnectionFailedError: something listens and says nothing: of a hub that is busy nobody may do the work too.
        """
        try:
            self._is_known = self._send("GET", "/healthz", None, _PATIENCE_SECONDS) == _ALIVE
        except ConnectionFailedError as error:
            if isinstance(error.__cause__, TimeoutError):
                raise
            self._is_known = False
        return self._is_known

    def ask(self, path: str, *, method: str = "GET", body: Any = None, accept_failure: bool = False) -> Any:
        """Return the decoded answer.

        Args:
            path: below the hub's URL.
            method: of HTTP.
            body: sent as JSON.
            accept_failure: return the problem of a 503 instead of raising it.

        Raises:
            ConnectionFailedError: no hub answers there.
            NotFoundError: it has no such thing.
            UserError: it refused the request.
        """
        if not self._is_known:
            self._be_sure()
        status, answer = self._send(method, path, body, self._timeout_seconds)
        if status < 400 or (accept_failure and status == 503):
            return answer
        refused = refusal(status, answer)
        if isinstance(refused, NotFoundError) and not refused.remedy and path.startswith(SERVERS):
            refused.remedy = "See: naru servers list"
        raise refused

    def stream(self, path: str, body: Any) -> HubStream:
        """Send a body and return the events of the answer; raises as `ask` does."""
        place = urlsplit(self.url)
        headers = {"Accept": "text/event-stream", "Content-Type": "application/json", **self._credentials()}
        connection = self._connection(place.hostname or "", place.port, self._timeout_seconds)
        try:
            connection.request("POST", path, json.dumps(body).encode(), headers)
            reply = connection.getresponse()
            if reply.status < 400:
                connection.sock.settimeout(None)  # a model may think for long; the hub sends signs of life
                return HubStream(connection, reply)
            text = reply.read()
            raise refusal(reply.status, json.loads(text) if text.strip() else None)
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            raise self._away(error) from error

    def _be_sure(self) -> None:
        """Raise unless it is a Naru: whatever else listens there is told nothing and believed nothing."""
        answer = self._send("GET", "/healthz", None, self._timeout_seconds)
        refused = answer[1].get("type") if isinstance(answer[1], dict) else None
        if answer != _ALIVE and not str(refused).startswith("urn:naru:"):
            raise self._stranger()
        self._is_known = True

    def _stranger(self) -> ConnectionFailedError:
        return ConnectionFailedError(
            f"What answers at {self.url} is no Naru hub.",
            remedy="Set NARU_SERVER__PORT to the hub's port, or to a free one and start it: naru serve",
        )

    def _credentials(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _away(self, error: Exception) -> ConnectionFailedError:
        if isinstance(error, TimeoutError):
            return ConnectionFailedError(
                f"What listens at {self.url} did not answer in time.",
                remedy="If it is the hub, it is busy or hangs: try again, and see its log; else set NARU_SERVER__PORT.",
            )
        return ConnectionFailedError(
            f"No hub answers at {self.url}: {_why(error)}.",
            remedy="If it listens elsewhere, set NARU_SERVER__PORT; else start it: naru serve",
        )

    def _connection(self, host: str, port: int | None, timeout: float) -> http.client.HTTPConnection:
        if self._certificate is None:
            return http.client.HTTPConnection(host, port, timeout=timeout)
        # The hub's own certificate, the first of the file, is trusted and nothing else: it names the hub as others
        # reach it, not as this machine does, so that its name proves nothing here.
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trust.check_hostname = False
        trust.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        end = "-----END CERTIFICATE-----"
        try:
            own = self._certificate.expanduser().read_text(encoding="ascii", errors="replace").partition(end)[0]
            trust.load_verify_locations(cadata=f"{own}{end}\n")
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"Tried to read {self._certificate}: {error.strerror or error}.", remedy="Check server.tls_certificate."
            ) from error
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=trust)

    def _send(self, method: str, path: str, body: Any, timeout: float) -> tuple[int, Any]:
        place = urlsplit(self.url)
        headers = {"Accept": "application/json", **self._credentials()}
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        connection = self._connection(place.hostname or "", place.port, timeout)
        try:
            connection.request(method, path, data, headers)
            reply = connection.getresponse()
            text = reply.read()
            return reply.status, json.loads(text) if text.strip() else None
        except (OSError, http.client.HTTPException) as error:
            raise self._away(error) from error
        except ValueError as error:
            raise self._stranger() from error
        finally:
            connection.close()


def _why(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")


def refusal(status: int, answer: Any) -> NaruError:
    """Return the error that a refused request stands for."""
    told = answer if isinstance(answer, dict) else {}
    said = str(told.get("detail") or told.get("message") or f"The hub answered with status {status}.")
    remedy = str(told.get("remedy") or "")
    if status == 401:  # the hub's own words tell programs which header to send
        return UserError(said, remedy="Set NARU_SERVER__API_KEY to a key of this hub; naru keys create makes one.")
    if status == 403:
        return UserError(said, remedy=remedy or "Set NARU_SERVER__API_KEY to a key that may do this.")
    if status == 404:
        return NotFoundError(said, remedy=remedy)
    return UserError(said, remedy=remedy) if status < 500 else NaruError(said, remedy=remedy)
