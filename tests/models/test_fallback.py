"""Issue 17 line 11: the next model when one is away, refused or over its limit; said in the answer and counted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from naru.agent.events import RunFinished
from naru.agent.limits import Limits
from naru.agent.loop import run
from naru.errors import ModelError, NotFoundError
from naru.messages import ChatEvent, ChatRequest, Finish, Message, Notice, Text
from naru.models.backend import Backend, deliver, for_model
from naru.models.fallback import FallingBack
from naru.models.known.knowledge import Knowledge
from naru.models.known.profile import Profile
from naru.models.limits.queue import RequestQueue
from naru.models.limits.queued import QueuedBackend
from naru.models.limits.rate import RateLimits
from naru.models.router import Route, Router
from naru.models.scripted import ScriptedBackend
from naru.models.transport.failures import failure
from naru.persons import Bounds, Person, Reach, current_person

AWAY = ["unreachable", "overloaded", "rate_limited", "upstream_failed", "unauthorized", "model_not_found", "not_an_api"]


def ask(model: str = "a") -> ChatRequest:
    return ChatRequest(model, [Message("user", "hi")])


def chain(**backends: Backend) -> tuple[FallingBack, list[float]]:
    now = [0.0]
    routes = [Route(name, backend, (name,)) for name, backend in backends.items()]
    names = list(backends)
    return FallingBack(Router(routes), [f"{name}/{name}" for name in names[1:]], clock=lambda: now[0]), now


async def told(backend: Backend, request: ChatRequest, *, streamed: bool) -> list[ChatEvent]:
    if not streamed:
        return [event async for event in backend.stream(request)]
    events: list[ChatEvent] = []

    def take(batch: Sequence[ChatEvent]) -> None:
        events.extend(batch)

    await deliver(backend, request, take)
    return events


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("code", AWAY)
async def test_the_next_model_answers_and_the_answer_says_so(code: str, streamed: bool) -> None:
    first, second = ScriptedBackend([failure(code, "It is away.")]), ScriptedBackend(["hello"])
    backend, _ = chain(a=first, b=second)
    events = await told(backend, ask(), streamed=streamed)
    assert events[0] == Notice("b/b answered in place of a (a: It is away.).")
    assert "".join(one.text for one in events if isinstance(one, Text)) == "hello"
    assert backend.counts == {("a", "b/b"): 1}
    assert second.requests[0].model == "b"


async def test_issue_21_3_a_model_that_a_key_does_not_see_never_answers_in_place_of_another() -> None:
    first, hidden, third = (
        ScriptedBackend([failure("overloaded", "Busy.")]),
        ScriptedBackend(["no"]),
        ScriptedBackend(["hi"]),
    )
    backend, _ = chain(a=first, b=hidden, c=third)
    token = current_person.set(Person("k", Reach.of(Bounds(models=("a", "c/*")))))
    try:
        events = await told(backend, ask(), streamed=False)
    finally:
        current_person.reset(token)
    assert "".join(one.text for one in events if isinstance(one, Text)) == "hi"
    assert hidden.requests == []


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_fallback_that_is_not_there_does_not_hide_why_the_first_model_failed(streamed: bool) -> None:
    away = ScriptedBackend([failure("unreachable", "It is away.")])
    backend = FallingBack(Router([Route("one", away, ("a",))]), ["mistyped"], clock=lambda: 0.0)
    with pytest.raises(ModelError, match=r"It is away\."):
        await told(backend.for_model("a"), ask(), streamed=streamed)


async def test_what_is_wrong_with_the_request_is_told_at_once() -> None:
    first, second = ScriptedBackend([failure("refused", "max_tokens is too large", status=400)]), ScriptedBackend(["x"])
    backend, _ = chain(a=first, b=second)
    with pytest.raises(ModelError, match="max_tokens"):
        await told(backend, ask(), streamed=True)
    assert second.requests == []


@pytest.mark.parametrize("streamed", [True, False])
async def test_what_has_been_said_stays_said(streamed: bool) -> None:
    class Breaking(ScriptedBackend):
        async def stream(self, request):
            yield Text("half")
            raise failure("broken_off", "It broke off.")

    backend, _ = chain(a=Breaking([]), b=ScriptedBackend(["hello"]))
    with pytest.raises(ModelError, match="broke off"):
        await told(backend, ask(), streamed=streamed)


async def test_the_last_ones_failure_is_told_when_all_are_away() -> None:
    backend, _ = chain(
        a=ScriptedBackend([failure("overloaded", "a is full")]), b=ScriptedBackend([failure("unreachable", "b is off")])
    )
    with pytest.raises(ModelError, match="b is off"):
        await told(backend, ask(), streamed=True)


async def test_one_that_has_just_failed_is_asked_last_for_a_while() -> None:
    first = ScriptedBackend([failure("overloaded", "full", wait_seconds=60), "back again"])
    second = ScriptedBackend(["one", "two"])
    backend, now = chain(a=first, b=second)
    await told(backend, ask(), streamed=True)
    now[0] = 30.0
    await told(backend, ask(), streamed=True)
    assert len(first.requests) == 1
    now[0] = 61.0
    events = await told(backend, ask(), streamed=True)
    assert "".join(one.text for one in events if isinstance(one, Text)) == "back again"


async def test_a_queue_that_must_wait_long_is_passed_over() -> None:
    limited = RateLimits(requests_per_minute=1)
    first = QueuedBackend(ScriptedBackend(["first", "late"]), RequestQueue(limited))
    backend, _ = chain(a=first, b=ScriptedBackend(["second"]))
    assert Text("firs") in await told(backend, ask(), streamed=True)
    events = await told(backend, ask(), streamed=True)
    assert "".join(one.text for one in events if isinstance(one, Text)) == "second"


async def test_an_agents_patience_with_a_queue_is_short_too_where_another_model_stands_behind() -> None:
    queue = RequestQueue(RateLimits(requests_per_minute=1))
    first = QueuedBackend(ScriptedBackend(["first", "late"]), queue)
    backend, _ = chain(a=first, b=ScriptedBackend(["second"]))
    await told(backend, ask(), streamed=True)
    events = [event async for event in run(backend, None, ask(), limits=Limits(model_timeout_seconds=600))]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].answer == "second"


async def test_the_view_of_a_model_has_its_profile_and_the_chain_behind_it() -> None:
    first = ScriptedBackend([failure("unreachable", "off")], profile=Profile(family="one"))
    backend, _ = chain(a=first, b=ScriptedBackend(["hello"], profile=Profile(family="two")))
    view = for_model(backend, "a")
    assert view.profile.family == "one"
    assert for_model(backend, "b").profile.family == "two"
    assert (await told(view, ask(""), streamed=True))[-1] == Finish("stop")
    with pytest.raises(NotFoundError):
        for_model(backend, "nobody")


async def test_names_that_clients_make_up_are_not_kept_for_ever() -> None:
    first, second = ScriptedBackend(lambda _: failure("model_not_found", "No.")), ScriptedBackend(lambda _: "hello")
    backend = FallingBack(Router([Route("one", first), Route("two", second, ("b",))]), ["two/b"])
    for number in range(600):
        await told(backend, ask(f"one/made-up-{number}"), streamed=True)
    assert len(backend.counts) <= 501
    assert sum(backend.counts.values()) == 600


def test_what_is_known_of_models_is_kept_for_those_asked_for_last() -> None:
    knowledge = Knowledge(default_model="mine")
    mine = knowledge.of("")
    for number in range(1_200):
        knowledge.of(f"made-up-{number}")
        assert knowledge.of("") is mine
    assert knowledge.of("made-up-1199") is knowledge.of("made-up-1199")
    assert len(knowledge._learned) <= 1_000
