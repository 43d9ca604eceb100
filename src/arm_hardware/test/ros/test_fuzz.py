# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""No request ends the driver's process or breaks a bound: each interface is fuzzed in mid-motion.

The last layer before the bus turns a step beyond the limits into FAULT, which must not occur.
"""

import random
import signal
import threading
import time
import uuid

import pytest
from action_msgs.srv import CancelGoal
from arm_common.ros.qos import LATCHED
from arm_hardware.calibration.axes import axes_of
from arm_hardware.simulation.pca9685_chip import ChipMemory, Pca9685Chip
from arm_testing.ros import driver as nc
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTolerance, SpeedScalingFactor
from control_msgs.srv import QueryTrajectoryState
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import (
    ChangeState,
    GetAvailableStates,
    GetAvailableTransitions,
    GetState,
)
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.serialization import serialize_message
from std_msgs.msg import Empty
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system

NAN, INF = float("nan"), float("inf")
VALUES = (NAN, INF, -INF, 0.0, -0.0, 1e308, -1e308, 5e-324, 1e-9, 2.0**31, 0.3, -0.3, 0.02)
SECONDS = (-(2**31), -1, 0, 0, 0, 1, 2, 10, 2**31 - 1, 2_000_000_000)
NANOSECONDS = (0, 1, 500_000_000, 999_999_999, 2**32 - 1)
WORDS = ("", "waist", "gripper", "use_sim_time", "rate_hz", "no such", "\u2603" * 9, "x" * 3000)
WINDOW = 5  # requests under way at once; a service keeps the last 10
ACTIVE = {Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVE_SHUTDOWN}  # allowed


class Messages:
    """Random messages: mostly wrong, some valid."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.pick = self.random.choice

    def floats(self) -> list[float]:
        if self.random.random() < 0.5:
            return [self.random.uniform(-0.5, 0.5) for _ in nc.NAMES]
        return [self.pick(VALUES) for _ in range(self.pick((0, 1, 4, 4, 4, 5)))]

    def time(self, stamp) -> None:
        stamp.sec, stamp.nanosec = self.pick(SECONDS), self.pick(NANOSECONDS)

    def point(self, k: int) -> JointTrajectoryPoint:
        point = JointTrajectoryPoint(positions=self.floats())
        for what in ("velocities", "accelerations", "effort"):
            if self.random.random() < 0.15:
                setattr(point, what, self.floats())
        point.time_from_start.sec = 2 * (k + 1)
        if self.random.random() < 0.3:
            self.time(point.time_from_start)
        return point

    def trajectory(self) -> JointTrajectory:
        names = list(nc.NAMES)
        if self.random.random() < 0.2:
            names = [self.pick((*nc.NAMES, *WORDS)) for _ in range(self.pick((0, 1, 4, 5)))]
        number = self.pick((0, 1, 1, 2, 3, 300))
        message = JointTrajectory(joint_names=names, points=[self.point(k) for k in range(number)])
        if self.random.random() < 0.2:
            self.time(message.header.stamp)
        return message

    def goal_id(self) -> list[int]:
        return list(
            uuid.UUID(int=self.random.getrandbits(128) if self.random.random() < 0.5 else 0).bytes
        )

    def follow(self) -> FollowJointTrajectory.Impl.SendGoalService.Request:
        request = FollowJointTrajectory.Impl.SendGoalService.Request()
        request.goal_id.uuid = self.goal_id()
        request.goal.trajectory = self.trajectory()
        if self.random.random() < 0.2:
            tolerance = JointTolerance(name=self.pick(WORDS), position=self.pick(VALUES))
            request.goal.path_tolerance = request.goal.goal_tolerance = [tolerance]
            self.time(request.goal.goal_time_tolerance)
        return request

    def grip(self) -> GripperCommand.Impl.SendGoalService.Request:
        request = GripperCommand.Impl.SendGoalService.Request()
        request.goal_id.uuid = self.goal_id()
        request.goal.command.position = self.pick(VALUES)
        request.goal.command.max_effort = self.pick(VALUES)
        return request

    def cancel(self) -> CancelGoal.Request:
        request = CancelGoal.Request()
        request.goal_info.goal_id.uuid = self.goal_id()
        self.time(request.goal_info.stamp)
        return request

    def result(self) -> FollowJointTrajectory.Impl.GetResultService.Request:
        request = FollowJointTrajectory.Impl.GetResultService.Request()
        request.goal_id.uuid = self.goal_id()
        return request

    def change(self) -> ChangeState.Request:
        request = ChangeState.Request()
        request.transition.id = self.pick([k for k in range(256) if k not in ACTIVE])
        if self.random.random() < 0.5:
            request.transition.label = self.pick((*WORDS[1:], "configure", "transition_error"))
        return request

    def query(self) -> QueryTrajectoryState.Request:
        request = QueryTrajectoryState.Request()
        self.time(request.time)
        return request

    def parameter(self) -> Parameter:
        value = ParameterValue(type=self.random.randrange(256))
        value.double_value, value.string_value = self.pick(VALUES), self.pick(WORDS)
        value.integer_value = self.pick((0, -(2**63), 2**63 - 1))
        value.double_array_value = self.floats()
        return Parameter(name=self.pick(WORDS), value=value)

    def garbage(self) -> bytes:
        """A serialised trajectory with some bytes changed or cut off."""
        data = bytearray(serialize_message(self.trajectory()))
        for _ in range(self.pick((1, 3, 30))):
            data[self.random.randrange(4, len(data))] = self.random.randrange(256)
        return bytes(data[: self.random.randrange(4, len(data) + 1)])


