"""What changes something, and who asks for it."""

from __future__ import annotations

import pytest

from naru.agent.changes import asks_for_change, changes_something, may_change
from naru.messages import ToolDefinition


@pytest.mark.parametrize(
    ("tool", "changes"),
    [
        (ToolDefinition("archive_photo", "Archive a photo."), True),
        (ToolDefinition("srv__extendLease", "Give a tenant more months."), True),
        (ToolDefinition("order_details", "Everything about one order."), False),
        (ToolDefinition("update_order_status", "Set the status of an order."), True),
        (ToolDefinition("delete_user_details"), True),
        (ToolDefinition("order", "One order with its customer."), False),
        (ToolDefinition("order", "Order a taxi."), True),
        (ToolDefinition("refill", "Refill a prescription."), True),
        (ToolDefinition("irrigation", "Irrigate the field."), True),
        (ToolDefinition("medicine", "Form and price of a medicine."), False),
        (ToolDefinition("film", "Recommend a film."), False),
        (ToolDefinition("event_info", "Times, guests, place."), False),
        (ToolDefinition("seat_hold", "좌석을 예약합니다."), True),
        (ToolDefinition("seat_map", "예약된 좌석을 조회합니다."), False),
        (ToolDefinition("apply_voucher", "쿠폰을 적용한 금액을 계산합니다."), False),
        (ToolDefinition("price", "Return the price of a product in won."), False),
        (ToolDefinition("weather", "Returns all that is known of a city's weather."), False),
        (ToolDefinition("total", "Add up prices times amounts."), False),
        (ToolDefinition("return_book", "Return a book to the library."), True),
        (ToolDefinition("extend_and_tell", "Return the new end of a lease."), True),
        (ToolDefinition("anything", annotations={"readOnlyHint": False}), True),
    ],
    ids=lambda one: one.name if isinstance(one, ToolDefinition) else "",
)
def test_a_tool_that_changes_something_is_told_by_annotation_verb_or_description(
    tool: ToolDefinition, changes: bool
) -> None:
    assert changes_something(tool) is changes


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Please extend the lease of flat 12 by two months.", True),
        ("Could you cancel my booking?", True),
        ("Find order 7 and cancel it.", True),
        ("What is the status of order 7?", False),
        ("List all orders that are open", False),
        ("Which books are there?", False),
        ("7번 주문을 취소해줘", True),
        ("회의실을 예약해 주세요", True),
        ("7번 주문 상태를 알려줘", False),
        ("예약 목록을 보여줘", False),
        ("취소된 주문은 몇 건이야?", False),
    ],
)
def test_a_change_is_asked_for_by_an_order_not_by_a_question(question: str, asks: bool) -> None:
    assert asks_for_change(question) is asks


@pytest.mark.parametrize(
    ("question", "may"),
    [
        ("Acknowledge alarm 501.", True),
        ("Please refill it and acknowledge alarm 501.", True),
        ("Is alarm 501 acknowledged?", False),
        ("Show alarm 501", False),
        ("알람 501은 뭐야?", False),
    ],
)
def test_an_order_in_a_tools_own_verb_lets_it_run(question: str, may: bool) -> None:
    assert may_change(ToolDefinition("acknowledgeAlarm", "Acknowledge an alarm."), question) is may
