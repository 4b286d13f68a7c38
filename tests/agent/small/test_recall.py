"""Issue 14, 6: what tools gave in earlier turns is a source when a client sends those turns back as texts alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bench.tongues.law import breaches
from tests.agent.small.conftest import Kept, calls
from tests.agent.small.test_follow_ups import applicant, find_applicant, said

from naru.agent import recall
from naru.agent.hooks import BeforeModel, Hooks
from naru.agent.loop import run
from naru.agent.recall import Recall
from naru.messages import ChatRequest, JsonObject, Message
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext

FIRST = [said("find_applicant", name="Felix Braun"), "Felix Braun has applied."]
ASKED = Message("user", "Is Felix Braun among those who applied?")
TOLD = Message("assistant", "Felix Braun has applied.")
GOES_ON = Message("user", "And what was his score?")


async def answered(
    turns: Sequence[Message],
    script: Sequence[str],
    held: Recall,
    caller: str = "ana",
    tools: Sequence[Callable[..., Any]] = (find_applicant, applicant),
    documents: Sequence[BeforeModel] = (),
) -> tuple[JsonObject, ScriptedBackend]:
    kept = Kept()
    backend = ScriptedBackend(script, profile=Profile(small=True, guided="grammar"))
    context, hooks = CallContext(caller=caller), Hooks(before_model=documents, journal=kept, recall=held)
    request = ChatRequest("scripted", tuple(turns))
    async for _ in run(backend, FunctionToolset(tools), request, context=context, hooks=hooks):
        pass
    return kept.run, backend


async def began(caller: str = "ana") -> Recall:
    held = Recall()
    record, _ = await answered([ASKED], FIRST, held, caller)
    assert record["answer"] == TOLD.text
    return held


def shows_the_id(backend: ScriptedBackend) -> bool:
    return any("APP-91" in turn.text for turn in backend.requests[0].messages)


async def test_a_follow_up_uses_an_id_that_only_an_earlier_result_held() -> None:
    held = await began()
    script = [said("applicant", applicant_id="APP-91"), "His score was 42."]
    record, backend = await answered([ASKED, TOLD, GOES_ON], script, held)
    assert shows_the_id(backend)
    assert calls(record) == [("applicant", {"applicant_id": "APP-91"})]
    assert record["answer"] == "His score was 42."
    assert breaches(record) == []


async def test_a_third_turn_knows_of_both_before_it() -> None:
    held = await began()
    script = [said("applicant", applicant_id="APP-91"), "His score was 42."]
    turns = [ASKED, TOLD, GOES_ON]
    await answered(turns, script, held)
    turns = [*turns, Message("assistant", " His score\nwas 42. "), Message("user", "At which stage is he?")]
    _, backend = await answered(turns, ["He was rejected."] * 4, held)
    told = "\n".join(turn.text for turn in backend.requests[0].messages)
    assert "APP-91" in told
    assert "rejected" in told


async def test_documents_that_were_put_before_a_question_make_no_other_conversation() -> None:
    """D5: they are found anew for each question, and the client never sees them."""

    async def retrieve(request: ChatRequest) -> ChatRequest:
        *before, question = request.messages
        return replace(request, messages=(*before, Message("user", f"Documents for: {question.text}"), question))

    held = Recall()
    await answered([ASKED], FIRST, held, documents=[retrieve])
    _, backend = await answered([ASKED, TOLD, GOES_ON], ["I do not know."] * 4, held, documents=[retrieve])
    assert shows_the_id(backend)


async def test_nobody_is_given_the_results_of_another_person() -> None:
    """The same words, from another key: what was looked up for one person may not be for the other to see."""
    held = await began()
    for other in ("", "ben", "an", "ana\x00", "ana "):
        _, backend = await answered([ASKED, TOLD, GOES_ON], ["I do not know."] * 4, held, other)
        assert not shows_the_id(backend), other


async def test_a_conversation_that_was_changed_is_another_one() -> None:
    held = await began()
    edited = Message("assistant", "Felix Braun has not applied.")
    for turns in (
        [ASKED, edited, GOES_ON],
        [GOES_ON, TOLD, GOES_ON],
        [Message("user", "Hello!"), ASKED, TOLD, GOES_ON],
    ):
        _, backend = await answered(turns, ["I do not know."] * 4, held)
        assert not shows_the_id(backend)


async def test_results_of_a_tool_that_is_no_longer_offered_are_kept_back() -> None:
    """A server that a person may no longer use, or that was removed, tells nothing through an old conversation."""
    held = await began()
    _, backend = await answered([ASKED, TOLD, GOES_ON], ["I do not know."] * 4, held, tools=[applicant])
    assert not shows_the_id(backend)


async def test_only_the_newest_turns_are_held(monkeypatch) -> None:
    monkeypatch.setattr(recall, "_MOST", 3)
    held = await began()
    for name in ("ben", "cho", "dee"):
        await answered([ASKED], FIRST, held, name)
    _, oldest = await answered([ASKED, TOLD, GOES_ON], ["I do not know."] * 4, held)
    _, newest = await answered([ASKED, TOLD, GOES_ON], ["I do not know."] * 4, held, "dee")
    assert (shows_the_id(oldest), shows_the_id(newest)) == (False, True)


async def test_results_are_forgotten_after_an_hour(monkeypatch) -> None:
    held = await began()
    monkeypatch.setattr(recall, "_SECONDS", 0.0)
    _, backend = await answered([ASKED, TOLD, GOES_ON], ["I do not know."] * 4, held)
    assert not shows_the_id(backend)
