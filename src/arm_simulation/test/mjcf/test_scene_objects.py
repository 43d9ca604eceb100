# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Bolts, nuts and solids as MJCF: mass and size, and sentences about impossible ones."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_common.transforms import pose
from arm_simulation.mjcf.elements import CGS, document
from arm_simulation.mjcf.scene_objects import SceneObjectsMjcf, check_apart
from arm_tasks.errors import SceneError
from arm_tasks.scene.scene import Bolt, Nut
from arm_tasks.scene.screw_thread import ScrewThread

from arm_simulation import SimulationError

THREAD = ScrewThread.of(6.35e-3, 1.27e-3)


def bolt(name, x):
    return Bolt(name, pose(p=(x, 0.0, 0.3)), 6.35e-3, 25.4e-3, 1.27e-3)


def test_nut_has_the_mass_of_its_steel():
    root = document("nut", CGS)
    nut = Nut(11.11e-3, 5.56e-3, "bolt", 0.0, 0.0)
    SceneObjectsMjcf(root, CGS).add_nut(nut, THREAD)
    mass = float(root.find(".//inertial").get("mass"))
    hexagon = math.sqrt(3.0) / 2.0 * 1.111**2  # [cm^2]
    hole = math.pi / 4.0 * 0.5587**2
    assert mass == pytest.approx(7.85 * 0.556 * (hexagon - hole), rel=1e-3)


def test_bolts_of_one_thread_share_a_mesh():
    root = document("bolts", CGS)
    objects = SceneObjectsMjcf(root, CGS)
    objects.add_bolt(bolt("upper", 0.1))
    objects.add_bolt(bolt("lower", 0.2))
    assert len(root.findall(".//mesh")) == 1


def test_bolts_in_one_place_are_refused():
    check_apart([bolt("upper", 0.1), bolt("lower", 0.2)])
    with pytest.raises(SimulationError, match="upper and lower are in the same place; move one"):
        check_apart([bolt("upper", 0.1), bolt("lower", 0.103)])


def test_nut_must_have_a_wall():
    nut = Nut(7e-3, 5e-3, "bolt", 0.0, 0.0)
    with pytest.raises(SimulationError, match="too thin for a thread of"):
        SceneObjectsMjcf(document("nut", CGS), CGS).add_nut(nut, THREAD)


def test_impossible_thread_is_one_sentence():
    objects = SceneObjectsMjcf(document("bolt", CGS), CGS)
    with pytest.raises(SceneError) as error:
        objects.add_bolt(replace(bolt("upper", 0.1), pitch=8e-3))
    assert "\n" not in str(error.value)


def test_nut_fits_the_thread_that_it_starts_on(scene):
    on, nut = scene.bolt(scene.nut.on), scene.nut
    at = np.linalg.inv(on.pose) @ scene.nut_start()
    depth = at[2, 3] + nut.thickness / 2.0
    roll = np.arctan2(at[1, 0], at[0, 0]) - on.start
    turns = depth / on.thread.pitch - roll / (2.0 * np.pi)
    assert turns == pytest.approx(round(turns), abs=1e-9)
