# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Trajectory files round trip, and errors name the line."""

import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from arm_common.transforms import quaternion, rpy_matrix
from arm_description.model.units import ANGLES, LENGTHS, SI, Units
from arm_description.trajectories.files import (
    add_tool_pose,
    check_recording,
    read_tool_poses,
    read_tool_trajectory,
    read_trajectory,
    write_trajectory,
)
from arm_description.trajectories.trajectory import JointTrajectory, shipped_trajectories, slowdown
from arm_testing.repository import repository
from hypothesis import given
from hypothesis import strategies as st

from arm_description import DescriptionError, load_robot, parse_robot, robot_path, shipped_robots

NUT_ARM = load_robot("nut_arm")
# turn: -90 .. 90 deg at 60 deg/s; slide: 0 .. 50 mm at 0.1 m/s.
YAML = """\
units: {length: mm, angle: deg}
joints: [slide, turn]
points:
  - {time: 1, positions: [0, -30]}
  - {time: 2.5, positions: [2*5, 30]}
  - {time: 4, posture: rest}
"""
CSV = """\
# units: deg, mm

time, slide, turn [rad]
0, 0, 0.5
1.5,10,-0.25
"""
FUNCTIONS = """\
units: {length: mm, angle: deg}
constants: {size: 20}
functions: {turn: size*sin(90*t), slide: 25 + 10*t/8}
duration: 8
"""


@pytest.fixture
def model(small_model):
    return small_model


def refused(path, model, fit=False):
    with pytest.raises(DescriptionError) as caught:
        read_trajectory(path, model, fit)
    return str(caught.value).replace(f"{path}:", "FILE:")


def test_yaml_points_use_the_units_and_order_of_the_file(written, model):
    trajectory = read_trajectory(written("a.yaml", YAML), model)
    assert trajectory.names == ("turn", "slide")
    assert trajectory.times.tolist() == [0.0, 1.5, 3.0]
    expected = [[math.radians(-30), 0.0], [math.radians(30), 0.01], [0.0, 0.0]]
    np.testing.assert_allclose(trajectory.positions, expected, atol=1e-15)


def test_csv_units_come_from_comment_or_header(written, model):
    trajectory = read_trajectory(written("a.csv", CSV), model)
    assert trajectory.times.tolist() == [0.0, 1.5]
    np.testing.assert_allclose(trajectory.positions, [[0.5, 0.0], [-0.25, 0.01]], atol=1e-15)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_csv_of_other_programs_is_read(written, model, newline):
    text = newline.join(["\ufefftime,turn,slide", '"0","0.5",0', "1,.5,5e-3", ""])
    trajectory = read_trajectory(written("a.csv", text), model)
    assert trajectory.positions.tolist() == [[0.5, 0.0], [0.5, 0.005]]


def test_rows_get_times_within_the_speed_limits(written, model):
    rows = "# a comment\n 0 0\n30, 5\n30 5\n-90 50\n"
    trajectory = read_trajectory(written("a.txt", rows), model)
    np.testing.assert_allclose(trajectory.positions[-1], [-math.pi / 2, 0.05])
    # 30 deg at 60 deg/s; no motion: the minimum step; 120 deg at 60 deg/s.
    np.testing.assert_allclose(np.diff(trajectory.times), [0.5, 0.02, 2.0])
    assert slowdown(trajectory, model)[0] <= 1.0 + 1e-12


def test_functions_are_sampled_in_the_units_of_the_file(written, model):
    trajectory = read_trajectory(written("a.yaml", FUNCTIONS), model)
    t = trajectory.times
    assert t[-1] == 8.0 and np.diff(t).max() <= 0.02 + 1e-12
    turn = np.radians(20.0) * np.sin(0.5 * math.pi * t)
    expected = np.column_stack([turn, 0.025 + 0.01 * t / 8])
    np.testing.assert_allclose(trajectory.positions, expected, atol=1e-12)
    steps = read_trajectory(written("b.yaml", FUNCTIONS + "step: 3\n"), model).times
    np.testing.assert_allclose(steps, np.linspace(0.0, 8.0, 4))


