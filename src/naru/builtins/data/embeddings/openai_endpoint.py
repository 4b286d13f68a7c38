"""Embeddings from any OpenAI-compatible endpoint: batched, ordered, checked, retried (D1)."""

from __future__ import annotations

import asyncio
import io
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

from naru.builtins.data.embeddings.embedder import Kind
from naru.builtins.data.embeddings.errors import EmbedderUnavailableError, EmbeddingError
from naru.messages import Json

BATCH_BYTES = 2_000_000
"""Half of the 4 MiB that endpoints with a limit allow."""
MAX_TEXT_BYTES = 500_000
"""A longer text is cut: no model reads so much."""
ATTEMPTS = 3
FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 10.0
REQUEST_SECONDS = 60.0
MAX_ANSWER_BYTES = 128 * 2**20
_BUSY = frozenset({408, 429, 500, 502, 503, 504})
_TOO_MUCH = frozenset({400, 413, 422})
_LETS_NOBODY_IN = frozenset({401, 403, 404, 405, 429})


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """How to talk to one endpoint."""

    url: str
    model: str
    api_key: str = ""
    batch_size: int = 100
    query_prefix: str = ""
    passage_prefix: str = ""
    attempts: int = ATTEMPTS


class OpenAIEmbedder:
    """One endpoint and one model name; the HTTP session is opened at first use."""

    def __init__(self, options: EndpointOptions) -> None:
        self._options = options
        self._batch_size = options.batch_size
        self._session: aiohttp.ClientSession | None = None
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self._options.model

    @property
    def status(self) -> str:
        """One line for people."""
        return f"model {self._options.model} at TEXT_EMBEDDING_MODEL_URL"

    async def embed(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        """Return a vector per text, in order; an empty list for a blank text.

        Raises:
            EmbeddingError: the endpoint failed, refused, or answered with anything but one sound vector per text.
        """
        prefix = self._options.query_prefix if kind == "query" else self._options.passage_prefix
        wanted = [(place, _cut(prefix + text)) for place, text in enumerate(texts) if text.strip()]
        vectors: list[list[float]] = [[] for _ in texts]
        pending = wanted
        while pending:
            batch = pending[: next(_batch_ends(pending, self._batch_size))]
            try:
                found = await self._batch([text for _, text in batch])
            except EmbeddingError:
                self._batch_size = self._options.batch_size  # it was one text that was refused, not their number
                raise
            if found is None:  # too many at once for this endpoint
                self._batch_size = max(1, len(batch) // 2)
                continue
            for (place, _), vector in zip(batch, found, strict=True):
                vectors[place] = vector
            pending = pending[len(batch) :]
        return vectors

    async def close(self) -> None:
        """Close the HTTP session."""
        if self._session:
            await self._session.close()
            self._session = None

    async def _batch(self, texts: list[str]) -> list[list[float]] | None:
        """Return the vectors of one request, or None when the endpoint wants smaller ones."""
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(1, self._options.attempts + 1):
            is_last = attempt == self._options.attempts
            try:
                status, retry_after, answer = await self._post(texts)
            except (aiohttp.ClientError, TimeoutError) as error:
                if is_last:
                    raise self._error(f"was not reached: {_reason(error)}", EmbedderUnavailableError) from error
                retry_after = None
            else:
                if status in _TOO_MUCH and len(texts) > 1:
                    return None
                if status not in _BUSY or is_last:
                    return self._vectors(status, answer, len(texts))
            await asyncio.sleep(min(retry_after if retry_after is not None else pause, MAX_PAUSE_SECONDS))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    async def _post(self, texts: list[str]) -> tuple[int, float | None, Json]:
        body = json.dumps(
            {"model": self._options.model, "input": texts, "encoding_format": "float"}, ensure_ascii=False
        )
        headers = {"Content-Type": "application/json"}
        if self._options.api_key:
            headers["Authorization"] = f"Bearer {self._options.api_key}"
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=REQUEST_SECONDS))
        async with self._session.post(
            self._options.url, data=io.BytesIO(body.encode("utf-8", "replace")), headers=headers, allow_redirects=False
        ) as response:
            raw = await response.content.read(MAX_ANSWER_BYTES)
            while len(raw) < MAX_ANSWER_BYTES and (more := await response.content.read(MAX_ANSWER_BYTES - len(raw))):
                raw += more
            return response.status, _seconds(response.headers.get("Retry-After")), _json(raw)

    def _vectors(self, status: int, answer: Json, count: int) -> list[list[float]]:
        """Check an answer through and through; nothing that is not a sound vector ever gets out."""
        told = _told(answer)
        if status >= 300:
            kind = EmbedderUnavailableError if status in _LETS_NOBODY_IN else EmbeddingError
            raise self._error(f"answered HTTP {status}{f': {told}' if told else ''}", kind)
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list):
            raise self._error(f"sent no `data`{f' but: {told}' if told else ''}")
        if len(data) != count:
            raise self._error(f"sent {len(data)} vectors for {count} texts")
        vectors = [self._vector(item) for item in _in_order(data)]
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1:
            raise self._error(f"sent vectors of different lengths: {sorted(lengths)}")
        length = lengths.pop()
        if self._dimension not in (None, length):
            raise self._error(f"sent vectors of {length} numbers, before that of {self._dimension}")
        self._dimension = length
        return vectors

    def _vector(self, item: Json) -> list[float]:
        vector = item.get("embedding") if isinstance(item, dict) else None
        if not isinstance(vector, list) or not vector:
            raise self._error("sent an entry without a vector")
        if not all(isinstance(value, int | float) and math.isfinite(value) for value in vector):
            raise self._error("sent a vector that holds something else than finite numbers")
        return [float(value) for value in vector]

    def _error(self, what: str, kind: type[EmbeddingError] = EmbeddingError) -> EmbeddingError:
        return kind(
            f"The embedding endpoint of TEXT_EMBEDDING_MODEL_URL {what}.",
            remedy=f"Check the URL, the model name {self._options.model!r} and the endpoint's log.",
        )


