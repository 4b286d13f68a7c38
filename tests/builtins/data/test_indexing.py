"""Issue 20, line 1: what cannot be embedded is named, `--replace` swaps at the end, unchanged rows stay as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from naru.builtins.data.documents.document import Document
from naru.builtins.data.embeddings.embedder import Kind
from naru.builtins.data.embeddings.errors import EmbedderUnavailableError, EmbeddingError
from naru.builtins.data.embeddings.ngrams import NgramEmbedder
from naru.builtins.data.indexing import FAILURES_IN_A_ROW, Indexed, Indexer
from naru.builtins.data.vectors.local import LocalStore


class FussyEmbedder(NgramEmbedder):
    """Embeds letters as the real one does, refuses texts with `poison`, and is down after so many texts."""

    def __init__(self, lasts: int = 10**9) -> None:
        self.seen: list[str] = []
        self.lasts = lasts

    async def embed(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        self.seen += texts
        if len(self.seen) > self.lasts:
            raise EmbedderUnavailableError("it is down")
        if any("poison" in text for text in texts):
            raise EmbeddingError("it sent a vector that holds something else than finite numbers")
        found = await super().embed(texts, kind)
        return [[math.nan] * len(one) if "nan" in text else one for one, text in zip(found, texts, strict=True)]


def documents(*texts: str) -> list[Document]:
    return [Document(f"d{number}", text, f"x.csv#{number}") for number, text in enumerate(texts, 1)]


async def indexed(
    embedder: NgramEmbedder, store: LocalStore, found: list[Document], *, replace: bool = False
) -> Indexed:
    indexer = Indexer(embedder, store)
    async for _ in indexer.run(found, replace=replace):
        pass
    return indexer.report


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "vectors.sqlite", "columns")


async def test_a_document_that_cannot_be_embedded_is_named_and_the_others_are_stored(store: LocalStore):
    texts = [f"text {number}" for number in range(150)]
    texts[7], texts[99] = "poison", "nan"
    report = await indexed(FussyEmbedder(), store, documents(*texts))
    assert (report.done, report.embedded) == (150, 148)
    assert [one.source for one in report.refused] == ["x.csv#8", "x.csv#100"]
    assert all("could not be embedded" in one.reason for one in report.refused)
    assert await store.count() == 148
    await store.close()


async def test_a_second_run_embeds_only_what_changed(store: LocalStore):
    embedder = FussyEmbedder()
    await indexed(embedder, store, documents("one", "two", "three"))
    embedder.seen.clear()
    report = await indexed(embedder, store, documents("one", "2", "three", "four"))
    assert (report.embedded, report.unchanged) == (2, 2)
    assert embedder.seen[1:] == ["2", "four"], "after the first text, which only tells the vectors' length"
    embedder.seen.clear()
    report = await indexed(embedder, store, documents("one", "2"), replace=True)
    assert (report.embedded, report.unchanged, len(embedder.seen)) == (0, 2, 1)
    assert await store.count() == 2
    await store.close()


@pytest.mark.parametrize("lasts", [0, 1, 100])
async def test_an_embedder_that_fails_loses_nothing_that_was_there(lasts: int, store: LocalStore):
    await indexed(FussyEmbedder(), store, documents("one", "two"))
    with pytest.raises(EmbedderUnavailableError):
        await indexed(FussyEmbedder(lasts), store, documents(*map(str, range(200))), replace=True)
    assert await store.count() == 2
    await store.close()


async def test_an_embedder_that_refuses_everything_is_told_as_such(store: LocalStore):
    await indexed(FussyEmbedder(), store, documents("one"))
    embedder = FussyEmbedder()
    with pytest.raises(EmbeddingError):
        await indexed(embedder, store, documents(*["poison"] * 200), replace=True)
    assert len(embedder.seen) < 300, "it does not try two hundred documents one by one"
    with pytest.raises(EmbeddingError, match="None of 2 documents"):
        await indexed(FussyEmbedder(), store, documents(*["nan"] * 2), replace=True)
    assert FAILURES_IN_A_ROW > 2
    assert await store.count() == 1
    await store.close()