@pytest.mark.parametrize("form", [".csv", ".yaml"])
@given(data=st.data())
def test_csv_and_yaml_round_trip_exactly(tmp_path_factory, form, data):
    model = NUT_ARM
    m = data.draw(st.integers(1, 6))
    q = st.floats(-1.5, 1.5, allow_subnormal=False)
    rows = data.draw(st.lists(st.tuples(*[q] * 4), min_size=m, max_size=m))
    steps = data.draw(st.lists(st.floats(2.0, 1e3), min_size=m - 1, max_size=m - 1))
    trajectory = JointTrajectory(
        model.joint_names, np.concatenate([[0.0], np.cumsum(steps)]), np.array(rows)
    )
    path = tmp_path_factory.getbasetemp() / f"round{form}"
    write_trajectory(path, trajectory, model)
    again = read_trajectory(path, model)
    assert again.names == trajectory.names
    assert np.array_equal(again.times, trajectory.times)
    assert np.array_equal(again.positions, trajectory.positions)


def test_rows_round_trip_to_rounding(written, model, tmp_path):
    trajectory = read_trajectory(written("a.yaml", YAML), model)
    write_trajectory(tmp_path / "b.txt", trajectory, model)
    again = read_trajectory(tmp_path / "b.txt", model)
    np.testing.assert_allclose(again.positions, trajectory.positions, atol=1e-12)


@pytest.mark.parametrize("name", ["on", "it's", "Ellenbogen_ä", "a:b", "1", "#x", "-a", "a,b"])
def test_special_joint_names_round_trip(tmp_path, name):
    quoted = name.replace("'", "''")
    row = "theta: 0, d: 0, a: 1, alpha: 0, limits: {lower: -1, upper: 1}"
    model = parse_robot(
        "name: odd\nconvention: standard\nunits: {length: m, angle: rad}\n"
        f"joints: [{{name: '{quoted}', type: revolute, {row}}}]\n"
    )
    trajectory = JointTrajectory((name,), np.array([0.0, 1.0]), np.array([[0.0], [0.5]]))
    for form in (".csv", ".yaml"):
        write_trajectory(tmp_path / f"a{form}", trajectory, model)
        again = read_trajectory(tmp_path / f"a{form}", model)
        assert again.names == (name,) and again.positions.tolist() == [[0.0], [0.5]]


def test_trajectory_is_reversed_and_stretched(written, model):
    trajectory = read_trajectory(written("a.yaml", YAML), model)
    back = trajectory.reversed()
    assert np.array_equal(back.positions, trajectory.positions[::-1])
    np.testing.assert_allclose(np.diff(back.times), np.diff(trajectory.times)[::-1])
    np.testing.assert_allclose(back.reversed().times, trajectory.times, atol=1e-15)
    assert trajectory.stretched(2.0).duration == 2.0 * trajectory.duration
    with pytest.raises(ValueError, match="read-only"):
        trajectory.positions[0, 0] = 1.0


def test_invalid_trajectory_is_rejected():
    for times, positions in (
        ([], np.zeros((0, 1))),
        ([0.0, 0.0], np.zeros((2, 1))),
        ([1.0], np.zeros((1, 1))),
        ([0.0], np.zeros((1, 2))),
        ([0.0], [[math.nan]]),
        ([0.0, math.inf], [[0.0], [0.0]]),
    ):
        with pytest.raises(DescriptionError):
            JointTrajectory(("a",), np.array(times), np.array(positions))


