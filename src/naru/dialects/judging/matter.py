"""What calls are about: the words of their tools' names, of their values and of their arguments' names."""

from __future__ import annotations

from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from naru.dialects.events import ParsedCall

_HUMP = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")
_WORD = lazy_pattern(r"[A-Za-z\dÀ-ɏ]{4,}|\d+|[^\W_A-Za-z\dÀ-ɏ]{4,}")
"""A particle or a word of a script that sets none apart is no part of a Latin word."""
_STEM = 6
"""Letters: `calculation` and `calculate` are one word."""
_MARKS = lazy_pattern(r"\A[\s#*_•+-]{1,16}|[\s*_:：]{1,16}\Z")
"""What stands around the words of a label."""
_PLACEHOLDER = lazy_pattern(r"\.{3}|…|<[^<>]{1,40}>|\{[^{}]{1,40}\}|\[[^\[\]]{1,40}\]")


def is_about(calls: Sequence[ParsedCall], text: str) -> bool:
    """Tell whether a text speaks of what calls are about: has a word of a tool's name, or of a value."""
    said = set(_words(text))
    return any(not said.isdisjoint(_words(f"{call.name} {_values(call.arguments)}")) for call in calls)


def has_value_of(calls: Sequence[ParsedCall], text: str) -> bool:
    """Tell whether a text has a word of a value of a call."""
    said = set(_words(text))
    return any(not said.isdisjoint(_words(_values(call.arguments))) for call in calls)


def is_value_of(calls: Sequence[ParsedCall], label: str) -> bool:
    """Tell whether a label is a value of a call, and nothing else: `**Paris:**` over the weather of Paris."""
    name = _MARKS.sub("", label).casefold()
    return any(value.strip().casefold() == name for call in calls for _, value in _texts(call.arguments)) and name != ""


def _values(value: object) -> str:
    """Return the values inside of a value as one text."""
    if isinstance(value, dict | list):
        return " ".join(map(_values, value.values() if isinstance(value, dict) else value))
    return "" if isinstance(value, bool) or value is None else str(value)


def _words(text: str) -> list[str]:
    """Return the words of four letters and more, as far as other forms of them are alike, and the numbers."""
    return [word.lower()[:_STEM] for word in _WORD.findall(_HUMP.sub(" ", text))]


def names_key(call: ParsedCall, text: str) -> bool:
    """Tell whether a text has a word of the name of an argument."""
    return not set(_words(text)).isdisjoint(_words(" ".join(call.arguments)))


def is_placeholder(call: ParsedCall) -> bool:
    """Tell whether a value of a call stands for one: three dots, its own name, something in brackets."""
    return any(value == key or _PLACEHOLDER.fullmatch(value) is not None for key, value in _texts(call.arguments))


def _texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text inside of a value with the key that it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)
