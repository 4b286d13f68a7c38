"""Issue 17: what goes through goes through whole: reasoning, pictures, how it ended, parallel and broken calls.

The shapes are written from the providers' documentation; none was recorded from a live service here.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from naru.messages import ResourcePart, TextPart, ToolResult
from naru.models.known.families import profile_for
from naru.models.known.profile import Profile
from naru.tools.toolset import CallContext
from tests.web.conftest import MemoryHub, application
from tests.web.openai.whole import ASK, PNG, PictureTools, Told, ask, tell
from tests.web.upstream import Reply, delta, upstream

CASES = {
    case["id"]: case
    for case in map(
        json.loads, (Path(__file__).parents[2] / "cases" / "whole_2.jsonl").read_text(encoding="utf-8").splitlines()
    )
}
both = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
W = {"type": "function", "function": {"name": "w", "parameters": {"type": "object"}}}


def call(name: str, arguments: str, *, index: int = 0, call_id: str = "c1", **beside: Any) -> dict[str, Any]:
    return {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}} | (
        beside
    )


def calling(*calls: dict[str, Any], finish: str = "tool_calls", **fields: Any) -> Reply:
    return Reply([delta(**fields), delta(tool_calls=list(calls)), delta(finish), "[DONE]"])


def saying(text: str, finish: str = "stop", **fields: Any) -> Reply:
    return Reply([delta(content=text, **fields), delta(finish), "[DONE]"])


ECHO = call("hub__echo", '{"text": "hi"}')
SHOT = call("hub__screenshot", "{}")


# 1. Reasoning goes round.


@both
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_goes_back_within_a_run_in_the_field_it_came_in(name: str, stream: bool) -> None:
    """r2-08, r2-09; unknown families learn it from what the endpoint sends."""
    told = await tell([calling(ECHO, **{name: "I must echo."}), saying("done")], stream=stream, tools=True)
    asked = next(turn for turn in told.asked[1]["messages"] if turn["role"] == "assistant")
    assert asked[name] == "I must echo."
    assert told.message["reasoning_content"] == "I must echo."
    assert (told.content, told.finish) == ("done", "stop")


@both
async def test_signed_and_encrypted_reasoning_goes_back_word_for_word(stream: bool) -> None:
    details = [
        {"type": "reasoning.text", "text": "I must", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": " echo.", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "signature": "sig==", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.encrypted", "data": "AAAA", "id": "rs_1", "index": 1, "format": "openai-responses-v1"},
    ]
    chunks = [delta(reasoning=one.get("text"), reasoning_details=[one]) for one in details]
    reply = Reply([*chunks, delta(tool_calls=[ECHO]), delta("tool_calls"), "[DONE]"])
    told = await tell([reply, saying("done")], stream=stream, tools=True)
    asked = next(turn for turn in told.asked[1]["messages"] if turn["role"] == "assistant")
    assert asked["reasoning_details"] == [
        {
            "type": "reasoning.text",
            "text": "I must echo.",
            "signature": "sig==",
            "index": 0,
            "format": "anthropic-claude-v1",
        },
        details[3],
    ]
    assert asked["reasoning"] == "I must echo."


@both
async def test_a_calls_signature_reaches_the_client_and_goes_back(stream: bool) -> None:
    """Gemini's OpenAI endpoint wants the thought signature back beside the call."""
    signed = {"extra_content": {"google": {"thought_signature": "sig=="}}}
    told = await tell_with_tools([calling(call("w", "{}", **signed))], stream=stream)
    (made,) = told.message["tool_calls"]
    assert made["extra_content"] == signed["extra_content"]
    history = [*ASK, {"role": "assistant", "content": None, "tool_calls": [made]}]
    history.append({"role": "tool", "tool_call_id": made["id"], "content": "ok"})
    again = await tell_with_tools([saying("done")], stream=stream, messages=history)
    assert again.asked[0]["messages"][1]["tool_calls"][0]["extra_content"] == signed["extra_content"]
    run = await tell([calling({**ECHO, **signed}), saying("done")], stream=stream, tools=True)
    assert run.asked[1]["messages"][1]["tool_calls"][0]["extra_content"] == signed["extra_content"]


async def tell_with_tools(script: Any, **options: Any) -> Told:
    """Offer a tool of the client's own."""
    return await tell(script, own=[W], **options)


