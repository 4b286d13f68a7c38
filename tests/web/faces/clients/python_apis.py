"""LangChain's and pydantic-ai's clients of each API, unchanged. `… URL`: prints a JSON line per client."""

import asyncio
import json
import sys
from functools import reduce

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider

OWN = "Use your own tool."


@tool
def bash(command: str, description: str = "") -> str:
    """Run a command."""
    return command.removeprefix("echo ")


def langchain(url):
    settings = {"max_retries": 0, "timeout": 60}

    def openai(name, responses):
        return ChatOpenAI(model=name, base_url=f"{url}/v1", api_key="x", use_responses_api=responses, **settings)

    return {
        "langchain-openai, chat": lambda name: openai(name, responses=False),
        "langchain-openai, Responses": lambda name: openai(name, responses=True),
        "langchain-anthropic": lambda name: ChatAnthropic(model=name, base_url=url, api_key="x", **settings),
        "langchain-ollama": lambda name: ChatOllama(model=name, base_url=url),
    }


def streamed(model, messages):
    return reduce(lambda left, right: left + right, model.stream(messages))


def with_own_tool(model):
    model = model.bind_tools([bash])
    messages = [HumanMessage(OWN)]
    first = streamed(model, messages)
    results = [ToolMessage(bash.invoke(call["args"]), tool_call_id=call["id"]) for call in first.tool_calls]
    return streamed(model, [*messages, first, *results]).text


def error_of(work):
    try:
        work()
    except Exception as error:
        return str(error)
    return ""


def pydantic_ai(url):
    openai = OpenAIProvider(base_url=f"{url}/v1", api_key="x")
    anthropic = AnthropicProvider(base_url=url, api_key="x")
    ollama = OllamaProvider(base_url=f"{url}/v1")
    return {
        "pydantic-ai, chat": lambda name: OpenAIChatModel(name, provider=openai),
        "pydantic-ai, Responses": lambda name: OpenAIResponsesModel(name, provider=openai),
        "pydantic-ai, Anthropic": lambda name: AnthropicModel(name, provider=anthropic),
        "pydantic-ai, Ollama": lambda name: OllamaModel(name, provider=ollama),
    }


async def answer_of(model, asked, tools=()):
    async with Agent(model, tools=tools).run_stream(asked) as result:
        return await result.get_output()


async def failure_of(model):
    try:
        await answer_of(model, "Now please fail.")
    except Exception as error:
        return str(error)
    return ""


async def main(url):
    for client, make in langchain(url).items():
        print(
            json.dumps(
                [
                    client,
                    {
                        "text": streamed(make("m"), "Say good day.").text,
                        "own": with_own_tool(make("m")),
                        "hub": streamed(make("m+tools"), "Use the hub's tool.").text,
                        "error": error_of(lambda make=make: streamed(make("m"), "Now please fail.")),
                    },
                ]
            )
        )
    for client, make in pydantic_ai(url).items():
        told = {
            "text": await answer_of(make("m"), "Say good day."),
            "own": await answer_of(make("m"), OWN, [bash.func]),
            "hub": await answer_of(make("m+tools"), "Use the hub's tool."),
            "error": await failure_of(make("m")),
        }
        print(json.dumps([client, told]))


asyncio.run(main(sys.argv[1]))
