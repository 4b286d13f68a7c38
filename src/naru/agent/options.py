"""Which options of a tool a question says something of: small models fill in whatever they are shown (0160)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from naru.agent.hooks import Near
from naru.agent.selection import Ranked, named_of
from naru.agent.small.parameters import Parameter, parameters
from naru.messages import ChatRequest, ToolDefinition
from naru.tools.names import plain_name
from naru.tools.texts import Text

MEANT = 0.3
"""How near an option must lie to some words of a question, and twice how much nearer its tool lies with it than
without: of 100 that are meant (20 options, six languages) 92 do, or have their number, of 100 others 18."""
NUMERALS = ("one", "two", "three", "four", "five", "ten")
IS_NUMERAL = 0.8  # How near a word of any language lies to one of these that is a number.
NEAREST, LONGEST, MOST = 8, 3, 60  # Tools that are looked at; words in a row, and rows, that are compared.


async def asked_for(ranked: Sequence[Ranked], request: ChatRequest, near: Near | None) -> Sequence[Ranked]:
    """Return the tools without the choices and numbers that need not be given and of which nothing was said."""
    asked = Text(" ".join([turn.text for turn in request.messages if turn.role == "user"][-2:]).strip())
    if near is None or not asked.text:
        return ranked
    shorn = [replace(one, tool=await _shorn(one.tool, asked, near)) for one in ranked[:NEAREST]]
    return [*shorn, *ranked[NEAREST:]]


async def _shorn(tool: ToolDefinition, asked: Text, near: Near) -> ToolDefinition:
    options = [one for one in parameters(tool) if not one.required and (one.is_choice or _is_number(one))]
    idle = [one.name for one in options if not await _is_meant(one, tool, asked, near)]
    kept = {name: of for name, of in (tool.input_schema.get("properties") or {}).items() if name not in idle}
    return replace(tool, input_schema={**tool.input_schema, "properties": kept}) if idle else tool


async def _is_meant(one: Parameter, tool: ToolDefinition, asked: Text, near: Near) -> bool:
    words = asked.text.split()
    if any(map(asked.holds, one.listed)) or (_is_number(one) and any(map(str.isdigit, asked.spans))):
        return True
    if _is_number(one) and max([how for each in NUMERALS for how in await near(each, words[:MOST])]) > IS_NUMERAL:
        return True
    listed = map(str, one.schema.get("enum") or ())
    said = " ".join(filter(None, (f"{plain_name(one.name)}.", one.schema.get("description", ""), *listed)))
    rows = [" ".join(words[at : at + more]) for more in range(1, LONGEST + 1) for at in range(len(words) - more + 1)]
    without, with_it = await near(asked.text, [named_of(tool), f"{named_of(tool)} {said}"])
    return max(await near(said, rows[:MOST])) + 2 * (with_it - without) > MEANT


def _is_number(one: Parameter) -> bool:
    return one.kind in ("integer", "number")
