"""Issue 22 line 3: one's own functions are read anew when they change, and a broken edit costs none of them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.waiting import until

from naru.tools.functions.registry import REGISTRY
from naru.tools.functions.reloading import ReloadingToolset
from naru.tools.toolset import CallContext

PRICE = 'def price(amount: int = 1) -> int:\n    """Return a price."""\n    return 1200 * amount\n'


class Heard(list[str]):
    """What the toolset told, in order; an empty text for each reading that came to tools."""


@asynccontextmanager
async def reloading(target: str) -> AsyncIterator[tuple[ReloadingToolset, Heard]]:
    heard, modules, held, path = Heard(), set(sys.modules), REGISTRY.tools(), list(sys.path)
    toolset = ReloadingToolset(target, heard.append, interval=0.02)
    await toolset.open()
    try:
        yield toolset, heard
    finally:
        await toolset.close()
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if not name.startswith("naru."):
                del sys.modules[name]
        REGISTRY.clear()
        for tool in held:
            REGISTRY.add(tool)


async def names(toolset: ReloadingToolset) -> list[str]:
    return [tool.name for tool in await toolset.tools()]


async def said(toolset: ReloadingToolset, name: str = "price", **arguments: object) -> str:
    return (await toolset.call(name, arguments, CallContext())).text


@pytest.fixture
def company(tmp_path: Path) -> Path:
    path = tmp_path / "company.py"
    path.write_text(PRICE, encoding="utf-8")
    return path


async def test_an_edit_is_taken_up_though_it_has_the_length_of_the_old_text(company: Path) -> None:
    async with reloading(str(company)) as (toolset, heard):
        assert await said(toolset, amount=2) == "2400"
        company.write_text(PRICE.replace("1200", "1300"), encoding="utf-8")
        await until(lambda: heard == ["", ""])
        assert await said(toolset, amount=2) == "2600"


async def test_tools_come_and_go_with_their_functions(company: Path) -> None:
    decorated = "from naru.tools import register_tool\n@register_tool('{}')\n" + PRICE
    company.write_text(decorated.format("cost"), encoding="utf-8")
    async with reloading(str(company)) as (toolset, heard):
        assert await names(toolset) == ["cost"]
        company.write_text(decorated.format("value"), encoding="utf-8")
        await until(lambda: len(heard) == 2)
        assert await names(toolset) == ["value"]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("def price(:\n", "company.py, line 1: SyntaxError: invalid syntax"),
        ("x = 1\nx / 0\n", "company.py, line 2: ZeroDivisionError: division by zero"),
        ("import not_installed_anywhere\n", "company.py, line 1: ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)\n", "company.py, line 1: SystemExit: 3"),
        ("", "module 'company' has no functions to call"),
    ],
)
async def test_a_broken_edit_keeps_the_tools_and_says_why(company: Path, broken: str, why: str) -> None:
    async with reloading(str(company)) as (toolset, heard):
        company.write_text(broken, encoding="utf-8")
        await until(lambda: len(heard) == 2)
        assert heard[1].startswith(why)
        assert heard[1].endswith("The tools that there were stay; it is read again when it is saved.")
        assert await said(toolset) == "1200"
        company.write_text(PRICE.replace("1200", "7"), encoding="utf-8")
        await until(lambda: len(heard) == 3)
        assert await said(toolset) == "7"


async def test_what_is_broken_from_the_start_is_taken_up_once_it_is_mended(company: Path) -> None:
    company.write_text("def price(:\n", encoding="utf-8")
    async with reloading(str(company)) as (toolset, heard):
        assert await names(toolset) == []
        assert "It has no tools yet" in heard[0]
        company.write_text(PRICE, encoding="utf-8")
        await until(lambda: len(heard) == 2)
        assert await names(toolset) == ["price"]


async def test_a_module_that_the_file_imports_from_its_folder_is_followed_too(company: Path) -> None:
    beside = company.with_name("rates_of_company.py")
    beside.write_text("RATE = 2\n", encoding="utf-8")
    company.write_text("from rates_of_company import RATE\ndef price() -> int:\n    return RATE\n", encoding="utf-8")
    async with reloading(str(company)) as (toolset, heard):
        assert await said(toolset) == "2"
        beside.write_text("RATE = \n", encoding="utf-8")
        await until(lambda: len(heard) == 2)
        assert heard[1].startswith("rates_of_company.py, line 1: SyntaxError")
        assert await said(toolset) == "2"
        beside.write_text("RATE = 3\n", encoding="utf-8")
        await until(lambda: heard[-1] == "" and len(heard) > 2)
        assert await said(toolset) == "3"


async def test_a_package_is_followed_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "our_package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "prices.py").write_text(
        "from naru.tools import register_tool\n@register_tool\n" + PRICE, encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    async with reloading("our_package") as (toolset, heard):
        assert await said(toolset) == "1200"
        (package / "prices.py").write_text(
            "from naru.tools import register_tool\n@register_tool\ndef cost(): ...\n", encoding="utf-8"
        )
        await until(lambda: len(heard) == 2)
        assert await names(toolset) == ["cost"]


async def test_a_file_may_be_called_like_a_module_of_python(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text(PRICE, encoding="utf-8")
    json = sys.modules["json"]
    async with reloading(str(tmp_path / "json.py")) as (toolset, _):
        assert await said(toolset) == "1200"
        assert sys.modules["json"] is json


async def test_a_call_under_way_ends_with_what_it_began_with(company: Path) -> None:
    source = """
