"""Whatever a client of any dialect holds, the model is asked in turns that every endpoint takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naru.dialects.writers import Shell
from naru.dialects.writers.shell import posix_command, read_posix_command
from naru.web.face.errors import BadRequestError
from naru.web.face.exchange import prepare
from naru.web.face.profiles import PROFILES
from naru.web.openai.request import read_chat

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}}
PIECES = [
    "hello ",
    "\n",
    "<f>\n<a>x</a>\n</f>",
    "<f>",
    "</f>",
    "<a>",
    "<f_result>\nr\n</f_result>",
    "<f_result>",
    "[f for 'x\ny'] Result:\nr",
    "[f] Result:",
    '<function_calls>\n<invoke name="f">\n<parameter name="a">x</parameter>\n</invoke>\n</function_calls>',
    "<function_results>\n<result>\n<tool_name>f</tool_name>\n<stdout>\nr\n</stdout>\n</result>\n</function_results>",
    "<function_calls>",
    'Action: f\nAction Input: {"a": "x"}',
    "Action: f\nAction Input: {",
    "\nObservation: r",
    '```bash\nnaru tool run f \'{"a": "x"}\'\n```',
    "## f\nDescription: Does.\n- a: (required) it\n<f>\n<a>it</a>\n</f>\n",
    "Available tools:",
    "Tool calling details:\n- one\n",
    "Action: the action to take, should be one of [f, g]\n",
]
_TEXT = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
_PART = (
    st.builds(lambda text: {"type": "text", "text": text}, _TEXT)
    | st.builds(lambda text: {"type": "tool_result", "tool_use_id": "a", "content": text}, _TEXT)
    | st.builds(lambda text: {"type": "thinking", "thinking": text}, _TEXT)
    | st.just({"type": "tool_use", "id": "a", "name": "f", "input": {}})
    | st.just({"type": "image_url", "image_url": {"url": "http://x"}})
)
_CALL = st.builds(
    lambda call_id, name, arguments: {"id": call_id, "function": {"name": name, "arguments": arguments}},
    st.sampled_from(["a", "b", "", None]),
    st.sampled_from(["f", "g"]),
    st.sampled_from(["{}", '{"a": "x"}', "[", None]),
)
_TURN = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "user", "assistant", "assistant", "tool"]),
        "content": _TEXT | st.lists(_PART, max_size=3) | st.none(),
    },
    optional={"tool_calls": st.lists(_CALL, max_size=2), "tool_call_id": st.sampled_from(["a", "b", "z"])},
)


@pytest.mark.slow
@pytest.mark.parametrize("client", PROFILES)
@given(st.lists(_TURN, min_size=1, max_size=5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_call_has_one_result_right_after_it(client: str, turns: list[dict[str, Any]], offers: bool) -> None:
    body = {"messages": turns, **({"tools": [TOOL]} if offers else {})}
    try:
        request = read_chat(body, {}).request
    except BadRequestError:  # It names the message; see test_openai_history.
        return
    open_ids: list[str] = []
    for message in prepare(request, PROFILES[client], Shell(posix_command, read_posix_command)).request.messages:
        if message.role == "tool":
            open_ids.remove(message.tool_call_id)
            continue
        assert open_ids == []
        open_ids = [call.id for call in message.tool_calls]
        assert len(set(open_ids)) == len(open_ids)
    assert open_ids == []
