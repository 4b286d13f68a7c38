"""The tags of calls that are written as elements: which begin an argument, which end it, which end the call."""

from __future__ import annotations

import re
from functools import lru_cache

from naru.dialects.texts.patterns import lazy_pattern
from naru.dialects.texts.tokens import Tokens

QUOTED_OR_BARE = r"(?P<quote>[\"'])?(?P<{0}>(?(quote)[^\"'<>\n{1}]+?|[^\s\"'<>{1}]+?))(?(quote)(?P=quote))"
"""A name in a tag, as the group `{0}`, without the characters `{1}`; one without quotes holds no white space.

Else each blank could be the equals sign's, the name's or the next attribute's, and a run of them cost its cube."""
_SECTIONS = ("tool_call>", "tool_calls>", "function_calls>")
"""What stands around calls, by its tags without the vendor's prefix."""


class Tags:
    """The tags of one call.

    Args:
        parameter: how an argument's opening tag begins; empty when the arguments' own names are the tags.
        head: an argument's whole opening tag, with groups `key` and `rest`, and `tag` where it may differ.
        value_end: the closing tag of an argument, with `{}` for what `tag` matched.
        call_end: the closing tags of the call.
        trim: whether line breaks around a value are layout.
        child: the beginning of an argument's tag where the arguments' own names are the tags.
        calls: what the opening tag of another such call begins with.
        heads: how an argument's whole opening tag is written, with `{}` for its name.
        depth: how many elements for all arguments these tags stand in.
    """

    __slots__ = (
        "call_end",
        "calls",
        "child",
        "depth",
        "ends",
        "head",
        "heads",
        "mends",
        "next",
        "parameter",
        "plain",
        "trim",
        "value_end",
    )

    def __init__(  # noqa: PLR0913 - keywords
        self,
        parameter: tuple[str, ...],
        head: re.Pattern[str],
        value_end: str,
        call_end: tuple[str, ...],
        *,
        trim: bool = True,
        child: str = "",
        calls: tuple[str, ...] = (),
        heads: tuple[str, ...] = (),
        depth: int = 0,
    ) -> None:
        self.parameter = parameter
        self.head = head
        self.value_end = value_end
        self.call_end = call_end
        self.next = Tokens((*call_end, *parameter))
        self.trim = trim
        self.child = child
        self.mends = not call_end[0].startswith("<|")
        """Whether a closing tag may be misspelt or missing: special tokens are not."""
        self.plain = bool(parameter) and parameter[0][1:2].isalpha()
        """Whether the arguments' own names may stand for the argument's tag (MiniMax M3 without its special tokens)."""
        self.calls = calls
        self.heads = heads
        self.depth = depth
        self.ends = (*call_end, "</tool_call>") if call_end[0] == "</function>" else call_end
        """What ends the call where its own closing tag is missing, that tag included."""


@lru_cache(maxsize=256)
def call_tags(lead: str, vendor: str, tag: str, name: str) -> Tags:
    """Return the tags of the call that `<vendor:tag=name>` begins; `lead` is what MiniMax M3 puts before each tag."""
    if lead:
        head = lazy_pattern(re.escape(f"{lead}<{vendor}") + r"(?P<tag>(?P<key>[\w.\-]+))(?P<rest>)>")
        return Tags(
            (),
            head,
            f"{lead}</{{}}>",
            (f"{lead}</{tag}>",),
            child=f"{lead}<",
            calls=(f"{lead}<{tag}", f"{lead}<tool_call>"),
            heads=(f"{lead}<{{}}>",),
        )
    sections = tuple(f"<{vendor}{name}" for name in _SECTIONS) if vendor or tag != "invoke" else ("<function_calls>",)
    ends = (f"</{vendor}{tag}>", f"</{vendor}{tag}={name}>")
    return _parameter_tags(vendor, ends, (f"<{vendor}{tag}", *sections))


@lru_cache(maxsize=64)
def tags_until(ends: tuple[str, ...], depth: int = 0) -> Tags:
    """Return the tags of a call that one of `ends` closes and whose arguments may be elements of any kind."""
    return _parameter_tags("", ends, tuple(f"<{end[2:]}" for end in ends), depth)


def _parameter_tags(vendor: str, ends: tuple[str, ...], calls: tuple[str, ...], depth: int = 0) -> Tags:
    head = lazy_pattern(
        re.escape(f"<{vendor}") + r"(?P<tag>parameter|param|arg)(?:\s*=\s*|\s+(?:name|key)\s*=\s*)"
        rf"{QUOTED_OR_BARE.format('key', '')}(?P<rest>\s[^<>]*)?"
        rf"(?:/?>|=(?P<value>[^<>\n]*)(?=</{re.escape(vendor)}(?P=tag)>))"
    )
    opens = (f"<{vendor}parameter", f"<{vendor}param", f"<{vendor}arg")
    plain = "｜" not in vendor and "|" not in vendor
    named = f'<{vendor}parameter name="{{}}"'
    heads = [f'{named} string="true">', f'{named} string="false">']
    if plain:
        heads = [f"{named}>", f"<{vendor}parameter={{}}>", f'<{vendor}param name="{{}}">']
    return Tags(opens, head, f"</{vendor}{{}}>", ends, trim=plain, calls=calls, heads=tuple(heads), depth=depth)


XTML_TAGS = Tags(
    ("<|open|>argument",),
    lazy_pattern(r"<\|open\|>argument\b\s*key=\"(?P<key>[^\"]*)\"(?P<rest>[^<>]*)<\|sep\|>"),
    "<|close|>argument<|sep|>",
    ("<|close|>call<|sep|>",),
    trim=False,
    calls=("<|open|>call",),
)


def child_tags(name: str) -> Tags:
    """Return the tags of a call whose arguments are children named after them, inside a tag named `name`."""
    return children_until((f"</{name}>",))


@lru_cache(maxsize=64)
def children_until(ends: tuple[str, ...], depth: int = 0) -> Tags:
    """Return the tags of a call that one of `ends` closes and whose arguments are children named after them."""
    head = lazy_pattern(r"<(?P<tag>(?P<key>[\w.\-]+))(?P<rest>)>")
    return Tags((), head, "</{}>", ends, child="<", calls=(f"<{ends[0][2:]}",), heads=("<{}>",), depth=depth)
