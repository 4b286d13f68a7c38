"""Calls that their server works on as tasks alone (2025-11-25): waited for here, so that who called need not know."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from naru.connections.link.traced import asked
from naru.connections.session.options import RequestOptions
from naru.connections.session.session import Session
from naru.connections.state.faults import LinkError, RpcError
from naru.connections.wire.protocol import META_RELATED_TASK
from naru.connections.wire.results import is_well_formed, well_formed
from naru.messages import Json, JsonObject


async def call_as_task(session: Session, params: Mapping[str, Json], options: RequestOptions) -> JsonObject:
    """Call a tool as a task and return what came of it; a task that nobody waits for any more is called off.

    Raises:
        RpcError: the task failed.
        LinkError: no answer came.
    """
    with session.one_call(options) as together:
        # Kept for as long as its server likes.
        created = await asked(session, "tools/call", {**params, "task": {}}, together)
        return await _outcome(session, created, together)


async def _outcome(session: Session, created: JsonObject, options: RequestOptions) -> JsonObject:
    task = created.get("task")
    task_id = task.get("taskId") if isinstance(task, dict) else None
    if not isinstance(task_id, str):
        return created
    try:
        result = await session.request("tasks/result", {"taskId": task_id}, options)
    except (LinkError, asyncio.CancelledError):
        session.own(_call_off(session, task_id))
        raise
    meta = result.get("_meta")
    if isinstance(meta, dict):  # Who called knows of no task.
        result = {**result, "_meta": {name: value for name, value in meta.items() if name != META_RELATED_TASK}}
    return result if is_well_formed(result) else well_formed(result)


async def _call_off(session: Session, task_id: str) -> None:
    with contextlib.suppress(LinkError, RpcError):  # It is over, or its server is.
        await session.request("tasks/cancel", {"taskId": task_id})
