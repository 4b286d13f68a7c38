"""Every figure about reading tool calls: conformance, splits, mutated text, speed, holding back, import.

    python bench/dialects.py                    all of it, a few minutes
    python bench/dialects.py --mutations 5000   a quick look

canitoolcall ships no tokenizers, so token boundaries are approximated: special tokens and words with their space.
Times are CPU times of this process, the best of several runs; the line `calibration` says how fast the machine is.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from canitoolcall.adapters.base import ReplayInput
from canitoolcall.checks import case_status, run_checks
from canitoolcall.fixtures import load_families, load_fixtures
from canitoolcall.results import Observation, ParsedToolCall, ParseResult

from naru.dialects import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    Reasoning,
    StreamParser,
    Text,
    Tool,
    parse,
    tools_from_openai,
)

ROOT = Path(__file__).parent.parent
CASE_FILES = ("dialects.jsonl", "dialect_pack.jsonl", "dialect_more.jsonl", "dialects_2.jsonl")
PIECES = ['"', "'", "{", "}", "[", "]", "<", ">", "\n", "`", "```", "\\", ",", ":", " ", "\r\n", "(", ")"]
PIECES += ["<think>", "</think>", "</tool_call>", "<tool_call>", "[TOOL_CALLS]", "Action:", "<|channel|>"]
TOKEN = re.compile(r"<[^<>\s]{1,40}>|\[[A-Z_/]+\]|\s?\w{1,8}|\s+|.", re.DOTALL)
SPECIAL = re.compile(r"(<[^<>\s]{1,40}>|\[[A-Z_/]+\])")
LIMITS = (0.35, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
WRITE = Tool(
    "write_file", {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}
)


class Case:
    """A recorded reply with what the parser is told about it."""

    def __init__(self, text, tools, prompt, finish_reason, source):
        self.text, self.tools, self.prompt = text, tools, prompt
        self.finish_reason, self.source = finish_reason, source


def load():
    families = load_families()
    fixtures = []
    for fixture in load_fixtures():
        raw = ReplayInput.from_fixture(fixture, families.get(fixture.family))
        reason = "length" if raw.truncated else "stop"
        fixtures.append(Case(raw.text, tools_from_openai(fixture.tools), raw.generation_prompt, reason, fixture))
    cases = []
    for name in CASE_FILES:
        for line in (ROOT / "tests" / "cases" / name).read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            prompt, reason = data.get("generation_prompt"), data.get("finish_reason", "stop")
            cases.append((name, Case(data["raw_output"], tools_from_openai(data["tools"]), prompt, reason, data)))
    return fixtures, cases, families


def near_forms():
    """Return the texts that no template has, for mutating."""
    forms = json.loads((ROOT / "tests" / "cases" / "dialect_near_forms.json").read_text(encoding="utf-8"))
    tools = tuple(
        Tool(name, {"type": "object", "properties": {key: {"type": kind} for key, kind in types.items()}})
        for name, types in {
            "bash": {"command": "string", "timeout": "integer"},
            "get_weather": {"city": "string", "days": "integer"},
        }.items()
    )
    return [Case(text, tools, None, "stop", None) for texts in forms.values() for text in texts]


def run(case, deltas):
    parser = StreamParser(case.tools, generation_prompt=case.prompt, keep=True)
    events = [event for delta in deltas for event in parser.feed(delta)]
    return events + parser.close(case.finish_reason), parser.parsed()


def result_of(events, *, begun=False):
    """Add the events up as a client does; a call counts when it ended, or with `begun` when it began."""
    names, arguments, ended = {}, {}, []
    for event in events:
        if isinstance(event, CallStart):
            names[event.index], arguments[event.index] = event.name, []
            if begun:
                ended.append(event.index)
        elif isinstance(event, ArgumentsDelta):
            arguments[event.index].append(event.json)
        elif isinstance(event, CallEnd) and not begun:
            ended.append(event.index)
    return ParseResult(
        content="".join(event.text for event in events if isinstance(event, Text)) or None,
        reasoning_content="".join(event.text for event in events if isinstance(event, Reasoning)) or None,
        tool_calls=tuple(ParsedToolCall(names[index], "".join(arguments[index])) for index in ended),
    )


def pieces(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def strategies(text):
    tokens = TOKEN.findall(text)
    yield "one", [text]
    yield "special", [part for part in SPECIAL.split(text) if part]
    yield "token", tokens
    for seed in range(1, 6):
        rng, at, groups = random.Random(seed), 0, []
        while at < len(tokens):
            size = rng.randint(1, 8)
            groups.append("".join(tokens[at : at + size]))
            at += size
        yield f"rand:{seed}:8", groups


def conformance(fixtures, families):
    counts, counts_split, differing, open_calls = Counter(), Counter(), 0, 0
    for case in fixtures:
        family = families.get(case.source.family)
        events, whole = run(case, [case.text])
        streams = {}
        for name, deltas in strategies(case.text):
            streams[name] = result_of(run(case, deltas)[0])
        rows = run_checks(case.source, family, Observation(nonstream=result_of(events), streams=streams))
        counts[case_status(rows).value] += 1
        streams = {}
        for size in range(1, 8):
            split_events, split = run(case, pieces(case.text, size))
            differing += split != whole
            streams[f"rand:{size}:1"] = result_of(split_events)
        rows = run_checks(case.source, family, Observation(nonstream=result_of(events), streams=streams))
        counts_split[case_status(rows).value] += 1
        open_calls += len(result_of(events, begun=True).tool_calls) > len(whole.calls)
    print(f"canitoolcall 469, default strategies     {dict(counts)}   (floor: fail 0, pass 460; ceiling 468 + 1 soft)")
    print(f"canitoolcall 469, pieces of 1 to 7       {dict(counts_split)}   differing from whole: {differing}")
    print(f"  of them with a call begun, never ended {open_calls}   (cut off; a client sees a part and no end)")


def recorded(cases):
    for name in CASE_FILES:
        right = total = 0
        for file, case in cases:
            if file != name:
                continue
            total += 1
            expected, ignored = case.source["expected"], case.source.get("ignore", ())
            readings = [run(case, deltas)[1] for deltas in ([case.text], *(pieces(case.text, n) for n in range(1, 8)))]
            parsed = readings[0]
            right += (
                [{"name": call.name, "arguments": call.arguments} for call in parsed.calls]
                in (expected["tool_calls"], *case.source.get("also_acceptable", ()))
                and ("content" in ignored or (parsed.content or None) == expected["content"])
                and ("reasoning_content" in ignored or (parsed.reasoning or None) == expected["reasoning_content"])
                and all(reading == parsed for reading in readings)
            )
        print(f"{name:<40} {right}/{total}")


def mutate(text, rng, others):
    if len(text) > 1500:
        at = rng.randrange(len(text) - 1000)
        text = text[:400] + text[at : at + 600] + text[-400:]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        start = rng.randrange(len(text) + 1)
        stop = min(len(text), start + rng.randrange(1, 30))
        other = rng.choice(others)
        at = rng.randrange(len(other) + 1)
        character = chr(
            rng.choice(
                (rng.randrange(0x80), rng.randrange(0x3000), rng.randrange(0xD800, 0xE000), rng.randrange(0x110000))
            )
        )
        text = rng.choice(
            (
                text[:start] + text[stop:],
                text[:stop] + text[start:],
                text[:start],
                text[start:],
                text[:start] + character + text[start:],
                text[:start] + other[at : at + rng.randrange(60)] + text[start:],
                text[:start] + text[stop : stop + 5] + text[start:stop] + text[stop + 5 :],
                text[:start] + rng.choice(PIECES) + text[start:],
                text + other[:300],
            )
        )
    return text


def mutations(corpus, count, seed):
    rng = random.Random(seed)
    others = [case.text for case in corpus]
    raised = differing = lost = bad = 0
    for _ in range(count):
        base = rng.choice(corpus)
        case = Case(mutate(base.text, rng, others), base.tools, base.prompt, rng.choice(("stop", "length")), None)
        size = rng.choice((1, 1, 2, 3, 4, 5, 7))
        cut = rng.randrange(len(case.text) + 1)
        try:
            whole_events, whole = run(case, [case.text])
            events, split = run(case, pieces(case.text, size))
            cut_events, in_two = run(case, [case.text[:cut], case.text[cut:]])
            calls = [json.loads(call.arguments_raw) for call in result_of(events).tool_calls]
            bad += calls != [call.arguments for call in split.calls]
            json.dumps(calls, ensure_ascii=False).encode()
        except Exception as error:
            raised += 1
            print("  raised", repr(error)[:100], repr(case.text)[:200])
            continue
        if split != whole or result_of(events) != result_of(whole_events):
            differing += 1
            print("  differs in pieces of", size, repr(case.text), repr(case.prompt))
        elif in_two != whole or result_of(cut_events) != result_of(whole_events):
            differing += 1
            print("  differs cut at", cut, repr(case.text), repr(case.prompt))
        at = 0
        for span in whole.spans:
            lost += span.start != at
            at = span.end
        lost += at != len(case.text)
    outcome = f"exceptions {raised}, differences {differing}, lost text {lost}, bad arguments {bad}"
    print(f"{count:,} mutated inputs".ljust(40), outcome)


def best_of(times, function):
    best = 1e9
    for _ in range(times):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def long_call(form, size):
    body = ('a line of "text" with {braces} and <b>tags</b>\n' * (size // 46 + 1))[:size]
    arguments = json.dumps({"path": "a", "content": body})
    return {
        "hermes": f'<tool_call>\n{{"name": "write_file", "arguments": {arguments}}}\n</tool_call>',
        "qwen3-xml": "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n"
        f"{body}\n</parameter>\n</function>\n</tool_call>",
        "glm": "<tool_call>write_file<arg_key>path</arg_key><arg_value>a</arg_value><arg_key>content</arg_key>"
        f"<arg_value>{body}</arg_value></tool_call>",
        "mistral": f"[TOOL_CALLS]write_file[ARGS]{arguments}",
        "bare JSON": json.dumps({"name": "write_file", "arguments": {"path": "a", "content": body}}),
        "pythonic": f'[write_file(path="a", content={json.dumps(body)})]',
        "plain text": "The quick brown fox jumps over it. " * (size // 35),
    }[form]


def stream_cost(text, size):
    def feed():
        parser = StreamParser([WRITE])
        for delta in pieces(text, size):
            parser.feed(delta)
        parser.close()

    return feed


def speed(fixtures):
    print(f"calibration: 10 million additions        {best_of(2, lambda: sum(range(10_000_000))) * 1e3:.0f} ms")
    for case in fixtures:
        parse(case.text, case.tools, generation_prompt=case.prompt)
    times = [
        best_of(15, lambda case=case: parse(case.text, case.tools, generation_prompt=case.prompt)) * 1e6
        for case in fixtures
    ]
    print(
        f"whole text, 469 replies                  median {statistics.median(times):.0f} us,"
        f" mean {statistics.mean(times):.0f} us   (floor: 60)"
    )
    total = tokens = 0
    for case in fixtures:
        count = len(case.source.output_token_ids)
        deltas = pieces(case.text, max(1, round(len(case.text) / count)))

        def feed(case=case, deltas=deltas):
            parser = StreamParser(case.tools, generation_prompt=case.prompt)
            for delta in deltas:
                parser.feed(delta)
            parser.close()

        total += best_of(5, feed)
        tokens += len(deltas)
    print(f"streamed per token                       {total / tokens * 1e6:.2f} us over {tokens:,} tokens   (floor: 5)")
    for form in ("hermes", "qwen3-xml", "glm", "mistral", "bare JSON", "pythonic", "plain text"):
        costs = {}
        for size, repeats in ((10_000, 15), (100_000, 3), (1_000_000, 3)):
            text = long_call(form, size)
            costs[size] = best_of(repeats, stream_cost(text, 4)) / len(text) * 1e6
        print(
            f"  {form:<12} 100 KB by 4 characters     {costs[100_000] / 10:.3f} s   (floor: 0.5);"
            f" cost per character 10 KB to 1 MB x {costs[1_000_000] / costs[10_000]:.2f}   (floor: 1.2)"
        )
    parser = StreamParser([WRITE])
    parser.feed("Hello")
    deltas = [" word", " and", " more", " text", ".", " It", "'s", " fine"] * 2000
    cost = best_of(7, lambda: [parser.feed(delta) for delta in deltas]) / len(deltas)
    print(f"plain text per delta                     {cost * 1e6:.2f} us   (floor: 2)")


def holding_back():
    parser = StreamParser([WRITE])
    worst, said = 0, 0
    text = "Ordinary text < with [brackets] and `code`, {braces}: see <b>this</b>.\n\nNext line; x <tool"
    for given, character in enumerate(text, 1):
        said += sum(len(event.text) for event in parser.feed(character) if isinstance(event, Text))
        worst = max(worst, given - said)
    first = StreamParser([WRITE]).feed("H")
    print(
        f"held back in ordinary text               at most {worst} characters; first character at once: {bool(first)}"
    )


def import_cost():
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); a = time.process_time(); import naru.dialects as d; "
        "b = time.process_time(); d.parse('<tool_call>{}</tool_call> x', [d.Tool('f')]); "
        "print((b - a) * 1e3, (time.process_time() - b) * 1e3)"
    )
    command = [sys.executable, "-S", "-c", code, str(ROOT / "src")]
    with tempfile.TemporaryDirectory() as compiled:
        environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPYCACHEPREFIX": compiled}
        runs = [
            subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split()
            for _ in range(15)
        ]
    imported, parsed = (min(float(run[column]) for run in runs) for column in (0, 1))
    print(
        f"import naru.dialects, parser included    {imported:.0f} ms CPU,"
        f" the first reply {parsed:.0f} ms more   (floor: 30)"
    )


def shown():
    """Print both errors for every limit: talk about calls that runs, and calls in ordinary surroundings that do not."""
    sys.path.insert(0, str(ROOT))
    talk = importlib.import_module("tests.dialects.talk")
    attempts = importlib.import_module("naru.dialects.reading.attempts")
    kept, judged, doubts = attempts.doubt_of, [], {}

    def record(found):
        judged.append(kept(found))
        return judged[-1]

    attempts.doubt_of = record
    for kind, parts in talk.FRAMES.items():
        for part in parts:
            for number, _, text in talk.texts(kind, part, 6):
                judged.clear()
                calls = parse(text, talk.TOOLS).calls
                if judged or not calls:  # never a call, whatever stands around it: no limit makes one of it
                    doubts.setdefault((kind, talk.ends(kind, part, number)), []).append(max(judged, default=9.0))
    attempts.doubt_of = kept
    rows = {
        "talk run": doubts["shown", False], "talk that ends with its call, run": doubts["shown", True],
        "calls with nothing after them, lost": doubts["made", True],
        "calls with text after them, lost": doubts["made", False],
    }  # fmt: skip
    print("limit".ljust(40), *(f"{limit:>5}" for limit in LIMITS), "   of")
    for name, found in rows.items():
        counts = [sum((doubt >= limit) == name.endswith("lost") for doubt in found) for limit in LIMITS]
        print(name.ljust(40), *(f"{count:>5}" for count in counts), f"{len(found):>5}")


def peers():
    for name in ("vllm", "sglang"):
        try:
            importlib.import_module(name)
        except ImportError:
            print(f"{name:<40} cannot be imported here; not compared")
        else:
            print(f"{name:<40} is importable: compare with its own parsers by canitoolcall's adapter")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--mutations", type=int, default=100_000)
    arguments.add_argument("--seed", type=int, default=20261128)
    arguments.add_argument("--only", choices=("right", "fuzz", "speed", "shown"))
    given = arguments.parse_args()
    fixtures, cases, families = load()
    if given.only in (None, "right"):
        conformance(fixtures, families)
        recorded(cases)
    if given.only in (None, "fuzz"):
        mutations([*fixtures, *(case for _, case in cases), *near_forms()], given.mutations, given.seed)
    if given.only in (None, "shown"):
        shown()
    if given.only in (None, "speed"):
        speed(fixtures)
        holding_back()
        import_cost()
        peers()


if __name__ == "__main__":
    main()
