"""Issue 14, 3 and 4: a value that nobody gave is doubted once; names and results say which tool takes them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Literal

import pytest
from bench.tongues.law import breaches
from pydantic import Field
from tests.agent.small.conftest import asked, calls

from naru.agent.selection import Ranked


def ship(name: str) -> dict:
    """Registration number, flag and captain of a ship."""
    return {"ship": name, "imo": "IMO9450077", "captain": "Aya Mori"}


def port_call(imo: Annotated[str, Field(examples=["IMO1234567"])]) -> dict:
    """At which berth a ship lies and when it leaves."""
    return {"imo": imo, "leaves": "2026-12-04 08:45"}


def container(container: Annotated[str, Field(examples=["ABCD-00000"])]) -> dict:
    """Goods and weight of a container."""
    return {"container": container, "goods": "coffee"}


def crane_hours(month: Annotated[str, Field(description="YYYY-MM")]) -> dict:
    """How many hours the cranes worked in a month."""
    return {"month": month, "hours": None}


def owners() -> list[dict]:
    """The owners of all the ships."""
    return [{"owner": "Nordlinie"}]


QUAY = (ship, port_call, container, crane_hours, owners)


async def of_the_cranes(tools, texts):
    return [Ranked(tool, 0.2 + 0.2 * (tool.name == "crane_hours"), closeness=0.2) for tool in tools]


def written(name: str, /, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


@pytest.mark.parametrize(
    ("question", "name", "arguments", "answer"),
    [
        ("¿Quién es el capitán del Kaito Star?", "ship", {"name": "Kaito Star"}, "Aya Mori."),
        ("What is inside container MSKU-77120?", "container", {"container": "MSKU-77120"}, "Coffee."),
    ],
)
async def test_a_value_that_was_made_up_is_asked_for_once_more_with_the_tools_that_take_what_was_given(
    question: str, name: str, arguments: dict, answer: str
) -> None:
    script = [written("crane_hours", month="2023-04"), written(name, **arguments), answer]
    record, backend = await asked(question, script, QUAY, of_the_cranes)
    assert (calls(record), record["answer"], breaches(record)) == ([(name, arguments)], answer, [])
    again = backend.requests[1]
    assert (again.tools[0].name, again.tool_choice) == (name, "required")


@pytest.mark.parametrize(
    ("question", "month"),
    [("How long did the cranes work in October 2026?", "2026-10"), ("크레인은 2026년 10월에 몇 시간?", "2026-10")],
)
async def test_a_value_of_the_question_in_another_form_is_no_made_up_one(question: str, month: str) -> None:
    record, _ = await asked(question, [written("crane_hours", month=month), "None."], QUAY, of_the_cranes)
    assert calls(record)[0] == ("crane_hours", {"month": month})


async def test_a_call_that_takes_nothing_is_not_doubted_for_a_name_in_the_question() -> None:
    record, backend = await asked("Is Kaito Star on the list?", [written("owners"), "No."], QUAY, of_the_cranes)
    assert (calls(record), record["answer"], len(backend.requests)) == ([("owners", {})], "No.", 2)


async def test_a_name_brings_the_tool_that_needs_one_text_forward_and_the_next_by_meaning_after_it_was_used() -> None:
    async def ranked(tools, texts):
        near = {"ship": 0.2, "port_call": 0.25}
        return [Ranked(tool, near.get(tool.name, 0.1), closeness=0.2) for tool in tools]

    script = [written("ship", name="Kaito Star"), written("port_call", imo="IMO9450077"), "El 4 de diciembre."]
    record, backend = await asked("¿Cuándo sale el Kaito Star?", script, QUAY, ranked)
    assert backend.requests[0].tools[0].name == "ship"
    assert [name for name, _ in calls(record)] == ["ship", "port_call"]


async def test_a_text_that_a_following_tool_needs_can_only_be_a_value_of_the_result() -> None:
    def animals_named(name: str) -> dict:
        """Find animals by name; gives their tags."""
        return {"items": ["goat-008"], "total": 1}

    def animal(tag: Annotated[str, Field(description="Ear tag")]) -> dict:
        """Stall of one animal."""
        return {"tag": tag, "stall": "hill"}

    script = [written("animals_named", name="Pico"), written("animal", tag="goat-008"), "The hill."]
    record, backend = await asked("In which stall is Pico?", script, (animals_named, animal))
    assert [name for name, _ in calls(record)] == ["animals_named", "animal"]
    assert backend.requests[1].tools[0].input_schema["properties"]["tag"]["enum"] == ["goat-008"]


async def test_an_id_is_led_up_to_by_what_speaks_of_it_and_not_by_what_shares_a_small_word() -> None:
    def visit(patient: int) -> dict:
        """The next visit of a patient."""
        return {"patient": patient, "day": "2026-12-15"}

    def weight(patient: int) -> dict:
        """Weight of a patient, and the day of it."""
        return {"patient": patient, "kg": 31}

    def search_patients(name: str) -> list[dict]:
        """Find patients by name; gives the number of the patient."""
        return [{"patient": 3220}]

    script = [
        written("visit", patient=1),
        written("search_patients", name="Bruno"),
        written("visit", patient=3220),
        "15",
    ]
    tools = (visit, weight, search_patients, owners, crane_hours)

    async def ranked(tools, texts):
        return [Ranked(tool, 0.2 + 0.2 * (tool.name == "visit"), closeness=0.2) for tool in tools]

    record, backend = await asked("When is Bruno's next visit?", script, tools, ranked)
    shown = [tool.name for tool in backend.requests[1].tools]
    assert "search_patients" in shown
    assert not {"owners", "crane_hours"} & set(shown)
    assert [name for name, _ in calls(record)] == ["search_patients", "visit"]


def get_order(order_number: int) -> dict:
    """Goods and time of pick-up of an order."""
    return {"order": order_number, "pick_up": "07:30"}


def place_order(customer: str, product: str, pieces: int) -> dict:
    """Order goods for a customer."""
    return {"ordered": product}


def report_damage(policy: str, cause: str) -> dict:
    """File a claim."""
    return {"claim": 790}


def book_visit(day: str, guests: int) -> dict:
    """A visit for a group."""
    return {"booked": day}


@pytest.mark.parametrize(
    ("called", "ahead"), [("place_order", 0.0), ("place_order", 0.3), ("report_damage", 0.0), ("book_visit", 0.0)]
)
async def test_issue_14_a_question_never_runs_what_changes_something_where_a_tool_reads(
    called: str, ahead: float
) -> None:
    tilts = {"place_order": 0.38, "report_damage": 0.12, "get_order": -0.03, "book_visit": 0.12}

    async def of_a_bakery(tools, texts):
        near = {called: 0.3 + ahead}
        own = [
            replace(one, annotations={"readOnlyHint": False}) if ahead and one.name == called else one for one in tools
        ]
        return [
            Ranked(one, n := near.get(one.name, 0.3), closeness=n, ordered=tilts[one.name], wish=-0.2) for one in own
        ]

    values = {
        "place_order": {"customer": "5101", "product": "apple", "pieces": 1},
        "report_damage": {"policy": "5101", "cause": "unknown"},
        "book_visit": {"day": "today", "guests": 5101},
    }[called]
    script = [written(called, **values), written("get_order", order_number=5101), "It is picked up at 07:30."]
    record, backend = await asked(
        "When will order 5101 be picked up?", script, (place_order, report_damage, get_order, book_visit), of_a_bakery
    )
    assert calls(record) == [("get_order", {"order_number": 5101})]
    assert (record["answer"], breaches(record)) == ("It is picked up at 07:30.", [])
    assert [tool.name for tool in backend.requests[1].tools] == ["get_order"]


def convert(amount: int, source: str, target: str) -> str:
    """Change money of one currency into another."""
    return f"{amount} {source} = {amount * 4 // 5} {target}"


async def test_issue_14_a_call_of_what_was_said_runs_though_nobody_can_tell_what_its_tool_does() -> None:
    async def of_a_bank(tools, texts):
        return [Ranked(one, 0.3, closeness=0.3, ordered=0.1 * (one.name == "convert"), wish=-0.2) for one in tools]

    wanted = {"amount": 50, "source": "USD", "target": "EUR"}
    script = [written("convert", **wanted), "50 USD are 40 EUR."]
    record, _ = await asked("How much is 50 USD in EUR?", script, (convert, get_order), of_a_bank)
    assert calls(record) == [("convert", wanted)]
    assert record["answer"] == "50 USD are 40 EUR."


def supplier_count() -> int:
    """How many suppliers there are."""
    return 2


def drug(record_id: Annotated[str, Field(examples=["RX-000"])]) -> dict:
    """Strength, stock and supplier of a drug."""
    return {"drug": record_id, "supplier": "Hanbit"}


async def test_issue_14_an_id_that_the_called_tool_does_not_take_is_asked_of_one_that_takes_it() -> None:
    async def of_a_pharmacy(tools, texts):
        return [Ranked(one, 0.3, closeness=0.3, ordered=0.0, wish=-0.2) for one in tools]

    script = [written("supplier_count", record_id="RX-301"), written("drug", record_id="RX-301"), "Hanbit supplies it."]
    record, _ = await asked("Who supplies RX-301?", script, (supplier_count, drug), of_a_pharmacy)
    assert calls(record) == [("drug", {"record_id": "RX-301"})]
    assert record["answer"] == "Hanbit supplies it."


async def test_issue_14_an_order_runs_what_the_model_called_though_a_tool_near_by_reads() -> None:
    async def of_a_bakery(tools, texts):
        return [Ranked(one, 0.3, closeness=0.3, ordered=0.38 * (one.name == "place_order"), wish=0.1) for one in tools]

    wanted = {"customer": "c-17", "product": "rye loaf", "pieces": 3}
    script = [written("place_order", **wanted), "Three rye loaves were ordered."]
    record, _ = await asked("Order 3 rye loaves for c-17.", script, (place_order, get_order), of_a_bakery)
    assert calls(record) == [("place_order", wanted)]


Slip = Annotated[str, Field(examples=["LT-0000"])]


def ticket(slip: Slip) -> dict:
    """What was handed in, and its shelf."""
    return {"slip": slip, "shelf": "B4"}


def discard(slip: Slip) -> dict:
    """Throw away what was never fetched."""
    return {"slip": slip, "discarded": True}


def colleague(name: str) -> dict:
    """Somebody who works here."""
    return {"found": False}


LAUNDRY = (ticket, discard, colleague, owners, crane_hours)


def of_a_laundry(wish: float, **near: float):
    async def rank(tools, texts):
        tilts = {"discard": 0.02, "colleague": -0.02}
        shown = [(one, near.get(one.name, 0.1), tilts.get(one.name, -0.1)) for one in tools]
        ranked = [Ranked(one, score, closeness=score, ordered=to, wish=wish) for one, score, to in shown]
        return sorted(ranked, key=lambda one: -one.score)

    return rank


@pytest.mark.parametrize(
    ("wish", "shown"),
    [(-0.18, ["ticket"]), (0.0, ["ticket", "discard"])],
    ids=["a question", "perhaps an order"],
)
async def test_issue_14_a_question_is_shown_nothing_that_may_change_beside_the_nearest_to_which_all_was_said(
    wish: float, shown: list[str]
) -> None:
    script = [written("ticket", slip="LT-3301"), "It is on shelf B4."]
    rank = of_a_laundry(wish, ticket=0.22, discard=0.16)
    record, backend = await asked("Which shelf is LT-3301 on?", script, LAUNDRY, rank)
    assert [tool.name for tool in backend.requests[0].tools][:2] == shown
    assert record["answer"] == "It is on shelf B4."


@pytest.mark.parametrize(
    ("wish", "first"), [(-0.04, "ticket"), (0.16, "discard")], ids=["perhaps a question", "an order"]
)
async def test_issue_14_what_only_tells_something_loses_nearness_to_an_order(wish: float, first: str) -> None:
    script = [written("discard", slip="LT-3301"), "LT-3301 is gone."]
    rank = of_a_laundry(wish, ticket=0.22, discard=0.2)
    record, backend = await asked("Nobody ever came for LT-3301, get rid of it.", script, LAUNDRY, rank)
    assert backend.requests[0].tools[0].name == first
    assert calls(record) == [("discard", {"slip": "LT-3301"})]


@pytest.mark.parametrize("question", ["Wer kümmert sich um LT-3301?", "Kümmert sich Mirko um LT-3301?"])
async def test_issue_14_what_another_tool_could_not_take_or_find_is_not_looked_for_by_what_may_change_it(
    question: str,
) -> None:
    script = [written("colleague", name="Mirko"), written("ticket", slip="LT-3301"), "B4."]
    rank = of_a_laundry(-0.18, ticket=0.15, discard=0.14, colleague=0.3)
    record, backend = await asked(question, script, LAUNDRY, rank)
    assert [tool.name for tool in backend.requests[1].tools] == ["ticket"]
    assert calls(record)[-1] == ("ticket", {"slip": "LT-3301"})


def night(day: str) -> dict:
    """Who observes in a night, and how cloudy it is."""
    return {"day": day, "observer": "OB-9", "cloud_cover": 85}


def observer(observer: Annotated[str, Field(examples=["OB-0"])]) -> dict:
    """Name and phone of an observer."""
    return {"observer": observer, "name": "Elin Dahl", "phone": "5564"}


async def of_the_night(tools, texts):
    return [Ranked(tool, 0.2 + 0.3 * (tool.name == "night"), closeness=0.3, ordered=-0.1) for tool in tools]


async def test_issue_14_an_answer_that_tells_an_id_in_place_of_what_it_is_of_leads_to_the_tool_that_reads_it() -> None:
    script = [
        written("night", day="2026-12-06"),
        "The phone number is OB-9.",
        written("observer", observer="OB-9"),
        "The phone number of Elin Dahl is 5564.",
    ]
    question = "What is the phone number of who observes on 2026-12-06?"
    record, backend = await asked(question, script, (night, observer), of_the_night)
    assert calls(record) == [("night", {"day": "2026-12-06"}), ("observer", {"observer": "OB-9"})]
    assert (record["answer"], breaches(record)) == (script[-1], [])
    assert (backend.requests[2].tools[0].name, backend.requests[2].tool_choice) == ("observer", "required")


async def test_issue_14_an_answer_that_tells_what_a_result_holds_beside_its_id_stands_as_it_is() -> None:
    script = [written("night", day="2026-12-06"), "It is 85 % cloudy."]
    record, backend = await asked("How cloudy is it on 2026-12-06?", script, (night, observer), of_the_night)
    assert (record["answer"], len(backend.requests)) == ("It is 85 % cloudy.", 2)


def judge_info(name: str) -> dict:
    """Phone number of a judge."""
    return {"name": name, "phone": "0441"}


def courtroom(number: int) -> dict:
    """Floor of a courtroom."""
    return {"courtroom": number, "floor": 2}


def get_case(case: Annotated[str, Field(examples=["C-000"])]) -> dict:
    """Judge, parties and courtroom of a case."""
    parties = [{"role": "claimant", "name": "Mirela Popa"}]
    return {"case": case, "parties": parties, "judge": "Abena Osei", "courtroom": 5}


@pytest.mark.parametrize(
    ("tool", "name", "value"), [(judge_info, "name", "Abena Osei"), (courtroom, "number", 5)], ids=["text", "number"]
)
async def test_issue_14_a_tool_that_is_named_after_a_key_takes_its_value_and_no_other_name(
    tool, name: str, value: object
) -> None:
    async def ranked(tools, texts):
        return [Ranked(one, 0.5 - 0.3 * (one.name == "get_case"), closeness=0.3) for one in tools]

    script = [written("get_case", case="C-118"), written(tool.__name__, **{name: value}), "Told."]
    record, backend = await asked("What of the judge or the room of C-118?", script, (get_case, tool), ranked)
    assert backend.requests[1].tools[0].input_schema["properties"][name]["enum"] == [value]
    assert [each for _, each in calls(record)] == [{"case": "C-118"}, {name: value}]


async def test_issue_14_a_call_that_holds_nothing_of_a_question_with_an_id_gives_way_to_what_takes_the_id() -> None:
    def hive(hive_id: Annotated[str, Field(examples=["H-00"])]) -> dict:
        """Queen and frames of a hive."""
        return {"hive": hive_id, "queen_born": 2025}

    def honey(kind: Literal["linden", "acacia"]) -> dict:
        """Jars of honey."""
        return {"jars": 62}

    script = [written("honey", kind="linden"), written("hive", hive_id="H-07"), "2025."]
    record, backend = await asked("Quel âge a la reine de H-07 ?", script, (hive, honey))
    assert [tool.name for tool in backend.requests[1].tools] == ["hive"]
    assert (calls(record), record["answer"]) == ([("hive", {"hive_id": "H-07"})], "2025.")


async def test_issue_14_a_number_cut_out_of_an_id_gives_way_to_what_takes_the_whole_id() -> None:
    def get_guest(guest_id: int) -> dict:
        """Name and country of a guest."""
        return {"guest_id": guest_id, "country": "South Korea"}

    def get_reservation(reservation_id: Annotated[str, Field(description="such as RSV-0001")]) -> dict:
        """Room and guest of a reservation."""
        return {"reservation_id": reservation_id, "guest_id": 72}

    script = [written("get_guest", guest_id=2202), written("get_reservation", reservation_id="RSV-2202"), "72."]
    record, backend = await asked("Which guest has RSV-2202?", script, (get_guest, get_reservation))
    assert [one.name for one in backend.requests[1].tools] == ["get_reservation"]
    assert calls(record) == [("get_reservation", {"reservation_id": "RSV-2202"})]
    assert (record["answer"], breaches(record)) == ("72.", [])


async def test_issue_14_a_made_up_number_gives_way_to_what_takes_as_many_names_as_were_said() -> None:
    def sailing_status(sailing: str) -> dict:
        """Whether a sailing is on time."""
        return {"sailing": sailing, "status": "on time"}

    def list_sailings(from_port: str, to_port: str) -> list[dict]:
        """Sailings between two ports."""
        return [{"from_port": from_port, "to_port": to_port, "departs": "22:30"}]

    ports = {"from_port": "Busan", "to_port": "Fukuoka"}
    script = [written("sailing_status", sailing="123"), written("list_sailings", **ports), "At 22:30."]
    tools = (sailing_status, list_sailings, ship)
    record, backend = await asked("When does it go from Busan to Fukuoka?", script, tools)
    assert [one.name for one in backend.requests[1].tools] == ["list_sailings"]
    assert (calls(record), record["answer"]) == ([("list_sailings", ports)], "At 22:30.")


async def test_issue_14_a_far_call_whose_number_nobody_said_gives_way_to_what_is_near() -> None:
    def convert(amount: int, source: str, target: str) -> str:
        """Convert money from one currency to another."""
        return f"{amount} {source} = 0.08 {target}"

    def weather(city: str) -> dict:
        """The weather in a city."""
        return {"city": city, "humidity": 48}

    async def ranked(tools, texts):
        return [Ranked(one, 0.4 - 0.3 * (one.name == "convert"), closeness=0.3) for one in tools]

    script = [written("convert", amount=100, source="KRW", target="USD"), written("weather", city="부산"), "48입니다."]
    record, backend = await asked("부산의 습도는 얼마야?", script, (convert, weather), ranked)
    assert [one.name for one in backend.requests[1].tools] == ["weather"]
    assert (calls(record), record["answer"]) == ([("weather", {"city": "부산"})], "48입니다.")


async def test_issue_14_a_question_that_sounds_like_talk_may_hold_what_a_schema_lists() -> None:
    def room_rate(room_type: Literal["single", "double"]) -> str:
        """Price of a stay."""
        return "90 EUR"

    async def ranked(tools, texts):
        return [Ranked(one, 0.1, closeness=0.1, talk=0.3) for one in tools]

    script = [written("room_rate", room_type="single"), "90 EUR."]
    record, _ = await asked("What's one night in a single?", script, (room_rate,), ranked)
    assert (calls(record), record["answer"]) == ([("room_rate", {"room_type": "single"})], "90 EUR.")


@pytest.mark.parametrize(
    ("question", "first"), [("How many hours has Amara driven?", "find_students"), ("Is DS-214 manual?", "car")]
)
async def test_issue_14_a_tool_that_shows_an_id_in_its_own_words_is_for_such_an_id_and_for_no_name(
    question: str, first: str
) -> None:
    def car(plate: str) -> dict:
        """A car, by its number plate such as DS-100."""
        return {}

    def find_students(name: str) -> list[dict]:
        """Find students."""
        return [{"student": "S", "name": name, "hours": 18}]

    async def ranked(tools, texts):
        near = {"car": 0.1, "crane_hours": 0.15}
        return [Ranked(one, n := near.get(one.name, 0.05), closeness=n) for one in tools]

    tools = (car, find_students, owners, crane_hours, port_call)
    _, backend = await asked(question, ["18.", "18.", "18."], tools, ranked)
    assert backend.requests[0].tools[0].name == first


async def test_issue_14_a_question_passes_by_what_points_to_changing_where_what_reads_is_about_as_near() -> None:
    def scrub(launch: str) -> dict:
        """Calls it off."""
        return {"scrubbed": launch}

    def search_payloads(query: str) -> list[dict]:
        """Searches satellites."""
        return [{"payload": query, "at": "06:40"}]

    async def ranked(tools, texts):
        tilts = {"scrub": (0.44, 0.16), "search_payloads": (0.39, -0.02)}
        return [
            Ranked(one, near, closeness=near, ordered=to, wish=-0.2) for one in tools for near, to in [tilts[one.name]]
        ]

    script = [written("scrub", launch="AquaSat"), written("search_payloads", query="AquaSat"), "06:40."]
    record, _ = await asked("AquaSat은 언제 발사돼?", script, (scrub, search_payloads), ranked)
    assert (calls(record), record["answer"]) == ([("search_payloads", {"query": "AquaSat"})], "06:40.")


def get_lot(lot: int) -> dict:
    """One lot and the paddle of its highest bid."""
    return {"lot": lot, "title": "Desk", "highest_bid": 1150, "paddle": 208}


def get_bidder(paddle: int) -> dict:
    """Who holds a paddle."""
    return {"paddle": paddle, "name": "Yusuf Demir"}


@pytest.mark.parametrize(
    ("draft", "called"),
    [("It was made by John Doe.", ["get_lot", "get_bidder"]), ("The bid was 1150.", ["get_lot"])],
    ids=["nothing of it", "a value of it"],
)
async def test_issue_14_an_answer_that_tells_nothing_of_the_only_result_leads_to_what_that_points_to(
    draft: str, called: list[str]
) -> None:
    async def ranked(tools, texts):
        return [Ranked(one, n := 0.4 - 0.3 * (one.name == "get_bidder"), closeness=n) for one in tools]

    script = [written("get_lot", lot=17), draft, written("get_bidder", paddle=208), "Yusuf Demir made it."]
    record, _ = await asked("Who made the highest bid on lot 17?", script, (get_lot, get_bidder), ranked)
    assert [name for name, _ in calls(record)] == called
    assert record["answer"] == ("Yusuf Demir made it." if len(called) > 1 else draft)
    assert breaches(record) == []


async def test_a_change_that_leaves_out_what_was_named_gives_way_to_a_second_word_where_another_takes_it() -> None:
    def close_ticket(number: int) -> str:
        """Close a ticket."""
        return f"{number} is closed."

    def assign(number: int, login: str) -> str:
        """Give a ticket to somebody."""
        return f"{number} is now with {login}."

    def ticket(number: int) -> dict:
        """Subject of a ticket."""
        return {"number": number}

    async def ordered(tools, texts):
        near = {"close_ticket": 0.5, "assign": 0.45}
        return [
            Ranked(tool, near.get(tool.name, 0.1), closeness=0.3, ordered=0.3 * (tool.name in near), wish=0.1)
            for tool in tools
        ]

    tools = (close_ticket, assign, ticket, owners, ship)
    script = [written("close_ticket", number=413), written("assign", number=413, login="pavel"), "Done: pavel has it."]
    record, _ = await asked("413번 티켓을 pavel에게 배정해줘", script, tools, ordered)
    assert calls(record) == [("assign", {"number": 413, "login": "pavel"})]
    again = [written("close_ticket", number=413)] * 2
    record, _ = await asked("Close ticket 413, Pavel mended it", [*again, "413 is closed."], tools, ordered)
    assert calls(record) == [("close_ticket", {"number": 413})], "the model's second word holds"
