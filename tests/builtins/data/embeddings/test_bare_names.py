"""Issue 20, line 7: of a column read with its table and without it, the nearer counts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from naru.builtins.data.embeddings.bare_names import READ_AGAIN, BareNames
from naru.builtins.data.embeddings.embedder import Kind
from naru.builtins.data.embeddings.sentence_encoder import without_table
from naru.builtins.data.vectors.store import Found


class Embedder:
    """Puts texts that begin with `tx type` on the question's side, all others across."""

    name = status = "test"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        self.asked += texts
        return [[2.0, 0.0] if text.startswith("tx type") else [0.0, 2.0] for text in texts]

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("bga_lot.yield_pct (numeric(10,2)): 수율 (%)", "yield pct: 수율 (%)"),
        ("shop.sbTransaction.sbTxType (text); unit: %", "sb Tx Type; unit: %"),
        ("sailing.captain_id", "captain id:"),
        ("Handbook > Leave\nTwenty days.", ""),
        ("v.1 is out: good", ""),
        ("x (int): no table", ""),
    ],
)
def test_a_column_is_read_by_its_own_name(text: str, bare: str):
    assert without_table(text) == bare


async def test_the_nearer_reading_counts_and_is_made_once_for_the_first_alone():
    embedder = Embedder()
    names = BareNames(embedder)
    found = [Found("a", "shop.tx_type (text): buy", 0.5), Found("b", "Handbook", 0.4), Found("c", "shop.name", 0.3)]
    found += [Found(str(number), f"shop.tx_type: {number}", 0.1) for number in range(READ_AGAIN)]
    for _ in range(2):
        nearer = await names.nearer([1.0, 0.0], found)
        assert [round(one.score, 6) for one in nearer[:3]] == [1, 0.4, 0.3], "never further than it was found"
        assert nearer[-1] == found[-1], "it was found too far back to be read again"
    assert len(embedder.asked) == READ_AGAIN - 1, "one text has no table"
