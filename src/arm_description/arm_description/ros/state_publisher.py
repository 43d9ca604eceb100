# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Publish the description and frames of a robot, as robot_state_publisher does.

For computers without robot_state_publisher; parameters, topics and QoS are the same. The tf
message is built once and refilled for every joint_states message.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import JOINT_STATES, LATCHED, TF, TF_STATIC_TOPIC, TF_TOPIC
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_description.errors import DescriptionError
from arm_description.urdf.elements import MOVING, UrdfMimic
from arm_description.urdf.kinematics import JointMotion
from arm_description.urdf.reader import UrdfTree, read_urdf


class JointBatch:
    """Transforms of the moving joints that follow from one list of joint names."""

    def __init__(self, tree: UrdfTree, names: Sequence[str], frame_prefix: str) -> None:
        self.message = TFMessage()  # updated by fill
        self.published: int | None = None  # stamp of the last message [ns]
        self._slots: list[tuple[int, float, float, JointMotion, TransformStamped]] = []
        index = {name: i for i, name in enumerate(names)}
        for joint in tree.joints:
            if joint.kind == "fixed":
                continue
            source = UrdfMimic(joint.name, 1.0, 0.0)
            if joint.mimic and joint.name not in index:
                source = joint.mimic
            if source.joint in index:
                slot = (index[source.joint], source.multiplier, source.offset)
                motion = JointMotion(joint)
                self._slots.append((*slot, motion, stamped_transform(motion, frame_prefix)))
        self.message.transforms = [slot[4] for slot in self._slots]

    def __len__(self) -> int:
        return len(self._slots)

    def fill(self, positions: Sequence[float], stamp: Time) -> bool:
        """Fill the message from positions [rad or m] in the order of the names.

        Return False if a position is not finite; do not publish the message then.
        """
        for i, multiplier, offset, motion, stamped in self._slots:
            q = multiplier * positions[i] + offset
            if not math.isfinite(q):
                return False
            stamped.header.stamp = stamp
            if motion.slides:
                t = stamped.transform.translation
                t.x, t.y, t.z = motion.translation(q)
            else:
                r = stamped.transform.rotation
                r.x, r.y, r.z, r.w = motion.rotation(q)
        return True


def fixed_message(tree: UrdfTree, frame_prefix: str, stamp: Time) -> TFMessage:
    """Return the message of all fixed joints."""
    transforms = []
    for joint in tree.joints:
        if joint.kind == "fixed":
            transforms.append(stamped_transform(JointMotion(joint), frame_prefix))
            transforms[-1].header.stamp = stamp
    return TFMessage(transforms=transforms)


def stamped_transform(motion: JointMotion, frame_prefix: str) -> TransformStamped:
    """Return the transform parent <- child of a joint at position 0, without stamp."""
    stamped = TransformStamped(child_frame_id=frame_prefix + motion.joint.child)
    stamped.header.frame_id = frame_prefix + motion.joint.parent
    t, r = stamped.transform.translation, stamped.transform.rotation
    t.x, t.y, t.z = motion.position
    r.x, r.y, r.z, r.w = motion.quaternion
    return stamped


MAX_BATCHES = 64
WARN_PERIOD = 5.0  # [s]


@dataclass(frozen=True)
class PublisherParameters:
    """Parameters of the node; all are dynamic."""

    robot_description: str = parameter("", "URDF of the robot, as text.", any_time=True)
    frame_prefix: str = parameter("", "Prefix of every frame name in tf.", any_time=True)
    ignore_timestamp: bool = parameter(
        False, "Publish for every message, whatever its stamp.", any_time=True
    )
    publish_frequency: float = parameter(
        20.0,
        "Maximum rate of tf, by the stamps of the joint states [Hz].",
        low=0.001,
        high=1000.0,
        any_time=True,
    )


