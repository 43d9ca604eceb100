# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The robot description: sent to its publisher, and received with the limits that hold.

These are those of the description and of the servos, which come from arm_hardware/limits;
arm_description.urdf.servo_limits shows the message.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from arm_common.ros.qos import LATCHED
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String

from arm_description.errors import UrdfError
from arm_description.model.elements import ActuatorLimits
from arm_description.robot_model import RobotModel
from arm_description.urdf.elements import CONSTRAINTS
from arm_description.urdf.reader import parse_xml
from arm_description.urdf.servo_limits import KEYS, TOPIC

POLL_PERIOD = 0.3  # [s] of calls of `DescriptionSender.poll`, of wall time
RESEND_DELAY = 3.0  # [s] a request may be lost during discovery


def driven_robot(limits: str) -> tuple[str, str]:
    """Return the prefix and the name of the robot of a driver's message; "" where it has none."""
    try:
        root = parse_xml(limits, "message of limits")
    except UrdfError:
        return "", ""
    return root.get("prefix", ""), root.get("name", "")


def limited_urdf(description: str, limits: str) -> str:
    """Return a robot description with the limits of a driver's message where those are narrower.

    Joints of other names are left alone.

    Raises:
        UrdfError: One of them is no XML.
    """
    root, message = parse_xml(description), parse_xml(limits, "message of limits")
    bounds = dict(_limits_of_joints(message))
    names = {str(joint.get("name")) for joint in root.iter("joint")}
    changed = False
    for joint in root.findall("joint"):
        limit, bound = joint.find("limit"), bounds.get(str(joint.get("name")))
        if limit is None or bound is None:
            continue
        for key, narrowed in _narrower(joint, _read(limit), bound):
            limit.set(key, repr(narrowed))
            changed = True
        if joint.get("type") == "continuous" and {"lower", "upper"} <= limit.keys():
            joint.set("type", "revolute")
    constraints = message.findall(CONSTRAINTS)
    if constraints and {str(c.get("joint")) for e in constraints for c in e} <= names:
        for former in root.findall(CONSTRAINTS):
            root.remove(former)
        root.extend(constraints)
        changed = True
    return ET.tostring(root, encoding="unicode") if changed else description


def limited_model(model: RobotModel, limits: str) -> RobotModel:
    """Return a robot with the limits of a driver's message where those are narrower.

    Raises:
        UrdfError: The message is no XML, or leaves a joint no position.
    """
    message = parse_xml(limits, "message of limits")
    prefix, width = message.get("prefix", ""), message.find("width")
    joints = {name.removeprefix(prefix): each for name, each in _limits_of_joints(message)}
    actuators = {str(a.get("name")): _read(a) for a in message.findall("actuator")}
    transmitted = {name for t in model.transmissions for name in t.actuators}
    direct = set(model.joint_names).difference(*(t.joints for t in model.transmissions))
    complete = actuators.keys() == transmitted | direct
    limited = model.limited(
        joints, actuators if complete else None, None if width is None else _read(width)
    )
    for joint in limited.joints:
        if joint.lower > joint.upper:
            raise UrdfError(f"the limits of the driver leave joint {joint.name!r} no position")
    return limited


def _limits_of_joints(message: ET.Element) -> Iterator[tuple[str, ActuatorLimits]]:
    for joint in message.findall("joint"):
        if (limit := joint.find("limit")) is not None:
            yield str(joint.get("name")), _read(limit)


def _read(element: ET.Element) -> ActuatorLimits:
    unlimited = ActuatorLimits()
    try:
        values = [float(element.get(key, getattr(unlimited, key))) for key in KEYS]
    except ValueError:
        raise UrdfError("the driver's limits are not numbers") from None
    return ActuatorLimits(*values)


def _narrower(
    joint: ET.Element, now: ActuatorLimits, bound: ActuatorLimits
) -> Iterator[tuple[str, float]]:
    """Yield the attributes of a joint's limits that a bound narrows."""
    if joint.get("type") == "continuous":
        now = replace(now, lower=-math.inf, upper=math.inf)
    lower, upper = max(now.lower, bound.lower), min(now.upper, bound.upper)
    if lower > upper:
        return  # of another arm
    if lower > now.lower:
        yield "lower", lower
    if upper < now.upper:
        yield "upper", upper
    if bound.velocity < now.velocity or (not now.velocity and math.isfinite(bound.velocity)):
        yield "velocity", bound.velocity


class DescriptionSubscription:
    """Subscribes to robot_description, and narrows its limits to those of a driver."""

    def __init__(self, node: Node, receive: Callable[[String], None], **options: Any) -> None:
        """Pass each description, and each change by a driver, to ``receive``."""
        self._node, self._receive = node, receive
        self._description = self._limits = ""
        node.create_subscription(
            String, "robot_description", self._on_description, LATCHED, **options
        )
        node.create_subscription(String, TOPIC, self._on_limits, LATCHED, **options)

    def _on_description(self, message: String) -> None:
        self._description = message.data
        self._pass_on()

    def _on_limits(self, message: String) -> None:
        if message.data == self._limits:
            return
        self._limits = message.data
        if self._description:
            self._pass_on()

    def _pass_on(self) -> None:
        text = self._description
        if self._limits:
            try:
                text = limited_urdf(text, self._limits)
            except UrdfError as error:
                self._node.get_logger().warning(f"{TOPIC} is ignored: {error}")
        self._receive(String(data=text))


class DescriptionSender:
    """Sets robot_description of a state publisher: the newest text, one at a time.

    `on_answer` takes why the publisher has refused a text, or "" if it uses it.
    """

    def __init__(self, node: Node, publisher: str, on_answer: Callable[[str], None]) -> None:
        self._client = node.create_client(SetParameters, f"{publisher}/set_parameters")
        self._on_answer = on_answer
        self._urdf = ""  # not yet accepted by the publisher
        self._resend_time = 0.0  # when to send again without a response [s]

    @property
    def is_busy(self) -> bool:
        """Whether a text is not yet answered."""
        return bool(self._urdf)

    def send(self, urdf: str) -> None:
        """Send a text as soon as the last one is answered; call `poll` until then."""
        self._urdf = urdf
        self.poll()

    def drop(self) -> None:
        """Send nothing any more."""
        self._urdf = ""

    def poll(self) -> None:
        """Send what waits, again after `RESEND_DELAY` without an answer."""
        now = time.monotonic()
        if self._urdf and self._client.service_is_ready() and now > self._resend_time:
            self._resend_time = now + RESEND_DELAY
            text = Parameter("robot_description", value=self._urdf).to_parameter_msg()
            future = self._client.call_async(SetParameters.Request(parameters=[text]))
            future.add_done_callback(partial(self._on_response, self._urdf))

    def _on_response(self, urdf: str, future: Any) -> None:
        if urdf == self._urdf:
            self._urdf = ""
        self._resend_time = 0.0
        result = future.result().results[0]
        self._on_answer("" if result.successful else result.reason)
        self.poll()
