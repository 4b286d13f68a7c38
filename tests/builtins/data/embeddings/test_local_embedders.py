"""The embedded model and the fallback: order, blanks, odd texts, and how well columns are found."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from operator import mul

import pytest

from naru.builtins.data.embeddings.choose import choose_embedder, choose_reader
from naru.builtins.data.embeddings.embedder import Embedder
from naru.builtins.data.embeddings.english import EnglishReader
from naru.builtins.data.embeddings.ngrams import NgramEmbedder
from naru.builtins.data.embeddings.openai_endpoint import OpenAIEmbedder
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder, readable
from naru.builtins.data.embeddings.two_encoders import TwoEncoders
from naru.builtins.data.ranking import fused
from naru.builtins.data.vectors.store import Found
from naru.config import DataSettings
from tests.builtins.data.servers import CASES

ODD = ["", " \n", "나루", "a", "🚢" * 3, "\ud800", "x" * 50_000, "a\x00b", "bga_lot.yield_pct: 수율"]


@pytest.fixture(
    scope="module",
    params=[*(pytest.param(one, marks=pytest.mark.slow) for one in (SentenceEncoder, TwoEncoders)), NgramEmbedder],
)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return request.param()


async def test_each_text_has_a_vector_of_length_one_in_its_place_and_blank_ones_none(embedder: Embedder):
    vectors = await embedder.embed(ODD, "passage")
    assert [bool(vector) for vector in vectors] == [bool(text.strip()) for text in ODD]
    lengths = {len(vector) for vector in vectors if vector}
    assert len(lengths) == 1
    for vector in vectors:
        assert not vector or math.isclose(math.hypot(*vector), 1.0, rel_tol=1e-3)
    alone = await embedder.embed(["나루"], "passage")
    assert math.isclose(sum(a * b for a, b in zip(alone[0], vectors[2], strict=True)), 1.0, rel_tol=1e-3)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("bga_lot.yield_pct (numeric(10,2)): 수율 (%)", "bga lot yield pct: 수율 (%)"),
        ("shop.orders.paid_at (TIMESTAMP)", "shop orders paid at"),
        ("lot.tag (text[]); values: a (b), c", "lot tag; values: a (b), c"),
        ("Yield (percent): out over in", "Yield (percent): out over in"),
        ("sbCustomer.sbCustJoinDate (date): JavaScript", "sb Customer sb Cust Join Date: JavaScript"),
        ("lot.line (see below) is a number", "lot line (see below) is a number"),
        ("_" * 2000, "_" * 2000),
    ],
    ids=["with sizes", "alone", "with details", "no column", "capitals", "a sentence", "a line to write on"],
)
def test_issue_20_7_a_columns_type_is_not_taken_for_its_meaning(text: str, read: str):
    assert readable(text) == read


async def recall(embedder: Embedder, *, is_fused: bool = False) -> dict[str, tuple[float, float]]:
    """Return recall@1 and @3 on the labelled columns, all together and by language direction."""
    labelled = json.loads((CASES / "columns.json").read_text(encoding="utf-8"))
    columns = {column["id"]: f"{column['id']}: {column['text']}" for column in labelled["cols"]}
    documents = await embedder.embed(list(columns.values()), "passage")
    queries = await embedder.embed([query["q"] for query in labelled["queries"]], "query")
    ranks: dict[str, list[int]] = defaultdict(list)
    for query, vector in zip(labelled["queries"], queries, strict=True):
        found = [
            Found(id_, text, sum(map(mul, vector, document)))
            for (id_, text), document in zip(columns.items(), documents, strict=True)
        ]
        ordered = fused(query["q"], found, len(found)) if is_fused else sorted(found, key=lambda one: -one.score)
        rank = [one.id for one in ordered].index(query["answer"])
        ranks["all"].append(rank)
        ranks[query["kind"]].append(rank)
    return {
        kind: (sum(r < 1 for r in found) / len(found), sum(r < 3 for r in found) / len(found))
        for kind, found in ranks.items()
    }


@pytest.mark.slow
async def test_the_embedded_model_finds_columns_in_both_languages():
    found = await recall(SentenceEncoder())
    assert found["all"][0] >= 0.66
    assert found["all"][1] >= 0.82
    assert {kind for kind in found if kind != "all"} == {"ko->ko", "en->en", "en->ko", "ko->en"}
    assert all(at_three >= 0.7 for _, at_three in found.values())


@pytest.mark.slow
async def test_issue_20_7_both_models_and_words_find_columns_across_languages():
    found = await recall(TwoEncoders(), is_fused=True)
    assert found["all"][0] >= 0.80
    assert found["all"][1] >= 0.94
    assert found["ko->en"][1] >= 0.85
    assert found["en->ko"][1] >= 0.95


async def test_the_fallback_finds_what_shares_its_spelling_and_says_that_it_is_lexical():
    found = await recall(NgramEmbedder())
    assert found["ko->ko"][1] >= 0.8
    assert "lexical" in NgramEmbedder.status


def test_the_settings_choose(monkeypatch: pytest.MonkeyPatch):
    given = DataSettings(text_embedding_model_url="http://localhost:8080/v1", _env_file=None)
    assert isinstance(choose_embedder(given), OpenAIEmbedder)
    assert isinstance(choose_embedder(DataSettings(text_embedding_model_url="", _env_file=None)), TwoEncoders)
    monkeypatch.setattr(TwoEncoders, "is_installed", staticmethod(lambda: False))
    assert isinstance(choose_embedder(DataSettings(text_embedding_model_url="", _env_file=None)), SentenceEncoder)
    monkeypatch.setattr(SentenceEncoder, "is_installed", staticmethod(lambda: False))
    assert isinstance(choose_embedder(DataSettings(text_embedding_model_url="", _env_file=None)), NgramEmbedder)


def test_issue_20_7_english_is_read_again_unless_an_endpoint_was_chosen_or_the_weights_are_missing(
    monkeypatch: pytest.MonkeyPatch,
):
    embedded = DataSettings(text_embedding_model_url="", _env_file=None)
    assert isinstance(choose_reader(embedded), EnglishReader)
    assert choose_reader(DataSettings(text_embedding_model_url="http://localhost:8080/v1", _env_file=None)) is None
    monkeypatch.setattr(EnglishReader, "is_installed", staticmethod(lambda: False))
    assert choose_reader(embedded) is None
