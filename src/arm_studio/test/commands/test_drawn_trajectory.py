# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command that writes the path of a drawing."""

import numpy as np
import pytest
from arm_description.trajectories.drawing import text_path
from arm_description.trajectories.files import read_tool_trajectory
from arm_description.trajectories.trajectory import DrawingOptions
from arm_studio.commands.trajectory import main


def test_command_writes_the_path_of_a_text_that_reads_back(tmp_path, capsys):
    file = tmp_path / "hello.csv"
    assert main(["nut_arm", "--text", "Hello", "--width-mm", "60", "-o", str(file)]) == 0
    assert "x -30.0 .. 30.0, y -9.3 .. 9.3, z 0.0 .. 10.0 mm" in capsys.readouterr().out
    path, back = text_path("Hello", DrawingOptions(width=0.06)), read_tool_trajectory(file, ())
    assert back.orientation == "position_axis"
    np.testing.assert_allclose(back.poses[:, :3, 2:], path.poses[:, :3, 2:], atol=1e-8)
    np.testing.assert_allclose(back.lengths, path.lengths, atol=1e-8)


def test_options_of_a_drawing_are_refused_for_another_file(capsys):
    # An output that is named like a drawing does not make one of the file.
    with pytest.raises(SystemExit):
        main(["nut_arm", "look_around", "--lift-mm", "5", "-o", "look_around.svg"])
    assert "without --text or an SVG file" in capsys.readouterr().err


def test_command_needs_a_file_or_a_text(sentence):
    assert "needs a file or --text" in sentence(main, "nut_arm")
    assert "needs a file or --text" in sentence(main, "nut_arm", "wave", "--text", "a")
