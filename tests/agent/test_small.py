"""UPLIFT.md: what a small model is helped with, shown with scripted answers."""

from __future__ import annotations

import json

import pytest

from naru.agent.changes import changes_something
from naru.agent.events import CallFinished, RunFinished
from naru.agent.loop import run
from naru.builtins.hr.server import hr_toolset
from naru.messages import ChatRequest, Message, ToolDefinition, ToolResult
from naru.models.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.tools.combined import CombinedToolset

SMALL = Profile(family="tiny", small=True, evident_calls=False)
"""Each call is the scripted model's own."""


def call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


async def answer(question: str, script, toolset=None) -> tuple[RunFinished, list[CallFinished], ScriptedBackend]:
    backend = ScriptedBackend(script, profile=SMALL, repeat_last=True)
    tools = toolset or CombinedToolset({"hr": hr_toolset()})
    request = ChatRequest("tiny", (Message("user", question),))
    events = [event async for event in run(backend, tools, request)]
    assert isinstance(events[-1], RunFinished)
    return events[-1], [event for event in events if isinstance(event, CallFinished)], backend


async def test_few_tools_are_offered_under_bare_names() -> None:
    _, _, backend = await answer(
        "How many vacation days does EMP003 have left in 2025?",
        [call("calculate_vacation_days", employee_id="EMP003", year=2025), "11 days are left."],
    )
    assert 1 <= len(backend.requests[0].tools) <= 3
    assert "calculate_vacation_days" in [tool.name for tool in backend.requests[0].tools]


async def test_an_invented_id_never_reaches_a_tool() -> None:
    _, calls, _ = await answer(
        "How many vacation days are left in 2025?",
        [call("calculate_vacation_days", employee_id="EMP123", year=2025), "I do not know."],
    )
    assert [one for one in calls if one.ran and "EMP123" in str(one.call.arguments)] == []


async def test_the_only_id_of_the_question_replaces_an_invented_one() -> None:
    _, calls, _ = await answer(
        "Which department is EMP003 in?", [call("get_employee_info", employee_id="123"), "EMP003 is in Sales."]
    )
    assert [one.call.arguments for one in calls if one.ran] == [{"employee_id": "EMP003"}]


async def test_a_bare_number_is_completed_to_the_questions_id() -> None:
    _, calls, _ = await answer(
        "Compare EMP003 and EMP007: department?",
        [
            call("get_employee_info", employee_id="007"),
            call("get_employee_info", employee_id="EMP003"),
            "Sales, 재무팀.",
        ],
    )
    assert calls[0].call.arguments == {"employee_id": "EMP007"}


async def test_schema_keywords_and_unknown_keys_are_dropped() -> None:
    _, calls, _ = await answer("list all employees", [call("get_all_employees", required=[], properties={}, x=1)])
    assert [one.call.arguments for one in calls if one.ran] == [{}]


async def test_a_year_that_nobody_gave_is_this_year_and_one_that_was_given_stays() -> None:
    _, calls, _ = await answer(
        "EMP002의 2024년 남은 연차는?",
        [call("calculate_vacation_days", employee_id="EMP002", year=2019), "14일입니다."],
    )
    assert calls[0].call.arguments["year"] == 2024


async def test_text_instead_of_the_evident_call_still_leads_to_the_result() -> None:
    end, calls, _ = await answer("Which department is EMP009 in?", ["I will look that up.", "It is Finance."])
    assert [one.call.name for one in calls] == ["hr__get_employee_info"]
    assert end.answer == "It is Finance."


async def test_a_long_list_is_given_as_it_is() -> None:
    end, _, _ = await answer("직원 목록 보여줘", [call("get_all_employees")])
    assert end.answer.count("\n") == 19
    assert "James Carter" in end.answer


async def test_a_document_that_was_asked_for_is_given_as_it_is() -> None:
    end, _, _ = await answer("find the travel expense rules", [call("search_docs", query="travel expense rules")])
    assert "receipts" in end.answer


async def test_not_found_is_answered_with_the_tools_own_message() -> None:
    end, _, _ = await answer("EMP999 직원 정보", [call("get_employee_info", employee_id="EMP999"), "홍길동입니다."])
    assert "No employee EMP999" in end.answer


@pytest.mark.parametrize(
    "bad",
    [
        "How many vacation days does EMP003 have left in 2025?",
        call("calculate_vacation_days", employee_id="EMP003", year=2025),
        "EMP003 has 4711 days left.",
        "EMP003 has 1 day left.",
        "EMP003 has 11 days, EMP003 has 11 days, EMP003 has 11 days, EMP003 has 11 days, EMP003 has 11 days",
        "The answer is found in the information provided.",
        "",
    ],
    ids=[
        "repeats the question",
        "a call",
        "an invented number",
        "another number",
        "over and over",
        "says nothing",
        "empty",
    ],
)
async def test_a_bad_answer_is_asked_for_once_more_and_never_given(bad: str) -> None:
    end, _, _ = await answer(
        "How many vacation days does EMP003 have left in 2025?",
        [call("calculate_vacation_days", employee_id="EMP003", year=2025), bad, "11 days are left."],
    )
    assert end.answer == "11 days are left."


async def test_when_no_answer_will_do_the_result_itself_is_given() -> None:
    end, _, _ = await answer(
        "How many vacation days does EMP003 have left in 2025?",
        [call("calculate_vacation_days", employee_id="EMP003", year=2025), "4711."],
    )
    assert "remaining: 11" in end.answer


