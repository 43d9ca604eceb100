# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The follower's node beside a scripted leader, driver and task server."""

import contextlib
import time
from unittest.mock import Mock

import pytest
import rclpy
from arm_common.ros.qos import LATCHED
from arm_description.model.elements import ActuatorLimits
from arm_description.trajectories.files import read_trajectory
from arm_description.urdf.servo_limits import TOPIC, limits_text
from arm_tasks.errors import TasksError
from arm_tasks.manual import teaching
from arm_tasks.manual.follower import FollowState
from arm_tasks.manual.jogger import JogCommand
from arm_tasks.manual.teaching import PathRecorder
from arm_tasks.ros.teleop import follower as program
from arm_tasks.ros.teleop.follower import FollowerNode, FollowTerminal
from arm_tasks.ros.teleop.teleop_node import TeleopNode
from control_msgs.action import GripperCommand
from rclpy.action import ActionServer
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from arm_description import load_robot
from arm_interfaces.msg import HardwareStatus, TaskState

MODEL = load_robot("nut_arm")
GRIPPER = MODEL.gripper
TRAVEL = GRIPPER.max_width - GRIPPER.min_width
BOUND = 30.0  # [s]
SILENCE = "no valid joint_states on /leader/joint_states"
TASK = "a task is running: cancel it before you move the arm"


class World:
    """A follower at home, and the publishers around it; its jaws are at the width 0."""

    def __init__(self, recorder=None):
        self.node, self.follower = (
            rclpy.create_node("world"),
            FollowerNode(MODEL, recorder=recorder),
        )
        self.joints = self.node.create_publisher(JointState, "joint_states", 50)
        self.leader = self.node.create_publisher(JointState, "leader/joint_states", 50)
        status = self.node.create_publisher(HardwareStatus, "arm_hardware/status", LATCHED)
        status.publish(HardwareStatus(state=HardwareStatus.ARMED, speed_scaling=1.0))
        self.widths = []
        self.action = ActionServer(
            self.node, GripperCommand, "gripper_controller/gripper_cmd", self._on_width
        )
        self.executor = SingleThreadedExecutor()
        for node in (self.node, self.follower):
            self.executor.add_node(node)
        self.until(lambda: "leader" in self.tick() or SILENCE in self.tick(), "the driver")

    def _on_width(self, handle):
        self.widths.append(handle.request.command.position)
        handle.succeed()
        return GripperCommand.Result()

    def close(self):
        self.executor.shutdown()
        self.action.destroy()
        self.follower.destroy_node()
        self.node.destroy_node()

    def until(self, condition, what):
        deadline = time.monotonic() + BOUND
        while not condition():
            assert time.monotonic() < deadline, f"no {what}"

    def state(self, width=0.0, joints=MODEL.joint_names, waist=0.0):
        message = JointState(name=[*joints, *GRIPPER.joints])
        message.position = [0.0] * len(joints) + [0.5 * width] * 2
        message.position[0] = waist
        message.header.stamp = self.node.get_clock().now().to_msg()
        return message

    def spin(self, seconds=0.03):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.executor.spin_once(timeout_sec=left)

    def tick(self, held=False, leader=None, waist=0.0):
        """Publish the arm at home and a message of the leader; return what the node reports."""
        self.joints.publish(self.state(waist=waist))
        if leader is not None:
            self.leader.publish(leader)
        self.spin()
        return self.follower.update(held)

    def follow(self, width=0.0):
        """Lead and hold the switch until the arm follows."""

        def following():
            stopped = self.follower.state is FollowState.STOPPED
            self.tick(not stopped, self.state(width))
            return self.follower.state is FollowState.FOLLOWING

        self.until(following, "following")


@pytest.fixture
def worlds():
    """Return a factory of worlds with parameters of the follower."""
    with contextlib.ExitStack() as stack:

        def make(*parameters, recorder=None):
            words = [word for parameter in parameters for word in ("-p", parameter)]
            rclpy.init(args=["--ros-args", *words])
            stack.callback(rclpy.shutdown)
            world = World(recorder)
            stack.callback(world.close)
            return world

        yield make


def test_jaws_move_at_the_speed_of_the_follower(worlds):
    world = worlds("speed:=0.2")
    world.follow(GRIPPER.max_width)
    world.until(lambda: world.tick(True, world.state(TRAVEL)) or world.widths, "jaw command")
    assert world.widths[0] == pytest.approx(0.1 * 0.2 * TRAVEL)


