# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""MJCF of every shipped robot: MuJoCo reads it, and its kinematics and masses are ours."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from arm_description.model.elements import LinkMass, mimic_names
from arm_description.model.gripper import Claw
from arm_description.urdf.assembly import written_effort
from arm_description.urdf.elements import UrdfLink
from arm_description.urdf.optional.bars import bar_parts
from arm_description.urdf.reader import read_urdf
from arm_simulation.commands.export import dh2mjcf
from arm_simulation.mjcf.elements import CGS, SI, document, xml_text
from arm_simulation.mjcf.robot import RobotMjcf, robot_mjcf
from arm_tasks.planning.collision import mujoco_library

from arm_description import DescriptionError, load_robot, shipped_robots

mujoco = pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")


@pytest.fixture(scope="module", params=shipped_robots())
def robot(request):
    model = load_robot(request.param)
    return model, mujoco.MjModel.from_xml_string(robot_mjcf(model))


def test_forward_kinematics_are_ours(robot):
    model, compiled = robot
    data, rng = mujoco.MjData(compiled), np.random.default_rng(19)
    for _ in range(20):
        q = rng.uniform(model.lower, model.upper)
        for name, value in zip(model.joint_names, q, strict=True):
            data.joint(name).qpos = value
        where = dict(zip(model.joint_names, q, strict=True))
        for joint in model.dependents:
            data.joint(joint.name).qpos = sum(f * where[name] for name, f in joint.terms)
        mujoco.mj_kinematics(compiled, data)
        tool, T = data.body("tool0"), model.fk(q)
        assert np.abs(tool.xpos - T[:3, 3]).max() < 1e-9
        assert np.abs(tool.xmat.reshape(3, 3) - T[:3, :3]).max() < 1e-9


def test_limits_masses_and_actuators_are_those_of_the_robot(robot):
    model, compiled = robot
    for joint in model.joints:
        assert compiled.joint(joint.name).range == pytest.approx([joint.lower, joint.upper])
    middle = 0.5 * (model.lower + model.upper)
    rates = np.abs(model.drivetrain.jacobian(middle))
    for joint, own in zip(model.joints, np.diag(rates), strict=True):  # behind its gear
        most = compiled.actuator(joint.name).forcerange[1] * own
        assert most == pytest.approx(written_effort(joint))
    left_out = {joint.child for joint in bar_parts(model).joints}  # drawn only
    for joint in model.dependents:  # the small links between coincident mimic joints
        left_out |= {f"{name}_link" for name in mimic_names(joint.name, joint.terms)[:-1]}
    for inertial in read_urdf(model.to_urdf()).inertials:
        if inertial.link in left_out:
            continue
        body = compiled.body(inertial.link)
        assert body.mass == pytest.approx(inertial.mass, rel=1e-5)
        assert body.ipos == pytest.approx(np.array(inertial.centre), abs=1e-6)


def test_units_change_no_motion():
    model = load_robot("nut_arm")
    ends = []
    for units in (SI, CGS):
        compiled = mujoco.MjModel.from_xml_string(robot_mjcf(model, units))
        data = mujoco.MjData(compiled)
        data.actuator("shoulder").ctrl = 0.3
        data.actuator("gripper").ctrl = 0.02 * units.length
        mujoco.mj_step(compiled, data, 200)
        fingers = [data.joint(name).qpos[0] / units.length for name in model.gripper.joints]
        ends.append([data.joint(name).qpos[0] for name in model.joint_names] + fingers)
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)
    assert ends[0][-1] == pytest.approx(0.01, abs=5e-4)


def test_moving_link_without_a_body_is_simulated():
    root = document("frames", SI)
    robot = RobotMjcf(load_robot("nut_arm"))
    robot._links["elbow_link"] = UrdfLink("elbow_link")
    robot.add_to(root)
    compiled = mujoco.MjModel.from_xml_string(xml_text(root))
    assert 0.0 < compiled.body("elbow_link").mass[0] < 1e-3


def heavy(inertia, mass=0.2):
    model = load_robot("planar2")
    return replace(model, masses={"elbow_link": LinkMass(mass, (0.1, 0.0, 0.0), inertia)})


def test_an_inertia_that_no_body_can_have_is_refused_with_its_link():
    for moments in ((0.1, 0.0, 0.0, 0.1, 0.0, 0.5), (-0.01, 0.0, 0.0, 0.1, 0.0, 0.1)):
        with pytest.raises(DescriptionError, match=r"link 'elbow_link'.*MuJoCo and Gazebo refuse"):
            robot_mjcf(heavy(moments))


@pytest.mark.parametrize(
    ("mass", "moments"),
    [
        (0.2, (0.1, 0.0, 0.0, 0.1, 0.0, 0.200001)),  # rounded
        (0.2, (1e-6, 2e-7, 0.0, 1e-6, 0.0, 2.0001e-6)),
        (0.2, (0.0, 0.0, 0.0, 0.1, 0.0, 0.1)),  # a rod
        (0.2, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),  # a point
        (0.0, None),
        (0.0, (1e-4, 0.0, 0.0, 1e-4, 0.0, 1e-4)),  # a rotor
    ],
)
def test_mujoco_takes_masses_of_any_kind(mass, moments):
    compiled = mujoco.MjModel.from_xml_string(robot_mjcf(heavy(moments, mass)))
    assert compiled.body("elbow_link").mass[0] == pytest.approx(mass, abs=1e-3)


def test_command_writes_a_file_and_reports_an_unknown_robot(tmp_path, capsys):
    file = tmp_path / "arm.xml"
    assert dh2mjcf(["nut_arm", "-o", str(file)]) == 0
    assert mujoco.MjModel.from_xml_path(str(file)).nu == 5
    assert dh2mjcf(["nut_arms"]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "nut_arm" in message


def test_command_needs_no_mujoco(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    mujoco_library._module.cache_clear()
    assert not mujoco_library.has_mujoco()
    assert dh2mjcf(["nut_arm", "-o", str(tmp_path / "arm.xml")]) == 0


def test_claw_is_driven_by_the_angle_of_its_jaws():
    model = load_robot("nut_arm")
    claw = Claw(length=0.05, pivots=0.01, closed=0.0, open=1.0)
    gripper = replace(model.gripper, claw=claw, max_width=claw.width(claw.open))
    model = replace(model, gripper=gripper)
    compiled = mujoco.MjModel.from_xml_string(robot_mjcf(model))
    data = mujoco.MjData(compiled)
    data.actuator("gripper").ctrl = 0.5
    mujoco.mj_step(compiled, data, 1000)
    angles = [data.joint(name).qpos[0] for name in model.gripper.joints]
    assert angles == pytest.approx([0.5, 0.5], abs=0.02)


@pytest.mark.parametrize(
    ("robot", "weak"),
    [("ball_arm", {"shoulder_y"}), ("nut_arm", set()), ("planar2", set())],
)
def test_actuators_that_cannot_hold_the_arm_are_named(robot, weak, capsys):
    assert dh2mjcf([robot]) == 0
    said = capsys.readouterr().err.splitlines()
    assert {line.partition(":")[0] for line in said} == weak
    assert all("cannot hold the arm in" in line and "raise limits.effort" in line for line in said)
