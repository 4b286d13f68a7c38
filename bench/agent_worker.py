"""pydantic-ai as a peer: reads its set-up and then questions as JSON lines, answers each with a JSON line.

Runs in an environment of its own, which `question_runs.py` makes; nothing of Naru is imported here.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits


async def main() -> None:
    setup = json.loads(sys.stdin.readline())
    toolsets = []
    for name, config in setup["servers"].items():
        transport = StdioTransport(config["command"], config["args"], env=config.get("env"), cwd=config.get("cwd"))
        toolsets.append(MCPToolset(transport, id=name).prefixed(name))
    model = OpenAIChatModel(
        setup["model"], provider=OpenAIProvider(base_url=setup["base_url"], api_key=setup["api_key"])
    )
    agent = Agent(model, toolsets=toolsets, model_settings={"temperature": 0.0, "max_tokens": 500})
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(agent)
        for line in iter(sys.stdin.readline, ""):
            print(json.dumps(await ask(agent, json.loads(line), setup["rounds"])), flush=True)


async def ask(agent: Agent, question: str, rounds: int) -> dict:
    try:
        result = await agent.run(question, usage_limits=UsageLimits(request_limit=rounds))
    except Exception as error:
        return {"answer": f"failed: {type(error).__name__}: {error}", "ran": [], "rounds": 0}
    ran = [
        part.tool_name for message in result.all_messages() for part in message.parts if isinstance(part, ToolCallPart)
    ]
    return {"answer": str(result.output), "ran": ran, "rounds": result.usage.requests}


if __name__ == "__main__":
    asyncio.run(main())
