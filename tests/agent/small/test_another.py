"""Issue 14, 5: a question about two things of a kind has its tool called for each, by the model, in any language."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import pytest
from bench.tongues.law import breaches
from pydantic import Field
from tests.agent.small.conftest import asked, calls

from naru.agent.closeness import Closeness
from naru.agent.execute import Outcome
from naru.agent.recall import Recall
from naru.agent.selection import Ranked
from naru.agent.small.another import BRIEF, in_full
from naru.errors import NaruError
from naru.messages import Message, ToolCall, ToolResult


def weather(city: str, day: Annotated[str, Field(json_schema_extra={"enum": ["today", "tomorrow"]})] = "today") -> dict:
    """Weather in a city."""
    return {"city": city, "celsius": {"Lisbon": 16, "Madrid": 12, "부산": 6, "카이로": 24}.get(city, 0), "day": day}


def forecast(city: str) -> dict:
    """Weather in a city."""
    return {"celsius": 16} if city == "Lisbon" else {"error": f"No station in {city}."}


def tides(day: Annotated[str, Field(json_schema_extra={"enum": ["today", "tomorrow"]})]) -> dict:
    """High water and low water."""
    return {"day": day, "high": {"today": "04:52", "tomorrow": "05:41"}[day], "low": "11:08"}


def boats(kind: Annotated[str, Field(json_schema_extra={"enum": ["rowing", "pedal"]})]) -> dict:
    """Boats that are free."""
    return {"kind": kind, "free": {"rowing": 0, "pedal": 2}[kind]}


def ticket_price(group: Annotated[str, Field(json_schema_extra={"enum": ["adult", "child"]})]) -> dict:
    """Price of one ticket."""
    return {"group": group, "euros": {"adult": 11.5, "child": 6}[group]}


def exhibit(number: str) -> dict:
    """Year of an exhibit."""
    return {"number": number, "year": {"A-1021": 1894}.get(number, 1911)}


def cancel(number: str) -> dict:
    """Cancel a booking for good."""
    return {"cancelled": number}


NEAR = {("Lisbon", "Madrid"), ("카이로", "부산"), ("adult", "어른"), ("child", "어린이"), ("tomorrow", "내일은")}


async def near(value: str, texts: Sequence[str]) -> list[float]:
    return [0.65 if (value, one) in NEAR or (one, value) in NEAR else 0.3 for one in texts]


def said(name: str, /, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("question", "name", "given", "held", "answer"),
    [
        ("Is it warmer in Lisbon or in Madrid?", "city", ("Lisbon", "Madrid"), ["Madrid"], "In Lisbon."),
        ("부산하고 카이로 중 어디가 더 따뜻해?", "city", ("카이로", "부산"), None, "카이로입니다."),
        (
            "입장권은 어른하고 어린이가 각각 얼마야?",
            "group",
            ("adult", "child"),
            ["child"],
            "어른 11.5, 어린이 6입니다.",
        ),
        ("Which is older, A-1021 or A-1077?", "number", ("A-1021", "A-1077"), ["A-1077"], "A-1021."),
    ],
    ids=["names", "words of a script without capitals", "listed values", "ids"],
)
async def test_issue_14_5_the_second_of_two_things_is_asked_for_before_the_answer(
    question: str, name: str, given: tuple[str, str], held: list[str] | None, answer: str
) -> None:
    tools = {"city": weather, "group": ticket_price, "number": exhibit}
    script = [*(said(tools[name].__name__, **{name: value}) for value in given), answer]
    record, backend = await asked(question, script, (tools[name],), near=near)
    assert [arguments[name] for _, arguments in calls(record)] == list(given)
    assert backend.requests[1].tools[0].input_schema["properties"][name].get("enum") == held
    assert record["answer"] == answer
    told = backend.requests[-1].messages[-1].text
    assert all(f"{name}={value}" in told for value in given)
    assert breaches(record) == []


@pytest.mark.parametrize(
    "question", ["Wie ist das Wetter in Lisbon?", "What is the weather in Lisbon?", "Lisbon 날씨 어때?"]
)
async def test_one_thing_is_looked_up_once_whatever_else_the_question_says(question: str) -> None:
    record, backend = await asked(question, [said("weather", city="Lisbon"), "16."], (weather, exhibit), near=near)
    assert len(calls(record)) == 1
    assert len(backend.requests) == 2


async def test_a_model_that_writes_the_first_call_again_has_its_answer() -> None:
    script = [said("weather", city="카이로"), said("weather", city="카이로"), "24도입니다."]
    record, _ = await asked("부산하고 카이로 중 어디가 더 따뜻해?", script, (weather,), near=near)
    assert len(calls(record)) == 1
    assert record["answer"] == "24도입니다."


async def test_a_change_of_one_thing_is_not_forced_on_the_other() -> None:
    async def ranked(tools, texts):
        return [Ranked(one, 0.2, closeness=0.2, ordered=0.3 * (one.name == "cancel")) for one in tools]

    cancelling = [said("cancel", number="B-7731"), "Cancelled B-7731."]
    record, backend = await asked("Cancel B-7731, keep B-7732.", cancelling, (cancel, exhibit), ranked, near)
    assert calls(record) == [("cancel", {"number": "B-7731"})]
    assert [len(one.tools) for one in backend.requests] == [2, 0]


async def test_a_thing_that_was_looked_up_by_another_name_is_looked_up_again_by_the_one_that_was_given() -> None:
    async def alike(value: str, texts: Sequence[str]) -> list[float]:
        return [0.9 if {value, one} == {"Lisboa", "Lisbon"} else 0.1 for one in texts]

    script = [said("forecast", city="Lisboa"), said("forecast", city="Lisbon"), "It is 16 degrees."]
    record, backend = await asked("How warm is it in Lisbon?", script, (forecast,), near=alike)
    assert [arguments for _, arguments in calls(record)] == [{"city": "Lisboa"}, {"city": "Lisbon"}]
    assert backend.requests[1].tools[0].input_schema["properties"]["city"]["enum"] == ["Lisbon"]
    assert record["answer"] == "It is 16 degrees."
    assert breaches(record) == []


@pytest.mark.parametrize(
    ("question", "script", "called", "answer"),
    [
        ("And Madrid?", ["16 degrees.", said("weather", city="Madrid"), "12 degrees."], ["Madrid"], "12 degrees."),
        ("And mojave?", ["16 degrees.", said("weather", city="mojave"), "0 degrees."], ["mojave"], "0 degrees."),
        ("Is that cold?", ["No, it is not.", said("weather", city="Lisbon")], [], "No, it is not."),
        ("Is that cold?", ["No, it is not.", said("weather", city="Narvik")], [], "No, it is not."),
    ],
    ids=["a name", "a word of no meaning", "the same again", "a name that nobody said"],
)
async def test_issue_14_6_with_a_result_in_view_a_follow_up_is_looked_up_where_the_model_finds_another_thing_in_it(
    question: str, script: list[str], called: list[str], answer: str
) -> None:
    """Its words are doubted by asking for the last call again, with no way out; that runs for what is new alone."""
    recall, turns = Recall(), [Message("user", "How warm is it in Lisbon?")]
    first, _ = await asked(turns, [said("weather", city="Lisbon"), "16 degrees."], (weather, exhibit), recall=recall)
    turns += [Message("assistant", first["answer"]), Message("user", question)]
    record, backend = await asked(turns, script, (weather, exhibit), recall=recall)
    assert [tool.name for tool in backend.requests[1].tools] == ["weather"]
    assert [arguments["city"] for _, arguments in calls(record)] == called
    assert record["answer"] == answer
    assert breaches(record) == []


async def test_a_follow_up_about_another_thing_is_answered_as_the_question_before_it_in_the_persons_words() -> None:
    recall, turns = Recall(), [Message("user", "How warm is it in Lisbon?")]
    first, _ = await asked(turns, [said("weather", city="Lisbon"), "16 degrees."], (weather, exhibit), recall=recall)
    turns += [Message("assistant", first["answer"]), Message("user", "And Madrid?")]
    script = [said("weather", city="Madrid"), "12 degrees."]
    record, backend = await asked(turns, script, (weather, exhibit), recall=recall)
    assert record["answer"] == "12 degrees."
    assert backend.requests[-1].messages[-1].text.endswith("Question: How warm is it in Madrid? And Madrid?")


async def test_an_earlier_question_is_put_to_another_thing_at_its_place_whatever_letters_stand_before_it() -> None:
    recall, turns = Recall(), [Message("user", "Ist die Hauptstraße bei LISBON nass?")]
    first, _ = await asked(turns, [said("weather", city="Lisbon"), "Ja."], (weather, exhibit), recall=recall)
    turns += [Message("assistant", first["answer"]), Message("user", "Und bei Madrid?")]
    _, backend = await asked(turns, [said("weather", city="Madrid"), "Nein."], (weather, exhibit), recall=recall)
    last = backend.requests[-1].messages[-1].text
    assert last.endswith("Question: Ist die Hauptstraße bei Madrid nass? Und bei Madrid?")


def ran(call: ToolCall) -> Outcome:
    return Outcome(call, ToolResult.of_text("{}"), "{}")


async def test_an_earlier_question_keeps_its_other_words_and_ids_when_it_is_put_to_another_thing() -> None:
    was, now = ({"number": "A-1077", "copies": count, "language": name} for count, name in ((1, "en"), (2, "de")))
    asked_before = ["When are copies of A-1077 sent?"]
    told = await in_full("And two?", asked_before, [ToolCall("1", "f", was)], [ran(ToolCall("2", "f", now))], None)
    assert told == "When are copies of A-1077 sent? And two?"


async def test_a_follow_up_that_only_names_another_thing_stands_after_the_newest_question_that_says_more() -> None:
    async def near(question: str, texts: Sequence[str]) -> list[float]:
        return [float((one in BRIEF) is question.startswith("And ")) for one in texts]

    def called(rank: str) -> ToolCall:
        return ToolCall("1", "team", {"name": rank})

    asked_before = ["Who leads the Rooks?", "And the Bishops?"]
    made = [called("Rooks"), called("Bishops")]
    told = await in_full("And the Knights?", asked_before, made, [ran(called("Knights"))], near)
    assert told == "Who leads the Knights? And the Knights?"
    asked_before = ["Who leads the Rooks?", "And how many points have they?"]
    told = await in_full("And the Bishops?", asked_before, made[:1], [ran(made[1])], near)
    assert told == "And how many points have they? And the Bishops?"
    assert (
        await in_full("Where do Bishops play?", asked_before, made[:1], [ran(made[1])], near)
        == "Where do Bishops play?"
    )


async def test_an_option_of_the_first_call_hides_no_second_id_that_holds_its_digit() -> None:
    def plate(number: str, size: int = 1, note: str = "") -> dict:
        """Year of a plate."""
        return {"number": number, "year": 1894}

    script = [said("plate", number="A-1077", size=1, note=""), said("plate", number="A-1021"), "Both."]
    record, _ = await asked("Which is older, A-1077 or A-1021?", script, (plate,), near=near)
    assert [arguments["number"] for _, arguments in calls(record)] == ["A-1077", "A-1021"]


@pytest.mark.parametrize(("question", "runs"), [("And low water?", False), ("내일은?", True)])
async def test_a_listed_value_is_looked_up_in_a_follow_up_where_a_word_of_it_means_that_value(
    question: str, runs: bool
) -> None:
    recall, turns = Recall(), [Message("user", "When is high water today?")]
    first, _ = await asked(turns, [said("tides", day="today"), "At 04:52."], (tides, exhibit), near=near, recall=recall)
    turns += [Message("assistant", first["answer"]), Message("user", question)]
    script = ["At 11:08.", said("tides", day="tomorrow"), "At 05:41."]
    record, _ = await asked(turns, script, (tides, exhibit), near=near, recall=recall)
    assert len(calls(record)) == runs
    assert record["answer"] == ("At 05:41." if runs else "At 11:08.")
    assert breaches(record) == []


async def test_a_call_that_names_no_tool_shows_that_a_call_was_wanted_so_that_none_is_no_choice() -> None:
    async def ranked(tools, texts):
        return [Ranked(one, 0.2, closeness=0.2, talk=0.1) for one in tools]

    script = [said("Lisbon"), said("weather", city="Lisbon"), "16 degrees."]
    record, backend = await asked("Quel temps fait-il à Lisbon ?", script, (weather, exhibit), ranked, near)
    assert "none" not in [tool.name for tool in backend.requests[1].tools]
    assert record["answer"] == "16 degrees."


async def test_a_long_text_without_spaces_costs_no_more_comparisons_than_a_short_one() -> None:
    compared: list[int] = []

    async def counted(value: str, texts: Sequence[str]) -> list[float]:
        compared.append(len(texts))
        return [0.1] * len(texts)

    question = "东京和大阪哪里更热" * 100
    await asked(question, [said("weather", city="东京"), "东京。"], (weather,), near=counted)
    assert max(compared) <= 3


async def test_without_meaning_ids_are_told_by_their_form_alone() -> None:
    async def fails(texts: Sequence[str], kind: str) -> list[list[float]]:
        raise NaruError("no encoder")

    script = [said("weather", city="Lisbon"), "16."]
    record, _ = await asked("Warmer: Lisbon or Madrid?", script, (weather,), near=Closeness(fails).near)
    assert len(calls(record)) == 1


async def test_a_letter_of_a_unit_hides_no_name_that_has_it() -> None:
    def warmth(city: str, unit: str = "C") -> dict:
        """Temperature in a city."""
        return {"Lisbon": {"degrees": 16}, "Munich": {"degrees": 2}}[city]

    async def alike(text: str, others: Sequence[str]) -> list[float]:
        return [0.5 if one == "Munich" else 0.1 for one in others]

    script = [said("warmth", city="Lisbon", unit="C"), said("warmth", city="Munich", unit="C"), "In Lisbon."]
    record, _ = await asked("Is it warmer in Lisbon or in Munich?", script, (warmth,), near=alike)
    assert [arguments["city"] for _, arguments in calls(record)] == ["Lisbon", "Munich"]


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("어린이 입장권은 얼마야?", "6유로입니다.", ["6"]),
        ("어른하고 어린이는 각각 얼마야?", "11.5, 6입니다.", ["11.5", "6"]),
    ],
)
async def test_issue_14_what_a_guessed_value_gave_is_not_told_where_the_question_means_another(
    question: str, answer: str, told: list[str]
) -> None:
    script = [said("ticket_price", group="adult"), said("ticket_price", group="child"), answer]
    record, backend = await asked(question, script, (ticket_price, tides), near=near)
    assert calls(record) == [("ticket_price", {"group": "adult"}), ("ticket_price", {"group": "child"})]
    shown = backend.requests[-1].messages[-1].text
    assert [price for price in ("11.5", "6") if f"euros: {price}" in shown] == told
    assert (record["answer"], breaches(record)) == (answer, [])


JOINING = {"o", "oder", "하고", "と"}


async def joining(value: str, texts: Sequence[str]) -> list[float]:
    """As near as the encoder tells such words to "and" and "or"; names without a meaning lie near to nothing."""
    return [0.84 if value in ("and", "or") and one in JOINING else 0.32 for one in texts]


@pytest.mark.parametrize(
    ("question", "first", "second", "held"),
    [
        ("¿Qué es más barato, pelodrin o samivet?", "pelodrin", "samivet", ["samivet"]),
        ("¿Qué es más barato, pelodrin o samivet?", "samivet", "pelodrin", ["pelodrin"]),
        ("Welcher Stern ist weiter weg, Vega oder Rigel?", "Vega", "Rigel", ["Rigel"]),
        ("Heron 5하고 Tern 중에 어느 게 더 높아?", "Heron 5", "Tern", ["Tern"]),
        ("VarnとKarstの気温は？", "Varn", "Karst", ["Karst"]),
        ("바이올린하고 첼로를 빌리면 얼마야?", "바이올린", "첼로", None),
        ("was ist teurer, salz oder kilometer null?", "salz", "kilometer null", ["kilometer", "kilometer null"]),
    ],
    ids=["no capitals", "the second first", "names", "particles", "two scripts", "endings", "two words"],
)
async def test_issue_14_5_what_is_joined_to_a_thing_is_looked_up_too_whatever_it_is_called(
    question: str, first: str, second: str, held: list[str] | None
) -> None:
    script = [said("weather", city=first), said("weather", city=second), "Both."]
    record, backend = await asked(question, script, (weather,), near=joining)
    assert [arguments["city"] for _, arguments in calls(record)] == [first, second]
    assert backend.requests[1].tools[0].input_schema["properties"]["city"].get("enum") == held
    assert breaches(record) == []


@pytest.mark.parametrize(
    "question", ["Wie ist das Wetter in Lisbon am Montag?", "Is Lisbon warm, or is it raining?", "Lisbon o ¿qué?"]
)
async def test_nothing_is_looked_up_twice_for_a_word_that_joins_no_name(question: str) -> None:
    record, backend = await asked(question, [said("weather", city="Lisbon"), "16."], (weather,), near=joining)
    assert (len(calls(record)), backend.requests[-1].tools) == (1, ())


async def test_issue_14_5_two_ids_of_one_parameter_are_both_looked_up_though_their_forms_differ() -> None:
    def train(number: Annotated[str, Field(examples=["R000", "N00"])]) -> dict:
        """Delay of a train."""
        return {"train": number, "delay": {"R512": 12, "N77": 35}[number]}

    script = [said("train", number="R512"), said("train", number="N77"), "N77."]
    record, _ = await asked("R512랑 N77 중에 뭐가 더 늦어?", script, (train,), near=near)
    assert [arguments["number"] for _, arguments in calls(record)] == ["R512", "N77"]


async def test_issue_14_5_a_word_that_is_a_little_like_a_listed_value_does_not_ask_for_it() -> None:
    async def a_little(value: str, texts: Sequence[str]) -> list[float]:
        return [0.57 if (value, one) == ("tomorrow", "시까지") else 0.3 for one in texts]

    _, backend = await asked("몇 시까지 만조야?", [said("tides", day="today"), "04:52."], (tides,), near=a_little)
    assert backend.requests[-1].tools == ()


async def test_issue_14_5_where_a_listed_value_stands_another_must_stand_there_or_mean_the_same() -> None:
    async def like_boats(value: str, texts: Sequence[str]) -> list[float]:
        return [0.67 if (value, one) == ("rowing", "boats") else 0.87 * (value[:5] == one[:5]) for one in texts]

    script = [
        said("boats", kind="pedal"),
        "Two.",
        said("boats", kind="pedal"),
        said("boats", kind="rowing"),
        "2 and 0.",
    ]
    one, _ = await asked("Are there any pedal boats left?", script[:2], (boats,), near=like_boats)
    both, _ = await asked("Are pedal boats left, or rowings?", script[2:], (boats,), near=like_boats)
    assert [arguments["kind"] for _, arguments in calls(one)] == ["pedal"]
    assert [arguments["kind"] for _, arguments in calls(both)] == ["pedal", "rowing"]


async def test_issue_14_what_a_like_value_gave_is_not_told_where_a_word_means_the_listed_value_that_was_asked_for() -> (
    None
):
    async def alike(value: str, texts: Sequence[str]) -> list[float]:
        return [{"today": 0.76, "tomorrow": 0.82}.get(value, 0.1) if one == "내일은" else 0.3 for one in texts]

    script = [said("tides", day="today"), said("tides", day="tomorrow"), "05:41."]
    record, backend = await asked("내일은 만조가 언제야?", script, (tides,), near=alike)
    assert record["answer"] == "05:41."
    assert "05:41" in backend.requests[-1].messages[-1].text
    assert "04:52" not in backend.requests[-1].messages[-1].text
