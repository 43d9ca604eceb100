# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import os
import sys

import numpy as np
import pytest
from arm_common.transforms import frame_along
from arm_description.trajectories.files import read_trajectory
from arm_tasks.client import Arm, ArmError, Teacher
from arm_tasks.errors import SceneError, resolve
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.poses import load_poses
from arm_testing.terminal import PtyProgram

from arm_description import load_robot
from arm_interfaces.msg import TaskState
from arm_interfaces.srv import ListTasks

BOUND = 60.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("taught")


@pytest.fixture(scope="module")
def running(folder, make_arms):
    """Run an arm whose task server saves poses and paths in the test's folder."""
    scene = folder / "my_scene.yaml"
    scene.write_text(resolve("nut_transfer", "scenes", "scene", SceneError).read_text())
    files = {"poses": str(folder / "poses.yaml"), "paths": str(folder / "paths")}
    with make_arms(folder) as start:
        arm = start(hardware="fake", scene=str(scene), parameters={"task_server": files})
        arm.wait_ready()
        yield arm


@pytest.fixture
def taught(running):
    """Return it in its initial position."""
    running.home()
    return running


def test_teach_poses_paths_and_bolts_from_a_program(taught, folder):
    with Arm() as arm:
        teacher = Teacher(arm)
        arm.move_joints({"waist": -0.4, "shoulder": 0.1})
        assert "is saved in" in teacher.save_pose("left")
        with pytest.raises(ArmError, match="the pose left already exists; replace it"):
            teacher.save_pose("left")
        teacher.record("back")
        with pytest.raises(ArmError, match="back is being recorded; end that recording first"):
            teacher.record("other")
        arm.move_joints({"waist": -0.1})
        assert "is saved in" in teacher.end_recording()
        path = read_trajectory(folder / "paths/back.csv", load_robot("nut_arm"))
        ends = path.positions[0, 0], path.positions[-1, 0]
        assert ends == pytest.approx((-0.4, -0.1), abs=0.008)  # a count
        arm.move_posture("left")
        assert arm.fk()[:3, 3] == pytest.approx(
            load_poses(folder / "poses.yaml")["left"].tool[:3, 3], abs=1e-3
        )
        states = []
        taught.node.create_subscription(TaskState, "task_server/state", states.append, 50)
        assert "then played" in teacher.replay("back")
        taught.wait_for(lambda: any(s.steps_total == 2 for s in states), "the path")
        taught.wait_for(lambda: states[-1].state == TaskState.IDLE, "the end of the path")
        assert states[-1].message == "all steps of replay were done"
        taught.wait_for(lambda: abs(taught.joints["waist"] + 0.1) < 0.02, "the end of the path")
        with pytest.raises(ArmError, match="there is no path 'bakc'"):
            teacher.replay("bakc")
        check_list(taught)
        check_bolt(arm, teacher, folder)


def check_list(taught):
    client = taught.node.create_client(ListTasks, "list_tasks")
    found = taught.request(client, ListTasks.Request())
    assert "nut_transfer" in found.tasks and len(found.tasks) == len(found.task_scenes)
    assert (list(found.poses), list(found.paths)) == (["left"], ["back"])
    assert "rest" in found.postures


def check_bolt(arm, teacher, folder):
    """A pointer of varying length replaces moving the arm around the bolt."""
    file = folder / "my_scene.yaml"
    before = load_scene(file).bolt("lower_bolt")
    tip = before.pose[:3, 3] + [0.003, -0.004, 0.002]
    R = frame_along(before.pose[:3, 2] + [0.05, 0.02, 0.0])
    with pytest.raises(ArmError, match="at least three are needed"):
        teacher.locate("lower_bolt")
    with pytest.raises(ArmError, match=r"no bolt 'lower_blot'.*lower_bolt"):
        teacher.clear("lower_blot")
    tool, r = np.linalg.inv(arm.fk()), before.diameter / 2.0
    for k in range(6):
        surface, depth = ("rim", 0.0) if k < 3 else ("flank", 0.02)
        point = tip + R @ [r * np.cos(2.1 * k), r * np.sin(2.1 * k), depth]
        message = teacher.touch("lower_bolt", surface, (tool @ [*point, 1.0])[:3])
        assert message.startswith(f"point {k + 1}, {surface}")
    message = teacher.locate("lower_bolt")
    assert "give or take" in message and "that is 5.4 mm from where the scene has it" in message
    assert "written into" in teacher.write("lower_bolt")
    after = load_scene(file).bolt("lower_bolt")
    assert after.pose[:3, 3] == pytest.approx(tip, abs=1e-4)
    assert after.pose[:3, 2] == pytest.approx(R[:, 2], abs=1e-3)


def test_teach_in_a_terminal(taught, folder):
    program = PtyProgram(
        sys.executable,
        *("-c", "from arm_tasks.commands.entry_points import teach; exit(teach())"),
        environment=dict(os.environ),
    )
    try:
        program.wait_for("p  save this pose")
        program.wait_for("tip 160 0 185 mm")
        program.ask("g", "Go to: ")
        program.ask("waist=-20 shoulder=5\n", "all steps of move_joints were done")
        program.wait_for("joints -20.0 5.0")
        program.ask("p", "Name of this pose: ")
        program.ask("by_hand\n", "by_hand is saved in")
        program.ask("g", "Go to: ")
        program.ask("nowhere\n", "Failed: ")
        program.wait_for("no posture 'nowhere'")
        program.ask("n", "Bolt: ")
        program.ask("upper_bolt\n", "at least three are needed")
        program.ask("1", "point 1, rim")
        program.ask("x", "the points of upper_bolt are discarded")
        program.type("q")
        program.wait_for("The arm holds where it is.")
        assert program.end() == 0
    finally:
        program.close()
    assert load_poses(folder / "poses.yaml")["by_hand"].joints["waist"] == pytest.approx(
        np.radians(-20.0), abs=0.01
    )
