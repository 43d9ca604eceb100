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
from arm_testing.programs.terminal import PtyProgram

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


@pytest.fixture
def program(taught):
    """Return the client and the teacher of a program."""
    with Arm() as arm:
        yield arm, Teacher(arm)


def test_saved_pose_is_a_posture_and_is_not_overwritten(program, folder):
    arm, teacher = program
    arm.move_joints({"waist": -0.4, "shoulder": 0.1})
    assert "is saved in" in teacher.save_pose("left")
    with pytest.raises(ArmError, match="the pose left already exists; replace it"):
        teacher.save_pose("left")
    arm.move_joints({"waist": -0.1})
    arm.move_posture("left")
    saved = load_poses(folder / "poses.yaml")["left"].tool
    assert arm.fk()[:3, 3] == pytest.approx(saved[:3, 3], abs=1e-3)


@pytest.fixture
def recorded(program, taught):
    """Record the path `back` and return the message that ended it."""
    arm, teacher = program
    arm.move_joints({"waist": -0.4})
    teacher.record("back")
    with pytest.raises(ArmError, match="back is being recorded; end that recording first"):
        teacher.record("other")
    arm.move_joints({"waist": -0.1})
    return teacher.end_recording()


def test_recorded_path_is_replayed(program, recorded, taught, folder):
    arm, teacher = program
    assert "is saved in" in recorded
    path = read_trajectory(folder / "paths/back.csv", load_robot("nut_arm"))
    ends = path.positions[0, 0], path.positions[-1, 0]
    assert ends == pytest.approx((-0.4, -0.1), abs=0.008)  # a count
    arm.move_joints({"waist": -0.4})
    states = []
    taught.node.create_subscription(TaskState, "task_server/state", states.append, 50)
    assert "then played" in teacher.replay("back")
    taught.wait_for(lambda: any(s.steps_total == 2 for s in states), "the path")
    taught.wait_for(lambda: states[-1].state == TaskState.IDLE, "the end of the path")
    assert states[-1].message == "all steps of replay were done"
    taught.wait_for(lambda: abs(taught.joints["waist"] + 0.1) < 0.02, "the end of the path")
    with pytest.raises(ArmError, match="there is no path 'bakc'"):
        teacher.replay("bakc")


def test_tasks_poses_and_paths_are_listed(program, taught):
    arm, teacher = program
    teacher.save_pose("listed")
    teacher.record("listed")
    arm.move_joints({"waist": -0.1})
    teacher.end_recording()
    client = taught.node.create_client(ListTasks, "list_tasks")
    found = taught.request(client, ListTasks.Request())
    assert "nut_transfer" in found.tasks and len(found.tasks) == len(found.task_scenes)
    assert "listed" in found.poses and "listed" in found.paths
    assert "rest" in found.postures


def test_bolt_is_located_by_touching_and_written(program, folder):
    """A pointer of varying length replaces moving the arm around the bolt."""
    arm, teacher = program
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
    with PtyProgram(
        sys.executable,
        *("-c", "from arm_tasks.commands.entry_points import teach; exit(teach())"),
        environment=dict(os.environ),
    ) as terminal:
        terminal.wait_for("p  save this pose")
        terminal.wait_for("tip 160 0 185 mm")
        terminal.ask("g", "Go to: ")
        terminal.ask("waist=-20 shoulder=5\n", "all steps of move_joints were done")
        terminal.wait_for("joints -20.0 5.0")
        terminal.ask("p", "Name of this pose: ")
        terminal.ask("by_hand\n", "by_hand is saved in")
        terminal.ask("g", "Go to: ")
        terminal.ask("nowhere\n", "Failed: ")
        terminal.wait_for("no posture 'nowhere'")
        terminal.ask("n", "Bolt: ")
        terminal.ask("upper_bolt\n", "at least three are needed")
        terminal.ask("1", "point 1, rim")
        terminal.ask("x", "the points of upper_bolt are discarded")
        terminal.type("q")
        terminal.wait_for("The arm holds where it is.")
        assert terminal.end() == 0
    assert load_poses(folder / "poses.yaml")["by_hand"].joints["waist"] == pytest.approx(
        np.radians(-20.0), abs=0.01
    )
