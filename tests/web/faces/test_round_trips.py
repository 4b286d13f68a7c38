"""What a conversation loses from face to wire to face, over all pairs: nothing that both APIs have a word for.

A wire writes what the face of the same API reads, so one is held against the other (issue 18, round trip by property).
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naru.messages import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    ChatEvent,
    ChatRequest,
    Finish,
    ImagePart,
    Message,
    Reasoning,
    ResourcePart,
    Text,
    TextPart,
    ToolCall,
    ToolDefinition,
    Usage,
)
from naru.models.answers.parsing import answer_reader
from naru.models.asking.offer import offer
from naru.models.asking.strategy import prepare
from naru.models.known.profile import Profile
from naru.models.transport.endpoint import Endpoint
from naru.models.transport.json_text import encode
from naru.models.wires.anthropic import AnthropicBackend
from naru.models.wires.frame import WireBackend
from naru.models.wires.gemini import GeminiBackend
from naru.models.wires.ollama import OllamaBackend
from naru.models.wires.openai_stream import AnswerStream
from naru.models.wires.openai_wire import request_body
from naru.models.wires.responses import ResponsesBackend
from naru.web.anthropic import request as messages_request
from naru.web.anthropic import wire as messages_wire
from naru.web.face.seam import Asked, StreamWriter, WholeWriter
from naru.web.ollama import request as ollama_request
from naru.web.ollama.wire import Lines
from naru.web.openai.request import read_chat
from naru.web.openai.wire import ChunkWriter, WholeAnswer
from naru.web.responses.output import Shown
from naru.web.responses.request import read_call as read_responses
from naru.web.responses.wire import Answer, EventWriter, ObjectWriter

APIS = ("chat completions", "Responses", "Messages", "Ollama")
PROFILE = Profile(reasoning="reasoning_content")
PICTURES = ("iVBORw0KGgo=", "iVBORAAA")
TOOLS = tuple(ToolDefinition(name, "It does.", {"type": "object"}) for name in ("find", "say"))
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
SEALED = {"type": "reasoning.encrypted", "data": "eHh4", "id": "rs_1"}
_MOVED = "[From the result of"
_PLACE = "[Image: image/png]"
_ENDPOINT = Endpoint("http://127.0.0.1:9/v1")
_FRAMED: Mapping[str, WireBackend] = {
    "Responses": ResponsesBackend(_ENDPOINT, PROFILE),
    "Messages": AnthropicBackend(_ENDPOINT, PROFILE),
    "Ollama": OllamaBackend(_ENDPOINT, PROFILE, context_tokens=4096),
}


def write(api: str, request: ChatRequest) -> dict[str, Any]:
    """Write a request over a wire."""
    if api == "chat completions":
        offered = offer(request, "openai")
        sent = prepare(offered.request, PROFILE)
        body = request_body(sent, PROFILE, model="m", tools=offered.declared(sent))
    else:
        wire = _FRAMED[api]
        body = wire.written(wire.tries(request, wire.schemas, "there"))
    return json.loads(encode(body))  # type: ignore[no-any-return]  # as it is read there


def read(api: str, body: dict[str, Any]) -> ChatRequest:
    """Read a request by a face."""
    asked: Asked
    match api:
        case "chat completions":
            asked = read_chat(body, {})
        case "Responses":
            asked = read_responses(body, {}, "", body["input"], [])
        case "Messages":
            asked = messages_request.read_call(body, {})
        case _:
            asked = ollama_request.read_call(body, {}, generates=False)
    return asked.request


@dataclass
class Turn:
    """A turn as every API can tell it."""

    role: str
    text: str = ""
    pictures: list[str] = field(default_factory=list)
    reasoning: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    answers: str = ""
    """The name of the tool whose result this is."""


def told(messages: Sequence[Message]) -> list[Turn]:
    """Return what a conversation says: ids, and where a result's picture stands, are each API's own matter.

    Results of one round show their pictures together: APIs without pictures in results put them after all of these.
    """
    turns: list[Turn] = []
    names = {call.id: call.name for turn in messages for call in turn.tool_calls}
    for message in messages:
        turn = Turn(message.role, reasoning=message.reasoning, answers=names.get(message.tool_call_id, ""))
        turn.calls = [(call.name, call.arguments) for call in message.tool_calls]
        shown, words = turn.pictures, list[str]()
        for part in _parts_of(message):
            if isinstance(part, ImagePart):
                shown.append(part.data)
            elif isinstance(part, ResourcePart):
                shown.append(f"{part.uri} {part.mime_type} {part.blob}")
            elif isinstance(part, TextPart) and part.text.startswith(_MOVED):
                shown = next(one for one in reversed(turns) if one.role == "tool").pictures
            elif isinstance(part, TextPart):
                shown = turn.pictures
                words.append(part.text.removesuffix(_PLACE).removesuffix("\n"))
        turn.text = "\n".join(words)
        last = turns[-1] if turns else None
        if message.role == "user" and last is not None and last.role == "user":
            last.text, last.pictures = f"{last.text}\n{turn.text}", last.pictures + turn.pictures
        elif message.role == "user" and not words and not turn.pictures:
            continue
        else:
            if message.role == "tool" and last is not None and last.role == "tool":
                turn.pictures, last.pictures = last.pictures + turn.pictures, []
            turns.append(turn)
    return turns


def _parts_of(message: Message) -> tuple[Any, ...]:
    return (TextPart(message.content),) if isinstance(message.content, str) else message.content


WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
    lambda text: text.strip() == text and not text.startswith(("[", "<", "{", "`"))
)
_ANY_LETTER = st.characters(exclude_categories=("Cs",))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=("Cs",)), max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(WORDS, JSON, max_size=3)
PICTURE = st.sampled_from(PICTURES).map(lambda data: ImagePart("image/png", data=data))
FILE = st.just(ResourcePart("a.pdf", "application/pdf", blob="JVBERi0="))


@st.composite
def conversations(draw: st.DrawFn, *, files: bool) -> list[Message]:
    turns = [Message("system", draw(WORDS))] if draw(st.booleans()) else []
    for number in range(draw(st.integers(1, 3))):
        pictures = draw(st.lists(PICTURE | FILE if files else PICTURE, max_size=2))
        words = draw(WORDS)
        turns.append(Message("user", (TextPart(words), *pictures) if pictures else words))
        calls = tuple(
            ToolCall(f"c{number}{position}", draw(st.sampled_from(TOOLS)).name, draw(ARGUMENTS))
            for position in range(draw(st.integers(0, 3)))
        )
        said = draw(WORDS) if not calls else draw(st.just("") | WORDS)
        turns.append(Message("assistant", said, reasoning=draw(st.just("") | WORDS), tool_calls=calls))
        for call in calls:
            seen = draw(st.none() | PICTURE)
            text = draw(WORDS)
            turns.append(
                Message("tool", (TextPart(text), seen) if seen else text, tool_call_id=call.id, name=call.name)
            )
        if calls and draw(st.booleans()):
            turns.append(Message("assistant", draw(WORDS), reasoning=draw(st.just("") | WORDS)))
    if turns[-1].role == "assistant":
        turns.append(Message("user", draw(WORDS)))
    return turns


@pytest.mark.slow
@pytest.mark.parametrize("second", APIS)
@pytest.mark.parametrize("first", APIS)
def test_a_conversation_read_from_any_face_goes_whole_over_any_wire(first: str, second: str) -> None:
    @settings(max_examples=25)
    @given(conversations(files="Ollama" not in (first, second)))
    def holds(turns: list[Message]) -> None:
        request = ChatRequest("m", turns, TOOLS, max_tokens=99)
        once = read(first, write(first, request))
        assert told(once.messages) == told(turns)
        assert [(tool.name, tool.description, tool.input_schema["type"]) for tool in once.tools] == [
            (tool.name, tool.description, "object") for tool in TOOLS
        ]
        again = read(second, write(second, once))
        assert told(again.messages) == told(turns)

    holds()


def heard_by_gemini(request: ChatRequest) -> list[Turn]:
    """Return what Gemini's API is told: it has no face here that could read it."""
    backend = GeminiBackend(Endpoint("http://127.0.0.1:9"))
    sent, offered = backend.tries(request, "gemini", "there").next()
    contents, config = backend.arguments(sent, offered.declared(sent))
    turns = [Message("system", config["system_instruction"])] if "system_instruction" in config else []
    for content in contents:
        made = Message("assistant" if content["role"] == "model" else "user", ())
        for part in content["parts"]:
            if (given := part.get("function_response")) is not None:
                turns.append(Message("tool", given["response"]["result"], tool_call_id=given["name"]))
            elif (call := part.get("function_call")) is not None:
                calls = (*made.tool_calls, ToolCall(call["name"], call["name"], call["args"]))
                made = replace(made, tool_calls=calls)
            else:
                made = replace(made, content=(*made.content, _as_part(part)))
        if made.content or made.tool_calls:
            turns.append(made)
    return told(turns)


