"""The `openai` package, unchanged. `… BASE_URL MODEL…`: prints one JSON line per model and mode."""

from functools import lru_cache

import openai
from round_trip import TOOL, run


@lru_cache
def client(url):
    return openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=60)


def ask(url, model, messages, stream):
    completions = client(url).chat.completions
    if not stream:
        return completions.create(model=model, messages=messages, tools=[TOOL]).choices[0]
    with completions.stream(model=model, messages=messages, tools=[TOOL]) as events:
        return events.get_final_completion().choices[0]


run(ask)
