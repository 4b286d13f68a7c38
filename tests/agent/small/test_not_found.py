"""Issue 14, 5: what one tool did not find is looked up by those that lead to it, each asked once and for itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import pytest
from bench.tongues.law import breaches
from pydantic import Field
from tests.agent.small.conftest import asked, calls

from naru.agent.hooks import Rank
from naru.agent.selection import Ranked

NOTHING = {"found": False}


def room(room: Annotated[str, Field(description="Room code")]) -> dict:
    """Floor and guard of a room."""
    return {"room": "R3", "guard": "Idris"} if room == "R3" else NOTHING


def exhibit(number: Annotated[str, Field(description="Inventory number")]) -> dict:
    """Title, artist and room of an exhibit."""
    return {"number": number, "title": "Blue Staircase", "room": "R3"} if number == "A-1200" else NOTHING


def search_exhibits(text: str) -> dict:
    """Search exhibits by title or artist; gives inventory numbers."""
    found = [{"number": "A-1200", "title": "Blue Staircase"}] if text in "Blue Staircase" else []
    return {"results": found, "total": len(found)}


def visitors(day: str) -> dict:
    """How many people came on a day."""
    return {"visitors": 2215}


def gift(name: str) -> dict:
    """Price of a thing in the shop."""
    return NOTHING


def animal(tag: Annotated[str, Field(description="Ear tag")]) -> dict:
    """Next visit of the vet to one animal."""
    return {"tag": tag, "next_visit": "2026-12-19"} if tag == "cow-031" else NOTHING


def animals_named(name: str) -> dict:
    """Find animals by name; gives their ear tags."""
    found = ["cow-031"] if name == "Berta" else []
    return {"items": found, "total": len(found)}


def said(name: str, /, **arguments: object) -> str:
    body = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{body}\n</tool_call>"


def standing(**nearest: float) -> Rank:
    async def ranked(tools: Sequence[Any], texts: Sequence[str]) -> list[Ranked]:
        return [Ranked(one, nearest.get(one.name, 0.1), closeness=0.2, talk=0.1) for one in tools]

    return ranked


def names(request: Any) -> list[str]:
    return [one.name for one in request.tools]


MUSEUM: tuple[Callable[..., Any], ...] = (room, exhibit, search_exhibits, visitors, gift)


async def test_a_thing_by_its_name_is_followed_over_its_id_to_what_was_asked_for() -> None:
    script = [said("room", room="Blue Staircase"), said("exhibit", number="12345")]
    script += [said("search_exhibits", text="Blue Staircase"), said("exhibit", number="A-1200")]
    script += [said("room", room="R3"), "Idris."]
    rank = standing(room=0.5, search_exhibits=0.4, exhibit=0.3)
    record, backend = await asked("Who guards the room of the Blue Staircase?", script, MUSEUM, rank)
    assert names(backend.requests[1]) == ["exhibit"], "what leads to a room is asked alone"
    assert "room" not in names(backend.requests[2])
    assert [name for name, _ in calls(record)] == ["room", "search_exhibits", "exhibit", "room"]
    assert record["answer"] == "Idris."
    assert breaches(record) == []


async def test_what_found_nothing_is_not_asked_again_in_place_of_a_call_with_a_made_up_number() -> None:
    script = [said("gift", name="Blue Staircase"), said("exhibit", number="12345")]
    script += [said("search_exhibits", text="Blue Staircase"), said("exhibit", number="A-1200"), "R3."]
    rank = standing(exhibit=0.5, gift=0.4, search_exhibits=0.3)
    record, backend = await asked("Where does the Blue Staircase hang?", script, MUSEUM, rank)
    assert "gift" not in names(backend.requests[2])
    assert [name for name, _ in calls(record)] == ["gift", "search_exhibits", "exhibit"]
    assert record["answer"] == "R3."


async def test_a_tool_that_lay_farther_and_found_nothing_is_not_asked_for_what_else_the_question_names() -> None:
    script = [said("gift", name="A-1200"), said("exhibit", number="A-1200"), "Blue Staircase."]
    record, backend = await asked("What are A-1200 and A-1077?", script, MUSEUM, standing(exhibit=0.5, gift=0.3))
    assert names(backend.requests[1])[0] == "exhibit"
    assert "gift" not in names(backend.requests[1])
    assert [name for name, _ in calls(record)][:2] == ["gift", "exhibit"]


async def test_a_name_in_two_scripts_that_one_tool_did_not_find_is_looked_up_in_either_by_the_next() -> None:
    async def near(text: str, others: Sequence[str]) -> list[float]:
        return [0.8 if one in ("베르타", "Berta") else 0.1 for one in others]

    script = [said("animal", tag="BERTA"), said("animals_named", name="베르타")]
    script += [said("animals_named", name="Berta"), said("animal", tag="cow-031"), "12월 19일입니다."]
    tools = (animal, animals_named, visitors, gift, room)
    rank = standing(animal=0.5, animals_named=0.4)
    record, _ = await asked("베르타(Berta)의 다음 수의사 방문은 언제야?", script, tools, rank, near)
    made = [("animal", "BERTA"), ("animals_named", "베르타"), ("animals_named", "Berta"), ("animal", "cow-031")]
    assert [(name, *arguments.values()) for name, arguments in calls(record)] == made
    assert record["answer"] == "12월 19일입니다."


async def test_a_switch_of_a_call_is_no_number_that_the_question_could_mean() -> None:
    def member(member_no: int) -> dict:
        """Until when a member has paid."""
        return {"member_no": member_no, "paid_until": "2027-02-28"}

    def courses(full: bool) -> dict:
        """Courses that are full, or not."""
        return {"courses": ["yoga"]}

    script = [said("courses", full=True), said("member", member_no=4471), "Until 2027-02-28."]
    record, _ = await asked("Until when is 4471 paid?", script, (member, courses), standing(member=0.5, courses=0.4))
    assert calls(record) == [("member", {"member_no": 4471})]
    assert record["answer"] == "Until 2027-02-28."


async def test_the_same_call_again_leaves_what_else_follows_on_its_result() -> None:
    def find_member(name: str) -> dict:
        """Find a member by name; gives the card."""
        return {"card": "M-0012", "name": "Ola Svensson"}

    def member_loans(card: Annotated[str, Field(description="Card such as M-0000")]) -> dict:
        """Books that a member has on loan."""
        return {"loans": ["Greek Lessons"]}

    async def near(text: str, others: Sequence[str]) -> list[float]:
        return [0.5 if one == "Vega" else 0.1 for one in others]

    again = said("find_member", name="Ola Svensson")
    script = [again, again, said("member_loans", card="M-0012"), "Greek Lessons."]
    tools = (find_member, member_loans, visitors, gift, room)
    question = "Which books has Ola Svensson from Vega on loan?"
    record, backend = await asked(question, script, tools, standing(member_loans=0.5, find_member=0.4), near)
    assert names(backend.requests[1]) == ["member_loans", "find_member"]
    assert calls(record)[-1] == ("member_loans", {"card": "M-0012"})
    assert record["answer"] == "Greek Lessons."


async def test_a_farewell_that_is_said_back_is_the_answer() -> None:
    async def ranked(tools: Sequence[Any], texts: Sequence[str]) -> list[Ranked]:
        return [Ranked(one, 0.1, closeness=0.05, talk=0.4) for one in tools]

    record, _ = await asked("晚安，明天见！", ["晚安，明天见！"], (visitors, gift), ranked)
    assert (calls(record), record["answer"]) == ([], "晚安，明天见！")


async def test_issue_14_a_name_of_which_a_part_found_nothing_is_asked_for_as_a_whole() -> None:
    def find_pilot(name: str) -> dict:
        """The number of a pilot."""
        return {"pilot": "P44"} if name == "Deniz Acar" else {"pilot": None}

    script = [said("find_pilot", name="Deniz"), said("find_pilot", name="Deniz Acar"), "P44."]
    record, backend = await asked("Which number has Deniz Acar?", script, (find_pilot,))
    assert [arguments["name"] for _, arguments in calls(record)] == ["Deniz", "Deniz Acar"]
    assert backend.requests[1].tools[0].input_schema["properties"]["name"]["enum"] == ["Deniz Acar"]
    assert record["answer"] == "P44."
    assert breaches(record) == []


async def test_issue_14_a_name_that_was_looked_for_with_a_particle_is_asked_for_alone() -> None:
    def ship(name: str) -> dict:
        """Cars that a ship takes."""
        return {"name": name, "cars": 350} if name == "Santa Lucia" else NOTHING

    script = [said("ship", name="Santa Lucia호"), said("ship", name="Santa Lucia"), "350대입니다."]
    record, _ = await asked("Santa Lucia호에는 차를 몇 대까지 실을 수 있어?", script, (ship,))
    assert [arguments["name"] for _, arguments in calls(record)] == ["Santa Lucia호", "Santa Lucia"]
    assert (record["answer"], breaches(record)) == ("350대입니다.", [])


async def test_issue_14_what_a_number_did_not_find_is_searched_by_the_name_beside_it() -> None:
    def episodes(show_id: str) -> list[dict]:
        """Episodes of a show, by its id."""
        return [{"number": 42, "title": "Kelp"}] if show_id == "s1" else []

    def search_shows(query: str) -> list[dict]:
        """Find shows by title; gives ids."""
        return [{"show_id": "s1", "title": "Deep Currents"}] if query == "Deep Currents" else []

    script = [said("episodes", show_id="42"), said("search_shows", query="Deep Currents")]
    script += [said("episodes", show_id="s1"), "Kelp입니다."]
    tools = (episodes, search_shows, visitors, gift, room)
    rank = standing(episodes=0.5, search_shows=0.4)
    record, backend = await asked("Deep Currents 42화 제목이 뭐야?", script, tools, rank)
    found = next(one for one in backend.requests[1].tools if one.name == "search_shows")
    assert found.input_schema["properties"]["query"]["enum"] == ["Deep Currents", "42"]
    assert (record["answer"], breaches(record)) == ("Kelp입니다.", [])


async def test_issue_14_5_what_a_tool_said_when_it_failed_is_told_and_no_other_is_asked_where_it_took_all() -> None:
    def rate(amount: float, source: str, target: str) -> dict:
        """Convert an amount from one currency into another."""
        raise ValueError(f"no rate for {target}")

    def branch(currency: str) -> dict:
        """Which branch pays a currency out."""
        return {"branch": "Harbour"}

    script = [said("rate", amount=10, source="USD", target="CHF"), "There is no rate for CHF."]
    rank = standing(rate=0.5, branch=0.2)
    record, backend = await asked("Convert 10 USD to CHF.", script, (rate, branch, visitors, gift, room), rank)
    assert [name for name, _ in calls(record)] == ["rate"]
    assert "no rate for CHF" in backend.requests[1].messages[-1].text
    assert record["answer"] == "There is no rate for CHF."


async def test_an_id_of_the_question_is_no_option_that_a_search_can_do_without() -> None:
    def find_events(text: str = "", attendee: str = "") -> dict:
        """Search the calendar."""
        return {"events": []} if text else {"events": [{"id": "evt_a1", "title": "Dentist"}]}

    def event(event_id: str) -> dict:
        """Who takes part in an event, and where."""
        return {"id": event_id, "attendees": ["Ken"]}

    script = [said("find_events", text="evt_b7"), said("event", event_id="evt_b7"), "Ken takes part."]
    rank = standing(find_events=0.5, event=0.4)
    record, _ = await asked("Who takes part in evt_b7?", script, (find_events, event, visitors, gift, room), rank)
    assert [name for name, _ in calls(record)] == ["find_events", "event"]
    assert record["answer"] == "Ken takes part."


async def test_the_name_of_a_form_is_no_id_that_stands_for_others() -> None:
    def book(isbn: Annotated[str, Field(description="ISBN-13 of the book")]) -> dict:
        """Title and shelf of a book."""
        return {"isbn": isbn, "shelf": "B4"}

    script = [said("book", isbn="978-0-06-112008-4"), "On B4."]
    tools = (book, exhibit, visitors, gift, room)
    record, _ = await asked("On which shelf is 978-0-06-112008-4?", script, tools, standing(book=0.5))
    assert calls(record) == [("book", {"isbn": "978-0-06-112008-4"})]


async def test_issue_14_1_a_question_that_no_tool_lies_near_is_answered_in_words_where_a_call_finds_nothing() -> None:
    async def far(tools: Sequence[Any], texts: Sequence[str]) -> list[Ranked]:
        return [Ranked(one, 0.0, closeness=0.02, talk=0.3 if one.name == "gift" else 0.24) for one in tools]

    def search(text: str) -> dict:
        """Search the catalogue."""
        return {"found": []}

    script = [said("search", text="88"), "It is Oslo."]
    record, backend = await asked("What is the capital, 88 or Oslo?", script, (search, visitors, gift, room), far)
    assert record["answer"] == "It is Oslo."
    assert backend.requests[-1].messages[-1].text == "What is the capital, 88 or Oslo?"
    assert backend.requests[-1].tools == ()


def find_events(text: str = "", attendee: str = "") -> dict:
    """Search the calendar by words of the title, or by who takes part."""
    every = [
        {"id": "evt_b7", "title": "Design workshop", "who": "Ken"},
        {"id": "evt_c3", "title": "Dinner", "who": "Mia"},
    ]
    found = [one for one in every if text.lower() in one["title"].lower() and attendee in one["who"]]
    return {"events": [{"id": one["id"], "title": one["title"]} for one in found]}


def events_on(day: str) -> dict:
    """The events of a day."""
    return {"events": []}


def event_details(event_id: str) -> dict:
    """Start, end, place and people of an event."""
    return {"id": event_id, "end": "17:00"}


CALENDAR: tuple[Callable[..., Any], ...] = (event_details, events_on, find_events, visitors, gift)


async def test_issue_14_5_a_tool_named_to_need_an_id_is_led_up_to_and_followed_over_what_found_nothing() -> None:
    script = [said("events_on", day="2023-04-15"), said("find_events", text="workshop")]
    script += [said("event_details", event_id="evt_b7"), "It ends at 17:00."]
    rank = standing(event_details=0.5, events_on=0.4, find_events=0.3)
    record, backend = await asked("At what time does the workshop end?", script, CALENDAR, rank)
    assert "event_details" not in names(backend.requests[0])
    assert [name for name, _ in calls(record)] == ["events_on", "find_events", "event_details"]
    assert record["answer"] == "It ends at 17:00."


async def test_a_name_that_nobody_gave_is_left_out_where_it_need_not_be_given() -> None:
    script = [said("find_events", text="workshop", attendee="John Doe"), "It is evt_b7."]
    record, _ = await asked("Which event is the workshop?", script, CALENDAR, standing(find_events=0.5))
    assert calls(record)[0] == ("find_events", {"text": "workshop"})


@pytest.mark.parametrize(
    ("question", "first", "left"),
    [
        ("민수가 참석하는 일정은?", {"text": "민수가 가는 모든 일정", "attendee": "민수"}, ["attendee"]),
        ("Which events does Ken attend?", {"text": "Ken", "attendee": "Ken"}, ["attendee"]),
        ("Which events does Ken attend?", {"attendee": "Ken"}, ["text"]),
    ],
)
async def test_of_options_that_found_nothing_those_that_nobody_gave_or_that_say_the_same_go_first(
    question: str, first: dict[str, str], left: list[str]
) -> None:
    def search(text: str = "", attendee: str = "") -> dict:
        """Search the calendar by words of the title, or by who takes part."""
        return {"events": []}

    script = [said("search", **first), said("search", **dict.fromkeys(left, "Ken")), "The workshop.", "The workshop."]
    _, backend = await asked(question, script, (search, events_on, visitors, gift, room), standing(search=0.5))
    again = backend.requests[1].tools[0]
    assert (again.name, list(again.input_schema["properties"])) == ("search", left)


@pytest.mark.parametrize(("near", "asked_too"), [(0.45, ["notes", "ticket"]), (0.2, ["notes"])])
async def test_an_empty_list_for_an_id_leads_to_what_is_as_near_and_takes_it(near: float, asked_too: list[str]) -> None:
    def notes(number: int) -> list[str]:
        """Notes of a ticket."""
        return []

    def ticket(number: int) -> dict:
        """Subject and state of a ticket."""
        return {"number": number, "subject": "Cannot print"}

    script = [said("notes", number=413), said("ticket", number=413), "It cannot print."][: len(asked_too) + 1]
    script[-1] = "It cannot print."
    rank = standing(notes=0.5, ticket=near)
    record, _ = await asked("What is ticket 413 about?", script, (notes, ticket, visitors, gift, room), rank)
    assert [name for name, _ in calls(record)] == asked_too


async def test_an_id_that_one_tool_did_not_find_is_asked_of_those_about_as_near_before_others() -> None:
    def mechanic(mechanic_id: str) -> dict:
        """Name and phone of a mechanic."""
        if mechanic_id != "MC-2":
            raise ValueError(f"mechanic {mechanic_id} does not exist")
        return {"name": "Piet Boer", "phone": "555-0141"}

    def job(job_id: str) -> dict:
        """What is done in a job, and by which mechanic."""
        return {"job": job_id, "mechanic_id": "MC-2"}

    def part(name: str) -> dict:
        """How many of a part there are."""
        return {"part": name, "left": 4}

    script = [said("mechanic", mechanic_id="J-541"), said("job", job_id="J-541"), said("mechanic", mechanic_id="MC-2")]
    rank = standing(mechanic=0.5, job=0.45, part=0.2)
    question = "What is the phone number of the mechanic of job J-541?"
    record, backend = await asked(question, [*script, "555-0141."], (mechanic, job, part, visitors, gift), rank)
    assert names(backend.requests[1]) == ["job"]
    assert record["answer"] == "555-0141."
