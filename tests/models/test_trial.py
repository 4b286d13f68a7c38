"""Issue 19 line 3: a refusal costs the tool that it is about, no other, and nothing is learnt that was not proven."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.fake_endpoint import Reply, delta, json_reply, serve, sse

from naru.errors import ModelError
from naru.messages import ChatRequest, Message, Notice, Text, ToolDefinition
from naru.models.known.adapt import Learned
from naru.models.known.pointed import pointed_at
from naru.models.known.profile import Profile
from naru.models.known.trial import Trial
from naru.models.transport.failures import failure
from naru.models.wires.anthropic import AnthropicBackend
from naru.models.wires.openai_http import Endpoint, OpenAIBackend

NAMES = ["alpha", "beta", "evil", "delta_four", "echo"]
OK = Reply(sse(delta(content="ok"), delta("stop")))
MAX_REQUESTS = 60
FORM = {
    "type": "json_schema",
    "json_schema": {"name": "A", "schema": {"type": "object", "properties": {"x": {"type": "integer"}}}},
}
JSON = Reply(sse(delta(content='```json\n{"x": 1}\n```'), delta("stop")))


@pytest.mark.parametrize(
    ("message", "right"),
    [
        ("* GenerateContentRequest.tools[0].function_declarations[2].parameters.properties[x].items: missing field", 2),
        ("Invalid JSON payload at tools[0].functionDeclarations[3].parameters", 3),
        ("tools.0.function_declarations.2.parameters: Unknown name", 2),
        ("Invalid value at 'tools[0].function_declarations[4].parameters.type' (TYPE_UNSPECIFIED)", 4),
        ("Unable to submit request because `evil` functionDeclaration `parameters.x` schema specified other fields", 2),
        ("Unable to submit request because `evil` function declaration is invalid", 2),
        ("The function declaration at index 2 has an invalid schema", 2),
        ("tool at index 3: bad schema", 3),
        ("[{'type': 'missing', 'loc': ('body', 'tools', 2, 'function', 'parameters'), 'msg': 'Field required'}]", 2),
        ('{"detail":[{"loc":["body","tools",4,"function"],"msg":"bad"}]}', 4),
        ("body -> tools -> 1 -> function: extra fields", 1),
        ("/tools/3/function/parameters must be object", 3),
        ("tools.2.custom.input_schema: JSON schema is invalid", 2),
        ("tools[1].function.parameters: schema must be an object", 1),
        ("* GenerateContentRequest.tools[1].function_declarations: bad", 1),
        ("Invalid schema for function 'evil': In context=('properties', 'x'), array schema missing items", 2),
        ('Invalid schema for function "delta_four"', 3),
        ("Invalid 'tools[2].function.name': string does not match pattern", 2),
        ("Failed to compile the schema of tool delta_four: unsupported pattern", 3),
        ("tool echo is not the trouble, tools[0].function_declarations[1] is", 1),
        # What says nothing certain.
        ("tools[0].function_declarations: too many states", None),
        ("tools, 2 of them, are bad", None),
        ("tools[17].function: bad", None),
        ("Request contains an invalid argument.", None),
        ("the function alpha of a beta echo", None),
        ("property 'evil' is unknown", None),
    ],
)
def test_words_are_read_by_the_right_list_and_by_name(message: str, right: int | None) -> None:
    assert pointed_at(message, NAMES) == right


def tools_of(count: int) -> list[ToolDefinition]:
    return [ToolDefinition(f"tool_{n}", input_schema={"type": "object", "title": str(n)}) for n in range(count)]


def drive(
    learned: Learned, tools: list[ToolDefinition], refuses: Callable[[list[str]], str]
) -> tuple[list[list[str]], ModelError | None]:
    """Send one request as a backend does; returns what was sent each time, and the error where it ends in one."""
    trial = Trial(learned, ChatRequest("m", [Message("user", "hi")], tools=tools))
    sent: list[list[str]] = []
    while len(sent) < MAX_REQUESTS:
        names = [tool.name for tool in trial.asked.tools]
        sent.append(names)
        if said := refuses(names):
            if error := trial.refused(failure("refused", said, status=400), {name: name for name in names}):
                return sent, error
        elif trial.accepted():
            return sent, None
    raise AssertionError("it never ends")


def words(kind: str, names: list[str], bad: set[str]) -> str:
    """Say what an endpoint of this kind says of the first bad tool that it was given."""
    first = next((index for index, name in enumerate(names) if name in bad), None)
    if first is None:
        return ""
    return {
        "place": f"tools[0].function_declarations[{first}].parameters: bad",
        "name": f"Invalid schema for function '{names[first]}'",
        "nothing": "a tool's schema is invalid",
        "vague": "Request contains an invalid argument.",
        "always the first": "tools[0].function.parameters: bad",
        "another": f"tools[{(first + 1) % len(names)}].function: bad {len(names)}",
    }[kind]


KINDS = ("place", "name", "nothing", "vague", "always the first", "another")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(count=st.integers(2, 40), data=st.data())
def test_one_bad_tool_is_found_and_all_others_are_back(kind: str, count: int, data: st.DataObject) -> None:
    tools = tools_of(count)
    bad = {f"tool_{data.draw(st.integers(0, count - 1))}"}
    learned = Learned(Profile())
    sent, error = drive(learned, tools, lambda names: words(kind, names, bad))
    assert error is None
    assert set(sent[-1]) == {tool.name for tool in tools} - bad
    assert {key.split()[0] for key in learned.set_aside} == bad
    tries = math.ceil(math.log2(count))
    assert len(sent) <= {"place": 2, "name": 2, "nothing": 4 + tries}.get(kind, 7 + tries)
    again, _ = drive(learned, tools, lambda names: words(kind, names, bad))
    assert len(again) == 1, "what was learnt is not tried again"


def test_without_words_it_takes_log2_tries() -> None:
    sent, _ = drive(Learned(Profile()), tools_of(32), lambda names: words("nothing", names, {"tool_20"}))
    assert len(sent) == 1 + 5 + 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(count=st.integers(3, 24), data=st.data())
def test_of_several_bad_tools_none_that_is_good_is_ever_learnt(kind: str, count: int, data: st.DataObject) -> None:
    tools = tools_of(count)
    places = data.draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=3, unique=True))
    bad = {f"tool_{place}" for place in places}
    learned = Learned(Profile())
    ends_well = False
    for _ in range(4):  # requests of a conversation: each may teach more
        sent, error = drive(learned, tools, lambda names: words(kind, names, bad))
        assert {key.split()[0] for key in learned.set_aside} <= bad
        ends_well = error is None
        if ends_well:
            assert not set(sent[-1]) & bad
    if len(bad) < count:
        assert ends_well
        assert {tool.name for tool in tools} - set(sent[-1]) == bad, "all good tools are back"


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(2, 30),
    said=st.sampled_from(
        [
            "tools[0].function_declarations[0]: bad",
            "Invalid schema for function 'tool_1'",
            "schema too complex",
            "Request contains an invalid argument.",
        ]
    ),
)
def test_an_endpoint_that_refuses_whatever_is_sent_costs_no_tool(count: int, said: str) -> None:
    learned = Learned(Profile())
    sent, error = drive(learned, tools_of(count), lambda _: said)
    assert learned.set_aside == {}
    assert error is not None
    assert error.message == said
    assert len(sent) <= 8 + math.ceil(math.log2(count))


def test_the_only_tool_is_not_left_out_silently() -> None:
    learned = Learned(Profile())
    _, error = drive(learned, tools_of(1), lambda names: "tools[0].function: bad" if names else "")
    assert error is not None
    assert learned.set_aside == {}


def test_another_trouble_on_the_way_is_the_callers_and_nothing_is_learnt() -> None:
    learned = Learned(Profile())
    trial = Trial(learned, ChatRequest("m", [Message("user", "hi")], tools=tools_of(8)))
    names = {tool.name: tool.name for tool in trial.asked.tools}
    assert trial.refused(failure("refused", "a tool's schema is bad", status=400), names) is None
    limited = failure("rate_limited", "slow down", status=429)
    assert trial.refused(limited, names) is limited
    assert learned.set_aside == {}


def test_a_choice_of_a_tool_that_is_not_sent_is_left_out_with_it() -> None:
    choice = {"type": "function", "function": {"name": "tool_3"}}
    request = ChatRequest("m", [Message("user", "hi")], tools=tools_of(4), tool_choice=choice)
    trial = Trial(Learned(Profile()), request)
    assert trial.asked.tool_choice == choice
    assert (
        trial.refused(failure("refused", "schema is bad", status=400), {f"tool_{n}": f"tool_{n}" for n in range(4)})
        is None
    )
    assert [tool.name for tool in trial.asked.tools] == ["tool_0", "tool_1"]
    assert trial.asked.tool_choice is None


async def test_the_place_is_that_among_the_tools_that_were_sent() -> None:
    """A tool that has no legal form was left out before: places count without it."""
    unsendable = ToolDefinition("huge", input_schema={"type": "object", "title": "x" * 70_000})
    tools = [unsendable, *tools_of(4)]

    def answer(body: dict) -> Reply:
        names = [tool["function"]["name"] for tool in body["tools"]]
        said = words("place", names, {"tool_2"})
        return json_reply({"error": {"message": said}}, 400) if said else OK

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        asked = ChatRequest("m", [Message("user", "hi")], tools=tools)
        assert [event async for event in backend.stream(asked) if isinstance(event, Text)] == [Text("ok")]
        await backend.close()
    assert [tool["function"]["name"] for tool in fake.bodies[-1]["tools"]] == ["tool_0", "tool_1", "tool_3"]
    assert len(fake.bodies) == 2


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Failed to initialize samplers: failed to parse grammar"),
        (500, 'JSON schema conversion failed:\nUnrecognized schema: {"not":{}}'),
        (400, "Invalid grammar for tool 'tool_1'"),
    ],
)
async def test_a_refused_grammar_is_answered_with_schemas_that_every_grammar_engine_takes(status, message) -> None:
    hard = {"type": "object", "properties": {"x": {"type": "string", "pattern": "(?=a)b"}}, "required": ["x"]}
    tools = [*tools_of(2), ToolDefinition("hard", input_schema=hard)]

    def answer(body: dict) -> Reply:
        has_pattern = any("pattern" in str(tool["function"]["parameters"].get("properties")) for tool in body["tools"])
        is_hard = has_pattern and "'pattern': " in str(body["tools"][2]["function"]["parameters"])
        return json_reply({"error": {"message": message}}, status) if is_hard else OK

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        asked = ChatRequest("m", [Message("user", "hi")], tools=tools)
        for _ in range(2):
            assert [event async for event in backend.stream(asked) if isinstance(event, Text)] == [Text("ok")]
        await backend.close()
    assert len(fake.bodies) == 3, "learnt: the second request is right at once"
    assert [len(body["tools"]) for body in fake.bodies] == [3, 3, 3]


async def test_such_schemas_keep_the_shape_of_the_api_that_they_go_by() -> None:
    """llama.cpp speaks Anthropic's Messages, too."""
    hard = {"type": "object", "properties": {"x": {"type": "string", "pattern": "(?=a)b"}}}
    refused = json_reply({"error": {"message": "failed to parse grammar"}}, 400)
    ended = Reply(sse({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}))

    async with serve([refused, ended]) as fake:
        backend = AnthropicBackend(Endpoint.of(fake.base_url), Profile())
        async for _ in backend.stream(ChatRequest("m", [Message("user", "hi")], tools=[ToolDefinition("t", "", hard)])):
            pass
        await backend.close()
    first, second = (body["tools"][0] for body in fake.bodies)
    assert first["input_schema"]["properties"] == hard["properties"]
    assert (second["name"], list(second["input_schema"]["properties"])) == ("t", ["x"])
    assert "pattern" not in second["input_schema"]["properties"]["x"]


