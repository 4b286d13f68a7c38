"""A small shop as a Toolset, for runs without a model or an MCP server; and the embedded encoder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.errors import UnknownToolError
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.tools.toolset import CallContext

ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
WEIGHT = {
    "type": "object",
    "properties": {"order_id": {"type": "string", "description": "Order number, ORD and digits"}},
    "required": ["order_id"],
}


class Shop:
    """Answers from a dict; notes every call that really ran."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, JsonObject]] = []
        self.answers: dict[str, Callable[[JsonObject], ToolResult]] = {
            "shop__get_order": lambda a: ToolResult.of_text(f"Order {a['order_id']}: 3 lamps for Mina Park, paid."),
            "shop__get_weight": lambda a: ToolResult.of_text(f"Order {a['order_id']} weighs 12 kg."),
            "shop__broken": lambda a: ToolResult.of_text("the printer is on fire", is_error=True),
            "shop__silent": lambda a: ToolResult(),
        }
        self.definitions = [
            ToolDefinition("shop__get_order", "What was ordered, by whom (주문 조회).", ORDER, server="shop"),
            ToolDefinition("shop__get_weight", "Shipping weight of an order (배송 무게).", WEIGHT, server="shop"),
            ToolDefinition("shop__broken", "Print a label.", server="shop"),
            ToolDefinition("shop__silent", "Say nothing.", server="shop"),
            ToolDefinition("shop__slow", "Take for ever.", server="shop"),
        ]

    async def open(self) -> None:
        """Nothing to do."""

    async def tools(self) -> Sequence[ToolDefinition]:
        return self.definitions

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        if name == "shop__slow":
            await asyncio.Event().wait()
        if name not in self.answers:
            raise UnknownToolError(f"There is no tool {name}.")
        self.ran.append((name, arguments))
        return self.answers[name](arguments)

    async def close(self) -> None:
        """Nothing to do."""


@pytest.fixture(scope="session")
def encoder() -> SentenceEncoder:
    """The embedded encoder, where it is installed."""
    if not SentenceEncoder.is_installed():
        pytest.skip("needs the extra embed: scripts/bootstrap")
    return SentenceEncoder()


@pytest.fixture
def shop() -> Shop:
    return Shop()
