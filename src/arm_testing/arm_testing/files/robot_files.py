# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for robots and commands: robot files, random numbers, Pinocchio, a one-line error."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

SMALL = """\
name: small
convention: standard
units: {length: mm, angle: deg}
constants:
  l1: 100
  l10: 2*l1
joints:
  - name: turn
    type: revolute
    theta: -90
    d: l1
    a: l10
    alpha: 90
    limits: {lower: -90, upper: 90, velocity: 60, acceleration: 120}
  - name: slide
    type: prismatic
    theta: 0
    d: 5
    a: 0
    alpha: 0
    limits: {lower: 0, upper: 50}
gripper: {joints: [left, right], min_width: 0, max_width: 40, velocity: 80}
postures:
  rest: {turn: 0, slide: 0, gripper: 10}
"""
# A kit arm: two servos on one joint, and a crank
KIT = """\
name: kit_arm
convention: standard
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 90, a: 0, alpha: 90,
     limits: {lower: -90, upper: 90, velocity: 100}}
  - {name: shoulder, type: revolute, d: 0, a: 105, alpha: 0,
     limits: {lower: 0, upper: 120, velocity: 100}}
  - {name: elbow, type: revolute, d: 0, a: 90, alpha: 0,
     limits: {lower: -140, upper: -20, velocity: 100}}
transmissions:
  - {type: several, joint: shoulder, actuators: [left, right], mirrored: [false, true],
     allowed_difference: 3}
  - {type: crank, joint: elbow, against: shoulder, ground: 105, crank: 30, rod: 105, rocker: 31,
     rocker_angle: 180, crank_angle: 180}
postures: {rest: {waist: 0, shoulder: 60, elbow: -90}}
"""
# An arm whose third axis is limited by the second, and whose last joint follows both
LINKAGE = """\
name: linkage
convention: modified
units: {length: mm, angle: deg}
constants: {slope: 0.7165}
joints:
  - {name: waist, type: revolute, d: 92, a: 0, alpha: 0, limits: {lower: -90, upper: 90}}
  - {name: shoulder, type: revolute, d: 0, a: 0, alpha: 90, limits: {lower: 39, upper: 120}}
  - {name: elbow, type: revolute, d: 0, a: 135, alpha: 0,
     limits: {lower: -0.6755*shoulder - 70.768, upper: -slope*shoulder - 13.144}}
  - {name: level, type: revolute, theta: -(shoulder + elbow), d: 0, a: 147, alpha: 0}
tool: {xyz: [87, 0, 0]}
postures:
  rest: {waist: 0, shoulder: 90, elbow: -90}
"""


def _parsed(text):
    from arm_description.robot_file.reader import parse_robot  # arm_common is tested without it

    return parse_robot(text)


@pytest.fixture
def rng():
    return np.random.default_rng(20261120)


@pytest.fixture(scope="session")
def small():
    return SMALL


@pytest.fixture(scope="session")
def small_model():
    return _parsed(SMALL)


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write


@pytest.fixture
def sentence(capsys):
    """Return a function that runs a command which must fail, and returns its one-line error."""

    def error_of(main, *arguments):
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    return error_of


@pytest.fixture(scope="session")
def pin_robot():
    """Return a function: URDF text -> (forward kinematics by joint and frame names, model).

    Pinocchio parses with urdfdom, the parser behind check_urdf, RViz and robot_state_publisher.
    """
    return _pin_robot


@pytest.fixture(scope="session")
def urdf_fk():
    return lambda text, values, root, tip: _pin_robot(text)[0](values, tip, root)


def _pin_robot(text):
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(text)
    data = model.createData()

    def pose(name):
        return data.oMf[model.getFrameId(name, pin.FrameType.BODY)]

    mimics = [(e.get("name"), e.find("mimic")) for e in ET.fromstring(text).iter("joint")]
    mimics = [(name, mimic.attrib) for name, mimic in mimics if mimic is not None]

    def fk(values, frame, root="universe"):
        q, values = pin.neutral(model), dict(values)
        for name, m in mimics:  # Pinocchio reads them as independent
            if m["joint"] in values:
                factor = float(m.get("multiplier", 1.0))
                values.setdefault(name, factor * values[m["joint"]] + float(m.get("offset", 0.0)))
        for name, value in values.items():
            joint = model.joints[model.getJointId(name)]
            is_continuous = joint.nq == 2
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                (math.cos(value), math.sin(value)) if is_continuous else value
            )
        pin.framesForwardKinematics(model, data, q)
        start = pin.SE3.Identity() if root == "universe" else pose(root)
        return start.actInv(pose(frame)).homogeneous

    return fk, model


LIMIT = "{lower: -3, upper: 3}"
LIMITS = {
    "universal": f"{{z: {LIMIT}, y: {LIMIT}}}",
    "ball": f"{{z: {LIMIT}, y: {LIMIT}, x: {LIMIT}}}",
}


@pytest.fixture(scope="session")
def table_yaml():
    """Return a function: rows (type, theta, d, a, alpha) -> robot file in m and rad."""

    def text(rows, convention, base=((0, 0, 0), (0, 0, 0)), tool=((0, 0, 0), (0, 0, 0))):
        lines = ["name: random", f"convention: {convention}", "units: {length: m, angle: rad}"]
        for key, (xyz, rpy) in (("base", base), ("tool", tool)):
            lines.append(f"{key}: {{xyz: {list(map(float, xyz))}, rpy: {list(map(float, rpy))}}}")
        lines.append("joints:")
        for i, (kind, theta, d, a, alpha, *_) in enumerate(rows):
            lines.append(
                f"  - {{name: j{i}, type: {kind}, theta: {theta!r}, d: {d!r}, a: {a!r},"
                f" alpha: {alpha!r}, limits: {LIMITS.get(kind, LIMIT)}}}"
            )
        return "\n".join(lines)

    return text


@pytest.fixture(scope="session")
def random_model(table_yaml):
    """Return a function that makes random tables with frequent quarter turns and zeros."""

    def model(rng, convention, n, kinds=("revolute", "prismatic")):
        def angle():
            return float(rng.choice([0, math.pi / 2, -math.pi / 2, math.pi, rng.uniform(-3, 3)]))

        def length():
            return float(rng.choice([0.0, rng.uniform(-1, 1)]))

        rows = [(str(rng.choice(kinds)), angle(), length(), length(), angle()) for _ in range(n)]
        ends = [(rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3)) for _ in range(2)]
        return _parsed(table_yaml(rows, convention, *ends))

    return model