HEAD = "time,turn,slide\n"
DEGREES = "time,turn [deg],slide\n"
CSV_ERRORS = {
    "turn,slide\n0,0\n": "FILE:1: the first column must be 'time', in seconds; start with",
    "": "FILE:1: the first column must be 'time'",
    "time,turn\n": "FILE:1: joint 'slide' is missing; name all joints of small: turn, slide",
    "time,turn,slid\n": "FILE:1: small has no joint 'slid'; did you mean 'slide'?",
    "time,turn,slide,turn\n": "FILE:1: joint 'turn' is given twice",
    "time,turn [mm],slide\n": "FILE:1: joint 'turn' is revolute, its unit cannot be 'mm'",
    f"# units: degrees\n{HEAD}": "FILE:1: there is no unit 'degrees'; did you mean 'deg'",
    HEAD: "FILE: has no points",
    f"{HEAD}0,0\n": "FILE:2: has 2 columns, the header has 3",
    f"{HEAD}\n0,0,0\n# c\n1,x,0\n": "FILE:5: 'x' is not a number",
    f"{HEAD}0,nan,0\n": "FILE:2: nan is not finite",
    f"{HEAD}0,0,0\ninf,0,0\n": "FILE:3: inf is not finite",
    f"{HEAD}0,0,0\n1e-300,0,0\n": "by 1e-06 s at least",
    f"{HEAD}0,0,0\n1e9,0,0\n": "FILE:3: the time 1e+09 s is too far after the first, 0 s",
    f"{HEAD}0,0,0\n1,0,0\n1,0,0\n": "FILE:4: the time 1 s is not after 1 s",
    f"{DEGREES}0,0,0\n9,95,0\n": "FILE:3: joint 'turn' is at 95 deg at 9 s, 5 deg above its limit",
    f"{HEAD}0,0,-1e-3\n": "FILE:2: joint 'slide' is at -1 mm at 0 s, 1 mm below its limit 0 mm",
    f"{DEGREES}0,0,0\n1,15,0\n2,90,0\n": "FILE:4: joint 'turn' moves at 75 deg/s after 1 s, above"
    " its limit 60 deg/s; stretch the times by 1.25, or let --fit do it",
}


YAML_ERRORS = {
    ("time: 1,", "time: .nan,"): "FILE:4: points[0].time: .nan is not finite",
    ("time: 1,", "tine: 1,"): "FILE:4: points[0].tine: is not a known key; did you mean 'time'",
    ("joints: [slide, turn]\n", ""): "has no order of joints; add joints: [turn, slide]",
    ("[slide, turn]", "[slide]"): "FILE:2: joint 'turn' is missing",
    ("[0, -30]", "[0]"): "FILE:4: points[0].positions: has 1 numbers for 2 joints",
    ("[0, -30]", "[0, -95]"): "FILE:4: joint 'turn' is at -95 deg at 1 s, 5 deg below its limit",
    ("posture: rest", "posture: rset"): "small has no posture 'rset'; did you mean 'rest'",
    ("posture: rest", "posture: rest, positions: [0, 0]"): "FILE:6: points[2]: needs either",
    ("time: 4", "time: 2"): "FILE:6: the time 2 s is not after 2.5 s",
    ("time: 4", "time: 2.6"): "FILE:6: joint 'turn' moves at 300 deg/s after 1.5 s, above its",
    ("units: {length: mm, angle: deg}\n", ""): "FILE:1: has no 'units'",
    ("points:", "functions: {turn: 0, slide: 0}\nduration: 1\npoints:"): "is not a known key",
}


FUNCTION_ERRORS = {
    ("size*sin(90*t)", "100*sin(90*t)"): "FILE:3: joint 'turn' is at 100 deg at 1 s, 10 deg above",
    ("size*sin(90*t)", "size*sin(360*t)"): "FILE:3: joint 'turn' moves at 125.",
    ("size*sin(90*t)", "size*sin(pi*t)"): "FILE:3: functions.turn: pi is an angle in radians, but",
    ("size*sin(90*t)", "1/(t - 2)"): "functions.turn: '1/(t - 2)' divides by zero at t = 2",
    ("size*sin(90*t)", "size*sin(90*time)"): "'time' is not a constant of this file at t = 0 s",
    ("size*sin(90*t)", "t.real"): "is not allowed in an expression",
    (", slide: 25 + 10*t/8", ""): "FILE:3: joint 'slide' is missing",
    ("slide:", "slid:"): "FILE:3: small has no joint 'slid'",
    ("size: 20", "t: 20, size: 20"): "FILE:2: constants: 't' is the time; rename the constant",
    ("size: 20", "size: 20*t"): "FILE:2: constants.size: 't' is not a constant",
    ("duration: 8\n", ""): "FILE:1: has no 'duration'",
    ("duration: 8", "duration: -1"): "FILE:4: duration: must be above 0",
    ("duration: 8", "duration: 1e9"): "FILE:4: duration: gives 5e+10 points",
}


