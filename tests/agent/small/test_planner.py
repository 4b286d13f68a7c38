"""Issue 14: the model leads. Right calls and answers stay as they are; what is asked once more, and what is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import pytest
from bench.tongues.law import breaches
from pydantic import Field
from tests.agent.small.conftest import asked, calls

from naru.agent.selection import Ranked
from naru.messages import Message
from naru.tools.combined import CombinedToolset
from naru.tools.functions.toolset import FunctionToolset

ORDERS = {"ORD-88123": {"order_id": "ORD-88123", "ordered_on": "2026-11-20", "eta": "2026-12-03", "status": "packed"}}


def order(order_id: Annotated[str, Field(description="Order id such as ORD-00000")]) -> dict:
    """When an order was made, when it will arrive, and its status."""
    return ORDERS.get(order_id) or {"found": False}


def weather(city: str, unit: Annotated[str, Field(json_schema_extra={"enum": ["C", "F"]})] = "C") -> dict:
    """Weather of a city now."""
    return {"city": city, "degrees": 12, "sky": "rain", "unit": unit}


def flights(origin: str, to: str, passengers: int = 1) -> dict:
    """Flights from one city to another."""
    return {"flights": [{"flight": "OZ201", "pilot": "Ana Sol", "seats": 180, "available": 4}], "for": passengers}


def tasks(status: Annotated[str, Field(json_schema_extra={"enum": ["open", "done", "late"]})] = "open") -> list[dict]:
    """List tasks by status."""
    return [{"task": "T-7", "title": "Paint the fence", "hours": 5, "status": status}]


def find_customer(name: str) -> dict:
    """Find customers by name; gives their ids."""
    found = [{"customer_id": "C-77", "name": "Lena Hoffmann"}]
    return {"items": [one for one in found if name.casefold() in one["name"].casefold()]}


def customer(customer_id: Annotated[str, Field(description="C- and a number")]) -> dict:
    """A customer's address and discount."""
    return {"customer_id": customer_id, "address": "Mill Lane 3"} if customer_id == "C-77" else {"found": False}


SHOP = (order, weather, flights, tasks)

RIGHT = [
    ("What's the weather in the capital of France?", "weather", {"city": "Paris"}, "It is 12 °C and raining in Paris."),
    ("부산 날씨 어때?", "weather", {"city": "Busan"}, "부산은 지금 12도이고 비가 옵니다."),
    ("¿Qué tiempo hace en Madrid?", "weather", {"city": "Madrid"}, "En Madrid hace 12 grados y llueve."),
    ("How warm is it in Cologne, in Fahrenheit?", "weather", {"city": "Cologne", "unit": "F"}, "It is about 54 °F."),
    ("Do I need an umbrella in Oslo today?", "weather", {"city": "Oslo"}, "Yes."),
    ("오슬로에 우산 가져가야 해?", "weather", {"city": "Oslo"}, "네, 비가 와요."),
    ("Which tasks are not done?", "tasks", {"status": "open"}, "Paint the fence."),
    ("What is no longer open?", "tasks", {"status": "done"}, "Paint the fence (T-7)."),
    ("Welche Aufgaben sind überfällig?", "tasks", {"status": "late"}, "Den Zaun streichen, 5 Stunden."),
    ("How many working days will the fence take at an hour a day?", "tasks", {}, "Five working days."),
    ("Flights from Seoul to Oslo for a party of four", "flights",
     {"origin": "Seoul", "to": "Oslo", "passengers": 4}, "OZ201 has 4 seats left."),
    ("How many seats are left from Seoul to Rome?", "flights", {"origin": "Seoul", "to": "Rome"}, "4"),
    ("What share of the seats Seoul-Rome is sold?", "flights", {"origin": "Seoul", "to": "Rome"}, "About 98 %."),
    ("The name of the pilot from Seoul to Rome?", "flights", {"origin": "Seoul", "to": "Rome"}, "Ana Sol"),
    ("On what date will ORD-88123 arrive?", "order", {"order_id": "ORD-88123"}, "It arrives on December 3."),
    ("주문 ORD-88123 언제 와?", "order", {"order_id": "ORD-88123"}, "12월 3일에 도착합니다."),
    ("Где мой заказ ORD-88123?", "order", {"order_id": "ORD-88123"}, "Заказ упакован и придёт 3 декабря."),
    ("How many days from order to delivery, ORD-88123?", "order", {"order_id": "ORD-88123"}, "13 days."),
    ("Is ORD-88123 shipped?", "order", {"order_id": "ORD-88123"}, "No, it is packed."),
    ("マドリードの天気は？", "weather", {"city": "マドリード"}, "マドリードは雨です。"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "name", "arguments", "answer"), RIGHT)
