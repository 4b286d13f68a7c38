"""English read again: the model as it was published, what it leaves alone, and what it changes in the order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from naru.builtins.data.documents.document import Document
from naru.builtins.data.embeddings.english import EnglishReader
from naru.builtins.data.embeddings.wordpieces import pieces_of
from naru.builtins.data.ranking import READ_AGAIN, fused, ordered
from naru.builtins.data.sources import DataSources
from naru.builtins.data.vectors.store import Found
from naru.config import DataSettings


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("How far?", [2129, 2521, 1029]),
        ("Unaffordable prices, isn't it?", [14477, 4246, 8551, 3085, 7597, 1010, 3475, 1005, 1056, 2009, 1029]),
        ("lot_id yield%", [2843, 1035, 8909, 10750, 1003]),
        ("Café Señor — 12.5kg", [7668, 12411, 2953, 1517, 2260, 1012, 1019, 2243, 2290]),
        ("x" * 101, [100]),
        ("one " * 500, [2028] * 126),
    ],
    ids=["nothing", "words", "parts of words", "identifier", "accents", "too long a word", "too long a text"],
)
def test_text_becomes_the_pieces_that_the_library_tokenizers_gives(text: str, pieces: list[int]):
    assert pieces_of(text) == [101, *pieces, 102]


async def test_sentences_are_as_near_as_the_models_card_says():
    texts = ["That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    found = await EnglishReader().closeness("That is a happy person", texts)
    assert found == pytest.approx([0.695, 0.943, 0.257], abs=0.01)


@pytest.mark.parametrize(
    ("question", "text"),
    [("얼마인가요?", "price"), ("how much", "가격"), ("combien", "numéro"), ("12", "34")],
    ids=["question", "text", "accents", "no letters"],
)
async def test_what_is_not_english_is_left_as_it_was(question: str, text: str):
    assert await EnglishReader().closeness(question, [text, "the price"]) is None


class Reader:
    """Finds the text that is asked for, or cannot tell."""

    def __init__(self, wanted: str | None) -> None:
        self.wanted = wanted

    async def closeness(self, question: str, texts: Sequence[str]) -> list[float] | None:
        return None if self.wanted is None else [float(text == self.wanted) for text in texts]


FOUND = [Found(str(place), f"text {place}", 1 - place / 100) for place in range(40)]


@pytest.mark.parametrize(
    ("reader", "first"),
    [(None, "0"), (Reader(None), "0"), (Reader("text 5"), "5"), (Reader(f"text {READ_AGAIN}"), "0")],
    ids=["no reader", "cannot tell", "knows", "too far back"],
)
async def test_the_reader_moves_what_it_finds_to_the_front(reader: Reader | None, first: str):
    found = await ordered("q", FOUND, 30, reader)
    assert found[0].id == first
    assert sorted(one.id for one in found) == sorted(one.id for one in fused("q", FOUND, 30))
    assert await ordered("q", [], 3, reader) == []


COLUMNS = (
    "ticket.fare ticket.cabin_class ticket.refunded_at ticket.is_return sailing.departs_at sailing.arrives_at "
    "sailing.delay_min sailing.cancel_reason vessel.max_passengers vessel.build_year port.harbour_dues"
).split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "column"),
    [("passengers who got their money back", "ticket.refunded_at"), ("how late was the boat", "sailing.delay_min")],
    ids=["refund", "delay"],
)
async def test_issue_20_7_an_english_turn_of_phrase_finds_its_english_column(
    question: str, column: str, tmp_path: Path
):
    none: dict[str, Any] = dict.fromkeys(
        ("text_embedding_model_url", "chromadb_host", "postgresql_db_host", "postgresql_db_name"), ""
    )
    sources = DataSources(DataSettings(**none, naru_data_dir=tmp_path, _env_file=None))
    async for _ in sources.index([Document(name, name, "columns") for name in COLUMNS]):
        pass
    (found,) = await sources.find([question], 1)
    await sources.close()
    assert [one.id for one in found] == [column]
    assert "English read again" in sources.embeddings
