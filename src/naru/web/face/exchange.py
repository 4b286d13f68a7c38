"""One exchange with one client: its history read from its dialect, and the answer's events put into it (V11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from naru.dialects import ParsedCall, Tool
from naru.dialects.writers import AnthropicXml, ElementXml, ReAct, Writer, WriterStream
from naru.dialects.writers.prompt_tools import PromptTool, react_tools, without_void_section, xml_tools
from naru.facts import fact
from naru.messages import (
    ArgumentsDelta,
    BrokenCall,
    CallEnd,
    CallStart,
    ChatEvent,
    ChatRequest,
    ContentPart,
    Extra,
    Message,
    Reasoning,
    Refusal,
    Text,
    TextPart,
    ToolCall,
    ToolDefinition,
)
from naru.web.face.profiles import ClientProfile, DialectOut
from naru.web.face.reading.history import NOT_RUN
from naru.web.face.tickets import Minting

WRITERS: Mapping[DialectOut, Writer] = {
    "element-xml": ElementXml(),
    "anthropic-xml": AnthropicXml(),
    "react": ReAct(),
}
OPENAI_OWN = frozenset({"system_fingerprint", "service_tier", "logprobs", "annotations", "audio"})
"""Of what an endpoint sends beside its text: what OpenAI has too."""
EMPTY_ANSWER = "(The model gave an empty answer.)"
HANDED_OVER = (
    "(This call was handed to the user's terminal. What it printed, if anything, is in the user's next words.)"
)


@fact()
class Exchange:
    """What the model is asked, and how the client is answered."""

    profile: ClientProfile
    request: ChatRequest
    writer: Writer | None = None
    """None is OpenAI's own form."""
    minting: Minting | None = None
    """Of the tickets in its answer, if it may have some."""

    @property
    def takes_one(self) -> bool:
        """The client takes one call a turn."""
        return self.writer.single if self.writer is not None else self.profile.single_call

    @property
    def is_plain(self) -> bool:
        """The answer's events need no change for this client."""
        profile = self.profile
        takes_all = profile.answers_nothing and profile.reasoning and profile.extra_fields
        return self.writer is None and not profile.single_call and takes_all


def prepare(request: ChatRequest, profile: ClientProfile, shell: Writer) -> Exchange:
    """Find the client's dialect for this request, and turn its history into proper tool turns."""
    dialect = profile.dialect
    if not request.tools and profile.prompt_dialect is not None:
        request, described = _offer_described(request, profile.prompt_dialect)
        dialect = profile.prompt_dialect if described else "openai"
    if dialect == "openai":
        return Exchange(profile, request)
    writer = shell if dialect == "shell" else WRITERS[dialect]
    tools = plain_tools(request.tools)
    return Exchange(profile, replace(request, messages=read_back(request.messages, writer, tools)), writer)


def plain_tools(tools: Sequence[ToolDefinition]) -> tuple[Tool, ...]:
    """Return what writers need of the tools."""
    return tuple(Tool(tool.name, tool.input_schema) for tool in tools)


def system_text(messages: Sequence[Message]) -> str:
    """Return the system prompt; some clients put theirs into the first user turn."""
    texts = [message.text for message in messages if message.role == "system"]
    if not texts and messages and messages[0].role == "user":
        texts = [messages[0].text]
    return "\n".join(texts)


def _offer_described(request: ChatRequest, dialect: DialectOut) -> tuple[ChatRequest, bool]:
    """Offer the tools that the prompt describes; Void's section about them is then taken out of it."""
    prompt = system_text(request.messages)
    described: tuple[PromptTool, ...] = react_tools(prompt) if dialect == "react" else xml_tools(prompt)
    if not described:
        return request, False
    tools = tuple(ToolDefinition(tool.name, tool.description, tool.parameters) for tool in described)
    messages = [
        replace(message, content=without_void_section(message.content))
        if message.role in ("system", "user") and isinstance(message.content, str)
        else message
        for message in request.messages
    ]
    return replace(request, tools=tools, messages=messages), True


def read_back(messages: Sequence[Message], writer: Writer, tools: Sequence[Tool]) -> tuple[Message, ...]:
    """Turn calls and results that stand in the text of a history into tool turns."""
    turns: list[Message] = []
    waiting: list[ToolCall] = []
    missing = HANDED_OVER if writer.name == "shell" else NOT_RUN
    for position, message in enumerate(messages):
        if message.role == "user" and waiting:
            turns += _results(message, waiting, writer, tools)
            continue
        turns += [_result_turn(call, missing) for call in waiting]
        waiting.clear()
        # Beside calls in OpenAI's form, what looks like one in the text is text.
        if message.role == "assistant" and isinstance(message.content, str) and not message.tool_calls:
            message = _assistant(message, position, writer, tools)
            waiting += message.tool_calls
        turns.append(message)
    turns += [_result_turn(call, missing) for call in waiting]
    return tuple(turns)


