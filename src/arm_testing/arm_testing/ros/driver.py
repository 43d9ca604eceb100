# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A driver node as a process, and a client of all its interfaces."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Iterator

import rclpy
from action_msgs.msg import GoalStatus
from arm_common.ros.qos import LATCHED
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor
from control_msgs.srv import QueryTrajectoryState
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.action import ActionClient
from rclpy.executors import (
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
)
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.msg import HardwareStatus
from arm_testing.programs.processes import (
    end,
    handles_sigterm,
    kill,
    output_of,
    parameters,
    start_python,
)
from arm_testing.waiting import BOUND, wait_for

NAMES = ("waist", "shoulder", "elbow", "wrist_roll")
FIRST_ANSWER = 5.0  # [s]
CREEP = 120.0  # [s] of driver time, so long that a test always ends during the motion
AWAY = (1.2, -0.3, 0.3, 0.8)
HOME = (0.0, 0.0, 0.0, 0.0)
NEAR = 0.004  # [rad] half a count of the board
SERVICES = {
    "stop": Trigger,
    "reset": Trigger,
    "release": Trigger,
    "change_state": ChangeState,
    "get_state": GetState,
}


class NodeProcess:
    """One driver node; `environment` and `stdin` are those of its process."""

    def __init__(
        self, code: str = "", environment=None, stdin: int = subprocess.DEVNULL, **values
    ) -> None:
        program = ["-c", code] if code else ["-m", "arm_hardware.ros.process"]
        words = [*program, *parameters(**values)]
        self.process = start_python(*words, stdin=stdin, **environment or {})

    def handles_sigterm(self) -> bool:
        return handles_sigterm(self.process.pid)

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Send a signal; return exit code and output."""
        return end(self.process, number)

    def output(self) -> tuple[int, str]:
        """Wait for the end; return exit code and output."""
        return output_of(self.process)

    def kill(self) -> None:
        kill(self.process)


@contextlib.contextmanager
def running_driver(client: Client, code: str = "", **values: object) -> Iterator[None]:
    """Run a driver node beside its client; end both, and assert that the node ends cleanly."""
    process = NodeProcess(code, **values)
    try:
        yield
    finally:
        exit_code, output = process.end()
        client.close()
    assert exit_code == 0, output
    assert "Traceback" not in output


class Client:
    """A client of a driver node; its actions are those of any program, or a `GoalClient`'s."""

    def __init__(self, action_client: type[ActionClient] = ActionClient) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("client", context=self.context)
        self.states: list[JointState] = []
        self.status: HardwareStatus | None = None
        self.diagnostics: DiagnosticArray | None = None
        self.clocks: list[Clock] = []
        make = self.node.create_subscription
        self.goals: list[JointState] = []
        make(JointState, "arm_controller/goal", self.goals.append, LATCHED)
        make(JointState, "joint_states", self.states.append, 10)
        make(HardwareStatus, "arm_hardware/status", self._on_status, LATCHED)
        make(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        make(Clock, "/clock", self.clocks.append, 10)
        self.arm = action_client(
            self.node, FollowJointTrajectory, "arm_controller/follow_joint_trajectory"
        )
        self.gripper = action_client(self.node, GripperCommand, "gripper_controller/gripper_cmd")
        self.topic = self.node.create_publisher(
            JointTrajectory, "arm_controller/joint_trajectory", 10
        )
        self.scaling = self.node.create_publisher(
            SpeedScalingFactor, "arm_controller/speed_scaling_input", LATCHED
        )
        self.feedback: list[FollowJointTrajectory.Feedback] = []
        self.controller_states: list[JointTrajectoryControllerState] = []
        make(
            JointTrajectoryControllerState,
            "arm_controller/controller_state",
            self.controller_states.append,
            10,
        )
        self._query = self.node.create_client(QueryTrajectoryState, "arm_controller/query_state")
        self._services = {
            name: self.node.create_client(kind, f"arm_hardware/{name}")
            for name, kind in SERVICES.items()
        }
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, ShutdownException):
            self.executor.spin()

    def _on_status(self, message) -> None:
        self.status = message

    def _on_diagnostics(self, message) -> None:
        self.diagnostics = message

    def close(self) -> None:
        """Leave the graph, as the end of a program does.

        An executor that its context has ended may keep an action client in use, for which the
        middleware then still acknowledges.
        """
        self.executor.shutdown()
        self._thread.join(timeout=BOUND)
        for action in list(self.node.waitables):
            action.destroy()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    # -- Waiting -----------------------------------------------------------------------------

    def done(self, future):
        before = len(self.states)
        try:
            wait_for(future.done, "answer")
        except AssertionError as error:
            received = len(self.states) - before
            raise AssertionError(
                f"{error}; {received} joint states meanwhile, {self.status}"
            ) from None
        return future.result()

    def request(self, send):
        """Call a function that sends an action request, in the spinning thread; return its future.

        In another thread, rclpy's action client may receive the response before it has registered
        the request, and ignore it.
        """
        return self.done(self.executor.create_task(send))

    def wait_state(self, *states: int):
        return wait_for(
            lambda: self.status is not None and self.status.state in states and self.status,
            f"state {states}",
        )

    def wait_armed(self) -> None:
        """Wait until the node is armed and all its interfaces are connected."""
        self.wait_state(HardwareStatus.ARMED)
        assert self.arm.wait_for_server(BOUND) and self.gripper.wait_for_server(BOUND)
        wait_for(self.topic.get_subscription_count, "subscription of the topic form")
        self.lifecycle()  # its client is the newest: the node then knows the others, too
        self.wait_settled(HardwareStatus.ARMED)

    def wait_settled(self, state: int):
        """Wait for a state and for joint states at least as new; return the status."""
        status = self.wait_state(state)
        wait_for(
            lambda: self.states and seconds(self.states[-1]) >= seconds(status), "joint state"
        )
        return status

    def wait_moving(self) -> None:
        """Wait until the arm is moving towards AWAY."""
        wait_for(lambda: self.position("waist") > NEAR, "motion")

    def restore(self) -> None:
        """Restore a configured node to its initial state, armed and at HOME."""
        assert self.trigger("stop").success
        self.wait_settled(HardwareStatus.STOPPED)
        assert self.trigger("reset").success
        self.wait_settled(HardwareStatus.ARMED)
        if any(abs(self.position(name)) > NEAR for name in NAMES):
            self.go(*HOME, time=1.0)

    def position(self, name: str) -> float:
        message = self.states[-1]
        return message.position[list(message.name).index(name)]

    # -- Services ----------------------------------------------------------------------------

    def ask(self, name: str, request):
        """Send a request to a service of the node; return the future answer."""
        assert self._services[name].wait_for_service(BOUND)
        return self._services[name].call_async(request)

    def trigger(self, name: str) -> Trigger.Response:
        return self.done(self.ask(name, Trigger.Request()))

    def change(self, transition: int) -> bool:
        request = ChangeState.Request()
        request.transition.id = transition
        return self.done(self.ask("change_state", request)).success

    def lifecycle(self) -> str:
        """Return the lifecycle state; retry, as a first response can be lost during discovery."""
        end = time.monotonic() + BOUND
        while True:
            future = self.ask("get_state", GetState.Request())
            try:
                wait_for(future.done, "answer", FIRST_ANSWER)
            except AssertionError:
                if time.monotonic() > end:
                    raise
                continue
            return future.result().current_state.label

    # -- Goals -------------------------------------------------------------------------------

    def send(self, *points, names=NAMES, stamp=None):
        """Send a trajectory of (time, positions) pairs; return the goal handle."""
        return self.send_goal(trajectory=trajectory(points, names, stamp))

    def send_goal(self, **fields):
        """Send a goal of any fields; return the goal handle. Feedback is kept."""
        goal = FollowJointTrajectory.Goal(**fields)
        kept = self.feedback
        return self.done(
            self.request(lambda: self.arm.send_goal_async(goal, lambda m: kept.append(m.feedback)))
        )

    def scale(self, factor: float) -> None:
        """Set the speed scaling; wait until the driver reports it."""
        self.scaling.publish(SpeedScalingFactor(factor=factor))
        wait_for(lambda: self.status.speed_scaling == factor, f"speed scaling {factor}")

    def query(self, stamp) -> QueryTrajectoryState.Response:
        """Return the state of the running trajectory at a time."""
        assert self._query.wait_for_service(BOUND)
        return self.done(self._query.call_async(QueryTrajectoryState.Request(time=stamp)))

    def creep(self, *q):
        """Start a motion that outlasts the test, to AWAY by default; return the goal handle."""
        handle = self.send((CREEP, q or AWAY))
        assert handle.accepted
        return handle

    def grip(self, width: float):
        goal = GripperCommand.Goal()
        goal.command.position = width
        return self.done(self.request(lambda: self.gripper.send_goal_async(goal)))

    def cancel(self, handle):
        """Cancel a goal; return the future answer."""
        return self.request(handle.cancel_goal_async)

    def end_of(self, handle):
        """Return the future result of a goal."""
        return self.request(handle.get_result_async)

    def result(self, handle):
        return self.done(self.end_of(handle))

    def go(self, *q, time=0.5):
        handle = self.send((time, q))
        assert handle.accepted
        result = self.result(handle)
        assert result.status == GoalStatus.STATUS_SUCCEEDED, result.result.error_string
        wait_for(lambda: self._rests_at(q), "arrival")

    def _rests_at(self, q) -> bool:
        """Return whether joint states and status both report that the arm rests at q."""
        pulses = {pulse.name: pulse.position for pulse in self.status.joints}
        return self.status.state == HardwareStatus.ARMED and all(
            max(abs(self.position(name) - value), abs(pulses[name] - value)) < NEAR
            for name, value in zip(NAMES, q, strict=True)
        )


def seconds(message) -> float:
    """Return the stamp of a message [s]."""
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def trajectory(points, names=NAMES, stamp=None) -> JointTrajectory:
    message = JointTrajectory(joint_names=list(names))
    if stamp is not None:
        message.header.stamp = stamp
    for time_, q in points:
        point = JointTrajectoryPoint(positions=[float(x) for x in q])
        point.time_from_start.sec = int(time_)
        point.time_from_start.nanosec = int((time_ - int(time_)) * 1e9)
        message.points.append(point)
    return message
