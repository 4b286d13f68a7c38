"""Where a line may begin a call that no marker announces."""

from __future__ import annotations

import re

from naru.dialects.bodies.odd_tags import (
    announces_call,
    half_tag,
    may_become_half_tag,
    may_become_tag,
    read_half_tag,
    read_in_tags,
)
from naru.dialects.bodies.tags.attributes import read_attributes
from naru.dialects.bodies.unmarked import (
    ARGUMENT_MARKS,
    read_bare,
    read_called,
    read_children,
    read_fence,
    read_inline_code,
    read_line,
    read_name_then_json,
    read_name_then_pairs,
    read_prefixed,
    read_text_of_calls,
    tool_named,
)
from naru.dialects.calls.keys import says_call
from naru.dialects.calls.writer import CallWriter
from naru.dialects.catalog.marked import MARKED
from naru.dialects.reading.attempt import read_marked
from naru.dialects.reading.line_readers import (
    ASSIGNED,
    AWAITED,
    CALLED,
    CALLED_SO_FAR,
    DECLARED,
    JAVASCRIPT,
    LABEL_INITIALS,
    after,
    invented,
    label_at,
    may_be_variable,
    may_become_label,
    may_call_tools,
    read_assigned,
    read_labelled,
    stripped_body,
)
from naru.dialects.reading.transcript import Transcript
from naru.dialects.scanner import Body, markers
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Reading, Source

_WORD = lazy_pattern(r"[A-Za-z_][\w.\-\\]*")
_WORDS = ("functools[", "print(", "default_api.", "Observation:", "functions.")
_ADDRESSES = ("assistantcommentary to=", "commentary to=", "assistant to=", "to=functions.")
_CHANNELS = (*_ADDRESSES, "assistantfinal", "analysis")
"""What headers of gpt-oss's messages look like without their special tokens; the last are words but for its hint."""
_LONGEST_WORD, _LONGEST_HEAD = 32, 200
_UNFINISHED_WORDS = frozenset(word[:size] for word in _WORDS for size in range(1, len(word)))
_INDENT = lazy_pattern(r"[ \t]*")
_FIRST_INDENT = lazy_pattern(r"[\ufeff\u200b\u2060\xa0]{0,2}[ \t]*")
_NAME_IN_MARKS = lazy_pattern(r"(\*\*|`)[A-Za-z_][\w.\-]{0,100}\1:?\s{0,40}(?:`{3}|\{)")
_NAME_IN_MARKS_SO_FAR = lazy_pattern(r"(?:\*|`|(?:\*\*|`)[A-Za-z_][\w.\-]{0,100}(?:\*|(?:\*\*|`):?\s{0,40}`{0,2})?)\Z")
_TAG = lazy_pattern(r"<([^<>\s]{0,128})(>?)")
_NAME_THEN_JSON = lazy_pattern(
    r"(?:>>>|\*\*|`)?[ \t]*([A-Za-z_][\w.\-]*(?::\d{0,6})?)(?:(?:\*\*|`):?)?\s{0,40}"
    rf"(?P<mark>{'|'.join(map(re.escape, ARGUMENT_MARKS))})?\s{{0,40}}(?P<next>\{{|`{{1,3}}|\S?)"
)
_CONTENT_TYPES = ("json", "code", "commentary json")
_CONTENT_TYPE = lazy_pattern(rf"\s*(?:{'|'.join(_CONTENT_TYPES)})?\s*")
_CHANNEL = lazy_pattern(r"(?:assistant)?(?: ?commentary)? ?to=(?:functions\.)?([\w.\-]*)\s*")
_PAIR = "<arg_key>"
_SYMBOLS = ("-> tool/function_call\n", ">>>")
_SQUARE_MARKERS = tuple(marker for marker in markers().table if marker[0] == "[")
_FIRSTS = frozenset("{[`~<>-=* \t\rO_\\" + LABEL_INITIALS)
_HEADER = " to="
_COLON = lazy_pattern(r"[:：!.][*`\"' \t]*\Z|\n[ \t]*[-*•][ \t]+\Z")
_ITEM = lazy_pattern(r"\n[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+\Z")
_BEFORE_CODE = lazy_pattern(r"[:：]\s*\Z|\n[ \t]*\n[ \t]*\Z")
_JSON_GOES_ON = lazy_pattern(r"[\s\"'{}\[\],\d\-]")
_HARMONY = next(row for row in MARKED if row.reader == "header")


class Candidate:
    """Something at the start of a line that may be a call."""

    __slots__ = ("kind", "reader")

    def __init__(self, reader: Reading[Body | None], kind: str) -> None:
        self.reader = reader
        self.kind = kind


