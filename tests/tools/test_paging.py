"""Long results page by page (N12)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

import pytest

from naru.agent.events import CallFinished, RunFinished
from naru.agent.limits import Limits
from naru.agent.loop import run
from naru.errors import InvalidArgumentsError
from naru.messages import ChatRequest, ImagePart, JsonObject, Message, TextPart, ToolDefinition, ToolResult
from naru.models.scripted import ScriptedBackend
from naru.tools.paging import READ, PagedToolset
from naru.tools.toolset import CallContext

LINES = "\n".join(f"line {number}: {'warpage' if number == 777 else 'nothing'}" for number in range(1, 1001))
ODD = {"mean.of sizes": [{"avg(a[1])": 2.5}], "mean": "about"}
ROWS = json.dumps({"items": [{"id": number, "name": f"part {number}"} for number in range(500)], **ODD})

DEEP = "[" * 5000 + "]" * 5000


@dataclass
class Library:
    """One tool that gives what it is asked for."""

    texts: dict[str, str]

    async def open(self) -> None: ...

    async def tools(self) -> Sequence[ToolDefinition]:
        return [ToolDefinition("lib__get", "Get a text.", {"type": "object"}, server="lib")]

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        return ToolResult((TextPart(self.texts[arguments["what"]]), ImagePart("image/png", "AAAA")))

    async def close(self) -> None: ...


def paged(page: int = 1000) -> PagedToolset:
    return PagedToolset(Library({"lines": LINES, "rows": ROWS, "short": "short", "deep": DEEP}), page)


async def get(toolset: PagedToolset, what: str) -> ToolResult:
    return await toolset.call("lib__get", {"what": what}, CallContext())


async def read(toolset: PagedToolset, **arguments: object) -> str:
    return (await toolset.call(READ.name, arguments, CallContext())).text


async def test_a_short_result_is_left_as_it_is() -> None:
    assert (await get(paged(), "short")).content[0] == TextPart("short")


@pytest.mark.parametrize("page", [400, 1000, 5000])
async def test_the_pages_together_are_the_whole_text_and_none_is_longer_than_a_page(page: int) -> None:
    toolset = paged(page)
    first = await get(toolset, "lines")
    assert ImagePart("image/png", "AAAA") in first.content, "images stay images"
    said = next(part.text for part in first.content if isinstance(part, TextPart))
    together, offset = "", 0
    for _ in range(1000):
        assert len(said) <= page, "the notice counts"
        text, notice, rest = said.partition("\n[")
        match = re.match(r"(\d+) of", rest)
        if not notice or match is None:
            together += said
            break
        assert LINES.startswith(text, offset)
        together += LINES[offset : int(match[1])]
        offset = int(match[1])
        said = await read(toolset, result="r1", offset=offset)
    assert together == LINES


async def test_words_are_found_in_what_was_not_shown() -> None:
    toolset = paged()
    await get(toolset, "lines")
    found = await read(toolset, result="r1", search="WARPAGE 777")
    assert found.splitlines() == ["776: line 776: nothing", "777: line 777: warpage", "778: line 778: nothing"]
    assert "no line holds" in await read(toolset, result="r1", search="absent")
    assert "777: line 777" in await read(toolset, result="r1", search=f"{'line ' * 2_000_000} warpage")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("items[499].name", "part 499"),
        ("$.items[-1].id", "499"),
        ("items[1:3].id", "[\n 1,\n 2\n]"),
        ("items[0]", '{\n "id": 0,\n "name": "part 0"\n}'),
        ("mean.of sizes[0].avg(a[1])", "2.5"),
        ("mean", "about"),
    ],
)
async def test_a_part_of_json_is_picked_out(path: str, value: str) -> None:
    toolset = paged()
    await get(toolset, "rows")
    assert await read(toolset, result="r1", path=path) == value


@pytest.mark.parametrize("path", ["items[500]", "rows", "items.name", "items[", "items[0].name.x"])
async def test_a_path_that_leads_nowhere_says_what_there_is(path: str) -> None:
    toolset = paged()
    await get(toolset, "rows")
    with pytest.raises(InvalidArgumentsError, match="path"):
        await read(toolset, result="r1", path=path)


@pytest.mark.parametrize("offset", [380, "380", 380.0])
async def test_a_number_is_read_however_a_model_writes_it(offset: object) -> None:
    toolset = paged()
    await get(toolset, "lines")
    assert await read(toolset, result="r1", offset=offset) == await read(toolset, result="r1", offset=380)
    assert await read(toolset, result="r1", offset=offset) != await read(toolset, result="r1")


@pytest.mark.parametrize(
    "asked",
    [
        {"offset": -5},
        {"offset": "start"},
        {"path": ["items"]},
        {"path": f"items[{'9' * 5000}]"},
        {"path": "[0]" * 3000},
    ],
    ids=["before the start", "no number", "a list", "a huge index", "a long path"],
)
@pytest.mark.parametrize("what", ["rows", "deep"])
async def test_what_cannot_be_read_is_told_to_the_model(what: str, asked: dict[str, object]) -> None:
    toolset = paged()
    await get(toolset, what)
    with pytest.raises(InvalidArgumentsError):
        await read(toolset, result="r1", **asked)


async def test_another_run_s_results_do_not_exist() -> None:
    toolset = paged()
    await get(toolset, "lines")
    with pytest.raises(InvalidArgumentsError, match="no kept result"):
        await read(paged(), result="r1")


async def test_a_model_reads_on_in_a_run() -> None:
    calls = [
        '```json\n{"name": "lib__get", "arguments": {"what": "lines"}}\n```',
        '```json\n{"name": "naru__read_result", "arguments": {"result": "r1", "search": "warpage"}}\n```',
        "It is in line 777.",
    ]
    backend = ScriptedBackend(calls)
    library = Library({"lines": LINES})
    request = ChatRequest("tiny", [Message("user", "where is warpage?")])
    results: list[str] = []
    answer = ""
    async with aclosing(run(backend, library, request, limits=Limits(page_characters=1000))) as events:
        async for event in events:
            if isinstance(event, CallFinished):
                results.append(event.result.text)
            elif isinstance(event, RunFinished):
                answer = event.answer
    assert "Read on: naru__read_result with result 'r1'" in results[0]
    assert "777: line 777: warpage" in results[1]
    assert answer == "It is in line 777."
