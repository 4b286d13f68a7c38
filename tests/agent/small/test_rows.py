"""Issue 14, 5: the rows that a question is about are read once more, by its values and by meaning."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.agent.small.conftest import asked, calls

from naru.agent.closeness import Closeness
from naru.agent.small.rows import MOST, nearest
from naru.agent.small.sources import Text
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.errors import UpstreamError

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


async def test_of_very_many_rows_only_the_first_are_compared() -> None:
    seen: list[int] = []

    async def counting(question: str, texts: Sequence[str]) -> list[float]:
        seen.append(len(texts))
        return [float(place == 7) for place, _ in enumerate(texts)]

    rows = [{"number": place} for place in range(5_000)]
    assert await found("Which one?", rows, counting) == ["number: 7"]
    assert seen == [MOST]


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
