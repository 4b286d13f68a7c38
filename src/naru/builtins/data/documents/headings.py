"""What a heading of a table of columns means, in English and Korean: by the words that it is made of.

`table_name`, `TABLE`, `tableName`, `테이블명` are one heading; so are `column_comment`, `description`, `컬럼 설명`.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

Role = Literal["id", "schema", "table", "column", "name", "type", "text", "table text", ""]

_PHYSICAL = r"(physical|물리|영문)?"
_NAME = _PHYSICAL + r"(name|nm|id|path|명|이름)?"
_TEXT = (
    r"(text|documents?|desc|description|summary|content|contents|body|comments?|meaning|definition|remarks?"
    r"|설명|내용|의미|정의|코멘트|주석|비고|본문)"
)
_TABLE = r"(table|tbl|relation|entity|테이블|엔티티)"
_COLUMN = r"(column|col|field|attribute|컬럼|칼럼|필드|항목|속성|열)"
_LOGICAL = r"(logical|논리|한글|국문)"
"""What readers call it; the physical name is the one that statements use."""
_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("schema", re.compile(rf"(table)?(schema|스키마){_NAME}")),
    ("table text", re.compile(rf"{_TABLE}.*{_TEXT}|{_LOGICAL}{_TABLE}{_NAME}|{_TABLE}{_LOGICAL}{_NAME}")),
    ("table", re.compile(rf"{_PHYSICAL}{_TABLE}{_NAME}")),
    ("text", re.compile(rf".*{_TEXT}|{_LOGICAL}{_COLUMN}{_NAME}|{_COLUMN}{_LOGICAL}{_NAME}")),
    (
        "type",
        re.compile(
            r"((native)?(data|column|col|field|sql)?(type|dtype)|(데이터|컬럼|칼럼)?(타입|유형|형식|형)|자료형)"
        ),
    ),
    ("column", re.compile(rf"{_PHYSICAL}{_COLUMN}{_NAME}")),
    ("id", re.compile(r"(id|key|uid|uuid|(doc|document)id|아이디|식별자)")),
    ("name", re.compile(r"(name|title|이름|명칭|제목)")),
)

_OF_MODEL = re.compile(r"entity|attribute|엔티티|속성")
LINES_ABOVE = 10
"""A table's headings stand in one of so many lines."""
_NUMBER = re.compile(r"\d+")
_FIGURE = re.compile(r"[\d\s.,:/%+-]+")
_COLUMN_OF_TABLE = re.compile(r"[^\W\d]\w*(\.\w+)+")


@functools.lru_cache(maxsize=4096)
def role_of(heading: str, *, of_column: bool = False) -> Role:
    """Return what stands under a heading; nothing for one that only its readers know.

    Of a column, a key is no id: `SHOW COLUMNS` tells by it which columns the table's keys are made of.
    """
    plain = unicodedata.normalize("NFKC", heading).casefold()
    squeezed = "".join(letter for letter in plain if letter.isalnum())
    if of_column and squeezed == "key":
        return ""
    return next((role for role, pattern in _ROLES if pattern.fullmatch(squeezed)), "")


def is_of_model(heading: str) -> bool:
    """Tell a heading in a logical model's words: beside a table's and a column's, it says what these are called."""
    return bool(_OF_MODEL.search(unicodedata.normalize("NFKC", heading).casefold()))


def is_table_of_columns(headings: Sequence[str]) -> bool:
    """Tell whether a table's first row names what a catalogue of columns, or of documents, has."""
    roles = {role_of(heading) for heading in headings} - {""}
    return len(roles) > 1 and bool(roles & {"text", "column"})


def headings_of_several_lines(lines: Sequence[Sequence[str]]) -> tuple[int, int, list[str]]:
    """Return where headings stand below others that span columns, how many lines these are, and what they say.

    As in `Table` over `physical | logical`. No lines where none among the first says more so than by itself.
    """
    for at, depth in itertools.product(range(min(len(lines), LINES_ABOVE)), (2, 3)):
        block = lines[at : at + depth]
        *above, last = block if len(block) == depth else ([], [])
        if all(1 < filled(line) < len(line) for line in above) and above:
            headings = _joined(above, last)
            if all(headings) and is_table_of_columns(headings) and _known(headings) > max(map(_known, block)):
                return at, depth, headings
    return 0, 0, []


def _joined(above: Sequence[Sequence[str]], last: Sequence[str]) -> list[str]:
    """Say of each column what stands over it, as much of it as is a heading that is known; else the lowest."""
    joined = []
    for column in zip(*map(_spread, above), last, strict=False):
        told = [cell.strip() for cell in column if cell.strip()]
        ways = (" ".join(told[start:]) for start in range(len(told)))
        joined.append(next(filter(role_of, ways), told[-1] if told else ""))
    return joined


