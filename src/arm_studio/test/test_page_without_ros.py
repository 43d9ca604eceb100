# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The page of an arm where no ROS is: its joints, its tool, and the table of its file."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from arm_testing.pages.local_page import DRAGGED, WAIST
from arm_testing.repository import repository

import arm_testing

TESTING = Path(arm_testing.__file__).parents[1]
SHIPPED = ["Frames", "Joints", "Look", "Pose", "Tool path"]
STUDIO = [
    "Commands",
    "Joint values",
    "Motion",
    "Picture",
    "Play",
    "Robot file",
    "Symbols",
    "T and J",
    "Table",
]


@pytest.mark.parametrize("options", [[], ["--core"]])
def test_joint_is_moved_tool_dragged_and_table_edited(options):
    modules = "arm_testing.programs.without_ros", "arm_testing.pages.local_page"
    command = [sys.executable, "-m", *modules]
    tools = str(repository() / "tools")
    path = os.pathsep.join([tools, str(TESTING), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*command, *options],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=240.0,
    )
    assert done.returncode == 0, done.stderr
    reached = json.loads(done.stdout.splitlines()[-1])
    assert reached["ros"] == []
    assert reached["waist"] == pytest.approx(math.radians(WAIST))
    assert reached["tool"] == pytest.approx(DRAGGED, abs=1e-4)
    panels = [label for label in reached["labels"] if label in {*SHIPPED, *STUDIO}]
    if options:
        assert panels == SHIPPED
    else:
        assert panels == sorted([*SHIPPED, *STUDIO])
        assert reached["d"] == pytest.approx(0.123)
