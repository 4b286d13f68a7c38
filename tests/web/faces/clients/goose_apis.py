"""Goose's own providers, as its makers' package brings them, over both APIs.

`… JSON URL`: a file of a custom provider, where Naru is; prints a JSON line per client."""

import asyncio
import json
import os
import sys

from goose import (
    GooseError,
    MessageContent,
    MessageRole,
    ProviderMessage,
    ProviderModelConfig,
    ProviderTool,
    anthropic_provider,
    declarative_provider_from_json,
)

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
BASH = ProviderTool(name="bash", description="Run a command.", input_schema_json=json.dumps(SCHEMA))


def user(*content):
    return ProviderMessage(role=MessageRole.USER, content=list(content))


async def ask(provider, name, messages, tools):
    """Return the streamed text and calls."""
    stream = await provider.stream(ProviderModelConfig(model_name=name), "", messages, tools)
    text, calls = "", []
    while (chunk := await stream.next_chunk()) is not None:
        if chunk.is_TEXT_CHUNK():
            text += chunk.text
        elif chunk.is_TOOL_CHUNK():
            calls.append(chunk)
        elif chunk.is_ERROR_CHUNK():
            raise RuntimeError(str(chunk))
    return text, calls


async def told(provider):
    said = {"text": (await ask(provider, "m", [user(MessageContent.TEXT("Say good day."))], [BASH]))[0]}
    asked = user(MessageContent.TEXT("Use your own tool."))
    _, calls = await ask(provider, "m", [asked], [BASH])
    made, results = [], []
    for call in calls:
        made.append(MessageContent.TOOL_REQUEST(call.id, call.name, call.arguments_json))
        output = json.loads(call.arguments_json)["command"].removeprefix("echo ")
        content = json.dumps([{"type": "text", "text": output}])
        results.append(MessageContent.TOOL_RESULT(call.id, True, content))
    answered = ProviderMessage(role=MessageRole.ASSISTANT, content=made)
    said["own"] = (await ask(provider, "m", [asked, answered, user(*results)], [BASH]))[0]
    said["hub"] = (await ask(provider, "m+tools", [user(MessageContent.TEXT("Use the hub's tool."))], []))[0]
    try:
        await ask(provider, "m", [user(MessageContent.TEXT("please fail"))], [])
    except (GooseError, RuntimeError) as error:
        said["error"] = str(error)
    return said


async def main():
    url = sys.argv[2]
    os.environ["NARU_API_KEY"] = "made-up"
    clients = {
        "goose, openai": declarative_provider_from_json(sys.argv[1].replace("{url}", url)),
        "goose, anthropic": anthropic_provider("made-up", url, []),
    }
    for name, provider in clients.items():
        print(json.dumps([name, await told(provider)]), flush=True)


asyncio.run(main())
os._exit(0)  # the package's own threads sometimes abort while the interpreter ends
