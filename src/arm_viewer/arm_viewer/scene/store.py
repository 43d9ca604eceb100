# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The scene to be shown, and which parts of it must be redrawn: markers, frames, the tool's path.

The node puts in what arrives; the drawer takes out what changed, in the same thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from arm_common.errors import elided
from arm_common.transforms import Array

from arm_viewer.errors import ViewerError
from arm_viewer.scene.markers import ADD, DELETE, DELETE_ALL, Drawing, read_marker, require
from arm_viewer.scene.robot import VisualRobot
from arm_viewer.scene.shapes import Box, TextLabel, corners

MAX_MARKERS = 5000  # of all topics: a scene of 2,000 objects has a name and a shape of each
# A pose is sent again if an element of its matrix changed by more than this [m or 1]: a hundredth
# of a millimetre is less than a pixel shows of a robot that fits on a table.
POSE_TOLERANCE = 1e-5
MAX_TEXT = 2000  # characters of a line, about
PIECE_POINTS = 64
PIECES = 40


class MarkerKey(NamedTuple):
    """The identity of a marker: its topic, namespace and id."""

    topic: str
    namespace: str
    id: int


@dataclass(frozen=True)
class PlacedMarker:
    """A marker that can be drawn now."""

    frame: str  # the tf frame it is attached to; empty for the fixed frame
    pose: Array  # (4, 4), that frame <- marker
    drawing: Drawing


def box_corners(placed: PlacedMarker, frames: Mapping[str, Array]) -> Array:
    """Return the corners of a box in the fixed frame, (8, 3) [m]; (0, 3) of other shapes."""
    if not isinstance(placed.drawing.shape, Box):
        return np.empty((0, 3))
    pose = frames[placed.frame] @ placed.pose if placed.frame else placed.pose
    return corners(placed.drawing.shape, pose)


@dataclass
class _Entry:
    drawing: Drawing
    expires: float
    placed: PlacedMarker | None = None  # as drawn last


@dataclass
class MarkerStore:
    """The markers of all topics. Not thread-safe: used by one thread."""

    _entries: dict[MarkerKey, _Entry] = field(default_factory=dict)
    _new: set[MarkerKey] = field(default_factory=set)
    _erased: set[MarkerKey] = field(default_factory=set)

    def apply(self, topic: str, markers: Sequence[Any], now: float) -> list[ViewerError]:
        """Apply one MarkerArray, in its order; DELETEALL clears only its own topic.

        Lifetimes begin at `now` [s]. Return an error for each marker that cannot be drawn: it is
        erased, the others are applied.
        """
        problems = []
        for marker in markers:
            try:
                self._apply(topic, marker, now)
            except ViewerError as error:
                self._erase(MarkerKey(topic, marker.ns, marker.id))
                problems.append(error)
        return problems

    def expire(self, now: float) -> None:
        """Erase the markers whose lifetime is over at `now` [s]."""
        for key in [key for key, entry in self._entries.items() if entry.expires <= now]:
            self._erase(key)

    def next_expiry(self) -> float:
        """Return when the next marker expires [s]; infinity if none does."""
        return min((entry.expires for entry in self._entries.values()), default=float("inf"))

    def detach(self, frames: Mapping[str, Array] | set[str]) -> None:
        """Let the markers on these frames wait again, because the frames went away."""
        for key, entry in self._entries.items():
            if entry.placed is not None and entry.placed.frame in frames:
                entry.placed = None
                self._new.add(key)
                self._erased.add(key)

    def place(self, frames: Mapping[str, Array]) -> dict[MarkerKey, PlacedMarker]:
        """Return the markers that became drawable, given each frame's (4, 4) pose."""
        ready = {}
        for key in sorted(self._new):
            entry = self._entries[key]
            entry.placed = _placed(entry.drawing, frames)
            if entry.placed is not None:
                ready[key] = entry.placed
        self._new -= ready.keys()
        return ready

    def take_erased(self) -> set[MarkerKey]:
        """Return the markers to be erased since the last call."""
        erased, self._erased = self._erased, set()
        return erased

    def waiting(self) -> set[str]:
        """Return the frames that markers wait for, because tf does not know them yet."""
        return {self._entries[key].drawing.frame for key in self._new}

    def shows_text(self, text: str) -> bool:
        """Return whether a text marker in the scene contains this text."""
        shapes = (entry.drawing.shape for entry in self._entries.values() if entry.placed)
        return any(isinstance(shape, TextLabel) and text in shape.text for shape in shapes)

    def _apply(self, topic: str, marker: Any, now: float) -> None:
        key = MarkerKey(topic, marker.ns, marker.id)
        if marker.action == DELETE_ALL:
            for other in [other for other in self._entries if other.topic == topic]:
                self._erase(other)
        elif marker.action == DELETE:
            self._erase(key)
        else:
            problem = f"action {marker.action} is not ADD (0), DELETE (2) or DELETEALL (3)"
            require(marker, marker.action == ADD, problem)
            self._add(key, read_marker(marker), now)

    def _add(self, key: MarkerKey, drawing: Drawing, now: float) -> None:
        expires = now + drawing.lifetime if drawing.lifetime > 0 else float("inf")
        previous = self._entries.get(key)
        if previous is None and len(self._entries) >= MAX_MARKERS:
            raise ViewerError(f"there are {MAX_MARKERS} markers already; delete some")
        drawn = None if previous is None else previous.placed
        if previous is not None and drawn and previous.drawing.frame != drawing.frame:
            self._erased.add(key)  # Its new frame may be unknown yet.
        self._entries[key] = _Entry(drawing, expires, drawn)
        self._new.add(key)

    def _erase(self, key: MarkerKey) -> None:
        self._new.discard(key)
        if self._entries.pop(key, None) is not None:
            self._erased.add(key)


