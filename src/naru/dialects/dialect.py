"""What varies from dialect to dialect, as data: the catalog is made of these rows, the readers interpret them."""

from __future__ import annotations

from naru.dialects.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    Role = Literal["section", "open", "name", "named", "id", "arguments", "close", "end", "noise"]
    """What a mark says: a section or a call begins; a name, an id or the arguments follow, or a name came before;
    the call or the section ends; nothing."""
    ReaderKind = Literal["tagged", "marks", "xml", "gemma", "header", "xtml"]


class Dialect(Value):
    """One way of writing calls that a marker announces.

    Args:
        name: what `ParsedCall.dialect` says.
        openers: literal text that announces calls.
        reader: which notation follows.
        closers: literal text that ends the calls; it may be missing where the calls themselves are complete.
        inside: further tags that may stand around the calls and say nothing.
        marks: for the reader `marks`, what each special token says.
        id_is_name: whether the written name, prefix and number included, is also the call's id (Kimi K2).
        keep_space: whether white space between text and calls is the text's own.
        delimiter: for the reader `gemma`, what stands on both sides of a text.
        models: beginnings of model names that write it, in lower case, for hints.
    """

    __slots__ = __match_args__ = (
        "name", "openers", "reader", "closers", "inside", "marks", "id_is_name", "keep_space", "delimiter", "models",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - a row of a table, written with keywords
        self,
        name: str,
        openers: tuple[str, ...],
        reader: ReaderKind = "tagged",
        *,
        closers: tuple[str, ...] = (),
        inside: tuple[str, ...] = (),
        marks: tuple[tuple[str, Role], ...] = (),
        id_is_name: bool = False,
        keep_space: bool = False,
        delimiter: str = "",
        models: tuple[str, ...] = (),
    ) -> None:
        self.name: Final = name
        self.openers: Final = openers
        self.reader: Final[ReaderKind] = reader
        self.closers: Final = closers
        self.inside: Final = inside
        self.marks: Final = marks
        self.id_is_name: Final = id_is_name
        self.keep_space: Final = keep_space
        self.delimiter: Final = delimiter
        self.models: Final = models


class Thinking(Value):
    """One way of marking reasoning.

    Args:
        opener: the tag that opens it.
        closers: the tags that close it.
        anywhere: whether the opener counts in the middle of a line; where not, it is an ordinary word there.
        hinted: counts only when the hint contains this.
    """

    __slots__ = __match_args__ = ("opener", "closers", "anywhere", "hinted")

    def __init__(self, opener: str, closers: tuple[str, ...], *, anywhere: bool = True, hinted: str = "") -> None:
        self.opener: Final = opener
        self.closers: Final = closers
        self.anywhere: Final = anywhere
        self.hinted: Final = hinted