HISTORY = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": "",
        "reasoning_content": "thought",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "w", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "ok"},
]


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ("deepseek-v4", "reasoning_content"),
        ("kimi-k2-thinking", "reasoning_content"),
        ("gpt-oss-120b", "reasoning_content"),
        ("glm-5", "reasoning_content"),
        ("qwen3-32b", "reasoning_content"),
        ("gpt-4o", None),
        ("deepseek-r1", None),
    ],
)
async def test_reasoning_that_a_client_kept_goes_to_families_that_want_it(model: str, field: str | None) -> None:
    """r2-08."""
    profile = profile_for(model)
    told = await tell_with_tools([saying("done")], stream=False, messages=HISTORY, profile=profile)
    turn = told.asked[0]["messages"][1]
    assert {name for name in turn if name.startswith("reasoning")} == ({field} if field else set())
    if field:
        assert turn[field] == "thought"


@both
async def test_thoughts_and_signatures_that_a_client_dropped_go_back_all_the_same(stream: bool) -> None:
    """Clients of OpenAI's form keep role, content and tool_calls; DeepSeek and Gemini then refuse the next request."""
    signed = {"extra_content": {"google": {"thought_signature": "sig=="}}}
    async with upstream([calling(call("w", "{}", **signed), reasoning_content="hm"), saying("done")]) as model:
        app = application(MemoryHub(model.backend(profile_for("deepseek-v4"))))
        first = await ask(app, stream=stream, own=[W])
        (made,) = first.message["tool_calls"]
        kept = {name: made[name] for name in ("id", "type", "function")}
        history = [*ASK, {"role": "assistant", "content": None, "tool_calls": [kept]}]
        history.append({"role": "tool", "tool_call_id": kept["id"], "content": "ok"})
        await ask(app, stream=stream, own=[W], messages=history)
        turn = model.asked[1]["messages"][1]
    assert turn["reasoning_content"] == "hm"
    assert turn["tool_calls"][0]["extra_content"] == signed["extra_content"]


async def test_minimax_gets_its_thoughts_back_between_their_tags() -> None:
    profile = profile_for("MiniMax-M2")
    told = await tell(
        [calling(ECHO, content="<think>\nhm\n</think>\n\n"), saying("done")], stream=False, tools=True, profile=profile
    )
    assert told.asked[1]["messages"][1]["content"].startswith("<think>\nhm")
    assert told.message["reasoning_content"].strip() == "hm"


async def test_mistrals_thinking_goes_back_as_parts() -> None:
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    told = await tell([calling(ECHO, content=thinking), saying("done")], stream=True, tools=True)
    assert told.asked[1]["messages"][1]["content"] == thinking


def refusing(text: str, when: Callable[[dict[str, Any]], bool], otherwise: Reply, status: int = 400) -> Any:
    def answer(body: dict[str, Any]) -> Reply:
        if when(body):
            return Reply([{"error": {"message": text}}], status, "application/json")
        return otherwise

    return answer


async def test_an_endpoint_that_refuses_reasoning_is_not_sent_it_again() -> None:
    refused = "Extra inputs are not permitted: ('body', 'messages', 1, 'assistant', 'reasoning_content')"
    script = refusing(refused, lambda body: "reasoning_content" in body["messages"][1], saying("done"))
    told = await tell_with_tools(script, stream=False, messages=HISTORY, profile=profile_for("glm-5"))
    assert told.content == "done"
    assert len(told.asked) == 2


async def test_an_endpoint_that_misses_reasoning_gets_what_there_is_and_a_blank_for_what_a_client_dropped() -> None:
    missing = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"
    history = [HISTORY[0], {**HISTORY[1], "reasoning_content": None}, HISTORY[2]]
    script = refusing(missing, lambda body: "reasoning_content" not in body["messages"][1], saying("done"))
    told = await tell_with_tools(script, stream=False, messages=history)
    assert told.content == "done"
    assert told.asked[1]["messages"][1]["reasoning_content"] == " "


@both
async def test_a_reply_of_reasoning_alone_is_an_answer(stream: bool) -> None:
    """r2-10."""
    thinks = Reply([delta(content="", reasoning_content="The answer is 42."), delta("stop"), "[DONE]"])
    told = await tell([thinks], stream=stream, tools=True)
    assert told.content == "The answer is 42."
    assert "The answer is 42." in told.message["reasoning_content"]


