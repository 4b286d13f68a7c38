"""What this process logs and what the audit log holds, for the console: newest first, filtered, in pages (S-61)."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import asdict
from functools import partial
from typing import Protocol

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.errors import NotFoundError, StoreError, UserError
from naru.messages import JsonObject
from naru.persons import check_sees_all
from naru.telemetry.audit import Audit
from naru.telemetry.audit_file import verify
from naru.telemetry.audit_reading import Page, newest
from naru.telemetry.recent import RecentLines
from naru.web.query import whole_number
from naru.web.routes import Access, Endpoint

PAGE = 100
MOST = 500


class LogHub(Protocol):
    """What this face needs of the hub."""

    @property
    def audit(self) -> Audit | None:
        """The audit log, where one is kept."""
        ...


class Logs:
    """The handlers."""

    def __init__(self, hub: LogHub, recent: RecentLines) -> None:
        self._hub = hub
        self._recent = recent

    async def lines(self, request: Request) -> Response:
        """List the last log lines, newest first: `level`, `q`, `before` and `after` (ids), `limit`."""
        check_sees_all("log lines")
        query = request.query_params
        lines, last = self._recent.newest(
            limit=_limit(query),
            before=whole_number(query, "before"),
            after=whole_number(query, "after") or 0,
            least=_level(query.get("level", "")),
            text=query.get("q", "")[:200],
        )
        return JSONResponse({"lines": [asdict(line) for line in lines], "newest": last})

    async def entries(self, request: Request) -> Response:
        """List the audit log's entries, newest first: `what`, `who`, `q`, `before` and `after` (numbers), `limit`."""
        check_sees_all("the audit log's entries")
        query = request.query_params
        what, who, words = query.get("what", ""), query.get("who", ""), query.get("q", "")[:200].lower().split()

        def is_wanted(entry: JsonObject) -> bool:
            if not str(entry.get("what", "")).startswith(what) or (who and who != entry.get("who")):
                return False
            return not words or _has(entry, words)

        read = partial(newest, self._audit.file.path, is_wanted, limit=_limit(query))
        before, after = whole_number(query, "before"), whole_number(query, "after") or 0
        try:
            page: Page = await asyncio.to_thread(read, before=before, after=after)
        except OSError as error:
            raise StoreError(f"The audit log cannot be read: {error.strerror or error}.") from error
        return JSONResponse({"entries": page.entries, "before": page.goes_on})

    async def proof(self, request: Request) -> Response:
        """Walk the audit log's chain and say whether it holds, as `naru audit verify` does."""
        found = await asyncio.to_thread(verify, self._audit.file.path)
        told = {"holds": found.holds, "entries": found.entries, "head": str(found.head)}
        return JSONResponse({**told, "problems": list(found.problems[:50])})

    @property
    def _audit(self) -> Audit:
        audit = self._hub.audit
        if audit is None:
            raise NotFoundError("No audit log is kept.", remedy="Set audit.enabled.")
        return audit


def endpoints(hub: LogHub, recent: RecentLines) -> list[Endpoint]:
    """Return the rows."""
    face = Logs(hub, recent)
    return [
        Endpoint("/api/logs", ("GET",), face.lines, Access.OPERATOR),
        Endpoint("/api/audit", ("GET",), face.entries, Access.ADMIN),
        Endpoint("/api/audit/proof", ("GET",), face.proof, Access.ADMIN),
    ]


def _has(entry: JsonObject, words: list[str]) -> bool:
    text = json.dumps(entry, ensure_ascii=False).lower()
    return all(word in text for word in words)


def _level(name: str) -> int:
    if not name:
        return 0
    levels = logging.getLevelNamesMapping()
    if name.upper() not in levels:
        raise UserError(f"There is no level {name[:40]!r}.", remedy="Say one of debug, info, warning, error.")
    return levels[name.upper()]


def _limit(query: QueryParams) -> int:
    return min(whole_number(query, "limit") or PAGE, MOST)
