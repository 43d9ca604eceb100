# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Trajectory files as motions from rest to rest within limits, after a slow approach."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import rclpy
from arm_common.ros.node_runner import ExecutorThread, session
from arm_common.ros.qos import LATCHED
from arm_description.model.elements import ActuatorLimits
from arm_description.trajectories.files import read_trajectory
from arm_description.trajectories.trajectory import JointTrajectory, shipped_trajectories, slowdown
from arm_description.urdf.servo_limits import TOPIC, limits_text
from arm_kinematics.paths.trajectories import read_motion
from arm_tasks.bringup.view import play_processes
from arm_tasks.commands.play import main
from arm_tasks.errors import TasksError
from arm_tasks.ros.driver_client import FOLLOW, GRIP
from arm_tasks.ros.trajectory_player import APPROACH_SPEED, TrajectoryPlayer, approach, paced
from arm_testing.programs.processes import end, start_python
from arm_testing.ros.probe import Probe
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionServer, GoalResponse
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_description import load_robot, shipped_robots
from arm_interfaces.msg import HardwareStatus
from arm_kinematics import Chain

SHIPPED = [(r, t) for r in shipped_robots() for t in shipped_trajectories(r)]


def differences(motion):
    times = np.linspace(0.0, motion.duration, 4001)
    q = np.array([motion.at(t) for t in times])
    step = times[1]
    return q, np.diff(q, axis=0) / step, np.diff(q, 2, axis=0) / step**2


@pytest.mark.parametrize(("robot", "name"), SHIPPED)
@pytest.mark.parametrize("pace", [0.5, 1.0, 100.0])
def test_motion_respects_the_limits_at_any_pace(robot, name, pace):
    model = load_robot(robot)
    trajectory = read_trajectory(name, model)
    motion = paced(model, trajectory, pace)
    q, speed, acceleration = differences(motion)
    assert (q <= model.upper + 1e-9).all() and (q >= model.lower - 1e-9).all()
    assert (np.abs(speed) <= model.velocity * 1.001).all()
    assert (np.abs(acceleration) <= model.acceleration * 1.02).all()
    assert motion.duration >= trajectory.duration / pace
    if pace < 1.0:  # within the limits except when starting and stopping
        assert motion.duration < trajectory.duration / pace + 1.0
    np.testing.assert_allclose(motion.positions[[0, -1]], trajectory.positions[[0, -1]])


def test_motion_passes_the_points_of_the_file_in_order():
    model = load_robot("nut_arm")
    trajectory = read_trajectory("look_around", model)
    motion = paced(model, trajectory, 1.0)
    place = 0
    for point in trajectory.positions:
        near = np.abs(motion.positions[place:] - point).max(axis=1) < 1e-9
        assert near.any(), point
        place += int(near.argmax())


TOOL = "time,x,y,z\n0,0.2,0,0.17\n1,0.2,0.02,0.17\n2,0.2,0,0.17\n"


def test_trajectory_of_the_tool_becomes_one_of_the_joints(tmp_path):
    model, file = load_robot("nut_arm"), tmp_path / "way.csv"
    file.write_text(TOOL)
    trajectory = read_motion(str(file), model)
    chain, middle = Chain.from_model(model), int(np.searchsorted(trajectory.times, 1.0))
    reached = [chain.fk(trajectory.positions[i])[:3, 3] for i in (0, middle, -1)]
    np.testing.assert_allclose(reached, [[0.2, y, 0.17] for y in (0.0, 0.02, 0.0)], atol=2e-5)
    assert trajectory.duration == 2.0


@pytest.mark.parametrize("home", [(0.4, 0.9), (0.4, -0.9)])
def test_tool_begins_near_the_posture_at_which_everything_starts(tmp_path, home):
    model, file = load_robot("planar2"), tmp_path / "way.csv"
    chain = Chain.from_model(model)
    model = replace(model, postures={"ready": dict(zip(model.joint_names, home, strict=True))})
    x, y, z = chain.fk(home)[:3, 3]
    file.write_text(f"time,x,y,z\n0,{x},{y},{z}\n1,{x},{y + 0.01},{z}\n")
    begin = read_motion(str(file), model).positions[0]
    np.testing.assert_allclose(begin, home, atol=1e-3)


def test_way_over_arc_length_is_as_fast_as_a_joint_allows(tmp_path):
    model, file = load_robot("nut_arm"), tmp_path / "way.csv"
    file.write_text("length,x,y,z\n0,0.2,0,0.17\n0.02,0.2,0.02,0.17\n0.06,0.2,-0.02,0.17\n")
    trajectory = read_motion(str(file), model)
    assert slowdown(trajectory, model)[0] == pytest.approx(1.0)
    turn = np.searchsorted(trajectory.times, trajectory.duration / 3.0)  # a constant speed
    tip = Chain.from_model(model).fk(trajectory.positions[turn])[:3, 3]
    np.testing.assert_allclose(tip, [0.2, 0.02, 0.17], atol=2e-3)


def test_unplayable_trajectory_of_the_tool_is_rejected(tmp_path, capsys):
    file = tmp_path / "way.csv"
    file.write_text(TOOL.replace("2,0.2", "2,0.9"))
    assert main(["nut_arm", str(file)]) == 1
    assert "between point 2 and 3" in capsys.readouterr().err


