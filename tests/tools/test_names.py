"""R8, S-51: exposed names are legal, stable, one to one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naru.errors import ConflictError
from naru.tools.names import NameMap, ToolId, exposed_name, sendable_name

LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
NAMES = st.text(st.sampled_from("aAzZ09_-./ 가나é日") | st.characters(codec="utf-8"), min_size=1, max_size=70)


@given(server=st.just("") | NAMES, tool=NAMES)
def test_every_exposed_name_is_legal_for_every_provider(server, tool):
    assert LEGAL.fullmatch(exposed_name(server, tool))
    assert LEGAL.fullmatch(sendable_name(exposed_name(server, tool)))
    assert sendable_name(exposed_name(server, tool)) == exposed_name(server, tool)


@given(st.lists(st.tuples(st.just("") | NAMES, NAMES), max_size=12, unique=True))
def test_no_two_tools_share_a_name_and_each_leads_back_to_its_own(tools):
    names = NameMap()
    claimed: dict[str, ToolId] = {}
    for server, tool in tools:
        try:
            name = names.add(server, tool)
        except ConflictError:
            continue
        assert name not in claimed
        claimed[name] = ToolId(server, tool)
    assert {name: names.tool(name) for name in claimed} == claimed


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("hr", "search_docs", "hr__search_docs"),
        ("a", "b__c", "a__b__c"),
        ("", "get_time", "get_time"),
    ],
)
def test_a_plain_name_stays_readable(server, tool, name):
    assert exposed_name(server, tool) == name


def test_two_ways_to_split_a_name_are_two_names():
    assert exposed_name("a", "b__c") != exposed_name("a__b", "c")
    assert exposed_name("a", "_b") != exposed_name("a_", "b")
    assert exposed_name("", "a__b") != exposed_name("a", "b")


def test_hangul_is_spelled_in_latin_letters():
    assert exposed_name("hr", "직원조회").startswith("hr__jikwonjohoe_")
    assert exposed_name("인사", "휴가").startswith("insa__hyuga_")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a", "Search"), ("a", "search")),
        (("a", "search"), ("A", "search")),
        (("a", "ｓearch"), ("a", "search")),
        (("a", "\ufb01nd"), ("a", "find")),
    ],
    ids=["case", "case of the server", "NFKC", "ligature"],
)
def test_a_newcomer_that_could_be_taken_for_another_is_refused(first, second):
    names = NameMap()
    name = names.add(*first)
    with pytest.raises(ConflictError, match="came first"):
        names.add(*second)
    assert names.add(*first) == name


def test_long_names_differ_after_cutting():
    tools = [f"{'x' * 80}{end}" for end in "ab"]
    assert len({exposed_name("server", tool) for tool in tools}) == 2


def test_a_removed_servers_names_are_free_again():
    names = NameMap()
    names.add("a", "search")
    names.forget("a")
    assert names.tool("a__search") is None
    assert names.add("A", "search") == "A__search"