@pytest.mark.parametrize(
    "said",
    [
        "Function calling with a response mime type: 'application/json' is unsupported",
        "json mode cannot be combined with tool/function calling",
    ],
    ids=["Gemini", "Groq"],
)
async def test_a_form_that_is_not_taken_beside_tools_is_told_in_words_and_costs_no_tool(said: str) -> None:
    def answer(body: dict) -> Reply:
        is_both = "tools" in body and "response_format" in body
        return json_reply({"error": {"message": said}}, 400) if is_both else JSON

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        asked = ChatRequest("m", [Message("user", "hi")], tools=tools_of(3), extra={"response_format": FORM})
        for _ in range(2):
            events = [event async for event in backend.stream(asked)]
            assert Text('{"x": 1}') in events, "its fence is taken off all the same"
            assert any(isinstance(event, Notice) and event.text.startswith("response_format") for event in events)
        await anext(backend.stream(replace(asked, tools=())))
        await backend.close()
    assert [len(body.get("tools", ())) for body in fake.bodies] == [3, 3, 3, 0]
    assert '"x":{"type":"integer"}' in fake.bodies[2]["messages"][0]["content"]
    assert fake.bodies[3]["response_format"] == FORM, "without tools it is taken"


async def test_tools_that_are_not_offered_are_told() -> None:
    """N19: OpenAI takes 128."""
    async with serve([OK]) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        asked = ChatRequest("m", [Message("user", "hi")], tools=tools_of(135))
        told = [event.text async for event in backend.stream(asked) if isinstance(event, Notice)]
        await backend.close()
    assert len(fake.bodies[0]["tools"]) == 128
    assert told[0].startswith("tools tool_128, tool_129, tool_130, tool_131, tool_132 and 2 more: not offered")


