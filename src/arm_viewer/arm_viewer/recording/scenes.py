# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What was to be seen at some moments of a recording: robot, frames, markers, text."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from arm_description.tf_tree import TransformError, TransformTree
from arm_description.transforms import pose_to_matrix
from rclpy.serialization import deserialize_message

from ..frame_poses import poses_in
from ..marker_store import MarkerKey, Placed
from ..robot_picture import RobotPicture, read_robot
from ..scene_store import SceneStore
from ..shapes import Array
from .reading import message_type, messages, times

DESCRIPTION, TEXT, MARKERS = "/robot_description", "/task_text", "/scene_markers"
TF = ("/tf", "/tf_static")
PATH_STEPS = 200  # A robot's reach is that many steps of its tool's path.


@dataclass(frozen=True, eq=False)
class Scene:
    """One moment.

    Attributes:
        time: Since the beginning of the recording [s].
        robot: The robot.
        frames: Frame name -> (4, 4), root link <- frame [m].
        markers: Those of scene_markers.
        text: What the task was doing.
        path: (k, 3) where the tool was since the first moment, in the root link's frame [m].
    """

    time: float
    robot: RobotPicture
    frames: Mapping[str, Array]
    markers: tuple[Placed, ...]
    text: str
    path: Array


def scenes(file: Path, moments: Sequence[float], tool: str) -> Iterator[Scene]:
    """Give the scenes of a recording; moments before there is an arm to be seen are left out.

    Args:
        file: The recording.
        moments: Rising times since its beginning [s].
        tool: The frame whose path is noted.

    Raises:
        ViewerError: The file is no recording, or its robot cannot be drawn.
    """
    begin, _ = times(file)
    past, due = _Past(tool), list(moments)
    for schema, channel, message in messages(file, (DESCRIPTION, TEXT, MARKERS, *TF)):
        now = 1e-9 * (message.log_time - begin)
        while due and now > due[0]:
            yield from past.scene(due.pop(0))
        kind = message_type(schema.name)
        if kind is not None:
            past.take(channel.topic, deserialize_message(message.data, kind))
            past.note_tool(now >= moments[0])
    for moment in due:
        yield from past.scene(moment)


class _Past:
    """All that was heard up to a moment."""

    def __init__(self, tool: str) -> None:
        self._tool, self._store, self._tree = tool, SceneStore(), TransformTree()
        self._markers: dict[MarkerKey, Placed] = {}
        self._path: list[Array] = []

    def take(self, topic: str, message: Any) -> None:
        """Take a message over."""
        if topic == DESCRIPTION:
            self._store.set_robot(read_robot(message.data))
        elif topic == TEXT:
            self._store.set_text("task", message.data)
        elif topic == MARKERS:
            self._store.markers.apply(topic, message.markers, 0.0)
        else:
            for stamped in message.transforms:
                t, r = stamped.transform.translation, stamped.transform.rotation
                T = pose_to_matrix((t.x, t.y, t.z), (r.x, r.y, r.z, r.w))
                self._tree.set(stamped.header.frame_id, stamped.child_frame_id, T)

    def note_tool(self, counts: bool) -> None:
        """Lengthen the tool's path, if it counts yet and the tool went on."""
        robot = self._store.robot
        if not counts or robot is None:
            return
        try:
            place = self._tree.lookup(robot.root, self._tool)[:3, 3]
        except TransformError:
            return
        step = robot.reach / PATH_STEPS
        if not self._path or np.linalg.norm(place - self._path[-1]) > step:
            self._path.append(place)

    def scene(self, time: float) -> Iterator[Scene]:
        """Give the present scene, nothing while the arm is not known or not placed."""
        robot = self._store.robot
        if robot is None:
            return
        self._store.set_frames(robot.root, poses_in(self._tree, robot.root))
        changes = self._store.take()
        for key in changes.erased:
            self._markers.pop(key, None)
        self._markers |= changes.drawn
        frames = self._store.frames
        if all(visual.link in frames for visual in robot.visuals):
            markers, path = tuple(self._markers.values()), np.array(self._path).reshape(-1, 3)
            yield Scene(time, robot, frames, markers, self._store.text("task"), path)
