"""The `openai` package, unchanged. `… BASE_URL MODEL…`: prints one JSON line per model and mode."""

import json
import sys

import openai

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def ask(client, model, messages, stream):
    if not stream:
        return client.chat.completions.create(model=model, messages=messages, tools=[TOOL]).choices[0]
    with client.chat.completions.stream(model=model, messages=messages, tools=[TOOL]) as events:
        return events.get_final_completion().choices[0]


def main(url, *models):
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=20)
    for model in models:
        for stream in (False, True):
            messages = [{"role": "user", "content": "Weather in Seoul?"}]
            first = ask(client, model, messages, stream)
            calls = [(call.function.name, json.loads(call.function.arguments)) for call in first.message.tool_calls]
            messages.append(first.message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in first.message.tool_calls
            ]
            answer = ask(client, model, messages, stream)
            reasons = [first.finish_reason, answer.finish_reason]
            print(json.dumps([model, stream, calls, answer.message.content, reasons]))


main(*sys.argv[1:])