def test_jaws_do_not_follow_a_message_that_the_joints_ignore(worlds):
    world = worlds()
    world.follow()
    for _ in range(8):
        world.tick(True, world.state())
        world.tick(True, world.state(TRAVEL, joints=MODEL.joint_names[:-1]))
    assert world.follower.state is FollowState.FOLLOWING and not world.widths


def test_width_of_a_leader_that_was_silent_is_forgotten(worlds):
    world = worlds("leader_timeout:=0.3")
    fingerless = JointState(name=MODEL.joint_names, position=[0.0] * MODEL.n)
    world.follow(TRAVEL)
    world.until(lambda: SILENCE in world.tick(True), "silence")
    world.until(
        lambda: (
            not world.tick(world.follower.state is not FollowState.STOPPED, fingerless)
            and world.follower.state is FollowState.FOLLOWING
        ),
        "following",
    )
    world.widths.clear()
    for _ in range(8):
        world.tick(True, fingerless)
    assert world.follower.state is FollowState.FOLLOWING and not world.widths


def test_silence_of_the_leader_is_reported_while_waiting_and_stopped(worlds):
    world = worlds("leader_timeout:=0.3")
    assert world.tick() == f"{SILENCE} yet"
    assert world.follower.state is FollowState.WAITING
    world.follow()
    world.until(lambda: SILENCE in world.tick(True), "silence")
    assert world.follower.state is FollowState.STOPPED
    assert world.tick(True).startswith(f"{SILENCE} for 0.")
    assert world.tick(True, world.state()) == "release the dead man's switch, then hold it again"
    without = world.state(joints=MODEL.joint_names[:-1])
    why = ": the leader has no wrist_roll"
    world.until(lambda: world.tick(False, without).endswith(why), "reason")


def test_messages_from_before_a_stall_do_not_count_as_new(worlds):
    world = worlds()
    world.follow()
    received = world.follower._follower.leader.receive = Mock(return_value=False)
    for _ in range(100):
        world.leader.publish(world.state())
    world.spin(0.5)
    assert received.call_count <= 2


def test_arm_does_not_move_while_a_task_runs(worlds):
    world = worlds()
    task = world.node.create_publisher(TaskState, "task_server/state", LATCHED)
    world.follow()
    task.publish(TaskState(state=TaskState.PAUSED))
    world.until(lambda: world.tick(True, world.state()) == TASK, "refusal")
    assert not world.follower._follower.engaged
    task.publish(TaskState(state=TaskState.IDLE))
    world.until(lambda: world.tick(False, world.state()) != TASK, "end of the task")
    task.publish(TaskState(state=TaskState.RUNNING))
    world.until(lambda: world.tick(False, world.state()) == TASK, "refusal")
    world.node.destroy_publisher(task)  # the task server is gone
    world.follow()


def test_stop_without_a_driver_is_not_confirmed(worlds):
    screen = Mock()
    FollowTerminal(worlds().follower, screen).press(" ")
    assert "The driver does not respond" in screen.print.call_args.args[0]


def test_full_recording_is_reported_once_and_kept(worlds, monkeypatch, capsys):
    monkeypatch.setattr(teaching, "MAX_POINTS", 5)
    recorder = PathRecorder(MODEL)
    world = worlds(recorder=recorder)
    terminal = FollowTerminal(world.follower, None)
    for k in range(12):
        world.tick(waist=0.01 * k)
        terminal._update(time.monotonic())
    output = capsys.readouterr().out
    assert output.count("a recording has at most 5 points") == 1, output
    assert len(recorder.trajectory().times) <= 5


@pytest.mark.parametrize("moves", [True, False])
def test_an_error_keeps_the_recording_and_is_reported(tmp_path, monkeypatch, moves):
    def fail(make, _):
        recorder = make.args[2]
        for k in range(3):
            recorder.add(0.1 * k, [0.1 * k * moves] * MODEL.n)
        raise OSError("the screen is gone")

    monkeypatch.setattr(program, "running_node", fail)
    file = tmp_path / "path.csv"
    with pytest.raises(OSError, match="the screen is gone"):
        program.run_follow(MODEL, "leader", file, True)
    assert file.exists() == moves
    if moves:
        assert read_trajectory(file, MODEL).duration == pytest.approx(0.2)


def test_several_leaders_in_one_message_are_refused(worlds):
    world = worlds()
    names = [f"{arm}_{joint}" for arm in ("left", "right") for joint in MODEL.joint_names]
    message = JointState(name=names, position=[0.0] * len(names))
    sentence = "/leader/joint_states: .* 'left_', 'right_'; choose one by --leader-prefix"
    with pytest.raises(TasksError, match=sentence):
        world.until(lambda: world.tick(leader=message) is None, "refusal")


