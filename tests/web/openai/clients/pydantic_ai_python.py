"""pydantic-ai's OpenAI model. `… BASE_URL MODEL…`: prints one JSON line per model and mode."""

import asyncio
import json
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def one(url, name, stream):
    calls = []
    agent = Agent(OpenAIChatModel(name, provider=OpenAIProvider(base_url=url, api_key="none")))

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """Current weather of a city."""
        calls.append(("get_weather", {"city": city}))
        return "sunny"

    if stream:
        async with agent.run_stream("Weather in Seoul?") as result:
            answer = await result.get_output()
            messages = result.all_messages()
    else:
        result = await agent.run("Weather in Seoul?")
        answer, messages = result.output, result.all_messages()
    reasons = [
        {"tool_call": "tool_calls"}.get(m.finish_reason, m.finish_reason) for m in messages if m.kind == "response"
    ]
    print(json.dumps([name, stream, calls, answer, reasons]))


async def main(url, *models):
    for name in models:
        for stream in (False, True):
            await one(url, name, stream)


asyncio.run(main(*sys.argv[1:]))
