# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arms with parallelograms as closed loops in MuJoCo, driven at the horns of their servos."""

import math

import numpy as np
import pytest
from arm_description.model.transmissions.transmission import Drivetrain

from arm_description import load_robot

mujoco = pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")

# In the plane of the arm, x ahead and z up, with the shoulder at the origin. Forearm, hand and
# the levers have no joints with each other but these; the loops are closed by constraints alone.
MJCF = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0 0 0" timestep="0.002" integrator="implicitfast"/>
  <default>
    <joint axis="0 -1 0" damping="1e-3" armature="1e-4"/>
    <geom type="sphere" size="0.01" mass="0.01" contype="0" conaffinity="0"/>
    <equality solref="0.01 1" solimp="0.999 0.9999 0.001 0.5 2"/>
  </default>
  <worldbody>
    <body name="upper"><joint name="upper"/><geom/>
      <body name="fore" pos="{upper} 0 0"><joint name="fore"/><geom/>
        <body name="hand" pos="{fore} 0 0"><joint name="hand"/><geom/>
          <site name="tool" pos="{hand} 0 0"/>
        </body>
      </body>
      <body name="triangle" pos="{upper} 0 0"><joint name="triangle"/><geom/>
        <body name="top" pos="{top}"><joint name="top"/><geom/></body>
      </body>
    </body>
    <body name="crank"><joint name="crank"/><geom/>
      <body name="rod" pos="{lever}"><joint name="rod"/><geom/></body>
    </body>
    <body name="back" pos="{back}"><joint name="back"/><geom/></body>
  </worldbody>
  <equality>
    <connect body1="rod" body2="fore" anchor="{upper} 0 0"/>
    <connect body1="back" body2="triangle" anchor="{upper} 0 0"/>
    <connect body1="top" body2="hand" anchor="{fore} 0 0"/>
    <joint name="shoulder_horn" joint1="upper"/>
    <joint name="elbow_horn" joint1="crank"/>
  </equality>
</mujoco>"""
STEP = math.radians(0.5)  # of a horn in one step of time
SETTLING = 400  # steps


class Linkage:
    """The bars of a robot file as a mechanism with two horns."""

    def __init__(self, model):
        mm = model.constants
        self.base = np.array([mm.get("shoulder_ahead", 0.0), mm["shoulder_height"]]) / 1e3
        names = {"forearm_rod": "lever", "back_rod": "back", "hand_rod": "top"}
        pins = {names[bar.name]: f"{bar.at[0]} 0 {bar.at[1]}" for bar in model.bars}
        lengths = {"upper": mm["upper_arm"], "fore": mm["forearm"], "hand": mm["hand"]}
        lengths = {name: length / 1e3 for name, length in lengths.items()}
        self.model = mujoco.MjModel.from_xml_string(MJCF.format(**lengths, **pins))
        self.data = mujoco.MjData(self.model)
        self.horns = np.array([math.pi / 2, 0.0])  # upper arm upright, forearm level
        turned = {"upper": 1, "fore": -1, "triangle": -1, "rod": 1, "back": 1}
        for name, quarters in turned.items():
            self.data.joint(name).qpos = quarters * math.pi / 2

    def turn(self, horns):
        """Turn the horns to absolute angles [rad] and wait until the bars rest."""
        steps = 1 + int(np.abs(horns - self.horns).max() / STEP)
        path = np.linspace(self.horns, horns, steps)
        for at in [*path, *[horns] * SETTLING]:
            for name, angle in zip(("shoulder_horn", "elbow_horn"), at, strict=True):
                self.model.equality(name).data[0] = angle
            mujoco.mj_step(self.model, self.data)
        self.horns = horns
        return self.base + self.data.site("tool").xpos[[0, 2]]


@pytest.mark.parametrize("name", ["mearm", "eezybotarm_mk1", "eezybotarm_mk2"])
def test_horns_put_the_tool_where_the_transmission_does(name):
    model = load_robot(name)
    train, linkage = Drivetrain.of(model), Linkage(model)
    servos = [train.actuators.index(joint) for joint in ("shoulder", "elbow")]
    rng = np.random.default_rng(3)
    postures = rng.uniform(model.lower, model.upper, (40, model.n))
    inside = [q for q in postures if model.constraint_set.worst(q) is None]
    assert len(inside) >= 4
    for q in inside[:4]:
        a = train.to_actuators(q)
        T = model.fk(train.to_joints(a))
        there = linkage.turn(a[servos])
        assert np.abs(linkage.data.efc_pos).max() < 1e-7  # every loop is closed
        assert there == pytest.approx([math.hypot(*T[:2, 3]), T[2, 3]], abs=1e-6)
