"""Whether a model sees pictures is its endpoint's word; where it says nothing, nothing is known."""

from __future__ import annotations

from typing import Any

import pytest
from tests.models.fake_endpoint import json_reply, serve
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.strict import post

from naru.models.known.sight import of_listed, of_ollama, of_props
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend


def row(**fields: Any) -> Any:
    return {"data": [{"id": "other"}, {"id": "m", **fields}]}


@pytest.mark.parametrize(
    ("sees", "wanted"),
    [
        (of_listed(row(capabilities={"vision": True}), "m"), True),
        (of_listed(row(capabilities={"vision": False}), "m"), False),
        (of_listed(row(architecture={"input_modalities": ["text", "image"]}), "m"), True),
        (of_listed(row(architecture={"input_modalities": ["text"]}), "m"), False),
        (of_listed(row(type="vlm"), "m"), True),
        (of_listed(row(type="llm"), "m"), False),
        (of_listed(row(type="chat", capabilities=["completion"], architecture="x"), "m"), None),
        (of_listed(row(capabilities={"vision": True}), "another"), None),
        (of_listed("hello", "m"), None),
        (of_props({"modalities": {"vision": False, "audio": False}}), False),
        (of_props({"modalities": []}), None),
        (of_ollama({"capabilities": ["completion", "vision"]}), True),
        (of_ollama({"capabilities": ["completion"]}), False),
        (of_ollama({}), None),
    ],
)
def test_every_form_is_read(sees: bool | None, wanted: bool | None) -> None:
    assert sees is wanted


@pytest.mark.parametrize(("sees", "is_told"), [(True, True), (False, False), (None, True)])
async def test_ollamas_clients_are_told_of_sight_where_it_is_not_denied(sees: bool | None, is_told: bool) -> None:
    listed = row() if sees is None else row(capabilities={"vision": sees})
    async with serve(lambda _: json_reply(listed)) as endpoint:
        backend = OpenAIBackend(Endpoint.of(endpoint.base_url), model="m")
        async with served(application(MemoryHub(backend))) as url:
            _, shown = await post(f"{url}/api/show", {"model": "m"})
        await backend.close()
    assert ("vision" in shown["capabilities"]) is is_told
