"""A radio station: shows, hosts, songs, charts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

SHOWS = {
    "early ferry": {"show": "Early Ferry", "host": "Maja Lind", "days": "Mon-Fri", "from": "06:00", "to": "09:00"},
    "vinyl hour": {"show": "Vinyl Hour", "host": "Seun Bello", "days": "Sat", "from": "20:00", "to": "21:00"},
}
HOSTS = {
    "maja lind": {"host": "Maja Lind", "email": "maja@tidal.example", "studio": "B"},
    "seun bello": {"host": "Seun Bello", "email": "seun@tidal.example", "studio": "A"},
}
CHART = [
    {"place": 1, "song": "Paper Moonlight", "artist": "Odile Fen", "weeks": 5},
    {"place": 2, "song": "Kilometre Zero", "artist": "The Lanterns", "weeks": 11},
    {"place": 3, "song": "Salt", "artist": "Jari Okon", "weeks": 2},
]


def on_air() -> dict:
    """What is playing right now."""
    return {"show": "Early Ferry", "song": "Kilometre Zero", "until": "09:00"}


def show(name: str) -> dict:
    """A show: host, days, hours."""
    return SHOWS.get(name.casefold()) or {"found": False}


def host(name: Annotated[str, Field(description="First and last name")]) -> dict:
    """How to reach a host, and the studio."""
    return HOSTS.get(name.casefold()) or {"found": False}


def chart() -> list:
    """This week's chart."""
    return CHART


def song_length(title: str) -> dict:
    """How long a song is, in seconds."""
    return {
        "song": title,
        "seconds": {"paper moonlight": 214, "kilometre zero": 187, "salt": 249}.get(title.casefold()),
    }


def frequency(city: str) -> dict:
    """On which frequency a city receives us, in MHz."""
    return {"city": city, "mhz": {"varn": 98.4, "karst": 101.7, "izmir": 92.1}.get(city.casefold())}


def queue_song(title: str) -> dict:
    """Put a song into the queue."""
    return {"queued": title}


TOOLS = (on_air, show, host, chart, song_length, frequency, queue_song)
