"""What each provider sends and what each client gets: measured by sending every shape through the face.

`python -m tests.web.openai.provider_table` writes docs/reference/providers.md; `test_providers.py` holds it to that.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naru.messages import JsonObject
from tests.web.openai.whole import Told, parted, put_together, tell
from tests.web.upstream import Reply

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "providers.md"
PROVIDERS: dict[str, JsonObject] = json.loads((ROOT / "tests/cases/providers.json").read_text(encoding="utf-8"))
MADE = frozenset({"id", "created", "object", "model"})
"""Naru makes these itself: ids are its own, the model is called as the client called it."""
RENAMED = {"message.reasoning": "message.reasoning_content", "message.content[thinking]": "message.reasoning_content"}
PADDING = frozenset({"obfuscation"})
"""Random bytes against listeners on the line between Naru and the provider."""
WAYS = tuple(itertools.product((True, False), (True, False), (False, True)))
"""The endpoint streams, the client streams, the hub's tools are offered."""
_INTRO = """# What each provider sends, what each client gets

Made from tests: `python -m tests.web.openai.provider_table`. Every answer below is sent by an endpoint that replays the
provider's shape, streamed and whole, to a client that streams and one that does not, with the hub's tools and without;
each field is compared. The shapes are written from the providers' documentation (named with each); none was recorded
from the live service.

*as it is*: the same field with the same value, put together from all chunks of a stream. *made by Naru*: ids and times
are Naru's own, and the model has the name that the client asked for. Reasoning has one name for clients,
`reasoning_content`; to the provider it goes back in the field that it came in. `obfuscation`, OpenAI's padding of its
chunks, ends here.
"""


@dataclass(frozen=True)
class Row:
    """One field of one provider."""

    field: str
    plain: str
    with_tools: str


def reply(provider: JsonObject, *, streams: bool) -> Reply:
    """Return the provider's answer."""
    if streams:
        return Reply([*provider["chunks"], "[DONE]"])
    return Reply([provider["whole"]], content_type="application/json")


def fields_of(told: Told) -> dict[str, Any]:
    """Return every field that is said, by its place; usage count by count."""
    found: dict[str, Any] = {}
    for place, fields in (("", told.top), ("choice.", told.choice), ("message.", told.message)):
        found |= {f"{place}{name}": value for name, value in fields.items() if value not in (None, [])}
    for name in ("message.role", "choice.index"):
        found.pop(name, None)
    found |= {f"message.{name}": text for name, text in parted(found.get("message.content")).items()}
    usage = found.pop("usage", None) or found.pop("choice.usage", None) or {}
    return found | dict(_counts("usage", usage))


def _counts(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield place, value
        return
    for name, inner in value.items():
        yield from _counts(f"{place}.{name}", inner)


def fate(field: str, value: Any, got: dict[str, Any]) -> str:
    """Say what became of a field."""
    if field in MADE and field in got:
        return "made by Naru"
    if field in RENAMED and got.get(RENAMED[field]) == value:
        return f"`{RENAMED[field].removeprefix('message.')}`"
    if field in got:
        return "as it is" if got[field] == value else f"CHANGED to {got[field]!r}"
    return "LOST"


async def rows(name: str) -> list[Row]:
    """Send a provider's answer through, every way, and say what became of each field; ways that differ are all said."""
    provider = PROVIDERS[name]
    fates: dict[str, tuple[set[str], set[str]]] = {}
    for streams, client_streams, tools in WAYS:
        sent = reply(provider, streams=streams)
        told = await tell([sent], stream=client_streams, tools=tools, **provider.get("ask", {}))
        assert told.status == 200, told.top
        got = fields_of(told)
        for field, value in fields_of(put_together(sent)).items():
            if field not in PADDING:
                fates.setdefault(field, (set(), set()))[tools].add(fate(field, value, got))
    return [Row(field, " / ".join(sorted(plain)), " / ".join(sorted(run))) for field, (plain, run) in fates.items()]


async def page() -> str:
    """Return the whole page."""
    lines = [_INTRO]
    for name, provider in PROVIDERS.items():
        lines += [f"## {name}", "", f"Read: {provider['source']}.", ""]
        lines += ["| field | the client gets it | with the hub's tools |", "|---|---|---|"]
        lines += [f"| `{row.field}` | {row.plain} | {row.with_tools} |" for row in await rows(name)]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(asyncio.run(page()), encoding="utf-8")
