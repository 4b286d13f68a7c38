"""Clients are recognised by what they send, and get what they can read (V11, N3)."""

from __future__ import annotations

import json
import re
from typing import Any

import aiohttp
import pytest

from naru.config import ChatSettings, Settings
from naru.messages import CallEnd, CallStart, Finish, ImagePart, Reasoning, Text
from naru.models.scripted import ScriptedBackend
from naru.web.face.profiles import PROFILES, Signs, recognise
from tests.web.conftest import EchoTools, MemoryHub, application, served

TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}},
    },
}
CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py", "lines": 3}}\n</tool_call>'
CLINE_PROMPT = """You are Cline, a highly skilled software engineer.

# Tools

## read_file
Description: Request to read the contents of a file.
Parameters:
- path: (required) The path of the file
- lines: (optional) How many lines
Usage:
<read_file>
<path>File path here</path>
<lines>3</lines>
</read_file>

## attempt_completion
Description: Present the result.
Parameters:
- result: (required) The result
Usage:
<attempt_completion>
<result>Your result</result>
</attempt_completion>
"""


@pytest.mark.parametrize(
    ("signs", "name"),
    [
        (Signs(header="Void"), "void"),
        (Signs(path="cline", user_agent="RooCode/3.1"), "cline"),
        (Signs(key="strict"), "strict"),
        (Signs(user_agent="RooCode/3.26.2"), "roo"),
        (Signs(title="Cline"), "cline"),
        (Signs(title="Open WebUI"), "open-webui"),
        (Signs(user_agent="LibreChat/0.8"), "librechat"),
        (Signs(user_agent="continue/1.3"), "continue"),
        (Signs(alias=True), "void"),
        (Signs(prompt=CLINE_PROMPT), "cline"),
        (Signs(user_agent="OpenAI/Python 3.57"), "openai"),
        (Signs(), "openai"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_client_is_recognised_by_the_surest_sign(signs: Signs, name: str) -> None:
    profile = recognise(signs)
    assert profile is not None
    assert profile.name == name


def test_a_named_profile_that_does_not_exist_is_no_profile() -> None:
    assert recognise(Signs(header="nosuch")) is None
    assert recognise(Signs(), "strict") is recognise(Signs(), " Strict") is PROFILES["strict"]


async def ask(
    hub: MemoryHub, *, path: str = "/v1", headers: dict[str, str] | None = None, **fields: Any
) -> dict[str, Any]:
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}]} | fields
    async with (
        served(application(hub)) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}{path}/chat/completions", json=body, headers=headers) as response,
    ):
        return {"status": response.status, **json.loads(await response.text())}


async def test_cline_gets_its_xml_and_its_history_becomes_tool_turns() -> None:
    backend = ScriptedBackend([CALL, "ok"])
    hub = MemoryHub(backend)
    system = {"role": "system", "content": CLINE_PROMPT}
    first = await ask(hub, messages=[system, {"role": "user", "content": "Read a.py"}])
    said = first["choices"][0]["message"]["content"]
    assert said == "<read_file>\n<path>a.py</path>\n<lines>3</lines>\n</read_file>"
    assert first["choices"][0]["finish_reason"] == "stop"
    history = [
        system,
        {"role": "user", "content": "Read a.py"},
        {"role": "assistant", "content": said},
        {"role": "user", "content": [{"type": "text", "text": "[read_file for 'a.py'] Result:\nprint(1)"}]},
    ]
    await ask(hub, messages=history)
    turns = backend.requests[1].messages
    assert [turn.role for turn in turns] == ["system", "user", "assistant", "tool"]
    assert turns[2].tool_calls[0].arguments == {"path": "a.py", "lines": "3"}
    assert turns[3].text == "print(1)"
    tools = {tool.name: tool.input_schema for tool in backend.requests[1].tools}
    assert tools["read_file"]["required"] == ["path"]
    assert tools["attempt_completion"]["properties"]["result"]["description"] == "The result"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("tools", [[], [TOOL]], ids=["no tools", "tools"])
@pytest.mark.parametrize("client", PROFILES)
async def test_every_client_can_talk_without_calls(client: str, tools: list[Any], stream: bool) -> None:
    backend = ScriptedBackend(["It is fine."])
    talk = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "How is it?"},
        {"role": "assistant", "content": "It was fine.\n\n1. yesterday\n2. today"},
        {"role": "user", "content": "And now?"},
    ]
    async with (
        served(application(MemoryHub(backend))) as url,
        aiohttp.ClientSession() as session,
        session.post(
            f"{url}/clients/{client}/v1/chat/completions",
            json={"model": "m", "messages": talk, "stream": stream, **({"tools": tools} if tools else {})},
        ) as response,
    ):
        text = await response.text()
    assert response.status == 200, text
    said = "".join(json.loads(piece) for piece in re.findall(r'"content":("[^"]*")', text))
    assert said == "It is fine."
    assert [turn.text for turn in backend.requests[0].messages] == [turn["content"] for turn in talk]