async def test_issue_14_right_calls_run_as_written_and_right_answers_are_never_exchanged(
    question: str, name: str, arguments: dict, answer: str
) -> None:
    record, _ = await asked(question, [json.dumps({"name": name, "arguments": arguments}), answer], SHOP)
    assert calls(record) == [(name, arguments)]
    assert record["answer"] == answer
    assert breaches(record) == []


@pytest.mark.parametrize("words", ["You are welcome!", "천만에요!", "Paris."])
async def test_words_without_a_call_are_the_answer_and_no_tool_runs(words: str) -> None:
    record, backend = await asked("고마워!", [words], SHOP)
    assert (calls(record), record["answer"], len(backend.requests)) == ([], words, 1)


async def test_issue_14_2_few_tools_are_all_shown_in_every_language_without_an_encoder() -> None:
    for question in ("¿Qué tiempo hace en Madrid?", "Zeig mir meine Aufgaben", "北京今天天气怎么样？"):
        _, backend = await asked(question, ["Hm."], SHOP)
        assert [tool.name for tool in backend.requests[0].tools] == ["flights", "order", "tasks", "weather"]


async def test_an_id_from_nowhere_is_asked_for_once_more_with_the_known_ones_alone() -> None:
    wrong, right = (json.dumps({"name": "order", "arguments": {"order_id": one}}) for one in ("ORD-00000", "ORD-88123"))
    record, backend = await asked("When does ORD-88123 arrive?", [wrong, right, "On December 3."], SHOP)
    assert calls(record) == [("order", {"order_id": "ORD-88123"})]
    again = backend.requests[1]
    assert again.tools[0].input_schema["properties"]["order_id"]["enum"] == ["ORD-88123"]
    assert again.tool_choice == "required"
    assert record["rounds"][1]["calls"][0]["writer"] == "grammar"


async def test_an_id_that_nobody_gave_is_looked_up_by_a_name_first() -> None:
    script = [
        '{"name": "customer", "arguments": {"customer_id": "C-12"}}',
        '{"name": "find_customer", "arguments": {"name": "Lena Hoffmann"}}',
        '{"name": "customer", "arguments": {"customer_id": "C-77"}}',
        "She lives in Mill Lane 3.",
    ]

    async def ranked(tools, texts):
        near = {"customer": 0.4}
        return [Ranked(tool, near.get(tool.name, 0.2), closeness=0.2) for tool in tools]

    tools = (*SHOP, find_customer, customer)
    record, backend = await asked("What is the address of customer Lena Hoffmann?", script, tools, ranked)
    assert [name for name, _ in calls(record)] == ["find_customer", "customer"]
    assert record["answer"] == "She lives in Mill Lane 3."
    assert [tool.name for tool in backend.requests[2].tools] == ["customer"], "the id leads back to what was wanted"


async def test_an_id_that_is_another_tools_by_its_shape_is_doubted_once() -> None:
    def room(number: Annotated[str, Field(description="Room number such as R1")]) -> dict:
        """A room and its theme."""
        return {"number": number, "theme": "portraits"}

    def exhibit(number: Annotated[str, Field(description="Catalogue number such as A-0001")]) -> dict:
        """An exhibit and its artist."""
        return {"number": number, "artist": "Karel Novak"}

    wrong, right = (json.dumps({"name": one, "arguments": {"number": "R7"}}) for one in ("exhibit", "room"))
    record, _ = await asked("What is the theme of R7?", [wrong, right, "Portraits."], (room, exhibit))
    assert (calls(record), record["answer"]) == ([("room", {"number": "R7"})], "Portraits.")
    insisted, _ = await asked("What is the theme of R7?", [wrong, wrong, "Karel Novak."], (room, exhibit))
    assert calls(insisted) == [("exhibit", {"number": "R7"})], "the model's own second word holds"
    assert breaches(record) == breaches(insisted) == []


async def test_what_is_not_there_is_told_without_a_value_that_no_result_holds() -> None:
    script = ['{"name": "order", "arguments": {"order_id": "ORD-1"}}', "It arrives on 2026-12-24.", "On 2026-12-25."]
    record, _ = await asked("When does ORD-1 arrive?", script, SHOP)
    assert "2026" not in record["answer"]
    assert "found" in record["answer"]