def test_jogging_refuses_to_choose_one_of_several_arms(worlds):
    world = worlds()
    names = [f"{arm}_{joint}" for arm in ("left", "right") for joint in MODEL.joint_names]
    both = JointState(name=names, position=[0.0] * len(names))
    teleop, left = TeleopNode(MODEL), TeleopNode(MODEL, "left_")
    try:
        for node in (teleop, left):
            world.executor.add_node(node)
        sentence = "show 2 arms, with the prefixes 'left_', 'right_'; choose one by --prefix"

        def jog():
            world.joints.publish(both)
            world.spin()
            teleop.update(JogCommand("joint"))

        with pytest.raises(TasksError, match=sentence):
            world.until(jog, "refusal")
        world.until(lambda: world.spin() or not left.update(JogCommand("joint")), "left arm")
    finally:
        teleop.destroy_node()
        left.destroy_node()


WAIST = MODEL.joint_names[0]
SLOW = MODEL.limited(
    {WAIST: ActuatorLimits(-0.2, 0.2, 0.5)}, width=ActuatorLimits(0.0, 0.5 * TRAVEL, 0.1)
)


@pytest.mark.parametrize("jogged", [True, False])
def test_limits_of_the_driver_hold(worlds, jogged):
    world, waist, points = worlds("speed:=1.0"), 0.0, []
    world.node.create_subscription(
        JointTrajectory, "arm_controller/joint_trajectory", lambda m: points.extend(m.points), 10
    )
    limits = world.node.create_publisher(String, TOPIC, LATCHED)
    teleop = TeleopNode(MODEL)
    world.executor.add_node(teleop)
    turn = JogCommand("joint", (1.0, *[0.0] * 6), 1.0)

    def step():
        nonlocal waist
        leader = world.state(GRIPPER.max_width, waist=1.0)
        is_free = world.follower.state is not FollowState.STOPPED
        problem = world.tick(is_free and not jogged, leader, waist)
        problem = teleop.update(turn) if jogged else problem
        waist = points[-1].positions[0] if points else waist
        return problem

    try:
        refusal = "no limits of the servo driver yet; is it configured?"
        world.until(lambda: step() == refusal, "refusal")
        assert not points
        limits.publish(String(data=limits_text(SLOW)))
        world.until(lambda: step() is not None and waist > 0.199, "limit")
        if jogged:
            world.until(lambda: teleop.grip(1.0) or step() or world.widths, "jaw command")
        else:
            world.until(lambda: step() is not None and world.widths, "jaw command")
    finally:
        teleop.destroy_node()
    assert max(point.positions[0] for point in points) <= 0.2 + 1e-9
    assert max(point.velocities[0] for point in points) <= 0.5 + 1e-9
    assert max(world.widths) <= 0.5 * TRAVEL


def test_keys_move_the_sliders_of_a_view_where_no_driver_runs():
    rclpy.init()
    view, teleop = rclpy.create_node("view"), TeleopNode(MODEL)
    executor, positions = SingleThreadedExecutor(), dict.fromkeys(MODEL.joint_names, 0.0)
    positions |= GRIPPER.positions(0.0)
    states = view.create_publisher(JointState, "joint_states", 10)
    view.create_subscription(
        JointState,
        "joint_targets",
        lambda message: positions.update(zip(message.name, message.position, strict=True)),
        10,
    )
    for node in (view, teleop):
        executor.add_node(node)
    waist, stopped = MODEL.joint_names[0], {}
    still = JogCommand("joint")
    turn, back = (JogCommand("joint", (way, *[0.0] * 6), 1.0) for way in (1.0, -1.0))

    def step(command=turn):
        states.publish(JointState(name=list(positions), position=list(positions.values())))
        for _ in range(4):  # all that has arrived
            executor.spin_once(timeout_sec=0.01)
        return teleop.update(command)

    def until(condition):
        deadline = time.monotonic() + BOUND
        while not condition():
            assert time.monotonic() < deadline, (positions, stopped)

    try:
        until(lambda: step() == "" and positions[waist] > 0.2)
        assert teleop.trigger("stop") == ""
        until(lambda: "stopped" in step())
        stopped = dict(positions)
        for _ in range(5):
            step()
        assert positions == stopped
        assert teleop.trigger("reset") == ""
        until(lambda: step(back) == "" and positions[waist] < stopped[waist] - 0.1)
        jaws = GRIPPER.joints[0]
        until(lambda: (step(still), teleop.grip(1.0)) and positions[jaws] != stopped[jaws])
    finally:
        executor.shutdown()
        teleop.destroy_node()
        view.destroy_node()
        rclpy.shutdown()
