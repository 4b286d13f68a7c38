"""A chess club: players, ratings, matches, rooms, fees."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

PLAYERS = {
    "hana weber": {"player": "Hana Weber", "rating": 1874, "born": 1999, "team": "Rooks"},
    "diego luna": {"player": "Diego Luna", "rating": 2041, "born": 1987, "team": "Bishops"},
    "박서윤": {"player": "박서윤", "rating": 1650, "born": 2008, "team": "Rooks"},
}
TEAMS = {
    "rooks": {"team": "Rooks", "captain": "Irina Volk", "points": 11, "place": 2},
    "bishops": {"team": "Bishops", "captain": "Diego Luna", "points": 14, "place": 1},
}
MATCHES = {
    "MT-41": {"match": "MT-41", "white": "Hana Weber", "black": "Diego Luna", "result": "0-1", "room": "Blue"},
    "MT-46": {"match": "MT-46", "white": "박서윤", "black": "Hana Weber", "result": "1/2-1/2", "room": "Attic"},
}


def player(name: str) -> dict:
    """A player: rating, year of birth, team."""
    return PLAYERS.get(name.casefold()) or {"found": False}


def team(name: str) -> dict:
    """A team: captain, points, place in the table."""
    return TEAMS.get(name.casefold()) or {"found": False}


def match(code: Annotated[str, Field(description="Match code such as MT-00")]) -> dict:
    """A match: who plays white and black, result, room."""
    return MATCHES.get(code.upper()) or {"found": False}


def room(name: Literal["Blue", "Attic", "Cellar"]) -> dict:
    """A room: number of boards, floor."""
    boards = {"Blue": (12, 0), "Attic": (6, 3), "Cellar": (20, -1)}[name]
    return {"room": name, "boards": boards[0], "floor": boards[1]}


def club_evening(weekday: Literal["monday", "thursday", "saturday"]) -> dict:
    """When the club is open on a day, and who has the key."""
    hours = {"monday": ("18:00-22:00", "Irina Volk"), "thursday": ("19:00-23:30", "Diego Luna")}
    found = hours.get(weekday)
    return {"weekday": weekday, "hours": found[0], "key": found[1]} if found else {"weekday": weekday, "hours": None}


def reportResult(code: Annotated[str, Field(description="Match code such as MT-00")], result: str) -> dict:  # noqa: N802
    """Enter the result of a match."""
    return {"match": code, "result": result}


def leave_team(player: str) -> dict:
    """Take a player out of the team."""
    return {"player": player, "team": None}


TOOLS = (player, team, match, room, club_evening, reportResult, leave_team)
