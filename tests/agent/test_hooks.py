"""D5, D6: documents are put before the model; a run does not end before a required result is there."""

from __future__ import annotations

from dataclasses import replace

from tests.agent.conftest import Shop
from tests.agent.test_loop import call

from naru.agent.events import RunFinished
from naru.agent.hooks import Hooks, requires_tool
from naru.agent.loop import run
from naru.messages import ChatRequest, Message
from naru.models.scripted import ScriptedBackend


async def finished(backend: ScriptedBackend, shop: Shop, hooks: Hooks) -> RunFinished:
    request = ChatRequest("scripted", (Message("user", "What is in ORD7?"),))
    events = [event async for event in run(backend, shop, request, hooks=hooks)]
    assert isinstance(events[-1], RunFinished)
    return events[-1]


async def test_documents_are_put_before_the_model(shop: Shop) -> None:  # D5
    async def retrieve(request: ChatRequest) -> ChatRequest:
        return replace(request, messages=(Message("user", "Documents: ORD7 is a lamp order."), *request.messages))

    backend = ScriptedBackend(["Lamps."])
    await finished(backend, shop, Hooks(before_model=[retrieve]))
    assert "lamp order" in backend.requests[0].messages[0].text


async def test_a_run_goes_on_until_the_required_tool_has_given_a_result(shop: Shop) -> None:  # D6
    backend = ScriptedBackend(["I am done.", call("shop__get_order", order_id="ORD7"), "Three lamps."])
    end = await finished(backend, shop, Hooks(missing=requires_tool("shop__get_order")))
    assert end.answer == "Three lamps."
    assert "shop__get_order" in backend.requests[1].messages[-1].text


async def test_a_model_that_never_gives_it_ends_with_a_note(shop: Shop) -> None:  # D6
    end = await finished(ScriptedBackend(["No."] * 6), shop, Hooks(missing=requires_tool("shop__get_order")))
    assert "Ended without the required result" in end.note