def services(made: Messages) -> dict:
    """Return type and generator of a request by the name of its service."""
    words = lambda: [made.pick(WORDS) for _ in range(made.pick((0, 1, 9)))]  # noqa: E731
    action = FollowJointTrajectory.Impl
    follow = "arm_controller/follow_joint_trajectory/_action"
    gripper = "gripper_controller/gripper_cmd/_action"
    return {
        f"{follow}/send_goal": (action.SendGoalService, made.follow),
        f"{follow}/cancel_goal": (CancelGoal, made.cancel),
        f"{follow}/get_result": (action.GetResultService, made.result),
        f"{gripper}/send_goal": (GripperCommand.Impl.SendGoalService, made.grip),
        f"{gripper}/cancel_goal": (CancelGoal, made.cancel),
        "arm_hardware/stop": (Trigger, Trigger.Request),
        "arm_hardware/reset": (Trigger, Trigger.Request),
        "arm_hardware/change_state": (ChangeState, made.change),
        "arm_hardware/get_state": (GetState, GetState.Request),
        "arm_hardware/get_available_states": (GetAvailableStates, GetAvailableStates.Request),
        **{
            f"arm_hardware/{name}": (GetAvailableTransitions, GetAvailableTransitions.Request)
            for name in ("get_available_transitions", "get_transition_graph")
        },
        "arm_controller/query_state": (QueryTrajectoryState, made.query),
        "arm_hardware/set_parameters": (
            SetParameters,
            lambda: SetParameters.Request(parameters=[made.parameter()]),
        ),
        "arm_hardware/set_parameters_atomically": (
            SetParametersAtomically,
            lambda: SetParametersAtomically.Request(parameters=[made.parameter()] * 2),
        ),
        "arm_hardware/get_parameters": (
            GetParameters,
            lambda: GetParameters.Request(names=words()),
        ),
        "arm_hardware/get_parameter_types": (
            GetParameterTypes,
            lambda: GetParameterTypes.Request(names=words()),
        ),
        "arm_hardware/describe_parameters": (
            DescribeParameters,
            lambda: DescribeParameters.Request(names=words()),
        ),
        "arm_hardware/list_parameters": (
            ListParameters,
            lambda: ListParameters.Request(prefixes=words(), depth=made.pick((0, 1, 2**64 - 1))),
        ),
    }


def topics(made: Messages) -> dict:
    """Return type and generator of a message by the name of its topic."""
    trajectory = "arm_controller/joint_trajectory"
    return {
        trajectory: (JointTrajectory, made.trajectory),
        f"{trajectory} as bytes": (JointTrajectory, made.garbage),
        "arm_hardware/emergency_stop": (Empty, Empty),
        "arm_controller/speed_scaling_input": (
            SpeedScalingFactor,
            lambda: SpeedScalingFactor(factor=made.pick(VALUES)),
        ),
    }


