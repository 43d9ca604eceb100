# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The scene to be shown, and which parts of it must be redrawn.

The node puts in what arrives; the drawer takes out what changed, in the same thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from arm_common.errors import elided
from arm_common.transforms import Array

from arm_viewer.scene.marker_store import MarkerKey, MarkerStore, PlacedMarker
from arm_viewer.scene.robot import VisualRobot

# A pose is sent again if an element of its matrix changed by more than this [m or 1]: a hundredth
# of a millimetre is less than a pixel shows of a robot that fits on a table.
POSE_TOLERANCE = 1e-5
MAX_TEXT = 2000  # characters of a line, about


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
