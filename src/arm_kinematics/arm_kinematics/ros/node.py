# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node: inverse and forward kinematics, Jacobians, dynamics and tool paths as services.

Subscribes to robot_description, arm_hardware/limits, joint_states, tf and tf_static; publishes
kinematics_markers. A later robot description replaces the one before. Everything is compiled, or
loaded from the cache, before the services are announced.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from arm_common.plugins import PluginGroup
from arm_common.ros.executor import QUIET, PolledSubscriptions
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare
from arm_common.ros.qos import CALLS, JOINT_STATES, MANY_CALLS, STEADY_CLOCK
from arm_common.ros.tf import TfListener
from arm_description.ros.description import DescriptionSubscription
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_interfaces.srv import (
    CancelIKBatch,
    GetJacobian,
    PlanPath,
    SolveDynamics,
    SolveFK,
    SolveIK,
    SolveIKBatch,
)
from arm_kinematics.chain.robot import Robot
from arm_kinematics.errors import KinematicsError
from arm_kinematics.model.urdf import fault_sentences
from arm_kinematics.ros.fk_service import FkService, get_jacobian, solve_dynamics
from arm_kinematics.ros.ik_service import IkBatchService, IkService
from arm_kinematics.ros.marker_publisher import MarkerPublisher
from arm_kinematics.ros.path_service import plan_path
from arm_kinematics.ros.robot_state import KinematicsParameters, RobotStateCache, fill_rejection
from arm_kinematics.ros.worker_thread import WorkerThread

# mypy: disable-error-code="no-untyped-call, attr-defined"


_DIAGNOSTICS_PERIOD = 1.0  # [s] of a steady clock
_POLL_PERIOD = 0.1  # [s] of a steady clock, while the markers are subscribed
_OTHER_SERVICES = PluginGroup(  # imported where their interfaces are installed
    "arm_kinematics.services",
    "group of services",
    {"moveit": "arm_kinematics.ros.moveit_services:serve_moveit"},
)
_NOT_SERVED = "none"  # not "", which cannot be passed in a launch file
_TF_DEPTH = 1000  # queued messages of tf between two polls


