"""D7: `naru-data` alone over stdio with the official client, nothing configured: everything embedded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from naru.config import environment


@pytest.mark.slow
@pytest.mark.postgres
async def test_a_fresh_machine_answers_every_tool_with_embedded_services(tmp_path: Path):
    settings = dict.fromkeys(("CHROMADB_HOST", "POSTGRESQL_DB_HOST", "TEXT_EMBEDDING_MODEL_URL"), "")
    variables = {**environment(), **settings, "NARU_DATA_DIR": str(tmp_path)}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "naru.builtins.data.server"], env=variables, cwd=tmp_path
    )
    async with Client(stdio_client(server), mode="legacy") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["get_text_embedding", "get_sim_search", "query_bga_database", "serialize_for_cell"]
        assert list(tools["query_bga_database"].input_schema["properties"]) == [
            "generated_sql"
        ]  # nothing injected shows
        found = await client.call_tool("get_sim_search", {"query_list": ["수율", "ball shear force"], "n_results": 2})
        documents = found.structured_content["result"]
        assert [len(row) for row in documents] == [2, 2]
        assert documents[0][0].startswith("bga_lot.yield_pct")
        rows = await client.call_tool("query_bga_database", {"generated_sql": "SELECT\u00a0count(*) AS n FROM bga_lot"})
        assert rows.structured_content == {
            "status": "success",
            "message": "SQL executed.",
            "data": {
                "type": "csv_table",
                "content": {
                    "sql": "SELECT count(*) AS n FROM bga_lot",
                    "records": [{"n": 400}],
                    "columns": [{"name": "n", "type": "int8"}],
                    "row_count": 1,
                    "truncated": False,
                },
            },
        }
        wrong = await client.call_tool("query_bga_database", {"generated_sql": "DELETE FROM bga_lot"})
        assert wrong.is_error
        answer = json.loads(wrong.content[0].text)
        assert answer["status"] == "error"
        assert answer["message"].startswith("Error while querying DB: Only one SELECT")
        vectors = await client.call_tool("get_text_embedding", {"text_list": ["나루", "ferry"]})
        assert [len(vector) for vector in vectors.structured_content["result"]] == [897, 897]
        cell = await client.call_tool("serialize_for_cell", {"data": "a\u00a0b"})
        assert cell.content[0].text == "a b"
