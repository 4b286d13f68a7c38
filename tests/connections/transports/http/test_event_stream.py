"""Server-sent events out of chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naru.connections.transports.http.event_stream import Event, EventStreamParser, EventTooLargeError
from tests.connections.transports.test_framing import cut

STREAM = (
    b"\xef\xbb\xbf: comment\r\n"
    b"event: endpoint\r\ndata: /messages?x=1\r\n\r\n"
    b"id: 7\ndata:one\ndata: two\n\n"
    b"retry: 2500\rdata\rdata: \xed\x95\x9c\r\r"
    b"id\ndata: no id any more\n\n"
    b"event: ping\n\n"
    b"data: unfinished\n"
)
EVENTS = [
    Event("endpoint", b"/messages?x=1", None),
    Event("message", b"one\ntwo", "7"),
    Event("message", "\n한".encode(), "7"),
    Event("message", b"no id any more", ""),
]


@given(st.lists(st.integers(0)))
def test_events_are_the_same_however_the_stream_is_cut(places: list[int]) -> None:
    parser = EventStreamParser(1000)
    assert [event for chunk in cut(STREAM, places) for event in parser.feed(chunk)] == EVENTS
    assert parser.retry_seconds == 2.5


@given(st.integers(0, len(STREAM)))
def test_a_stream_that_broke_off_anywhere_goes_on_behind_its_last_whole_event(place: int) -> None:
    parser = EventStreamParser(1000)
    before = parser.feed(STREAM[:place])
    assert parser.last_id == (before[-1].id if before else None)
    parser.begin()
    assert parser.feed(b"data: whole\n\n") == [Event("message", b"whole", parser.last_id)]


def test_the_pause_that_a_server_asks_for_is_a_minute_at_most() -> None:
    parser = EventStreamParser(1000)
    for told in (b"90000000", b"9" * 400):
        parser.feed(b"retry: " + told + b"\n\n")
        assert parser.retry_seconds == 60


@pytest.mark.parametrize("size", [1024 * 1024, 8 * 1024 * 1024])
def test_a_large_event_is_delivered_up_to_the_cap(size: int) -> None:
    """R-09"""
    parser = EventStreamParser(8 * 1024 * 1024)
    data = b"data: " + b"x" * size + b"\n\n"
    found = [event for at in range(0, len(data), 65536) for event in parser.feed(data[at : at + 65536])]
    assert [len(event.data) for event in found] == [size]


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 2000, b"data: xxxxxxxxx\n" * 200])
def test_an_event_beyond_the_cap_is_refused_before_it_is_all_there(stream: bytes) -> None:
    parser = EventStreamParser(1000)
    for at in range(0, 1000, 100):
        parser.feed(stream[at : at + 100])
    with pytest.raises(EventTooLargeError, match="1000 bytes"):
        parser.feed(stream[1000:])