def _spread(line: Sequence[str]) -> Iterator[str]:
    """Give each column the cell that spans it."""
    spanning = ""
    for cell in line:
        spanning = cell.strip() or spanning
        yield spanning


def _known(headings: Sequence[str]) -> int:
    return sum(bool(role_of(heading)) for heading in headings)


def table_told(lines: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the table that lines above the headings name, as those that define one do: `Table | LOT`, `Table: LOT`."""
    for line in lines:
        cells = [cell.strip() for cell in line if cell.strip()]
        for heading, name in [*map(_parted, cells), *itertools.pairwise(cells)]:
            if role_of(heading) == "table" and name:
                return (name,)
    return ()


def _parted(cell: str) -> tuple[str, str]:
    heading, _, name = unicodedata.normalize("NFKC", cell).partition(":")
    return heading, name.strip()


def tables_apart(lines: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Cut lines, and leave out empty ones, where one stands above other headings, most of which are known.

    A row may look so: what is below a title, or has one of the headings before, and a line below it, is none.
    """
    begin, empty = 0, -1
    known: list[Sequence[str]] = []
    for at, line in enumerate(lines):
        if not filled(line):
            empty = at
        elif at - empty <= LINES_ABOVE and _are_known(line):
            above, titles = lines[begin : max(begin, empty)], lines[empty + 1 : at]
            is_second = any(one in known or filled(one) >= filled(line) for one in above)
            is_titled = titles or any(cell.strip() and cell in one for one in known for cell in line)
            is_headed = is_titled and line not in known and any(map(filled, lines[at + 1 : at + 2]))
            if is_second and is_headed and all(filled(one) < filled(line) for one in titles):
                yield [one for one in lines[begin : empty + 1] if one]
                begin, known = empty + 1, []
            known.append(line)
    yield [one for one in lines[begin:] if one]


def _are_known(line: Sequence[str]) -> bool:
    return is_table_of_columns(line) and 2 * _known(line) >= filled(line)


def filled(line: Sequence[str]) -> int:
    """Count the cells that say something."""
    return sum(bool(cell.strip()) for cell in line)


def tables_below(lines: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Return where each table begins whose headings come again below the first's, and where these headings stand.

    Its name may stand above them, as in a sheet that defines several: `Table | TB_BALL`.
    """
    found = [(0, 0)]
    if not lines or not is_table_of_columns(lines[0]):
        return found
    width = filled(lines[0])
    for at in range(1, len(lines)):
        if lines[at] == lines[0]:
            above = range(at - 1, found[-1][1], -1)
            sparse = itertools.takewhile(lambda one: filled(lines[one]) < width, above)
            found.append((next((one for one in sparse if table_told([lines[one]])), at), at))
    return found


def titles_above(lines: Sequence[Sequence[str]]) -> int:
    """Count the lines of one cell above headings that nobody knows: as wide as these, which are words throughout.

    One that is no wider than its cell is a title where figures alone stand below a heading.
    """
    at = next((at for at, line in enumerate(lines[:LINES_ABOVE]) if filled(line) > 1), 0)
    headings, below = lines[at : at + 1], lines[at + 1 :]
    are_words = all(cell.strip() and not _FIGURE.fullmatch(cell.strip()) for line in headings for cell in line)
    is_table = are_words and below and all(1 < len(line) == len(lines[at]) for line in lines[:at])
    return at if is_table or (are_words and at and _has_figures(below, len(lines[at]))) else 0


def _has_figures(lines: Sequence[Sequence[str]], width: int) -> bool:
    """Tell whether lines are all of one width, and one of their columns holds figures alone."""
    return all(len(line) == width for line in lines) and any(
        all(map(_FIGURE.fullmatch, column)) for column in zip(*lines, strict=True)
    )


def are_headings(lines: Sequence[Sequence[str]]) -> bool:
    """Tell a table's first line from one more of its rows: it is like those below it, and no heading is known."""
    first, *below = lines
    if not below or any(map(role_of, first)) or all(_COLUMN_OF_TABLE.fullmatch(cell.strip()) for cell in first):
        return True
    begins = [line[0].strip() if line else "" for line in (first, below[0])]
    if any(all(map(form.fullmatch, begins)) for form in (_NUMBER, _COLUMN_OF_TABLE)):
        return False
    others = [line for line in below if line != first]  # headings that come again, of files put together
    return not any(cell.strip() and cell == line[at] for line in others for at, cell in enumerate(first[: len(line)]))
