"""S5: calls of Python functions of every kind, their deadlines and failures."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import math
import re
import sys
import threading
import time
import typing
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
import typing_extensions
from pydantic import Field

from naru.errors import (
    ConflictError,
    InvalidArgumentsError,
    NotFoundError,
    ToolError,
    ToolTimeoutError,
    UnknownToolError,
)
from naru.tools.deadline import DeadlineExceededError, within
from naru.tools.execute import execute_tool, run_tool
from naru.tools.functions import function_tool, threads
from naru.tools.functions.registry import ToolRegistry, register_tool
from naru.tools.functions.threads import WorkerThreads
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.provider_schemas.dialect import DIALECTS
from naru.tools.provider_schemas.forms import provider_form
from naru.tools.toolset import CallContext

CALL = CallContext()


async def call(function, arguments=None, **options):
    toolset = FunctionToolset([function])
    (tool,) = await toolset.tools()
    return await toolset.call(tool.name, arguments or {}, CallContext(**options))


def plain(n: int) -> int:
    return n + 1


async def coroutine(n: int) -> int:
    await asyncio.sleep(0)
    return n + 1


def generator(n: int):
    yield from range(n)


async def async_generator(n: int):
    for item in range(n):
        yield item


def gives_awaitable(n: int):
    return coroutine(n)


def gives_async_generator(n: int) -> AsyncIterator[int]:
    return async_generator(n)


async def awaited_async_generator(n: int) -> AsyncIterator[int]:
    return async_generator(n)


async def awaited_generator(n: int) -> Iterator[int]:
    return generator(n)


class Counter:
    def __init__(self) -> None:
        self.total = 1

    def __call__(self, n: int) -> int:
        return self.total + n

    async def method(self, n: int) -> int:
        return self.total + n

    @classmethod
    def of_class(cls, n: int) -> int:
        return n + 1

    @staticmethod
    def of_none(n: int) -> int:
        return n + 1


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (plain, 4),
        (coroutine, 4),
        (gives_awaitable, 4),
        (generator, [0, 1, 2]),
        (async_generator, [0, 1, 2]),
        (gives_async_generator, [0, 1, 2]),
        (awaited_async_generator, [0, 1, 2]),
        (awaited_generator, [0, 1, 2]),
        (functools.partial(plain), 4),
        (functools.partial(coroutine), 4),
        (Counter(), 4),
        (Counter().method, 4),
        (Counter.of_class, 4),
        (Counter.of_none, 4),
    ],
    ids=lambda each: getattr(each, "__qualname__", ""),
)
async def test_every_kind_of_function_can_be_called(function, value):
    assert (await call(function, {"n": "3"})).structured == {"result": value}


@pytest.mark.parametrize("function", [generator, async_generator], ids=lambda each: each.__name__)
async def test_a_generator_that_gives_more_than_is_taken_is_an_error_and_not_a_part(function, monkeypatch):
    monkeypatch.setattr(function_tool, "MAX_YIELDED", 3)
    assert (await call(function, {"n": 3})).structured == {"result": [0, 1, 2]}
    result = await call(function, {"n": 4})
    assert result.is_error
    assert "more than 3 items" in result.text


@pytest.mark.parametrize("provider", DIALECTS)
async def test_a_default_that_json_has_no_word_for_is_the_functions_own_matter(provider):
    @dataclass
    class Bounds:
        most: float = math.inf

    def measure(bounds: Bounds, least: float = -math.inf, steps: list[float] = [math.nan]) -> str:  # noqa: B006
        return f"{least} to {bounds.most} by {steps}"

    form = provider_form(await FunctionToolset([measure]).tools(), provider)
    assert form.set_aside == {}
    assert not {"default", "Infinity", "NaN"} & set(re.findall(r"\w+", str(form.tools)))
    assert (await call(measure, {"bounds": {}})).text == "-inf to inf by [nan]"


async def test_a_number_with_more_digits_than_python_writes_is_an_error_of_the_tools():
    def power(n: int):
        return 10**n

    assert (await call(power, {"n": 30})).structured == {"result": 10**30}
    with pytest.raises(ToolError, match="4300 digits"):
        await call(power, {"n": 5000})


async def test_every_kind_of_parameter_gets_its_value():
    def kinds(a: int, /, b: int, c: int = 3, *rest: int, d: int, e: int = 5, **named: int) -> list:
        return [a, b, c, list(rest), d, e, named]

    given = {"a": 1, "b": 2, "d": 4, "rest": [7, 8], "f": 6}
    assert (await call(kinds, given)).structured == {"result": [1, 2, 3, [7, 8], 4, 5, {"f": 6}]}
    assert (await call(kinds, {"a": 1, "b": 2, "d": 4})).structured == {"result": [1, 2, 3, [], 4, 5, {}]}
    with pytest.raises(InvalidArgumentsError, match="f: "):
        await call(kinds, {"a": 1, "b": 2, "d": 4, "f": "x"})


class Size(typing.TypedDict):
    width: int
    height: typing.NotRequired[int]


class Options(Size, total=False):
    colour: typing.Annotated[str, Field(description="Any.")]
    unit: typing_extensions.Required[str]


async def test_the_keys_of_unpacked_options_are_parameters():  # S3, PEP 692
    def draw(shape: str, **options: typing_extensions.Unpack[Options]) -> dict:
        """Draw.

        Args:
            width: In pixels.
        """
        return {"shape": shape, **options}

    (tool,) = await FunctionToolset([draw]).tools()
    assert tool.input_schema["properties"] == {
        "shape": {"type": "string"},
        "width": {"type": "integer", "description": "In pixels."},
        "height": {"type": "integer"},
        "colour": {"type": "string", "description": "Any."},
        "unit": {"type": "string"},
    }
    assert tool.input_schema["required"] == ["shape", "width", "unit"]
    given = {"shape": "box", "width": "2", "unit": "px"}
    assert (await call(draw, given)).structured == {"shape": "box", "width": 2, "unit": "px"}
    with pytest.raises(InvalidArgumentsError, match="unit: Field required"):
        await call(draw, {"shape": "box", "width": 2})


async def test_an_explicit_schema_beats_the_signature():
    registry = ToolRegistry()
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}, "required": ["n"]}

    @register_tool("limited", description="Up to five.", schema=schema, registry=registry)
    def limited(n, **other):
        return n

    toolset = FunctionToolset(registry.tools())
    (tool,) = await toolset.tools()
    assert (tool.name, tool.description, tool.input_schema) == ("limited", "Up to five.", schema)
    assert (await toolset.call("limited", {"n": "4"}, CALL)).text == "4"
    with pytest.raises(InvalidArgumentsError, match="n: 6"):
        await toolset.call("limited", {"n": 6}, CALL)


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_a_deadline_ends_the_wait(kind):
    stop = threading.Event()

    async def slow_async() -> None:
        await asyncio.sleep(30)

    def slow_sync() -> None:
        stop.wait(30)

    with pytest.raises(ToolTimeoutError, match=r"within 0\.05 s; it may still have run"):
        await call(slow_async if kind == "async" else slow_sync, timeout_seconds=0.05)
    stop.set()


async def test_a_timeout_of_the_function_itself_is_its_own_failure():
    async def impatient() -> None:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(30)

    result = await call(impatient, timeout_seconds=20)
    assert (result.is_error, result.text) == (True, "TimeoutError")


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def leaves() -> None:
    sys.exit("usage: …")


async def leaves_too() -> None:
    sys.exit(3)


async def awaits_what_was_cancelled() -> None:
    task = asyncio.ensure_future(asyncio.sleep(30))
    task.cancel()
    await task


def mute() -> None:
    raise MuteError


async def works_side_by_side() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(int, "x"))


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (
            works_side_by_side,
            "ExceptionGroup: unhandled errors in a TaskGroup: ValueError: invalid literal for int() with base 10: 'x'",
        ),
        (leaves, "SystemExit: usage: …"),
        (leaves_too, "SystemExit: 3"),
        (awaits_what_was_cancelled, "CancelledError"),
        (mute, "MuteError"),
    ],
    ids=lambda each: getattr(each, "__qualname__", ""),
)
async def test_whatever_a_function_ends_with_ends_its_call_alone(function, told):
    """`sys.exit` in a tool ended the server; a cancelled task that it awaited ended the run."""
    result = await call(function, timeout_seconds=20)
    assert (result.is_error, result.text) == (True, told)


async def test_a_cancelled_call_cancels_the_function():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def waits() -> None:
        begun.set()
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()

    task = asyncio.create_task(call(waits))
    await asyncio.wait_for(begun.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_a_blocking_function_does_not_hold_up_the_loop():
    release = threading.Event()

    def blocks() -> str:
        return "released" if release.wait(20) else "never"

    task = asyncio.create_task(call(blocks))
    await asyncio.sleep(0.01)
    release.set()
    assert (await task).text == "released"


async def test_failures_are_results_that_say_what_happened():
    def wrong() -> None:
        raise KeyError("name")

    def told() -> None:
        raise NotFoundError("No such thing.", remedy="Look elsewhere.")

    def stops() -> None:
        raise StopIteration

    assert (await call(wrong)).text == "KeyError: 'name'"
    assert (await call(told)).text == "No such thing. Look elsewhere."
    assert (await call(stops)).is_error


async def test_unknown_tools_and_double_names_are_refused():
    with pytest.raises(UnknownToolError, match="Tools: plain"):
        await FunctionToolset([plain]).call("other", {}, CALL)
    toolset = FunctionToolset([plain])
    with pytest.raises(ConflictError):
        toolset.add(coroutine, name="plain")


async def test_a_function_that_cannot_be_described_is_set_aside_and_the_rest_go_on():  # N6
    class Opaque:
        pass

    def bad(x: Opaque) -> None: ...

    toolset = FunctionToolset([bad, plain])
    assert [tool.name for tool in await toolset.tools()] == ["plain"]
    assert "cannot be read from JSON" in toolset.set_aside["bad"]
    with pytest.raises(UnknownToolError):
        await toolset.call("bad", {}, CALL)


@pytest.mark.parametrize("arguments", [[], "x", 1, {"n": []}, None])
async def test_execute_tool_answers_every_call_in_one_of_two_shapes(arguments):  # V6
    answer = await execute_tool("plain", arguments, toolset=FunctionToolset([plain]))
    assert answer["success"] is False
    assert isinstance(answer["error"], str)
    assert (await execute_tool("no such", {}))["success"] is False


def test_run_tool_needs_no_event_loop():
    assert run_tool("plain", {"n": 1}, toolset=FunctionToolset([plain])) == {"success": True, "result": 2}


async def test_workers_carry_context_variables_and_are_reused():
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    workers = WorkerThreads()
    variable.set("here")
    assert await workers.run(variable.get) == "here"
    names = {await workers.run(threading.get_ident) for _ in range(20)}
    assert len(names) == 1


async def test_more_work_than_workers_waits_its_turn():
    workers = WorkerThreads(max_workers=2)
    results = await asyncio.gather(*(workers.run(functools.partial(pow, n, 2)) for n in range(50)))
    assert results == [n * n for n in range(50)]
    await workers.run(functools.partial(time.sleep, 0))


async def test_work_that_comes_when_all_workers_have_left_after_a_crowd_is_done(monkeypatch):
    monkeypatch.setattr(threads, "IDLE_SECONDS", 0.01)
    workers = WorkerThreads(max_workers=1)
    used = set(await asyncio.gather(*(workers.run(threading.current_thread) for _ in range(5))))
    for thread in used:
        await asyncio.to_thread(thread.join, 60)
    assert await asyncio.wait_for(workers.run(functools.partial(pow, 2, 2)), 60) == 4


async def test_a_call_for_which_the_system_has_no_thread_fails_and_is_not_made_later(monkeypatch):
    workers, made = WorkerThreads(max_workers=1), []

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            await workers.run(functools.partial(made.append, "refused"))
    await asyncio.wait_for(workers.run(functools.partial(made.append, "made")), 60)
    assert made == ["made"]


async def test_work_within_a_deadline_keeps_its_result_its_error_and_its_task():
    async def work(steps: int) -> asyncio.Task | None:
        for _ in range(steps):
            await asyncio.sleep(0)
        return asyncio.current_task()

    for steps in (0, 1, 5):
        assert await within(60, work(steps)) is asyncio.current_task()
    assert await within(None, work(1)) is asyncio.current_task()

    async def fails() -> None:
        await asyncio.sleep(0)
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await within(60, fails())
    with pytest.raises(DeadlineExceededError):
        await within(0.01, asyncio.Event().wait())
