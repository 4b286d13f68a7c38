"""Issue 14: no file of `agent/` decides by a list of words of a human language (prompts and messages aside)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.syntax import parsed

AGENT = Path(__file__).parents[2] / "src" / "naru" / "agent"
AT_LEAST = 4
"""So many words side by side are a list; fewer are the two or three keys of a form."""
ALLOWED = {
    ("prompts.py", ""): "what models are told",
    ("small/prompts.py", ""): "what small models are told",
    ("language.py", "_LANGUAGES"): "the names of the languages to answer in",
    ("closeness.py", "ORDERING"): "examples whose vectors are compared, in any language: no word of them is looked for",
    ("options.py", "NUMERALS"): "the same, of numbers",
}
"""File and name (empty: all of the file), and what stands there instead of words that decide."""
_WORD = re.compile(r"[^\W\d_]+(?:[ '’-][^\W\d_]+)*")


def words_in(text: str) -> list[str]:
    """Return the longest row of alternatives in a pattern that are plain words: `open|done` in `(?:open|done)`."""
    rows = [re.sub(r"\\\w|\?:|[?^$]", "", row).split("|") for row in re.split(r"[()\[\]]+", text)]
    return max(([one for one in row if _WORD.fullmatch(one)] for row in rows), key=len)


def lists_in(tree: ast.Module) -> Iterator[tuple[str, int, list[str]]]:
    """Return each list of words in a module: the name it is bound to, its line, the words."""
    documents = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    types = {id(inner) for one in ast.walk(tree) if isinstance(one, ast.Subscript) for inner in ast.walk(one.slice)}
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        name = targets[0].id if isinstance(targets[0], ast.Name) else ""
        for node in ast.walk(statement):
            if id(node) not in documents | types and (found := _words_of(node)):
                yield name, node.lineno, found


def _words_of(node: ast.AST) -> list[str]:
    match node:
        case ast.List(elts=parts) | ast.Set(elts=parts) | ast.Tuple(elts=parts):
            found = _plain(parts)
        case ast.Dict(keys=keys, values=values):  # A glossary; a record's values are no words.
            pairs = zip(keys, values, strict=True)
            found = [word for key, value in pairs if key is not None and len(_plain([key, value])) == 2
                     for word in _plain([key, value])]  # fmt: skip
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split" | "splitlines")):
            found = [one for one in text.split() if _WORD.fullmatch(one)]
        case ast.Constant(value=str(text)):
            # A letter alone is the border of a script.
            foreign = [one for one in _WORD.findall(text) if not one.isascii()] if len(text) > 1 else []
            rows = (words_in(text), [one for one in text.split(". ") if one.strip()])
            return foreign or next((found for found in rows if len(found) >= AT_LEAST), [])
        case _:
            return []
    return found if len(found) >= AT_LEAST else []


def _plain(parts: list[ast.expr]) -> list[str]:
    texts = [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return [one for one in texts if _WORD.fullmatch(one)]


@pytest.mark.parametrize("path", sorted(AGENT.rglob("*.py")), ids=lambda path: str(path.relative_to(AGENT)))
def test_issue_14_no_list_of_words_decides_anything(path: Path) -> None:
    file = path.relative_to(AGENT).as_posix()
    found = [(name, line, words) for name, line, words in lists_in(parsed(path.read_text(encoding="utf-8")))]
    assert [one for one in found if not {(file, ""), (file, one[0])} & ALLOWED.keys()] == []


@pytest.mark.parametrize(
    "source",
    [
        '_NEGATIVE = ("not", "never", "no longer", "without")',
        '_OPEN = frozenset({"open", "todo", "pending", "left"})',
        '_GLOSSARY = {"부장": "manager", "busan": "city"}',
        '_TERMS = {"weather": "forecast", "flight": "plane"}',
        '_TALK = re.compile(r"\\b(?:thanks|hello|bye|please)\\b", re.I)',
        '_DOINGS = "cancel delete remove send".split()',
        "def is_talk(text):\n    return any(one in text for one in ['thanks', 'hello', 'bye', 'morning'])",
        'PARTICLES = "은|는|이|가"',
        'ORDERS = "Book a seat. Cancel a booking. Delete a record. Send a message."',
        "if text.endswith(('요', '습니까')):\n    pass",
    ],
)
def test_such_a_list_is_found(source: str) -> None:
    assert list(lists_in(parsed(source)))


@pytest.mark.parametrize(
    "source",
    [
        'data = {"name": call.name, "arguments": call.arguments, "ran": ran, "writer": writer, "text": text}',
        'Way = Literal["free", "pick", "guided", "talk"]',
        '"""A file that speaks of open, done, late, 한국어."""',
        'ASK = "Tell the person in one sentence what was done."',
        '_CALL = re.compile(r"<tool_call>|</?function|```tool_code")',
    ],
)
def test_keys_types_prompts_and_marks_are_none(source: str) -> None:
    assert not list(lists_in(parsed(source)))


def test_what_is_allowed_is_there() -> None:
    for file, name in ALLOWED:
        found = [one for one, _, _ in lists_in(parsed((AGENT / file).read_text(encoding="utf-8")))]
        assert not name or name in found, f"{file} has no {name} any more"
