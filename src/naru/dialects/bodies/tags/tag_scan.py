"""Finds where a value between tags ends: at the closing tag with which its call goes on or is over.

A value may document calls. Own opening tags inside it are counted, so that nested pairs do not end it; a closing tag
of another form never does; and an end of the whole call that text follows is taken back when the call's own closing
tags come once more. Where the value's closing tag was forgotten or misspelt, the next argument of the tool that has
no value yet, or the end of the call, tells where it should have been.
"""

from __future__ import annotations

from collections.abc import Callable

from naru.dialects.bodies.tags.endings import (
    LONGEST_TAG,
    MOST_CLOSERS,
    End,
    Ending,
    bare_key_at,
    is_slip,
    key_at,
    plain_name,
)
from naru.dialects.bodies.tags.fragments import LONGEST_FRAGMENT, ends_in_a_bracket, ends_in_a_tag, is_spoken_of
from naru.dialects.bodies.tags.mending import opening_tags, tag_meant
from naru.dialects.calls.writer import CallWriter
from naru.dialects.scanner import call_closers, stray_closers
from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.source import Incomplete, NotACall, Reading, Source, literal_at, space_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from naru.dialects.bodies.tags.endings import Role
    from naru.dialects.texts.tokens import Tokens

_HOLD = 4000
"""Characters: as long a text waits for its meaning at most."""
_CLOSING = lazy_pattern(r"</ ?([\w:.\-｜|]{1,80})(?:(?:[= ][^<>\n]{0,80})?\n?>|(?=\s{0,80}<))")
_CLOSING_SO_FAR = lazy_pattern(r"</ ?[\w:.\-｜|]{0,80}(?:(?:[= ][^<>\n]{0,80})?\n?|\s{0,80})\Z")