def _placed(drawing: Drawing, frames: Mapping[str, Array]) -> PlacedMarker | None:
    """Return the placed marker, or None while its frame is unknown."""
    if drawing.frame and drawing.frame not in frames:
        return None
    if drawing.locked or not drawing.frame:
        return PlacedMarker(drawing.frame, drawing.pose, drawing)
    return PlacedMarker("", frames[drawing.frame] @ drawing.pose, drawing)


@dataclass(frozen=True)
class TraceChanges:
    """The differences from the line drawn last."""

    grown: Mapping[int, Array]  # piece number -> its points, (n, 3) with n >= 2 [m]
    dropped: frozenset[int]  # pieces to be removed


class ToolTrace:
    """A polyline of past positions, each at least `step` [m] from the one before."""

    def __init__(self, step: float = 0.0005) -> None:
        self.step = step
        self._pieces: dict[int, list[Array]] = {}
        self._next = 0
        self._dirty: set[int] = set()
        self._dropped: set[int] = set()
        self._is_lifted = False

    def lift(self) -> None:
        """Draw no line to the next position, which is the tool of a changed robot."""
        self._is_lifted = True

    def add(self, position: Array) -> None:
        """Append a position, (3,) [m], unless it is too close to the last one."""
        last = self._next - 1
        piece = self._pieces.get(last, [])
        if not piece or self._is_lifted:
            self._is_lifted = False
            if len(piece) == 1:
                piece[0] = position.copy()
            else:
                self._begin(position)
            return
        if np.linalg.norm(position - piece[-1]) < self.step:
            return
        piece.append(position.copy())
        self._dirty.add(last)
        if len(piece) >= PIECE_POINTS:
            self._begin(position)

    def clear(self) -> None:
        """Delete the whole line."""
        self._dropped |= self._pieces.keys()
        self._dirty.clear()
        self._pieces.clear()

    def take(self) -> TraceChanges:
        """Return what changed since the last call."""
        grown = {number: np.array(self._pieces[number]) for number in sorted(self._dirty)}
        dropped = frozenset(self._dropped)
        self._dirty.clear()
        self._dropped.clear()
        return TraceChanges(grown, dropped)

    def _begin(self, position: Array) -> None:
        self._pieces[self._next] = [position.copy()]
        self._next += 1
        if len(self._pieces) > PIECES:
            oldest = min(self._pieces)
            del self._pieces[oldest]
            self._dirty.discard(oldest)
            self._dropped.add(oldest)


@dataclass(frozen=True)
class SceneChanges:
    """The differences from the scene drawn last."""

    robot: VisualRobot | None  # that replaces the previous one; None if it is the same
    moved: Mapping[str, Array]  # new or moved frame -> (4, 4), fixed frame <- frame
    removed: frozenset[str]  # frames to be removed, with everything attached to them
    erased: frozenset[MarkerKey]  # markers to be removed; apply before `drawn`
    drawn: Mapping[MarkerKey, PlacedMarker]  # markers to be drawn or redrawn
    texts: Mapping[str, str]  # name of a text -> its new value

    def __bool__(self) -> bool:
        return any((self.robot, self.moved, self.removed, self.erased, self.drawn, self.texts))


class SceneStore:
    """The scene, and a record of what has been drawn."""

    def __init__(self) -> None:
        self.robot: VisualRobot | None = None
        self.markers = MarkerStore()
        self._robot_new = False
        self.fixed_frame = ""  # the frame that stays in the picture
        self._retired: set[str] = set()
        self.frames: dict[str, Array] = {}  # name -> (4, 4), fixed <- frame, as last set
        self._sent: dict[str, Array] = {}
        self._texts: dict[str, str] = {}
        self._texts_sent: dict[str, str] = {}

    def set_robot(self, robot: VisualRobot) -> None:
        """Show another robot; links of the previous one that it lacks are hidden."""
        if self.robot is not None:
            self._retired |= set(self.robot.links)
        self._retired -= set(robot.links)
        self.robot = robot
        self._robot_new = True

    def set_frames(self, fixed: str, frames: Mapping[str, Array]) -> None:
        """Set every connected frame -> (4, 4), fixed <- frame; `fixed` stays in the picture."""
        if fixed != self.fixed_frame:
            self.fixed_frame = fixed
            self.markers.detach({""})
        self.frames = {name: T for name, T in frames.items() if name not in self._retired}

    def set_text(self, name: str, text: str) -> None:
        """Show a line of text, e.g. the state of the task; empty to hide it."""
        self._texts[name] = elided(text, MAX_TEXT)

    def text(self, name: str) -> str:
        """Return a text as last set; empty if it was never set."""
        return self._texts.get(name, "")

    def take(self) -> SceneChanges:
        """Return what changed since the last call, and record it as drawn."""
        removed = frozenset(self._sent.keys() - self.frames.keys())
        self.markers.detach(set(removed))
        sent, shown = self._sent, self._texts_sent
        moved = {n: pose for n, pose in self.frames.items() if _differs(pose, sent.get(n))}
        texts = {n: text for n, text in self._texts.items() if shown.get(n, "") != text}
        robot = self.robot if self._robot_new else None
        drawn = self.markers.place(self.frames)
        erased = frozenset(self.markers.take_erased())
        changes = SceneChanges(robot, moved, removed, erased, drawn, texts)
        for name in removed:
            del self._sent[name]
        self._sent.update(moved)
        self._texts_sent.update(texts)
        self._robot_new = False
        return changes


def _differs(pose: Array, sent: Array | None) -> bool:
    """Return whether a pose, (4, 4), differs visibly from the one sent last."""
    if pose is sent:  # As it is of every frame that did not move.
        return False
    return sent is None or bool(np.abs(pose - sent).max() > POSE_TOLERANCE)
