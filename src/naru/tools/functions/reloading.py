"""One's own functions, read anew when their files change; a broken edit leaves the tools that there were."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from naru.errors import NaruError
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.stores.files.watch import INTERVAL_SECONDS, files_version, watch
from naru.tools.functions.modules import file_of, find_beside, import_file, is_file, module_toolset
from naru.tools.functions.registry import REGISTRY
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext

_NARU = Path(__file__).parents[2]
_LIBRARY = Path(importlib.__file__).parents[1]
Tell = Callable[[str], None]
"""Told why an edit was not taken up, and of tools that cannot be offered; empty once new tools are there."""


class _Loaded:
    """The functions of one reading, closed after the last call that began with them."""

    def __init__(self, toolset: FunctionToolset, tell: Tell) -> None:
        self.toolset = toolset
        self.calls = 0
        self.is_old = False
        self._tell = tell

    async def close(self) -> None:
        self.is_old = True
        if self.calls:
            return
        try:
            await self.toolset.close()
        except Exception as error:  # noqa: BLE001  # foreign code; the calls and the tools that there are now go on
            self._tell(f"What the tools before had opened could not be closed: {_what(error)}.")


class ReloadingToolset:
    """The functions of a file or a module, and of what it imports from its own folder.

    Args:
        target: `company.py`, or `my_package.tools`.
        tell: told what became of each reading.
        interval: seconds between looks.
    """

    validates_arguments = True

    def __init__(self, target: str, tell: Tell, *, interval: float = INTERVAL_SECONDS) -> None:
        self._target = target
        self._tell = tell
        self._interval = interval
        self._loaded = _Loaded(FunctionToolset([]), tell)
        self._names: set[str] = set()
        """Modules that are ours: the target, and what it brought along from its folder."""
        self._files: set[Path] = set()
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Read the functions, then watch their files; what is broken now may be mended later."""
        if self._watching is None:
            began = time.time()
            await self._read()
            is_newer = any(path.exists() and path.stat().st_mtime >= began for path in self._files)
            seen = None if is_newer else await self._version()
            self._watching = asyncio.get_running_loop().create_task(
                watch(self._version, self._read, seen=seen, interval=self._interval)
            )

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return the definitions as they are now."""
        return await self._loaded.toolset.tools()

    async def definition(self, name: str) -> ToolDefinition | None:
        """Return one function's definition as it is now."""
        return await self._loaded.toolset.definition(name)

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a function once; an edit meanwhile changes nothing for this call. Raises as `FunctionToolset.call`."""
        loaded = self._loaded
        loaded.calls += 1
        try:
            return await loaded.toolset.call(name, arguments, context)
        finally:
            loaded.calls -= 1
            if loaded.is_old:
                await loaded.close()

    async def close(self) -> None:
        """Stop watching, and close what the functions' dependencies opened."""
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None
        await self._loaded.toolset.close()

    async def _version(self) -> object:
        return await files_version(sorted(self._files))

    async def _read(self) -> None:
        try:
            # Beside the loop: calls go on while a heavy module is imported.
            toolset = await asyncio.to_thread(self._import)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a module may fail in any way when it is run
            self._files |= _files_in(error)
            kept = "The tools that there were stay" if self._names else "It has no tools yet"
            self._tell(f"{_what(error)}. {kept}; it is read again when it is saved.")
            return
        before, self._loaded = self._loaded, _Loaded(toolset, self._tell)
        await toolset.tools()
        self._tell("")
        await before.close()
        for name, reason in toolset.set_aside.items():
            self._tell(f"{name} is set aside: {reason}")

    def _import(self) -> FunctionToolset:
        """Import the target anew; when that fails all is as before."""
        kept = {name: sys.modules.pop(name) for name in self._names if name in sys.modules}
        others, held = set(sys.modules), REGISTRY.tools()
        for tool in held:
            if tool.module in self._names:
                REGISTRY.remove(tool.name)
        importlib.invalidate_caches()
        # Two edits within a second may have one length: then a compiled file would pass for the newer one.
        writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            root, name = self._start()
            toolset = module_toolset((name,))
        except BaseException:
            for new in set(sys.modules) - others:
                if new in kept or _is_below(new, Path(self._target).parent):
                    del sys.modules[new]
            sys.modules.update(kept)
            REGISTRY.clear()
            for tool in held:
                REGISTRY.add(tool)
            raise
        finally:
            sys.dont_write_bytecode = writes
        self._names = {each for each in set(sys.modules) - others if _is_of(each, name) or _is_below(each, root)}
        self._files |= {path for each in self._names if (path := _file(each)) is not None}
        return toolset

    def _start(self) -> tuple[Path, str]:
        """Run the target; return the folder whose modules belong to it, and its name as a module."""
        if is_file(self._target):
            path = file_of(self._target)
            self._files.add(path)
            return path.parent, import_file(path)
        find_beside(Path.cwd())
        spec = importlib.util.find_spec(self._target)
        if spec is not None and spec.origin is not None:
            self._files.add(Path(spec.origin))
        return Path.cwd(), self._target


def _is_of(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def _is_below(name: str, folder: Path) -> bool:
    """Tell whether a module is somebody's own, of a folder: not installed, and not Naru itself."""
    path = _file(name)
    if path is None or _is_of(name, "naru"):
        return False
    return path.is_relative_to(folder.absolute()) and "site-packages" not in path.parts


def _file(name: str) -> Path | None:
    origin = getattr(sys.modules.get(name), "__file__", None)
    return Path(origin).absolute() if origin else None


def _files_in(error: BaseException) -> set[Path]:
    """Return the files that a failure came through: whichever is mended, all is read again."""
    cause = _cause(error)
    names = {frame.filename for frame in _frames(cause)}
    if isinstance(cause, SyntaxError) and cause.filename:
        names.add(cause.filename)
    return {Path(name) for name in names if Path(name).is_file()}


def _what(error: BaseException) -> str:
    """Say what failed and where, in one line."""
    cause = _cause(error)
    if isinstance(cause, SyntaxError):
        return f"{Path(cause.filename or '').name}, line {cause.lineno}: {type(cause).__name__}: {cause.msg}"
    frames = _frames(cause)
    place = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}: " if frames else ""
    said = str(cause).strip().rstrip(".")
    return f"{place}{type(cause).__name__}: {said}" if not isinstance(cause, NaruError) else said


def _cause(error: BaseException) -> BaseException:
    """Return what a module raised, where `discover` has wrapped it."""
    return error.__cause__ if isinstance(error, NaruError) and error.__cause__ is not None else error


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of somebody's own code: not Naru's, not the import machinery's, not an installed package's."""
    return [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<")
        and not Path(frame.filename).is_relative_to(_NARU)
        and not Path(frame.filename).is_relative_to(_LIBRARY)
        and "site-packages" not in Path(frame.filename).parts
    ]
