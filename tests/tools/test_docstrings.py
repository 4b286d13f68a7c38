"""Every docstring style, and none that is an error (S2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naru.tools.functions.docstrings import read_docstring
from naru.tools.functions.signature import build_tool_schema


@pytest.mark.parametrize(
    "text",
    [
        "Get it.\n\nMore.\n\nArgs:\n    city (str): The city.\n    *rest: Others.\n\nReturns:\n    str: x\n",
        "Get it.\n\nMore.\n\nArgs:\n  city: The city.\n  **rest: Others.\nRaises:\n  ValueError: never",
        "Get it.\n\nMore.\n\nParameters\n----------\ncity : str\n    The city.\nrest : int, optional\n    Others.\n",
        "Get it.\n\nMore.\n\n:param city: The city.\n:type city: str\n:param int rest: Others.\n:returns: x\n",
        "\n    Get it.\n\n    More.\n\n    Args:\n        city: The\n            city.\n        rest: Others.\n    ",
        "Get it.\n\nMore.\n\n@param city: The city.\n@param rest: Others.\n@return: x\n",
        "Get it.\n\nMore.\n\nArgs:\n    city - The city.\n    rest (list) – Others.\n",
        "Get it.\n\nMore.\n\nArgs:\n    **city**: The city.\n    `rest`: Others.\n",
        "Get it.\n\nMore.\n\nargs:\n    city: The city.\n    rest: Others.\n",
        "Get it.\n\nMore.\n\nArgs:\n    city: The city.\n    rest: Others.\n\nReturns:\n    x\n\n---\n",
        "Get it.\n\nMore.\n\n매개변수:\n    city: The city.\n    rest: Others.\n\n반환:\n    x\n",
    ],
    ids="google,without types,numpy,sphinx,indented,epydoc,dashes,names set off,small,rule,Korean headings".split(","),
)
def test_each_style_gives_description_and_parameters(text):
    found = read_docstring(text)
    assert found.description == "Get it.\n\nMore."
    assert found.parameters == {"city": "The city.", "rest": "Others."}


def test_a_note_before_the_arguments_is_no_part_of_the_description():
    """Issue 19 line 8."""
    found = read_docstring(
        "Get it.\n\nNote:\n    Aside.\n\nSee Also:\n    x: y\n\nWarning:\n    So.\n\nTodo:\n    * More.\n\n"
        "Args:\n    city: The city.\n"
    )
    assert found.description == "Get it."
    assert found.parameters == {"city": "The city."}


AS_PACKAGES_WRITE = {
    "no description": ("\n    Args:\n        city: The city.\n        rest: Others.\n    ", ""),
    "heading on the first line": ("Args:\n        city: The city.\n        rest: Others.\n    ", ""),
    "a Raises: without a colon": (
        "Get.\n\nArgs:\n  city: The city.\n  rest: Others.\n\nRaises:\n  ValueError\n    So.", "Get."),
    "text that is not indented": ("Get.\n\nArgs:\n  city (str):\n  The city.\n  rest (a, b): Others.\n", "Get."),
    "text after the arguments": ("Get.\n\nArgs:\n  city: The city.\n  rest: Others.\n\nMore.", "Get."),
    "a directive after the fields": (
        "Get.\n\n:param city: The city.\n:param rest: Others.\n\n.. versionadded:: 8.0\n", "Get."),
    "sections beside fields": (
        "Get.\n\nNote:\n    So.\n\n:param city: The city.\n:param rest: Others.\n\nExample:\n    get(1)\n", "Get."),
    "two dashes": ("Get.\n\nArgs:\n  city -- The city.\n  rest -- Others.\n", "Get."),
    "a field without its colon": (
        "Get.\n:param city: The city.\n:paramtype city: str\n:param rest: Others.\n:return True if so", "Get."),
    "a role at the start of a line": (
        "Return a list of\n:class:`X` objects.\n\n:param city: The\n    city.\n:param rest: Others.\n",
        "Return a list of\n:class:`X` objects."),
    "a first sentence of two lines": (
        "Get it\nat once.\n\nParameters\n----------\ncity : str\n    The city.\nrest\n    Others.\n",
        "Get it\nat once."),
}  # fmt: skip


@pytest.mark.parametrize("kind", AS_PACKAGES_WRITE)
def test_what_packages_write_is_read(kind):
    """Issue 19 line 8: found by `bench/docstrings_peers.py` in numpy, click, redis, google-cloud-storage and others."""
    text, description = AS_PACKAGES_WRITE[kind]
    found = read_docstring(text)
    assert found.parameters == {"city": "The city.", "rest": "Others."}
    assert found.description == description


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Either:\n- one\n- two\n  lines", "Either:\n- one\n- two lines"),
        ("First\n1. one\n2. two", "First\n1. one\n2. two"),
        ("Codes\n| 1 | open |\n| 2 | shut |\nand no\nother", "Codes\n| 1 | open |\n| 2 | shut |\nand no other"),
        ("Such as\n```\nif a:\n    b\n```\nor\nnone", "Such as\n```\nif a:\n    b\n```\nor none"),
    ],
    ids=["items", "numbers", "table", "code"],
)
def test_lists_tables_and_code_about_a_parameter_keep_their_lines(written, told):
    lines = written.replace("\n", "\n        ")
    for text in (f"Get.\n\nArgs:\n    city: {lines}\n", f"Get.\n\n:param city: {lines}\n"):
        assert read_docstring(text).parameters == {"city": told}


def test_raises_and_returns_are_not_told_to_the_model():
    found = read_docstring("Do.\n\nArgs:\n    a: A.\n\nReturns:\n    SECRET\n\nRaises:\n    ValueError: SECRET")
    assert "SECRET" not in str(found)


@pytest.mark.parametrize(
    "text", [None, "", "   ", "Args:", ":param", "Args:\n  :\n", "----\n----", "Parameters\n-----"]
)
def test_a_strange_docstring_is_no_error(text):
    read_docstring(text)


@given(st.text(st.sampled_from("Args: \n\t-aReturns:param*\\"), max_size=60))
def test_no_docstring_is_an_error(text):
    read_docstring(text)


def test_a_callable_object_without_words_of_its_own_is_not_described_by_pythons():
    class Silent:
        def __call__(self, n: int) -> int:
            return n

    class Speaking:
        def __call__(self, n: int) -> int:
            """Count on."""
            return n

    told = [build_tool_schema(one)["function"]["description"] for one in (Silent(), Speaking())]
    assert told == ["", "Count on."]
