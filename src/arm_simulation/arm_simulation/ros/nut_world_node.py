# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The simulated world by geometry: receives tool and gripper on tf, publishes nut and payloads.

What the world by contact physics has in common with it is in `WorldNode`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from arm_common.errors import InputError
from arm_common.ros.message_conversions import pose_message, stamp_seconds, transform_message
from arm_common.ros.names import PrefixedNames, prefix_parameter
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import CALLS, LATCHED, STEADY_CLOCK
from arm_common.ros.tf import TfListener, TransformError
from arm_common.transforms import Array
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_tasks.scene.file import DEFAULT_SCENE, load_scene, scene_from_text
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.scene.scene import BASE_FRAME, NUT_FRAME
from builtin_interfaces.msg import Time
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from arm_interfaces.msg import NutState
from arm_simulation import SimulationError
from arm_simulation.geometric.world import NutWorld, PayloadWorld

_TOOL_FRAME = "tool0"
_PALM_FRAME = "gripper_link"
_REPEAT_PERIOD = 1.0  # [s]
_HEARTBEAT = 0.5  # [s] of the time on tf
_STALE = 2.0  # [s] of wall time without tf; an arm at rest is published at least once a second
_BATCH_DELAY = 0.02  # [s]; robot and nut arrive on tf every 40 ms, in separate messages
_QUEUE_DEPTH = 2000  # tf messages; a lost message may lose a turn of the nut


