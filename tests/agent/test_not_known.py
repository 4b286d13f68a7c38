"""What one tool does not know, another may; and a text that says so is no row."""

from __future__ import annotations

from naru.agent.events import CallFinished, RunFinished
from naru.agent.loop import run
from naru.messages import ChatRequest, Message
from naru.models.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.tools.combined import CombinedToolset
from naru.tools.functions import FunctionToolset


def crew(name: str) -> str:
    """Ship and rank of a sailor in the crew."""
    return f"{name} is a mate on the Gull." if name == "Ivo Lind" else f"There is no sailor called {name}."


def ship(name: str) -> str:
    """Home port of a ship with its crew."""
    return f"{name}: home port Bari" if name == "Gull" else f"There is no ship called {name}."


async def outcome(question: str) -> tuple[list[tuple[str, dict]], str]:
    backend = ScriptedBackend(["I will look."], profile=Profile(family="tiny", small=True), repeat_last=True)
    tools = CombinedToolset({"sea": FunctionToolset([ship, crew])})
    request = ChatRequest("tiny", (Message("user", question),))
    events = [event async for event in run(backend, tools, request)]
    ran = [(one.call.name, one.call.arguments) for one in events if isinstance(one, CallFinished) and one.ran]
    assert isinstance(events[-1], RunFinished)
    return ran, events[-1].answer


async def test_a_name_that_one_tool_does_not_know_is_asked_of_another() -> None:
    ran, answer = await outcome("On which ship is Ivo Lind a sailor?")
    assert ("sea__crew", {"name": "Ivo Lind"}) in ran
    assert "Gull" in answer


async def test_a_name_that_nobody_knows_is_said_to_be_unknown_in_the_tools_own_words() -> None:
    ran, answer = await outcome("Which sailor is Zed Quill?")
    assert all(arguments == {"name": "Zed Quill"} for _, arguments in ran)
    assert "no sailor called Zed Quill" in answer or "no ship called Zed Quill" in answer