def test_approach_is_slow_and_omitted_at_the_start():
    model = load_robot("nut_arm")
    start = np.array([0.5, -0.5, 0.2, 1.0])
    path = approach(model, np.zeros(4), start)
    assert (
        path.positions[0].tolist() == [0.0] * 4 and path.positions[-1].tolist() == start.tolist()
    )
    _, speed, _ = differences(path)
    assert (np.abs(speed) <= model.velocity * APPROACH_SPEED * 1.001).all()
    assert approach(model, start + 5e-4, start) is None
    rounded = model.upper + 0.005  # a limit rounded to servo counts
    assert (approach(model, rounded, start).positions <= model.upper).all()


def test_single_point_has_no_duration():
    model = load_robot("planar2")
    point = JointTrajectory(model.joint_names, np.zeros(1), np.full((1, 2), 0.1))
    assert paced(model, point, 1.0).duration == 0.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nut_amr", "wave"], "did you mean 'nut_arm'?"),
        (["nut_arm", "wafe"], "did you mean 'wave'?"),
        (["nut_arm", "no.csv"], "no.csv: there is no such file"),
        (["nut_arm", "wave", "--view", "--viewer-port", "x"], "viewer_port is 'x'"),
        (["nut_arm", "wave", "--view", "--namespace", "left"], "--view has no --namespace"),
        (["nut_arm", "wave", "--view", "--prefix", "left_"], "--view has no --prefix"),
    ],
)
def test_errors_are_reported_in_one_sentence(arguments, sentence, capsys):
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("arm: ") and sentence in error and error.count("\n") == 1


@pytest.mark.parametrize("pace", ["0", "-1", "nan", "inf", "fast"])
def test_invalid_pace_is_rejected(pace, capsys):
    with pytest.raises(SystemExit):
        main(["nut_arm", "wave", f"--speed={pace}"])
    assert "argument --speed: " in (error := capsys.readouterr().err) and pace in error


def test_player_ends_the_run_of_its_own_view():
    *_, player = play_processes(("nut_arm", "wave"))
    assert player.ends_all and player.to_terminal and player.arguments == ("nut_arm", "wave")


def test_recorder_is_no_view():
    """It subscribes to every topic, but the joints follow no slider of its own."""
    model = load_robot("nut_arm")
    with session("recorded"), closing(TrajectoryPlayer(model)) as playing:
        arm, recorder = rclpy.create_node("arm"), rclpy.create_node("recorder")
        recorder.create_subscription(JointState, "joint_targets", lambda _: None, 1)
        joints = arm.create_publisher(JointState, "joint_states", 1)
        message = JointState(name=model.joint_names, position=[0.0] * len(model.joint_names))
        thread = ExecutorThread(SingleThreadedExecutor(), [arm, recorder], lambda: None)
        arm.create_timer(0.05, lambda: joints.publish(message))
        with pytest.raises(TasksError, match="no arm_hardware/status yet"):
            playing.wait_ready(2.0)
        arm.create_subscription(JointState, "joint_targets", lambda _: None, 1)
        assert playing.wait_ready(10.0) == "view"
        thread.stop(2.0)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (ActuatorLimits(-0.2, 0.2), "joint 'waist' is at "),
        (ActuatorLimits(velocity=0.05), "above its limit"),
        (ActuatorLimits(acceleration=0.5), "the motion was "),  # planned, and rejected below
    ],
)
def test_limits_of_the_driver_hold_for_a_file(limits, expected):
    model, played = load_robot("nut_arm"), []
    driver = Probe("driver")
    node = driver.node

    def refuse(goal):
        played.append(goal.trajectory)
        return GoalResponse.REJECT

    servers = [
        ActionServer(node, FollowJointTrajectory, FOLLOW, lambda _: None, goal_callback=refuse),
        ActionServer(node, GripperCommand, GRIP, lambda _: None),
    ]
    status = node.create_publisher(HardwareStatus, "arm_hardware/status", LATCHED)
    status.publish(HardwareStatus(state=HardwareStatus.ARMED, speed_scaling=1.0))
    joints = node.create_publisher(JointState, "joint_states", 10)
    names = [*model.joint_names, *model.gripper.moving]
    start = [*read_trajectory("wave", model).positions[0], *[0.0] * len(model.gripper.moving)]
    limited = model.limited({"waist": limits})
    publisher = node.create_publisher(String, TOPIC, LATCHED)
    publisher.publish(String(data=limits_text(limited)))
    words = "from arm_tasks.commands.play import main; exit(main(['nut_arm', 'wave']))"
    process = start_python("-c", words)
    try:
        while process.poll() is None:
            joints.publish(JointState(name=names, position=start))
            driver.executor.spin_once(timeout_sec=0.05)
    finally:
        code, output = end(process)
        for server in servers:
            server.destroy()
        driver.close()
    assert code == 1 and expected in output, output
    for trajectory in played:
        times = [
            p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in trajectory.points
        ]
        speeds = np.array([p.velocities[0] for p in trajectory.points])
        assert (np.abs(np.diff(speeds) / np.diff(times)) <= 0.5 * 1.02).all()


def test_player_refuses_to_choose_one_of_several_arms():
    model = load_robot("nut_arm")
    names = [f"{arm}_{joint}" for arm in ("left", "right") for joint in model.joint_names]
    sentence = "show 2 arms, with the prefixes 'left_', 'right_'; choose one by --prefix"
    with session("several"), closing(TrajectoryPlayer(model)) as playing:
        node = rclpy.create_node("driver")
        joints = node.create_publisher(JointState, "joint_states", 1)
        both = JointState(name=names, position=[0.0] * len(names))
        thread = ExecutorThread(SingleThreadedExecutor(), [node], lambda: None)
        node.create_timer(0.05, lambda: joints.publish(both))
        with pytest.raises(TasksError, match=sentence):
            playing.wait_ready(10.0)
        thread.stop(2.0)
