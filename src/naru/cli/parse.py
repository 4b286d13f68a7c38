"""`naru parse`: what the reader makes of a model's text, which dialect it was, and what was mended."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from naru.cli.checks.problem import check_named
from naru.cli.terminal.lines import pasted
from naru.cli.terminal.output import AsJson, print_json, print_note
from naru.dialects import Parsed, Tool, parse, tools_from_openai
from naru.errors import UserError
from naru.paths import found_at


def command(
    text: Annotated[str, typer.Argument(help="A file with the model's text, or - for standard input.")] = "-",
    tools: Annotated[
        str, typer.Option(help="The tools as JSON (OpenAI, Anthropic or MCP form), a file with them, or a,b,c names.")
    ] = "[]",
    hint: Annotated[str, typer.Option(help="Model or dialect name.")] = "",
    generation_prompt: Annotated[
        str | None, typer.Option("--prompt", help="The end of the prompt, such as '<think>\\n'; escapes are decoded.")
    ] = None,
    finish_reason: Annotated[str, typer.Option(help="The engine's: stop, length ...")] = "stop",
    explain: Annotated[bool, typer.Option("--explain", help="Show what every piece of the text was read as.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read a model's reply and show its calls, as an OpenAI client would get them."""
    reply = _read(text)
    prompt = _unescaped(generation_prompt) if generation_prompt is not None else None
    offered = read_tools(tools)
    if not offered:
        print_note("No tools were given, so that calls stay text. Name those that may be called: --tools NAME,NAME")
    parsed = parse(reply, offered, hint=hint or None, generation_prompt=prompt, finish_reason=finish_reason)
    if as_json:
        print_json(_as_data(parsed))
        return
    sys.stdout.write("\n".join(_lines(parsed, reply, explain=explain)) + "\n")


def read_tools(given: str) -> tuple[Tool, ...]:
    """Read the tools from JSON, a file with JSON, or bare names.

    Raises:
        UserError: They are none of these.
    """
    given = given.strip()
    named_as_file = given.startswith(("/", "./", "../")) or given.endswith(".json")
    is_file = given[:1] not in ("[", "{") and (named_as_file or found_at(Path(given)))
    written = _read(given) if is_file else given
    if written[:1] not in ("[", "{") and not is_file:
        return tuple(Tool(name.strip()) for name in written.split(",") if name.strip())
    try:
        data = json.loads(written)
    except ValueError as error:
        raise UserError(
            f"The tools are no JSON: {error}.", remedy="Give a list of tools, a file that holds one, or names a,b,c."
        ) from error
    if isinstance(data, dict):
        data = data.get("tools", [data])
    if not isinstance(data, list) or not all(isinstance(tool, dict) for tool in data):
        raise UserError("The tools are no list of objects.", remedy='Give [{"name": ..., "parameters": ...}].')
    return tools_from_openai(data)


def _read(where: str) -> str:
    if where == "-":
        is_typed = sys.stdin.isatty()
        written = pasted("Write or paste the model's text, then press Ctrl-D.") if is_typed else sys.stdin.buffer.read()
        return written.decode(errors="replace")
    file, remedy = Path(where), "Give a file, or - for stdin."
    check_named(file, remedy=remedy)
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"Tried to read {where}: {error.strerror}.", remedy=remedy) from error


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t")


def openai_message(parsed: Parsed) -> dict[str, Any]:
    """Return the assistant message that an OpenAI client would get."""
    message: dict[str, Any] = {"role": "assistant", "content": parsed.content or None}
    if parsed.reasoning:
        message["reasoning_content"] = parsed.reasoning
    if parsed.calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for number, call in enumerate(parsed.calls)
        ]
    return message


def _as_data(parsed: Parsed) -> dict[str, Any]:
    return {
        "message": openai_message(parsed),
        "calls": [call.as_data() for call in parsed.calls],
        "repairs": [repair.as_data() for repair in parsed.repairs],
        "spans": [span.as_data() for span in parsed.spans],
    }


def _lines(parsed: Parsed, reply: str, *, explain: bool) -> list[str]:
    lines = []
    for call in parsed.calls:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        lines.append(f"call       {call.name} {arguments}  [{call.dialect}, characters {call.span[0]}-{call.span[1]}]")
    if not parsed.calls:
        lines.append("call       none")
    lines += [f"repair     {mended.kind}: {mended.before!r} -> {mended.after!r}" for mended in parsed.repairs]
    if parsed.reasoning:
        lines.append(f"reasoning  {parsed.reasoning!r}")
    lines.append(f"content    {parsed.content!r}")
    if explain:
        lines.append("")
        lines += [
            f"{span.start:>6}-{span.end:<6} {span.kind:<9} {reply[span.start : span.end]!r}" for span in parsed.spans
        ]
    lines += ["", json.dumps(openai_message(parsed), ensure_ascii=False, indent=2)]
    return lines
