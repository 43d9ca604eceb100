# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Special characters survive in names and have no effect in descriptions and comments."""

import xml.etree.ElementTree as ET

import pytest
import yaml
from arm_description.robot_file.scope import FORBIDDEN_IN_NAMES
from arm_description.urdf.macro import robot_macro
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arm_description import DescriptionError, parse_robot

NAMES = st.text(min_size=1, max_size=12).filter(
    lambda text: (
        text.isprintable()
        and not any(c.isspace() or c in FORBIDDEN_IN_NAMES for c in text)
        and text not in ("base", "gripper", "slide", "left", "right")
    )
)
ODD = [
    "a: b", "key: [1, 2", "'", '"', "--", "-->", "]]>", "<robot>", "&amp;", "${x}", "$(find x)",
    "%YAML", "# no", "null", "~", "1e3", "007", "!!python/object", "\u00fc\u4e2d\U0001f916", "\\n",
]  # fmt: skip


def renamed(small, name):
    quoted = yaml.safe_dump(name, default_style='"', allow_unicode=True, width=1000).strip()
    return small.replace("name: turn", f"name: {quoted}").split("postures:")[0]


@settings(max_examples=40)
@given(name=NAMES)
@example("a:b")
@example("--")
@example("]]")
@example("{x}")
@example("null")
@example("007")
@example("'\"")
def test_any_joint_name_survives_urdf_and_xacro(small, pin_robot, name):
    model = parse_robot(renamed(small, name))
    urdf = model.to_urdf("p:", dh_frames=True)
    assert f"p:{name}" in [joint.get("name") for joint in ET.fromstring(urdf).iter("joint")]
    assert isinstance(yaml.safe_load(urdf.split("\n", 1)[1]), str)  # as launch reads parameters
    _, foreign = pin_robot(urdf)
    assert foreign.existJointName(f"p:{name}")
    assert robot_macro(model, "m").count("<xacro:macro") == 1
    ET.fromstring(robot_macro(model, "m"))


@pytest.mark.parametrize("odd", ODD)
def test_descriptions_and_comments_do_not_affect_the_urdf(small, odd):
    quoted = yaml.safe_dump(odd, default_style='"', allow_unicode=True, width=1000).strip()
    text = f"# {odd}\ndescription: {quoted}\nsource: {quoted}\n{small}"
    text = text.replace("d: l1\n", f"d: l1\n    source: {quoted}\n")
    model = parse_robot(text)
    assert (model.description, model.source, model.joints[0].source) == (odd, odd, odd)
    assert model.to_urdf() == parse_robot(small).to_urdf()
    assert robot_macro(model, "m") == robot_macro(parse_robot(small), "m")


@pytest.mark.parametrize("odd", ["a b", "${x}", "<x>", "a&b", "a/b", "a\nb", "\t", "\x7f"])
def test_names_unsafe_for_ros_or_xacro_are_rejected(small, odd):
    with pytest.raises(DescriptionError, match=r"name"):
        parse_robot(renamed(small, odd))
