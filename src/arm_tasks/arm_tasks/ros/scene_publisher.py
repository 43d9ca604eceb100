# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Publishes the scene: frames on tf; objects, nut and task message as markers.

`SceneFollower` follows the file of a scene.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arm_common.errors import InputError
from arm_common.files.watching import PERIOD, FileWatch
from arm_common.ros.message_conversions import transform_message
from arm_common.ros.names import PrefixedNames, prefix_parameter
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import LATCHED, STEADY_CLOCK, TF, TF_STATIC_TOPIC, TF_TOPIC
from arm_common.transforms import Array, shift_z
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_kinematics.markers.mark import Kind, Mark, NumberedMark, text_mark
from arm_kinematics.ros.marker_messages import marker_array
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from arm_interfaces.msg import NutState
from arm_tasks.errors import SceneError, resolve
from arm_tasks.scene.file import DEFAULT_SCENE, load_scene, scene_from_text
from arm_tasks.scene.scene import BASE_FRAME, NUT_FRAME, STEEL, Bolt, Color, Primitive, Scene
from arm_tasks.scene.screw_thread import bolt_picture, nut_picture

_NUT_COLOUR = (0.82, 0.10, 0.42, 1.0)  # of no shipped robot, bolt or wall
_NAME_HEIGHT = 0.05  # [m] above a bolt, clear of the wall that it is in
_REMOVED = "removed"  # parent of the frames that are no longer in the scene
_AHEAD = 1_000_000_000  # [ns] by which a stamp may be later than the last /clock
_TEXT_HEIGHT = 0.33  # [m] above the base, clear of the arm


def scene_marks(scene: Scene) -> Iterator[NumberedMark]:
    """Yield the marks of objects, bolts and nut in their frames."""
    for obj in scene.objects.values():
        for i, part in enumerate(obj.parts):
            yield NumberedMark(f"{obj.kind}/{obj.name}", i, _primitive(obj.name, part))
    for bolt in scene.bolts.values():
        yield NumberedMark(f"bolt/{bolt.name}", 0, _bolt_mark(bolt))
        above, name = bolt.pose[:3, 3] + (0.0, 0.0, _NAME_HEIGHT), bolt.name.replace("_", " ")
        yield NumberedMark(f"name/{bolt.name}", 0, text_mark(BASE_FRAME, above, name, 0.008))
    if scene.nut is not None:
        points = nut_picture(scene.nut_thread, scene.nut.across_flats, scene.nut.thickness)
        yield NumberedMark("nut", 0, _triangles(NUT_FRAME, np.eye(4), _NUT_COLOUR, points))


def task_text_mark(text: str) -> NumberedMark:
    """Return the mark of the task message; an empty text deletes it."""
    mark = text_mark(BASE_FRAME, (0.0, 0.0, _TEXT_HEIGHT), text, 0.012) if text else None
    return NumberedMark("task_text", 0, mark)


def _bolt_mark(bolt: Bolt) -> Mark:
    if bolt.is_pin:
        size = bolt.diameter, bolt.diameter, bolt.length
        middle = bolt.pose @ shift_z(bolt.length / 2.0)
        return Mark(Kind.CYLINDER, BASE_FRAME, middle, size, STEEL)
    points = bolt_picture(bolt.thread, bolt.length, bolt.start)
    return _triangles(BASE_FRAME, bolt.pose, STEEL, points)


def _primitive(frame: str, part: Primitive) -> Mark:
    if part.kind == "box":
        x, y, z = part.size
        return Mark(Kind.BOX, frame, part.pose, (x, y, z), part.color)
    radius, length = part.size
    scale = (2.0 * radius, 2.0 * radius, length)
    return Mark(Kind.CYLINDER, frame, part.pose, scale, part.color)


def _triangles(frame: str, at: Array, colour: Color, corners: Array) -> Mark:
    return Mark(Kind.TRIANGLES, frame, at, (1.0, 1.0, 1.0), colour, corners)


def _time(frame: TransformStamped) -> int:
    """Return the stamp of a transform [ns]."""
    return int(frame.header.stamp.sec * 1_000_000_000 + frame.header.stamp.nanosec)


