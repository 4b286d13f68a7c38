"""What a server may ask of a person or a person's model, and how often (S-58). No I/O."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

from naru.gateway.wire.protocol import ASK_CAPABILITY, INVALID_PARAMS, METHOD_NOT_FOUND, OVERLOADED, RpcError
from naru.messages import JsonObject

META_ORIGIN = "naru/server"
"""`_meta` key of a question that names the server it came from."""
MAX_ASKERS = 10_000


@dataclass(frozen=True, slots=True)
class QuestionLimits:
    """How much one server may ask of one caller."""

    per_minute: int = 120
    per_request: int = 10
    """Also how often a stateless request may go round (MRTR)."""
    max_tokens: int = 4096
    """Most tokens that a sampling may ask for."""
    show_origins: bool = True
    """On a face of several servers, say in the question which one asks."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, and whom."""

    server: str
    caller: str
    view: str
    """Server whose face the caller uses; empty for the face of all of them."""
    allowed: frozenset[str]
    """The kinds of questions that the server's record allows."""


class Questions:
    """Vets every question before it leaves for a client, whichever era it was asked in."""

    def __init__(self, limits: QuestionLimits, clock: Callable[[], float]) -> None:
        self.limits = limits
        self._clock = clock
        self._asked: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def vet(self, method: str, params: JsonObject, asker: Asker) -> JsonObject:
        """Return the question as the client gets it.

        Raises:
            RpcError: it is not allowed, or comes too often; the answer for the server.
        """
        if ASK_CAPABILITY.get(method) not in asker.allowed:
            raise RpcError(METHOD_NOT_FOUND, f"{method} is not allowed for this server")
        is_page = method == "elicitation/create" and params.get("mode") == "url"
        if is_page and not str(params.get("url", "")).startswith("https://"):
            raise RpcError(INVALID_PARAMS, "Only pages under https:// may be shown.")
        self._count((asker.server, asker.caller))
        meta = params.get("_meta")
        vetted = {**params, "_meta": {**(meta if isinstance(meta, dict) else {}), META_ORIGIN: asker.server}}
        if method == "sampling/createMessage":
            wanted, most = params.get("maxTokens"), self.limits.max_tokens
            vetted["maxTokens"] = wanted if type(wanted) is int and wanted < most else most
        elif method == "elicitation/create" and self.limits.show_origins and not asker.view:
            vetted["message"] = f"[{asker.server}] {params.get('message', '')}"
        return vetted

    def vet_all(self, requests: JsonObject, asker: Asker) -> JsonObject:
        """Return the `inputRequests` of a stateless server, vetted one by one. Raises RpcError."""
        if len(requests) > self.limits.per_request:
            raise RpcError(OVERLOADED, f"The server asks more than {self.limits.per_request} questions at once.")
        vetted: JsonObject = {}
        for key, question in requests.items():
            asked = question if isinstance(question, dict) else {}
            params = asked.get("params")
            given = params if isinstance(params, dict) else {}
            vetted[key] = {**asked, "params": self.vet(str(asked.get("method")), given, asker)}
        return vetted

    def _count(self, origin: tuple[str, str]) -> None:
        now = self._clock()
        times = self._asked.setdefault(origin, deque())
        self._asked.move_to_end(origin)
        while len(self._asked) > MAX_ASKERS:
            self._asked.popitem(last=False)
        while times and times[0] <= now - 60.0:
            times.popleft()
        if len(times) >= self.limits.per_minute:
            raise RpcError(OVERLOADED, f"This server asks more than {self.limits.per_minute} questions a minute.")
        times.append(now)
