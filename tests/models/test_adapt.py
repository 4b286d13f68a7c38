"""Refusals that teach: the same request once more in a way that the endpoint takes (N1, N6)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.models.fake_endpoint import FakeEndpoint, Reply, delta, json_reply, serve, sse

from naru.errors import ModelError
from naru.messages import ChatRequest, ImagePart, Message, Notice, Text, ToolCall, ToolDefinition
from naru.models.known.profile import Profile
from naru.models.wires.openai_http import Endpoint, OpenAIBackend

TOOLS = [ToolDefinition(name, f"Tool {name}.") for name in ("one", "two", "three")]
ASK = ChatRequest("m", [Message("system", "Be brief."), Message("user", "hi")], tools=TOOLS, max_tokens=5)
OK = Reply(sse(delta(content="ok"), delta("stop")))


async def ask_twice(answer: Any, profile: Profile | None = None) -> tuple[list[str], FakeEndpoint, OpenAIBackend]:
    texts: list[str] = []
    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), profile or Profile())
        try:
            texts += ["".join([e.text async for e in backend.stream(ASK) if isinstance(e, Text)]) for _ in range(2)]
        finally:
            await backend.close()
    return texts, fake, backend


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "registry.ollama.ai/library/gemma3:1b does not support tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (404, "No endpoints found that support tool use"),
        (500, "tools param requires --jinja flag"),
        (400, "Function calling is not enabled for models/gemma-3-27b-it"),
    ],
)
async def test_an_endpoint_without_tools_is_prompted_instead_and_remembered(status: int, message: str) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        return json_reply({"error": {"message": message}}, status) if "tools" in body else OK

    texts, fake, backend = await ask_twice(answer)
    assert texts == ["ok", "ok"]
    assert ["tools" in body for body in fake.bodies] == [True, False, False], "the second request does not try again"
    assert '"name": "one", "description": "Tool one."' in fake.bodies[1]["messages"][0]["content"]
    assert backend.profile.strategy == "prompted"


async def test_e01_e03_an_endpoint_that_refuses_a_system_role_gets_it_in_the_user_turn() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if body["messages"][0]["role"] == "system":
            return json_reply({"error": {"message": "Developer instruction is not enabled for this model"}}, 400)
        return OK

    texts, fake, _ = await ask_twice(answer)
    assert texts == ["ok", "ok"]
    assert fake.bodies[-1]["messages"] == [{"role": "user", "content": "Be brief.\n\nhi"}]
    assert len(fake.bodies) == 3


async def test_e06_an_endpoint_that_wants_alternation_gets_it() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        roles = [message["role"] for message in body["messages"] if message["role"] != "system"]
        if any(one == two for one, two in pairwise(roles)):
            return json_reply({"message": "Conversation roles must alternate user/assistant/user/assistant/..."}, 400)
        return OK

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        request = ChatRequest("m", [Message("user", "a"), Message("user", "b")])
        assert [e.text async for e in backend.stream(request) if isinstance(e, Text)] == ["ok"]
        await backend.close()
    assert fake.bodies[-1]["messages"] == [{"role": "user", "content": "a\n\nb"}]


@pytest.mark.parametrize(
    "message",
    [
        "Invalid schema for function 'two': In context=(), object schema missing properties",
        "tools[1].function.parameters: schema must be an object",
        "* GenerateContentRequest.tools[1].function_declarations: bad",
        "tools.1.custom.input_schema: JSON schema is invalid",
    ],
)
async def test_one_bad_tool_is_set_aside_and_costs_the_others_nothing(message: str) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        names = [tool["function"]["name"] for tool in body["tools"]]
        return json_reply({"error": {"message": message}}, 400) if "two" in names else OK

    texts, fake, backend = await ask_twice(answer)
    assert texts == ["ok", "ok"]
    sent = [[tool["function"]["name"] for tool in body["tools"]] for body in fake.bodies]
    assert sent == [["one", "two", "three"], ["one", "three"], ["one", "three"]]
    assert next(iter(backend.knowledge.of("m").set_aside.values())).endswith(message)


async def test_a_refused_parameter_is_left_out_and_max_tokens_gets_its_new_name() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        if "max_tokens" in body:
            text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
            return json_reply({"error": {"message": text}}, 400)
        if "stream_options" in body:
            return json_reply({"detail": "body: Extra inputs are not permitted, field 'stream_options'"}, 422)
        return OK

    texts, fake, _ = await ask_twice(answer)
    assert texts == ["ok", "ok"]
    assert fake.bodies[-1]["max_completion_tokens"] == 5
    assert len(fake.bodies) == 4


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("temperature", "temperature is deprecated for this model."),
        ("temperature", "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1)."),
        ("reasoning_effort", "Unsupported parameter: 'reasoning_effort' is not supported with this model."),
        ("top_p", "`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
    ],
)
async def test_what_a_model_does_not_take_is_left_out_and_told_each_time(name: str, said: str) -> None:
    """N19: an answer with 200 does not look as if everything had been kept."""
    asked = replace(ASK, temperature=0.5, extra={"reasoning_effort": "low", "top_p": 0.9})
    async with serve(lambda body: json_reply({"error": {"message": said}}, 400) if name in body else OK) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        answers = [[event async for event in backend.stream(asked)] for _ in range(2)]
        await backend.close()
    assert [name in body for body in fake.bodies] == [True, False, False]
    for answer in answers:
        assert [event.text.partition(":")[0] for event in answer if isinstance(event, Notice)] == [name]


async def test_a_model_that_may_not_be_streamed_is_asked_for_the_whole_and_that_is_remembered() -> None:
    """OpenAI streams some models to verified organisations alone."""
    refused = {"message": "Your organization must be verified to stream this model.", "param": "stream"}
    whole = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}

    def answer(body: dict[str, Any]) -> Reply:
        return json_reply({"error": refused}, 400) if body.get("stream") else json_reply(whole)

    texts, fake, _ = await ask_twice(answer)
    assert texts == ["ok", "ok"]
    assert ["stream_options" in body for body in fake.bodies] == [True, False, False]


@pytest.mark.parametrize(
    "said",
    [
        {"error": {"message": "Unrecognized request argument supplied: user"}},
        {"error": {"message": "property 'user' is unsupported"}},
        {"error": {"message": 'Invalid JSON payload received. Unknown name "user": Cannot find field.'}},
        {"message": {"detail": [{"loc": ["body", "user"], "msg": "Extra inputs are not permitted", "input": "u"}]}},
    ],
    ids=["openai", "groq", "google", "mistral"],
)
async def test_who_asks_is_left_out_where_an_endpoint_does_not_want_to_know(said: dict[str, Any]) -> None:
    async with serve(lambda body: json_reply(said, 400) if "user" in body else OK) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        answer = [event async for event in backend.stream(replace(ASK, extra={"user": "u"}))]
        await backend.close()
    assert Text("ok") in answer
    assert len(fake.bodies) == 2


async def test_a_refusal_that_teaches_nothing_is_the_callers() -> None:
    async with serve(lambda _: json_reply({"error": {"message": "no"}}, 400)) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        with pytest.raises(ModelError, match="no"):
            await anext(backend.stream(ASK))
        await backend.close()
    assert len(fake.bodies) == 1


async def test_an_endpoint_that_refuses_everything_is_asked_a_bounded_number_of_times() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        return json_reply({"error": {"message": "tools[0]: bad, system role not supported, roles must alternate"}}, 400)

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        with pytest.raises(ModelError):
            await anext(backend.stream(ASK))
        await backend.close()
    assert len(fake.bodies) <= 5


@pytest.mark.parametrize(
    ("message", "left_out"),
    [
        ("Unrecognized request argument supplied: 'strict'", "strict"),
        ("tools.0.function.strict: Extra inputs are not permitted", "strict"),
        ("messages[0].content[0].image_url.detail is not supported", "detail"),
    ],
)
async def test_a_refused_word_inside_a_tool_or_an_image_is_left_out_and_the_rest_stays(
    message: str, left_out: str
) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        strict = any("strict" in tool["function"] for tool in body["tools"])
        detail = "detail" in body["messages"][0]["content"][0]["image_url"]
        refused = strict if left_out == "strict" else detail
        return json_reply({"error": {"message": message}}, 400) if refused else OK

    image = ImagePart("", url="https://x/a.png", detail="low")
    tools = [ToolDefinition("one", strict=True), ToolDefinition("two")]
    asked = ChatRequest("m", [Message("user", (image,))], tools=tools)
    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        assert [event async for event in backend.stream(asked) if isinstance(event, Text)] == [Text("ok")]
        await backend.close()
    last = fake.bodies[-1]
    assert [tool["function"]["name"] for tool in last["tools"]] == ["one", "two"]
    assert ("strict" in last["tools"][0]["function"]) == (left_out != "strict")
    assert ("detail" in last["messages"][0]["content"][0]["image_url"]) == (left_out != "detail")
    assert len(fake.bodies) == 2


@pytest.mark.parametrize(
    "said",
    [
        "Requests which include `tool_use` or `tool_result` blocks must define tools.",
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        "Anthropic expects the `tools=` param to be passed in.",
    ],
    ids=["Anthropic", "Bedrock", "LiteLLM"],
)
async def test_calls_are_told_in_words_where_they_are_refused_without_tools(said: str) -> None:
    """As in the last turn of a run, which offers none."""
    call = ToolCall("c1", "f", {"a": 1})
    asked = ChatRequest("m", [Message("user", "hi"), Message("assistant", tool_calls=(call,)), Message("tool", "42")])

    def answer(body: dict[str, Any]) -> Reply:
        has_calls = any(turn["role"] == "tool" or "tool_calls" in turn for turn in body["messages"])
        return json_reply({"error": {"message": said}}, 400) if has_calls and "tools" not in body else OK

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        for tools in ((), (), (ToolDefinition("f"),)):
            events = [event async for event in backend.stream(replace(asked, tools=tools))]
            assert Text("ok") in events
        await backend.close()
    assert [[turn["role"] for turn in body["messages"]][-1] for body in fake.bodies] == ["tool", "user", "user", "tool"]
    assert "42" in fake.bodies[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "said",
    [
        "Tool call id was {} but must be a-z, A-Z, 0-9, with a length of 9.",
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    ids=["Mistral", "OpenAI", "Anthropic"],
)
async def test_ids_of_calls_that_an_endpoint_refuses_are_made_such_that_it_takes_them(said: str) -> None:
    """Clients send back those of whoever answered; they still belong together, and are the same each time."""
    calls = tuple(ToolCall(one, "f", {}) for one in ("call_0123456789abcdef01234567", "functions.f:0", "abcDEF123"))
    results = [Message("tool", "42", tool_call_id=call.id) for call in calls]
    asked = replace(ASK, messages=[Message("user", "hi"), Message("assistant", tool_calls=calls), *results])

    def answer(body: dict[str, Any]) -> Reply:
        ids = [call["id"] for call in body["messages"][1]["tool_calls"]]
        wrong = [one for one in ids if len(one) != 9 or not one.isalnum()]
        return json_reply({"error": {"message": said.replace("{}", wrong[0])}}, 400) if wrong else OK

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        for _ in range(2):
            assert Text("ok") in [event async for event in backend.stream(asked)]
        await backend.close()
    first, second = ([turn for turn in body["messages"] if turn["role"] != "user"] for body in fake.bodies[1:])
    assert first == second, "learnt"
    ids = [call["id"] for call in first[0]["tool_calls"]]
    assert ids == [turn["tool_call_id"] for turn in first[1:]]
    assert (len(set(ids)), ids[2]) == (3, "abcDEF123")


async def test_what_is_held_to_here_is_not_asked_of_an_endpoint_that_refuses_it() -> None:
    said = "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."
    asked = replace(ASK, extra={"parallel_tool_calls": False})
    refused = json_reply({"error": {"message": said}}, 400)
    async with serve(lambda body: refused if "parallel_tool_calls" in body else OK) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        events = [event async for event in backend.stream(asked)]
        await backend.close()
    assert len(fake.bodies) == 2
    assert not any(isinstance(event, Notice) for event in events)


@pytest.mark.parametrize(
    "said",
    [
        "messages.1.content: Input should be a valid string",
        "Invalid value for 'content': expected a string, got null.",
        "messages[1].content is required",
    ],
)
async def test_calls_without_words_are_sent_beside_an_empty_text_where_null_is_refused(said: str) -> None:
    asked = replace(
        ASK,
        messages=[
            Message("user", "hi"),
            Message("assistant", tool_calls=(ToolCall("c1", "one", {}),)),
            Message("tool", "42", tool_call_id="c1"),
        ],
    )

    def answer(body: dict[str, Any]) -> Reply:
        is_null = any(turn["content"] is None for turn in body["messages"])
        return json_reply({"error": {"message": said}}, 400) if is_null else OK

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        for _ in range(2):
            assert Text("ok") in [event async for event in backend.stream(asked)]
        await backend.close()
    assert [body["messages"][1]["content"] for body in fake.bodies] == [None, "", ""]


@pytest.mark.parametrize(
    "said",
    [
        "This model does not support assistant message prefill. The conversation must end with a user message.",
        "Assistant response prefill is incompatible with enable_thinking.",
    ],
    ids=["Anthropic", "llama.cpp"],
)
async def test_a_model_that_goes_on_with_no_words_of_its_own_is_asked_to_in_a_turn(said: str) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        return OK if body["messages"][-1]["role"] == "user" else json_reply({"error": {"message": said}}, 400)

    begun = replace(ASK, messages=[Message("user", "Count."), Message("assistant", "1, 2,")], tools=[])
    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        for request in (begun, begun, replace(ASK, tools=[])):
            assert [e.text async for e in backend.stream(request) if isinstance(e, Text)] == ["ok"]
        await backend.close()
    ends = [body["messages"][-1] for body in fake.bodies]
    assert [end["role"] for end in ends] == ["assistant", "user", "user", "user"], "and it is remembered"
    assert fake.bodies[1]["messages"][:-1] == fake.bodies[0]["messages"], "what it said stays its own"
    assert ends[-1]["content"] == "hi"


async def test_an_endpoint_that_takes_no_pictures_is_known_by_that() -> None:
    refusal = json_reply({"error": {"message": "Image input is not supported by this model."}}, 400)
    async with serve(lambda _: refusal) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        assert backend.profile.sees is None
        with pytest.raises(ModelError):
            [e async for e in backend.stream(ASK)]
        await backend.close()
    assert backend.profile.sees is False