class SceneNode(Node):
    """Publishes the scene; all of its frames have the prefix of the robot's names.

    Publishers:
        /tf_static: fixed frames: bolts, objects and named frames.
        /tf: the nut from nut_world/state and payloads from payload_world/poses, with their stamps,
            or both from the scene, with the present time, without a simulated world.
        scene_markers: bolts, objects and nut, latched and always complete. The markers are locked
            to their frames: RViz places each one when it knows its frame.
        task_markers: the task message, latched.

    Subscribers:
        nut_world/state, payload_world/poses, task_text.
    """

    def __init__(self, scene: Scene, prefix: str = "") -> None:
        # the command line of the process names the other node
        super().__init__("scene", cli_args=["--ros-args", "-r", "__node:=scene"])
        self._scene, self._names = scene, PrefixedNames(prefix)
        self._static = self.create_publisher(TFMessage, TF_STATIC_TOPIC, LATCHED)
        self._tf = self.create_publisher(TFMessage, TF_TOPIC, TF)
        self._markers = self.create_publisher(MarkerArray, "scene_markers", LATCHED)
        self._task_markers = self.create_publisher(MarkerArray, "task_markers", LATCHED)
        self._text = ""
        self._removed: set[str] = set()  # frames of former scenes
        self._of_world: set[str] = set()  # frames that the simulated world moves
        self._sent: dict[str, int] = {}  # stamps of the last transforms on /tf [ns]
        self._moving = self._start()
        self._repeat()
        self.create_timer(1.0, self._repeat)  # for late subscribers
        self._publish_frames()
        self._publish_markers()
        self.create_subscription(NutState, "nut_world/state", self._on_nut, 10)
        self.create_subscription(TFMessage, "payload_world/poses", self._on_payloads, LATCHED)
        self.create_subscription(String, "task_text", self._on_text, LATCHED)

    def show(self, scene: Scene) -> None:
        """Publish another scene, such as one with a moved bolt."""
        before = {*self._scene.frames, *self._moving}
        self._scene, self._moving = scene, self._start()
        self._of_world.clear()
        now = {*scene.frames, *self._moving}
        self._removed = (self._removed | before) - now
        self._publish_frames()
        self._publish_markers(replace=True)
        self._repeat()

    def _start(self) -> dict[str, TransformStamped]:
        """Return the frames of nut and payloads where the scene has them."""
        moving = {k: t.pose for k, t in self._scene.objects.items() if t.is_payload}
        if self._scene.nut is not None:
            moving[NUT_FRAME] = self._scene.nut_start()
        return {k: self._frame(k, T) for k, T in moving.items()}

    def _publish_frames(self) -> None:
        """Publish the fixed frames; one that was removed is taken off the robot's tree.

        tf never forgets a frame.
        """
        fixed = {k: T for k, T in self._scene.frames.items() if k not in self._moving}
        frames = [self._frame(k, T) for k, T in fixed.items()]
        for name in sorted(self._removed):
            frame = self._frame(name, np.eye(4))
            frame.header.frame_id = self._names.add(_REMOVED)
            frames.append(frame)
        self._static.publish(TFMessage(transforms=frames))

    def _publish_markers(self, replace: bool = False) -> None:
        message = self._marker_array(scene_marks(self._scene))
        if replace:
            message.markers.insert(0, Marker(action=Marker.DELETEALL))
        self._markers.publish(message)

    def _on_nut(self, state: NutState) -> None:
        """Relay the pose of the nut unchanged; it is repeated only if the scene has a nut."""
        name = self._names.add(NUT_FRAME)
        nut = TransformStamped(header=state.pose.header, child_frame_id=name)
        translation, position = nut.transform.translation, state.pose.pose.position
        translation.x, translation.y, translation.z = position.x, position.y, position.z
        nut.transform.rotation = state.pose.pose.orientation
        self._relay([nut])

    def _on_payloads(self, message: TFMessage) -> None:
        frames = {self._names.remove(t.child_frame_id): t for t in message.transforms}
        self._relay([t for name, t in frames.items() if name in self._moving])

    def _relay(self, frames: Sequence[TransformStamped]) -> None:
        """Publish frames of the simulated world, which alone stamps them from now on."""
        self._of_world |= {self._names.remove(t.child_frame_id) for t in frames if _time(t)}
        sent = {self._names.remove(t.child_frame_id): t for t in self._send(frames)}
        self._moving |= {name: t for name, t in sent.items() if name in self._moving}

    def _repeat(self) -> None:
        for name, frame in self._moving.items():
            if name not in self._of_world:
                frame.header.stamp = self._now()
        self._send(self._moving.values())

    def _send(self, frames: Iterable[TransformStamped]) -> list[TransformStamped]:
        """Publish and return the frames that are not older than before, none without a stamp."""
        latest = self.get_clock().now().nanoseconds + _AHEAD
        if any(last > latest for last in self._sent.values()):
            self._sent.clear()  # the clock began anew
        newer = [t for t in frames if _time(t) >= max(1, self._sent.get(t.child_frame_id, 0))]
        self._sent |= {t.child_frame_id: _time(t) for t in newer}
        if newer:
            self._tf.publish(TFMessage(transforms=newer))
        return newer

    def _frame(self, name: str, T: Array) -> TransformStamped:
        base, child = self._names.add(BASE_FRAME), self._names.add(name)
        return transform_message(base, child, T, self._now())

    def _marker_array(self, marks: Iterable[NumberedMark]) -> MarkerArray:
        message = marker_array(marks)
        for marker in message.markers:
            if marker.header.frame_id:
                marker.header.frame_id = self._names.add(marker.header.frame_id)
        return message

    def _now(self) -> Time:
        return self.get_clock().now().to_msg()

    def _on_text(self, message: String) -> None:
        if message.data != self._text:
            self._text = message.data
            self._task_markers.publish(self._marker_array([task_text_mark(self._text)]))


