"""What a legacy HTTP session keeps so that a cut stream can be resumed with `Last-Event-ID` (R-39)."""

from __future__ import annotations

import re
from collections import OrderedDict, deque

from naru.gateway.sessions.session import Session
from naru.gateway.wire.frames import Frame
from naru.gateway.wire.streams import Stream, event

MAX_EVENTS = 512
MAX_BYTES = 4 * 1024 * 1024
KEPT_ANSWERS = 4
KEPT_BYTES = 64 * 1024
_EVENT_ID = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
STANDALONE = 0
"""The stream that belongs to no request."""


class Track:
    """The events of one stream, sent or not, and where they go now."""

    __slots__ = ("done", "events", "number", "outputs", "sequence")

    def __init__(self, number: int) -> None:
        self.number = number
        self.sequence = 0
        self.events: deque[tuple[int, Frame]] = deque()
        self.outputs: list[Stream] = []
        """Open streams of this track; each event goes to the first that takes it, never to two."""
        self.done = False
        """The answer is among the events; nothing follows."""


class Replay:
    """All tracks of one session; the oldest events give way."""

    def __init__(self) -> None:
        self._tracks: OrderedDict[int, Track] = OrderedDict()
        self._numbers = STANDALONE
        self._events = 0
        self._bytes = 0

    def open(self) -> Track:
        """Begin the track of one answer."""
        self._numbers += 1
        return self._track(self._numbers)

    def standalone(self) -> Track:
        """Return the track of the session's own stream."""
        return self._tracks.get(STANDALONE) or self._track(STANDALONE)

    def push_standalone(self, frame: Frame) -> bool:
        """Record and send a frame that belongs to no request."""
        return self.add(self.standalone(), frame)

    def _track(self, number: int) -> Track:
        track = self._tracks[number] = Track(number)
        return track

    def add(self, track: Track, frame: Frame) -> bool:
        """Record a frame and send it where the track leads; False when nobody listens there."""
        number = track.sequence + 1
        chunk = event(frame, event_id=f"{track.number}-{number}")
        is_taken = any(stream.push(chunk) for stream in track.outputs)
        if not is_taken and track.number == STANDALONE:
            return False  # the session itself keeps it for whoever comes: recorded too, it would come twice
        track.sequence = number
        track.events.append((number, frame))
        self._events += 1
        self._bytes += len(frame)
        while self._events > MAX_EVENTS or self._bytes > MAX_BYTES:
            self._forget_oldest()
        return is_taken

    def _forget_oldest(self) -> None:
        for track in list(self._tracks.values()):
            if track.events:
                _, frame = track.events.popleft()
                self._events -= 1
                self._bytes -= len(frame)
                return

    def finish(self, track: Track) -> None:
        """End the streams with the answer; it is kept a while, since its client may just have been cut off."""
        track.done = True
        for stream in track.outputs:
            stream.end()
        finished = [other for other in self._tracks.values() if other.done]
        for old in finished[:-KEPT_ANSWERS]:
            self.drop(old)
        if track.outputs and sum(len(frame) for _, frame in track.events) > KEPT_BYTES:
            self.drop(track)

    def give_up(self, track: Track) -> None:
        """End the streams without an answer; nothing of it is kept."""
        for stream in track.outputs:
            stream.end()
        self.drop(track)

    def drop(self, track: Track) -> None:
        """Forget a track."""
        for _, frame in track.events:
            self._events -= 1
            self._bytes -= len(frame)
        track.events.clear()
        self._tracks.pop(track.number, None)

    def find(self, last_event_id: str) -> tuple[Track, list[bytes]] | None:
        """Return the track of an event id and the events after it, or None when they are not all kept."""
        told = _EVENT_ID.fullmatch(last_event_id)
        if told is None:
            return None
        number, after = map(int, told.groups())
        track = self._tracks.get(number)
        if track is None or after > track.sequence or (track.events and track.events[0][0] > after + 1):
            return None
        if not track.events and after < track.sequence:
            return None
        return track, [event(frame, event_id=f"{number}-{n}") for n, frame in track.events if n > after]


def replay_of(session: Session) -> Replay:
    """Return the session's replay, made at its first use: most sessions never need one."""
    if not isinstance(session.replay, Replay):
        session.replay = Replay()
    return session.replay
