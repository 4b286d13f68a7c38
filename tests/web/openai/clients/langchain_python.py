"""LangChain's OpenAI client. `… BASE_URL MODEL…`: prints one JSON line per model and mode."""

import json
import sys
from functools import reduce

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return "sunny"


def ask(model, messages, stream):
    return reduce(lambda left, right: left + right, model.stream(messages)) if stream else model.invoke(messages)


def main(url, *models):
    for name in models:
        model = ChatOpenAI(model=name, base_url=url, api_key="none", max_retries=0, timeout=60).bind_tools(
            [get_weather]
        )
        for stream in (False, True):
            messages = [HumanMessage("Weather in Seoul?")]
            first = ask(model, messages, stream)
            calls = [(call["name"], call["args"]) for call in first.tool_calls]
            results = [
                ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"]) for call in first.tool_calls
            ]
            messages += [first, *results]
            answer = ask(model, messages, stream)
            reasons = [turn.response_metadata["finish_reason"] for turn in (first, answer)]
            print(json.dumps([name, stream, calls, answer.content, reasons]))


main(*sys.argv[1:])
