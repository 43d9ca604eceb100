# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A package in a folder of its own adds a part of each kind; no file of ours knows it.

A servo backend is added like that in arm_hardware/test/test_backends.py.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arm_kinematics.chain.robot import Robot
from arm_kinematics.markers import layers
from arm_kinematics.markers.state import MarkerInputs
from arm_testing.repository import WHY

import arm_testing
from arm_description import load_robot
from arm_kinematics import Chain

FOLDER = Path(__file__).parent / "outsider"
TESTING = Path(arm_testing.__file__).parents[1]


@pytest.fixture
def outsider(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(layers, "PLUGINS", replace(layers.PLUGINS))  # which looks anew


def test_a_command_is_in_the_help_and_runs(tmp_path):
    cli = pytest.importorskip("pip_ros.cli", reason=WHY)
    environment = {"PYTHONPATH": f"{FOLDER}:{os.environ.get('PYTHONPATH', '')}"}
    (line,) = (each for each in cli.all_lines(environment) if each.purpose == "Outside")
    assert [command.name for command in line.commands] == ["greet"]
    program = str(tmp_path / "lib" / "outsider" / "greet")
    command = [sys.executable, str(cli.BEGIN), program, "nut_arm"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "Hello, nut_arm.\n"), done.stderr


def test_a_marker_layer_is_drawn_and_switched(outsider):
    known = layers.all_layers()
    assert [*known] == [*layers.LAYERS, "shadow"]
    model = load_robot("nut_arm")
    chain = Chain.from_model(model)
    inputs = MarkerInputs(Robot(model.to_urdf()), chain)
    inputs.positions = dict.fromkeys(chain.joint_names, 0.0)
    diff = layers.MarkerDiff(known, ["shadow"])
    diff.inputs = inputs
    diff.note_change(layers.Cause.ROBOT)
    (shown,) = diff.changes()
    assert shown.layer == "shadow"
    tip = chain.fk(np.zeros(chain.n))[:3, 3]
    np.testing.assert_allclose(shown.mark.pose[:3, 3], [*tip[:2], 0.0], atol=1e-12)
    diff.switch("shadow", False)
    (gone,) = diff.changes()
    assert (gone.layer, gone.mark) == ("shadow", None)


def test_a_layer_that_fails_takes_no_other_away(caplog):
    broken = layers.Layer("outsider.nothing:draw", (), "Cannot be imported.")
    model = load_robot("nut_arm")
    diff = layers.MarkerDiff(layers.LAYERS | {"broken": broken}, ["broken", "link_frames"])
    diff.inputs = MarkerInputs(Robot(model.to_urdf()), Chain.from_model(model))
    diff.note_change(layers.Cause.ROBOT)
    assert {mark.layer for mark in diff.changes()} == {"link_frames"}
    assert "the marker layer broken failed" in caplog.text
    assert not diff.shows("broken")


def test_a_panel_is_on_the_page():
    paths = (str(FOLDER), str(TESTING), os.environ.get("PYTHONPATH", ""))
    done = subprocess.run(
        [sys.executable, "-m", "arm_testing.pages.local_page"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=240.0,
    )
    assert done.returncode == 0, done.stderr
    assert "Greeting" in json.loads(done.stdout.splitlines()[-1])["labels"]
