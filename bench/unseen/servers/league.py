"""A football league: teams, players, matches and tables; plain text results."""

from __future__ import annotations

from mcp.server import MCPServer

mcp = MCPServer("league")

TEAMS = {
    "Northport": ("Elena Ruiz", "Dock Stadium", 31),
    "Eastvale": ("Tom Hale", "Mill Park", 28),
    "한강FC": ("박동혁", "한강 스타디움", 22),
}
PLAYERS = {
    "Ivo Lind": ("Northport", "goalkeeper", 0),
    "Marco Sala": ("Eastvale", "striker", 14),
    "손지우": ("한강FC", "midfielder", 6),
}
MATCHES = {"M101": ("Northport", "Eastvale", "2-1", "2026-11-07"), "M102": ("Eastvale", "한강FC", "0-0", "2026-11-14")}


@mcp.tool()
def standings() -> str:
    """League table: rank, team and points."""
    ranked = sorted(TEAMS.items(), key=lambda one: -one[1][2])
    return "\n".join(f"{rank}. {name} - {team[2]} points" for rank, (name, team) in enumerate(ranked, 1))


@mcp.tool()
def team(name: str) -> str:
    """Coach, stadium and points of a team."""
    if name not in TEAMS:
        return f"There is no team called {name}."
    coach, stadium, points = TEAMS[name]
    return f"{name}: coach {coach}, stadium {stadium}, {points} points"


@mcp.tool()
def player(name: str) -> str:
    """Team, position and goals of a player."""
    if name not in PLAYERS:
        return f"There is no player called {name}."
    of, position, goals = PLAYERS[name]
    return f"{name} plays for {of} as {position} and has scored {goals} goals."


@mcp.tool()
def match(match_id: str) -> str:
    """Result and date of a match."""
    if match_id not in MATCHES:
        return f"No match {match_id}."
    home, away, score, day = MATCHES[match_id]
    return f"{home} - {away} {score} ({day})"


@mcp.tool()
def top_scorers(limit: int = 3) -> list[str]:
    """Players with the most goals."""
    ranked = sorted(PLAYERS.items(), key=lambda one: -one[1][2])
    return [f"{name} ({one[2]})" for name, one in ranked[:limit]]


if __name__ == "__main__":
    mcp.run()