ERRORS = [
    *(("a.csv", text, message) for text, message in CSV_ERRORS.items()),
    *(("a.yaml", YAML.replace(*change), message) for change, message in YAML_ERRORS.items()),
    *(("a.yaml", FUNCTIONS.replace(*pair), message) for pair, message in FUNCTION_ERRORS.items()),
    ("a.txt", "0 0\n1 2 3\n", "FILE:2: has 3 numbers, small has 2 joints"),
    ("a.txt", "0 0\n\n91 0\n", "FILE:3: joint 'turn' is at 91 deg, 1 deg above its limit 90 deg"),
]


@pytest.mark.parametrize(("name", "text", "message"), ERRORS)
def test_invalid_files_are_rejected_with_line_and_remedy(written, model, name, text, message):
    assert message in refused(written(name, text), model)


def test_fit_stretches_only_fast_trajectories(written, model):
    fast = written("a.yaml", FUNCTIONS.replace("90*t", "360*t"))
    trajectory = read_trajectory(fast, model, fit=True)
    assert slowdown(trajectory, model)[0] == pytest.approx(1.0, abs=1e-9)
    assert trajectory.duration > 8.0
    slow = written("b.yaml", FUNCTIONS)
    assert read_trajectory(slow, model, fit=True).duration == 8.0
    far = written("c.yaml", FUNCTIONS.replace("size*sin", "95*sin"))
    assert "above its limit" in refused(far, model, fit=True)


def test_missing_and_unknown_files_are_reported(model, tmp_path, written):
    assert "there is no such file" in refused(tmp_path / "none.csv", model)
    assert "cannot end in '.json'" in refused(written("a.json", "{}"), model)
    assert "small has no trajectory named 'wave'" in refused("wave", model)
    assert "did you mean 'wave'?" in refused("waves", load_robot("nut_arm"))
    (tmp_path / "b.csv").write_bytes(b"time,turn,slide\n\xff\n")
    assert "FILE:2: is not UTF-8 text" in refused(tmp_path / "b.csv", model)


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", CSV), ("a.yaml", YAML), ("b.yaml", FUNCTIONS)]
)
def test_mutated_file_is_rejected_or_keeps_the_limits(written, model, name, text):
    rng = random.Random(7)
    letters = "0123456789.,-+*:{}[]#'\"\t\n etx\u00e4\x00"
    for _ in range(150):
        changed = list(text)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(changed))
            changed[place : place + rng.randint(0, 3)] = rng.choices(letters, k=rng.randint(0, 2))
        try:
            trajectory = read_trajectory(written(name, "".join(changed)), model)
        except DescriptionError as error:
            assert "\n" not in str(error)
            continue
        assert (trajectory.positions <= model.upper).all()
        assert (trajectory.positions >= model.lower).all()
        assert slowdown(trajectory, model)[0] <= 1.0 + 1e-6


def test_shipped_trajectories_keep_the_limits():
    count = 0
    for robot in shipped_robots():
        model = load_robot(robot)
        for name in shipped_trajectories(model.name):
            assert read_trajectory(name, model).duration > 1.0
            count += 1
    assert count >= 5