# 2. Images and files.


def image_urls(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [
        (turn["role"], part["image_url"]["url"])
        for turn in messages
        if isinstance(turn.get("content"), list)
        for part in turn["content"]
        if part["type"] == "image_url"
    ]


@both
@pytest.mark.parametrize(("images", "role"), [("user", "user"), ("tool", "tool")])
async def test_a_tools_picture_reaches_the_model(images: Any, role: str, stream: bool) -> None:
    told = await tell([calling(SHOT), saying("A screen.")], stream=stream, tools=True, profile=Profile(images=images))
    assert image_urls(told.asked[1]["messages"]) == [(role, f"data:image/png;base64,{PNG}")]
    roles = [turn["role"] for turn in told.asked[1]["messages"]]
    assert roles == ["user", "assistant", "tool"] + (["user"] if role == "user" else [])
    assert told.content == "A screen."


@both
async def test_a_blind_model_gets_a_placeholder_and_the_caller_a_note(stream: bool) -> None:
    blind = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"

    def script(body: dict[str, Any]) -> Reply:
        if image_urls(body["messages"]):
            return Reply([{"error": {"message": blind}}], 500, "application/json")
        return saying("I see nothing.") if len(body["messages"]) > 1 else calling(SHOT)

    told = await tell(script, stream=stream, tools=True)
    assert told.content == "I see nothing."
    assert "[Image: image/png]" in json.dumps(told.asked[-1]["messages"])
    assert "a picture (image/png) that hub__screenshot gave was not shown to the model" in told.naru["note"]


class ResourceTools(PictureTools):
    """A screenshot as many servers give it: a picture in a resource; and a file that no model here takes."""

    async def call(self, name: str, arguments: dict[str, Any], context: CallContext) -> ToolResult:
        picture = ResourcePart("screen://1", "image/png", blob=PNG)
        return ToolResult((TextPart("the screen"), picture, ResourcePart("a.pdf", "application/pdf", blob="AAAA")))


async def test_a_picture_in_a_resource_is_a_picture_and_a_file_that_is_not_shown_is_told() -> None:
    async with upstream([calling(SHOT), saying("A screen.")]) as model:
        told = await ask(MemoryHub(model.backend(), ResourceTools()), stream=True, tools=True)
        assert image_urls(model.asked[1]["messages"]) == [("user", f"data:image/png;base64,{PNG}")]
    assert "the file 'a.pdf' (application/pdf) that hub__screenshot gave was not shown" in told.naru["note"]


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
SEEN = [*HISTORY[:2], {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "ok"}, PICTURE]}]


@both
async def test_a_picture_in_a_clients_own_tool_turn_reaches_the_model(stream: bool) -> None:
    """r2-04."""
    told = await tell_with_tools([saying("seen")], stream=stream, messages=SEEN)
    assert image_urls(told.asked[0]["messages"]) == [("user", "data:image/png;base64,AAAA")]


async def test_a_clients_picture_that_the_model_cannot_see_is_a_400_that_names_it() -> None:
    profile = Profile(images="none")
    told = await tell_with_tools([saying("seen")], stream=False, messages=SEEN, profile=profile)
    assert (told.status, told.top["error"]["param"]) == (400, "messages[2].content[1]")
    assert told.asked == []


async def test_a_clients_picture_that_the_endpoint_takes_nowhere_is_a_400_that_names_it() -> None:
    def script(body: dict[str, Any]) -> Reply:
        blind = [{"error": {"message": "This model does not support image input."}}]
        return Reply(blind, 400, "application/json") if image_urls(body["messages"]) else saying("seen")

    told = await tell_with_tools(script, stream=False, messages=SEEN)
    assert (told.status, told.top["error"]["param"]) == (400, "messages[2].content[1]")


PDF = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}}
FOREIGN = [
    {"type": "video_url", "video_url": {"url": "https://example.com/a.mp4"}},
    {"type": "audio_url", "audio_url": {"url": "https://example.com/a.mp3"}},
    {"type": "file", "file": {"file_id": "file-1"}},
    PDF,
]


