"""An agent in a program of your own: a model, two Python functions as tools, and every step as it happens.

    python examples/agent.py --base-url http://127.0.0.1:11434/v1 --model qwen2.5:3b "What do 3 pens and 2 books cost?"

Without --base-url the local engine answers (the demo extra).
"""

from __future__ import annotations

import argparse
import asyncio

from naru.agent.events import AnswerText, CallFinished, CallStarted, RunFinished
from naru.agent.loop import run
from naru.config import load_settings
from naru.messages import ChatRequest, Message
from naru.models.open import open_backend
from naru.tools import FunctionToolset, register_tool

PRICES = {"pen": 1200, "book": 9800}


@register_tool
def price(product: str) -> int:
    """Return the price of a product in won.

    Args:
        product: pen or book.
    """
    return PRICES[product]


@register_tool
def total(prices: list[int], amounts: list[int]) -> int:
    """Add up prices times amounts."""
    return sum(one * amount for one, amount in zip(prices, amounts, strict=True))


async def ask(question: str, base_url: str, model: str) -> str:
    """Ask one question, print each step, return the answer."""
    backend = await open_backend(load_settings(model={"base_url": base_url, "model": model}))
    tools = FunctionToolset([price, total])
    await tools.open()
    answer = ""
    try:
        model = model or (await backend.models())[0]  # a model's name says how it wants to be asked
        async for event in run(backend, tools, ChatRequest(model, [Message("user", question)])):
            match event:
                case CallStarted(call=call):
                    print(f"→ {call.name} {call.arguments}")
                case CallFinished(result=result):
                    print(f"← {result.text}")
                case AnswerText(text=text):
                    print(text, end="", flush=True)
                case RunFinished(reason=reason, answer=answer):
                    print(f"\n({reason})")
    finally:
        await tools.close()
        await backend.close()
    return answer


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", nargs="?", default="What is the price of a pen?")
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", default="")
    given = parser.parse_args()
    asyncio.run(ask(given.question, given.base_url, given.model))
