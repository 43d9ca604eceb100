# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The markers to be shown: adding, deleting and expiry; they wait until tf knows their frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array

from arm_viewer.errors import ViewerError
from arm_viewer.scene.markers import ADD, DELETE, DELETE_ALL, Drawing, read_marker, require
from arm_viewer.scene.shapes import Box, TextLabel, corners

MAX_MARKERS = 5000  # of all topics: a scene of 2,000 objects has a name and a shape of each


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
