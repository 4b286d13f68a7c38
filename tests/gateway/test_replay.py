"""What a session keeps for `Last-Event-ID`, by the ids that clients send."""

from __future__ import annotations

import pytest

from naru.gateway.faces.replay import Replay


@pytest.mark.parametrize(
    "told",
    ["", "x", "0", "-0", "0-", "0-1-2", "0-²", "٠-١", "0-" + "9" * 5000, "9" * 5000 + "-0", "1-0", "0-1"],
    ids=lambda told: told[:12] + f"({len(told)})",
)
def test_an_id_that_was_never_given_leads_nowhere(told: str) -> None:
    assert Replay().find(told) is None