WAIT = Candidate(iter(()), "wait")  # type: ignore[arg-type] # never run
"""More text is needed to tell."""


class LineStarts:
    """Decides at the start of a line, and after a colon, whether a candidate begins there."""

    def __init__(self, writer: CallWriter, said: Transcript) -> None:
        self._writer = writer
        self._said = said
        self.at_beginning = True
        """Whether nothing of the reply was looked at yet."""
        self.header_may_follow = False
        """Whether the reply may begin in the middle of a message header (gpt-oss)."""
        self.channels_may_follow = False
        """Whether the model is gpt-oss, whose special tokens may have been left out."""
        self.name_may_follow = False
        """Whether the prompt ended in `>>>`, after which Functionary writes a tool's name."""
        self.in_json = False
        """Whether the lines belong to JSON that turned out to be no call."""
        self.acted = False
        """Whether a ReAct action was read: an observation after it is invented."""

    def may_begin(self, text: str, at: int) -> bool:
        """Tell cheaply whether the line that begins at `at` needs a closer look."""
        if at >= len(text) or not self._said.has_content:
            return True
        return (
            text[at] in _FIRSTS
            or self.in_json
            or may_be_variable(text[at])
            or self._writer.offered.begins_a_name(text[at])
        )

    def may_follow(self, before: str, first: str) -> bool:
        """Tell whether a bracket right after a colon, or a tag or a bracket as an item of a list, may begin a call."""
        tail = (self._said.recent()[-8:] + self._said.space + before)[-8:]
        return bool((_ITEM if first == "<" else _COLON).search(tail))

    def candidate(self, source: Source) -> Candidate | None:
        """Return the candidate at the source's position, None when there is none, `WAIT` when that is not clear yet."""
        text = source.text
        at = source.pos
        if self.at_beginning and self.header_may_follow and text.startswith(_HEADER[0], at):
            header = self._header(source)
            if header is not None:
                return header if header is not WAIT or not source.final else None
        indent = (_INDENT if source.offset else _FIRST_INDENT).match(text, at)
        at = indent.end() if indent else at
        if at - source.pos > 3 and self._said.has_content:
            self.at_beginning = False
            return None
        if at >= len(text) and not source.final:
            return self._indented(source, at)
        if at >= len(text):
            return None
        self.at_beginning = False
        found = self._by_character(source, at)
        return None if found is WAIT and source.final else found

    def _indented(self, source: Source, at: int) -> Candidate | None:
        """Pass over the blanks at the reply's beginning, of which there may be many."""
        blanks = source.text[source.pos : at]
        if len(blanks) > _LONGEST_WORD and blanks.isspace():
            source.pos = at
            self._said.say(blanks, source.offset)
        return WAIT

    def _header(self, source: Source) -> Candidate | None:
        rest = source.text[source.pos : source.pos + len(_HEADER)]
        if rest == _HEADER:
            self.at_beginning = False
            return Candidate(read_marked(source, self._writer, _HARMONY, ""), "marked")
        return WAIT if _HEADER.startswith(rest) else None

    def _by_character(self, source: Source, at: int) -> Candidate | None:
        first = source.text[at]
        if self.in_json and not _JSON_GOES_ON.match(first):
            self.in_json = False
        if first in "`*" and (found := self._in_marks(source, at)) is not None:
            return found
        for characters, candidate in (
            ("`~", self._fence),
            ("{[", self._bracket),
            ("<", self._tag),
            ("->", self._symbol),
            ("=", self._half_tag),
            ('"', self._string),
        ):
            if first in characters:
                return candidate(source, at)
        return self._word(source, at) if first.isalpha() or first in "_*" else None

    def _bracket(self, source: Source, at: int) -> Candidate | None:
        """Return the candidate that is JSON, a list of Python calls, or a tag in square brackets."""
        text = source.text
        if self.in_json:
            return None
        if text[at] == "[":
            marker = _square_marker(text[at : at + _LONGEST_WORD])
            if marker:
                return None if text.startswith(marker, at) else WAIT
            if (found := self._odd_tag(source, at)) is not None:
                return found
        dialect = "json" if text[at] == "{" else "list"
        return self._make(source, at, read_bare(source, self._writer), "line", dialect)

    def _in_marks(self, source: Source, at: int) -> Candidate | None:
        """Return the candidate that begins the reply with a tool's name in backticks or bold before its arguments."""
        text = source.text
        if self._said.has_content:
            return None
        if _NAME_IN_MARKS.match(text, at):
            return self._named_json(source, at)
        return WAIT if not source.final and _NAME_IN_MARKS_SO_FAR.match(text, at) else None

    def _fence(self, source: Source, at: int) -> Candidate | None:
        """Return the code fence at `at`, or the inline code that may be the whole reply."""
        text, first = source.text, source.text[at]
        run = text[at : at + 3]
        if run == first * 3:
            begins = not self._said.has_content
            return self._make(source, at, read_fence(source, self._writer, begins=begins), "fence", "fenced")
        if at + len(run) == len(text) and run == first * len(run) and not source.final:
            return WAIT
        if run[:2] in ("`", "``") or first == "~" or self._said.has_content:
            return None
        return self._make(source, at, read_inline_code(source, self._writer), "line", "inline-code")

    def _string(self, source: Source, at: int) -> Candidate | None:
        """Return the candidate that is a JSON string which may hold calls and be the whole reply."""
        following = source.text[at + 1 : at + 2]
        if self._said.has_content or (following and following not in "{["):
            return None
        return self._make(source, at, read_text_of_calls(source, self._writer), "line", "json") if following else WAIT

    def _make(self, source: Source, at: int, reader: Reading[None], kind: str, dialect: str) -> Candidate:
        def read() -> Reading[Body | None]:
            self._writer.dialect = dialect
            yield from reader
            return None

        source_at = source.pos
        if at > source_at:
            self._said.say(source.text[source_at:at], source.base + at)
            source.pos = at
        return Candidate(read(), kind)

    def _tag(self, source: Source, at: int) -> Candidate | None:
        text, offered = source.text, self._writer.offered
        tag = _TAG.match(text, at)
        if tag is None:
            return None
        name = tag[1]
        if name in offered.names and (tag[2] or text[tag.end() : tag.end() + 1].isspace()):
            content = read_children(source, self._writer, name) if tag[2] else read_attributes(source, self._writer)
            return self._make(source, at, content, "tag", "cline-xml")
        unfinished = not tag[2] and tag.end() == len(text) and any(name.startswith(tag[1]) for name in offered.names)
        return WAIT if unfinished else self._odd_tag(source, at)

    def _odd_tag(self, source: Source, at: int) -> Candidate | None:
        """Return the candidate that begins with a tag that says that calls follow, but is no dialect's marker."""
        if not source.final and may_become_tag(source.text, at):
            return WAIT
        if markers().tokens.at(source.text, at) or not announces_call(source.text, at):
            return None
        return self._make(source, at, read_in_tags(source, self._writer), "line", "json")

    def _symbol(self, source: Source, at: int) -> Candidate | None:
        text, writer = source.text, self._writer
        for symbol in _SYMBOLS:
            if text.startswith(symbol, at):
                if symbol == ">>>":
                    return self._named_json(source, at, prefix=3)
                reader = read_prefixed(source, writer, symbol)
                return self._make(source, at, reader, "line", "hyperclovax")
            if symbol.startswith(text[at : at + _LONGEST_WORD]):
                return WAIT
        return None

    def _word(self, source: Source, at: int) -> Candidate | None:
        text, writer = source.text, self._writer
        if text[at : at + _LONGEST_WORD] in _UNFINISHED_WORDS or (not source.final and self._is_unfinished(text, at)):
            return WAIT
        if self.acted and text.startswith("Observation:", at):
            return Candidate(invented(source, at), "invented")
        if text.startswith("functools[", at):
            return self._make(source, at, read_prefixed(source, writer, "functools"), "line", "phi4-mini")
        called = CALLED.match(text, at)
        if called and writer.offered.find(called[1] or called[2]) and self._code_may_begin():
            return self._make(source, at, read_called(source, writer), "line", "gemma4")
        if label := label_at(text, at):
            return self._make(source, at, read_labelled(source, writer, label), "action", "react")
        channels = _CHANNELS if self.channels_may_follow else _ADDRESSES if writer.offered.names else ()
        if text.startswith(channels, at):
            return self._stripped_channel(source, at)
        if any(channel.startswith(text[at : at + _LONGEST_WORD]) for channel in channels):
            return WAIT
        found = _WORD.match(text, at)
        return self._named(source, at, found[0], found.end()) if found else None

    def _half_tag(self, source: Source, at: int) -> Candidate | None:
        """Return the candidate that is a call whose tag lost its beginning."""
        if not source.final and may_become_half_tag(source.text, at):
            return WAIT
        tag = half_tag(source.text, at, self._writer.offered)
        return self._make(source, at, read_half_tag(source, self._writer, tag), "line", "xml-tag") if tag else None

    def _is_unfinished(self, text: str, at: int) -> bool:
        """Tell whether a label, or the words before one of Gemma's calls, may still come."""
        return may_become_label(text, at) or (CALLED_SO_FAR.match(text, at) is not None and self._code_may_begin())

    def _stripped_channel(self, source: Source, at: int) -> Candidate | None:
        """Return the candidate that is a message of gpt-oss whose special tokens were left out."""
        if source.text.startswith(("analysis", "assistantfinal"), at):
            return None if self._said.has_content else Candidate(stripped_body(source, at), "marked")
        begun = source.text[at : at + _LONGEST_HEAD]
        head = _CHANNEL.match(begun)
        rest = begun[head.end() : head.end() + 20] if head else ""
        bare = _CONTENT_TYPE.sub("", rest, count=1)
        if not bare or any(kind.startswith(rest.strip()) for kind in _CONTENT_TYPES):
            return WAIT if len(begun) < _LONGEST_HEAD else None
        if head is None or bare[0] != "{" or not self._writer.offered.find(head[1]):
            return None
        reader = after(source, begun[: head.start(1)], read_name_then_json(source, self._writer))
        return self._make(source, at, reader, "line", "harmony")

    def _named(self, source: Source, at: int, word: str, end: int) -> Candidate | None:
        """Return the candidate that begins with a tool's name."""
        text, writer, said = source.text, self._writer, self._said
        if end == len(text):
            base, _, last = word.rpartition(".")
            called = "call".startswith(last) and writer.offered.find(base)
            code = (may_be_variable(word) or may_call_tools(word)) and self._code_may_begin()
            return WAIT if called or code or writer.offered.could_begin(word) else None
        if text[end] == "(":
            calls = word == "print" or (says_call(word) and may_call_tools(word))
            if (calls or writer.offered.find(word.removesuffix(".call"))) and self._code_may_begin():
                return self._make(source, at, read_line(source, writer), "line", "pythonic")
            return None
        if text[end] == " " and not said.has_content and writer.offered.find(word):
            return self._named_json(source, at)
        if text[end] in " =" and word == "function" and (found := self._half_tag(source, at)) is not None:
            return found
        if text[end] in " \t=" and may_be_variable(word):
            return self._assigned(source, at, end)
        if text[end] in "\r\n{:<[":
            anywhere = not said.has_content or said.after_call or self.name_may_follow
            if anywhere or (text[end] in "\r\n<[:" and writer.offered.find(word)):
                return self._named_json(source, at, marked_only=not anywhere)
        return None

    def _code_may_begin(self) -> bool:
        """Tell whether a line may be a Python call: at a paragraph's beginning, after a colon, or after other calls."""
        said = self._said
        if not self._writer.offered.names:
            return False
        return not said.has_content or said.after_call or bool(_BEFORE_CODE.search(said.recent() + said.space))

    def _assigned(self, source: Source, at: int, end: int) -> Candidate | None:
        """Return the candidate that is a line such as `x = f(…)`."""
        text, writer = source.text, self._writer
        word = text[at:end]
        found = (AWAITED if word == "await" else DECLARED if word in JAVASCRIPT else ASSIGNED).match(text, end)
        if found is None or not self._code_may_begin():
            return None
        if not found[1]:
            return WAIT if found.end() == len(text) else None
        if writer.offered.find(found[1]) is None:
            return None
        reader = read_assigned(source, writer, text[at : found.start(1)])
        return self._make(source, at, reader, "line", "pythonic")

    def _named_json(self, source: Source, at: int, prefix: int = 0, *, marked_only: bool = False) -> Candidate | None:
        """Return the candidate that is a name with its arguments after it, special tokens between them left out."""
        text = source.text
        head = _NAME_THEN_JSON.match(text, at)
        if head is None or (head["next"] in ("", "*", "`", "``") and head.end() >= len(text)):
            unfinished = head is not None or not text[at + prefix : at + 200].strip()
            return WAIT if unfinished else self._odd_tag(source, at)
        if head["next"] in ("<", "["):
            rest = text[head.start("next") : head.start("next") + _LONGEST_WORD]
            if not rest.startswith(_PAIR):
                return WAIT if any(token.startswith(rest) for token in (_PAIR, *ARGUMENT_MARKS)) else None
            if self._writer.offered.find(head[1]) is not None:
                return self._make(source, at, read_name_then_pairs(source, self._writer), "line", "glm")
            return None
        if (
            (marked_only and not head["mark"])
            or head["next"] not in ("{", "```")
            or tool_named(head[1], self._writer.offered) is None
        ):
            return None
        reader = after(source, text[at : head.start(1)], read_name_then_json(source, self._writer))
        return self._make(source, at, reader, "line", "name-json")


def _square_marker(rest: str) -> str:
    """Return the marker in square brackets that `rest` begins with, or is the beginning of."""
    for marker in _SQUARE_MARKERS:
        if rest.startswith(marker) or marker.startswith(rest):
            return marker
    return ""
