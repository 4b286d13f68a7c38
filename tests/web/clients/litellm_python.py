"""litellm as a client. `… BASE_URL MODEL…`: prints one JSON line per model and mode."""

import json
import sys

import litellm

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def ask(url, model, messages, stream):
    answer = litellm.completion(
        model=f"openai/{model}",
        api_base=url,
        api_key="none",
        messages=messages,
        tools=[TOOL],
        stream=stream,
        timeout=20,
    )
    return (litellm.stream_chunk_builder(list(answer)) if stream else answer).choices[0]


def main(url, *models):
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


main(*sys.argv[1:])
