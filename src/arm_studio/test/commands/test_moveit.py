# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The MoveIt configuration package is complete and consistent with the robot."""

import ast
import dataclasses
import xml.etree.ElementTree as ET

import pytest
import yaml
from arm_description.model.elements import mimic_names
from arm_description.urdf.optional.bars import bar_parts
from arm_description.urdf.reader import read_urdf
from arm_studio.commands.moveit import dh2moveit, moveit_package, package_name

from arm_description import load_robot, shipped_robots

ROBOTS = sorted(shipped_robots())


@pytest.mark.parametrize("robot", ROBOTS)
def test_moveit_names_and_limits_match_the_robot(robot):
    model = load_robot(robot)
    files = moveit_package(model)
    tree = read_urdf(files[f"config/{robot}.urdf"])
    moving = {j.name: j for j in tree.joints if j.limit}
    limits = yaml.safe_load(files["config/joint_limits.yaml"])["joint_limits"]
    followers = {n for d in model.dependents for n in mimic_names(d.name, d.terms)}
    bars = bar_parts(model).joints
    passive = ET.fromstring(files[f"config/{robot}.srdf"]).iter("passive_joint")
    assert {e.get("name") for e in passive} == followers | {joint.name for joint in bars}
    followers |= {joint.name for joint in bars}
    assert set(limits) == set(moving) - followers
    for name, limit in limits.items():
        assert limit["max_velocity"] == pytest.approx(moving[name].limit.velocity)
    accelerations = [limits[name]["max_acceleration"] for name in model.joint_names]
    assert accelerations == pytest.approx(model.acceleration)
    manager = yaml.safe_load(files["config/moveit_controllers.yaml"])
    manager = manager["moveit_simple_controller_manager"]
    driven = [j for name in manager["controller_names"] for j in manager[name]["joints"]]
    # a gripper's action takes a width, not the position of a turning jaw
    claw = model.gripper.moving if model.gripper and model.gripper.claw else ()
    assert driven == [name for name in moving if name not in {*claw, *followers}]
    groups = {e.get("name") for e in ET.fromstring(files[f"config/{robot}.srdf"]).iter("group")}
    (solved,) = yaml.safe_load(files["config/kinematics.yaml"])
    assert solved in groups


@pytest.mark.parametrize("robot", ["nut_arm", "ur5"])
def test_generated_files_are_well_formed(robot):
    files = moveit_package(load_robot(robot))
    for name, text in files.items():
        if name.endswith((".yaml", ".rviz")) or name == ".setup_assistant":
            assert yaml.safe_load(text)
        elif name.endswith(".py"):
            assert "generate_launch_description" in {
                f.name for f in ast.parse(text).body if isinstance(f, ast.FunctionDef)
            }
        elif name != "CMakeLists.txt":
            ET.fromstring(text)
    manifest = ET.fromstring(files["package.xml"])
    assert manifest.findtext("name") == f"{robot}_moveit_config"
    assert f"project({robot}_moveit_config)" in files["CMakeLists.txt"]
    paths = yaml.safe_load(files[".setup_assistant"])["moveit_setup_assistant_config"]
    assert {paths["urdf"]["relative_path"], paths["srdf"]["relative_path"]} <= set(files)


def test_arms_with_few_joints_use_position_only_ik():
    def only(robot):
        files = moveit_package(load_robot(robot))
        return yaml.safe_load(files["config/kinematics.yaml"])["arm"]["position_only_ik"]

    assert only("nut_arm") and only("five_axis") and not only("ur5") and not only("panda")


@pytest.mark.parametrize(
    ("name", "package"), [("My Arm-2", "my_arm_2_moveit_config"), ("_x_", "x_moveit_config")]
)
def test_package_name_is_valid(name, package):
    assert package_name(dataclasses.replace(load_robot("planar2"), name=name)) == package


def test_command_does_not_overwrite_a_package(tmp_path, sentence):
    assert dh2moveit(["nut_arm", "-o", str(tmp_path)]) == 0
    folder = tmp_path / "nut_arm_moveit_config"
    found = {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file()}
    assert found == moveit_package(load_robot("nut_arm"))
    (folder / "package.xml").write_text("mine")
    assert "already exists" in sentence(dh2moveit, "nut_arm", "-o", tmp_path)
    assert (folder / "package.xml").read_text() == "mine"
    assert dh2moveit(["nut_arm", "-o", str(tmp_path), "--force"]) == 0
    assert "mine" not in (folder / "package.xml").read_text()


def test_uncreatable_folder_is_reported(tmp_path, sentence):
    (tmp_path / "file").write_text("")
    assert "cannot be created" in sentence(dh2moveit, "nut_arm", "-o", tmp_path / "file")