def test_examples_of_the_reference_page_work(package, tmp_path, monkeypatch):
    text = (repository() / "docs/reference/trajectories.md").read_text()
    blocks = re.findall(r"^```(csv|yaml|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_bytes(robot_path("nut_arm").read_bytes())
    assert {kind for kind, _ in blocks} == {"csv", "yaml", "python"}
    for kind, text in blocks:
        if kind == "python":
            exec(compile(text, "reference", "exec"), {})
        else:
            path = tmp_path / f"shown.{kind}"
            path.write_text(text)
            tool = kind == "csv" and read_tool_trajectory(path, NUT_ARM.joint_names)
            assert tool or read_trajectory(path, NUT_ARM).duration > 1.0
    assert load_robot("./mine.yaml").postures["here"]["waist"] == pytest.approx(0.5)


# -- poses of the tool -------------------------------------------------------------------------

TOOL = """\
# units: deg, mm
time, x, y [m], z, roll, pitch, yaw
1, 200, 0.01, 150, 0, 0, 90
1.5, 210, 0.01, 150, 0, 90, 0
"""


def test_poses_of_the_tool_use_the_units_of_the_file(written):
    tool = read_tool_trajectory(written("a.csv", TOOL), NUT_ARM.joint_names)
    assert tool.times.tolist() == [0.0, 0.5] and tool.lengths is None
    assert tool.orientation == "pose"
    np.testing.assert_allclose(tool.poses[:, :3, 3], [[0.2, 0.01, 0.15], [0.21, 0.01, 0.15]])
    np.testing.assert_allclose(tool.poses[0, :3, 0], [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(tool.poses[1, :3, 0], [0, 0, -1], atol=1e-12)


def test_heading_of_the_time_may_have_capitals(written):
    text = TOOL.replace("time", "Time [s]")
    tool = read_tool_trajectory(written("a.csv", text), NUT_ARM.joint_names)
    assert tool.times.tolist() == [0.0, 0.5] and tool.lengths is None


@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3))
def test_angles_and_quaternions_give_the_same_orientation(tmp_path_factory, rpy):
    file = tmp_path_factory.mktemp("poses") / "a.csv"
    T = rpy_matrix((0.0, 0.0, 0.0), rpy)
    made = []
    for names, values in (("roll,pitch,yaw", rpy), ("qx,qy,qz,qw", quaternion(T))):
        row = ",".join(repr(float(value)) for value in values)
        file.write_text(f"length,x,y,z,{names}\n0,0,0,0,{row}\n1,0,0,1,{row}\n")
        made.append(read_tool_trajectory(file, ()).poses)
    np.testing.assert_allclose(made[0], made[1], atol=1e-9)
    np.testing.assert_allclose(made[0][0], T, atol=1e-9)


def test_reversed_poses_come_back_and_an_arc_has_times_at_a_speed(written):
    text = "length [mm],x,y,z\n0,0,0,0\n100,0.1,0,0\n300,0.1,0.2,0\n"
    tool = read_tool_trajectory(written("a.csv", text), ())
    assert tool.orientation == "position" and tool.times is None and tool.times_at(None) is None
    np.testing.assert_allclose(tool.times_at(0.1), [0.0, 1.0, 3.0])
    back = tool.reversed()
    np.testing.assert_allclose(back.lengths, [0.0, 0.2, 0.3])
    np.testing.assert_array_equal(back.reversed().poses, tool.poses)


def test_columns_that_are_all_joints_are_no_poses(written):
    path = written("a.csv", "time,x,y,z\n0,0,0,0\n1,0,0,0.1\n")
    assert read_tool_trajectory(path, ("x", "y", "z")) is None
    assert read_tool_trajectory(path, ("turn", "slide")) is not None
    assert read_tool_trajectory(written("b.csv", CSV), ("turn", "slide")) is None
    assert read_tool_trajectory("wave", ("turn", "slide")) is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("time, x", "when, x", "FILE:2: the first column must be 'time'"),
        (", yaw\n", ", yaw, tool\n", "FILE:2: poses of the tool cannot have the columns x, y"),
        (
            ", yaw\n",
            "\n",
            "FILE:2: poses of the tool cannot have the columns x, y, z, roll, pitch",
        ),
        (", yaw\n", ", yaw, x\n", "each once"),
        ("[m]", "[deg]", "FILE:2: 'y' cannot be in 'deg'"),
        ("1.5,", "1,", "FILE:4: the time 1 is not after 1; times must increase"),
        ("1.5,", "1.0000001,", "FILE:4: the time 1 is not after 1; times must increase"),
        ("1.5,", "1e300,", "FILE:4: the time 1e+300 is too far after the first, 1"),
        ("1.5,", "nan,", "FILE:4: nan is not finite"),
        (
            "deg, mm",
            "deg, m",
            "FILE:3: a coordinate is 200 m, but nothing may be larger than 10 m",
        ),
        ("210", "1e300", "FILE:4: a coordinate is 1e+297 m"),
        ("1.5, 210", "1.5", "FILE:4: has 6 columns, the header has 7"),
        ("1.5, 210, 0.01, 150, 0, 90, 0\n", "", "FILE:2: has 1 points; write 2 to 100000"),
        ("time", "length", "FILE:4: the length grows by 0.0005 m, the distance is 0.01 m"),
        ("roll, pitch, yaw", "qx, qy, qz, qw", "FILE:3: has 7 columns, the header has 8"),
    ],
)
def test_mistake_in_poses_of_the_tool_is_named_with_its_line(written, old, new, message):
    path = written("a.csv", TOOL.replace(old, new))
    with pytest.raises(DescriptionError) as caught:
        read_tool_trajectory(path, NUT_ARM.joint_names)
    assert message in str(caught.value).replace(f"{path}:", "FILE:")


