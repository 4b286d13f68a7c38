"""Several endpoints behind one backend."""

from __future__ import annotations

import asyncio

import pytest
from tests.models.fake_endpoint import json_reply, serve

from naru.errors import ModelError, NotFoundError
from naru.messages import ChatEvent, ChatRequest, Message, Text
from naru.models.backend import for_model
from naru.models.known.profile import Profile
from naru.models.router import Route, Router
from naru.models.scripted import ScriptedBackend
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend


class Down(ScriptedBackend):
    async def models(self) -> list[str]:
        raise ModelError("down")


def router() -> tuple[Router, dict[str, ScriptedBackend]]:
    backends = {
        "local": ScriptedBackend(["local"] * 9, model="small", profile=Profile(small=True)),
        "cloud": ScriptedBackend(["cloud"] * 9, model="big-1"),
        "down": Down(["down"] * 9),
    }
    routes = [
        Route("local", backends["local"], ("small",)),
        Route("cloud", backends["cloud"], ("big-*",)),
        Route("down", backends["down"]),
    ]
    return Router(routes, {"gpt-4o": "cloud/big-2"}), backends


async def ask(it: Router, model: str) -> str:
    request = ChatRequest(model, [Message("user", "hi")])
    read = [event async for event in it.stream(request)]
    delivered: list[ChatEvent] = []
    await it.deliver(request, delivered.extend)
    assert delivered == read
    return "".join(event.text for event in read if isinstance(event, Text))


@pytest.mark.parametrize(
    ("model", "answered", "name"),
    [
        ("small", "local", "small"),
        ("big-7", "cloud", "big-7"),
        ("gpt-4o", "cloud", "big-2"),
        ("down/any", "down", "any"),
        ("", "local", ""),
    ],
)
async def test_a_request_goes_where_its_model_is_served(model: str, answered: str, name: str) -> None:
    it, backends = router()
    assert await ask(it, model) == answered
    assert backends[answered].requests[0].model == name


async def test_a_model_that_nobody_declared_is_looked_for_before_the_first_endpoint_gets_it() -> None:
    local, other = ScriptedBackend(["local"] * 9, model="small"), ScriptedBackend(["other"] * 9, model="llama-9")
    it = Router([Route("local", local), Route("other", other)])
    assert await ask(it, "llama-9") == "other"
    assert await ask(it, "nobody-has-this") == "local"
    again = Router([Route("local", local), Route("other", other)])
    narrowed = for_model(again, "llama-9")
    request = ChatRequest("llama-9", [Message("user", "hi")])
    assert "".join([event.text async for event in narrowed.stream(request) if isinstance(event, Text)]) == "other"


async def test_an_unknown_model_is_refused_with_those_that_are_known() -> None:
    it, _ = router()
    with pytest.raises(NotFoundError, match=r"model 'nobody'\. Known: big-\*, big-1, small"):
        await ask(it, "nobody")


async def test_models_are_those_of_all_endpoints_and_one_that_is_down_hides_only_its_own() -> None:
    it, _ = router()
    assert await it.models() == ["small", "big-1", "gpt-4o"]


async def test_a_model_has_its_own_profile() -> None:
    it, _ = router()
    assert for_model(it, "small").profile.small
    assert not for_model(it, "big-1").profile.small
    narrowed = for_model(it, "gpt-4o")
    assert await narrowed.models() == ["big-2"]


async def test_closing_closes_every_endpoint() -> None:
    it, backends = router()
    await it.close()
    assert all(backend.closed for backend in backends.values())


async def test_many_who_ask_for_an_unknown_model_ask_its_endpoints_once() -> None:
    it, _ = router()
    asked = 0

    class Slow(ScriptedBackend):
        async def models(self) -> list[str]:
            nonlocal asked
            asked += 1
            await asyncio.sleep(0.01)
            return ["m"]

    it.routes[0].backend = Slow([])
    it.routes[0].listed_at = float("-inf")
    await asyncio.gather(*(it.models() for _ in range(5)))
    assert asked == 1


async def test_an_endpoint_that_fails_to_close_keeps_no_other_open() -> None:
    it, backends = router()

    class Stuck(ScriptedBackend):
        async def close(self) -> None:
            raise OSError("stuck")

    for route in it.routes:
        route.backend = Stuck([]) if route.name == "cloud" else route.backend
    with pytest.raises(OSError, match="stuck"):
        await it.close()
    assert (backends["local"].closed, backends["down"].closed) == (True, True)


async def test_an_endpoint_that_lists_no_list_hides_only_its_own() -> None:
    async with serve([json_reply({"data": 5})]) as fake:
        odd = OpenAIBackend(Endpoint.of(fake.base_url))
        it = Router([Route("odd", odd), Route("good", ScriptedBackend([], model="small"))])
        assert await it.models() == ["small"]
        await it.close()