def _batch_ends(pending: Sequence[tuple[int, str]], batch_size: int) -> Iterator[int]:
    """Yield where the first batch ends: by count and by bytes, one text at least."""
    size = 0
    for count, (_, text) in enumerate(pending[:batch_size]):
        size += len(text.encode("utf-8", "replace"))
        if size > BATCH_BYTES and count:
            yield count
            return
    yield min(batch_size, len(pending))


def _cut(text: str) -> str:
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= MAX_TEXT_BYTES else raw[:MAX_TEXT_BYTES].decode(errors="ignore")


def _in_order(data: list[Json]) -> list[Json]:
    """Sort by `index` when every entry has its own; else trust the order."""
    indexes = [item.get("index") if isinstance(item, dict) else None for item in data]
    if sorted(index for index in indexes if isinstance(index, int)) != list(range(len(data))):
        return data
    return sorted(data, key=lambda item: int(item["index"]))


def _told(answer: Json) -> str:
    """Return the endpoint's own words, under whatever key it puts them."""
    found: Any = answer
    for key in ("error", "detail", "message", "msg"):
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict) and found.get(key):
            found = found[key]
    return found.strip()[:300] if isinstance(found, str) else ""


def _json(raw: bytes) -> Json:
    try:
        return json.loads(raw)
    except ValueError:
        return raw[:300].decode(errors="replace")


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None


def _reason(error: BaseException) -> str:
    """Say why nothing came, in the system's words; where the endpoint is stays out of them."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, aiohttp.ClientSSLError):  # whose number is none of the system's
        told = getattr(error.os_error, "reason", None) or type(error).__name__
        return str(told).replace("_", " ").lower()
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "its host is not known"
    return os.strerror(number) if number and number > 0 else type(error).__name__
