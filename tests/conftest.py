"""Fixtures that several folders share."""

from __future__ import annotations

import asyncio
import functools
import gc
import importlib
import signal
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from naru.builtins.data.embeddings import sentence_encoder
from naru.errors import ConfigError
from naru.models.local.engine import EngineOptions, LocalEngine
from naru.models.local.weights import locate_model
from tests.law import every_call_has_its_writer, law  # noqa: F401  # over every run of every test
from tests.postgres_servers import postgres_servers  # noqa: F401  # a fixture for all folders

settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")
"""The same examples everywhere, however slow the machine; `--hypothesis-profile=default` looks for new ones."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's job in the background ignores it, and so would every program that a test starts and interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

CACHE_DIR = Path("~/.cache/naru")
SHARED = ("local_engine", "bga", "postgres_servers", "chroma_url")
"""Fixtures too costly to have in several workers at once: their tests stay together."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the sizes of tests that are run in full on demand only."""
    parser.addoption("--aborts", type=int, default=40, help="clients that leave, in each test of R-28 (full: 1000)")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected, nor go through them again later: 7 s of 17 for each worker."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deal the tests out to `make test`'s workers by what they share, else by file, but as a test's mark says.

    What is shared is begun first, since only one worker can do it; then what is slow.
    """
    is_dealt = getattr(config.option, "loadgroup", False)
    slow: dict[str, bool] = {}
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        if (own := item.get_closest_marker("xdist_group")) is not None:
            group = own.args[0]
        else:
            names = getattr(item, "fixturenames", ())
            group = next((name for name in SHARED if name in names), f"{item.path.parent.name}/{item.path.name}")
        if is_dealt:
            # pytest-xdist reads the group here, and writes it where pytest 9.2 does not look (its issue 1386).
            item._id = type(item._id).parse(f"{item.nodeid}@{group}")
        groups.setdefault(group, []).append(item)
        slow[group] = slow.get(group, False) or item.get_closest_marker("slow") is not None
    order = sorted(groups, key=lambda name: (name not in SHARED, not slow[name]))
    items[:] = [item for group in order for item in groups[group]]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape lone surrogates, which many tests log or compare: a worker cannot send them to `make test`."""
    report = yield
    report.sections = [(_sendable(name), _sendable(text)) for name, text in report.sections]
    if report.longrepr is not None and (said := str(report.longrepr)) != (clean := _sendable(said)):
        report.longrepr = clean
    return report


def _sendable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


@pytest.fixture(scope="session", autouse=True)
def the_encoder_is_loaded_once() -> Iterator[None]:
    """Let all hubs of this process share the embedded encoder: it takes a second of CPU to load, and has no state."""
    with pytest.MonkeyPatch.context() as patch:
        if sentence_encoder.SentenceEncoder.is_installed():
            package = importlib.import_module(sentence_encoder.PACKAGE)
            patch.setattr(package, "USE", functools.cache(package.USE))
        yield


@dataclass(frozen=True)
class EngineAddress:
    """Where the shared engine listens."""

    base_url: str
    api_key: str
    model: str
    pid: int


def model_file(model: str) -> Path:
    """Return a demo model's file, or skip and say how to get it."""
    try:
        return locate_model(model, CACHE_DIR)
    except ConfigError as error:
        pytest.skip(str(error))


def run_engine(model: str) -> Iterator[EngineAddress]:
    """Run an engine on an event loop of its own, so that every test's loop can use it."""
    path = model_file(model)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="engine loop")
    thread.start()

    def run(work: object) -> None:
        future: Future[None] = asyncio.run_coroutine_threadsafe(work, loop)  # type: ignore[arg-type]
        future.result(timeout=120)

    engine = LocalEngine(path, alias=model, options=EngineOptions(threads=1))
    try:
        run(engine.start())
        yield EngineAddress(engine.base_url, engine.api_key, model, engine.pid or 0)
    finally:
        run(engine.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture(scope="session")
def demo_model() -> Path:
    """The 0.5B demo model's file."""
    return model_file("qwen2.5-coder-0.5b")


@pytest.fixture(scope="session")
def local_engine() -> Iterator[EngineAddress]:
    """The 0.5B model in a real engine, one for the whole session: `base_url`, `api_key`, `model`."""
    yield from run_engine("qwen2.5-coder-0.5b")
