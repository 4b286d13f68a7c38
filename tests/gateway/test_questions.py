"""What servers may ask, of whom, and how often (S-58)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from naru.gateway.upstreams.questions import Asker, QuestionLimits, Questions
from naru.gateway.upstreams.upstream import Relay
from naru.gateway.wire.protocol import RpcError
from naru.messages import Json, JsonObject
from naru.records import ServerRecord, TransportType
from tests.fixtures.odd_server import OddServer, serve_http
from tests.gateway.by_hand import META, events, gateway, next_event, request
from tests.gateway.scripted import ScriptedUpstream
from tests.gateway.serving import serving

ALL = frozenset({"sampling", "elicitation", "roots"})
ANN = Asker("bank", "ann", "", ALL)
PAGE = {"mode": "url", "url": "https://bank.example/x", "message": "Look"}


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def questions(**limits: Any) -> Questions:
    return Questions(QuestionLimits(**limits), Clock())


def test_nothing_may_be_asked_that_the_record_does_not_allow() -> None:
    for method in ("sampling/createMessage", "elicitation/create", "roots/list", "sampling", "no/such", ""):
        with pytest.raises(RpcError, match="not allowed"):
            questions().vet(method, {}, replace(ANN, allowed=frozenset()))
    with pytest.raises(RpcError, match="not allowed"):
        questions().vet("elicitation", {}, ANN)


@pytest.mark.parametrize(
    ("wanted", "got"), [(5, 5), (10**9, 4096), (None, 4096), ("many", 4096), (True, 4096), (1e300, 4096)]
)
def test_a_sampling_asks_for_no_more_tokens_than_the_cap(wanted: Json, got: int) -> None:
    params = {} if wanted is None else {"maxTokens": wanted}
    assert questions().vet("sampling/createMessage", params, ANN)["maxTokens"] == got


def test_of_a_hundred_samplings_a_minute_only_the_first_pass_and_others_are_not_held_up() -> None:
    vetting = questions(per_minute=30)
    for _ in range(30):
        vetting.vet("sampling/createMessage", {}, ANN)
    for _ in range(70):
        with pytest.raises(RpcError, match="more than 30 questions a minute"):
            vetting.vet("sampling/createMessage", {}, ANN)
    vetting.vet("sampling/createMessage", {}, replace(ANN, caller="bob"))
    vetting.vet("sampling/createMessage", {}, replace(ANN, server="shop"))
    assert isinstance(vetting._clock, Clock)
    vetting._clock.now = 61.0
    vetting.vet("sampling/createMessage", {}, ANN)


@pytest.mark.parametrize(
    "url", ["http://bank.example", "javascript:alert(1)", "file:///etc/passwd", "", None, "HTTPS:/x"]
)
def test_a_page_is_shown_under_https_only(url: Json) -> None:
    assert questions().vet("elicitation/create", PAGE, ANN)["url"] == PAGE["url"]
    with pytest.raises(RpcError, match="https"):
        questions().vet("elicitation/create", {**PAGE, "url": url}, ANN)


def test_a_question_says_which_server_asks_where_there_are_several() -> None:
    asked = questions().vet("elicitation/create", {"message": "Name?", "_meta": {"k": 1}}, ANN)
    assert (asked["message"], asked["_meta"]) == ("[bank] Name?", {"k": 1, "naru/server": "bank"})
    alone = questions().vet("elicitation/create", {"message": "Name?"}, replace(ANN, view="bank"))
    assert (alone["message"], alone["_meta"]) == ("Name?", {"naru/server": "bank"})
    assert questions(show_origins=False).vet("elicitation/create", {"message": "Name?"}, ANN)["message"] == "Name?"


def test_a_stateless_server_asks_so_much_at_once_and_no_more() -> None:
    ask = {"method": "elicitation/create", "params": {"message": "?"}}
    assert len(questions().vet_all({str(n): ask for n in range(10)}, ANN)) == 10
    with pytest.raises(RpcError, match="at once"):
        questions().vet_all({str(n): ask for n in range(11)}, ANN)
    for broken in (5, {}, {"method": 5}, {"method": "elicitation/create", "params": {"mode": "url"}}):
        with pytest.raises(RpcError):
            questions().vet_all({"q": broken}, ANN)


async def test_a_stateless_server_that_was_not_allowed_to_ask_is_an_error_and_never_a_question() -> None:
    async with serve_http(OddServer(modern=True)) as url:
        record = ServerRecord(name="odd", transport_type=TransportType.HTTP, config={"url": url})
        async with serving([record]) as served:
            upstream = served.gateway.engine.upstreams.find("odd")
            assert upstream is not None
            with pytest.raises(RpcError, match="may not: elicitation/create is not allowed"):
                await upstream.request("tools/call", {"name": "ask"}, relay=NobodyAsks())


class NobodyAsks:
    """A client that must not be asked."""

    caller = view = ""
    peer = None

    def progress(self, params: JsonObject) -> None: ...

    def notify(self, method: str, params: JsonObject) -> None: ...

    async def ask(self, method: str, params: JsonObject) -> Json:
        raise AssertionError(method)


async def test_a_stateless_server_that_asks_without_end_is_ended() -> None:
    async def nag(params: JsonObject, relay: Relay | None) -> JsonObject:
        asked = {"q": {"method": "elicitation/create", "params": {"message": "?"}}}
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}

    async with gateway(ScriptedUpstream("a", {"nag": nag})) as client:
        params: JsonObject = {"name": "a__nag", "_meta": META}
        for _ in range(10):
            _, answer, _ = await client.modern("tools/call", params)
            state = answer["result"]["requestState"]
            params = {"name": "a__nag", "_meta": META, "requestState": state, "inputResponses": {"q": {}}}
        _, answer, _ = await client.modern("tools/call", params)
        assert "10 times" in answer["error"]["message"]


async def test_when_one_of_several_questions_is_refused_the_others_are_taken_back() -> None:
    form = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
    asked = {key: {"method": "elicitation/create", "params": form} for key in ("one", "two")}

    async def asking(params: JsonObject, relay: Relay | None) -> JsonObject:
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}

    async with gateway(ScriptedUpstream("a", {"ask": asking})) as client, asyncio.timeout(30):
        session = await client.initialize(elicitation={})
        heads = {"mcp-session-id": session}
        call = request("tools/call", {"name": "a__ask"}, 7)
        async with client.http.post(client.url + "/mcp", json=call, headers=heads) as stream:
            first, second = await next_event(stream), await next_event(stream)
            refusal = {"jsonrpc": "2.0", "id": first["id"], "error": {"code": -1, "message": "No."}}
            assert (await client.post(refusal, mcp_session_id=session))[0] == 202
            told = events(await stream.text())
        assert {one["method"]: one["params"]["requestId"] for one in told if "method" in one} == {
            "notifications/cancelled": second["id"]
        }
        assert next(one for one in told if one.get("id") == 7)["error"]["message"] == "No."