PNG = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}}


@pytest.mark.parametrize(
    ("parts", "result", "after"),
    [
        (["[read_file for 'a.py'] Result:", "print(1)"], "print(1)", None),
        (["[read_file for 'cat <<X\na\nX'] Result:\nprint(1)"], "print(1)", None),
        (["[read_file for 'a.png'] Result:\nseen", PNG], "seen", (ImagePart("image/png", data="aa"),)),
        ([PNG], "(no result: this call was not run)", (ImagePart("image/png", data="aa"),)),
        (["no, stop"], "(no result: this call was not run)", "no, stop"),
    ],
    ids=["in two parts", "a command of several lines", "beside a screenshot", "a screenshot alone", "none"],
)
async def test_a_result_is_found_however_cline_shows_it(parts: list[Any], result: str, after: Any) -> None:
    backend = ScriptedBackend(["ok"])
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    history = [
        {"role": "system", "content": CLINE_PROMPT},
        {"role": "user", "content": "Read a.py"},
        {"role": "assistant", "content": "<read_file>\n<path>a.py</path>\n</read_file>"},
        {"role": "user", "content": content},
    ]
    await ask(MemoryHub(backend), messages=history)
    turns = backend.requests[0].messages
    assert (turns[3].role, turns[3].text) == ("tool", result)
    assert [turn.content for turn in turns[4:]] == ([after] if after else [])


async def test_a_client_that_offers_tools_gets_tool_calls_whatever_its_prompt_says() -> None:
    hub = MemoryHub(ScriptedBackend([CALL]))
    messages = [{"role": "system", "content": CLINE_PROMPT}, {"role": "user", "content": "go"}]
    answer = await ask(hub, messages=messages, tools=[TOOL], headers={"x-naru-client": "cline"})
    assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "read_file"


@pytest.mark.parametrize(
    ("client", "wanted"),
    [
        ("react", 'Action: read_file\nAction Input: {"path": "a.py", "lines": 3}'),
        (
            "anthropic-xml",
            '<function_calls>\n<invoke name="read_file">\n<parameter name="path">a.py</parameter>\n'
            '<parameter name="lines">3</parameter>\n</invoke>\n</function_calls>',
        ),
    ],
)
@pytest.mark.parametrize("result", ["print(1)"])
async def test_other_dialects_are_written_and_read_back(client: str, wanted: str, result: str) -> None:
    backend = ScriptedBackend([CALL, "ok"])
    hub = MemoryHub(backend)
    answer = await ask(hub, path=f"/clients/{client}/v1", tools=[TOOL])
    assert answer["choices"][0]["message"]["content"] == wanted
    shown = {
        "react": f"Observation: {result}",
        "anthropic-xml": "<function_results>\n<result>\n<tool_name>read_file</tool_name>\n<stdout>\n"
        f"{result}\n</stdout>\n</result>\n</function_results>",
    }[client]
    history = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": wanted},
        {"role": "user", "content": shown},
    ]
    await ask(hub, path=f"/clients/{client}/v1", tools=[TOOL], messages=history)
    turns = backend.requests[1].messages
    assert [turn.role for turn in turns] == ["user", "assistant", "tool"]
    assert turns[1].tool_calls[0].arguments == {"path": "a.py", "lines": 3}
    assert turns[2].text == result


@pytest.mark.parametrize("client", PROFILES)
async def test_a_call_of_a_tool_that_nobody_offered_is_no_failure(client: str) -> None:
    events = [CallStart(0, "x", "nosuch"), CallEnd(0, {"a": "</nosuch>"}), Finish("tool_calls")]
    answer = await ask(MemoryHub(ScriptedBackend([events])), path=f"/clients/{client}/v1", tools=[TOOL])
    assert answer["status"] == 200, answer
    message = answer["choices"][0]["message"]
    said = f"{message['content']} {message.get('tool_calls')}"
    assert "was not offered" in said if client == "shell" else "nosuch" in said


@pytest.mark.parametrize("client", ["void", "anthropic-xml", "react"])
async def test_what_looks_like_a_call_beside_real_calls_is_text(client: str) -> None:
    backend = ScriptedBackend(["ok"])
    hub = MemoryHub(backend)
    shown = {
        "void": "<read_file>\n<path>a.py</path>\n</read_file>",
        "anthropic-xml": '<function_calls>\n<invoke name="read_file">\n</invoke>\n</function_calls>',
        "react": "Action: read_file\nAction Input: {}",
    }[client]
    made = {"id": "", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": shown, "tool_calls": [made]},
        {"role": "tool", "content": "r"},
    ]
    await ask(hub, path=f"/clients/{client}/v1", tools=[TOOL], messages=history)
    turns = backend.requests[0].messages
    assert [turn.role for turn in turns] == ["user", "assistant", "tool"]
    assert (turns[1].text, len(turns[1].tool_calls)) == (shown, 1)
    assert turns[2].tool_call_id == turns[1].tool_calls[0].id


