"""Random schemas through each provider form: is it taken, do values that fitted still fit, is a loss told?

    PYTHONPATH=. .venv/bin/python bench/tools_schemas.py [--schemas 5000] [--form gemini]

The schemas come from `tests/tools/random_schemas.py` (with a seed: the same ones in every run), the rules, written from
the providers' documentation, from `tests/tools/provider_rules.py`. Exits with 1 where one is refused, narrower, untold.
"""

from __future__ import annotations

import argparse
import collections
import json
import logging
import sys

from tests.tools.provider_rules import Schema, breaches
from tests.tools.provider_values import takes, untold
from tests.tools.random_schemas import sample

from naru.messages import ToolDefinition
from naru.tools.provider_schemas.dialect import DIALECTS
from naru.tools.provider_schemas.forms import provider_form

FAULTS = ("refused", "narrower", "untold")


class Tally:
    """What came of the schemas of one form."""

    def __init__(self, provider: str) -> None:
        self.provider = provider
        self.counts: collections.Counter[str] = collections.Counter()
        self.first: dict[str, str] = {}

    def judge(self, schema: Schema, values: list[Schema]) -> None:
        text = json.dumps(schema, sort_keys=True)
        form = provider_form([ToolDefinition("tool", "Does.", schema)], self.provider)
        if form.set_aside:
            self.count("set aside, with the reason", str(form.set_aside))
            return
        (tool,) = form.tools
        if self.provider == "openai-strict" and not tool["function"]["strict"]:
            self.counts["not strict"] += 1
        found = breaches(self.provider, tool)
        self.count("refused" if found else "taken", f"{text}\n -> {json.dumps(tool)}\n {found[:3]}")
        for value in values:
            if not takes(self.provider, tool, value):
                self.count("narrower", f"{text}\n -> {json.dumps(tool)}\n {value!r}")
                break
        if lost := list(untold(self.provider, tool, schema, values[0])):
            self.count("untold", f"{text}\n -> {json.dumps(tool)}\n {lost[:3]}")

    def count(self, kind: str, shown: str) -> None:
        self.counts[kind] += 1
        if len(shown) < len(self.first.setdefault(kind, shown)):
            self.first[kind] = shown


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--schemas", type=int, default=5_000)
    arguments.add_argument("--form", choices=sorted(DIALECTS), action="append")
    options = arguments.parse_args()
    logging.disable(logging.CRITICAL)
    columns = ("taken", "set aside, with the reason", *FAULTS, "not strict")
    print(f"{'form':16}{'schemas':>9}" + "".join(f"{column:>28}" for column in columns))
    is_right = True
    examples = sample(options.schemas)
    for provider in options.form or DIALECTS:
        tally = Tally(provider)
        for schema, values in examples:
            tally.judge(schema, values)
        print(
            f"{provider:16}{len(examples):9}" + "".join(f"{tally.counts[column]:28}" for column in columns), flush=True
        )
        for kind in FAULTS:
            if kind in tally.first:
                is_right = False
                print(f"  {kind}: {tally.first[kind]}", file=sys.stderr)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
