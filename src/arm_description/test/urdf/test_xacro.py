# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import xml.etree.ElementTree as ET

import pytest
from arm_description.model.elements import Origin
from arm_description.urdf.macro import robot_macro
from arm_description.urdf.optional.ros2_control import HARDWARE
from arm_description.urdf.writer import robot_urdf
from arm_testing.arms.samples import ROBOTS

from arm_description import load_robot, parse_robot, shipped_robots

xacro = pytest.importorskip("xacro")


def canonical(text):
    """Return tags and attributes in order, without comments and white space."""
    return [(e.tag, sorted(e.attrib.items())) for e in ET.fromstring(text).iter()]


def expand(path, **mappings):
    return xacro.process_file(str(path), mappings=mappings).toxml()


@pytest.mark.parametrize("robot", shipped_robots())
def test_shipped_macros_are_up_to_date(robot, package):
    path = package / "urdf/robots" / f"{robot}.urdf.xacro"
    command = f"dh2urdf {robot} --macro {robot} -o urdf/robots/{robot}.urdf.xacro"
    assert path.read_text() == robot_macro(load_robot(robot), robot), f"run: {command}"


def test_every_macro_has_a_robot(package):
    macros = {path.name.split(".")[0] for path in (package / "urdf/robots").iterdir()}
    assert macros == set(shipped_robots())


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("prefix", ["", "left_"])
@pytest.mark.parametrize("dh_frames", [False, True])
def test_arm_xacro_equals_urdf(robot, prefix, dh_frames, installed):
    found = expand(
        installed / "urdf/arm.urdf.xacro",
        robot=robot,
        prefix=prefix,
        dh_frames=str(dh_frames).lower(),
    )
    assert canonical(found) == canonical(load_robot(robot).to_urdf(prefix, dh_frames))


@pytest.mark.parametrize("kind", HARDWARE)
@pytest.mark.parametrize("robot", ["nut_arm", "universal_arm"])
def test_ros2_control_block_equals_that_of_the_urdf(robot, kind, installed):
    mappings = {"robot": robot, "prefix": "left_", "ros2_control": kind}
    found = expand(installed / "urdf/arm.urdf.xacro", **mappings)
    expected = robot_urdf(load_robot(robot), "left_", ros2_control=kind)
    assert canonical(found) == canonical(expected)
    assert ET.fromstring(found).findtext("ros2_control/hardware/plugin") == HARDWARE[kind][0]


def test_unknown_kind_of_ros2_control_is_rejected(installed):
    with pytest.raises(Exception, match="ros2_control is not one of mock, topic, gz"):
        expand(installed / "urdf/arm.urdf.xacro", robot="nut_arm", ros2_control="isaac")


def test_two_arms_mount_on_one_robot(installed, tmp_path):
    path = tmp_path / "pair.urdf.xacro"
    path.write_text(
        """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="pair">
        <xacro:include filename="$(find arm_description)/urdf/robots/nut_arm.urdf.xacro"/>
        <xacro:include filename="$(find arm_description)/urdf/robots/planar2.urdf.xacro"/>
        <link name="torso"/>
        <xacro:nut_arm prefix="left_" parent="torso" xyz="0 0.2 0"/>
        <xacro:planar2 prefix="right_" parent="torso" xyz="0 -0.2 0"/>
        </robot>"""
    )
    names = [e.get("name") for e in ET.fromstring(expand(path)).findall("link")]
    assert len(names) == len(set(names))
    assert {"torso", "left_tool0", "right_tool0"} <= set(names)


@pytest.mark.parametrize("robot", shipped_robots())
def test_mounted_macro_equals_mounted_urdf(robot, package, tmp_path):
    path = tmp_path / "mounted.urdf.xacro"
    path.write_text(
        f"""<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="{robot}">
        <xacro:include filename="{package}/urdf/robots/{robot}.urdf.xacro"/>
        <link name="torso"/>
        <xacro:{robot} prefix="l_" dh_frames="true" parent="torso" xyz="0.1 0 0.5" rpy="0 0 1.5"/>
        </robot>"""
    )
    mount = Origin((0.1, 0.0, 0.5), (0.0, 0.0, 1.5))
    expected = robot_urdf(load_robot(robot), "l_", True, "torso", mount)
    assert sorted(canonical(expand(path))) == sorted(canonical(expected))


@pytest.mark.parametrize(
    "prefix", ["007", "1e3", "1.50", "'a'", "a:b", "[1]", "--", "\u00fc\u4e2d"]
)
def test_prefixes_stay_text_in_xacro(prefix, installed):
    """Even prefixes that xacro could read as numbers, lists or quoted text."""
    place = {"parent": "12", "xyz": "0.1 0 0.5", "rpy": "0 0 1.5"}
    found = expand(installed / "urdf/arm.urdf.xacro", robot="planar2", prefix=prefix, **place)
    mount = Origin((0.1, 0.0, 0.5), (0.0, 0.0, 1.5))
    expected = robot_urdf(load_robot("planar2"), prefix, parent="12", mount=mount)
    assert sorted(canonical(found)) == sorted(canonical(expected))


def test_custom_robot_macro_works(installed, tmp_path, small):
    """The macro is given by its path; its names need escaping."""
    text = small.replace("name: turn", 'name: "a:b\'\\"{x}]]\u00fc--"').split("postures:")[0]
    model = parse_robot(text)
    path = tmp_path / "small.urdf.xacro"
    path.write_text(robot_macro(model, "small"), encoding="utf-8")
    found = expand(installed / "urdf/arm.urdf.xacro", robot=str(path), prefix="x_")
    assert canonical(found) == canonical(model.to_urdf("x_"))


def test_yaml_file_is_rejected_with_a_remedy(installed):
    with pytest.raises(
        xacro.XacroException, match=r"write its macro with dh2urdf /my/arm\.yaml -o"
    ):
        expand(installed / "urdf/arm.urdf.xacro", robot="/my/arm.yaml")
