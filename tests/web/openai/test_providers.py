"""Issue 17 line 4: an endpoint's answer against the client's, field by field, for the shapes of the providers."""

from __future__ import annotations

import pytest

from tests.web.openai.provider_table import PAGE, PROVIDERS, Row, page, rows


@pytest.mark.parametrize("name", PROVIDERS)
async def test_every_field_that_a_provider_sends_reaches_the_client(name: str) -> None:
    told = await rows(name)
    kept = {"as it is", "made by Naru", "`reasoning_content`"}
    assert [row for row in told if {row.plain, row.with_tools} - kept] == []
    assert len(told) >= 6
    assert all(isinstance(row, Row) for row in told)


async def test_the_page_says_what_the_tests_found() -> None:
    assert PAGE.read_text(encoding="utf-8") == await page(), "run: python -m tests.web.openai.provider_table"
