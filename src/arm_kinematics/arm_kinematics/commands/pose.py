# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Commands that answer forward and inverse kinematics in the terminal, without nodes.

fk nut_arm 0 -20 20 0
fk nut_arm ready
ik puma560 400 200 300 180 0 0

All numbers are in the units of the robot file, or expressions such as 90/4.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from arm_common.transforms import Array, matrix_rpy, rpy_matrix
from arm_common.yaml.expressions import Expressions

from arm_common import cli
from arm_description import DescriptionError, RobotModel, load_robot
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError

MAX_SOLUTIONS = 16
_ERRORS = (DescriptionError, KinematicsError)


def fk(argv: Sequence[str] | None = None) -> int:
    """Print the pose of the tool at joint positions; return the exit code."""
    parser = _parser("fk", "Print the pose of the tool at joint positions.")
    positions = "position of each joint, in the file's units; or the name of a posture"
    parser.add_argument("positions", nargs="+", type=cli.expression, metavar="Q", help=positions)
    return cli.run(parser, _fk, argv, _ERRORS)


def ik(argv: Sequence[str] | None = None) -> int:
    """Print the joint positions that reach a pose; return the exit code."""
    parser = _parser("ik", "Print all joint positions that bring the tool to a pose.")
    pose = "x y z, and roll pitch yaw about fixed axes unless only the position counts"
    parser.add_argument("pose", nargs="+", type=cli.expression, metavar="NUMBER", help=pose)
    return cli.run(parser, _ik, argv, _ERRORS)


def _parser(name: str, text: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=text)
    parser.add_argument("robot", help="a shipped name, or the path of a robot file")
    return parser


def _fk(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments.robot)
    q = _positions(model, arguments.positions)
    xyz, rpy = matrix_rpy(model.fk(q))
    outside = [
        f"{joint.name} is outside its limits ({model.units.text(joint.lower, joint.type)} to "
        f"{model.units.text(joint.upper, joint.type)})"
        for joint, value in zip(model.joints, q, strict=True)
        if not joint.lower - 1e-9 <= value <= joint.upper + 1e-9
    ]
    cli.write_text(
        f"tool0 in base_link: xyz {_texts(model, xyz, 'prismatic')}, "
        f"rpy {_texts(model, rpy, 'revolute')}\n",
        "",
    )
    for sentence in outside:
        cli.print_status(f"Note: {sentence}.")


def _ik(arguments: argparse.Namespace) -> int:
    model = load_robot(arguments.robot)
    count = len(arguments.pose)
    if count not in (3, 6):
        raise KinematicsError(f"give x y z, or x y z roll pitch yaw, not {count} numbers")
    kinds = ["prismatic"] * 3 + ["revolute"] * 3
    values = [
        _number(model, text, kind) for text, kind in zip(arguments.pose, kinds, strict=False)
    ]
    T = rpy_matrix(values[:3], (*values[3:], 0.0, 0.0, 0.0)[:3])
    mode = "pose" if count == 6 else "position"
    found = Chain.from_model(model).ik(T, mode=mode, max_solutions=MAX_SOLUTIONS)
    if not found.ok:
        raise KinematicsError(found.message)
    for number, solution in enumerate(found.solutions, 1):
        positions = (
            f"{joint.name} {model.units.text(q, joint.type)}"
            for joint, q in zip(model.joints, solution.q, strict=True)
        )
        cli.write_text(f"{number}: {', '.join(positions)}\n", "")
    return 0


def _positions(model: RobotModel, words: Sequence[str]) -> list[float]:
    """Return joint positions [rad or m] from numbers, or from the name of a posture."""
    if len(words) == 1 and words[0] in model.postures:
        return [model.postures[words[0]][name] for name in model.joint_names]
    if len(words) != model.n:
        postures = f", or one of {', '.join(model.postures)}" if model.postures else ""
        raise KinematicsError(
            f"{model.name} has {model.n} joints, not {len(words)}: give "
            f"{' '.join(model.joint_names)}{postures}"
        )
    return [
        _number(model, text, joint.type) for text, joint in zip(words, model.joints, strict=True)
    ]


def _number(model: RobotModel, text: str, kind: str) -> float:
    """Return a number or expression in the file's units as SI."""
    return model.units.si(Expressions({}, model.units.radian).evaluate(text), kind)


def _texts(model: RobotModel, values: Array, kind: str) -> str:
    written = (round(model.units.written(float(value), kind), 9) + 0.0 for value in values)
    numbers = (f"{value:.6g}" for value in written)
    return f"{' '.join(numbers)} {model.units.unit(kind)}"