async def test_a_strict_client_gets_nothing_that_openai_has_not() -> None:
    events = [Reasoning("hm"), Text("Hello"), Finish("stop")]
    answer = await ask(MemoryHub(ScriptedBackend([events])), headers={"x-naru-client": "strict"})
    assert set(answer["choices"][0]["message"]) == {"role", "content"}
    hub = MemoryHub(ScriptedBackend(["Hello"]))
    with_loop = await ask(hub, headers={"x-naru-client": "strict"}, mcp_servers="all")
    assert "naru" not in with_loop
    told = await ask(MemoryHub(ScriptedBackend([events])))
    assert told["choices"][0]["message"]["reasoning_content"] == "hm"


async def test_an_unknown_client_name_is_a_400_that_quotes_it_and_names_those_that_are() -> None:
    answer = await ask(MemoryHub(ScriptedBackend([])), headers={"x-naru-client": "nosuch"})
    assert answer["status"] == 400
    assert "There is no client profile 'nosuch'; there are openai, void, continue," in answer["error"]["message"]


async def test_an_alias_of_the_settings_stands_for_its_model() -> None:
    backend = ScriptedBackend(["Hello"])
    settings = Settings(chat=ChatSettings(aliases={"fast": "scripted"}))
    answer = await ask(MemoryHub(backend, settings=settings), model="fast")
    assert backend.requests[0].model == "scripted"
    assert answer["model"] == "fast"


async def test_a_model_that_is_really_called_4o_is_no_alias() -> None:
    backend = ScriptedBackend(["Hello"], model="gpt-4o")
    await ask(MemoryHub(backend), model="gpt-4o")
    assert backend.requests[0].model == "gpt-4o"


OWN = {"type": "function", "function": {"name": "hub__echo", "description": "Mine.", "parameters": {"type": "object"}}}


# V8
async def test_the_clients_tool_goes_to_the_client_even_when_the_hub_has_one_of_that_name() -> None:
    def answer(request: Any) -> Any:
        names = [tool.name for tool in request.tools]
        assert names.count("hub__echo") == 1
        own = next(tool.name for tool in request.tools if tool.description == "Mine.")
        if not any(message.role == "tool" for message in request.messages):
            return [CallStart(0, "", "hub__echo"), CallEnd(0, {"text": "first"}), Finish("tool_calls")]
        return [CallStart(0, "", own), CallEnd(0, {"x": 1}), Finish("tool_calls")]

    tools = EchoTools()
    hub = MemoryHub(ScriptedBackend(answer), tools)
    told = await ask(hub, tools=[OWN], mcp_servers="all")
    message = told["choices"][0]["message"]
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["hub__echo"]
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"x": 1}
    assert told["choices"][0]["finish_reason"] == "tool_calls"
    assert tools.called == [("hub__echo", {"text": "first"})]


# V8
@pytest.mark.timeout(60)
async def test_every_tool_of_a_client_has_a_name_of_its_own_whatever_names_it_takes_up() -> None:
    """One that had none left was looked for for ever, and nobody else was answered."""
    own = [OWN, *(_called(f"client__hub__echo{'_' * more}") for more in range(64 - len("client__hub__echo") + 1))]
    backend = ScriptedBackend(["Hello."])
    await ask(MemoryHub(backend), tools=own, mcp_servers="all")
    names = [tool.name for tool in backend.requests[0].tools]
    assert len(set(names)) == len(names) == len(own) + 1
    assert max(map(len, names)) <= 64


def _called(name: str) -> dict[str, Any]:
    return {**OWN, "function": {**OWN["function"], "name": name}}


# V8
async def test_what_hub_tools_gave_before_a_client_call_is_there_in_the_next_turn() -> None:
    script: list[Any] = [
        [CallStart(0, "", "hub__echo"), CallEnd(0, {"text": "secret 42"}), Finish("tool_calls")],
        [CallStart(0, "", "read_file"), CallEnd(0, {"path": "a"}), Finish("tool_calls")],
        "Both known.",
    ]
    backend = ScriptedBackend(script)
    hub = MemoryHub(backend)
    ask_ = {"role": "user", "content": "go"}
    async with served(application(hub)) as url, aiohttp.ClientSession() as session:
        body = {"model": "m", "messages": [ask_], "tools": [TOOL], "mcp_servers": "all"}
        async with session.post(f"{url}/v1/chat/completions", json=body) as response:
            message = (await response.json())["choices"][0]["message"]
        call_id = message["tool_calls"][0]["id"]
        body["messages"] = [ask_, message, {"role": "tool", "tool_call_id": call_id, "content": "text of a"}]
        async with session.post(f"{url}/v1/chat/completions", json=body) as response:
            assert (await response.json())["choices"][0]["message"]["content"] == "Both known."
    said = [(turn.role, turn.text) for turn in backend.requests[2].messages if turn.role == "tool"]
    assert said == [("tool", "echo: secret 42"), ("tool", "text of a")]