@both
@pytest.mark.parametrize("tools", [True, False], ids=["with-tools", "plain"])
@pytest.mark.parametrize("part", FOREIGN, ids=["video_url", "audio_url", "file_id", "pdf"])
async def test_parts_that_naru_does_not_read_go_to_an_endpoint_of_the_same_wire(
    part: dict[str, Any], tools: bool, stream: bool
) -> None:
    """r2-12, r2-13, r2-32."""
    messages = [{"role": "user", "content": [{"type": "text", "text": "look"}, part]}]
    told = await tell([saying("seen")], stream=stream, tools=tools, messages=messages)
    assert told.asked[0]["messages"][0]["content"][1] == part
    assert told.content == "seen"


async def test_what_a_model_says_aloud_is_put_together_and_its_id_goes_back() -> None:
    pieces = [
        {"id": "audio_1", "transcript": "Good "},
        {"data": base64.b64encode(b"ab").decode()},
        {"data": base64.b64encode(b"cde").decode(), "transcript": "day."},
        {"data": base64.b64encode(b"f").decode(), "expires_at": 17},
    ]
    reply = Reply([*(delta(audio=piece) for piece in pieces), delta("stop"), "[DONE]"])
    heard = (await tell([reply], stream=False)).message["audio"]
    assert heard == {
        "id": "audio_1",
        "transcript": "Good day.",
        "data": base64.b64encode(b"abcdef").decode(),
        "expires_at": 17,
    }
    history = [*ASK, {"role": "assistant", "audio": heard}, *ASK]
    told = await tell([saying("ok")], stream=False, messages=history)
    assert told.asked[0]["messages"][1]["audio"] == {"id": "audio_1"}


# 3. How it ended.


@both
@pytest.mark.parametrize("tools", [True, False], ids=["with-tools", "plain"])
@pytest.mark.parametrize("finish", ["length", "content_filter", "stop"])
async def test_an_answer_ends_as_the_endpoint_ended_it(finish: str, tools: bool, stream: bool) -> None:
    """r2-01."""
    told = await tell([saying("A long answer that is cut", finish)], stream=stream, tools=tools, max_tokens=5)
    assert (told.content, told.finish) == ("A long answer that is cut", finish)


@both
async def test_a_call_cut_by_the_callers_limit_is_said_to_be_cut(stream: bool) -> None:
    """r2-02."""
    half = calling(call("hub__echo", '{"text":"half of th'), finish="length")
    told = await tell([half], stream=stream, tools=True, max_tokens=20)
    assert told.called == []
    assert len(told.asked) == 1
    assert "limit" in told.content
    assert (told.finish, told.naru["ended"]) == ("length", "cut_off")


@both
async def test_a_call_cut_by_the_endpoints_own_limit_gets_more_room_once(stream: bool) -> None:
    half = calling(call("hub__echo", '{"text":"half of th'), finish="length")
    told = await tell([half, calling(ECHO), saying("done")], stream=stream, tools=True)
    assert told.called == [("hub__echo", {"text": "hi"})]
    assert told.asked[1]["max_tokens"] >= 4096
    assert (told.content, told.finish) == ("done", "stop")
    twice = await tell([half], stream=stream, tools=True)
    assert (len(twice.asked), twice.finish) == (2, "length")


# 4. Everything else of the answer; the shapes of the providers are in test_providers.py.

ODD = {
    "thoughts that are no text": [delta(content="ok", reasoning_content={"a": 1}, reasoning_details="hm")],
    "usage in words": [
        delta(content="ok"),
        {"choices": [], "usage": {"prompt_tokens": "x", "total_tokens": "12", "cost": None}},
    ],
    "a field of another Naru": [delta(content="ok") | {"naru": {"ended": "answered"}}],
    "probabilities without text": [
        delta(content="ok"),
        {"choices": [{"index": 0, "delta": {}, "logprobs": {"content": []}}]},
    ],
    "entries that are none": [
        delta(content="ok", annotations=[None, 5], reasoning_details=[7, {"index": 0}, {"index": 0}])
    ],
    "a signature beside no call": [delta(content="ok", extra_content={"google": {}})],
}


