"""Opens what tools' functions depend on, once per call or once per application, and closes it in reverse (S5)."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from naru.errors import NaruError, ToolError, foreign
from naru.tools.functions.annotations import resolve, resolve_class, unwrap
from naru.tools.functions.inject import Dependency, Injection, Scope, ToolContext, injection_of
from naru.tools.functions.threads import WORKERS

Provider = Callable[..., Any]
MAX_DEPTH = 16
"""Dependencies of dependencies; more is a circle."""


class DependencyError(ToolError):
    """What a tool needs could not be supplied; it was not run."""

    code = "dependency_failed"


class Container:
    """What supplies injected parameters. It closes what it opened, in reverse."""

    def __init__(self) -> None:
        self._named: dict[str, Dependency] = {}
        self._overrides: dict[Provider | str, Provider] = {}
        self._application = _ApplicationScope()
        self._recipes: dict[Provider, _Recipe] = {}

    def provide(self, name: str, provider: Provider, *, scope: Scope = "application") -> None:
        """Say what supplies a parameter of this name, such as `db`; beats the function's own `Depends`."""
        self._named[name] = Dependency(provider, scope)

    def provide_value(self, name: str, value: Any) -> None:
        """Say what value a named parameter gets; its owner closes it."""
        self._named[name] = Dependency(lambda: value, "application")

    @contextmanager
    def override(self, what: Provider | str, replacement: Provider) -> Iterator[None]:
        """Put another provider in the place of one, or of a named parameter's, while the block runs: for tests."""
        before = self._overrides.get(what)
        self._overrides[what] = replacement
        try:
            yield
        finally:
            if before is None:
                del self._overrides[what]
            else:
                self._overrides[what] = before

    @asynccontextmanager
    async def supply(self, wanted: Sequence[Injection], running: ToolContext) -> AsyncIterator[dict[str, Any]]:
        """Open what a function wants for one call; its exception reaches the providers, so that they can roll back.

        Raises:
            DependencyError: nothing supplies it, or its provider failed.
        """
        async with AsyncExitStack() as stack:
            call = _CallScope(self, stack, running)
            yield await call.values(wanted, ())

    async def close(self) -> None:
        """Close application-wide dependencies, in reverse; they open again at their next use."""
        await self._application.close()

    def declared(self, injection: Injection) -> Dependency | None:
        """Return what supplies a parameter by name or by its own mark, overrides applied."""
        depends = self._named.get(injection.name) or injection.depends
        if injection.name in self._overrides:
            return Dependency(self._overrides[injection.name], depends.scope if depends else "call")
        if depends is not None and depends.provider in self._overrides:
            return Dependency(self._overrides[depends.provider], depends.scope)
        return depends

    async def application_value(self, provider: Provider, open_it: Callable[[AsyncExitStack], Awaitable[Any]]) -> Any:
        """Return an application-wide value, opened at its first use."""
        return await self._application.get(provider, open_it)

    def recipe(self, depends: Dependency) -> _Recipe:
        """Return how to open a provider, read from it once."""
        if depends.provider not in self._recipes:
            self._recipes[depends.provider] = _read_recipe(depends)
        return self._recipes[depends.provider]


