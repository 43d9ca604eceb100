# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm of smart servos is moved by hand: taught, or as the leader of another one."""

import contextlib
import sys
import time

import pytest
from arm_description.trajectories.files import read_trajectory
from arm_tasks.client import Arm, Teacher
from arm_tasks.scene.poses import load_poses
from arm_testing.programs import terminal
from arm_testing.programs.processes import end, parameters, start_python
from arm_testing.ros import driver as nc
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState

from arm_description import load_robot

pytest.importorskip("scservo_sdk")
pytestmark = pytest.mark.thorough
COUNT = 2 * 3.14159265 / 4096  # [rad]
HERE, THERE = 252 * COUNT, 452 * COUNT  # [rad] where the hand holds the waist
NODE = """
import os, threading, time
from arm_simulation.emulation.feetech_servo import SimulatedServo
created = SimulatedServo.__init__
def hold(servo):
    while True:
        servo.hand = 2500 if os.path.exists({path!r}) else 2300
        time.sleep(0.01)
def create(servo, number):
    created(servo, number)
    if number == 1:
        threading.Thread(target=hold, args=[servo], daemon=True).start()
SimulatedServo.__init__ = create
from arm_hardware.ros.process import main
main()
"""


@pytest.fixture
def moved(tmp_path):
    """The file whose existence moves the hand."""
    return tmp_path / "moved"


@pytest.fixture
def guided(start_arm, tmp_path, moved):
    files = {"poses": str(tmp_path / "poses.yaml"), "paths": str(tmp_path / "paths")}
    stack = start_arm(
        without=("arm_hardware",),
        speed="1",
        hardware="sim",
        world="geometric",
        parameters={"task_server": files},
    )
    client = nc.Client()
    with nc.running_driver(
        client,
        NODE.format(path=str(moved)),
        hardware="sim",
        backend="feetech",
        calibration="nut_arm_feetech",
        autostart="configure",
    ):
        stack.wait_for(lambda: abs(stack.joints.get("waist", 0.0) - HERE) < COUNT, "the hand")
        yield stack, client


def test_arm_without_torque_is_taught_by_hand_and_plays_it(guided, tmp_path, moved):
    stack, client = guided
    with Arm() as arm:
        teacher = Teacher(arm)
        assert "is saved in" in teacher.save_pose("here")
        assert load_poses(tmp_path / "poses.yaml")["here"].joints["waist"] == pytest.approx(
            HERE, abs=COUNT
        )
        teacher.record("guided")
        moved.touch()
        stack.wait_for(lambda: abs(stack.joints["waist"] - THERE) < COUNT, "the moved hand")
        teacher.end_recording()
        path = read_trajectory(tmp_path / "paths/guided.csv", load_robot("nut_arm"))
        ends = path.positions[0, 0], path.positions[-1, 0]
        assert ends == pytest.approx((HERE, THERE), abs=2 * COUNT)
        assert client.change(Transition.TRANSITION_ACTIVATE)
        client.wait_armed()
        teacher.replay("guided", reverse=True)
        stack.wait_for(lambda: abs(stack.joints["waist"] - HERE) < 4 * COUNT, "the path's start")


@contextlib.contextmanager
def so101(moved, name, **values):
    """Start the driver of a simulated SO-101 with shipped calibration in a namespace."""
    code = NODE.format(path=str(moved)) if name == "left" else ""
    program = ["-c", code] if code else ["-m", "arm_hardware.ros.process"]
    options = parameters(robot="so101", hardware="sim", **values)
    process = start_python(*program, *options, "-r", f"__ns:=/{name}")
    try:
        yield
    finally:
        code, output = end(process)
        assert code == 0 and "Traceback" not in output, output


def test_limp_so101_leads_another_one(moved):
    """The leader has no torque; a hand moves it, and the follower's servos go there."""
    found = {}
    client = nc.Client()
    for name in ("left", "right"):
        client.node.create_subscription(
            JointState,
            f"/{name}/joint_states",
            lambda m, name=name: found.update({name: dict(zip(m.name, m.position, strict=True))}),
            10,
        )

    def pan(name):
        return found.get(name, {}).get("shoulder_pan", 0.0)

    with (
        so101(moved, "left", autostart="configure"),
        so101(moved, "right", autostart="activate"),
    ):
        nc.wait_for(lambda: abs(pan("left") - HERE) < COUNT and "right" in found, "both arms")
        follow = "from arm_tasks.commands.entry_points import follow; exit(follow())"
        with terminal.PtyProgram(
            *(sys.executable, "-c", follow, "so101", "--namespace", "right"),
            *("--leader", "/left/joint_states"),
        ) as program:
            program.wait_for("waiting  joints")
            for place in (HERE, THERE):
                deadline = time.monotonic() + nc.BOUND
                while abs(pan("right") - place) > 6 * COUNT:
                    program.type("f")
                    program.read()
                    assert time.monotonic() < deadline, program.said[-500:]
                    time.sleep(0.03)  # as a key repeats
                moved.touch()
            program.type("q")
            assert program.end() == 0 and "Traceback" not in program.said
            client.close()
