# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of view_arm.launch.py, as --show-args lists them."""

import runpy
from pathlib import Path

import pytest
import yaml
from launch import LaunchContext

LAUNCH = Path(__file__).resolve().parents[2] / "launch" / "view_arm.launch.py"


def test_every_launch_argument_is_documented():
    arguments = runpy.run_path(str(LAUNCH))["generate_launch_description"]().get_launch_arguments()
    found = {a.name: a for a in arguments}
    assert list(found) == ["robot", "prefix", "dh_frames", "gui", "rviz", "rviz_config"]
    for argument in arguments:
        assert argument.default_value is not None
        assert argument.description[0].isupper() and "no description" not in argument.description
    switches = [a.name for a in arguments if a.choices]
    assert switches == ["dh_frames", "gui", "rviz"]
    assert all(found[name].choices == ["true", "false"] for name in switches)


@pytest.mark.parametrize(("robot", "metres"), [("nut_arm", 0.5), ("panda", 1.5)])
def test_rviz_camera_is_fitted_to_the_robot_by_default(robot, metres):
    context = LaunchContext()
    context.launch_configurations.update(robot=robot, rviz_config="")
    config = runpy.run_path(str(LAUNCH))["RvizConfig"]()
    manager = yaml.safe_load(Path(config.perform(context)).read_text())["Visualization Manager"]
    assert 0.8 * metres < manager["Views"]["Current"]["Distance"] < 1.2 * metres
    context.launch_configurations["rviz_config"] = "/mine.rviz"
    assert config.perform(context) == "/mine.rviz"
