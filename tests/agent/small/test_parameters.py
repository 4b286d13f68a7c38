"""Which values of a question a parameter could take."""

from __future__ import annotations

import pytest

from naru.agent.small.parameters import Parameter, known_values
from naru.agent.small.sources import Sources


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Show machine 12.", [12]),
        ("Show machine 12 of hall 7a.", [12]),
        ("Show machine " + "9" * 19 + ".", [10**19 - 1]),
        ("Show machine " + "9" * 5000 + ".", []),
    ],
    ids=["one", "beside a name", "long", "beyond all ids"],
)
def test_a_whole_number_could_be_an_id(question: str, values: list[int]) -> None:
    machine = Parameter("machine", {"type": "integer"}, required=True)
    assert list(known_values(machine, Sources(question), {"machine"})) == values
