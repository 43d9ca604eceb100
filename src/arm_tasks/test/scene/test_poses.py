# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Taught poses in their file and in tasks; recorded paths."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from arm_common.files.saving import FileChangedError
from arm_description.trajectories.files import write_trajectory
from arm_tasks.errors import TaskFileError, TasksError
from arm_tasks.manual.teaching import PathRecorder, forget_pose, save_pose
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.poses import TaughtPose, load_poses
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


def test_of_poses_saved_and_forgotten_at_once_none_is_lost_silently(file, taught):
    save_pose(file, "nut_arm", "old", taught(0.0, 0.0, 0.0, 0.0), replace=False)

    def save(number):
        try:
            save_pose(file, "nut_arm", f"pose_{number}", taught(0.0, 0.0, 0.0, 0.0), replace=False)
        except FileChangedError:
            return None
        return f"pose_{number}"

    with ThreadPoolExecutor(2) as pool:
        saved = set(pool.map(save, range(50))) - {None}
    assert set(load_poses(file)) == {"old", *saved} and saved


def test_name_of_a_posture_cannot_be_taught(file, taught, model):
    with pytest.raises(TaskFileError, match="rest is a posture of nut_arm; choose another name"):
        save_pose(file, "nut_arm", "rest", taught(0.0, 0, 0, 0), True, taken=model.postures)
    assert not file.exists()


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
    with pytest.raises(TaskFileError, match=r":2: .*poses: there is no file .*nowhere\.yaml"):
        task_from_text("task: t\nposes: nowhere.yaml\nsteps: [open]\n", str(tmp_path / "t.yaml"))
    pose = taught(0.1, 0.0, 0.0, 0.0)
    task = task_from_text("task: t\nsteps:\n  - move_posture: p\n", poses={"p": pose})
    assert task.steps[0].taught == pose.joints


@pytest.mark.parametrize(
    ("name", "step", "what"),
    [
        ("ready", "move_posture: ready", "'ready' is a taught pose and a posture of nut_arm"),
        (
            "lower_bolt",
            "move_pose: {frame: lower_bolt}",
            "a taught pose and a frame of nut_transf",
        ),
        ("base_link", "move_pose: {orientation: any}", "'base_link' is a taught pose and a frame"),
        ("tool0", "move_linear: {frame: tool0}", "'tool0' is a taught pose and a frame of"),
        ("table", "move_linear: {frame: table}", "'table' is a taught pose and a frame of"),
    ],
)
def test_taught_pose_never_replaces_a_posture_or_a_frame_of_its_name(
    request_for, taught, name, step, what
):
    poses = {name: taught(0.1, 0.2, 0.0, 0.0)}
    task = task_from_text(f"task: t\nsteps:\n  - {step}\n", "t.yaml", poses)
    with pytest.raises(TaskFileError, match=rf"t.yaml:3: .*{what}.*; rename the taught pose"):
        plan_task(request_for(task))


def test_taught_pose_with_the_name_of_a_posture_is_no_obstacle_to_other_steps(plan_of, taught):
    """A posture may have been added to the robot file later."""
    task = "task: t\nsteps: [move_posture: rest, move_pose: {frame: rest, orientation: any}]\n"
    pose = taught(0.1, 0.2, 0.0, 0.0)
    with pytest.raises(TaskFileError, match="a posture of nut_arm"):
        plan_of(task_from_text(task, poses={"rest": pose}))
    plan_of(task_from_text(task.replace("move_posture: rest", "open"), poses={"rest": pose}))


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
    with pytest.raises(TaskFileError, match=r":3: step play: .*wsing\.csv: there is no such"):
        plan_of(load_task(task))


def test_empty_and_oversized_recordings_are_rejected(model, monkeypatch):
    recorder = PathRecorder(model)
    for count in (0, 10):
        for k in range(count):
            recorder.add(0.1 * k, [0.0, 0.0, 0.0, 0.0])
        with pytest.raises(TasksError, match="nothing moved"):
            recorder.trajectory()
    monkeypatch.setattr("arm_tasks.manual.teaching.MAX_POINTS", 3)
    with pytest.raises(TasksError, match="at most 3 points"):
        for k in range(10):
            recorder.add(2.0 + 0.1 * k, [0.1 * k, 0.0, 0.0, 0.0])


# -- trajectories of the tool ------------------------------------------------------------------

CIRCLE = [(0.2 + 0.02 * math.cos(a), 0.02 * math.sin(a), 0.17) for a in np.linspace(0, 6.28, 40)]


def circle(first="time", step=0.1, extra=""):
    rows = [f"{i * step:.9g},{x:.9g},{y:.9g},{z:.9g}" for i, (x, y, z) in enumerate(CIRCLE)]
    return f"{first},x,y,z\n" + "\n".join(rows) + "\n" + extra