async def test_less_thinking_is_asked_for_where_an_endpoint_does_not_know_a_word_and_the_field_stays() -> None:
    def answer(body: dict) -> Reply:
        asked = body.get("reasoning_effort")
        said = f"Unsupported value: 'reasoning_effort' does not support '{asked}' with this model."
        return json_reply({"error": {"message": said}}, 400) if asked in ("max", "xhigh") else OK

    async with serve(answer) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        for effort in ("max", "high"):
            asked = ChatRequest("m", [Message("user", "hi")], extra={"reasoning_effort": effort})
            assert [event async for event in backend.stream(asked) if isinstance(event, Text)] == [Text("ok")]
        await backend.close()
    assert [body["reasoning_effort"] for body in fake.bodies] == ["max", "xhigh", "high", "high"]


@pytest.mark.parametrize(
    "said",
    [
        "Thinking mode does not support this tool_choice",
        "tool_choice 'required' is incompatible with thinking enabled",
        "The tool_choice parameter does not support being set to required or object in thinking mode",
    ],
    ids=["DeepSeek", "Kimi", "Qwen"],
)
async def test_a_model_that_cannot_be_made_to_call_is_asked_all_the_same_and_the_caller_hears_it(said: str) -> None:
    async with serve(
        lambda body: json_reply({"error": {"message": said}}, 400) if "tool_choice" in body else OK
    ) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile())
        asked = ChatRequest("m", [Message("user", "hi")], tools=tools_of(2), tool_choice="required")
        events = [event async for event in backend.stream(asked)]
        await backend.close()
    assert Text("ok") in events
    assert [event.text.partition(":")[0] for event in events if isinstance(event, Notice)] == ["tool_choice"]
    assert [len(body["tools"]) for body in fake.bodies] == [2, 2]