def test_quaternion_must_have_length_1(written):
    path = written("a.csv", "time,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n1,0,0,0,0,0,1,1\n")
    with pytest.raises(DescriptionError, match=r":3: the quaternion has a length of 1\.414"):
        check_recording(path)


def test_poses_of_the_tool_may_be_sent_with_a_request(written):
    check_recording(written("a.csv", TOOL))
    check_recording(written("b.csv", "length,x,y,z\n0,0,0,0\n1,0,0,1\n"))


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("length", LENGTHS)
def test_poses_that_are_added_to_a_file_read_back(tmp_path, length, angle):
    rng, path, poses = np.random.default_rng(7), tmp_path / "poses.csv", []
    for count in (1, 2, 3):
        poses.append(rpy_matrix(rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.5, 1.5, 3)))
        assert add_tool_pose(path, poses[-1], Units(length, angle)) == count
        np.testing.assert_allclose(read_tool_poses(path, ()), poses, atol=1e-8)
    assert read_tool_trajectory(path, ("turn",)).times.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has other columns or units"),
        (CSV, "has other columns or units"),
        ("# units: mm, deg\ntime,x,y,z,roll,pitch,yaw\n0,1,2,3,4,5,6\n", "columns or units"),
        ("# units: m, rad\ntime,x,y,z,roll,pitch,yaw\n0,1,2\n", "has 3 columns"),
        ("# units: m, rad\ntime,x,y,z,roll,pitch,yaw\nsoon,1,2,3,4,5,6\n", "is not a number"),
    ],
)
def test_a_pose_is_not_added_to_another_file(written, text, problem):
    path = written("poses.csv", text)
    with pytest.raises(DescriptionError, match=problem):
        add_tool_pose(path, np.eye(4), SI)
    assert path.read_text() == text


def test_poses_are_added_below_what_a_user_wrote(written):
    text = "# units: m, rad\ntime,x,y,z,roll,pitch,yaw\n# above the tray\n2.5,0,0,0.1,0,0,0"
    path = written("poses.csv", text)
    assert add_tool_pose(path, np.eye(4), SI) == 2
    assert path.read_text() == f"{text}\n3.5,0,0,0,0,0,0\n"


HERE = Path(__file__).parent


def six_axes(limit=360, unit="deg"):
    """Return an arm whose joints are named as in the files beside this test."""
    row = "{name: joint_%d, type: revolute, d: 0.1, a: 0.1, alpha: 90, limits: "
    rows = "".join(
        f"  - {row % i}{{lower: {-limit}, upper: {limit}, velocity: 120}}}}\n" for i in range(1, 7)
    )
    head = f"name: six\nconvention: standard\nunits: {{length: m, angle: {unit}}}\njoints:\n"
    return parse_robot(head + rows)


def test_step_from_half_a_turn_to_minus_half_a_turn_looks_like_a_wrap(written):
    model, text = six_axes(), (HERE / "wrap.csv").read_text()
    for fit in (False, True):
        said = refused(HERE / "wrap.csv", model, fit)
        assert "looks like a wrap" in said and "write 180.664 deg in place of -179.336 deg" in said
    short = text.replace("-3.13", f"{2 * math.pi - 3.13!r}")
    assert read_trajectory(written("short.csv", short), model).duration == 0.1
    long = text.replace("0.1,", "3,0,0,0,0,0,0\n6,")
    assert read_trajectory(written("long.csv", long), model).duration == 6.0
    rows = "0 0 0 179.5 0 0\n0 0 0 -179.5 0 0\n"
    assert "write 180.5 deg in place of -179.5 deg" in refused(written("w.txt", rows), model)


def test_joint_that_cannot_turn_on_goes_the_long_way_if_asked():
    model = six_axes(180)
    said = refused(HERE / "wrap.csv", model)
    assert "looks like a wrap" in said and "its limits do not allow that" in said
    assert read_trajectory(HERE / "wrap.csv", model, fit=True).duration == pytest.approx(
        2.989, 1e-3
    )