async def test_a_call_that_has_run_ends_the_search() -> None:
    call = '{"name": "weather", "arguments": {"city": "Oslo"}}'
    record, _ = await asked("Weather in Oslo?", [call, "Rain, 12 °C."], SHOP)
    assert len(calls(record)) == 1


async def test_issue_14_6_earlier_turns_and_the_system_prompt_are_shown_in_every_round_and_are_sources() -> None:
    turns = [
        Message("system", "You speak like a pirate."),
        Message("user", "Tell me about ORD-88123"),
        Message("assistant", "It is packed."),
        Message("user", "And when will it arrive?"),
    ]
    call = '{"name": "order", "arguments": {"order_id": "ORD-88123"}}'
    record, backend = await asked(turns, [call, "Arr, on December 3."], SHOP)
    assert calls(record) == [("order", {"order_id": "ORD-88123"})]
    for request in backend.requests:
        assert "You speak like a pirate." in request.messages[0].text
        assert [turn.text for turn in request.messages[1:3]] == ["Tell me about ORD-88123", "It is packed."]


async def test_issue_14_1_a_call_with_nothing_of_what_is_talk_for_a_tool_far_from_it_does_not_run() -> None:
    async def far(tools, texts):
        return [Ranked(tool, 0.0, closeness=0.02, talk=0.5) for tool in tools]

    script = ['{"name": "weather", "arguments": {"city": "London"}}', "Gern geschehen!"]
    record, _ = await asked("Danke schön!", script, SHOP, far)
    assert (calls(record), record["answer"]) == ([], "Gern geschehen!")


@pytest.mark.parametrize(
    ("talk", "city", "closeness"),
    [("Buonanotte, a domani!", "Buonanotte", 0.03), ("I had a rotten day.", "rotten", 0.2)],
)
async def test_issue_14_1_a_word_of_talk_alone_is_nothing_that_was_asked_for(
    talk: str, city: str, closeness: float
) -> None:
    async def far(tools, texts):
        return [Ranked(tool, 0.0, closeness=closeness, talk=0.4) for tool in tools]

    script = [json.dumps({"name": "weather", "arguments": {"city": city}}), "Sleep well!"]
    record, _ = await asked(talk, script, SHOP, far)
    assert (calls(record), record["answer"]) == ([], "Sleep well!")


async def test_issue_14_3_words_for_a_question_with_a_name_for_a_tool_are_doubted_though_little_else_is_near() -> None:
    async def some(tools, texts):
        return [Ranked(tool, 0.1 * (tool.name == "weather"), closeness=0.05, talk=0.2) for tool in tools]

    script = ["VarnとKarstは異なります。", '{"name": "weather", "arguments": {"city": "Varn"}}', "雨です。"]
    record, _ = await asked("Varnは雨ですか？", script, SHOP, some)
    assert (calls(record), record["answer"]) == ([("weather", {"city": "Varn"})], "雨です。")


async def test_issue_14_3_words_for_a_question_near_a_tool_are_doubted_once_with_none_to_choose() -> None:
    async def near(tools, texts):
        return [Ranked(tool, 0.0, closeness=0.6) for tool in tools]

    answered, backend = await asked("Oslo weather?", ["Sunny.", '{"name": "none", "arguments": {}}'], SHOP, near)
    assert (calls(answered), answered["answer"]) == ([], "Sunny.")
    assert "none" in [tool.name for tool in backend.requests[1].tools]
    call = '{"name": "weather", "arguments": {"city": "Oslo"}}'
    called, _ = await asked("Oslo weather?", ["Sunny.", call, "Rain."], SHOP, near)
    assert (calls(called), called["answer"]) == ([("weather", {"city": "Oslo"})], "Rain.")
    assert breaches(called) == []


@pytest.mark.parametrize(("talk", "rounds"), [(0.1, 2), (0.45, 1)])
async def test_words_are_doubted_where_a_tool_lies_as_near_as_talk_does(talk: float, rounds: int) -> None:
    async def measured(tools, texts):
        return [Ranked(tool, 0.2, closeness=0.2, talk=talk) for tool in tools]

    script = ["At the hill.", '{"name": "none", "arguments": {}}']
    answered, backend = await asked("In which stall is Pico?", script, SHOP, measured)
    assert (calls(answered), answered["answer"], len(backend.requests)) == ([], "At the hill.", rounds)


