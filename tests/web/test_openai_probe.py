"""`canitoolcall probe` against Naru with real small models: streamed, whole, and both the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from canitoolcall.probe import probe

from naru.models.families import profile_for
from naru.models.openai_http import Endpoint, OpenAIBackend
from tests.conftest import EngineAddress, run_engine
from tests.web.conftest import MemoryHub, application, served

pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.timeout(900)]
BEYOND_THE_MODEL = {
    "qwen2.5-coder-0.5b": {"parallel-calls", "empty-args"},
    "qwen2.5-coder-1.5b": {"parallel-calls"},
}
"""Both write one call where two are asked for: the engine's own text holds no second one. The smaller one writes a
tool's schema where its arguments belong, when there are none; that is a definition, not a call."""


@pytest.fixture(scope="module")
def larger_engine() -> Iterator[EngineAddress]:
    yield from run_engine("qwen2.5-coder-1.5b")


@pytest.mark.parametrize("engine", ["local_engine", "larger_engine"], ids=["0.5b", "1.5b"])
async def test_every_scenario_passes_that_the_model_can_do(engine: str, request: pytest.FixtureRequest) -> None:
    address: EngineAddress = request.getfixturevalue(engine)
    backend = OpenAIBackend(
        Endpoint(address.base_url, address.api_key, keep_alive=False), profile_for(address.model), model=address.model
    )
    try:
        async with served(application(MemoryHub(backend))) as url:
            report = await asyncio.to_thread(probe, f"{url}/v1", address.model, concurrency=1, timeout_s=200.0)
    finally:
        await backend.close()
    failed = {
        f"{one.scenario_id} ({one.check}, stream={one.stream}): {one.detail}"
        for one in report.outcomes
        if one.status != "pass" and one.scenario_id not in BEYOND_THE_MODEL[address.model]
    }
    assert failed == set(), report.render_text()
    print(report.render_text())