def _assistant(message: Message, position: int, writer: Writer, tools: Sequence[Tool]) -> Message:
    segments = writer.read(message.text, tools)
    calls = tuple(
        ToolCall(f"{position:04d}c{index:04d}", one.name, one.arguments)
        for index, one in enumerate(segment for segment in segments if isinstance(segment, ParsedCall))
    )
    if not calls:
        return message
    text = "\n\n".join(segment for segment in segments if isinstance(segment, str))
    return replace(message, content=text, tool_calls=calls)


def _results(message: Message, waiting: list[ToolCall], writer: Writer, tools: Sequence[Tool]) -> list[Message]:
    """Read the results of the waiting calls from a user's turn; what else it says follows as the user's."""
    turns: list[Message] = []
    rest: list[str] = []
    words = message.content if isinstance(message.content, str) else _words(message.content)
    segments = writer.read_results(words, tools)
    for segment in segments:
        call = None
        if not isinstance(segment, str):
            call = next((call for call in waiting if not segment.name or call.name == segment.name), None)
        if call is not None and not isinstance(segment, str):
            waiting.remove(call)
            turns.append(_result_turn(call, segment.text))
        else:
            rest.append(segment if isinstance(segment, str) else segment.text)
    missing = HANDED_OVER if writer.name == "shell" else NOT_RUN
    turns += [_result_turn(call, missing) for call in waiting]
    waiting.clear()
    others = (
        () if isinstance(message.content, str) else tuple(p for p in message.content if not isinstance(p, TextPart))
    )
    if others:  # A screenshot beside its result.
        turns.append(replace(message, content=(*map(TextPart, rest), *others)))
    elif rest:
        turns.append(replace(message, content="\n\n".join(rest)))
    return turns


def _words(content: Sequence[ContentPart]) -> str:
    return "\n".join(part.text for part in content if isinstance(part, TextPart))


def _result_turn(call: ToolCall, text: str) -> Message:
    return Message("tool", text, tool_call_id=call.id, name=call.name)


@dataclass(slots=True)
class Outgoing:
    """The answer's events as this client takes them: feed all of them, then close."""

    exchange: Exchange
    first: ToolCall | None = None
    """The call that the client got."""
    left_over: list[ToolCall] = field(default_factory=list)
    """Complete calls that it will get in its next turns."""
    _stream: WriterStream | None = field(init=False)
    _names: dict[int, str] = field(default_factory=dict)
    _said: bool = False

    def __post_init__(self) -> None:
        writer = self.exchange.writer
        self._stream = WriterStream(writer, plain_tools(self.exchange.request.tools)) if writer else None

    def feed(self, event: ChatEvent) -> list[ChatEvent]:
        """Take one event and return what the client is told."""
        match event:
            case Reasoning():
                return [event] if self.exchange.profile.reasoning else []
            case CallStart(index=index, name=name):
                self._names[index] = name
            case CallEnd(index=index, arguments=arguments):
                self._note(ToolCall("", self._names[index], arguments))
            case Text() | ArgumentsDelta():
                pass
            case Refusal() | BrokenCall():
                return self._words_of(event)
            case Extra():
                return self._beside(event)
            case _:
                return [event]
        if self._stream is not None:
            return self._told(list(self._stream.feed(event)))
        if self.exchange.profile.single_call and not isinstance(event, Text) and event.index > 0:
            return []
        return self._told([event])

    def _words_of(self, event: Refusal | BrokenCall) -> list[ChatEvent]:
        """Give a client that reads calls out of text the words themselves."""
        self._said = True
        if self._stream is None:
            return [event]
        text = event.text if isinstance(event, Refusal) else event.as_text
        return list(self._stream.feed(Text(text))) if text else []

    def _beside(self, event: Extra) -> list[ChatEvent]:
        """Keep what this client has a place for."""
        if event.place == "call" and (self._stream is not None or (self.exchange.profile.single_call and event.index)):
            return []
        if self.exchange.profile.extra_fields and self.exchange.profile.reasoning:
            return [event]
        known = {name: value for name, value in event.fields.items() if name in OPENAI_OWN}
        return [replace(event, fields=known)] if known else []

    def close(self) -> list[ChatEvent]:
        """Return what was held back; words for a client that takes no empty answer."""
        events: list[ChatEvent] = self._told(list(self._stream.close())) if self._stream else []
        if not self._said and not self.exchange.profile.answers_nothing:
            events.append(Text(EMPTY_ANSWER))
        return events

    def _note(self, call: ToolCall) -> None:
        """Remember the calls of a client that takes one a turn."""
        if self.first is None:
            self.first = call
        elif self.exchange.takes_one:
            self.left_over.append(call)

    def _told(self, events: list[ChatEvent]) -> list[ChatEvent]:
        self._said = self._said or any(not isinstance(event, Text) or event.text.strip() for event in events)
        return events