async def test_a_question_that_no_tool_speaks_of_is_answered_without_tools() -> None:
    end, calls, backend = await answer("tell me a joke", ["Why did the ferry cross the river?"])
    assert (end.answer, calls) == ("Why did the ferry cross the river?", [])
    assert backend.requests[0].tools == ()


class Diary:
    """One tool that reads, one that changes."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def tools(self):
        return [
            ToolDefinition("list_appointments", "List the appointments of a day."),
            ToolDefinition("delete_appointments", "Delete the appointments of a day."),
        ]

    async def call(self, name, arguments, context):
        self.ran.append(name)
        return ToolResult.of_text("09:00 dentist")


async def test_a_tool_that_changes_something_is_not_offered_for_a_question_that_only_reads() -> None:
    diary = Diary()
    await answer("Which appointments are there today?", ["", "At 09:00 the dentist."], diary)
    assert diary.ran == ["list_appointments"]


@pytest.mark.parametrize(
    ("tool", "changes"),
    [
        (ToolDefinition("delete_file"), True),
        (ToolDefinition("get_order"), False),
        (ToolDefinition("delete_file", annotations={"readOnlyHint": True}), False),
        (ToolDefinition("lookup", annotations={"destructiveHint": True}), True),
    ],
)
def test_what_changes_something_is_told_by_annotation_or_verb(tool: ToolDefinition, changes: bool) -> None:
    assert changes_something(tool) is changes


async def test_each_id_of_a_comparison_is_looked_up_even_when_the_model_answers_at_once() -> None:
    _, calls, _ = await answer(
        "Compare the departments of EMP003 and EMP009.",
        [call("get_employee_info", employee_id="EMP003"), "EMP009 is in Marketing.", "Sales and Finance."],
    )
    assert [one.call.arguments["employee_id"] for one in calls] == ["EMP003", "EMP009"]


async def test_a_repeated_call_gives_way_to_the_one_that_is_still_open() -> None:
    _, calls, _ = await answer(
        "Compare the departments of EMP003 and EMP009.",
        [call("get_employee_info", employee_id="EMP003")] * 2 + ["Sales and Finance."],
    )
    assert [one.call.arguments["employee_id"] for one in calls] == ["EMP003", "EMP009"]


async def test_a_call_that_leaves_no_doubt_is_made_without_asking_for_it() -> None:
    profile = Profile(family="tiny", small=True)
    backend = ScriptedBackend(["EMP003 has 11 days left."], profile=profile, repeat_last=True)
    tools = CombinedToolset({"hr": hr_toolset()})
    request = ChatRequest("tiny", (Message("user", "How many vacation days does EMP003 have left in 2025?"),))
    events = [event async for event in run(backend, tools, request)]
    calls = [event.call for event in events if isinstance(event, CallFinished)]
    assert [(one.name, one.arguments) for one in calls] == [
        ("hr__calculate_vacation_days", {"employee_id": "EMP003", "year": 2025})
    ]
    assert len(backend.requests) == 1, "the model gives the answer alone"


async def test_both_records_of_a_comparison_are_read_without_asking() -> None:
    profile = Profile(family="tiny", small=True)
    backend = ScriptedBackend(["Sales and Finance."], profile=profile, repeat_last=True)
    request = ChatRequest("tiny", (Message("user", "Compare the departments of EMP003 and EMP009."),))
    events = [event async for event in run(backend, CombinedToolset({"hr": hr_toolset()}), request)]
    calls = [event.call.arguments for event in events if isinstance(event, CallFinished)]
    assert calls == [{"employee_id": "EMP003"}, {"employee_id": "EMP009"}]


class Lending:
    """Readers by name, and what they borrowed by card: a question by name takes two calls."""

    def __init__(self, loans: str) -> None:
        self.loans = loans
        self.ran: list[tuple[str, dict]] = []

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def tools(self):
        def schema(name: str, **more: object) -> dict:
            return {"type": "object", "properties": {name: {"type": "string", **more}}, "required": [name]}

        return [
            ToolDefinition("find_reader", "Find readers by name; gives the card.", schema("name")),
            ToolDefinition("loans", "Things on loan, with days due.", schema("card", pattern="^C-")),
        ]

    async def call(self, name, arguments, context):
        self.ran.append((name, arguments))
        return ToolResult.of_text('{"card": "C-7", "name": "Omar Diallo"}' if name == "find_reader" else self.loans)


@pytest.mark.parametrize(
    ("loans", "told"), [('{"thing": "Atlas", "due": "2026-12-20"}', "2026-12-20"), ("[]", "No results were found")]
)
async def test_a_question_by_name_goes_through_the_card_that_the_name_gives(loans: str, told: str) -> None:
    lending = Lending(loans)
    end, _, _ = await answer("When are the loans of Omar Diallo due?", ["", "Atlas, due 2026-12-20."], lending)
    assert lending.ran == [("find_reader", {"name": "Omar Diallo"}), ("loans", {"card": "C-7"})]
    assert told in end.answer


async def test_two_things_asked_of_one_record_are_no_pair_of_records() -> None:
    backend = ScriptedBackend(["영업팀, 8.5일입니다."], profile=Profile(small=True), repeat_last=True)
    request = ChatRequest("tiny", (Message("user", "EMP004의 부서와 2026년 남은 연차를 알려줘"),))
    events = [event async for event in run(backend, CombinedToolset({"hr": hr_toolset()}), request)]
    calls = [event.call.arguments for event in events if isinstance(event, CallFinished)]
    assert calls == [{"employee_id": "EMP004", "year": 2026}, {"employee_id": "EMP004"}]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].answer == "영업팀, 8.5일입니다."
