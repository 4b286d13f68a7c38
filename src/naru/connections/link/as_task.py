"""Calls that their server works on as tasks alone (2025-11-25): waited for here, so that who called need not know."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import replace

from naru.connections.link.traced import traced_request
from naru.connections.session.options import RequestOptions
from naru.connections.session.session import Session
from naru.connections.state.faults import LinkError, RpcError
from naru.connections.wire.results import is_well_formed, well_formed, without_task
from naru.messages import Json, JsonObject
from naru.telemetry.tracing import carrier_of


async def call_as_task(session: Session, params: Mapping[str, Json], options: RequestOptions) -> JsonObject:
    """Call a tool as a task and return what came of it; a task that nobody waits for any more is called off.

    Raises:
        RpcError: the task failed.
        LinkError: no answer came.
    """
    with session.one_call(options) as together:
        return await traced_request(session, "tools/call", params, together, _called)


async def _called(
    session: Session, method: str, params: Mapping[str, Json] | None, options: RequestOptions
) -> JsonObject:
    params = params or {}
    # Kept for as long as its server likes.
    created = await session.request(method, {**params, "task": {}}, options)
    task = created.get("task")
    task_id = task.get("taskId") if isinstance(task, dict) else None
    if not isinstance(task_id, str):
        return created
    try:
        context = {"_meta": carrier_of(params.get("_meta"))}
        result = await session.request("tasks/result", {"taskId": task_id, **context}, replace(options, task=task_id))
    except (LinkError, asyncio.CancelledError):
        session.own(_call_off(session, task_id))
        raise
    result = without_task(result)
    return result if is_well_formed(result) else well_formed(result)


async def _call_off(session: Session, task_id: str) -> None:
    with contextlib.suppress(LinkError, RpcError):  # It is over, or its server is.
        await session.request("tasks/cancel", {"taskId": task_id})
