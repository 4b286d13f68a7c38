"""Calls that follow each other: a search by what the question is about, then what its id leads to."""

from __future__ import annotations

from typing import Any

import pytest

from naru.agent.events import CallFinished
from naru.agent.loop import run
from naru.messages import ChatRequest, Message
from naru.models.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.tools.combined import CombinedToolset
from naru.tools.functions import FunctionToolset

BOATS = {"B-1": ("Morning Star", 900, "kim"), "B-2": ("Gull", 700, "lee"), "B-3": ("노란 물고기", 500, "kim")}


def boats(*, searchable: bool) -> CombinedToolset:
    """Make a server that finds or lists boats, and knows more of each by its id."""

    def find_boat(name: str) -> list[dict[str, Any]]:
        """Find boats by part of their name."""
        return [{"boat_id": key, "name": one[0]} for key, one in BOATS.items() if name.lower() in one[0].lower()]

    def list_boats() -> list[dict[str, Any]]:
        """List all boats."""
        return [{"boat_id": key, "name": one[0]} for key, one in BOATS.items()]

    def boat_rent(boat_id: str) -> dict[str, Any]:
        """Rent of a boat for a day, and who is its skipper."""
        return {"boat_id": boat_id, "rent": BOATS[boat_id][1], "owner": BOATS[boat_id][2]}

    def who_is(login: str) -> dict[str, Any]:
        """Full name and phone of a skipper."""
        return {"login": login, "full_name": {"kim": "Kim Ara", "lee": "Lee Bo"}[login], "phone": "555-0101"}

    functions = [find_boat if searchable else list_boats, boat_rent, who_is]
    return CombinedToolset({"boats": FunctionToolset(functions)})


@pytest.mark.parametrize("searchable", [True, False], ids=["search", "list"])
@pytest.mark.parametrize(
    ("question", "boat"),
    [("What is the rent of the morning star?", "B-1"), ("노란 물고기의 대여 요금은 얼마야?", "B-3")],
)
async def test_a_name_leads_to_an_id_and_that_to_the_answer(question: str, boat: str, searchable: bool) -> None:
    """The model writes words alone: both calls are those that question and results leave no doubt about."""
    backend = ScriptedBackend(["I will look."], profile=Profile(family="tiny", small=True), repeat_last=True)
    events = [
        event
        async for event in run(backend, boats(searchable=searchable), ChatRequest("tiny", (Message("user", question),)))
    ]
    ran = [event.call for event in events if isinstance(event, CallFinished) and event.ran]
    assert ran[-1].name == "boats__boat_rent"
    assert ran[-1].arguments == {"boat_id": boat}


async def test_a_login_in_a_result_leads_to_the_person() -> None:
    backend = ScriptedBackend(["I will look."], profile=Profile(family="tiny", small=True), repeat_last=True)
    question = "What is the phone of the owner of boat B-2?"
    events = [
        event async for event in run(backend, boats(searchable=True), ChatRequest("tiny", (Message("user", question),)))
    ]
    ran = [event.call for event in events if isinstance(event, CallFinished) and event.ran]
    assert ran[-1].name == "boats__who_is"
    assert ran[-1].arguments == {"login": "lee"}


async def test_a_numeric_id_is_taken_from_the_row_that_names_the_subject() -> None:
    def search_films(title: str) -> list[dict[str, Any]]:
        """Search films by title."""
        return [
            {"id": 12, "title": "Night Ferry", "year": 1999},
            {"id": 14, "title": "Night Ferry Returns", "year": 2004},
        ]

    def get_film(film_id: int) -> dict[str, Any]:
        """Get a film's director and rating."""
        return {"id": film_id, "director": "Ines Sol", "rating": 7}

    backend = ScriptedBackend(["I will look."], profile=Profile(family="tiny", small=True), repeat_last=True)
    tools = CombinedToolset({"films": FunctionToolset([search_films, get_film])})
    request = ChatRequest("tiny", (Message("user", "Who directed Night Ferry Returns?"),))
    events = [event async for event in run(backend, tools, request)]
    ran = [event.call for event in events if isinstance(event, CallFinished) and event.ran]
    assert [(one.name, one.arguments) for one in ran] == [
        ("films__search_films", {"title": "Night Ferry Returns"}),
        ("films__get_film", {"film_id": 14}),
    ]
