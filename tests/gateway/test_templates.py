"""URIs by templates: as RFC 6570 has them, and in no more time than their length takes, whoever wrote the template."""

from __future__ import annotations

import pytest

from naru.gateway.templates import MAX_EXPRESSIONS, read_template


@pytest.mark.parametrize(
    ("template", "uri", "is_made"),
    [
        ("doc:plain", "doc:plain", True),
        ("doc:plain", "doc:plainer", False),
        ("doc:{id}", "doc:7", True),
        ("doc:{id}", "doc:", True),
        ("doc:{id}", "doc:7/8", False),
        ("doc:{id}", "dock:7", False),
        ("doc:{id}.txt", "doc:a.txt.txt", True),
        ("doc:{id}.txt", "doc:a.tx", False),
        ("doc:{+path}", "doc:7/8", True),
        ("doc:{+path}/{id}", "doc:a/b/c", True),
        ("doc:{+path}/{id}", "doc:a?b/c", False),
        ("doc:{/parts*}", "doc:/a/b", True),
        ("doc:{list*}", "doc:a/b", True),
        ("doc:{id}{?q,r}", "doc:7", True),
        ("doc:{id}{?q,r}", "doc:7?q=1&r=a/b?c", True),
        ("doc:{id}{?q}{&r}", "doc:7?q=1&r=2", True),
        ("doc:{id}{?q}", "doc:7#there", False),
        ("doc:{id}{?q}", "doc:7&", True),
        ("doc:한{id}", "doc:한글", True),
        ("{scheme}:x", "a:x", True),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_a_template_makes_its_own(template: str, uri: str, is_made: bool) -> None:
    assert read_template(template).makes(uri) is is_made


@pytest.mark.parametrize("expression", ["{+a}", "{+a}x", "{a*}{+b}{c}", "{?a}{&b}"])
def test_no_template_takes_more_time_than_its_length(expression: str) -> None:
    hostile = read_template("x:" + expression * 20 + "!")
    assert not hostile.makes("x:" + "x" * 4000)
    assert not hostile.makes("x:" + "?&" * 2000)
    assert read_template("x:" + "{+a}" * MAX_EXPRESSIONS).makes("x:" + "x" * 4000)
    assert not read_template("x:" + "{+a}" * (MAX_EXPRESSIONS + 1)).makes("x:")
