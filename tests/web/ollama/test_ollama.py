"""Ollama's API before a scripted model: the `ollama` package is the reference (issue 18, line 4)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import ollama
import openai
import pytest

from naru.errors import ModelError
from naru.messages import CallEnd, CallStart, ChatEvent, Extra, Finish, ImagePart, Reasoning, Text, Usage
from naru.models.router import Route, Router
from naru.models.scripted import Answer, ScriptedBackend
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.anthropic import AnthropicBackend
from naru.models.wires.ollama import OllamaBackend
from naru.models.wires.openai_http import OpenAIBackend
from naru.models.wires.responses import ResponsesBackend
from tests.models.fake_endpoint import Reply, json_reply, serve
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.strict import post, strictly
from tests.web.upstream import text_reply, upstream

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
ASK: list[Any] = [{"role": "user", "content": "날씨?"}]
HUB_CALL = '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "hi"}}\n</tool_call>'
ANSWER: Sequence[ChatEvent] = (
    Reasoning("Two cities."),
    Text("Let me "),
    Text("look."),
    *(CallStart(0, "a", "get_weather"), CallEnd(0, {"city": "Seoul"})),
    *(CallStart(1, "b", "get_weather"), CallEnd(1, {"city": "Busan"})),
    Usage(11, 7),
    Finish("tool_calls"),
)


@asynccontextmanager
async def before(answers: Sequence[Answer]) -> AsyncIterator[tuple[ollama.AsyncClient, MemoryHub, str]]:
    hub = MemoryHub(ScriptedBackend(answers, model="m"))
    async with served(application(hub)) as url:
        client = ollama.AsyncClient(host=url)
        yield client, hub, url
        await client._client.aclose()


async def lines(url: str, body: dict[str, Any]) -> list[Any]:
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
        assert response.headers["content-type"].startswith("application/x-ndjson")
        return [json.loads(line) for line in (await response.text()).splitlines()]


async def test_log_probabilities_are_asked_for_and_told_beside_the_words() -> None:
    """N19: they travel whole."""
    token = {"token": "Hi", "logprob": -0.1, "bytes": [72, 105], "top_logprobs": []}
    answer = [Text("Hi"), Extra("choice", {"logprobs": {"content": [token]}}), Usage(1, 1), Finish("stop")]
    asked: dict[str, Any] = {"model": "m", "messages": ASK, "logprobs": True, "top_logprobs": 2}
    async with before([answer] * 3) as (client, hub, url):
        whole = await client.chat(**asked)
        pieces = [piece async for piece in await client.chat(**asked, stream=True)]
        raw = await lines(f"{url}/api/generate", {"model": "m", "prompt": "x", "stream": True, "logprobs": True})
    for line in raw:
        strictly(ollama.GenerateResponse, line)
    assert whole.message.content == "".join(piece.message.content or "" for piece in pieces) == "Hi"
    for told in (whole.logprobs, [one for piece in pieces for one in piece.logprobs or ()]):
        assert [(one.token, one.logprob) for one in told or ()] == [("Hi", -0.1)]
    assert [one["token"] for line in raw for one in line.get("logprobs", ())] == ["Hi"]
    extra = hub.backend.requests[0].extra  # type: ignore[attr-defined]
    assert (extra["logprobs"], extra["top_logprobs"]) == (True, 2)


async def test_a_streamed_and_a_whole_answer_say_the_same_in_ollamas_form() -> None:
    async with before([ANSWER] * 3) as (client, _, url):
        whole = await client.chat(model="m", messages=ASK, tools=[WEATHER], think=True)
        pieces = [piece async for piece in await client.chat(model="m", messages=ASK, tools=[WEATHER], stream=True)]
        raw = await lines(f"{url}/api/chat", {"model": "m", "messages": ASK, "tools": [WEATHER]})
    for line in raw:
        strictly(ollama.ChatResponse, line)
    calls = [("get_weather", {"city": "Seoul"}), ("get_weather", {"city": "Busan"})]
    assert whole.message.thinking == "".join(piece.message.thinking or "" for piece in pieces) == "Two cities."
    assert whole.message.content == "".join(piece.message.content or "" for piece in pieces) == "Let me look."
    assert [(one.function.name, one.function.arguments) for one in whole.message.tool_calls or ()] == calls
    streamed = [one for piece in pieces for one in piece.message.tool_calls or ()]
    assert [(one.function.name, one.function.arguments) for one in streamed] == calls
    for last in (whole, pieces[-1]):
        assert (last.done, last.done_reason, last.prompt_eval_count, last.eval_count) == (True, "stop", 11, 7)
        assert (last.total_duration or 0) > 0
    assert [piece.done for piece in pieces] == [False] * (len(pieces) - 1) + [True]


async def test_a_prompt_is_answered_and_an_answer_that_was_cut_says_so() -> None:
    answer = [Text("Half"), Usage(3, 1), Finish("length")]
    async with before([answer, answer]) as (client, hub, _):
        whole = await client.generate(model="m:latest", prompt="Go on.", system="Be brief.")
        pieces = [piece async for piece in await client.generate(model="m", prompt="Go on.", stream=True)]
    assert whole.response == "".join(piece.response or "" for piece in pieces) == "Half"
    assert whole.done_reason == pieces[-1].done_reason == "length"
    first = hub.backend.requests[0]  # type: ignore[attr-defined]
    assert (first.model, [turn.text for turn in first.messages]) == ("m", ["Be brief.", "Go on."])


async def test_a_model_is_loaded_and_unloaded_by_a_request_that_asks_nothing_of_it() -> None:
    async with before([]) as (client, hub, _):
        told = [await client.chat(model="m", messages=[]), await client.generate(model="m")]
        told += [await client.generate(model="m", keep_alive=0)]
        streamed = [one async for one in await client.generate(model="m", prompt="", stream=True)]
        assert hub.backend.requests == []  # type: ignore[attr-defined]
    assert [(one.done, one.done_reason) for one in (*told, *streamed)] == [
        *((True, "load"), (True, "load"), (True, "unload"), (True, "load"))
    ]


async def test_thoughts_are_left_out_where_none_are_wanted() -> None:
    async with before([[Reasoning("Hm."), Text("Yes."), Finish("stop")]]) as (client, _, _):
        told = await client.chat(model="m", messages=ASK, think=False)
    assert (told.message.thinking, told.message.content) == (None, "Yes.")


async def test_hub_tools_run_here_and_a_written_call_is_a_call() -> None:
    async with before([HUB_CALL, "It said hi."]) as (client, hub, _):
        told = await client.chat(model="m+tools", messages=ASK)
        assert told.message.content == "It said hi."
        assert hub.toolset.called == [("hub__echo", {"text": "hi"})]


async def test_turns_pictures_options_and_formats_reach_the_model() -> None:
    turns: list[Any] = [
        {"role": "user", "content": "Look.", "images": ["iVBORw0KGgo="]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "Hm.",
            "tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Seoul"}}}],
        },
        {"role": "tool", "tool_name": "get_weather", "content": "Sunny"},
    ]
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    options = {"temperature": 0.5, "num_predict": 9, "stop": ["END"], "top_k": 3, "seed": 1, "num_ctx": 512}
    async with before(["{}", "{}"]) as (client, hub, _):
        await client.chat(model="m", messages=turns, tools=[WEATHER], options=options, format=schema, think="low")
        await client.chat(model="m", messages=ASK, format="json")
    asked, plain = hub.backend.requests  # type: ignore[attr-defined]
    assert any(isinstance(part, ImagePart) and part.mime_type == "image/png" for part in asked.messages[0].content)
    assert asked.messages[1].reasoning == "Hm."
    assert asked.messages[2].tool_call_id == asked.messages[1].tool_calls[0].id
    assert (asked.temperature, asked.max_tokens, list(asked.stop)) == (0.5, 9, ["END"])
    assert (asked.extra["top_k"], asked.extra["seed"], asked.extra["reasoning_effort"]) == (3, 1, "low")
    assert asked.extra["response_format"]["json_schema"]["schema"] == schema
    assert plain.extra["response_format"] == {"type": "json_object"}


async def test_a_picture_as_a_data_url_is_the_same_picture() -> None:
    turns: list[Any] = [{"role": "user", "content": "Look.", "images": ["data:image/gif;base64,R0lGODlh", "R0lGODlh"]}]
    async with before(["A dot."]) as (_, hub, url):
        await lines(f"{url}/api/chat", {"model": "m", "messages": turns})
    pictures = [one for one in hub.backend.requests[0].messages[0].content if isinstance(one, ImagePart)]  # type: ignore[attr-defined]
    assert [(one.mime_type, one.data) for one in pictures] == [("image/gif", "R0lGODlh")] * 2


async def test_each_call_has_an_id_and_its_own_index_by_which_clients_put_a_stream_together() -> None:
    async with before([ANSWER, ANSWER]) as (_, _, url):
        body = {"model": "m", "messages": ASK, "tools": [WEATHER]}
        streamed = [
            one for line in await lines(f"{url}/api/chat", body) for one in line["message"].get("tool_calls", ())
        ]
        _, answer = await post(f"{url}/api/chat", {**body, "stream": False})
    whole = answer["message"]["tool_calls"]
    for calls in (streamed, whole):
        assert [(one["function"]["index"], one["function"]["arguments"]["city"]) for one in calls] == [
            (0, "Seoul"),
            (1, "Busan"),
        ]
        assert len({one["id"] for one in calls} - {""}) == 2


async def test_models_are_listed_shown_and_said_to_run() -> None:
    async with before([]) as (client, _, url):
        listed = await client.list()
        shown = await client.show("m:latest")
        running = await client.ps()
        with pytest.raises(ollama.ResponseError, match="not found") as refused:
            await client.show("none")
        async with aiohttp.ClientSession() as session, session.get(f"{url}/api/version") as response:
            version = await response.json()
    assert {"m", "m+tools"} <= {one.model for one in listed.models}
    assert {"completion", "tools"} <= set(shown.capabilities or ())
    assert [one.model for one in running.models] == ["m"]
    assert refused.value.status_code == 404
    assert version["version"]


@pytest.mark.parametrize("what", ["pull", "push", "create"])
async def test_what_would_change_the_models_is_refused_with_a_reason(what: str) -> None:
    async with before([]) as (client, _, _):
        with pytest.raises(ollama.ResponseError, match="settings"):
            await (client.create(model="x", from_="y") if what == "create" else getattr(client, what)("x"))


async def test_texts_are_embedded_by_the_endpoint() -> None:
    async with upstream([]) as endpoint:
        hub = MemoryHub(endpoint.backend())
        async with served(application(hub)) as url:
            client = ollama.AsyncClient(host=url)
            with pytest.raises(ollama.ResponseError, match="no list of embeddings"):
                await client.embed(model="m", input="a")  # This endpoint answers with something else.
            await client._client.aclose()
        assert endpoint.asked[-1] == {"model": "m", "input": "a"}
        await hub.backend.close()


@pytest.mark.parametrize(
    ("wire", "path"),
    [(OllamaBackend, "/v1/embeddings"), (ResponsesBackend, "/v1/embeddings"), (AnthropicBackend, None)],
    ids=["Ollama", "Responses", "Messages"],
)
async def test_texts_are_embedded_by_endpoints_of_other_apis_that_have_a_place_for_it(wire: Any, path: str) -> None:
    found = {"data": [{"index": 0, "embedding": [0.5]}], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    async with serve(lambda _: json_reply({"object": "list", "model": "m", **found})) as endpoint:
        backend = wire(Endpoint.of(endpoint.base_url))
        async with served(application(MemoryHub(backend))) as url:
            client = ollama.AsyncClient(host=url)
            async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="made-up", max_retries=0) as other:
                if path is None:
                    with pytest.raises(openai.NotFoundError, match="has no /embeddings"):
                        await other.embeddings.create(model="m", input="a")
                else:
                    told = await client.embed(model="m", input="a")
                    assert (told.embeddings, told.load_duration, (told.total_duration or 0) > 0) == ([[0.5]], 0, True)
                    assert (await other.embeddings.create(model="m", input="a")).data[0].embedding == [0.5]
            await client._client.aclose()
        await backend.close()
    assert endpoint.paths == ([path] * 2 if path else [])


async def test_texts_are_embedded_by_the_endpoint_whose_model_is_named_whatever_is_added_to_its_name() -> None:
    found = json_reply({"object": "list", "data": [{"index": 0, "embedding": [0.5]}], "usage": {"prompt_tokens": 1}})
    async with serve(lambda _: json_reply({}, 404)) as first, serve(lambda _: found) as second:
        backends = [OllamaBackend(Endpoint.of(one.base_url)) for one in (first, second)]
        routes = [Route("a", backends[0], ("qwen:latest",)), Route("b", backends[1], ("nomic:latest",))]
        async with served(application(MemoryHub(Router(routes)))) as url:
            client = ollama.AsyncClient(host=url)
            for name in ("nomic:latest", "nomic:latest+tools"):
                assert (await client.embed(model=name, input="a")).embeddings == [[0.5]]
            await client._client.aclose()
        for backend in backends:
            await backend.close()
    assert [body["model"] for body in second.bodies if "input" in body] == ["nomic:latest"] * 2


OWN = {"num_ctx": 2048, "repeat_penalty": 1.1, "mirostat": 1, "top_k": 4}


@pytest.mark.parametrize(
    ("settings", "size", "note"),
    [(0, 2048, None), (2048, 2048, None), (16_384, 16_384, "num_ctx: not passed on")],
    ids=["unset", "the same", "another"],
)
async def test_what_only_ollama_has_goes_to_endpoints_of_its_api(settings: int, size: int, note: str | None) -> None:
    said = Reply([json.dumps({"message": {"content": "Hi"}, "done": True}).encode() + b"\n"], content_type="text/x")
    async with serve(lambda body: said if "messages" in body else json_reply({}, 404)) as endpoint:
        backend = OllamaBackend(Endpoint.of(endpoint.base_url), context_tokens=settings)
        async with served(application(MemoryHub(backend))) as url:
            asked = {"model": "m", "messages": ASK, "options": {**OWN, "num_predict": 5}, "keep_alive": "9m"}
            _, told = await post(f"{url}/api/chat", {**asked, "stream": False})
        await backend.close()
    sent = endpoint.bodies[-1]
    assert (sent["keep_alive"], sent["options"]) == ("9m", {**OWN, "num_predict": 5, "num_ctx": size})
    assert told.get("naru", {}).get("note", "").partition(",")[0] == (note or "")


async def test_endpoints_of_other_apis_are_not_told_what_only_ollama_has_and_the_caller_hears_it() -> None:
    """N19."""
    async with upstream([text_reply("Hi")]) as endpoint:
        hub = MemoryHub(endpoint.backend())
        async with served(application(hub)) as url:
            asked = {"model": "m", "messages": ASK, "options": OWN, "keep_alive": -1, "stream": False}
            _, told = await post(f"{url}/api/chat", asked)
        await hub.backend.close()
    assert endpoint.asked[-1].keys() == {"model", "messages", "stream", "stream_options", "top_k"}
    assert told["naru"]["note"].startswith("keep_alive, mirostat, num_ctx, repeat_penalty: not passed on")


async def test_what_says_nothing_embeds_nothing_as_at_ollama_and_asks_no_endpoint() -> None:
    async with upstream([]) as endpoint:
        backend = endpoint.backend()
        async with served(application(MemoryHub(backend))) as url:
            client = ollama.AsyncClient(host=url)
            wholes = [await client.embed(model="m", input=nothing) for nothing in ("", [])]
            older = await client.embeddings(model="m", prompt="")
            await client._client.aclose()
        await backend.close()
    assert [list(one.embeddings) for one in wholes] == [[], []]
    assert (list(older.embedding), endpoint.asked) == ([], [])


@pytest.mark.parametrize("data", [[], ["x"], [{"embedding": [1.0]}, {"embedding": [2.0]}]], ids=["none", "odd", "two"])
async def test_an_answer_without_one_embedding_for_each_text_is_the_endpoints_fault(data: list[Any]) -> None:
    async with upstream([]) as endpoint:
        endpoint.plain = {"object": "list", "data": data}
        hub = MemoryHub(endpoint.backend())
        async with served(application(hub)) as url:
            client = ollama.AsyncClient(host=url)
            with pytest.raises(ollama.ResponseError, match="no list of embeddings"):
                await client.embed(model="m", input="a")
            with pytest.raises(ollama.ResponseError, match="no list of embeddings"):
                await client.embeddings(model="m", prompt="a")
            await client._client.aclose()
        await hub.backend.close()


async def test_errors_are_told_in_ollamas_form_before_and_within_a_stream() -> None:
    class Breaking(ScriptedBackend):
        async def stream(self, request: Any) -> Any:
            yield Text("Half")
            raise ModelError("The line broke.")

    async with before([ModelError("No room.", status=429)]) as (client, hub, _):
        with pytest.raises(ollama.ResponseError, match="No room") as refused:
            await client.chat(model="m", messages=ASK)
        assert refused.value.status_code == 429
        for body in ({"messages": {}}, {"messages": ASK, "format": "yaml"}):
            with pytest.raises(ollama.ResponseError):
                await client._request(dict, "POST", "/api/chat", json={"model": "m", **body})
        hub.backend = Breaking([])
        said: list[str] = []

        async def listen() -> None:
            async for piece in await client.chat(model="m", messages=ASK, stream=True):
                said.append(piece.message.content or "")  # noqa: PERF401 - what came before the break shall be seen

        with pytest.raises(ollama.ResponseError, match="The line broke"):
            await listen()
        assert said == ["Half"]


async def test_a_request_that_asks_nothing_loads_and_unloads_the_model_where_it_runs() -> None:
    shown = json_reply({"model_info": {"x.context_length": 4096}})
    async with serve(lambda body: shown if body.keys() == {"model"} else json_reply({"done": True})) as endpoint:
        backend = OllamaBackend(Endpoint.of(endpoint.base_url))
        async with served(application(MemoryHub(backend))) as url:
            client = ollama.AsyncClient(host=url)
            loaded = await client.generate(model="m", keep_alive="9m")
            left = await client.chat(model="m", messages=[], keep_alive=0)
            await client._client.aclose()
        await backend.close()
    assert (loaded.done_reason, left.done_reason) == ("load", "unload")
    sent = [body for body in endpoint.bodies if "messages" in body]
    assert [body["keep_alive"] for body in sent] == ["9m", 0]
    assert [(body["messages"], body["options"]) for body in sent] == [([], {"num_ctx": 4096})] * 2


@pytest.mark.parametrize("length", [4096, 0], ids=["told", "not known"])
async def test_the_context_of_a_model_is_that_of_its_endpoint_or_is_not_told(length: int) -> None:
    """VS Code and others divide the room of a conversation by it."""
    listed = {"object": "list", "data": [{"id": "m", **({"max_model_len": length} if length else {})}]}
    async with serve(lambda _: json_reply(listed)) as endpoint:
        backend = OpenAIBackend(Endpoint.of(endpoint.base_url), model="m")
        async with served(application(MemoryHub(backend))) as url:
            _, shown = await post(f"{url}/api/show", {"model": "m"})
        await backend.close()
    lengths = [value for name, value in shown["model_info"].items() if name.endswith(".context_length")]
    assert lengths == [length] * bool(length)
