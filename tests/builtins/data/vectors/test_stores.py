"""D2: one contract for the local file and a real Chroma server; g15, g17, g18."""

from __future__ import annotations

import array
import asyncio
import socket
import sqlite3
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from naru.builtins.data.documents.document import Document
from naru.builtins.data.embeddings.ngrams import NgramEmbedder
from naru.builtins.data.indexing import Indexer
from naru.builtins.data.vectors import local
from naru.builtins.data.vectors import store as stores
from naru.builtins.data.vectors.chroma import API, ChromaStore
from naru.builtins.data.vectors.local import LocalStore
from naru.builtins.data.vectors.store import (
    CollectionMissingError,
    EmbedderMismatchError,
    Entry,
    Recorded,
    VectorStore,
    VectorStoreError,
)
from naru.errors import ConfigError
from tests.client_environments import python_environment

MADE_WITH = Recorded("model-a", 3)
ENTRIES = [
    Entry("x", "along x", (1.0, 0.0, 0.0)),
    Entry("y", "along y", (0.0, 2.0, 0.0)),
    Entry("xy", "between", (1.0, 1.0, 0.0)),
    Entry("한글", "세 번째 축", (0.0, 0.0, 0.5)),
]
START_SECONDS = 60


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a real Chroma server from an environment of its own."""
    python = python_environment("chromadb==1.5.9")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("chroma")
    command = [str(python.parent / "chroma"), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + START_SECONDS
            while time.monotonic() < deadline and server.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            else:
                pytest.fail(f"chroma did not start: {(folder / 'log').read_text(encoding='utf-8')[-500:]}")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(60)


@pytest.fixture(params=["local", pytest.param("chroma", marks=pytest.mark.slow)])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], VectorStore]:
    """Give stores on one and the same server or file."""
    if request.param == "local":
        return lambda name: LocalStore(tmp_path / "vectors.sqlite", name)
    url = request.getfixturevalue("chroma_url")
    return lambda name: ChromaStore(url, name)


@pytest.fixture
def name() -> str:
    return f"columns-{uuid.uuid4().hex[:12]}"


async def texts(store: VectorStore, vectors, count: int, *, embedder: str) -> list[list[str]]:
    """Ask, and give the texts alone."""
    return [[one.text for one in found] for found in await store.query(vectors, count, embedder=embedder)]


async def filled(store: VectorStore) -> VectorStore:
    await store.ensure(MADE_WITH)
    await store.upsert(ENTRIES)
    return store


async def test_the_nearest_come_first_for_each_query(make, name):
    store = await filled(make(name))
    found = await texts(store, [(10.0, 0.1, 0.0), (0.0, 0.0, 1.0)], 3, embedder="model-a")
    assert found[0] == ["along x", "between", "along y"]
    assert found[1][0] == "세 번째 축"
    assert await texts(store, [], 3, embedder="model-a") == []
    assert [len(row) for row in await texts(store, [(1.0, 0.0, 0.0)], 99, embedder="model-a")] == [4]
    assert await store.count() == 4
    await store.close()


async def test_an_entry_with_a_known_id_is_replaced(make, name):
    store = await filled(make(name))
    await store.upsert([Entry("x", "moved", (0.0, 0.0, 1.0))])
    assert await store.count() == 4
    assert "along x" not in (await texts(store, [(1.0, 0.0, 0.0)], 4, embedder="model-a"))[0]
    await store.close()


async def test_what_is_kept_is_found_by_another_process(make, name):
    await (await filled(make(name))).close()
    again = make(name)
    assert (await texts(again, [(0.0, 1.0, 0.0)], 1, embedder="model-a")) == [["along y"]]
    other = make(name)
    await other.ensure(MADE_WITH)
    await other.upsert([Entry("new", "newly along y", (0.0, 1.0, 0.0)), Entry("y", "gone", (1.0, 0.0, 0.0))])
    assert (await texts(again, [(0.0, 1.0, 0.0)], 1, embedder="model-a")) == [["newly along y"]]
    await again.close()
    await other.close()


async def test_a_missing_collection_is_told_with_those_there_are(make, name):
    await (await filled(make(name))).close()
    missing = make(f"{name}-no")
    with pytest.raises(CollectionMissingError, match=name):
        await missing.query([(1.0, 0.0, 0.0)], 1, embedder="model-a")
    with pytest.raises(CollectionMissingError):
        await missing.upsert(ENTRIES)
    assert await missing.count() == 0
    await missing.close()


async def test_g15_g17_another_length_or_model_is_told_and_nothing_is_deleted(make, name):
    store = await filled(make(name))
    with pytest.raises(EmbedderMismatchError, match=r"3 numbers made with model-a; model-b gives 4"):
        await store.query([(1.0, 0.0, 0.0, 0.0)], 1, embedder="model-b")
    with pytest.raises(EmbedderMismatchError, match="made with model model-a, not with model-b"):
        await store.query([(1.0, 0.0, 0.0)], 1, embedder="model-b")
    with pytest.raises(EmbedderMismatchError):
        await store.ensure(Recorded("model-b", 3))
    with pytest.raises(EmbedderMismatchError):
        await store.ensure(Recorded("model-a", 4))
    with pytest.raises(EmbedderMismatchError):
        await store.upsert([Entry("z", "z", (1.0, 2.0))])
    assert await store.count() == 4
    await store.close()


async def test_clearing_removes_the_collection_alone(make, name):
    store, other = await filled(make(name)), await filled(make(f"{name}-other"))
    await store.clear()
    assert (await store.count(), await other.count()) == (0, 4)
    await store.ensure(Recorded("model-b", 2))
    await store.upsert([Entry("a", "a", (1.0, 0.0))])
    assert await texts(store, [(1.0, 0.0)], 1, embedder="model-b") == [["a"]]
    await store.close()
    await other.close()


async def test_g18_a_collection_that_was_made_anew_is_looked_up_again(make, name):
    store, other = await filled(make(name)), make(name)
    await store.query([(1.0, 0.0, 0.0)], 1, embedder="model-a")
    await other.clear()
    await other.ensure(MADE_WITH)
    await store.upsert([Entry("n", "new", (1.0, 0.0, 0.0))])
    assert await texts(store, [(1.0, 0.0, 0.0)], 3, embedder="model-a") == [["new"]]
    await other.clear()
    with pytest.raises(CollectionMissingError):
        await store.query([(1.0, 0.0, 0.0)], 1, embedder="model-a")
    await store.close()
    await other.close()


@pytest.mark.slow
async def test_g15_a_collection_that_others_made_is_checked_by_its_own_dimension(chroma_url: str, name: str):
    async with aiohttp.ClientSession() as session:
        made = await (await session.post(f"{chroma_url}{API}", json={"name": name})).json()
        body = {"ids": ["1"], "embeddings": [[1.2, 2.3, 4.5]], "documents": ["d"]}
        assert (await session.post(f"{chroma_url}{API}/{made['id']}/add", json=body)).status == 201
    store = ChromaStore(chroma_url, name)
    with pytest.raises(EmbedderMismatchError, match="3 numbers; use gives 512"):
        await store.query([[0.1] * 512], 1, embedder="use")
    assert await texts(store, [[1.0, 2.0, 3.0]], 1, embedder="use") == [["d"]]
    await store.close()


async def test_chroma_that_is_down_is_told_without_its_address_and_used_once_it_is_up():
    store = ChromaStore("http://127.0.0.1:9", "columns")
    with pytest.raises(VectorStoreError, match="No connection to Chroma at CHROMADB_HOST:CHROMADB_PORT"):
        await store.query([(1.0,)], 1, embedder="a")
    await store.close()


@pytest.mark.parametrize("wrong", ["ab", "한글이름", "with space", "-dash", "x" * 513, "a/b"])
def test_names_that_chroma_refuses_are_refused_before(wrong: str):
    with pytest.raises(ConfigError, match="CHROMADB_COLLECTION_NAME"):
        ChromaStore("http://localhost:8000", wrong)


async def test_without_numpy_the_local_store_finds_the_same(monkeypatch: pytest.MonkeyPatch):
    with_numpy = await filled(LocalStore(None, "c"))
    monkeypatch.setattr(local, "_numpy", lambda: None)
    without = await filled(LocalStore(None, "c"))
    queries = [(0.3, 0.2, 0.9), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)]
    assert await without.query(queries, 4, embedder="model-a") == await with_numpy.query(queries, 4, embedder="model-a")
    await asyncio.gather(with_numpy.close(), without.close())


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    store = LocalStore(tmp_path / "file" / "vectors.sqlite", "columns")
    with pytest.raises(VectorStoreError, match="NARU_DATA_DIR"):
        await store.count()


async def test_what_is_stored_is_read_back_with_its_metadata_for_the_same_model_alone(make, name):
    store = make(name)
    await store.ensure(MADE_WITH)
    kept = Entry("x", "along x", (1.0, 0.0, 0.0), {"source": "a.csv#1", "page": 3})
    await store.upsert([kept, ENTRIES[1]])
    stored = await store.stored(["x", "none"], made_with=MADE_WITH)
    assert list(stored) == ["x"]
    assert (stored["x"].text, dict(stored["x"].metadata), list(stored["x"].vector)) == (
        "along x",
        {"source": "a.csv#1", "page": 3},
        [1.0, 0.0, 0.0],
    )
    (found,) = (await store.query([(1.0, 0.0, 0.0)], 1, embedder="model-a"))[0]
    assert (found.id, found.metadata["source"]) == ("x", "a.csv#1")
    assert found.score == pytest.approx(1.0, abs=1e-3)
    assert await store.stored(["x"], made_with=Recorded("model-b", 3)) == {}
    await store.close()


async def test_a_collection_filled_beside_takes_the_place_at_the_end(make, name):
    """Issue line 1: `--replace` swaps at the end."""
    store = await filled(make(name))
    staged = store.beside()
    await staged.ensure(Recorded("model-b", 2))
    await staged.upsert([Entry("a", "a", (1.0, 0.0))])
    assert await store.count() == 4
    await store.take(staged)
    assert await store.count() == 1
    assert await texts(store, [(1.0, 0.0)], 3, embedder="model-b") == [["a"]]
    await staged.clear()
    assert await store.count() == 1
    with pytest.raises(CollectionMissingError, match=name) as told:
        await make(f"{name}-no").query([(1.0,)], 1, embedder="model-b")
    assert "naru-new" not in str(told.value)
    await staged.close()
    await store.close()


async def test_what_a_killed_run_left_is_removed_once_no_run_can_fill_it(make, name, monkeypatch):
    store, other = make(name), make(f"{name}-other")
    left, of_another, named_alike = store.beside(), other.beside(), make(f"{name}.naru-new-1")
    of_before = make(f"{name}.naru-new-0123abcd")  # as it was named when no time was written
    for one in (left, of_another, named_alike, of_before):
        await filled(one)
    document = Document("d", "text", "d")

    async def index() -> list[int]:
        async for _ in Indexer(NgramEmbedder(), store).run([document], replace=True):
            pass
        return [await one.count() for one in (left, of_another, named_alike)]

    assert await index() == [4, 4, 4], "another run may be filling it"
    assert await of_before.count() == 0
    monkeypatch.setattr(stores, "STAGED_SECONDS", -1)
    assert await index() == [0, 4, 4]
    assert await store.count() == 1
    for one in (store, other, left, of_another, named_alike, of_before):
        await one.close()


async def test_a_file_of_before_metadata_was_kept_is_brought_up_to_date(tmp_path: Path):
    with sqlite3.connect(tmp_path / "vectors.sqlite") as old:
        old.executescript(local.SCHEMA)
        old.execute("INSERT INTO collections VALUES ('old', 'model-a', 3)")
        old.execute("INSERT INTO entries VALUES ('old', 'x', 'along x', ?)", (array.array("f", (1, 0, 0)).tobytes(),))
    old.close()
    store = LocalStore(tmp_path / "vectors.sqlite", "old")
    assert await texts(store, [(1.0, 0.0, 0.0)], 1, embedder="model-a") == [["along x"]]
    await store.close()


async def test_issue_20_6_a_chroma_of_before_version_1_is_refused_with_its_version():
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/api/v1/version":
            return web.json_response("0.4.24")
        return web.json_response({"detail": "Not Found"}, status=404)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        store = ChromaStore(str(server.make_url("")), "columns")
        for call in (store.count(), store.ensure(MADE_WITH), store.query([(1.0, 0.0, 0.0)], 1, embedder="model-a")):
            with pytest.raises(VectorStoreError, match=r"Chroma 0\.4\.24"):
                await call
        await store.close()