def test_fast_step_that_is_no_wrap_is_stretched(written):
    text = (
        (HERE / "wrap.csv").read_text().replace("3.13,0,0\n", "0,0,0\n", 1).replace("-3.13", "4")
    )
    assert "wrap" not in refused(written("fast.csv", text), six_axes())
    assert read_trajectory(written("fast.csv", text), six_axes(), fit=True).duration > 1.0


@pytest.mark.parametrize(
    ("values", "words"),
    [("40,30", "deg, mm"), ("1.5,0.03", ""), ("30,0.03", "deg"), ("1,40", "mm")],
)
def test_file_without_units_beyond_the_limits_is_told_how_to_name_them(
    written, model, values, words
):
    path = written("plain.csv", f"time,turn,slide\n0,0,0\n9,{values}\n")
    if not words:
        read_trajectory(path, model)
        return
    assert f"write as first line: # units: {words}" in refused(path, model).removesuffix("\n")
    named = written("named.csv", f"# units: {words}\n{path.read_text()}")
    read_trajectory(named, model)
    for unit in ("rad, m", "rad"):
        other = written("other.csv", f"# units: {unit}\n{path.read_text()}")
        assert "first line" not in refused(other, model)


def test_degrees_without_a_unit_name_the_comment():
    assert "# units: deg" in refused(HERE / "deg.csv", six_axes())


@pytest.mark.parametrize("separator", [";", "\t", " ; ", " | "])
@pytest.mark.parametrize("point", [".", ","])
def test_other_separators_and_decimal_commas_are_taken(written, model, separator, point):
    lines = [["time", "turn [deg]", "slide"], ["0", f"-1{point}5", "0"], ["1", "3", f"0{point}01"]]
    text = "\ufeff# c, c\n" + "\n".join(separator.join(cells) for cells in lines) + "\n"
    found = read_trajectory(written("a.csv", text), model)
    np.testing.assert_allclose(found.positions, [[math.radians(-1.5), 0], [math.radians(3), 0.01]])


@pytest.mark.parametrize("above", ["", "sep=;\n", "SEP=;\r\n"])
@pytest.mark.parametrize("end", ["", ";"])
def test_file_of_a_spreadsheet_is_taken(written, above, end):
    text = (HERE / "semicolon.csv").read_text("utf-8-sig").replace("\n", f"{end}\n")
    found = read_trajectory(written("a.csv", f"\ufeff{above}{text}"), six_axes())
    assert found.positions[-1].tolist() == [0.1, 0, 0, 0, 0, 0]


def test_columns_between_spaces_and_a_comma_at_the_end_are_taken(written, model):
    for text in (
        "time  turn slide\n0   0 0\n1 0.2  0.01 \n",
        "time,turn,slide,\n0,0,0,\n1,.2,.01,",
    ):
        found = read_trajectory(written("a.csv", text), model)
        assert found.positions.tolist() == [[0, 0], [0.2, 0.01]]


@pytest.mark.parametrize("column", ["gripper", "Gripper", "gripper.pos"])
def test_column_of_the_gripper_is_told_what_to_do_with_jaws(written, column):
    names = ",".join((*NUT_ARM.joint_names, column))
    said = refused(written("g.csv", f"time,{names}\n0,0,0,0,0,0.01\n"), NUT_ARM)
    assert f"no joint {column!r}; " in said
    assert "grip and release of a task" in said
    assert f"--without {column} -o NEW.csv" in said


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("0,0,0,0,0,1", "the time 0 s is not after 0 s"),
        ("nan,0,0,0,0,1", "nan is not finite"),
        ("1,nan,0,0,0,1", "nan is not finite"),
        ("1,9,0,0,0,1", "above its limit"),
        ("1,0,0,0,1", "has 5 columns"),
    ],
)
def test_what_is_left_when_a_column_is_left_out_is_checked(written, row, why):
    names = ",".join((*NUT_ARM.joint_names, "gripper"))
    file = written("g.csv", f"time,{names}\n0,0,0,0,0,0\n{row}\n")
    with pytest.raises(DescriptionError, match=re.escape(why)):
        read_trajectory(file, NUT_ARM, without=["gripper"])
