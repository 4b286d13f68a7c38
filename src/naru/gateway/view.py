"""What one client face shows at one moment: names, where they lead, and its lists as encoded bytes. No I/O."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

import orjson

from naru.errors import ConflictError
from naru.gateway.templates import UriTemplate, read_template
from naru.gateway.upstreams.upstream import ListKind, Upstream, Watched
from naru.gateway.wire import frames
from naru.gateway.wire.headers import HeaderParameter, header_parameters
from naru.gateway.wire.protocol import INVALID_PARAMS, RpcError
from naru.messages import Json, JsonObject

QUALIFIED = "naru://"
"""`naru://server/<percent-encoded URI>` names a resource of one server, whatever others offer."""
_IS_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S.*", re.DOTALL)
"""Official clients refuse a whole list for one address without a scheme (RFC 3986, 3.1)."""
FRESHNESS: JsonObject = {"ttlMs": 10_000, "cacheScope": "private"}
"""How long what is offered may be kept, and by whom (2026-07-28, caching): others may see something else."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where an exposed name leads."""

    upstream: Upstream
    name: str
    """The server's own name or URI for it."""
    item: JsonObject

    @property
    def watched(self) -> Watched:
        """What a client watches that subscribes to this resource."""
        return self.upstream.name, self.upstream.owner, self.name


class View:
    """An immutable snapshot of all that a face offers."""

    def __init__(self, page_size: int) -> None:
        self.tools: dict[str, Route] = {}
        self.prompts: dict[str, Route] = {}
        self.resources: dict[str, Route] = {}
        self.spelled: dict[str, Route] = {}
        """Resources by their URI as it reads without percents: clients ask for `doc:한` as `doc:%ED%95%9C`."""
        self.templates: list[tuple[UriTemplate, Route]] = []
        self.lists: dict[ListKind, list[JsonObject]] = {"tools": [], "prompts": [], "resources": [], "templates": []}
        self.upstreams: dict[str, Upstream] = {}
        self.awaits: frozenset[ListKind] = frozenset()
        """Kinds of which a list was still on its way when this was made."""
        self.set_aside: list[str] = []
        """Items that are not offered, and why; the rest goes on (S-51)."""
        self.tool_list: Sequence[JsonObject] | None = None
        """What is listed instead of all tools: the meta-tools of a face for models that drown in tools."""
        self._page_size = page_size
        self._pages: dict[tuple[ListKind, int, bool], orjson.Fragment] = {}
        self._parameters: dict[str, tuple[HeaderParameter, ...]] = {}

    def page(self, kind: ListKind, cursor: Json, *, modern: bool) -> orjson.Fragment:
        """Return one page of a list as encoded bytes, encoded once.

        Raises:
            RpcError: -32602, the cursor is none of ours.
        """
        items = self.tool_list if kind == "tools" and self.tool_list is not None else self.lists[kind]
        start = 0 if cursor is None else self._start(kind, cursor, len(items))
        key = (kind, start, modern)
        if key not in self._pages:
            self._pages[key] = orjson.Fragment(frames.encode(self._page(kind, items, start, modern=modern)))
        return self._pages[key]

    def _page(self, kind: ListKind, items: Sequence[JsonObject], start: int, *, modern: bool) -> JsonObject:
        end = start + self._page_size
        shown = [item if modern else _known_in_sessions(item) for item in items[start:end]]
        result: JsonObject = {"resourceTemplates" if kind == "templates" else kind: shown}
        if end < len(items):
            result["nextCursor"] = base64.urlsafe_b64encode(f"{kind}:{end}".encode()).decode()
        if modern:
            result |= {"resultType": "complete", **FRESHNESS}
        return result

    def _start(self, kind: ListKind, cursor: Json, length: int) -> int:
        try:
            word, _, number = base64.urlsafe_b64decode(str(cursor).encode("ascii")).partition(b":")
            # The beginning of a page, as we tell it: each other one would be kept, encoded, beside the pages.
            if word == kind.encode() and 0 < int(number) <= length and int(number) % self._page_size == 0:
                return int(number)
        except ValueError:
            pass
        raise RpcError(INVALID_PARAMS, "Invalid cursor. List again from the start.")

    def header_parameters(self, name: str) -> tuple[HeaderParameter, ...]:
        """Return which arguments of a tool a stateless client repeats as headers."""
        if name not in self._parameters:
            route = self.tools.get(name)
            self._parameters[name] = header_parameters(route.item.get("inputSchema")) if route else ()
        return self._parameters[name]

    def resource(self, uri: str) -> Route | None:
        """Find who serves a URI: listed, qualified by server, matched by a template, or the only one with resources."""
        if uri in self.resources:
            return self.resources[uri]
        if (spelled := unquote(uri)) in self.spelled:
            return self.spelled[spelled]
        if uri.startswith(QUALIFIED):
            server, _, rest = uri[len(QUALIFIED) :].partition("/")
            upstream = self.upstreams.get(unquote(server))
            return Route(upstream, unquote(rest), {}) if upstream is not None and rest else None
        if len(uri) <= 4096:
            for template, route in self.templates:
                if template.makes(uri):
                    return Route(route.upstream, uri, route.item)
        serving = [upstream for upstream in self.upstreams.values() if "resources" in upstream.capabilities]
        return Route(serving[0], uri, {}) if len(serving) == 1 else None


