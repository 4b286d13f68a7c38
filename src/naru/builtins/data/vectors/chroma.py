"""A Chroma server over its v2 REST API: no client library, connected lazily, a stale collection looked up again."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Self
from urllib.parse import quote

import aiohttp

from naru.builtins.data.vectors.store import (
    Entry,
    Found,
    Recorded,
    VectorStoreError,
    check_made_with,
    is_left,
    missing,
    staged_name,
)
from naru.errors import ConfigError
from naru.messages import Json, JsonObject

API = "/api/v2/tenants/default_tenant/databases/default_database/collections"
REQUEST_SECONDS = 30.0
UPSERT_ENTRIES = 500
_NAMES_AT_ONCE = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]")
_EMBEDDER, _DIMENSION = "naru:embedder", "naru:dimension"


@dataclass(frozen=True, slots=True)
class _Collection:
    id: str
    recorded: Recorded


class _GoneError(Exception):
    """The server does not know the collection's id (any more)."""


class ChromaStore:
    """One collection of a Chroma server.

    Args:
        url: the server's, such as `http://localhost:8000`.
        collection: its name.
        token: sent as `X-Chroma-Token` and bearer when not empty.

    Raises:
        ConfigError: Chroma would refuse the name.
    """

    def __init__(self, url: str, collection: str, token: str = "") -> None:
        if not _NAME.fullmatch(collection):
            raise ConfigError(
                f"CHROMADB_COLLECTION_NAME {collection!r} is not a name that Chroma takes.",
                remedy="Use 3 to 512 of a-z, A-Z, 0-9, '.', '_' and '-', beginning and ending with a letter or digit.",
            )
        self._url = url.rstrip("/")
        self._name = collection
        self._headers = {"X-Chroma-Token": token, "Authorization": f"Bearer {token}"} if token else {}
        self._session: aiohttp.ClientSession | None = None
        self._known: _Collection | None = None
        self._is_checked = False

    async def ensure(self, made_with: Recorded) -> None:
        """Create the collection if there is none. Raises EmbedderMismatchError."""
        body = {
            "name": self._name,
            "get_or_create": True,
            "metadata": {_EMBEDDER: made_with.embedder, _DIMENSION: made_with.dimension},
            "configuration": {"hnsw": {"space": "cosine"}},
        }
        self._known = None
        found = await self._find() or _read(await self._call("POST", "", body))
        check_made_with(self._name, found.recorded, made_with)
        self._known = found

    async def upsert(self, entries: Sequence[Entry]) -> None:
        """Add documents, or replace those with the same id."""
        for start in range(0, len(entries), UPSERT_ENTRIES):
            part = entries[start : start + UPSERT_ENTRIES]
            body = {
                "ids": [entry.id for entry in part],
                "documents": [entry.text for entry in part],
                "embeddings": [list(entry.vector) for entry in part],
                "metadatas": [dict(entry.metadata) or None for entry in part],
            }
            await self._post("/upsert", body, Recorded("", len(part[0].vector)))

    async def query(self, vectors: Sequence[Sequence[float]], n_results: int, *, embedder: str) -> list[list[Found]]:
        """Return the documents nearest to each vector, nearest first."""
        if not vectors:
            return []
        body = {
            "query_embeddings": [list(vector) for vector in vectors],
            "n_results": n_results,
            "include": ["documents", "distances", "metadatas"],
        }
        answer = await self._post("/query", body, Recorded(embedder, len(vectors[0])))
        if not isinstance(answer.get("documents"), list) or not isinstance(answer.get("ids"), list):
            raise VectorStoreError("Chroma's answer to a query holds no documents.")
        parts = [answer.get(part) or [[]] * len(vectors) for part in ("ids", "documents", "distances", "metadatas")]
        return [[_found(*row) for row in zip_longest(*map(_list, rows))] for rows in zip(*parts, strict=True)]

    async def stored(self, ids: Sequence[str], *, made_with: Recorded) -> dict[str, Entry]:
        """Return those of these documents that are there, by id; none when another model made the collection."""
        self._known = await self._find()
        if self._known is None or self._known.recorded != made_with:
            return {}
        entries: dict[str, Entry] = {}
        for start in range(0, len(ids), UPSERT_ENTRIES):
            body = {"ids": ids[start : start + UPSERT_ENTRIES], "include": ["documents", "embeddings", "metadatas"]}
            answer = await self._post("/get", body, made_with)
            parts = [_list(answer.get(part)) for part in ("ids", "documents", "embeddings", "metadatas")]
            for id_, text, vector, metadata in zip_longest(*parts):
                if vector:
                    entries[id_] = Entry(id_, text or "", vector, metadata or {})
        return entries

    def beside(self) -> Self:
        """Return an empty collection next to this one, on the same server."""
        other = type(self)(self._url, staged_name(self._name))
        other._headers = self._headers
        return other

    async def sweep(self) -> None:
        """Remove what `beside` began and nobody ended."""
        for name in await self._names():
            if is_left(name, self._name):
                with contextlib.suppress(_GoneError):  # another run has just done so
                    await self._call("DELETE", f"/{quote(name, safe='')}")

    async def take(self, other: Self) -> None:
        """Become what a collection from `beside` holds: the old one steps aside, the new one takes its name."""
        old, new = await self._find(), await other._find()
        if new is None:
            raise missing(other._name, await self._names())
        aside = staged_name(self._name)
        if old:
            await self._call("PUT", f"/{old.id}", {"new_name": aside})
        try:
            await self._call("PUT", f"/{new.id}", {"new_name": self._name})
        except VectorStoreError:
            if old:
                await self._call("PUT", f"/{old.id}", {"new_name": self._name})
            raise
        if old:
            await self._call("DELETE", f"/{quote(aside, safe='')}")
        self._known = None

    async def count(self) -> int:
        """Return the number of documents; 0 when there is no collection."""
        self._known = await self._find()
        return int(await self._call("GET", f"/{self._known.id}/count")) if self._known else 0

    async def clear(self) -> None:
        """Remove the collection with all its documents."""
        if await self._find():
            await self._call("DELETE", f"/{quote(self._name, safe='')}")
        self._known = None

    async def close(self) -> None:
        """Close the HTTP session."""
        if self._session:
            await self._session.close()
            self._session = None

    async def _post(self, path: str, body: JsonObject, asked: Recorded) -> JsonObject:
        """Post to the collection; one that another client deleted or made anew is looked up again, once."""
        for is_last in (False, True):
            if self._known is None:
                self._known = await self._find()
            if self._known is None:
                raise missing(self._name, await self._names())
            check_made_with(self._name, self._known.recorded, asked)
            try:
                answer = await self._call("POST", f"/{self._known.id}{path}", body)
            except _GoneError as error:
                self._known = None
                if is_last:
                    raise VectorStoreError(f"Chroma lost collection {self._name!r} twice in a row.") from error
                continue
            return answer if isinstance(answer, dict) else {}
        raise AssertionError("the last attempt returns or raises")

    async def _find(self) -> _Collection | None:
        try:
            return _read(await self._call("GET", f"/{quote(self._name, safe='')}"))
        except _GoneError:
            await self._check_version()
            return None

    async def _check_version(self) -> None:
        """Tell a server that knows no such collection from one that does not know these paths at all."""
        if self._is_checked:
            return
        try:
            await self._call("GET", "?limit=1")
        except _GoneError:
            raise VectorStoreError(
                f"At CHROMADB_HOST:CHROMADB_PORT is {await self._told_version()}, whose API has no version 2.",
                remedy="Run Chroma 1.0 or newer (chroma run), or leave CHROMADB_HOST empty to keep vectors here.",
            ) from None
        self._is_checked = True

    async def _told_version(self) -> str:
        """Ask as servers before 1.0 are asked."""
        try:
            return f"Chroma {await self._call('GET', '', root='/api/v1/version')}"
        except (_GoneError, VectorStoreError):
            return "no Chroma server that says its version"

    async def _names(self) -> list[str]:
        names: list[str] = []
        while True:
            found = await self._call("GET", f"?limit={_NAMES_AT_ONCE}&offset={len(names)}")
            part = [str(item.get("name")) for item in found] if isinstance(found, list) else []
            names += part
            if len(part) < _NAMES_AT_ONCE:
                return names

    async def _call(self, method: str, path: str, body: JsonObject | None = None, *, root: str = API) -> Json:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS, connect=5)
            self._session = aiohttp.ClientSession(timeout=timeout, headers=self._headers)
        for is_last in (False, True):
            try:
                async with self._session.request(
                    method, f"{self._url}{root}{path}", json=body, allow_redirects=False
                ) as response:
                    return _checked(response.status, await _json(response))
            except (aiohttp.ClientError, TimeoutError) as error:
                if is_last:
                    raise self._unreachable(error) from error
                await asyncio.sleep(0.2)
        raise AssertionError("the last attempt returns or raises")

    def _unreachable(self, error: BaseException) -> VectorStoreError:
        reason = "no answer in time" if isinstance(error, TimeoutError) else type(error).__name__
        return VectorStoreError(
            f"No connection to Chroma at CHROMADB_HOST:CHROMADB_PORT: {reason}.",
            remedy="Start it (chroma run), or leave CHROMADB_HOST empty to keep vectors here; then ask again.",
        )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _found(id_: str, text: str | None, distance: float | None, metadata: dict[str, Any] | None) -> Found:
    return Found(id_, id_ if text is None else text, 1.0 - (distance or 0.0), metadata or {})


def _read(answer: Json) -> _Collection:
    if not isinstance(answer, dict) or "id" not in answer:
        raise VectorStoreError("What answers at CHROMADB_HOST:CHROMADB_PORT is not a Chroma server of version 1.")
    metadata: dict[str, Any] = answer.get("metadata") or {}
    dimension = answer.get("dimension") or metadata.get(_DIMENSION) or 0
    return _Collection(str(answer["id"]), Recorded(str(metadata.get(_EMBEDDER) or ""), int(dimension)))


def _checked(status: int, answer: Json) -> Json:
    if status < 300:
        return answer
    told = (
        answer if isinstance(answer, str) else str((answer or {}).get("message") or (answer or {}).get("error") or "")
    )
    if status == 404 or "does not exist" in told:
        raise _GoneError(told)
    raise VectorStoreError(f"Chroma answered HTTP {status}: {told[:300] or 'no reason given'}.")


async def _json(response: aiohttp.ClientResponse) -> Json:
    try:
        return await response.json(content_type=None)
    except ValueError:
        return (await response.text(errors="replace"))[:300]