async def test_a_value_that_a_schema_takes_brings_its_tool_to_the_front() -> None:
    def reading(meter: Annotated[str, Field(description="Meter number such as MZ-0000")]) -> dict:
        """A reading."""
        return {"meter": meter, "kwh": 7}

    async def ranked(tools, texts):
        return [Ranked(tool, 0.25 - 0.02 * place, closeness=0.2) for place, tool in enumerate(tools)]

    _, backend = await asked("MZ-5580?", ["Hm."], (*SHOP, find_customer, customer, reading), ranked)
    assert "reading" in [tool.name for tool in backend.requests[0].tools]


async def test_what_is_not_there_is_told_without_the_question_so_that_no_value_answers_it() -> None:
    script = ['{"name": "customer", "arguments": {"customer_id": "C-99"}}', "C-99 was not found."]
    told, backend = await asked("What discount does C-99 get?", script, (customer,))
    assert told["answer"] == "C-99 was not found."
    last = backend.requests[-1].messages[-1].text
    assert "C-99" in last
    assert "discount" not in last


async def test_a_tool_that_changes_something_is_never_offered_under_a_forced_choice() -> None:
    def cancel_order(order_id: Annotated[str, Field(description="Order id such as ORD-00000")]) -> dict:
        """Cancel an order for good."""
        return {"cancelled": order_id}

    async def ranked(tools, texts):
        return [Ranked(tool, 0.0, closeness=0.5, ordered=0.4 * (tool.name == "cancel_order")) for tool in tools]

    wrong = '{"name": "order", "arguments": {"order_id": "ORD-00000"}}'
    right = '{"name": "order", "arguments": {"order_id": "ORD-88123"}}'
    _, backend = await asked("What about ORD-88123?", [wrong, right, "Packed."], (order, cancel_order), ranked)
    assert [tool.name for tool in backend.requests[0].tools] == ["cancel_order", "order"]
    assert [tool.name for tool in backend.requests[1].tools] == ["order"]


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        (("How warm is it in Lisbon today?", "16 degrees.", "And Madrid?"), "in English"),
        (("¿Qué tiempo hace hoy en Lisboa?", "Llueve.", "¿Y Oslo?"), "in Spanish"),
        (("How warm is it in Lisbon today?", "16 degrees.", "그럼 내일은?"), "in Korean"),
        (("Hur varmt är det i Stockholm idag?",), "in the language of the question"),
        (("Яка погода у Києві сьогодні?",), "in the language of the question"),
        (("Πότε ανοίγει το μουσείο;",), "in the language of the question"),
    ],
)
async def test_the_language_is_that_of_the_person_and_a_wrong_one_is_never_named(
    turns: Sequence[str], told: str
) -> None:
    pytest.importorskip("py3langid", reason="install the extra `local`")
    said = [Message("assistant" if at % 2 else "user", text) for at, text in enumerate(turns)]
    script = ['{"name": "weather", "arguments": {"city": "Oslo"}}', "12 °C."]
    _, backend = await asked(said, script, SHOP)
    assert f"Answer {told}." in backend.requests[-1].messages[0].text


async def test_an_answer_in_a_language_that_cannot_be_named_is_not_translated() -> None:
    called, answer = (
        '{"name": "order", "arguments": {"order_id": "ORD-88123"}}',
        "Tilaus ORD-88123 on pakattu ja odottaa.",
    )
    script = [called, answer, "A encomenda ORD-88123 está embalada."]
    record, _ = await asked("Missä tilaus ORD-88123 on?", script, SHOP)
    assert record["answer"] == answer


async def test_what_was_changed_is_told_as_done_also_where_two_servers_call_their_tool_the_same() -> None:
    def cancel_order(order_id: str) -> dict:
        """Cancel an order for good."""
        return {"cancelled": order_id}

    async def ranked(tools, texts):
        return [Ranked(tool, 0.0, closeness=0.5, ordered=0.4) for tool in tools]

    shops = CombinedToolset({name: FunctionToolset((cancel_order,)) for name in ("east", "west")})
    script = ['{"name": "west__cancel_order", "arguments": {"order_id": "ORD-88123"}}', "ORD-88123 is cancelled."]
    record, backend = await asked("Cancel ORD-88123 in the west.", script, shops, ranked)
    assert calls(record) == [("west__cancel_order", {"order_id": "ORD-88123"})]
    assert backend.requests[-1].messages[-1].text.startswith("Done: ")