class SceneFollower:
    """Follows the file of a scene, and what a page edits in it.

    Publishes scene_file/status (std_msgs/String, latched): why the newest text is not shown, in
    one sentence, else empty; scene_file/text (std_msgs/String, latched): the text that is shown.
    Subscribes scene_file/edited (std_msgs/String): a text that need not be saved.

    Args:
        node: the node that publishes.
        file: the file.
        robot: name of the robot, for the placement of the scene.
        show: takes another scene.
        blocked: returns why the scene cannot change now, in a clause, or "".
    """

    def __init__(
        self,
        node: Node,
        file: Path,
        robot: str,
        show: Callable[[Scene], None],
        blocked: Callable[[], str] = str,
    ) -> None:
        self._node, self._file, self._show, self._blocked = node, file, show, blocked
        self._robot, self._data = robot, file.read_bytes()  # of the scene that is shown
        self._watch = FileWatch(file)
        self._waiting: tuple[bytes, Scene] | None = None  # a valid text, and its scene
        self._problem = ""
        self._status = node.create_publisher(String, "scene_file/status", LATCHED)
        self._text = node.create_publisher(String, "scene_file/text", LATCHED)
        node.create_subscription(String, "scene_file/edited", self._on_edited, 10)
        node.create_timer(PERIOD, self._poll, clock=STEADY_CLOCK)

    def _on_edited(self, message: String) -> None:
        self._take(message.data.encode())

    def _poll(self) -> None:
        try:
            content = self._watch.poll()
        except OSError as error:
            self._report(f"{self._file}: cannot be read ({error.strerror}); save it again")
            return
        if content is not None:
            self._take(content)
        elif self._waiting is not None:
            self._change(*self._waiting)

    def _take(self, data: bytes) -> None:
        self._waiting = None
        try:
            scene = scene_from_text(data, str(self._file), self._robot)
        except InputError as error:
            self._report(str(error))
            return
        self._change(data, scene)

    def _change(self, data: bytes, scene: Scene) -> None:
        """Show a text, unless something forbids it now: then it waits."""
        self._waiting = None
        if data == self._data:
            self._report("")
            return
        if reason := self._blocked():
            self._waiting = data, scene
            self._report(f"{self._file.name} is changed, but shown as before: {reason}")
            return
        self._data = data
        self._show(scene)
        self._text.publish(String(data=data.decode("utf-8-sig")))
        self._report("")

    def _report(self, problem: str) -> None:
        if problem and problem != self._problem:
            self._node.get_logger().warning(f"{problem} (keeping the last scene)")  # type: ignore[no-untyped-call]
        if not problem or problem != self._problem:
            self._status.publish(String(data=problem))
        self._problem = problem


@dataclass(frozen=True)
class SceneFileParameters:
    """Parameters of the node scene_file."""

    scene: str = parameter(DEFAULT_SCENE, "Scene to show and to follow, name or path.")
    robot: str = parameter(DEFAULT_ROBOT, "Robot for which the scene is placed, name or path.")
    prefix: str = prefix_parameter()


def make_nodes() -> list[Node]:
    """Create the nodes that show a scene without tasks, and follow its file."""
    node = Node("scene_file")
    chosen = declare(node, SceneFileParameters)
    file = resolve(chosen.scene, "scenes", "scene", SceneError)
    robot = load_robot(chosen.robot).name
    scene = SceneNode(load_scene(file, robot), chosen.prefix)
    SceneFollower(node, file, robot, scene.show)
    return [node, scene]


def main() -> int:
    """Run the nodes until the process is ended."""
    return run_node(make_nodes)
