"""What varies from dialect to dialect, as data: the catalog is made of these rows, the readers interpret them.

Named tuples rather than dataclasses: they are made in a third of the time, which counts when the library is imported.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Role = Literal["section", "open", "name", "named", "id", "arguments", "close", "end", "noise"]
"""What a mark says: a section or a call begins; a name, an id or the arguments follow, or a name came before;
the call or the section ends; nothing."""


class Dialect(NamedTuple):
    """One way of writing calls that a marker announces."""

    name: str
    openers: tuple[str, ...]
    """Literal text that announces calls."""
    reader: Literal["tagged", "marks", "xml", "gemma", "header", "xtml"] = "tagged"
    closers: tuple[str, ...] = ()
    """Literal text that ends the calls; it may be missing where the calls themselves are complete."""
    inside: tuple[str, ...] = ()
    """Further tags that may stand around the calls and say nothing."""
    marks: tuple[tuple[str, Role], ...] = ()
    """For the reader `marks`: what each special token says."""
    id_is_name: bool = False
    """Whether the written name, prefix and number included, is also the call's id (Kimi K2)."""
    keep_space: bool = False
    """Whether white space between text and calls is the text's own."""
    delimiter: str = ""
    """For the reader `gemma`: what stands on both sides of a text."""
    models: tuple[str, ...] = ()
    """Beginnings of model names that write it, in lower case, for hints."""


class Thinking(NamedTuple):
    """One way of marking reasoning."""

    opener: str
    closers: tuple[str, ...]
    anywhere: bool = True
    """Whether the opener counts in the middle of a line; where not, it is an ordinary word there."""
    hinted: str = ""
    """Counts only when the hint contains this."""


class Body(NamedTuple):
    """What follows a header or a reasoning tag, up to one of `closers`."""

    kind: Literal["reasoning", "content", "code", "dropped"]
    """`code` is content whose closer is part of it."""
    closers: tuple[str, ...]
    pending: tuple[str, ...] = ()
    """Closers that end the body without being part of it."""
    drafts: bool = False
    """Whether calls in it count when it is never closed."""