def _as_part(part: Mapping[str, Any]) -> Any:
    if "text" in part:
        return TextPart(part["text"])
    data = base64.b64encode(part["inline_data"]["data"]).decode()
    kind = part["inline_data"]["mime_type"]
    return ImagePart(kind, data=data) if kind.startswith("image/") else ResourcePart("a.pdf", kind, blob=data)


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_a_conversation_read_from_any_face_goes_whole_to_gemini(api: str) -> None:
    @settings(max_examples=25)
    @given(conversations(files=api != "Ollama"))
    def holds(turns: list[Message]) -> None:
        once = read(api, write(api, ChatRequest("m", turns, TOOLS, max_tokens=99)))
        # What a model thought in words is not sent back there: Google wants its signatures alone.
        assert heard_by_gemini(once) == told([replace(turn, reasoning="") for turn in turns])

    holds()


def seals(turn: Message) -> Any:
    return {name: value for name, value in turn.carried.items() if value}


@pytest.mark.parametrize(
    ("api", "carried"),
    [
        ("chat completions", {"thinking_blocks": [SIGNED], "reasoning_details": [SEALED]}),
        ("Messages", {"thinking_blocks": [SIGNED]}),
        ("Responses", {"reasoning_details": [SEALED]}),
    ],
)
def test_sealed_thoughts_go_back_as_they_came_where_the_api_has_a_place_for_them(
    api: str, carried: dict[str, Any]
) -> None:
    call = ToolCall("c", "find", {})
    turns = [
        Message("user", "Go."),
        Message("assistant", "", reasoning="Hm.", carried=carried, tool_calls=(call,)),
        Message("tool", "Found.", tool_call_id="c"),
    ]
    once = read(api, write(api, ChatRequest("m", turns, TOOLS))).messages[1]
    assert once.reasoning == "Hm."
    assert seals(once) == carried
    for other in APIS:  # Elsewhere the words are kept; whoever sealed them could not read them from there.
        again = read(other, write(other, ChatRequest("m", [turns[0], once, turns[2]], TOOLS))).messages[1]
        assert again.reasoning == "Hm."
        assert seals(again).items() <= carried.items()


