"""litellm as a client. `… BASE_URL MODEL…`: prints one JSON line per model and mode."""

import litellm
from round_trip import TOOL, run


def ask(url, model, messages, stream):
    answer = litellm.completion(
        model=f"openai/{model}",
        api_base=url,
        api_key="none",
        messages=messages,
        tools=[TOOL],
        stream=stream,
        timeout=60,
    )
    return (litellm.stream_chunk_builder(list(answer)) if stream else answer).choices[0]


run(ask)