class KinematicsNode(Node):  # type: ignore[misc]
    """Serves the kinematics of the robot described to it."""

    def __init__(self) -> None:
        """Read the parameters; ``start`` creates the interfaces.

        Raises:
            ParameterError: One of them has an invalid value.
        """
        super().__init__("kinematics")
        self._problem = "no robot description has been received"
        self._xml = ""
        self._counts: Counter[str] = Counter()
        self._settings = declare(self, KinematicsParameters)

    def start(self) -> None:
        """Create subscriptions, services and timers."""
        self._inputs = PolledSubscriptions()
        frames = TfListener(self, self._inputs, depth=_TF_DEPTH, events=QUIET)
        self._state = RobotStateCache(self._settings, frames.tree, self._inputs.take)
        frames.on_moving = self._state.history.add
        ik = IkService(self._state)
        worker = WorkerThread(self)
        self._markers = MarkerPublisher(self, worker)
        DescriptionSubscription(self, self._on_description)
        self._inputs.subscribe(self, JointState, "joint_states", self._on_joints, JOINT_STATES)
        self._serve(SolveIK, "solve_ik", lambda *io: self._markers.set_ik_attempt(ik.answer(*io)))
        self._serve(SolveFK, "solve_fk", FkService(self._state).answer)
        self._serve(GetJacobian, "get_jacobian", lambda *io: get_jacobian(self._state, *io))
        self._serve(SolveDynamics, "solve_dynamics", partial(solve_dynamics, self._state))
        self._serve_moveit()
        # In its own callback group, so that other requests do not wait for it.
        group, batches = ReentrantCallbackGroup(), IkBatchService(self._state)
        self._serve_long(PlanPath, "plan_path", partial(plan_path, self._state), worker, group)
        own = WorkerThread(self)  # a batch may take minutes, and must not delay a path
        self._serve_long(SolveIKBatch, "solve_ik_batch", batches.work, own, group)
        cancel = "~/cancel_ik_batch"
        self.create_service(
            CancelIKBatch, cancel, batches.cancel, callback_group=group, qos_profile=CALLS
        )
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_timer(_DIAGNOSTICS_PERIOD, self._diagnose, clock=STEADY_CLOCK)
        self._polling = self.create_timer(_POLL_PERIOD, self._inputs.take, clock=STEADY_CLOCK)

    def _serve(self, kind: Any, name: str, answer: Callable[[Any, Any], None]) -> None:
        """Create a service that turns rejections into a status and a message."""

        def callback(request: Any, response: Any) -> Any:
            try:
                answer(request, response)
            except KinematicsError as error:
                fill_rejection(response, error)
            self._count(name, response.status)
            return response

        self.create_service(kind, f"~/{name}", callback, qos_profile=MANY_CALLS)

    def _serve_long(
        self,
        kind: Any,
        name: str,
        prepare: Callable[[Any, Any], Callable[[], None]],
        worker: WorkerThread,
        group: Any,
    ) -> None:
        """Create a service whose work is done in a worker thread, while others are served."""

        async def callback(request: Any, response: Any) -> Any:
            try:
                await worker.run(prepare(request, response))
            except KinematicsError as error:
                fill_rejection(response, error)
            self._count(name, response.status)
            return response

        self.create_service(kind, f"~/{name}", callback, callback_group=group, qos_profile=CALLS)

    def _serve_moveit(self) -> None:
        """Create MoveIt's services, or log that moveit_msgs is not installed."""
        if self._settings.moveit_group == _NOT_SERVED:
            return
        if find_spec("moveit_msgs") is None:
            self.get_logger().info(
                "moveit_msgs is not installed: compute_ik and compute_fk are not served"
            )
            return
        _OTHER_SERVICES.load("moveit")(self, self._state, self._count)

    def _count(self, name: str, status: int) -> None:
        self._counts[f"{name}: status {status}"] += 1

    def _on_joints(self, message: JointState) -> None:
        self._state.set_joints(message)
        self._markers.set_joints(self._state.positions)

    def _on_description(self, message: String) -> None:
        if message.data == self._xml:
            return
        try:
            robot = self._state.set_description(message.data)
        except KinematicsError as error:
            self._problem = f"the last robot description was rejected: {error}"
            self.get_logger().error(f"robot_description rejected: {error}")
            return
        self._xml, self._problem = message.data, ""
        self.get_logger().info(
            f"Ready for '{robot.name}', base '{robot.base}', joints {', '.join(robot.joint_names)}"
        )
        for sentence in fault_sentences(robot.urdf):
            self.get_logger().warning(f"robot_description: {sentence}")
        self._build_default_chain(robot)

    def _build_default_chain(self, robot: Robot) -> None:
        """Build the chain that requests use by default, and show the robot."""
        try:
            chain = self._state.chain("")
        except KinematicsError as error:
            self._problem = f"requests must name a tip_frame: {error}"
            self.get_logger().warning(self._problem)
            self._markers.no_robot()
            return
        chain.ik(chain.fk(chain.middle), timeout=self._settings.default_timeout)
        self._markers.set_robot(robot, chain)
        self._markers.set_joints(self._state.positions)

    def _poll_inputs(self) -> None:
        """Poll so that no message waits for long, and often while the markers have subscribers.

        Requests poll on their own.
        """
        self._inputs.take()
        if not self._markers.is_subscribed:
            self._polling.cancel()
        elif self._polling.is_canceled():
            self._polling.reset()

    def _diagnose(self) -> None:
        self._poll_inputs()
        status = DiagnosticStatus(
            name=f"{self.get_fully_qualified_name()}: solver",
            hardware_id=self._state.robot_id,
            level=DiagnosticStatus.WARN if self._problem else DiagnosticStatus.OK,
            message=self._problem or "ready",
            values=[KeyValue(key=key, value=str(value)) for key, value in self._counts.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)


def make_nodes() -> list[Node]:
    """Create the node and start it."""
    node = KinematicsNode()
    node.start()
    return [node]


def main() -> int:
    """Run the node until it is stopped; return the exit code."""
    return run_node(make_nodes)


if __name__ == "__main__":
    sys.exit(main())