class _CallScope:
    """What one call opened: each provider once, however many parameters want it."""

    def __init__(self, container: Container, stack: AsyncExitStack, running: ToolContext | None) -> None:
        self._container = container
        self._stack = stack
        self._running = running
        self._opened: dict[Provider, Any] = {}

    async def values(self, wanted: Sequence[Injection], path: tuple[str, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for injection in wanted:
            try:
                found[injection.name] = await self._value(injection, (*path, injection.name))
            except _MissingError as missing:
                if not injection.has_default:
                    raise self._failure(path, injection.name, str(missing)) from missing
        return found

    async def _value(self, injection: Injection, path: tuple[str, ...]) -> Any:
        running = self._running
        if injection.kind == "context":
            if running is None:
                raise _MissingError("an application-wide provider cannot have the context of a single call")
            return running
        if running is not None and injection.name in running.call.values:
            return running.call.values[injection.name]
        depends = self._container.declared(injection)
        if depends is not None:
            return await self._provided(depends, path)
        if injection.name == "current_user" and running is not None:
            return running.caller
        raise _MissingError("nothing supplies it. The host gives it with Container.provide or in CallContext.values")

    async def _provided(self, depends: Dependency, path: tuple[str, ...]) -> Any:
        provider = depends.provider
        if depends.use_cache and provider in self._opened:
            return self._opened[provider]
        if len(path) > MAX_DEPTH:
            raise self._failure(path[:1], path[1], "its dependencies go in a circle")
        try:
            if depends.scope == "application":
                value = await self._container.application_value(
                    provider, lambda stack: _CallScope(self._container, stack, None)._open(depends, path)
                )
            else:
                value = await self._open(depends, path)
        except (NaruError, _MissingError):
            raise
        except Exception as error:  # a provider is foreign code
            raise self._failure(path[:-1], path[-1], foreign(error)) from error
        self._opened[provider] = value
        return value

    async def _open(self, depends: Dependency, path: tuple[str, ...]) -> Any:
        recipe = self._container.recipe(depends)
        values = await self.values(recipe.wanted, path)
        places = [values.pop(name) for name in recipe.by_place if name in values]
        call = functools.partial(depends.provider, *places, **values)
        if recipe.kind == "async generator":
            return await self._stack.enter_async_context(asynccontextmanager(call)())
        if recipe.kind == "generator":
            return await self._stack.enter_async_context(_in_threads(contextmanager(call)()))
        if recipe.kind == "coroutine":
            return await call()
        value = await WORKERS.run(call)
        if isinstance(value, contextlib.AsyncContextDecorator):  # made by @asynccontextmanager
            return await self._stack.enter_async_context(value)  # type: ignore[arg-type]  # which is one
        if isinstance(value, contextlib.ContextDecorator):  # made by @contextmanager
            return await self._stack.enter_async_context(_in_threads(value))  # type: ignore[arg-type]  # which is one
        return await value if inspect.isawaitable(value) else value

    def _failure(self, path: tuple[str, ...], name: str, why: str) -> DependencyError:
        who = f"tool {self._running.tool!r} was not run: " if self._running is not None else ""
        through = f" (for {' → '.join(path)})" if path else ""
        return DependencyError(f"{who}its dependency {name!r}{through} could not be supplied: {why}.")


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class _MissingError(Exception):
    """Nothing supplies a parameter; its default may."""


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What a provider itself wants, and which kind of function it is."""

    wanted: tuple[Injection, ...]
    by_place: tuple[str, ...]
    """Names of those that can only be passed by their place."""
    kind: Literal["function", "coroutine", "generator", "async generator"]


def check_providers(wanted: Sequence[Injection]) -> None:
    """See that every provider can be called with what it is supplied, and every provider of those.

    Raises:
        TypeError: one wants something that nothing supplies.
    """
    waiting = list(wanted)
    seen: set[Provider] = set()
    while waiting:
        depends = waiting.pop().depends
        if depends is None or depends.provider in seen:
            continue
        seen.add(depends.provider)
        try:
            waiting += _read_recipe(depends).wanted
        except DependencyError as error:
            raise TypeError(str(error)) from error


def _read_recipe(depends: Dependency) -> _Recipe:
    """Read a provider's signature.

    Raises:
        DependencyError: it wants something that is no dependency and has no default.
    """
    provider = depends.provider
    if isinstance(provider, type):
        (signature, hints), function = resolve_class(provider), None
    else:
        (signature, hints), function = resolve(provider, depends.local_names), unwrap(provider)
    wanted: list[Injection] = []
    for parameter in signature.parameters.values():
        injection = injection_of(parameter, hints.get(parameter.name), local_names=depends.local_names)
        if injection is not None:
            wanted.append(injection)
        elif parameter.default is parameter.empty and parameter.kind not in _VARIADIC:
            raise DependencyError(
                f"provider {getattr(provider, '__qualname__', provider)} wants {parameter.name!r}, "
                "which is no dependency and has no default."
            )
    by_place = [
        each.name for each in wanted if signature.parameters[each.name].kind is inspect.Parameter.POSITIONAL_ONLY
    ]
    return _Recipe(tuple(wanted), tuple(by_place), _kind(function))


def _kind(function: Any) -> Literal["function", "coroutine", "generator", "async generator"]:
    if inspect.isasyncgenfunction(function):
        return "async generator"
    if inspect.isgeneratorfunction(function):
        return "generator"
    return "coroutine" if inspect.iscoroutinefunction(function) else "function"


@asynccontextmanager
async def _in_threads(manager: AbstractContextManager[Any]) -> AsyncIterator[Any]:
    """Enter and leave a sync context manager in worker threads."""
    entering = WORKERS.begin(manager.__enter__)
    try:
        value = await asyncio.shield(entering)
    except asyncio.CancelledError:  # nobody wants it any more, and it may be opened all the same
        entering.add_done_callback(functools.partial(_leave, manager))
        raise
    try:
        yield value
    except Exception as error:
        if not await WORKERS.run(functools.partial(manager.__exit__, type(error), error, error.__traceback__)):
            raise
    except BaseException as stopped:  # cancelled: the provider still has to let go, shielded from it
        leave = functools.partial(manager.__exit__, type(stopped), stopped, stopped.__traceback__)
        await asyncio.shield(WORKERS.run(leave))
        raise
    else:
        await WORKERS.run(functools.partial(manager.__exit__, None, None, None))


def _leave(manager: AbstractContextManager[Any], entered: asyncio.Future[Any]) -> None:
    if not entered.cancelled() and entered.exception() is None:
        WORKERS.begin(functools.partial(manager.__exit__, None, None, None))


class _ApplicationScope:
    """Application-wide values, opened and closed by one owner task, whoever asks."""

    def __init__(self) -> None:
        self._values: dict[Provider, asyncio.Future[Any]] = {}
        self._requests: asyncio.Queue[Callable[[AsyncExitStack], Awaitable[None]] | None] = asyncio.Queue()
        self._owner: asyncio.Task[None] | None = None
        self._stack = AsyncExitStack()

    async def get(self, provider: Provider, open_it: Callable[[AsyncExitStack], Awaitable[Any]]) -> Any:
        self._start()
        future = self._values.get(provider)
        if future is None:
            future = self._values[provider] = asyncio.get_running_loop().create_future()
            opening = functools.partial(self._open, provider, future, open_it)
            if asyncio.current_task() is self._owner:  # one application-wide provider wants another
                await opening(self._stack)
            else:
                self._requests.put_nowait(opening)
        elif asyncio.current_task() is self._owner and not future.done():
            # Asked for already and next in the queue, or a circle; either way the owner cannot wait for itself.
            await self._open(provider, future, open_it, self._stack)
        return await asyncio.shield(future)

    async def close(self) -> None:
        owner, self._owner, self._values = self._owner, None, {}
        if owner is not None:
            self._requests.put_nowait(None)
            await owner

    def _is_ending(self) -> bool:
        """Tell whether it is the owner itself that is cancelled, as when the loop ends."""
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        if self._owner is None or self._owner.done() or self._owner.get_loop() is not loop:
            self._values, self._requests, self._stack = {}, asyncio.Queue(), AsyncExitStack()
            self._owner = loop.create_task(self._own(self._requests, self._stack), name="naru tools' dependencies")

    async def _own(
        self, requests: asyncio.Queue[Callable[[AsyncExitStack], Awaitable[None]] | None], stack: AsyncExitStack
    ) -> None:
        async with stack:
            while (opening := await requests.get()) is not None:
                await opening(stack)

    async def _open(
        self,
        provider: Provider,
        future: asyncio.Future[Any],
        open_it: Callable[[AsyncExitStack], Awaitable[Any]],
        stack: AsyncExitStack,
    ) -> None:
        if future.done():
            return
        try:
            value = await open_it(stack)
        except BaseException as error:  # foreign code: whatever it raises ends what it supplies, and not the owner
            if self._values.get(provider) is future:
                del self._values[provider]  # the next call tries again
            is_own = isinstance(error, Exception)
            if not future.done():
                future.set_exception(error if is_own else RuntimeError(f"it ended with {error!r}"))
                future.exception()  # seen: those who waited may have gone
            if not is_own and self._is_ending():
                raise
        else:
            if not future.done():
                future.set_result(value)
