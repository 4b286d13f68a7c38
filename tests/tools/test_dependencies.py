"""S5: what the host supplies, per call and per application."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated

import pytest

from naru.errors import InvalidArgumentsError
from naru.tools.functions import inject
from naru.tools.functions.dependencies import Container, DependencyError
from naru.tools.functions.inject import Depends, ToolContext
from naru.tools.functions.signature import build_tool_schema
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext

CALL = CallContext()


class Journal:
    """What was opened and closed, in order; providers are made from it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def generator(self, name: str):
        def provider():
            self.lines.append(f"open {name}")
            try:
                yield name
            except ValueError:
                self.lines.append(f"roll back {name}")
                raise
            finally:
                self.lines.append(f"close {name}")

        return provider

    def async_generator(self, name: str):
        async def provider():
            self.lines.append(f"open {name}")
            yield name
            self.lines.append(f"close {name}")

        return provider

    def manager(self, name: str):
        return contextmanager(self.generator(name))

    def async_manager(self, name: str):
        return asynccontextmanager(self.async_generator(name))


@pytest.mark.parametrize("kind", ["generator", "async_generator", "manager", "async_manager"])
async def test_a_dependency_is_opened_for_the_call_and_closed_after_it(kind):
    journal = Journal()

    def tool(n: int, pool: Annotated[str, Depends(getattr(journal, kind)("pool"))]) -> str:
        journal.lines.append("run")
        return f"{pool}{n}"

    assert build_tool_schema(tool)["function"]["parameters"]["required"] == ["n"]
    assert list(build_tool_schema(tool)["function"]["parameters"]["properties"]) == ["n"]
    result = await FunctionToolset([tool]).call("tool", {"n": 1}, CALL)
    assert result.text == "pool1"
    assert journal.lines == ["open pool", "run", "close pool"]


async def test_application_wide_ones_open_once_for_concurrent_calls_and_close_in_reverse_with_the_toolset():
    journal = Journal()
    first, second = journal.async_generator("first"), journal.generator("second")

    async def tool(
        a: Annotated[str, Depends(first, scope="application")], b: Annotated[str, Depends(second, scope="application")]
    ) -> str:
        return a + b

    toolset = FunctionToolset([tool])
    results = await asyncio.gather(*(toolset.call("tool", {}, CALL) for _ in range(20)))
    assert {result.text for result in results} == {"firstsecond"}
    assert journal.lines == ["open first", "open second"]
    await toolset.close()
    assert journal.lines[2:] == ["close second", "close first"]
    await toolset.close()
    assert len(journal.lines) == 4


async def test_providers_may_depend_on_providers_and_share_one_value_per_call():
    journal = Journal()
    pool = journal.async_generator("pool")

    async def session(pool: Annotated[str, Depends(pool, scope="application")]) -> list[str]:
        return [pool]

    def tool(a: Annotated[list, Depends(session)], b: Annotated[list, Depends(session)]) -> bool:
        return a is b

    toolset = FunctionToolset([tool])
    assert (await toolset.call("tool", {}, CALL)).structured == {"result": True}
    await toolset.close()


async def test_an_application_wide_provider_may_want_another():
    journal = Journal()
    settings = journal.generator("settings")

    async def engine(settings: Annotated[str, Depends(settings, scope="application")]):
        yield f"engine of {settings}"

    def tool(db: Annotated[str, Depends(engine, scope="application")]) -> str:
        return db

    toolset = FunctionToolset([tool])
    assert (await asyncio.wait_for(toolset.call("tool", {}, CALL), 30)).text == "engine of settings"
    await toolset.close()


async def test_a_provider_sees_the_functions_exception_and_can_roll_back():
    journal = Journal()

    def tool(pool: Annotated[str, Depends(journal.generator("pool"))]) -> str:
        raise ValueError("no")

    result = await FunctionToolset([tool]).call("tool", {}, CALL)
    assert (result.is_error, result.text) == (True, "ValueError: no")
    assert journal.lines == ["open pool", "roll back pool", "close pool"]


async def test_a_provider_that_fails_is_told_the_function_is_not_run_and_the_next_call_tries_again():
    tries: list[int] = []

    def flaky() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("database is down")
        return "up"

    def tool(pool: Annotated[str, Depends(flaky, scope="application")]) -> str:
        return pool

    toolset = FunctionToolset([tool])
    with pytest.raises(DependencyError, match=r"'tool' was not run: its dependency 'pool' .*database is down"):
        await toolset.call("tool", {}, CALL)
    assert (await toolset.call("tool", {}, CALL)).text == "up"
    await toolset.close()


@pytest.mark.parametrize("ending", [SystemExit(3), asyncio.CancelledError()], ids=["exit", "cancelled"])
@pytest.mark.parametrize("scope", ["application", "call"])
async def test_a_provider_that_ends_in_any_way_is_told_and_leaves_nobody_waiting(scope, ending):
    tries: list[int] = []

    async def strange() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ending
        return "up"

    def tool(pool: Annotated[str, Depends(strange, scope=scope)]) -> str:
        return pool

    toolset = FunctionToolset([tool])
    async with asyncio.timeout(30):
        try:
            said = (await toolset.call("tool", {}, CALL)).text
        except DependencyError as error:
            said = str(error)
        assert type(ending).__name__ in said
        assert (await toolset.call("tool", {}, CALL)).text == "up"
        await toolset.close()