def played(plan_of, tmp_path, text, keys=""):
    (tmp_path / "way.csv").write_text(text)
    task = tmp_path / "t.yaml"
    task.write_text(f"task: t\nsteps:\n  - play: {{path: way.csv{keys}}}\n")
    return plan_of(load_task(task))


@pytest.mark.parametrize("reverse", ["false", "true"])
def test_tool_follows_a_trajectory_at_its_times(plan_of, chain, tmp_path, reverse):
    begin, along = played(plan_of, tmp_path, circle(), f", reverse: {reverse}").steps
    points = CIRCLE[::-1] if reverse == "true" else CIRCLE
    assert chain.fk(begin.end)[:3, 3] == pytest.approx(points[0], abs=2e-5)
    t = along.trajectory
    assert t.duration == pytest.approx(3.9, rel=0.05)
    lag = t.duration - 3.9  # it starts and ends at rest
    for i, point in enumerate(points[2:-2], start=2):
        near = [chain.fk(t.at(0.1 * i + s))[:3, 3] for s in np.linspace(-0.02, lag + 0.02, 30)]
        assert min(np.linalg.norm(p - point) for p in near) < 2e-4
    on = [chain.fk(t.at(s))[:3, 3] for s in np.linspace(0.0, t.duration, 500)]
    assert max(abs(np.hypot(x - 0.2, y) - 0.02) for x, y, _ in on) < 2e-4
    assert max(abs(z - 0.17) for _, _, z in on) < 1e-4


def test_tool_rests_where_a_trajectory_of_it_does(plan_of, chain, tmp_path):
    rows = ["0,200,0,170", "1,200,0,170", "2,200,10,170", "3,200,10,170", "4,200,0,170"]
    text = "time,x [mm],y [mm],z [mm]\n" + "\n".join(rows)
    t = played(plan_of, tmp_path, text).steps[1].trajectory
    assert 4.0 <= t.duration < 4.3
    at = [chain.fk(t.at(s))[1, 3] for s in (0.0, 0.9, 2.4, 2.9)]
    assert at == pytest.approx([0.0, 0.0, 0.01, 0.01], abs=2e-4)


def test_arc_length_is_played_at_the_speed_of_the_tool(plan_of, tmp_path):
    step = 0.02 * 6.28 / 39
    text = circle("length", step * 1.001)
    slow = played(plan_of, tmp_path, text, ", tool_speed_mm: 20").steps[1].duration
    assert slow == pytest.approx(39 * step / 0.02, rel=0.05)
    fast = played(plan_of, tmp_path, text, ", speed: 1").steps[1].duration
    assert fast < 0.5 * slow


def test_trajectory_of_the_tool_is_placed_and_turned_by_a_frame(plan_of, chain, scene, tmp_path):
    """The tool's z stays along the bolt's."""
    text = "time,x,y,z,roll [deg],pitch,yaw\n0,0,0,-0.04,0,0,0\n2,0,0,-0.02,0,0,0\n"
    plan = played(plan_of, tmp_path, text, ", frame: upper_bolt, orientation: axis, tilt_deg: 8")
    T = np.linalg.inv(scene.frame("upper_bolt")) @ chain.fk(plan.steps[1].end)
    assert T[:3, 3] == pytest.approx([0.0, 0.0, -0.02], abs=2e-5)
    assert math.acos(T[2, 2]) < math.radians(8.01)
    again = text.replace("roll [deg],pitch,yaw", "qx,qy,qz,qw").replace("0,0,0\n", "0,0,0,1\n")
    other = played(plan_of, tmp_path, again, ", frame: upper_bolt, orientation: axis")
    assert other.steps[1].end == pytest.approx(plan.steps[1].end, abs=1e-9)


def test_unreachable_trajectory_of_the_tool_is_refused_with_its_point(request_for, tmp_path):
    (tmp_path / "way.csv").write_text(circle(extra="9,0.5,0,0.17\n"))
    (tmp_path / "t.yaml").write_text("task: t\nsteps:\n  - play: way.csv\n")
    plan = plan_task(request_for(load_task(tmp_path / "t.yaml")))
    assert not plan.feasible and "between point 40 and 41: " in plan.message
    assert plan.refusal.position_error > 0.1


@pytest.mark.parametrize(
    ("text", "keys", "what"),
    [
        (circle(), ", tool_speed: 0.1", "way has times, so it cannot have a tool_speed"),
        (circle(), ", frame: nowhere", "no frame 'nowhere' in the scene"),
        (circle(extra="1,0,0,0.1\n"), "", "way.csv:42: the time 1 is not after 3.9"),
        ("time,waist,shoulder,elbow,wrist_roll\n0,0,0,0,0\n", ", frame: upper_bolt",
         "way is a trajectory of the joints, without frame"),
    ],
)  # fmt: skip
def test_unusable_trajectory_is_rejected_with_the_step(plan_of, tmp_path, text, keys, what):
    with pytest.raises(TaskFileError, match=what):
        played(plan_of, tmp_path, text, keys)