class WorldNode(Node, ABC):
    """What both worlds offer: the state of the nut, poses of the payloads, and a reset."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._failure = ""  # why the world is not judged
        self._nuts = self.create_publisher(NutState, "nut_world/state", 10)
        self._poses = self.create_publisher(TFMessage, "payload_world/poses", LATCHED)
        self.create_service(Trigger, "nut_world/reset", self._on_reset, qos_profile=CALLS)

    def _use_prefix(self, prefix: str) -> None:
        """Set the names of frames and joints, and that of the base."""
        self._names = PrefixedNames(prefix)
        self._base = self._names.add(BASE_FRAME)

    @property
    def _stamp(self) -> Time:
        """The time of what is published now."""
        return self.get_clock().now().to_msg()

    @property
    @abstractmethod
    def _held(self) -> str:
        """What the jaws hold, "" for nothing."""

    @abstractmethod
    def _restart(self) -> None:
        """Put nut and payloads back where the scene has them, and publish them."""

    def on_failed_callback(self, reason: str, error: Exception) -> None:
        """Withdraw the verdict until the next reset: a motion may have been missed."""
        del error
        self._failure = reason
        self._send_nut(None)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        del request
        held = "" if self._failure else self._held
        if held:
            response.message = f"the jaws hold {held}; open them first"
            return response
        self._failure = ""
        self._restart()
        response.success, response.message = True, "nut and payloads are where the scene has them"
        return response

    def _send_payloads(self, poses: Mapping[str, Array]) -> None:
        """Publish base_link <- payload (4, 4) by name, unless the world is not judged."""
        if self._failure:
            return
        stamp, add = self._stamp, self._names.add
        transforms = [transform_message(self._base, add(k), T, stamp) for k, T in poses.items()]
        self._poses.publish(TFMessage(transforms=transforms))

    def _send_nut(self, report: NutReport | None) -> None:
        """Publish the state of the nut if there is one, or why the world is not judged."""
        if self._failure:
            message = NutState(state=NutState.NOT_JUDGED, message=f"not judged: {self._failure}")
        elif report is None:
            return
        else:
            message = NutState(
                state=int(report.status),
                bolt=report.bolt,
                turns_engaged=report.turns_engaged,
                grasped=report.grasped,
                message=report.message,
            )
            message.pose.pose = pose_message(report.pose)
        message.header.stamp, message.header.frame_id = self._stamp, self._base
        message.pose.header = message.header
        self._nuts.publish(message)


@dataclass(frozen=True)
class NutWorldParameters:
    """Parameters of the node; only the fingers of the robot are used."""

    scene: str = parameter(DEFAULT_SCENE, "Scene with the nut, name or path.")
    robot: str = parameter(DEFAULT_ROBOT, "Robot with the gripper, name or path.")
    prefix: str = prefix_parameter()


class NutWorldNode(WorldNode):
    """Simulates nut and payloads from the motion of tool and fingers, independent of tasks.

    Publishers:
        nut_world/state: on each change, twice a second of the time on tf and once a second of wall
            time, if the scene has a nut; stamped with the time of the tf that it follows from, 0
            before the first.
        payload_world/poses: poses of the payloads, latched; likewise.

    Services:
        nut_world/reset: puts nut and payloads back where the scene has them, unless they are held.

    Subscribers:
        scene_file/text: another scene, which is taken once the jaws hold nothing.
        tf, tf_static: the tool and the fingers, whose distance is the width of the gripper. One
        message has both, so they belong to the same time.
    """

    def __init__(self) -> None:
        super().__init__("nut_world")
        chosen = declare(self, NutWorldParameters)
        model = load_robot(chosen.robot)
        scene = load_scene(chosen.scene, model.name)
        gripper = model.gripper
        if gripper is None and scene.nut is not None:
            raise SimulationError(f"robot {chosen.robot} has no gripper; the nut cannot be held")
        self._use_prefix(chosen.prefix)
        self._tool = self._names.add(_TOOL_FRAME)
        self._gripper, self._scene = gripper, scene
        self._palm = self._names.add(_PALM_FRAME)
        fingers = gripper.joints if gripper else ()
        self._fingers = self._names.add_all(f"{finger}_link" for finger in fingers)
        self._world = NutWorld(scene) if scene.nut is not None else None
        self._payloads = PayloadWorld(scene, gripper)
        self._seen = Time()  # stamp of the last tf of the arm
        self._received = time.monotonic()  # when it arrived, or the start
        self._sent = 0.0  # stamp of the last messages [s]
        # frames moved by this node
        self._own = set(self._names.add_all((NUT_FRAME, *self._payloads.poses)))
        self._tf = TfListener(self, on_change=self._on_tf, depth=_QUEUE_DEPTH)
        # in wall time, to publish even while simulated time stands still
        self.create_timer(_REPEAT_PERIOD, self._publish, clock=STEADY_CLOCK)
        self._robot, self._next_scene = model.name, scene
        self.create_subscription(String, "scene_file/text", self._on_scene, LATCHED)
        self._send_payloads(self._payloads.poses)

    @property
    def _stamp(self) -> Time:
        """The time of the tf that what is published follows from."""
        return self._seen

    @property
    def _held(self) -> str:
        """What the jaws hold, "" for nothing."""
        nut = self._world is not None and self._world.report.grasped
        return "the nut" if nut else self._payloads.held

    def _restart(self) -> None:
        """Put nut and payloads where the newest scene has them."""
        self._scene = scene = self._next_scene
        self._world = NutWorld(scene) if scene.nut is not None else None
        self._payloads = PayloadWorld(scene, self._gripper)
        self._own = set(self._names.add_all((NUT_FRAME, *self._payloads.poses)))
        self._publish()

    def _on_scene(self, message: String) -> None:
        """Take a scene; the node that follows its file has checked it, unless another sent it."""
        try:
            scene = scene_from_text(message.data, self._scene.file, self._robot)
        except InputError as error:
            self.get_logger().warning(f"keeps its scene: {error}", throttle_duration_sec=10.0)  # type: ignore[no-untyped-call]
            return
        self._next_scene = scene
        if self._next_scene.nut is not None and self._gripper is None:
            self._next_scene = replace(self._next_scene, nut=None)
        if not self._held and not self._failure:
            self._restart()

    def _on_tf(self, message: TFMessage) -> None:
        moved = {stamped.child_frame_id for stamped in message.transforms} - self._own
        if self._gripper is None or not any(f.startswith(self._names.prefix) for f in moved):
            return  # no payload moves, or this node's own frames, or another arm's
        tree = self._tf.tree
        try:
            T = tree.lookup(self._base, self._tool)
            left, right = (tree.lookup(self._palm, finger) for finger in self._fingers)
            width = self._gripper.width_between(left, right)
        except TransformError:
            return  # the robot is not on tf yet
        for stamped in message.transforms:
            if stamped.child_frame_id in self._fingers:
                self._seen, self._received = stamped.header.stamp, time.monotonic()
        if self._payloads.update(T, width):
            self._send_payloads(self._payloads.poses)
        if self._world is not None and _changed(self._world.report, self._world.update(T, width)):
            self._publish_nut()
        if abs(stamp_seconds(self._seen) - self._sent) >= _HEARTBEAT:
            self._publish()

    def _publish(self) -> None:
        if self._scene is not self._next_scene and not self._held and not self._failure:
            self._restart()
            return
        self._sent = stamp_seconds(self._seen)
        self._publish_nut()
        if self._payloads.poses:
            self._send_payloads(self._payloads.poses)

    def _publish_nut(self) -> None:
        report = None if self._world is None else self._world.report
        age = time.monotonic() - self._received
        if report is not None and age > _STALE:
            ever = "last" if stamp_seconds(self._seen) else "never"
            ago = f", {age:.0f} s ago" if ever == "last" else ""
            blind = f"tf of the arm was {ever} received{ago}"
            report = replace(report, message=f"{report.message}; {blind}")
        self._send_nut(report)


def _changed(before: NutReport, after: NutReport) -> bool:
    old, new = ((r.status, r.bolt, r.message) for r in (before, after))
    return old != new or not np.array_equal(before.pose, after.pose)


def make_nodes() -> list[Node]:
    """Create the node."""
    return [NutWorldNode()]


def main() -> int:
    """Run the node until the process is ended."""
    return run_node(make_nodes, batch_delay=_BATCH_DELAY)