def qualified(server: str, uri: str) -> str:
    """Return the URI that names a resource of this server only."""
    return f"{QUALIFIED}{quote(server, safe='')}/{quote(uri, safe='')}"


Naming = Callable[[ListKind, str, str], str]
"""(kind, server, own name) → exposed name. Raises ConflictError."""


def add_server(view: View, upstream: Upstream, lists: Mapping[ListKind, Sequence[JsonObject]], naming: Naming) -> None:
    """Add a server's items; what cannot be told from an earlier server's is set aside, never takes its place."""
    view.upstreams[upstream.name] = upstream
    for item in lists.get("tools", ()):
        _add_named(view, "tools", upstream, item, naming)
    for item in lists.get("prompts", ()):
        _add_named(view, "prompts", upstream, item, naming)
    for item in lists.get("resources", ()):
        uri = str(item.get("uri", ""))
        exposed = uri if uri not in view.resources and _IS_URI.match(uri) else qualified(upstream.name, uri)
        if exposed in view.resources:
            continue
        view.resources[exposed] = route = Route(upstream, uri, item)
        view.spelled.setdefault(unquote(uri), route)
        view.lists["resources"].append(item if exposed == uri else {**item, "uri": exposed})
    for item in lists.get("templates", ()):
        route = Route(upstream, "", item)
        view.templates.append((read_template(str(item.get("uriTemplate", ""))), route))
        view.lists["templates"].append(item)


def _add_named(view: View, kind: ListKind, upstream: Upstream, item: JsonObject, naming: Naming) -> None:
    routes = view.tools if kind == "tools" else view.prompts
    name = item.get("name")
    if not isinstance(name, str) or not name:
        view.set_aside.append(f"{upstream.name}: {kind} without a name")
        return
    try:
        exposed = naming(kind, upstream.name, name)
    except ConflictError as error:
        view.set_aside.append(str(error))
        return
    if exposed in routes:
        view.set_aside.append(f"{upstream.name}: {name} is listed twice")
        return
    routes[exposed] = Route(upstream, name, item)
    view.lists[kind].append(item if exposed == name else {**item, "name": exposed})


def _known_in_sessions(item: JsonObject) -> JsonObject:
    """Leave out the schema of a result that is no object, which is known since 2026-07-28: clients refuse the list."""
    schema = item.get("outputSchema")
    if not isinstance(schema, dict) or schema.get("type") == "object":
        return item
    return {key: value for key, value in item.items() if key != "outputSchema"}
