"""Items as the API lists them: with an id and a status, content in parts; a page of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naru.messages import JsonObject
from naru.web.face.errors import BadRequestError

_PAGE, _MOST = 20, 100
_ENDED = ("message", "function_call", "function_call_output", "custom_tool_call_output", "local_shell_call_output")


def listed(item: JsonObject, item_id: str) -> JsonObject:
    """Return an item as a whole resource; `item_id` is for one that has none."""
    kind = item.get("type") or "message"
    whole = {**item, "id": item.get("id") or item_id, "type": kind}
    if kind in _ENDED:
        whole["status"] = item.get("status") or "completed"
    if kind == "message":
        content = item.get("content")
        spoken = item.get("role") == "assistant"
        if isinstance(content, str):
            content = [{"type": "output_text" if spoken else "input_text", "text": content}]
        parts = [content] if isinstance(content, dict) else content or ()
        whole["content"] = [_part(part) for part in parts if isinstance(part, dict)]
    return whole


def _part(part: JsonObject) -> JsonObject:
    match part.get("type"):
        case "output_text":
            return {"annotations": [], "logprobs": [], **part}
        case "input_image":
            return {"detail": "auto", **part}
    return part


def page(items: Sequence[JsonObject], asked: Mapping[str, str]) -> JsonObject:
    """Return a page of a list that is given oldest first: the newest come first unless `order=asc`.

    Raises:
        BadRequestError: `limit` is none, or nothing in the list is `after`.
    """
    ordered = list(items) if asked.get("order", "desc") == "asc" else list(reversed(items))
    names = [item["id"] for item in ordered]
    if (after := asked.get("after")) and after not in names:
        # From the start again, a client that goes on from page to page would never come to an end.
        raise BadRequestError(f"after names {after[:80]!r}, which is not in this list: begin anew.", param="after")
    start = names.index(after) + 1 if after else 0
    try:
        limit = int(asked.get("limit") or _PAGE)
    except ValueError:
        limit = 0
    if limit < 1:
        raise BadRequestError(f"limit must be a number from 1 to {_MOST}.", param="limit")
    return as_list(ordered[start : start + min(limit, _MOST)], start=start, count=len(ordered))


def as_list(items: Sequence[JsonObject], *, start: int = 0, count: int = 0) -> JsonObject:
    """Return a list object: those from `start` of `count`."""
    ends = {"first_id": items[0]["id"] if items else "", "last_id": items[-1]["id"] if items else ""}
    return {"object": "list", "data": list(items), "has_more": start + len(items) < count, **ends}