import asyncio
from typing import Annotated
from naru.tools import Depends

class Box:
    closed = False

async def box():
    made = Box()
    yield made
    made.closed = True

async def price(gate: str, box: Annotated[Box, Depends(box, scope="application")]) -> str:
    from pathlib import Path
    while not Path(gate).exists():
        await asyncio.sleep(0.01)
    return f"VERSION {box.closed}"
"""
    gate = company.with_name("gate")
    company.write_text(source.replace("VERSION", "old"), encoding="utf-8")
    async with reloading(str(company)) as (toolset, heard):
        call = asyncio.create_task(said(toolset, gate=str(gate)))
        await asyncio.sleep(0)
        company.write_text(source.replace("VERSION", "new"), encoding="utf-8")
        await until(lambda: len(heard) == 2)
        gate.touch()
        assert await call == "old False"
        assert await said(toolset, gate=str(gate)) == "new False"


async def test_what_an_old_text_cannot_close_costs_neither_its_last_call_nor_the_new_tools(company: Path) -> None:
    source = """
import asyncio
from typing import Annotated
from naru.tools import Depends

async def box():
    yield 1
    raise OSError("disk full")

async def price(gate: str, box: Annotated[int, Depends(box, scope="application")]) -> str:
    from pathlib import Path
    while not Path(gate).exists():
        await asyncio.sleep(0.01)
    return "old"
"""
    gate = company.with_name("gate")
    company.write_text(source, encoding="utf-8")
    async with reloading(str(company)) as (toolset, heard):
        call = asyncio.create_task(said(toolset, gate=str(gate)))
        await asyncio.sleep(0)
        company.write_text(PRICE, encoding="utf-8")
        await until(lambda: len(heard) == 2)
        gate.touch()
        assert await call == "old"
        assert (
            heard[2] == "What the tools before had opened could not be closed: company.py, line 8: OSError: disk full."
        )
        assert await said(toolset) == "1200"


async def test_a_function_that_cannot_be_offered_is_named(company: Path) -> None:
    company.write_text(PRICE + "def odd(thing: type(print)) -> str:\n    return 'x'\n", encoding="utf-8")
    async with reloading(str(company)) as (toolset, heard):
        assert await names(toolset) == ["price"]
        assert heard[0] == ""
        assert heard[1].startswith("odd is set aside: ")