@both
@pytest.mark.parametrize("tools", [True, False], ids=["with-tools", "plain"])
@pytest.mark.parametrize("chunks", ODD.values(), ids=ODD)
async def test_what_has_no_meaning_costs_no_answer(chunks: list[Any], tools: bool, stream: bool) -> None:
    told = await tell([Reply([*chunks, delta("stop"), "[DONE]"])], stream=stream, tools=tools)
    assert (told.status, told.content, told.finish) == (200, "ok", "stop")
    assert (told.naru["ended"] == "answered") if tools else True


# 5. Parallel calls, whatever the index.

PARALLEL = {
    "whole, no ids": [[call("w", '{"a":1}', call_id="")], [call("w", '{"a":2}', call_id="")]],
    "whole, same ids": [[call("w", '{"a":1}')], [call("w", '{"a":2}')]],
    "one chunk": [[call("w", '{"a":1}', call_id=""), call("w", '{"a":2}', call_id="")]],
    "one chunk, without arguments": [[call("w", "", call_id=""), call("w", '{"a":2}', call_id="")]],
    "no index at all": [
        [{"function": {"name": "w", "arguments": ""}}, {"function": {"name": "w", "arguments": '{"a":2}'}}],
    ],
    "in pieces": [
        [call("w", '{"a"', call_id="")],
        [{"index": 0, "function": {"arguments": ":1}"}}],
        [call("w", '{"a"', call_id="")],
        [{"index": 0, "function": {"arguments": ":2}"}}],
    ],
    "glued": [[call("w", '{"a":1}{"a":2}')]],
}


@both
@pytest.mark.parametrize("pieces", PARALLEL.values(), ids=PARALLEL)
async def test_parallel_calls_at_one_index_all_reach_the_client(pieces: list[Any], stream: bool) -> None:
    reply = Reply([*(delta(tool_calls=one) for one in pieces), delta("tool_calls"), "[DONE]"])
    told = await tell_with_tools([reply], stream=stream)
    first = {} if pieces[0][0]["function"]["arguments"] == "" else {"a": 1}
    assert told.calls == [("w", first), ("w", {"a": 2})]
    assert len({one["id"] for one in told.message["tool_calls"]}) == 2


@both
async def test_parallel_calls_at_one_index_all_run(stream: bool) -> None:
    calls = [call("hub__echo", json.dumps({"text": text}), call_id="") for text in "abc"]
    told = await tell([calling(*calls), saying("done")], stream=stream, tools=True)
    assert told.called == [("hub__echo", {"text": text}) for text in "abc"]


@both
async def test_a_client_that_wants_no_call_gets_none(stream: bool) -> None:
    told = await tell_with_tools([calling(call("w", '{"a":1}'))], stream=stream, tool_choice="none")
    assert "tool_calls" not in told.message
    assert (told.content, told.finish) == ('w({"a":1})', "stop")


# 6. A broken call is told to the model.

BROKEN = {"5": "a number", '"text"': "a text", "[1]": "a list", "{bad}": "no JSON", '{"text":"cu': "end in the middle"}


@both
@pytest.mark.parametrize(("raw", "fault"), BROKEN.items(), ids=BROKEN)
async def test_a_broken_call_is_told_to_the_model(raw: str, fault: str, stream: bool) -> None:
    told = await tell([calling(call("hub__echo", raw)), calling(ECHO), saying("done")], stream=stream, tools=True)
    observation = told.asked[1]["messages"][-1]
    assert observation["role"] == "tool"
    assert fault in observation["content"]
    assert told.called == [("hub__echo", {"text": "hi"})]
    assert told.content == "done"


@both
async def test_beside_a_broken_call_the_good_one_runs(stream: bool) -> None:
    calls = [call("hub__echo", "[1]", index=0, call_id="a"), call("hub__echo", '{"text":"hi"}', index=1, call_id="b")]
    told = await tell([calling(*calls), saying("done")], stream=stream, tools=True)
    assert told.called == [("hub__echo", {"text": "hi"})]
    results = [turn["content"] for turn in told.asked[1]["messages"] if turn["role"] == "tool"]
    assert any("a list" in one for one in results)
    assert any("echo: hi" in one for one in results)


def test_every_report_of_this_area_has_its_test() -> None:
    folder = Path(__file__).parents[2]
    tests = [path for name in ("web/openai", "agent", "models") for path in (folder / name).glob("test_*.py")]
    named = set(re.findall(r"r2-\d\d", "".join(path.read_text(encoding="utf-8") for path in tests)))
    assert CASES.keys() <= named
