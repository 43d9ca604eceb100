# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Publisher of kinematics_markers: only changes, and only while there are subscribers."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from arm_common.plugins import resolve
from arm_common.ros.parameters import ParameterSpec, declare, declare_one, parameter
from arm_common.ros.qos import LATCHED, STEADY_CLOCK
from arm_description.errors import UrdfError
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from arm_kinematics.chain.chain import Chain
from arm_kinematics.chain.robot import Robot
from arm_kinematics.markers.layers import Cause, MarkerDiff, all_layers
from arm_kinematics.markers.state import IkAttempt, MarkerInputs, PostureTrail, TipTrace
from arm_kinematics.ros.marker_messages import marker_array
from arm_kinematics.ros.worker_thread import WorkerThread

# mypy: disable-error-code="no-untyped-call"


_TOPIC, _PREFIX = "kinematics_markers", "markers."
# RViz keeps an error for a marker whose frame was unknown at first: late joiners get all again.
_LATE_JOINER_RESEND_DELAY = 2.0  # [s] after they subscribed


@dataclass(frozen=True)
class MarkerParameters:
    """Parameters of the publisher besides one switch per layer."""

    trace_length: float = parameter(20.0, "Length of the trace [s].", low=0.1, high=1000.0)
    posture_period: float = parameter(
        0.5, "Time between two former postures [s].", low=0.05, high=1000.0
    )
    rate: float = parameter(10.0, "Largest rate of messages [1/s].", low=0.1, high=1000.0)


class MarkerPublisher:
    """The topic kinematics_markers (visualization_msgs/MarkerArray, latched).

    During motion a message contains the changes only; new subscribers get everything, and so does
    the message that stays latched at rest. Subscribes to arm_controller/goal
    (sensor_msgs/JointState, latched), the goal of the driver.
    """

    def __init__(self, node: Node, background: WorkerThread) -> None:
        self._node, self._background = node, background
        parameters = declare(node, MarkerParameters, _PREFIX)
        visible, self._layers = [], all_layers()
        for name, layer in self._layers.items():
            spec = ParameterSpec(layer.on, f"Show on {_TOPIC}: {layer.text}", any_time=True)
            if declare_one(node, _PREFIX + name, spec):
                visible.append(name)
        self._diff = MarkerDiff(self._layers, visible)
        self._trace_length, self._period = parameters.trace_length, parameters.posture_period
        self._subscribers, self._at_goal = 0, True
        self._all_due, self._partial = False, False
        self._resend_at = math.inf
        self._searched: Robot | None = None
        self._publisher = node.create_publisher(
            MarkerArray,
            _TOPIC,
            LATCHED,
            event_callbacks=PublisherEventCallbacks(matched=self._on_matched),
        )
        node.create_subscription(JointState, "arm_controller/goal", self._on_goal, LATCHED)
        node.add_post_set_parameters_callback(self._on_parameters)
        self._timer = node.create_timer(1.0 / parameters.rate, self._tick, clock=STEADY_CLOCK)

    @property
    def is_subscribed(self) -> bool:
        """Whether the topic has subscribers."""
        return self._subscribers > 0

    def set_robot(self, robot: Robot, chain: Chain) -> None:
        """Show another robot."""
        trace, former = TipTrace(self._trace_length), PostureTrail(self._period)
        inputs = MarkerInputs(robot, chain, trace=trace, former=former)
        try:
            inputs.visuals, inputs.inertials = robot.urdf.visuals, robot.urdf.inertials
        except UrdfError as error:
            self._node.get_logger().warning(f"kinematics_markers: no ghosts or masses: {error}")
        self._diff.inputs = inputs
        self._note_change(Cause.ROBOT)

    def no_robot(self) -> None:
        """Show nothing, since the tip is ambiguous."""
        self._diff.inputs = None
        self._note_change(Cause.ROBOT)

    def set_joints(self, positions: dict[str, float]) -> None:
        """Show joint positions [rad or m]."""
        inputs = self._diff.inputs
        if inputs is None or not self._subscribers or positions == inputs.positions:
            return
        inputs.positions = dict(positions)
        now = 1e-9 * self._node.get_clock().now().nanoseconds
        if inputs.known and self._diff.shows("trace"):
            inputs.update_trace(now)
        if self._diff.shows("former_postures"):
            inputs.former.update(now, inputs.positions)
        self._diff.note_change(Cause.JOINTS)
        if inputs.drop_left_attempt():
            self._diff.note_change(Cause.IK_ATTEMPT)
        if self._at_goal is not inputs.at_goal:
            self._at_goal = not self._at_goal
            self._diff.note_change(Cause.GOAL)
        if self._diff.due:
            self._wake()

    def set_ik_attempt(self, attempt: IkAttempt) -> None:
        """Show a request to the inverse kinematics and its result."""
        if self._diff.inputs is not None:
            self._diff.inputs.set_attempt(attempt)
            self._note_change(Cause.IK_ATTEMPT)

    def _note_change(self, cause: Cause) -> None:
        self._diff.note_change(cause)
        self._wake()

    def _wake(self) -> None:
        if self._subscribers and self._timer.is_canceled():
            self._timer.reset()

    def _on_matched(self, status: Any) -> None:
        self._subscribers = status.current_count
        if status.current_count_change > 0:
            self._all_due, self._resend_at = True, time.monotonic() + _LATE_JOINER_RESEND_DELAY
            self._wake()

    def _on_goal(self, message: JointState) -> None:
        if self._diff.inputs is not None:
            self._diff.inputs.goal = dict(zip(message.name, message.position, strict=False))
            self._at_goal = self._diff.inputs.at_goal
            self._note_change(Cause.GOAL)

    def _on_parameters(self, parameters: Sequence[Parameter]) -> None:
        for changed in parameters:
            name = changed.name.removeprefix(_PREFIX)
            if changed.name.startswith(_PREFIX) and name in self._layers:
                self._diff.switch(name, bool(changed.value))
            if name == "former_postures" and not changed.value and self._diff.inputs is not None:
                self._diff.inputs.former = PostureTrail(self._period)
        self._wake()

    def _tick(self) -> None:
        """Publish the changes; at rest, everything once and then nothing."""
        if not self._subscribers:
            self._timer.cancel()
            return
        self._search()
        if time.monotonic() > self._resend_at:
            self._all_due, self._resend_at = True, math.inf
        if self._diff.due and not self._all_due:
            self._partial = True
            self._send(complete=False)
        elif self._all_due or self._partial:
            self._all_due = self._partial = False
            self._send(complete=True)
        elif self._resend_at == math.inf:
            self._timer.cancel()

    def _send(self, complete: bool) -> None:
        if marks := self._diff.changes(complete):
            self._publisher.publish(marker_array(marks))

    def _search(self) -> None:
        """Compute the reachable slice once per robot if its layer is visible."""
        inputs, executor = self._diff.inputs, self._node.executor
        if inputs is None or executor is None or not self._diff.shows("reach"):
            return
        if self._searched is not inputs.robot:
            self._searched = inputs.robot
            executor.create_task(self._find_slice, inputs)

    async def _find_slice(self, inputs: MarkerInputs) -> None:
        find_slice = resolve("arm_kinematics.markers.workspace:find_slice")
        inputs.region = await self._background.run(partial(find_slice, inputs.chain))
        if inputs is self._diff.inputs:
            self._note_change(Cause.REGION)