async def test_what_somebody_wants_to_know_is_not_told_as_done_though_its_tool_sounds_like_changing() -> None:
    def departures(stop: str) -> dict:
        """Next departures at a stop."""
        return {"stop": stop, "to": "Moss Hill", "planned": "07:40", "expected": "07:52"}

    async def ranked(tools, texts):
        return [Ranked(tool, 0.0, closeness=0.5, ordered=0.2, wish=-0.2) for tool in tools]

    script = ['{"name": "departures", "arguments": {"stop": "S-22"}}', "At 07:52."]
    record, backend = await asked("When does the bus at S-22 really leave?", script, (departures,), ranked)
    assert record["answer"] == "At 07:52."
    assert backend.requests[-1].messages[-1].text.endswith("Question: When does the bus at S-22 really leave?")


@pytest.mark.parametrize(
    ("said", "answer"), [("O carro tem pneus.", "O carro tem pneus."), ("O carro tem pneus?", "Sim.")]
)
async def test_a_question_said_back_as_a_statement_is_a_yes_and_as_a_question_no_answer(said: str, answer: str) -> None:
    def car(number: int) -> dict:
        """A car by its number."""
        return {"number": number, "winter_tyres": True}

    script = ['{"name": "car", "arguments": {"number": 90}}', said, "Sim."]
    record, _ = await asked("O carro tem pneus?", script, (car,))
    assert record["answer"] == answer


async def test_a_search_that_found_nothing_with_its_options_is_asked_wider() -> None:
    def courses(weekday: Annotated[str | None, Field(description="monday to sunday")] = None) -> list[dict]:
        """List the courses of a weekday, or of the whole week."""
        return [] if weekday else [{"course": "boxing", "weekday": "thursday", "places_left": 0}]

    script = [
        '{"name": "courses", "arguments": {"weekday": "Donnerstag"}}',
        '{"name": "courses", "arguments": {}}',
        "Boxing is full.",
    ]
    record, backend = await asked("Was gibt es am Donnerstag?", script, (courses,))
    assert calls(record) == [("courses", {"weekday": "Donnerstag"}), ("courses", {})]
    assert backend.requests[1].tools[0].input_schema["properties"] == {}
    assert record["answer"] == "Boxing is full."


async def test_a_model_that_fails_after_it_has_spoken_leaves_its_words() -> None:
    async def near(tools, texts):
        return [Ranked(tool, 0.0, closeness=0.6) for tool in tools]

    record, _ = await asked("Oslo weather?", ["Sunny, I think."], SHOP, near)
    assert record["answer"] == "Sunny, I think."


async def test_an_id_that_was_looked_up_by_the_wrong_tool_goes_to_the_one_of_its_shape() -> None:
    script = [
        '{"name": "find_customer", "arguments": {"name": "ORD-88123"}}',
        '{"name": "order", "arguments": {"order_id": "ORD-88123"}}',
        "It is packed.",
    ]
    record, backend = await asked("주문 ORD-88123 어떻게 됐어?", script, (order, find_customer, weather))
    assert [name for name, _ in calls(record)] == ["find_customer", "order"]
    assert [tool.name for tool in backend.requests[1].tools] == ["order"]


@pytest.mark.parametrize("ordered", [0.1, None])
async def test_a_tool_that_may_change_something_is_not_forced_when_a_search_found_nothing(
    ordered: float | None,
) -> None:
    def sell_order(order_id: str, price: float) -> dict:
        """Sell an order."""
        return {"sold": order_id, "price": price}

    async def ranked(tools, texts):
        near = sorted(tools, key=lambda tool: tool.name not in ("find_customer", "sell_order"))
        grey = [Ranked(one, 0.0, closeness=0.2, ordered=(ordered or 0) * (one.name == "sell_order")) for one in near]
        return grey if ordered else [Ranked(one, 0.1) for one in near]

    script = ['{"name": "find_customer", "arguments": {"name": "Kim"}}', *["Nobody of that name."] * 3]
    record, backend = await asked("Who is Kim?", script, (*SHOP, find_customer, sell_order), ranked)
    assert calls(record) == [("find_customer", {"name": "Kim"})]
    assert all("sell_order" not in [tool.name for tool in one.tools] for one in backend.requests[1:])


async def test_words_from_before_a_call_are_no_answer_from_what_it_gave() -> None:
    """They were doubted, and what they hold stands in no result."""
    written = '{"name": "order", "arguments": {"order_id": "ORD-88123"}}'
    script = ["It arrives on May 7.", written, "", ""]
    record, _ = await asked("When will ORD-88123 arrive?", script, SHOP)
    assert calls(record) == [("order", {"order_id": "ORD-88123"})]
    assert "2026-12-03" in record["answer"]