def writers(api: str) -> tuple[StreamWriter, WholeWriter]:
    match api:
        case "chat completions":
            return ChunkWriter("m", include_usage=True), WholeAnswer("m")
        case "Responses":
            return EventWriter(Answer({}, "m", Shown(), None)), ObjectWriter(Answer({}, "m", Shown(), None))
        case "Messages":
            return messages_wire.EventWriter("m"), messages_wire.MessageWriter("m")
    return Lines("m", generates=False, thinks=True), Lines("m", generates=False, thinks=True)


def heard(api: str, data: bytes, cuts: Sequence[int]) -> list[ChatEvent]:
    """Read a stream by the wire of its API, in pieces."""
    reader = answer_reader(ChatRequest("m", [], TOOLS), PROFILE)
    ends = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    pieces = [data[start:end] for start, end in itertools.pairwise(ends)]
    if api == "chat completions":
        stream = AnswerStream("here", reader)
        events = [event for piece in pieces for event in stream.feed(piece)] + stream.close()
        assert stream.failure is None
        return events
    split, events_of = _FRAMED[api].split(), _FRAMED[api].events(reader)
    payloads = [payload for piece in pieces for payload in split.feed(piece)] + split.close()
    events = [event for payload in payloads for event in events_of.feed(json.loads(payload))]
    assert events_of.ended
    return events