class _Scan:
    """What is known of one value's end so far; offsets count from the source's position."""

    __slots__ = (
        "_ending", "_source", "_take", "_writer", "at", "awaited", "calls", "closed", "crossed", "depth", "doubled",
        "full", "implied", "loose", "nameless", "opened", "passed", "tail", "torn", "weak", "wrong",
    )  # fmt: skip

    def __init__(self, source: Source, writer: CallWriter, ending: Ending, add: Callable[[str], object]) -> None:
        self._source = source
        self._writer = writer
        self._ending = ending
        self._take = add
        self.closed = True
        """Whether the value had a closing tag, or what was meant for one."""
        self.tail = ""
        """The end of what was handed over."""
        self.at = 0
        """Up to where the text was looked at."""
        self.depth = 0
        self.passed = False
        """Whether a closing tag of the value was taken for text."""
        self.crossed = False
        """Whether an opening tag came later, right after a tag: as between two arguments where one was lost."""
        self.torn: int | None = None
        """Where in the input the first such tag stands after which another argument may have begun."""
        self.nameless = False
        """Whether an opening tag without an argument's name was counted, which may be meant as a word."""
        self.calls = 0
        """How many calls are open that stand in the value."""
        self.doubled = False
        """Whether the value begins with such an opening tag, which may be its own once more."""
        self.opened = False
        """Whether such an opening tag stands in the value."""
        self.full: End | None = None
        """An end of the whole call that text follows."""
        self.weak: End | None = None
        """An end of the call, without the value's closing tag, that text follows."""
        self.implied: End | None = None
        """Where another argument begins though this value was not closed."""
        self.awaited: int | None = None
        """Where in it an argument that is awaited is opened, at whatever depth."""
        self.wrong: End | None = None
        """A misspelt closing tag."""
        self.loose: End | None = None
        """The last closing tag of such values that was taken for text."""

    def run(self) -> Reading[None]:
        source, tokens = self._source, self._ending.tokens
        while True:
            if self._is_plain():
                yield from self._pass_plain_text()
            start = source.pos + self.at
            place, token = tokens.find(source.text, start)
            if not token:
                place = len(source.text) if source.final else tokens.unfinished(source.text, start)
            self.at = place - source.pos
            if not token and source.final:
                self._end_with_the_text()
                return
            if self._is_held_too_long():
                return
            self._pass_on()
            rest = source.text[place : place + tokens.longest]
            if not token or (not source.final and len(rest) < tokens.longest and tokens.may_become(rest)):
                yield
            elif (yield from self._step(token, self._ending.roles[token])):
                return

    def _pass_plain_text(self) -> Reading[None]:
        """Hand over text as it arrives, as long as no tag can begin in it."""
        source, first = self._source, self._ending.tokens.first.search
        while first(source.text, source.pos) is None and not source.final:
            self._add(source.text[source.pos :])
            source.pos = len(source.text)
            yield

    def _add(self, piece: str) -> None:
        self.tail = (self.tail + piece)[-LONGEST_FRAGMENT:]
        self._take(piece)

    def _is_plain(self) -> bool:
        """Tell whether nothing is held back, so that text without a tag's first character is the value's."""
        return not self.at and self.full is self.weak is self.implied is self.wrong is self.loose is None

    def _first_held(self) -> End | None:
        ends = [end for end in (self.full, self.weak, self.implied, self.wrong) if end is not None]
        return min(ends, key=lambda end: end.at) if ends else None

    def _pass_on(self) -> None:
        """Hand over the text that was looked at, unless the value may have ended before."""
        if not self.at or self._first_held() is not None:
            return
        source, size, loose = self._source, self.at, self.loose
        if loose is not None:
            if source.text[source.pos + loose.at + loose.size : source.pos + self.at].strip():
                self.loose = None
            else:
                size = loose.at
                loose.at = 0
        self._add(source.text[source.pos : source.pos + size])
        source.pos += size
        self.at -= size

    def _is_held_too_long(self) -> bool:
        first = self._first_held()
        if first is None or self.at - first.at < _HOLD:
            return False
        if self.full is not None:
            self._end(self.full)
            return True
        self.weak = self.implied = self.wrong = None
        return False

    def _end_with_the_text(self) -> None:
        end = self.full or (None if self._source.cut else self.weak)
        if end is None:
            self._pass_on()
            raise Incomplete
        self._end(end)

    def _end(self, end: End) -> None:
        source = self._source
        self.closed = end.repair != "missing-tag"
        if not self.closed and (self.passed or self._ends_in_a_tag(source.pos + end.at)):
            raise NotACall
        if ends_in_a_bracket((self.tail + source.text[source.pos : source.pos + end.at])[-9:]):
            raise NotACall
        if not self._writer.declared and (self.depth or (end is self.loose and end is not self.full)):
            raise NotACall  # any name may be that of an argument
        torn = self.torn if self.torn is not None or not self.depth else self.awaited
        if torn is not None and torn < source.offset + end.at:
            self._writer.is_torn = True
        if self.crossed and end is self.loose and end is not self.full:
            raise NotACall
        if self.depth or self.passed or end is self.loose or (self.implied is not None and end is not self.implied):
            self._writer.is_doubtful = True
        if end.repair:
            self._writer.repair(end.repair, source.text[source.pos + end.at :][: end.size], self._ending.closer)
        self._add(source.text[source.pos : source.pos + end.at])
        source.pos += end.at + end.size

    def _ends_in_a_tag(self, end: int) -> bool:
        """Tell whether the text before `end` closes with another tag of the call, or what is left of the right one."""
        start = max(self._source.pos, end - LONGEST_FRAGMENT)
        return ends_in_a_tag(self.tail + self._source.text[start:end], self._ending, self._writer.tool)

    def _step(self, token: str, role: Role) -> Reading[bool]:
        """Look at a tag; True when the value has ended."""
        match role:
            case "closer":
                return (yield from self._at_closer(len(token)))
            case "end":
                return (yield from self._at_call_end(len(token)))
            case "tag":
                yield from self._at_tag()
                return False
            case "call":
                self.calls += 1
            case _:
                if (yield from self._opens()) and role == "opener":
                    yield from self._at_opener()
        self.at += len(token)
        return False

    def _opens(self) -> Reading[bool]:
        """Tell whether what begins like an opening tag is one; note an argument that is awaited."""
        if not self._ending.arguments.at(self._source.text, self._source.pos + self.at):
            return True
        key = yield from key_at(self._source, self._ending, self.at)
        if key is None and not self._is_nameless():
            return False
        self.nameless = self.nameless or key is None
        if key and self._writer.awaits(key):
            here = self._source.offset + self.at
            self.awaited = here if self.awaited is None else self.awaited
            if self.depth == 0:
                self.torn = here if self.torn is None else self.torn
                if self.implied is None and self._ending.mends:
                    self.implied = self._right_before(self.at) or End(self.at, 0, "missing-tag")
        return True

    def _at_opener(self) -> Reading[None]:
        """Count an opening tag of the value's kind, which may be meant for its closing tag."""
        if not self.opened and self._is_empty(self.at):
            self.doubled = True
        if not self.depth and self.implied is None and self._ending.mends and self._is_nameless():
            size = len(self._ending.closer) - 1
            following = yield from space_end(self._source, self.at + size)
            if self._writer.awaits((yield from key_at(self._source, self._ending, following)) or ""):
                before = self._right_before(self.at) or End(self.at, 0)
                size += self.at - before.at
                if (self.tail + self._source.text[self._source.pos :][: before.at]).endswith("/"):
                    raise NotACall  # the stroke may be the value's, or stand before its bracket
                self.implied = End(before.at, size, "wrong-tag")  # a closing tag without its stroke
        if self.passed and not self.depth and not self.crossed:
            self.crossed = self._ends_in_a_tag(self._source.pos + self.at)
        self.depth += 1
        self.opened = True

    def _is_empty(self, at: int) -> bool:
        """Tell whether nothing but white space stands in the value up to `at`."""
        start = self._source.pos
        return not (self.tail + self._source.text[start : start + at]).strip()

    def _is_nameless(self) -> bool:
        """Tell whether the opening tag here says nothing but what the value's closing tag says."""
        return self._source.text.startswith(f"<{self._ending.closer[2:]}", self._source.pos + self.at)

    def _right_before(self, at: int) -> End | None:
        """Return the closing tag between which and `at` there is only white space."""
        source = self._source
        for end in (self.loose, self.wrong):
            if end is not None and not source.text[source.pos + end.at + end.size : source.pos + at].strip():
                return end
        return None

    def _at_closer(self, size: int) -> Reading[bool]:
        at, source = self.at, self._source
        following = yield from space_end(source, at + size)
        is_word = self.nameless and self.implied is None
        if self.depth and not (is_word and (yield from self._ends_all(self._ending.ends, following))):
            self.depth -= 1
            self.loose = End(at, size)
            self.at += size
            return False
        end, following = yield from self._with_doubles(size, following)
        if (yield from self._closes(end, following)):
            self._end(end)
            return True
        offset = end.at + end.size
        if self.torn is None and not (self._ending.mends and (yield from is_spoken_of(source, offset))):
            self.torn = source.offset + end.at
        self.passed = True
        self.loose = end
        self.at = offset
        return False

    def _with_doubles(self, size: int, following: int) -> Reading[tuple[End, int]]:
        """Return the closing tag here with those like it right behind, and the offset of what follows."""
        first = last = self.at
        for _ in range(MOST_CLOSERS):
            if not (yield from literal_at(self._source, (self._ending.closer,), following)):
                break
            last = following
            following = yield from space_end(self._source, last + size)
        if last == first or self._is_empty(first):  # an empty value is not closed twice: the last one is its tag
            return End(last, size), following
        return End(first, last + size - first, "doubled-tag"), following

    def _closes(self, end: End, following: int) -> Reading[bool]:
        """Tell from what follows a closing tag whether it is the value's; note an end of the call that text follows."""
        source = self._source
        if source.pos + following >= len(source.text):
            return True
        key = yield from key_at(source, self._ending, following)
        if key is not None or self._writer.awaits((yield from bare_key_at(source, self._ending, following))):
            return True
        call_end = yield from literal_at(source, self._ending.ends, following)
        if not call_end:
            if self._ending.mends and (yield from self._ends_all(call_closers(), following)):
                return True
            return (yield from self._is_slip(following))
        if (yield from self._is_over(following + len(call_end))):
            return True
        self.full = end
        return False

    def _is_slip(self, offset: int) -> Reading[bool]:
        """Tell whether an argument's opening tag with a slip stands at `offset`, or the call's closing tag with one."""
        end = self._ending.call_end
        meant, size = yield from tag_meant(self._source, [*opening_tags(self._ending.heads, self._writer), end], offset)
        return bool(meant) and (meant != end or (yield from self._is_over(offset + size)))

    def _ends_all(self, closers: Tokens, offset: int) -> Reading[bool]:
        """Tell whether one of these closing tags stands at `offset`, and nothing but others after it."""
        closer = yield from literal_at(self._source, closers, offset)
        return bool(closer) and (yield from self._is_over(offset + len(closer), or_another=False))

    def _at_call_end(self, size: int) -> Reading[bool]:
        """Look at a closing tag of the call that no closing tag of the value stands before."""
        at = self.at
        if self.calls:
            self.calls -= 1
            self.at += size
            return False
        over = yield from self._is_over(at + size, or_another=False)
        end = self.full or self.implied or self._right_before(at)
        if end is None and self._ending.mends and not self.opened:
            end = End(at, 0, "missing-tag")
        if over:
            if end is None or (self.doubled and end is not self.full):
                raise NotACall
            self._end(end)
            return True
        if end is not None and self.weak is None:
            self.weak = end
        self.at = at + size
        return False

    def _at_tag(self) -> Reading[None]:
        """Look at a closing tag that may be a misspelling of the value's."""
        source, at = self._source, self.at
        while not source.final and _CLOSING_SO_FAR.match(source.text, source.pos + at):
            yield
        tag = _CLOSING.match(source.text, source.pos + at)
        if tag is not None and self._is_meant(tag[1]):
            size = len(tag[0])
            following = yield from space_end(source, at + size)
            ends = yield from literal_at(source, self._ending.ends, following)
            key = None if ends else (yield from key_at(source, self._ending, following))
            slip = not ends and key is None and (yield from self._is_slip(following))
            if ends or slip or (key is not None and (self._writer.awaits(key) or not self._writer.declared)):
                before = self._right_before(at) or End(at, 0)
                self.wrong = End(before.at, at + size - before.at, "wrong-tag")
            if slip and not self.depth and self.implied is None:
                self.implied = self.wrong
                self.depth = 1
            elif self.depth:
                self.depth -= 1
        self.at = at + 2

    def _is_meant(self, name: str) -> bool:
        """Tell whether a closing tag with this name, here, was meant for the value's."""
        plain, start = plain_name(name), self._source.pos
        if plain in self._ending.misspelt:
            return True
        value = self.tail + self._source.text[start : start + self.at]
        return is_slip(plain, self._ending.name) and f"<{name}" not in value[-LONGEST_TAG:]

    def _is_over(self, offset: int, *, or_another: bool = True) -> Reading[bool]:
        """Tell whether nothing but closing tags and the end of the text, or another call, comes at `offset`."""
        source = self._source
        for _ in range(MOST_CLOSERS):
            offset = yield from space_end(source, offset)
            if source.pos + offset >= len(source.text):
                return True
            found = yield from literal_at(source, stray_closers(), offset)
            found = found or (yield from literal_at(source, self._ending.ends, offset))
            if not found:
                break
            offset += len(found)
        return or_another and bool((yield from literal_at(source, self._ending.calls, offset)))


def scan(
    source: Source, writer: CallWriter, ending: Ending, add: Callable[[str], object], *, tail: str = ""
) -> Reading[bool]:
    """Hand over the value at `pos` as it arrives, and consume its closing tag; False where there was none.

    `tail` is the end of what of the value was handed over before.

    Raises:
        NotACall: It has no end that makes sense.
        Incomplete: The text ends before it.
    """
    scanned = _Scan(source, writer, ending, add)
    scanned.tail = tail
    yield from scanned.run()
    return scanned.closed
