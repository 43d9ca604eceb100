# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/ros/test_export.py
"""The scenes at some moments of a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from arm_common.errors import InputError
from arm_common.files.access import installed_share
from arm_common.ros.message_conversions import transform_matrix
from arm_common.ros.tf import TransformError, TransformTree
from arm_common.transforms import Array
from arm_description.urdf.elements import TRUE_FRAMES
from arm_viewer.scene.robot import VisualRobot, read_robot
from arm_viewer.scene.shapes import MeshFiles, PlacedShape
from arm_viewer.scene.store import MarkerKey, PlacedMarker, SceneStore
from geometry_msgs.msg import TransformStamped

from arm_studio.pictures.canvas import FlatShape
from arm_studio.pictures.scene_primitives import ScenePrimitives, primitives_of
from arm_studio.ros.player import TF
from arm_studio.ros.recording_file import RecordingFile

# mypy: disable-error-code="no-untyped-call"


DESCRIPTION, TEXT, MARKERS = "/robot_description", "/task_text", "/scene_markers"
PATH_STEPS = 200  # steps of the tool's path as long as the robot's reach


@dataclass(frozen=True, eq=False)
class RecordedScene:
    """The scene at one moment."""

    time: float  # since the start of the recording [s]
    robot: VisualRobot
    frames: Mapping[str, Array]  # frame name -> (4, 4), root link <- frame [m]
    markers: tuple[PlacedMarker, ...]
    text: str  # the state of the task
    path: Array  # (k, 3), the tool since the first moment, in the root link's frame [m]

    @property
    def title(self) -> str:
        """What a picture of it is called."""
        return f"{self.robot.name}: {self.text}" if self.text else self.robot.name


def scene_topics(namespace: str = "") -> dict[str, str]:
    """Return the names of the topics that are drawn, by their names in a recording.

    The namespace of the arm is absolute, or "" for none.
    """
    topics = {f"{namespace}{name}": name for name in (DESCRIPTION, TEXT, MARKERS)}
    return topics | {name: name for name in TF}


def scenes(
    recording: RecordingFile, moments: Sequence[float], tool: str, topics: Mapping[str, str]
) -> Iterator[RecordedScene]:
    """Yield the scenes of a recording, from the first moment with a visible arm.

    Args:
        recording: The recording.
        moments: Increasing times since its start [s].
        tool: The frame of the path.
        topics: Those of `scene_topics`.

    Raises:
        ViewerError: Its robot cannot be drawn.
    """
    history, due = _SceneHistory(tool, recording.note), list(moments)
    for message in recording:
        while due and message.time > due[0]:
            yield from history.scene(due.pop(0))
        history.apply(topics[message.topic], message.content)
        history.extend_path(message.time >= moments[0])
    for moment in due:
        yield from history.scene(moment)


class _SceneHistory:
    """The messages up to a moment."""

    def __init__(self, tool: str, note: Callable[[str], None]) -> None:
        self._tool, self._note = tool, note
        self._store, self._tree = SceneStore(), TransformTree()
        self._markers: dict[MarkerKey, PlacedMarker] = {}
        self._path: list[Array] = []

    def apply(self, topic: str, message: Any) -> None:
        """Apply a message."""
        if topic == DESCRIPTION:
            self._store.set_robot(read_robot(message.data))
        elif topic == TEXT:
            self._store.set_text("task", message.data)
        elif topic == MARKERS:
            self._store.markers.apply(topic, message.markers, 0.0)
        else:
            for stamped in message.transforms:
                self._set_transform(stamped)

    def _set_transform(self, stamped: TransformStamped) -> None:
        try:
            T = transform_matrix(stamped.transform)
            self._tree.set(stamped.header.frame_id, stamped.child_frame_id, T)
        except InputError as error:
            self._note(f"a transform is left out: {error}")

    def extend_path(self, started: bool) -> None:
        """Extend the tool's path, if it has started and the tool moved."""
        robot = self._store.robot
        if not started or robot is None:
            return
        try:
            position = self._tree.lookup(robot.root, self._tool)[:3, 3]
        except TransformError:
            return
        step = robot.reach / PATH_STEPS
        if not self._path or np.linalg.norm(position - self._path[-1]) > step:
            self._path.append(position)

    def scene(self, time: float) -> Iterator[RecordedScene]:
        """Yield the present scene; nothing while the arm or its pose is unknown."""
        robot = self._store.robot
        if robot is None:
            return
        self._store.set_frames(robot.root, self._tree.poses_in(robot.root))
        changes = self._store.take()
        for key in changes.erased:
            self._markers.pop(key, None)
        self._markers |= changes.drawn
        frames = self._store.frames
        if all(visual.link in frames for visual in robot.visuals):
            markers, path = tuple(self._markers.values()), np.array(self._path).reshape(-1, 3)
            yield RecordedScene(time, robot, frames, markers, self._store.text("task"), path)


PATH_COLOUR = (0.15, 0.39, 0.92)
PATH_WIDTH = 0.004  # of the robot's reach
MOVED = 1e-3  # [m, or of a unit vector] by which a frame must differ to count as moving


def moving_frames(found: Sequence[RecordedScene]) -> frozenset[str]:
    """Return the frames that are elsewhere in one of the scenes than in the first."""
    first = found[0].frames
    return frozenset(
        name
        for scene in found
        for name, T in scene.frames.items()
        if name not in first or np.abs(T - first[name]).max() > MOVED
    )


def primitives_in(
    scene: RecordedScene, with_path: bool = True, moving: frozenset[str] | None = None
) -> ScenePrimitives:
    """Return a scene's primitives in the frame of the robot's root link.

    Args:
        scene: The scene.
        with_path: Whether the tool's path belongs to them.
        moving: Frames beside whose markers only the robot counts; None for all markers.
    """
    result = primitives_of(_all(scene, moving), _MESHES)
    result.labels = [label for label in result.labels if label.text != scene.text]
    if not with_path:
        return result
    width = PATH_WIDTH * scene.robot.reach
    result.flat_shapes += [
        FlatShape(np.array(ends), PATH_COLOUR, width) for ends in pairwise(scene.path)
    ]
    return result


def _all(scene: RecordedScene, moving: frozenset[str] | None) -> Iterator[PlacedShape]:
    for visual in scene.robot.visuals:
        frame = scene.frames.get(f"{TRUE_FRAMES}{visual.link}", scene.frames[visual.link])
        yield PlacedShape(visual.shape, frame @ visual.pose, visual.colour)
    for placed in scene.markers:
        if moving is not None and placed.frame not in moving:
            continue
        if placed.frame in scene.frames or not placed.frame:
            frame = scene.frames[placed.frame] if placed.frame else np.eye(4)
            drawing = placed.drawing
            yield PlacedShape(drawing.shape, frame @ placed.pose, drawing.colour)


_MESHES = MeshFiles(installed_share)
