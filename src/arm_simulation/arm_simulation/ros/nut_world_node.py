# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The simulated world: receives tool and gripper on tf, publishes nut and payloads."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from arm_common.errors import InputError
from arm_common.ros.message_conversions import pose_message, stamp_seconds, transform_message
from arm_common.ros.names import PrefixedNames, prefix_parameter
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import CALLS, LATCHED, STEADY_CLOCK
from arm_common.ros.tf import TfListener, TransformError
from arm_description.library import load_robot
from arm_tasks.scene.file import DEFAULT_SCENE, load_scene, scene_from_text
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.scene.scene import BASE_FRAME, NUT_FRAME
from builtin_interfaces.msg import Time
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from arm_interfaces.msg import NutState
from arm_simulation.errors import SimulationError
from arm_simulation.geometric.world import NutWorld, PayloadWorld

_TOOL_FRAME = "tool0"
_PALM_FRAME = "gripper_link"
_REPEAT_PERIOD = 1.0  # [s]
_HEARTBEAT = 0.5  # [s] of the time on tf
_STALE = 2.0  # [s] of wall time without tf; an arm at rest is published at least once a second
_BATCH_DELAY = 0.02  # [s]; robot and nut arrive on tf every 40 ms, in separate messages
_QUEUE_DEPTH = 2000  # tf messages; a lost message may lose a turn of the nut


@dataclass(frozen=True)
class NutWorldParameters:
    """Parameters of the node; only the fingers of the robot are used."""

    scene: str = parameter(DEFAULT_SCENE, "Scene with the nut, name or path.")
    robot: str = parameter("nut_arm", "Robot with the gripper, name or path.")
    prefix: str = prefix_parameter()


class NutWorldNode(Node):
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
        self._names = names = PrefixedNames(chosen.prefix)
        self._base, self._tool = names.add(BASE_FRAME), names.add(_TOOL_FRAME)
        self._gripper, self._scene = gripper, scene
        self._palm = names.add(_PALM_FRAME)
        fingers = gripper.joints if gripper else ()
        self._fingers = names.add_all(f"{finger}_link" for finger in fingers)
        self._world = NutWorld(scene) if scene.nut is not None else None
        self._payloads = PayloadWorld(scene, gripper)
        self._seen = Time()  # stamp of the last tf of the arm
        self._received = time.monotonic()  # when it arrived, or the start
        self._sent = 0.0  # stamp of the last messages [s]
        self._failure = ""  # why the world is not judged
        self._nut_publisher = self.create_publisher(NutState, "nut_world/state", 10)
        self._payload_publisher = self.create_publisher(TFMessage, "payload_world/poses", LATCHED)
        # frames moved by this node
        self._own = set(names.add_all((NUT_FRAME, *self._payloads.poses)))
        self._tf = TfListener(self, on_change=self._on_tf, depth=_QUEUE_DEPTH)
        # in wall time, to publish even while simulated time stands still
        self.create_timer(_REPEAT_PERIOD, self._publish, clock=STEADY_CLOCK)
        self.create_service(Trigger, "nut_world/reset", self._on_reset, qos_profile=CALLS)
        self._robot, self._next_scene = model.name, scene
        self.create_subscription(String, "scene_file/text", self._on_scene, LATCHED)
        self._publish_payloads()

    def on_failed_callback(self, reason: str, error: Exception) -> None:
        """Withdraw the verdict until the next reset: a motion may have been missed."""
        del error
        self._failure = reason
        self._publish_nut()

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        del request
        held = "" if self._failure else self._held
        response.success, response.message = not held, reset_answer(held)
        if response.success:
            self._restart()
        return response

    @property
    def _held(self) -> str:
        """What the jaws hold, "" for nothing."""
        nut = self._world is not None and self._world.report.grasped
        return "the nut" if nut else self._payloads.held

    def _restart(self) -> None:
        """Put nut and payloads where the newest scene has them."""
        self._scene, self._failure = self._next_scene, ""
        scene = self._scene
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
            self._publish_payloads()
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
            self._publish_payloads()

    def _publish_payloads(self) -> None:
        if self._failure:
            return
        transforms = [
            transform_message(self._base, self._names.add(name), T, self._seen)
            for name, T in self._payloads.poses.items()
        ]
        self._payload_publisher.publish(TFMessage(transforms=transforms))

    def _publish_nut(self) -> None:
        if self._failure:
            self._nut_publisher.publish(unjudged(self._failure, self._base, self._seen))
        if self._failure or self._world is None:
            return
        report = self._world.report
        age = time.monotonic() - self._received
        if age > _STALE:
            ever = "last" if stamp_seconds(self._seen) else "never"
            ago = f", {age:.0f} s ago" if ever == "last" else ""
            blind = f"tf of the arm was {ever} received{ago}"
            report = replace(report, message=f"{report.message}; {blind}")
        self._nut_publisher.publish(nut_message(report, self._base, self._seen))


def nut_message(report: NutReport, frame: str, stamp: Time) -> NutState:
    """Return the message of a nut whose pose is in a frame, at a time."""
    message = NutState(
        state=int(report.status),
        bolt=report.bolt,
        turns_engaged=report.turns_engaged,
        grasped=report.grasped,
        message=report.message,
    )
    message.header.stamp, message.header.frame_id = stamp, frame
    message.pose.header = message.header
    message.pose.pose = pose_message(report.pose)
    return message


def unjudged(reason: str, frame: str, stamp: Time) -> NutState:
    """Return the message of a world in which a callback has failed."""
    message = NutState(state=NutState.NOT_JUDGED, message=f"not judged: {reason}")
    message.header.stamp, message.header.frame_id = stamp, frame
    message.pose.header = message.header
    return message


def reset_answer(held: str) -> str:
    """Return the answer to a request to reset a world; "" if the jaws hold nothing."""
    if held:
        return f"the jaws hold {held}; open them first"
    return "nut and payloads are where the scene has them"


def _changed(before: NutReport, after: NutReport) -> bool:
    old, new = ((r.status, r.bolt, r.message) for r in (before, after))
    return old != new or not np.array_equal(before.pose, after.pose)


def make_nodes() -> list[Node]:
    """Create the node."""
    return [NutWorldNode()]


def main() -> int:
    """Run the node until the process is ended."""
    return run_node(make_nodes, batch_delay=_BATCH_DELAY)