class StatePublisher(Node):
    """Node ``robot_state_publisher``.

    Subscribes:
        joint_states (sensor_msgs/JointState): any subset of the joints, in any order.

    Publishes:
        robot_description (std_msgs/String): the URDF, latched.
        /tf (tf2_msgs/TFMessage): frames of moving joints, with the stamp of the joint states.
        /tf_static (tf2_msgs/TFMessage): frames of fixed joints, latched.

    Raises:
        DescriptionError: the robot_description is not a URDF.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("robot_state_publisher", **kwargs)
        declare(self, PublisherParameters)
        self._text = ""
        self._tree = UrdfTree("", "", (), ())  # of the text
        self._batches: dict[tuple[str, ...], JointBatch] = {}
        self._interval = 0
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._tf_static = self.create_publisher(TFMessage, TF_STATIC_TOPIC, LATCHED)
        self._tf = self.create_publisher(TFMessage, TF_TOPIC, TF)
        self._valid_tree = publishable_tree(self.get_parameter("robot_description").value)
        self._apply()
        self.add_on_set_parameters_callback(self._validate)
        self.add_post_set_parameters_callback(self._on_parameters)
        self.create_subscription(JointState, "joint_states", self._on_joint_states, JOINT_STATES)

    def _validate(self, parameters: list[Parameter]) -> SetParametersResult:
        """Reject an invalid description; a valid one is used once the parameter is set."""
        try:
            for parameter in parameters:
                if parameter.name == "robot_description":
                    self._valid_tree = publishable_tree(parameter.value)
        except DescriptionError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        own = ("robot_description", "frame_prefix", "publish_frequency")
        if any(parameter.name in own for parameter in parameters):
            self._apply()

    def _apply(self) -> None:
        """Publish description and fixed frames of the current parameters."""
        text = self.get_parameter("robot_description").value
        self._interval = round(1e9 / self.get_parameter("publish_frequency").value)
        self._batches.clear()
        if text != self._text:
            self._text, self._tree = text, self._valid_tree
            self._description.publish(String(data=text))
            moving = sum(joint.kind != "fixed" for joint in self._tree.joints)
            self.get_logger().info(f"Loaded robot {self._tree.name!r} with {moving} moving joints")
        prefix = self.get_parameter("frame_prefix").value
        now = self.get_clock().now().to_msg()
        self._tf_static.publish(fixed_message(self._tree, prefix, now))

    def _on_joint_states(self, message: JointState) -> None:
        if len(message.name) != len(message.position):
            counts = f"{len(message.name)} names and {len(message.position)} positions"
            self._warn(f"Ignored joint states with {counts}")
            return
        batch = self._batch(tuple(message.name))
        if not len(batch) or not self._is_due(batch, message.header.stamp):
            return
        if batch.fill(message.position, message.header.stamp):
            self._tf.publish(batch.message)
        else:
            self._warn("Ignored joint states with a position that is not finite")

    def _batch(self, names: tuple[str, ...]) -> JointBatch:
        batch = self._batches.get(names)
        if batch is None:
            if len(self._batches) >= MAX_BATCHES:
                self._batches.clear()
            prefix = self.get_parameter("frame_prefix").value
            batch = self._batches[names] = JointBatch(self._tree, names, prefix)
        return batch

    def _is_due(self, batch: JointBatch, stamp: Time) -> bool:
        """Return whether the interval is over; time that jumps back restarts it."""
        now, last = stamp.sec * 1_000_000_000 + stamp.nanosec, batch.published
        due = last is None or now < last or now - last >= self._interval
        if due or self.get_parameter("ignore_timestamp").value:
            batch.published = now
            return True
        return False

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=WARN_PERIOD)


def publishable_tree(text: str) -> UrdfTree:
    """Return the tree of a URDF; raise a DescriptionError if a joint cannot be published."""
    if not text.strip():
        remedy = "give the text of a URDF"
        raise DescriptionError("the parameter robot_description is empty", remedy=remedy)
    tree = read_urdf(text, tolerant=True)
    tree.check_places()
    for joint in tree.joints:
        if joint.kind not in (*MOVING, "fixed"):
            raise DescriptionError(
                f"joint {joint.name!r} is {joint.kind}",
                remedy="only fixed joints and joints with one axis can be published",
            )
    return tree


def make_nodes() -> list[Node]:
    """Create the node."""
    return [StatePublisher()]


def main() -> int:
    """Run the node until a signal ends it; return the exit code."""
    return run_node(make_nodes)