class Watch:
    """Watches the pulses on the board, in a thread, until it is closed."""

    def __init__(self, file, model, calibration) -> None:
        self.chip = Pca9685Chip(memory=ChipMemory(file))
        axes = calibration.narrowed(axes_of(model))
        self._bounds = [
            (servo.channel, *sorted(map(servo.count_of, (axis.lower, axis.upper))))
            for axis, servo in zip(axes, calibration.maps(axes_of(model)), strict=True)
        ]
        self.broken: set[tuple[int, int]] = set()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def counts(self) -> list[int]:
        return [self.chip.count(channel) for channel, *_ in self._bounds]

    def _run(self) -> None:
        while not self._closing.wait(0.003):
            for count, (channel, low, high) in zip(self.counts(), self._bounds, strict=True):
                if not low - 1 <= count <= high + 1:
                    self.broken.add((channel, count))

    def close(self) -> None:
        self._closing.set()
        self._thread.join()


def answered(future, name: str) -> None:
    if not name.endswith("get_result"):  # of a goal that may be running
        nc.wait_for(future.done, f"answer of {name}")


def attack(client, number: int, made: Messages) -> None:
    """Send so many messages to each interface of a moving arm."""
    for name, (kind, make) in services(made).items():
        service = client.node.create_client(kind, name)
        assert service.wait_for_service(nc.BOUND), name
        client.move()
        pending = []
        for _ in range(number):
            pending.append(service.call_async(make()))
            if len(pending) == WINDOW:
                answered(pending.pop(0), name)
        for future in pending:
            answered(future, name)
        client.check(name)
    for name, (kind, make) in topics(made).items():
        topic = client.node.create_publisher(kind, name.partition(" ")[0], LATCHED)
        nc.wait_for(topic.get_subscription_count, name)
        client.move()
        for k in range(number):
            topic.publish(make())
            if k % WINDOW == 0:
                client.lifecycle()  # answered: the queue of the subscription is worked off
        client.check(name)


class Attacker(nc.Client):
    """A client that checks the laws between its attacks."""

    def move(self) -> None:
        """Let the arm move, whatever happened before."""
        self.scaling.publish(SpeedScalingFactor(factor=1.0))
        self.restore()
        self.creep(-1.2, -0.3, 0.3, 0.8)

    def check(self, what: str) -> None:
        """Check that the driver lives, has no fault and answers."""
        assert self.process.poll() is None, what
        assert self.lifecycle() == "active", what
        nc.wait_for(lambda: self.status.state != HardwareStatus.UNKNOWN, what)
        assert self.status.state != HardwareStatus.FAULT, (what, self.status.message)
        assert "internal error" not in self.status.message, (what, self.status.message)
        assert not self.watch.broken, what


@pytest.fixture
def attacker(start, tmp_path, model, calibration, fresh_domain):
    board, output = tmp_path / "board", []
    process = start(hardware="sim", backend="i2c_dev", autostart="activate", sim_registers=board)
    running = process.process
    # the log of thousands of refusals would fill the pipe, and then block the driver
    reader = threading.Thread(target=lambda: output.extend(running.stdout), daemon=True)
    reader.start()
    made = Attacker()
    made.scaling = made.node.create_publisher(
        SpeedScalingFactor, "arm_controller/speed_scaling_input", LATCHED
    )
    made.wait_armed()
    made.process, made.watch = running, Watch(board, model, calibration)
    yield made
    made.watch.close()
    running.send_signal(signal.SIGINT)
    code = running.wait(nc.BOUND)
    reader.join()
    made.close()
    log = "".join(output)
    assert code == 0 and "Traceback" not in log, log[-3000:]
    assert "internal error" not in log, log[-3000:]


@pytest.mark.parametrize(
    "number", [pytest.param(25, id="small"), pytest.param(10_000, marks=pytest.mark.thorough)]
)
def test_no_message_ends_the_process_or_breaks_a_bound(attacker, number):
    attack(attacker, number, Messages(1))
    attacker.move()
    attacker.wait_state(HardwareStatus.MOVING)
    assert attacker.trigger("stop").success
    held = attacker.watch.counts()
    attacker.wait_settled(HardwareStatus.STOPPED)
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        assert attacker.watch.counts() == held