def said(events: Iterable[ChatEvent]) -> Turn:
    turn, names = Turn("assistant"), dict[int, str]()
    for event in events:
        match event:
            case Text(text=text):
                turn.text += text
            case Reasoning(text=text):
                turn.reasoning += text
            case CallStart(index=index, name=name):
                names[index] = name
            case CallEnd(index=index, arguments=arguments):
                turn.calls.append((names[index], arguments))
            case Finish(reason=reason):
                turn.answers = reason
    return turn


def history_of(api: str, body: Any) -> dict[str, Any]:
    """Return a request that goes on after a whole answer, as clients send it: what they got, as they got it."""
    asked: Any = {"role": "user", "content": "Go."}
    match api:
        case "chat completions":
            return {"model": "m", "messages": [asked, body["choices"][0]["message"]]}
        case "Responses":
            return {"model": "m", "input": [asked, *body["output"]]}
        case "Messages":
            return {
                "model": "m",
                "max_tokens": 9,
                "messages": [asked, {"role": "assistant", "content": body["content"]}],
            }
    return {"model": "m", "messages": [asked, body["message"]]}


@st.composite
def answers(draw: st.DrawFn) -> list[ChatEvent]:
    """Draw what a model says, thinks and calls, in any order."""
    events: list[ChatEvent] = []
    calls = 0
    for kind in draw(st.lists(st.sampled_from(["thought", "words", "call"]), min_size=1, max_size=6)):
        if kind == "thought":
            events.append(Reasoning(draw(WORDS)))
        elif kind == "words":
            events.append(Text(draw(WORDS)))
        else:
            arguments = draw(ARGUMENTS)
            events.append(CallStart(calls, f"c{calls}", draw(st.sampled_from(TOOLS)).name))
            if draw(st.booleans()):
                text = json.dumps(arguments)
                cut = draw(st.integers(0, len(text)))
                events += [ArgumentsDelta(calls, text[:cut]), ArgumentsDelta(calls, text[cut:])]
            events.append(CallEnd(calls, arguments))
            calls += 1
    return [*events, Usage(5, 3), Finish("tool_calls" if calls else "stop")]


def results_of(api: str, history: dict[str, Any]) -> None:
    """Put a result for each call behind the turn that made it."""
    if api == "Responses":
        made = [item for item in history["input"] if item.get("type") == "function_call"]
        history["input"] += [
            {"type": "function_call_output", "call_id": item["call_id"], "output": f"r{position}"}
            for position, item in enumerate(made)
        ]
    elif api == "Messages":
        blocks = [block for block in history["messages"][1]["content"] if block["type"] == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": block["id"], "content": f"r{position}"}
            for position, block in enumerate(blocks)
        ]
        history["messages"] += [{"role": "user", "content": results}] if results else []
    else:
        calls = history["messages"][1].get("tool_calls") or []
        history["messages"] += [
            {"role": "tool", "tool_call_id": call["id"], "content": f"r{position}"}
            if "id" in call
            else {"role": "tool", "tool_name": call["function"]["name"], "content": f"r{position}"}
            for position, call in enumerate(calls)
        ]


@pytest.mark.parametrize("api", APIS)
def test_an_answer_is_the_same_by_stream_as_a_whole_and_in_the_next_turns_history(api: str) -> None:
    @settings(max_examples=60)
    @given(answers(), st.lists(st.integers(0, 5_000), max_size=6))
    def holds(events: list[ChatEvent], cuts: list[int]) -> None:
        wanted = said(events)
        stream, whole = writers(api)
        data = stream.start() + b"".join(map(stream.feed, events)) + stream.end()
        assert said(heard(api, data, cuts)) == wanted
        for event in events:
            whole.feed(event)
        history = history_of(api, json.loads(whole.body()))
        results_of(api, history)
        turns = read(api, history).messages
        spoken = [turn for turn in told(turns) if turn.role == "assistant"]
        # Blocks and items of one kind are several where something stands between them.
        assert "".join(turn.text for turn in spoken).replace("\n", "") == wanted.text
        assert "".join(turn.reasoning for turn in spoken).replace("\n", "") == wanted.reasoning
        assert [call for turn in spoken for call in turn.calls] == wanted.calls
        assert [turn.text for turn in turns if turn.role == "tool"] == [f"r{n}" for n in range(len(wanted.calls))]

    holds()
