"""Songs, albums, artists and playlists, with numbers as ids and chains of three."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

mcp = MCPServer("music")

ARTISTS = {1: {"id": 1, "name": "The Paper Kites", "country": "Australia"}, 2: {"id": 2, "name": "새소년", "country": "South Korea"}}  # fmt: skip
ALBUMS = {
    21: {"id": 21, "title": "Twelvefour", "artist_id": 1, "year": 2015, "label": "Wonderlick"},
    22: {"id": 22, "title": "여름깃", "artist_id": 2, "year": 2017, "label": "붕가붕가레코드"},
}
TRACKS = {
    301: {"id": 301, "title": "Electric Indigo", "album_id": 21, "seconds": 253},
    302: {"id": 302, "title": "Revelator Eyes", "album_id": 21, "seconds": 236},
    303: {"id": 303, "title": "긴 꿈", "album_id": 22, "seconds": 262},
}
PLAYLISTS = {"Morning": [301, 303], "Running": [302]}


@mcp.tool()
def search_tracks(query: str, limit: int = 10) -> list[dict]:
    """Search the catalogue for tracks by title."""
    return [one for one in TRACKS.values() if query.lower() in one["title"].lower()][:limit]


@mcp.tool()
def get_album(album_id: int) -> dict:
    """Album details: title, artist, year of release, label."""
    if album_id not in ALBUMS:
        raise ToolError(f"Unknown album: {album_id}")
    return ALBUMS[album_id]


@mcp.tool()
def get_artist(artist_id: int) -> dict:
    """Artist details."""
    if artist_id not in ARTISTS:
        raise ToolError(f"Unknown artist: {artist_id}")
    return ARTISTS[artist_id]


@mcp.tool()
def get_playlists() -> list[str]:
    """Names of the user's playlists."""
    return list(PLAYLISTS)


@mcp.tool()
def playlist_tracks(playlist: str) -> list[str]:
    """Titles of the tracks in a playlist."""
    if playlist not in PLAYLISTS:
        raise ToolError(f"Unknown playlist: {playlist}")
    return [str(TRACKS[one]["title"]) for one in PLAYLISTS[playlist]]


@mcp.tool()
def add_to_playlist(playlist: str, track_id: int) -> str:
    """Add a track to a playlist."""
    return f"Added track {track_id} to {playlist}"


if __name__ == "__main__":
    mcp.run()
