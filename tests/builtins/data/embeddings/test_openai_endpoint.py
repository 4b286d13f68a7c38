"""D1: batches, order, checks and retries against an endpoint that misbehaves in every way people have met (area g)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from naru.builtins.data.embeddings import openai_endpoint
from naru.builtins.data.embeddings.errors import EmbeddingError
from naru.builtins.data.embeddings.openai_endpoint import EndpointOptions, OpenAIEmbedder

Handler = Callable[[list[str], bytes], Awaitable[web.Response]]


class Endpoint:
    """A real HTTP server whose answers a test decides; keeps the size of each batch."""

    def __init__(self, answer: Callable[[list[str], bytes], web.Response]) -> None:
        self.batches: list[int] = []
        self.headers: list[dict[str, str]] = []
        self._answer = answer

    async def handle(self, request: web.Request) -> web.Response:
        raw = await request.read()
        texts = json.loads(raw)["input"]
        self.batches.append(len(texts))
        self.headers.append(dict(request.headers))
        return self._answer(texts, raw)


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0]


def good(texts: list[str], raw: bytes = b"") -> web.Response:
    data = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    return web.json_response({"data": data[::-1]})  # the order is told by index alone


@asynccontextmanager
async def serving(
    answer: Callable[[list[str], bytes], web.Response], **options: object
) -> AsyncIterator[tuple[Endpoint, OpenAIEmbedder]]:
    endpoint = Endpoint(answer)
    app = web.Application(client_max_size=2**28)
    app.router.add_post("/v1/embeddings", endpoint.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    url = f"http://127.0.0.1:{port}/v1/embeddings"
    embedder = OpenAIEmbedder(EndpointOptions(url, "bge-m3-ko", **options))  # type: ignore[arg-type]
    try:
        yield endpoint, embedder
    finally:
        await embedder.close()
        await runner.cleanup()


async def test_g19_250_texts_go_in_three_batches_and_come_back_in_order():
    def answer(texts: list[str], raw: bytes) -> web.Response:
        return good(texts) if len(texts) <= 100 else web.json_response({"error": "at most 100"}, status=400)

    async with serving(answer) as (endpoint, embedder):
        texts = ["x" * (1 + place) for place in range(250)]
        assert await embedder.embed(texts, "passage") == [vector(text) for text in texts]
        assert endpoint.batches == [100, 100, 50]


async def test_an_endpoint_that_takes_32_at_once_is_learned():
    def answer(texts: list[str], raw: bytes) -> web.Response:
        return good(texts) if len(texts) <= 32 else web.json_response({"error": "batch size > 32"}, status=413)

    async with serving(answer) as (endpoint, embedder):
        texts = [str(place) for place in range(100)]
        assert await embedder.embed(texts, "query") == [vector(text) for text in texts]
        assert endpoint.batches == [100, 50, 25, 25, 25, 25]
        await embedder.embed(texts[:30], "query")
        assert endpoint.batches[6:] == [25, 5]


async def test_g21_batches_are_cut_by_bytes_and_a_text_too_long_for_any_is_shortened():
    def answer(texts: list[str], raw: bytes) -> web.Response:
        return good(texts) if len(raw) <= 4_194_304 else web.json_response({"error": "too large"}, status=400)

    async with serving(answer) as (endpoint, embedder):
        texts = ["가" * 33_000] * 60 + ["y" * 5_000_000]
        vectors = await embedder.embed(texts, "passage")
        assert len(vectors) == 61
        assert all(found == vector(texts[0]) for found in vectors[:60])
        assert vectors[60] == [500_000.0, 1.0]
        assert sum(endpoint.batches) == 61


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        pytest.param(400, {"detail": "too many inputs"}, "too many inputs", id="g22-400-detail"),
        pytest.param(200, {"error": {"message": "no such model"}}, "no such model", id="g22-200-error"),
        pytest.param(200, {"data": []}, "0 vectors for 1", id="g22-200-no-data"),
        (200, "<html>", "no `data`"),
        (200, {"data": [{"index": 0, "embedding": []}]}, "without a vector"),
        (200, {"data": [{"index": 0}]}, "without a vector"),
        (200, {"data": [{"index": 0, "embedding": [1, None]}]}, "finite"),
        (200, {"data": [{"index": 0, "embedding": [1, "a"]}]}, "finite"),
        (401, {"error": {"message": "bad key"}}, "HTTP 401: bad key"),
        (302, {}, "HTTP 302"),
        (422, {"detail": [{"msg": "field required"}]}, "field required"),
    ],
)
async def test_g22_whatever_is_no_sound_vector_is_an_error(status: int, body: object, told: str):
    async with serving(lambda texts, raw: web.json_response(body, status=status)) as (endpoint, embedder):
        with pytest.raises(EmbeddingError, match=told):
            await embedder.embed(["a"], "passage")
        assert endpoint.batches == [1]


async def test_nan_and_mixed_lengths_are_errors():
    async with serving(lambda texts, raw: web.Response(text='{"data": [{"index": 0, "embedding": [NaN]}]}')) as (
        _,
        one,
    ):
        with pytest.raises(EmbeddingError, match="finite"):
            await one.embed(["a"], "passage")

    def mixed(texts: list[str], raw: bytes) -> web.Response:
        return web.json_response({"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]})

    async with serving(mixed) as (_, two):
        with pytest.raises(EmbeddingError, match="different lengths"):
            await two.embed(["a", "b"], "passage")


async def test_a_busy_endpoint_is_tried_again_after_the_time_it_asks_for(monkeypatch: pytest.MonkeyPatch):
    answers = iter([web.Response(status=429, headers={"Retry-After": "0"}), web.Response(status=503)])
    monkeypatch.setattr(openai_endpoint, "FIRST_PAUSE_SECONDS", 0.01)
    async with serving(lambda texts, raw: next(answers, None) or good(texts)) as (endpoint, embedder):
        assert await embedder.embed(["a"], "passage") == [vector("a")]
        assert endpoint.batches == [1, 1, 1]


async def test_an_endpoint_that_is_not_there_is_told_without_its_address(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openai_endpoint, "FIRST_PAUSE_SECONDS", 0.01)
    embedder = OpenAIEmbedder(EndpointOptions("http://127.0.0.1:9/v1/embeddings", "m", api_key="canary-key"))
    with pytest.raises(EmbeddingError, match="TEXT_EMBEDDING_MODEL_URL was not reached: Connection refused") as failure:
        await embedder.embed(["a"], "passage")
    assert "canary" not in str(failure.value)
    await embedder.close()


async def test_an_endpoint_that_speaks_no_tls_is_told_as_that(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openai_endpoint, "FIRST_PAUSE_SECONDS", 0.01)
    async with serving(good) as (_, plain):
        url = plain._options.url.replace("http://", "https://")
        embedder = OpenAIEmbedder(EndpointOptions(url, "m"))
        with pytest.raises(EmbeddingError, match="was not reached: wrong version number"):
            await embedder.embed(["a"], "passage")
        await embedder.close()


async def test_nothing_is_sent_for_nothing_and_blank_texts_get_no_vector():
    async with serving(good) as (endpoint, embedder):
        assert await embedder.embed([], "query") == []
        assert await embedder.embed([" ", ""], "query") == [[], []]
        assert endpoint.batches == []
        assert await embedder.embed(["a", "", "bb"], "query") == [vector("a"), [], vector("bb")]
        assert endpoint.batches == [2]


async def test_prefixes_and_the_key_are_sent():
    async with serving(good, query_prefix="query: ", passage_prefix="passage: ", api_key="k") as (endpoint, embedder):
        assert await embedder.embed(["a"], "query") == [vector("query: a")]
        assert await embedder.embed(["a"], "passage") == [vector("passage: a")]
        assert endpoint.headers[0]["Authorization"] == "Bearer k"
