"""Podcasts: shows, episodes, hosts, subscriptions; results as sentences and lists."""

from __future__ import annotations

import json

from mcp.server import MCPServer

mcp = MCPServer("podcast")

SHOWS = {"s1": {"show_id": "s1", "title": "Deep Currents", "host_id": "h7", "language": "English"}, "s2": {"show_id": "s2", "title": "밤의 서재", "host_id": "h8", "language": "Korean"}}  # fmt: skip
HOSTS = {
    "h7": {"host_id": "h7", "name": "Mara Quinn", "city": "Cork"},
    "h8": {"host_id": "h8", "name": "서민재", "city": "Busan"},
}
EPISODES = {"s1": [{"number": 41, "title": "Eels", "minutes": 38}, {"number": 42, "title": "Kelp", "minutes": 51}], "s2": [{"number": 9, "title": "편지", "minutes": 27}]}  # fmt: skip


@mcp.tool()
def search_shows(query: str) -> str:
    """Search podcast shows by title."""
    found = [
        {"show_id": one["show_id"], "title": one["title"]}
        for one in SHOWS.values()
        if query.lower() in one["title"].lower()
    ]
    return json.dumps(found, ensure_ascii=False)


@mcp.tool()
def get_show(show_id: str) -> str:
    """Show details with host and language."""
    return json.dumps(SHOWS[show_id], ensure_ascii=False) if show_id in SHOWS else f"Show {show_id} does not exist"


@mcp.tool()
def get_host(host_id: str) -> str:
    """Name and home town of a host."""
    return json.dumps(HOSTS[host_id], ensure_ascii=False) if host_id in HOSTS else f"Host {host_id} does not exist"


@mcp.tool()
def list_episodes(show_id: str) -> str:
    """Episodes of a show with their length."""
    return json.dumps(EPISODES.get(show_id, []), ensure_ascii=False)


@mcp.tool()
def my_subscriptions() -> list[str]:
    """Titles of the shows that the user has subscribed to."""
    return ["Deep Currents", "밤의 서재"]


@mcp.tool()
def subscribe(show_id: str) -> str:
    """Subscribe to a show."""
    return f"Subscribed to {show_id}"


if __name__ == "__main__":
    mcp.run()