async def test_what_is_opened_for_a_call_that_has_gone_is_closed_again():
    begun, held, closed = threading.Event(), threading.Event(), threading.Event()

    def slow():
        begun.set()
        held.wait(60)
        yield "pool"
        closed.set()

    def tool(pool: Annotated[str, Depends(slow)]) -> str:
        return pool

    call = asyncio.create_task(FunctionToolset([tool]).call("tool", {}, CALL))
    assert await asyncio.to_thread(begun.wait, 60)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    held.set()
    assert await asyncio.to_thread(closed.wait, 10)


async def test_a_circle_of_providers_is_an_error_and_no_hang():
    def one(two: Annotated[str, Depends(lambda: "never")]) -> str:
        return two

    def two(one: Annotated[str, Depends(one)]) -> str:
        return one

    one.__annotations__["two"] = Annotated[str, Depends(two)]

    def tool(x: Annotated[str, Depends(one)]) -> str:
        return x

    with pytest.raises(DependencyError, match="in a circle"):
        await asyncio.wait_for(FunctionToolset([tool]).call("tool", {}, CALL), 30)


async def test_named_parameters_come_from_the_host_the_call_or_the_callers_identity():
    container = Container()
    container.provide_value("db", "the database")

    def tool(x: int, db, client, current_user: str) -> list:
        return [x, db, client, current_user]

    assert build_tool_schema(tool)["function"]["parameters"]["required"] == ["x"]
    toolset = FunctionToolset([tool], container=container)
    call = CallContext(caller="ada", values={"client": "the client"})
    assert (await toolset.call("tool", {"x": 1}, call)).structured == {
        "result": [1, "the database", "the client", "ada"]
    }
    with pytest.raises(DependencyError, match="'client' could not be supplied"):
        await toolset.call("tool", {"x": 1}, CALL)
    await toolset.close()


async def test_what_a_client_sends_for_an_injected_parameter_never_arrives():  # c04
    def tool(query: str, ctx: ToolContext, db: str = "own") -> list:
        return [query, type(ctx).__name__, db]

    result = await FunctionToolset([tool]).call("tool", {"query": "q", "ctx": "evil", "db": "evil"}, CALL)
    assert result.structured == {"result": ["q", "ToolContext", "own"]}


async def test_a_test_puts_another_provider_in_the_place_of_one():
    def real() -> str:
        return "real"

    def tool(pool: Annotated[str, Depends(real)]) -> str:
        return pool

    toolset = FunctionToolset([tool])
    with toolset.container.override(real, lambda: "fake"):
        assert (await toolset.call("tool", {}, CALL)).text == "fake"
    with toolset.container.override("pool", lambda: "by name"):
        assert (await toolset.call("tool", {}, CALL)).text == "by name"
    assert (await toolset.call("tool", {}, CALL)).text == "real"


async def test_the_context_reports_progress_and_logs_from_the_loop_and_from_threads():
    told: list[tuple] = []

    async def on_progress(*report):
        told.append(report)

    async def on_log(*line):
        told.append(line)

    async def quick(ctx: ToolContext) -> None:
        await ctx.progress(1, 2, "half")
        await ctx.log("info", "working")

    def slow(ctx: ToolContext) -> None:
        ctx.progress_from_thread(2, 2, "done")
        ctx.log_from_thread("warning", "late")

    toolset = FunctionToolset([quick, slow])
    for name in ("quick", "slow"):
        await toolset.call(name, {}, CallContext(on_progress=on_progress, on_log=on_log))
    assert told == [(1, 2, "half"), ("info", "working"), (2, 2, "done"), ("warning", "late")]


async def test_a_report_that_nobody_takes_costs_the_report_and_not_the_work(monkeypatch):
    monkeypatch.setattr(inject, "REPORT_SECONDS", 0.05)

    async def never(*report):
        await asyncio.Event().wait()

    def slow(ctx: ToolContext) -> str:
        ctx.progress_from_thread(1, 2, "half")
        return "done"

    result = await FunctionToolset([slow]).call("slow", {}, CallContext(on_progress=never))
    assert (result.is_error, result.text) == (False, "done")


async def test_a_sync_function_learns_that_nobody_waits_any_more():
    begun, left = threading.Event(), threading.Event()

    def slow(ctx: ToolContext) -> None:
        begun.set()
        for _ in range(6000):
            if ctx.is_cancelled:
                left.set()
                return
            threading.Event().wait(0.01)

    call = asyncio.create_task(FunctionToolset([slow]).call("slow", {}, CALL))
    assert await asyncio.to_thread(begun.wait, 60)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.to_thread(left.wait, 60)


async def test_wrong_arguments_open_nothing():
    journal = Journal()

    def tool(n: int, pool: Annotated[str, Depends(journal.generator("pool"))]) -> None: ...

    with pytest.raises(InvalidArgumentsError, match="n: "):
        await FunctionToolset([tool]).call("tool", {"n": "x"}, CALL)
    assert journal.lines == []
