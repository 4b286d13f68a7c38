"""The round trip of clients that give OpenAI's own objects; run by the scripts beside it."""

import json
import sys

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def run(ask):
    """Call `ask(url, model, messages, stream)`, which gives a choice, with and without results; print a line each."""
    url, *models = sys.argv[1:]
    for model in models:
        for stream in (False, True):
            messages = [{"role": "user", "content": "Weather in Seoul?"}]
            first = ask(url, model, messages, stream)
            calls = [(call.function.name, json.loads(call.function.arguments)) for call in first.message.tool_calls]
            messages.append(first.message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in first.message.tool_calls
            ]
            answer = ask(url, model, messages, stream)
            reasons = [first.finish_reason, answer.finish_reason]
            print(json.dumps([model, stream, calls, answer.message.content, reasons]))
