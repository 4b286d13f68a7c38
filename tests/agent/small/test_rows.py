"""Issue 14, 5: the rows that a question is about are read once more, by its values and by meaning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import pytest
from pydantic import Field
from tests.agent.small.conftest import asked, calls

from naru.agent.closeness import Closeness
from naru.agent.execute import Outcome
from naru.agent.small.rows import COUNTING, MOST_TEXTS, nearest, says_nothing
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.errors import UpstreamError
from naru.messages import ToolCall, ToolResult
from naru.tools.texts import Text

DOCTORS = [
    {"doctor": "Dr. Lindholm", "field": "surgery", "room": 4},
    {"doctor": "Dr. Okafor", "field": "dentistry", "room": 2},
]
LINDHOLM, OKAFOR = "doctor: Dr. Lindholm, field: surgery, room: 4", "doctor: Dr. Okafor, field: dentistry, room: 2"


def doctors() -> list[dict]:
    """The doctors with their field and room."""
    return DOCTORS


def patients(name: str) -> dict:
    """Find animals by name."""
    return {"name": name}


async def teeth(question: str, texts: Sequence[str]) -> list[float]:
    return [0.3 if "dentistry" in text else 0.1 for text in texts]


async def both(question: str, texts: Sequence[str]) -> list[float]:
    return [0.3 - 0.01 * place for place, _ in enumerate(texts)]


async def away(question: str, texts: Sequence[str]) -> list[float]:
    async def embed(texts: Sequence[str], kind: str) -> list[list[float]]:
        raise UpstreamError("the encoder is away.")

    return await Closeness(embed).near(question, texts)


async def found(question: str, value: object, near=None) -> list[str]:
    return await nearest(Text(question), json.dumps(value, ensure_ascii=False), near)


async def test_the_nearest_row_is_said_again_after_all_of_them_and_before_the_question() -> None:
    script = [json.dumps({"name": "doctors", "arguments": {}}), "Dr. Okafor"]
    record, backend = await asked("치과는 어느 의사가 봐?", script, (doctors, patients), near=teeth)
    last = backend.requests[-1].messages[-1].text
    assert (calls(record), record["answer"]) == ([("doctors", {})], "Dr. Okafor")
    assert last.index(f"- {LINDHOLM}") < last.index(f"- {OKAFOR}") < last.rindex(OKAFOR) < last.index("치과")
    assert (last.count(LINDHOLM), last.count(OKAFOR)) == (1, 2)


async def test_rows_in_an_object_and_json_after_json_are_rows() -> None:
    assert await found("치과?", {"total": 2, "doctors": DOCTORS}, teeth) == [OKAFOR]
    parts = "\n".join(map(json.dumps, DOCTORS))
    assert await nearest(Text("치과?"), parts, teeth) == [OKAFOR]


async def test_a_value_of_the_question_picks_its_rows_where_nothing_measures_meaning() -> None:
    assert await found("In which room is Okafor?", DOCTORS) == [OKAFOR]
    assert await found("In which room is Okafor?", DOCTORS, away) == [OKAFOR]
    assert await found("Who works in room 4711?", DOCTORS) == []


@pytest.mark.parametrize("near", [None, both, away])
async def test_none_is_picked_where_all_may_be_meant_or_nothing_can_tell(near) -> None:
    assert await found("Which doctors work here?", DOCTORS, near) == []


@pytest.mark.parametrize("value", ["Dr. Okafor", {"doctor": "Dr. Okafor"}, [], ["a", "b"], DOCTORS[:1], None])
async def test_what_has_no_rows_gives_none(value: object) -> None:
    assert await found("치과?", value, teeth) == []


async def test_of_very_many_texts_only_the_first_are_compared_and_no_numbers() -> None:
    seen: list[int] = []

    async def counting(question: str, texts: Sequence[str]) -> list[float]:
        seen.extend([len(texts)] if COUNTING[0] not in texts else [])
        return [0.5 * (one == "name 7") for one in texts]

    rows = [{"number": place, "name": f"name {place}"} for place in range(5_000)]
    assert await found("Which one?", rows, counting) == ["number: 7, name: name 7"]
    assert await found("Which one?", [{"number": place} for place in range(9)], counting) == []
    assert seen == [MOST_TEXTS, 0]


LOANS = [{"title": "Dune", "state": "overdue", "shelf": 4}, {"title": "Emma", "state": "on loan", "shelf": 7}] + [
    {"title": title, "state": "overdue", "shelf": 7} for title in ("Solaris", "Ulysses")
]


def counting(**near: float):
    async def degrees(question: str, texts: Sequence[str]) -> list[float]:
        return [0.3 if text in COUNTING else near.get(text, 0.0) for text in texts]

    return degrees


@pytest.mark.parametrize(
    ("question", "near", "lines"),
    [
        ("How many are late?", {"overdue": 0.3}, ["state: overdue (3 rows)"]),
        (
            "How many of each state?",
            {"state": 0.3},
            ["state: overdue (3 rows)", "state: on loan (1 rows)"],
        ),
        ("How many stand on shelf 7?", {"overdue": 0.3}, ["shelf: 7 (3 rows)"]),
        ("How many are there?", {"overdue": 0.05}, []),
    ],
    ids=["value", "key", "said", "all"],
)
async def test_issue_14_of_rows_that_are_counted_the_number_is_said(question, near, lines) -> None:
    assert await found(question, LOANS, counting(**near)) == lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("How many of the books are overdue?", ["state: overdue (3 rows)"]),
        ("¿Cuántos libros están atrasados?", ["state: overdue (3 rows)"]),
        ("Wie viele Bücher stehen auf Brett 7?", ["shelf: 7 (3 rows)"]),
        ("Which books are overdue?", []),
        ("When is Emma due?", None),
    ],
)
async def test_issue_14_the_encoder_tells_what_is_counted(encoder: SentenceEncoder, question, lines) -> None:
    told = await found(question, LOANS, Closeness(encoder.embed).near)
    assert told == lines if lines is not None else not any("rows)" in one for one in told)


async def test_rows_are_compared_by_their_texts_since_all_share_the_keys() -> None:
    async def near(question: str, texts: Sequence[str]) -> list[float]:
        return [0.15 for _ in texts]

    assert await found("Which doctor has the most rooms?", DOCTORS, near) == []


PARCEL = {
    "parcel": "PX-1", "ordered_on": "2026-11-18", "dispatchedOn": "2026-11-21", "eta": "2026-12-03",
    "cost": {"shipping": 12.5, "duty": None}, "signed": False,
}  # fmt: skip


def like(**nearest_keys: float):
    async def near(question: str, texts: Sequence[str]) -> list[float]:
        assert "PX-1" not in question, "what a record holds does not tell its fields apart"
        return [nearest_keys.get(one.replace(" ", "_"), 0.0) for one in texts]

    return near


def parcel(parcel: str) -> dict:
    """Dates of a parcel."""
    return PARCEL


async def test_the_field_that_is_asked_for_is_said_again_under_a_heading_before_the_question() -> None:
    script = [json.dumps({"name": "parcel", "arguments": {"parcel": "PX-1"}}), "2026-11-21."]
    near = like(dispatched_on=0.3, ordered_on=0.1)
    _, backend = await asked("PX-1 소포는 언제 발송됐어?", script, (parcel,), near=near)
    last = backend.requests[-1].messages[-1].text
    assert "cost shipping: 12.5" in last
    assert last.count("ordered on: ") == 1
    assert "Most of all:\ndispatched On: 2026-11-21\n\nQuestion: PX-1" in last


@pytest.mark.parametrize(
    ("degrees", "lines"),
    [
        ({"eta": 0.3, "ordered_on": 0.25}, ["ordered on: 2026-11-18", "eta: 2026-12-03"]),
        ({"signed": 0.3, "eta": 0.25}, []),
        ({"signed": 0.25, "eta": 0.3}, ["eta: 2026-12-03", "signed: no"]),
        ({"cost_shipping": 0.3}, ["cost shipping: 12.5"]),
        ({"eta": 0.3, "ordered_on": 0.3, "signed": 0.3, "dispatched_on": 0.3}, []),
        ({}, []),
    ],
)
async def test_of_a_record_the_few_nearest_fields_are_said_in_their_order(degrees, lines) -> None:
    near = like(**degrees)
    assert await nearest(Text("PX-1?"), json.dumps(PARCEL), near, ["PX-1"]) == lines


async def test_of_the_row_that_a_question_names_the_nearest_field_is_said_with_its_name() -> None:
    rows = [
        {"club": club, "played": 14, "goals": 10 + at, "points": 30 + at} for at, club in enumerate(["Dalen", "Mill"])
    ]

    async def near(question: str, texts: Sequence[str]) -> list[float]:
        return [0.4 if one == "points" else 0.1 for one in texts]

    assert await found("How many points does Mill have?", rows, near) == ["club: Mill", "points: 31"]


async def test_a_text_no_nearer_than_its_key_picks_no_row_since_all_are_meant() -> None:
    rows = [{"club": "Mill FC", "won": 4}, {"club": "Dalen", "won": 9}, {"club": "Sky", "won": 8}]

    async def near(question: str, texts: Sequence[str]) -> list[float]:
        return [{"club": 0.5, "Mill FC": 0.3}.get(one, 0.1) for one in texts]

    assert await found("Which club won most often?", rows, near) == []


async def test_of_a_row_that_is_found_by_meaning_its_name_and_the_nearest_field_are_said() -> None:
    tanks = [{"tank": "T1", "holds": "milk", "litres": 2300, "celsius": 3.8}]
    tanks += [{"tank": "T2", "holds": "whey", "litres": 910, "celsius": 7.1}]

    async def near(question: str, texts: Sequence[str]) -> list[float]:
        return [{"whey": 0.4, "litres": 0.3}.get(one, 0.1) for one in texts]

    assert await found("Wie viel Molke ist da?", tanks, near) == ["tank: T2", "holds: whey", "litres: 910"]


async def test_a_few_rows_inside_of_a_long_record_are_one_of_its_fields() -> None:
    ticket = {"title": "Printer jams on floor two", "opened": "2026-11-03", "assignee": "Omar Quist"}
    ticket |= {"files": [{"name": "jam.jpg"}, {"name": "log.txt"}]}

    async def near(question: str, texts: Sequence[str]) -> list[float]:
        return [0.4 if one in ("assignee", "jam.jpg") else 0.1 for one in texts]

    assert await found("Who works on it?", ticket, near) == ["assignee: Omar Quist"]


async def test_of_two_results_both_say_it_with_their_call_or_neither_does() -> None:
    def lake(name: str) -> dict:
        """Facts about a lake."""
        facts = {"Ulva": {"islands": 4, "depth": 63, "area": 41}, "Corran": {"islands": 0, "depth": 118, "area": 29}}
        return facts[name]

    async def near(question: str, texts: Sequence[str]) -> list[float]:
        return [0.4 if one in degrees else 0.1 for one in texts]

    every = [json.dumps({"name": "lake", "arguments": {"name": name}}) for name in ("Ulva", "Corran")]
    both_calls = "".join(f"<tool_call>\n{one}\n</tool_call>\n" for one in every)
    degrees = ["islands"]
    _, backend = await asked("How many islands have Ulva and Corran?", [both_calls, "4 and 0."], (lake,), near=near)
    said = backend.requests[-1].messages[-1].text
    assert "Most of all:\nlake(name=Ulva): islands: 4\nlake(name=Corran): islands: 0\n\nQuestion" in said
    degrees = ["depth", "area", "islands"]
    _, backend = await asked("What are Ulva and Corran?", [both_calls, "Lakes."], (lake,), near=near)
    assert "Most of all" not in backend.requests[-1].messages[-1].text


def host(name: str) -> str:
    """Status of a host."""
    return f"Host {name} does not exist."


async def missing(question: str, texts: Sequence[str]) -> list[float]:
    return [0.4 if text == "Host  does not exist." else 0.1 for text in texts]


async def test_words_for_that_there_is_no_such_thing_are_nothing_that_was_found() -> None:
    script = [json.dumps({"name": "host", "arguments": {"name": "borea-9"}}), "borea-9 서버는 찾을 수 없습니다."]
    record, backend = await asked("borea-9 서버 부하가 얼마나 돼?", script, (host,), near=missing)
    last = backend.requests[-1].messages[-1].text
    assert last == "Tell me in one short sentence in Korean: borea-9 was not found."
    assert record["answer"] == "borea-9 서버는 찾을 수 없습니다."


@pytest.mark.parametrize("near", [None, away])
async def test_other_words_are_an_answer(near) -> None:
    script = [json.dumps({"name": "host", "arguments": {"name": "borea-9"}}), "It is not there."]
    _, backend = await asked("Is borea-9 up?", script, (host,), near=near)
    assert "Information:\nHost borea-9 does not exist." in backend.requests[-1].messages[-1].text


@pytest.mark.slow
async def test_the_encoder_finds_fields_and_words_for_nothing_in_other_languages() -> None:
    encoder = SentenceEncoder()
    near = Closeness(encoder.embed).near
    ticket = {"openedAt": "11-03", "firstResponseAt": "11-04", "closedAt": "11-12", "reportedBy": "Hana",
              "assignedTo": "Omar", "resolvedBy": "Lena", "priority": "low"}  # fmt: skip
    try:
        assert await found("5120번 티켓은 누가 해결했어?", ticket, near) == ["resolved By: Lena"]
        assert await found("¿Qué prioridad tiene el ticket 5120?", ticket, near) == ["priority: low"]
        for text in (
            "Host s1 does not exist.",
            "해당 주문을 찾을 수 없습니다.",
            '{"message": "Den Artikel gibt es nicht."}',
        ):
            assert await says_nothing(result_of(text), near), text
        for text in ("Host s1 is up.", "El museo está cerrado hoy.", "예약 가능한 자리가 없습니다.", '{"left": "no"}'):
            assert not await says_nothing(result_of(text), near), text
    finally:
        await encoder.close()


def result_of(text: str) -> Outcome:
    return Outcome(ToolCall("1", "look_up", {"name": "s1"}), ToolResult.of_text(text), text)


@pytest.mark.slow
async def test_the_encoder_finds_a_row_by_meaning_in_other_languages_than_its_own(encoder: SentenceEncoder) -> None:
    near = Closeness(encoder.embed).near
    for question in ("치과는 어느 의사가 봐?", "Wann hat der Zahnarzt Sprechstunde?"):
        assert await found(question, DOCTORS, near) == [OKAFOR]
    assert await found("Em que sala trabalha o cirurgião?", DOCTORS, near) == [LINDHOLM]
    assert await found("의사가 몇 명이야?", DOCTORS, near) == []


async def test_an_embedder_on_another_scale_says_nothing_of_rows() -> None:
    async def embed(texts: Sequence[str], kind: str) -> list[list[float]]:
        return [[1.0, 0.1 * place] for place, _ in enumerate(texts)]

    assert await Closeness(embed, tells_closeness=False).near("a", ["b", "c"]) == [0.0, 0.0]


async def test_of_what_led_to_a_result_nothing_is_said_again_nor_in_the_draft_that_comes_before() -> None:
    def cask(cask: Annotated[str, Field(examples=["CK-00"])]) -> dict:
        """A cask by its number."""
        return {"cask": cask, "wine": "Black Terrace", "litres": 188, "vault": "V-31"}

    def vault(vault: Annotated[str, Field(examples=["V-00"])]) -> dict:
        """A vault by its number."""
        return {"vault": vault, "celsius": 11.5, "keeper": "Oriol Puig", "opens": "08:00"}

    async def near(question: str, texts: Sequence[str]) -> list[float]:
        return [0.4 if one in ("wine", "keeper") else 0.1 for one in texts]

    script = [json.dumps({"name": "cask", "arguments": {"cask": "CK-22"}}), "It lies in vault V-31."]
    script += [json.dumps({"name": "vault", "arguments": {"vault": "V-31"}}), "Oriol Puig keeps it."]
    record, backend = await asked("Who keeps the vault where cask CK-22 lies?", script, (cask, vault), near=near)
    assert record["answer"] == "Oriol Puig keeps it."
    draft, last = (backend.requests[at].messages[-1].text for at in (1, -1))
    assert "V-31" in draft
    assert "Most of all" not in draft
    assert "wine: Black Terrace" in last
    assert "Most of all:\nkeeper: Oriol Puig\n\nQuestion" in last


@pytest.mark.parametrize("said", ["Most of all: ordered on: 2026-11-18", "The most of all, it came on 2026-11-18."])
async def test_the_heading_said_back_is_no_answer_and_not_said_a_second_time(said: str) -> None:
    script = [json.dumps({"name": "parcel", "arguments": {"parcel": "PX-1"}})]
    script += [said, "It is to arrive on 2026-12-03."]
    record, backend = await asked("When will PX-1 be here?", script, (parcel,), near=like(ordered_on=0.3))
    assert record["answer"] == "It is to arrive on 2026-12-03."
    assert "Most of all" in backend.requests[-2].messages[-1].text
    assert "Most of all" not in backend.requests[-1].messages[-1].text


async def test_an_answer_under_the_heading_is_taken_without_it() -> None:
    script = [json.dumps({"name": "parcel", "arguments": {"parcel": "PX-1"}})]
    script += ["Most of all: PX-1 was ordered on 2026-11-18."]
    record, _ = await asked("When was PX-1 ordered?", script, (parcel,), near=like(ordered_on=0.3))
    assert record["answer"] == "PX-1 was ordered on 2026-11-18."
