# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is to be seen, and what of it must be redrawn. Knows neither ROS nor the browser.

The node puts in what arrives; the drawer takes out what changed. Both do so in one thread (see
`mailbox.py` for how other threads get there), so that nothing here needs a lock.

Where every frame of a transform tree is, seen from one of them; and when that may change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from arm_common.ros.tf import Source, TransformTree

from arm_viewer.scene.marker_store import MarkerKey, MarkerStore, Placed
from arm_viewer.scene.robot import VisualRobot
from arm_viewer.scene.shapes import Array

# A pose is sent again if an element of its matrix moved by more than this [m or 1]: a hundredth
# of a millimetre is below what a pixel shows of a robot that fits on a desk.
MOVED = 1e-5


@dataclass(frozen=True)
class Changes:
    """What differs from what was drawn last.

    Attributes:
        robot: A robot to draw in place of the former one; None if it stayed.
        moved: Frame name -> (4, 4), fixed frame <- frame, for those that are new or moved.
        gone: Frames to be removed, with all that hangs on them.
        erased: Markers to be removed; apply before `drawn`.
        drawn: Markers to be drawn, or drawn anew.
        texts: Name of a text -> its new value.
    """

    robot: VisualRobot | None = None
    moved: Mapping[str, Array] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    erased: frozenset[MarkerKey] = frozenset()
    drawn: Mapping[MarkerKey, Placed] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.robot is not None or any(
            (self.moved, self.gone, self.erased, self.drawn, self.texts)
        )


class SceneStore:
    """The scene as it should look, and a note of what the browser does not know yet."""

    def __init__(self) -> None:
        self.robot: VisualRobot | None = None
        self.markers = MarkerStore()
        self._robot_new = False
        self._fixed = ""
        self._retired: set[str] = set()
        self._frames: dict[str, Array] = {}
        self._sent: dict[str, Array] = {}
        self._texts: dict[str, str] = {}
        self._texts_sent: dict[str, str] = {}

    def set_robot(self, robot: VisualRobot) -> None:
        """Show this robot from now on; links of the former one that it lacks are retired."""
        if self.robot is not None:
            self._retired |= set(self.robot.links)
        self._retired -= set(robot.links)
        self.robot = robot
        self._robot_new = True

    def set_frames(self, fixed: str, frames: Mapping[str, Array]) -> None:
        """Note where every frame is now.

        Args:
            fixed: The frame that stands still in the picture.
            frames: Frame name -> (4, 4), fixed <- frame; frames without a path are left out.
        """
        if fixed != self._fixed:
            self._fixed = fixed
            self.markers.detach({""})
        self._frames = {name: T for name, T in frames.items() if name not in self._retired}

    def set_text(self, name: str, text: str) -> None:
        """Show a line of text, e.g. what the task is doing; empty to hide it."""
        self._texts[name] = text

    def text(self, name: str) -> str:
        """Return a text as last set; empty if it never was."""
        return self._texts.get(name, "")

    @property
    def frames(self) -> Mapping[str, Array]:
        """Frame name -> (4, 4), fixed <- frame, as last set."""
        return self._frames

    def take(self) -> Changes:
        """Return what changed since the last call, and count it as drawn."""
        gone = frozenset(self._sent.keys() - self._frames.keys())
        self.markers.detach(set(gone))
        moved = {
            name: pose
            for name, pose in self._frames.items()
            if _differs(pose, self._sent.get(name))
        }
        texts = {
            name: text
            for name, text in self._texts.items()
            if self._texts_sent.get(name, "") != text
        }
        robot = self.robot if self._robot_new else None
        drawn = self.markers.place(self._frames)
        changes = Changes(robot, moved, gone, frozenset(self.markers.take_gone()), drawn, texts)
        for name in gone:
            del self._sent[name]
        self._sent.update(moved)
        self._texts_sent.update(texts)
        self._robot_new = False
        return changes


def _differs(pose: Array, sent: Array | None) -> bool:
    """Return whether a pose, (4, 4), is to be sent after what was sent of it before."""
    if pose is sent:  # As is that of all that stands still.
        return False
    return sent is None or bool(np.abs(pose - sent).max() > MOVED)


class WatchedTree(TransformTree):
    """A transform tree that tells when a transform was set.

    Args:
        on_set: Called after each one, by the thread that set it.
    """

    def __init__(self, on_set: Callable[[], None]) -> None:
        super().__init__()
        self._on_set = on_set

    def set(self, parent: str, child: str, T: Source) -> None:
        """Set the transform parent <- child; see TransformTree."""
        super().set(parent, child, T)
        self._on_set()


def poses_in(tree: TransformTree, fixed: str) -> dict[str, Array]:
    """Return frame name -> (4, 4), fixed <- frame, for all frames connected with `fixed`.

    Args:
        tree: The transforms.
        fixed: The frame that stands still; it need not be known to the tree yet.
    """
    return tree.all_in(fixed) if fixed else {}
