# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Taught poses in their file and in tasks; recorded paths."""

import numpy as np
import pytest
from arm_description.trajectories.files import write_trajectory
from arm_tasks.errors import TaskFileError, TasksError
from arm_tasks.manual.recorder import PathRecorder
from arm_tasks.scene.poses import TaughtPose, forget_pose, load_poses, save_pose
from arm_tasks.task.parser import load_task, task_from_text
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture
def file(tmp_path):
    return tmp_path / "poses.yaml"


@pytest.fixture(scope="module")
def taught(chain):
    def make(*q):
        joints = dict(zip(chain.joint_names, q, strict=True))
        return TaughtPose(joints, chain.fk(np.array(q)))

    return make


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-0.5, 0.5), min_size=4, max_size=4))
def test_saved_pose_can_be_loaded(tmp_path_factory, taught, q):
    file = tmp_path_factory.mktemp("poses") / "poses.yaml"
    pose = taught(*q)
    save_pose(file, "nut_arm", "here", pose, replace=False)
    back = load_poses(file)["here"]
    assert back.joints == pytest.approx(pose.joints, abs=1e-8)
    assert np.allclose(back.tool, pose.tool, atol=1e-7)


def test_saving_and_forgetting_keep_the_rest_of_the_file(file, taught):
    save_pose(file, "nut_arm", "one", taught(-0.3, 0.1, 0.0, 0.2), replace=False)
    file.write_text(file.read_text().replace("poses:", "poses:  # mine") + "# the end\n")
    with pytest.raises(TaskFileError, match="the pose one already exists; replace it"):
        save_pose(file, "nut_arm", "one", taught(0.0, 0.0, 0.0, 0.0), replace=False)
    save_pose(file, "nut_arm", "two", taught(-0.4, 0.1, 0.0, 0.2), replace=False)
    save_pose(file, "nut_arm", "one", taught(-0.5, 0.1, 0.0, 0.2), replace=True)
    poses = load_poses(file)
    assert poses["one"].joints["waist"] == -0.5 and poses["two"].joints["waist"] == -0.4
    assert "# mine" in file.read_text() and "# the end" in file.read_text()
    for name in ("one", "two"):
        forget_pose(file, "nut_arm", name)
    assert load_poses(file) == {} and "# mine" in file.read_text()
    save_pose(file, "nut_arm", "two", taught(-0.4, 0.1, 0.0, 0.2), replace=False)
    assert set(load_poses(file)) == {"two"}


@pytest.mark.parametrize(
    ("robot", "name", "message"),
    [
        ("puma560", "b", "these are poses of nut_arm, not of puma560"),
        ("nut_arm", "a b", "'a b' is not a valid name; use letters"),
        ("nut_arm", "", "is not a valid name"),
    ],
)
def test_invalid_save_leaves_the_file_unchanged(file, taught, robot, name, message):
    save_pose(file, "nut_arm", "a", taught(0.0, 0.0, 0.0, 0.0), replace=False)
    before = file.read_bytes()
    with pytest.raises(TaskFileError, match=message):
        save_pose(file, robot, name, taught(0.0, 0.0, 0.0, 0.0), replace=False)
    assert file.read_bytes() == before


def test_forgetting_an_unknown_pose_is_rejected(file, taught):
    with pytest.raises(TaskFileError, match="there is no pose 'one'"):
        forget_pose(file, "nut_arm", "one")
    save_pose(file, "nut_arm", "one", taught(0.0, 0.0, 0.0, 0.0), replace=False)
    with pytest.raises(TaskFileError, match=r"no pose 'oen'; .*one"):
        forget_pose(file, "nut_arm", "oen")


def test_tasks_use_taught_poses_as_postures_and_frames(plan_of, file, taught, tmp_path, chain):
    """A pose is a posture by its joints and a frame by its tool; the file is beside the task."""
    pose = taught(-0.5, 0.2, 0.1, 0.3)
    save_pose(file, "nut_arm", "above", pose, replace=False)
    task = tmp_path / "task.yaml"
    task.write_text(
        "task: t\nposes: poses.yaml\nsteps:\n  - move_posture: above\n"
        "  - move_pose: {frame: above, xyz_mm: [0, 0, -10], orientation: any}\n"
    )
    plan = plan_of(load_task(task))
    reached = dict(zip(chain.joint_names, plan.steps[0].end, strict=True))
    assert reached == pytest.approx(dict(pose.joints), abs=1e-8)
    expected = pose.tool @ np.array([0.0, 0.0, -0.01, 1.0])
    assert np.allclose(chain.fk(plan.steps[1].end)[:3, 3], expected[:3], atol=2e-5)


def test_missing_poses_file_is_named(tmp_path, taught):
    with pytest.raises(TaskFileError, match=r"line 2.*poses: there is no file .*nowhere\.yaml"):
        task_from_text("task: t\nposes: nowhere.yaml\nsteps: [open]\n", str(tmp_path / "t.yaml"))
    pose = taught(0.1, 0.0, 0.0, 0.0)
    task = task_from_text("task: t\nsteps:\n  - move_posture: p\n", poses={"p": pose})
    assert task.steps[0].positions == pose.joints


# -- paths -------------------------------------------------------------------------------------


def test_recording_is_trimmed_to_the_motion(model):
    recorder = PathRecorder(model)
    for k in range(200):
        moving = np.clip((k - 50) / 100.0, 0.0, 1.0)
        recorder.add(10.0 + 0.02 * k, [-0.5 * moving, 0.1, 0.0, 0.0])
        recorder.add(10.0 + 0.02 * k, [9.0, 9.0, 9.0, 9.0])  # a repeated time stamp
    path = recorder.trajectory()
    assert path.duration == pytest.approx(2.0, abs=0.05)
    assert path.positions[0, 0] == 0.0 and path.positions[-1, 0] == -0.5


@pytest.mark.parametrize("reverse", [False, True])
def test_recorded_path_can_be_played_in_a_task(plan_of, model, tmp_path, reverse):
    recorder = PathRecorder(model)
    for k in range(101):
        recorder.add(0.02 * k, [-0.5 * k / 100, 0.1, 0.0, 0.0])
    write_trajectory(tmp_path / "swing.csv", recorder.trajectory(), model)
    task = tmp_path / "t.yaml"
    task.write_text(f"task: t\nsteps:\n  - play: {{path: swing.csv, reverse: {reverse}}}\n")
    plan = plan_of(load_task(task))
    assert [step.kind for step in plan.steps] == ["motion", "motion"]
    ends = (-0.5, 0.0) if reverse else (0.0, -0.5)
    assert (plan.steps[1].start[0], plan.steps[1].end[0]) == pytest.approx(ends, abs=1e-6)
    assert plan.steps[1].duration == pytest.approx(2.0, rel=0.3)
    task.write_text("task: t\nsteps:\n  - play: wsing.csv\n")
    with pytest.raises(TaskFileError, match=r"line 3: step play: .*wsing\.csv: there is no such"):
        plan_of(load_task(task))


def test_empty_and_oversized_recordings_are_rejected(model, monkeypatch):
    recorder = PathRecorder(model)
    for count in (0, 10):
        for k in range(count):
            recorder.add(0.1 * k, [0.0, 0.0, 0.0, 0.0])
        with pytest.raises(TasksError, match="nothing moved"):
            recorder.trajectory()
    monkeypatch.setattr("arm_tasks.manual.recorder.MAX_POINTS", 3)
    with pytest.raises(TasksError, match="at most 3 points"):
        for k in range(10):
            recorder.add(2.0 + 0.1 * k, [0.1 * k, 0.0, 0.0, 0.0])
