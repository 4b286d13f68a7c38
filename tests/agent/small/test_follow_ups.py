"""Issue 14, 5 and 6: a follow-up is about what was spoken of before; what was not found is looked up elsewhere."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from bench.tongues.law import breaches
from pydantic import Field
from tests.agent.small.conftest import asked, calls

from naru.agent.recall import Recall
from naru.agent.selection import Ranked
from naru.messages import ChatRequest, Message


def exhibit(number: Annotated[str, Field(description="Inventory number")]) -> dict:
    """Title and artist of an exhibit."""
    return {"number": number, "artist": "Karel Novak"} if number == "A-1077" else {"error": "In no catalogue."}


def room(code: Annotated[str, Field(description="Room code")]) -> dict:
    """Floor and guard of a room."""
    return {"code": code, "floor": 2, "guard": "Carmen"} if code == "R7" else {"found": False}


def visitors(day: Annotated[str, Field(json_schema_extra={"format": "date"})]) -> dict:
    """How many people came on a day."""
    return {"day": day, "visitors": 2215}


def find_applicant(name: str) -> dict:
    """Find applicants by name; gives their ids."""
    found = [{"applicant_id": "APP-91", "name": "Felix Braun"}]
    return {"items": [one for one in found if name in one["name"]], "total": 1}


def applicant(applicant_id: Annotated[str, Field(description="APP- and a number")]) -> dict:
    """Stage and score of an applicant."""
    return {"applicant_id": applicant_id, "stage": "rejected", "score": 42}


def dismiss(applicant_id: Annotated[str, Field(description="APP- and a number")]) -> dict:
    """Turn an applicant down."""
    return {"dismissed": applicant_id}


def member(member_no: int) -> dict:
    """Plan of a member."""
    return {"member_no": member_no, "plan": "gold"}


def locker(member_no: int) -> dict:
    """Locker of a member."""
    return {"locker": 38}


def said(name: str, /, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


async def test_an_id_that_one_tool_did_not_find_is_looked_up_by_those_that_take_a_text() -> None:
    script = [said("exhibit", number="R7"), said("room", code="R7"), "Carmen."]
    record, backend = await asked("R7 전시실의 경비원은?", script, (exhibit, room, visitors))
    assert calls(record) == [("exhibit", {"number": "R7"}), ("room", {"code": "R7"})]
    assert backend.requests[1].tools[0].input_schema["properties"]["code"]["enum"] == ["R7"]
    assert record["answer"] == "Carmen."
    assert breaches(record) == []


async def test_a_tool_whose_id_nobody_knows_is_not_asked_for_again_where_another_gives_the_id() -> None:
    def consumption(meter: Annotated[str, Field(description="Meter such as MZ-0000")], month: str) -> dict:
        """Energy used in a month."""
        return {"kwh": 120.8} if meter == "MZ-6127" else {"found": False}

    def customer(customer_id: Annotated[str, Field(description="Customer such as K00000")]) -> dict:
        """Name and meter of a customer."""
        return {"name": "Luca Ferri", "meter": "MZ-6127"}

    taken = said("consumption", meter="MZ-0000", month="2026-11")
    found = [said("customer", customer_id="K20977"), said("consumption", meter="MZ-6127", month="2026-11")]
    script = [said("consumption", meter="K20977", month="2026-11"), taken, *found, "120.8 kWh."]
    record, backend = await asked("How much did K20977 use in November 2026?", script, (consumption, customer))
    assert [name for name, _ in calls(record)] == ["customer", "consumption"]
    assert [[one.name for one in each.tools] for each in backend.requests[2:4]] == [["customer"], ["consumption"]]
    assert record["answer"] == "120.8 kWh."


async def test_an_id_written_with_its_noun_is_looked_up_again_without_it() -> None:
    script = [said("exhibit", number="작품 A-1077"), said("exhibit", number="A-1077"), "Karel Novak."]
    record, _ = await asked("작품 A-1077은 누가 만들었어?", script, (exhibit, visitors))
    assert calls(record)[-1] == ("exhibit", {"number": "A-1077"})
    assert record["answer"] == "Karel Novak."


async def test_a_date_in_words_is_asked_for_once_more_in_the_form_that_the_schema_names() -> None:
    script = [said("visitors", day="2026年11月22日"), said("visitors", day="2026-11-22"), "2215人です。"]
    record, backend = await asked("2026年11月22日の来館者数は？", script, (exhibit, visitors))
    assert calls(record) == [("visitors", {"day": "2026-11-22"})]
    assert backend.requests[1].tools[0].input_schema["properties"]["day"]["format"] == "date"


async def test_a_name_that_was_written_as_one_word_is_looked_up_as_the_person_wrote_it() -> None:
    script = [said("find_applicant", name="felixbraun"), said("applicant", applicant_id="APP-91"), "He was rejected."]
    record, _ = await asked("Is Felix Braun still in the race?", script, (find_applicant, applicant))
    assert calls(record)[0] == ("find_applicant", {"name": "Felix Braun"})
    assert record["rounds"][0]["calls"][0]["mended"] is True


@pytest.mark.parametrize("ticket_id", ["F-7171", "F-0031"])
async def test_what_may_change_something_does_not_follow_a_lookup_that_the_model_chose_in_its_place(
    ticket_id: str,
) -> None:
    def ticket(ticket: Annotated[str, Field(description="Ticket such as F-0000")]) -> dict:
        """A ticket: passenger, ferry, price."""
        return {"passenger": "Ana Bell", "refund_to": "IB-77"} if ticket == "F-0031" else {"result": []}

    def cancel_ticket(ticket: Annotated[str, Field(description="Ticket such as F-0000")], refund_to: str) -> dict:
        """Cancel a ticket and pay the money back."""
        return {"cancelled": ticket}

    async def ranked(tools, texts):
        near = {"cancel_ticket": 0.5, "ticket": 0.4}
        return [Ranked(one, n := near[one.name], closeness=n, ordered=0.11 * (n > 0.4)) for one in tools]

    script = [said("ticket", ticket=ticket_id), "It is not here." if ticket_id == "F-7171" else "Ana Bell's."]
    record, backend = await asked(f"Whose is {ticket_id}?", script, (ticket, cancel_ticket), ranked)
    assert (calls(record), record["answer"]) == ([("ticket", {"ticket": ticket_id})], script[1])
    assert [one.tool_choice for one in backend.requests] == [None, None]


async def test_what_the_nearest_tool_does_not_find_for_an_id_is_not_told_by_others_of_the_same_parameter() -> None:
    def shelf(member_no: int) -> dict:
        """Shelf of a member."""
        return {"found": False}

    async def ranked(tools, texts):
        return [Ranked(one, 0.2 + 0.2 * (one.name == "shelf"), closeness=0.2) for one in tools]

    script = [said("shelf", member_no=4490), "Member 4490 has no shelf."]
    record, backend = await asked("Which shelf has member 4490?", script, (member, shelf), ranked)
    assert calls(record) == [("shelf", {"member_no": 4490})]
    assert [len(one.tools) for one in backend.requests] == [2, 0]
    assert record["answer"] == "Member 4490 has no shelf."


async def test_a_tool_that_gives_the_id_which_was_lacking_stands_before_those_that_are_only_near() -> None:
    def animal(tag: Annotated[str, Field(description="Ear tag")]) -> dict:
        """Stall of one animal."""
        return {"tag": tag, "stall": "hill"} if tag == "goat-008" else {"found": False}

    def animals_named(name: str) -> dict:
        """Find animals by name; gives their tags."""
        return {"items": ["goat-008"], "total": 1}

    async def ranked(tools, texts):
        nearest = {"animal": 0.5, "room": 0.4, "visitors": 0.4}
        return [Ranked(one, nearest.get(one.name, 0.1), closeness=0.2, talk=0.1) for one in tools]

    script = [said("animal", tag="Pico"), said("animals_named", name="Pico"), said("animal", tag="goat-008"), "Hill."]
    tools = (room, visitors, animal, animals_named, exhibit)
    record, backend = await asked("In which stall is Pico?", script, tools, ranked)
    assert backend.requests[1].tools[0].name == "animals_named"
    assert calls(record)[-1] == ("animal", {"tag": "goat-008"})
    assert record["answer"] == "Hill."


async def test_a_result_of_nothing_but_an_id_leads_on_and_is_not_told_at_the_end() -> None:
    async def ranked(tools, texts):
        return [Ranked(one, 0.2 + 0.2 * (one.name == "find_applicant"), closeness=0.2) for one in tools]

    script = [said("find_applicant", name="Felix Braun"), said("applicant", applicant_id="APP-91"), "42"]
    tools = (find_applicant, applicant, exhibit, room, visitors)
    record, backend = await asked("What score has Felix Braun?", script, tools, ranked)
    assert [name for name, _ in calls(record)] == ["find_applicant", "applicant"]
    told = backend.requests[-1].messages[-1].text
    assert "score: 42" in told
    assert "find_applicant" not in told


async def test_no_change_follows_a_lookup_which_the_model_did_not_think_of_itself() -> None:
    async def ranked(tools, texts):
        nearest = {"dismiss": 0.4}
        return [
            Ranked(one, nearest.get(one.name, 0.2), closeness=0.2, ordered=0.3 * (one.name == "dismiss"))
            for one in tools
        ]

    def script(request):
        names = [tool.name for tool in request.tools]
        for name in ("dismiss", "applicant"):
            if request.tool_choice == "required" and name in names:
                return said(name, applicant_id="APP-91")
        return said("find_applicant", name="Felix Braun") if names else "He was rejected."

    tools = (find_applicant, applicant, dismiss, exhibit, room)
    record, _ = await asked("Is Felix Braun still in the race?", script, tools, ranked)
    assert [name for name, _ in calls(record)] == ["find_applicant", "applicant"]


async def test_a_follow_up_takes_the_id_of_the_turns_before_and_no_day_of_a_date() -> None:
    turns = [
        Message("user", "회원 4502의 플랜이 뭐야?"),
        Message("assistant", "회원 4502의 플랜은 1월 15일까지 gold입니다."),
        Message("user", "사물함 번호는?"),
    ]

    async def near(tools, texts):
        return [Ranked(one, 0.2, closeness=0.2, talk=0.1) for one in tools]

    record, backend = await asked(
        turns, ["9999번입니다.", said("locker", member_no=4502), "38"], (member, locker), near
    )
    assert calls(record) == [("locker", {"member_no": 4502})]
    again = backend.requests[1]
    assert "none" not in [tool.name for tool in again.tools], "words with a value of no source must look"
    assert again.tools[0].input_schema["properties"]["member_no"]["enum"] == [4502]
    assert "locker(member_no=4502)" in backend.requests[2].messages[-1].text


def tides(day: Literal["today", "tomorrow"]) -> dict:
    """High water and low water."""
    return {"day": day, "high": {"today": "04:52", "tomorrow": "05:41"}[day]}


def customer(customer_id: Annotated[str, Field(description="Customer id such as K00000")]) -> dict:
    """Address of a customer."""
    return {"customer_id": customer_id, "address": "Mill Lane 3" if customer_id == "K20418" else "Dock Street 18"}


@pytest.mark.parametrize(
    ("before", "question", "called", "answer", "may_pick_none"),
    [
        (("When is high water today?", "At 04:52."), "And tomorrow?", ("tides", {"day": "tomorrow"}), "05:41", False),
        (
            ("Adresse du client K20418 ?", "Mill Lane 3."),
            "Et celle de K20977 ?",
            ("customer", {"customer_id": "K20977"}),
            "Dock Street 18",
            False,
        ),
        (("When is high water today?", "At 04:52."), "Is today's early?", ("tides", {"day": "today"}), "04:52", True),
    ],
    ids=["a listed value", "an id", "spoken of before"],
)
async def test_issue_14_6_a_follow_up_about_another_thing_is_looked_up_though_a_result_is_in_view(
    before: tuple[str, str], question: str, called: tuple[str, dict], answer: str, may_pick_none: bool
) -> None:
    async def near(tools, texts):
        return [Ranked(one, 0.2, closeness=0.2, talk=0.1) for one in tools]

    turns = [Message("user", before[0]), Message("assistant", before[1]), Message("user", question)]
    script = [before[1], said(called[0], **called[1]), answer]
    record, backend = await asked(turns, script, (tides, customer), near)
    assert ("none" in [tool.name for tool in backend.requests[1].tools]) is may_pick_none
    assert calls(record) == [called]
    assert record["answer"] == answer
    assert breaches(record) == []


@pytest.mark.parametrize("is_listed", [False, True], ids=["a text", "a listed value"])
async def test_a_value_leads_on_to_the_tool_that_is_named_after_its_key(is_listed: bool) -> None:
    def bike(bike: Annotated[str, Field(description="Bike such as BK-000")]) -> dict:
        """Kind and place of a bike."""
        return {"bike": bike, "station": "market"}

    schema = {"enum": ["harbour", "market"]} if is_listed else {}

    def get_station(name: Annotated[str, Field(json_schema_extra=schema)]) -> dict:
        """Free docks of a station."""
        return {"free_docks": 11}

    async def ranked(tools, texts):
        nearest = {"get_station": 0.5, "bike": 0.3}
        return [Ranked(one, nearest.get(one.name, 0.1), closeness=0.2) for one in tools]

    script = [said("bike", bike="BK-207"), said("get_station", name="market"), "11."]
    tools = (bike, get_station, exhibit, room, visitors)
    record, backend = await asked("How many docks are free where BK-207 stands?", script, tools, ranked)
    assert [name for name, _ in calls(record)] == ["bike", "get_station"]
    assert backend.requests[1].tools[0].input_schema["properties"]["name"]["enum"] == ["market"]
    assert record["answer"] == "11."


async def test_an_id_under_a_key_of_another_script_than_the_parameters_leads_on() -> None:
    def animal_info(name: str) -> dict:
        """동물의 담당 사육사 사번."""
        return {"이름": "보리", "종": "호랑이", "사육사": "K-03"}

    def keeper_info(keeper_id: str) -> dict:
        """사육사의 연락처."""
        return {"연락처": "0103"} if keeper_id == "K-03" else {"found": False}

    async def ranked(tools, texts):
        return [Ranked(one, 0.5 if one.name == "keeper_info" else 0.3, closeness=0.3) for one in tools]

    script = [said("keeper_info", keeper_id="12345"), said("animal_info", name="보리")]
    script += [said("keeper_info", keeper_id="K-03"), "0103입니다."]
    record, _ = await asked("보리를 돌보는 사육사 연락처가 뭐야?", script, (animal_info, keeper_info), ranked)
    assert calls(record) == [("animal_info", {"name": "보리"}), ("keeper_info", {"keeper_id": "K-03"})]
    assert record["answer"] == "0103입니다."
    assert breaches(record) == []


def greenhouse(code: str) -> dict:
    """Temperature, humidity and gardener of a greenhouse."""
    return {"code": code, "celsius": 17.0, "humidity_percent": 83, "gardener": "Piet Mulder"}


def watering(code: str) -> dict:
    """When a greenhouse was watered last."""
    return {"code": code, "last": "2026-11-28"}


async def follow_up(
    question: str, script: list[str], nearest: str, ordered: float = 0.0
) -> tuple[dict, list[ChatRequest]]:
    async def near(tools, texts):
        tilt = {"watering": ordered}
        score = {nearest: 0.4}
        return [Ranked(one, score.get(one.name, 0.1), 0.3, tilt.get(one.name, 0.0), 0.1) for one in tools]

    held, first = Recall(), [said("greenhouse", code="G5"), "It is 17.0 degrees warm."]
    turns = [Message("user", "How warm is it in G5?")]
    record, _ = await asked(turns, first, (greenhouse, watering), near, recall=held)
    turns += [Message("assistant", record["answer"]), Message("user", question)]
    record, backend = await asked(turns, script, (greenhouse, watering), near, recall=held)
    assert breaches(record) == []
    return record, backend.requests


@pytest.mark.parametrize("words", ["It is rather dry.", "It is 40 % damp."], ids=["words", "a number of no source"])
async def test_words_about_what_is_in_view_are_asked_for_from_that_where_it_is_about_no_other_thing(words: str) -> None:
    script = [words, said("greenhouse", code="G5"), "It is 83 % damp."]
    record, requests = await follow_up("And how damp?", script, "greenhouse")
    assert (record["answer"], calls(record)) == ("It is 83 % damp.", [])
    last = requests[-1].messages[-1].text
    assert "humidity percent: 83" in last
    assert last.endswith("Question: And how damp?")


async def test_what_lies_nearer_than_what_is_in_view_may_be_looked_up_with_that_in_front() -> None:
    script = ["On Monday.", said("greenhouse", code="G5"), said("watering", code="G5"), "On 2026-11-28."]
    record, requests = await follow_up("When was it watered?", script, "watering")
    assert calls(record) == [("watering", {"code": "G5"})]
    assert "none" in [tool.name for tool in requests[2].tools]
    assert requests[2].messages[-1].text.startswith("greenhouse(code=G5):")
    assert record["answer"] == "On 2026-11-28."


async def test_an_earlier_answer_said_again_is_asked_for_once_more_without_what_was_said_before() -> None:
    again = "It is 17.0 degrees warm."
    script = ["It is damp.", said("greenhouse", code="G5"), again, "It is 83 % damp."]
    record, requests = await follow_up("And how damp?", script, "greenhouse")
    assert record["answer"] == "It is 83 % damp."
    assert again not in [turn.text for turn in requests[-1].messages]
    record, _ = await follow_up("How warm, again?", [again, said("greenhouse", code="G5"), again, again], "greenhouse")
    assert record["answer"] == again


async def test_what_may_change_something_is_not_asked_for_beside_what_is_in_view() -> None:
    script = ["On Monday.", said("greenhouse", code="G5"), "Nobody has told me."]
    record, requests = await follow_up("When will it be watered?", script, "watering", ordered=0.1)
    assert (calls(record), record["answer"]) == ([], "Nobody has told me.")
    assert [[tool.name for tool in one.tools] for one in requests[1:]] == [["greenhouse"], []]
